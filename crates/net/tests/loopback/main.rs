//! The crate on real sockets. All traffic stays on the loopback interface, and whatever can be
//! awaited is awaited: a test fails by its patience running out.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod announcer;
mod common;
mod lifecycle;
mod listener;
mod relay;
