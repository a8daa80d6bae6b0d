//! The Node.js addon: translates between JavaScript and `imqueue-udp-net`, and decides nothing.
//!
//! JavaScript makes one [`Environment`] for each copy of the facade that is loaded, and gives it
//! to every [`Listener`] and [`Announcer`]. When one of them has news, the hub thread calls the
//! environment's wake function, once for any number of news; JavaScript then drains them all.
//! Values cross as primitives, and the objects that users see are made in JavaScript, where they
//! belong to the right realm and cost least.

mod announcer;
mod cleanup_hook;
mod environment;
mod error;
#[cfg(feature = "fault-injection")]
mod faults;
mod listener;
mod stats;

pub use announcer::Announcer;
pub use environment::Environment;
pub use listener::Listener;
