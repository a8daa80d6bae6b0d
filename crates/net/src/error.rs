//! Why an operation of this crate failed.

use std::io;

use thiserror::Error;

/// Why a [`Listener`](crate::Listener) or an [`Announcer`](crate::Announcer) was not started.
///
/// Nothing was started then, and what runs already is not affected; it may be tried again.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// The system refused the event queue that the hub thread waits on, usually because the
    /// process has no file descriptors left.
    #[error("the event loop of the UDP thread could not be made: {0}")]
    Runtime(#[source] io::Error),
    /// The system refused another thread.
    #[error("the UDP thread could not be started: {0}")]
    Thread(#[source] io::Error),
}

/// Why a text is no [`Destination`](crate::Destination).
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[non_exhaustive]
pub enum DestinationError {
    /// The part before the port is neither an address nor a host name.
    #[error("{0:?} names no host: expected host, host:port or [IPv6 address]:port")]
    Host(Box<str>),
    /// What follows the last colon is no port number from 1 to 65535.
    #[error("{0:?} has no valid port: expected a number from 1 to 65535 after the colon")]
    Port(Box<str>),
}
