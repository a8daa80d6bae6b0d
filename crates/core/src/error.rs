//! One error a fallible operation: reading a datagram, composing an announcement.

use std::time::Duration;

use thiserror::Error;

/// Why [`Datagram::read`](crate::Datagram::read) could not read a datagram: the first field at
/// fault, from left to right. Nothing has changed.
///
/// `error as usize` is the error's place in [`ALL`](Self::ALL) and in the arrays of
/// [`FleetCounters`](crate::FleetCounters).
#[derive(Clone, Copy, Debug, Eq, Error, Hash, PartialEq)]
#[non_exhaustive]
pub enum ReadError {
    /// The fourth field is no `host:port` that a client could connect to.
    #[error("address is not a host and port to connect to")]
    Address,
    /// There are fewer than four tab-separated fields.
    #[error("fewer than four fields")]
    Fields,
    /// The guid is empty, longer than 128 bytes or has a control character in it.
    #[error("guid is empty, too long or has control characters")]
    Id,
    /// The interval of an `up` is no number of seconds, or negative.
    #[error("interval is not a number of seconds")]
    Interval,
    /// The third field is neither `up` nor `down`.
    #[error("type is neither up nor down")]
    Kind,
    /// The name is empty, longer than 255 bytes or has a control character in it.
    #[error("name is empty, too long or has control characters")]
    Name,
}

impl ReadError {
    /// Every error, in the order of the counters.
    pub const ALL: [Self; 6] = [
        Self::Address,
        Self::Fields,
        Self::Id,
        Self::Interval,
        Self::Kind,
        Self::Name,
    ];

    /// How many errors there are.
    pub const COUNT: usize = Self::ALL.len();

    /// A stable word for statistics: the field at fault.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Address => "address",
            Self::Fields => "fields",
            Self::Id => "id",
            Self::Interval => "interval",
            Self::Kind => "kind",
            Self::Name => "name",
        }
    }
}

/// Why [`Announcement::new`](crate::Announcement::new) refused a value: listeners would not read
/// it, or not read it back as it was given. Nothing has changed.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum AnnouncementError {
    /// The host is no name and no address, or one that nothing can connect to.
    #[error(
        "host {0:?} is not a host name or an address to connect to \
         (no brackets, not 0.0.0.0, a broadcast or a multicast address, at most 253 bytes)"
    )]
    Host(Box<str>),
    /// The guid is empty, longer than 128 bytes or has a control character in it.
    #[error("id {0:?} is not 1 to 128 bytes without control characters")]
    Id(Box<str>),
    /// The interval is zero or longer than a day.
    #[error("interval {0:?} is not more than zero and at most one day")]
    Interval(Duration),
    /// The name is empty, longer than 255 bytes or has a control character in it.
    #[error("name {0:?} is not 1 to 255 bytes without control characters")]
    Name(Box<str>),
    /// The port is 0.
    #[error("port 0 is not a port to connect to")]
    Port,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_cross_threads() {
        fn assert_send_sync<E: std::error::Error + Send + Sync + 'static>() {}
        assert_send_sync::<AnnouncementError>();
        assert_send_sync::<ReadError>();
    }

    #[test]
    fn read_errors_are_numbered_by_their_place() {
        for (place, error) in ReadError::ALL.into_iter().enumerate() {
            assert_eq!(error as usize, place, "{error:?}");
        }
    }
}
