//! Hears and announces brokers: sockets, interfaces and timers around [`imqueue_udp_core`], all on
//! one background thread of the process.
//!
//! A [`Listener`] follows the fleet on a port. Its waker is called when there is news, once for any
//! number of them; [`Listener::take`] then gives what changed since the last time, and what an
//! operator should know. Heartbeats of known brokers wake nobody. An [`Announcer`] tells the fleet
//! that a broker is there, until it is stopped.
//!
//! ```
//! use imqueue_udp_core::{Announcement, Change};
//! use imqueue_udp_net::{Announcer, AnnouncerOptions, Listener, ListenerOptions};
//! use std::sync::{Arc, mpsc};
//! use std::time::Duration;
//!
//! let (news, wait) = mpsc::channel();
//! let options = ListenerOptions { port: 63_999, ..Default::default() };
//! let listener = Listener::start(options, Arc::new(move || drop(news.send(()))))?;
//!
//! let interval = Duration::from_secs(1);
//! let announcement = Announcement::new("imq", "id-1", "127.0.0.1", 6379, interval, None)?;
//! let destinations = vec!["127.255.255.255:63999".parse()?];
//! let options = AnnouncerOptions { announcement, destinations, interface: None };
//! let announcer = Announcer::start(options, Arc::new(|| ()))?;
//!
//! let added = loop {
//!     wait.recv()?;
//!     if let Some(change) = listener.take().changes.pop() {
//!         break change;
//!     }
//! };
//! assert!(matches!(added, Change::Added(server) if server.port == 6379));
//! announcer.stop(); // says "down"
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The hub thread
//!
//! It starts with the first listener or announcer and is joined with the last. It waits for
//! commands, for datagrams and for the next deadline, and whichever wakes it, it does the same
//! then: obey, read every socket dry, judge deadlines, send what is due (`event_loop.rs`). A panic
//! is reported to every listener, and the loop goes on with all that it had.
//!
//! One port has one socket, or some more where others share it (`sockets.rs`), and each different
//! set of options a tracker on it. An inbox for each listener is all that threads share, besides
//! counters that are read without a lock.

mod alarm;
mod announcer;
mod backlog;
mod backoff;
mod destination;
mod error;
mod event_loop;
mod flapping;
mod goodbye;
mod hub;
mod inbox;
mod interface;
mod listener;
mod lookup;
mod notice;
mod outlook;
mod pause;
mod port;
mod ports;
mod relay;
mod rest;
mod route;
mod selection;
mod socket;
mod sockets;
mod speaker;
mod stats;
mod thread;
mod tracker;

pub use announcer::{Announcer, AnnouncerOptions};
pub use destination::{DEFAULT_PORT, Destination};
pub use error::{DestinationError, StartError};
#[cfg(any(test, feature = "fault-injection"))]
pub use hub::inject_panic;
pub use inbox::Waker;
pub use interface::{InterfaceAddress, interface_addresses};
pub use listener::{Batch, Listener, ListenerOptions};
pub use notice::{AnnouncerNotice, Level, Notice};
pub use selection::{NoPattern, Pattern, Selection};
pub use stats::{AnnouncerStats, ListenerStats, SendStats};
pub use thread::spawn_without_signals;
