//! What brokers say and who is alive: reads and writes announcement datagrams, tracks the fleet
//! they describe, and schedules an announcer's own. No sockets, threads, clocks or logging: bytes
//! and the time come in as arguments, so a day of fleet life runs in a test within milliseconds.
//! The rules, and their numbers, are those of `docs/protocol.md`.
//!
//! A listener drives one [`Fleet`]: datagrams in, timeouts in, events out. An announcer holds an
//! [`Announcement`] and asks a [`Schedule`] when to send it. A [`Changes`] coalesces events for a
//! subscriber that looks only now and then, and a [`Throttle`] keeps its log readable.
//!
//! # The run loop
//!
//! ```
//! use imqueue_udp_core::{Event, Fleet, FleetConfig};
//! use std::net::SocketAddrV4;
//! use std::time::{Duration, Instant};
//!
//! let mut now = Instant::now(); // the only clock is the caller's
//! let mut fleet = Fleet::new(FleetConfig::default(), now);
//! let mut events = Vec::new();
//! let source: SocketAddrV4 = "10.0.4.12:49152".parse()?;
//!
//! // 1. Read the socket dry.
//! fleet.handle_datagram(now, b"imq-broker\tid-1\tup\t10.0.4.12:6379\t1", source, &mut events);
//! assert!(matches!(&events[..], [Event::Added(server)] if server.port == 6379));
//! events.clear();
//!
//! // 2. Only then judge deadlines. 3. Sleep until `poll_timeout` or the next datagram. Repeat.
//! // This broker has fallen silent, so it is gone an interval, 5 s and 1 ms after its last word.
//! while let Some(due) = fleet.poll_timeout() {
//!     now = due;
//!     fleet.handle_timeout(now, &mut events);
//! }
//! assert!(matches!(&events[..], [Event::Removed(..)]));
//! # Ok::<(), std::net::AddrParseError>(())
//! ```

#![forbid(unsafe_code)]

mod address;
mod announcement;
mod changes;
mod config;
mod counters;
mod error;
mod event;
mod fleet;
mod outcome;
mod schedule;
mod server;
mod throttle;
mod wire;

pub use announcement::Announcement;
pub use changes::{Change, Changes};
pub use config::FleetConfig;
pub use counters::FleetCounters;
pub use error::{AnnouncementError, ReadError};
pub use event::{Event, RemovalReason};
pub use fleet::Fleet;
pub use outcome::{IgnoreReason, Outcome};
pub use schedule::Schedule;
pub use server::Server;
pub use throttle::Throttle;
pub use wire::{Datagram, Kind, MAX_INTERVAL, Transport};
