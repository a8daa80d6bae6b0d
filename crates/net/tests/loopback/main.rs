//! The crate on real sockets. All traffic stays on the loopback interface, and whatever can be
//! awaited is awaited: a test fails by its patience running out.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod announcer;
// Only Linux prefers a socket that is bound to the address.
#[cfg(target_os = "linux")]
mod beside_core;
mod common;
mod lifecycle;
mod listener;
mod relay;
