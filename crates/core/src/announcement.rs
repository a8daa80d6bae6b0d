//! What an announcer says.

use std::time::Duration;

use crate::error::AnnouncementError;
use crate::wire::{self, Datagram, Kind, MAX_INTERVAL, Transport};

/// What an announcer says about one broker: its two datagrams, checked and ready to send.
///
/// Whatever is accepted here is read back by [`Datagram::read`] exactly as it was given. When to
/// send which is the [`Schedule`](crate::Schedule)'s to say.
///
/// ```
/// use imqueue_udp_core::{Announcement, Transport};
/// use std::time::Duration;
///
/// let second = Duration::from_secs(1);
/// let plain = Some(Transport::Plain);
/// let announcement = Announcement::new("imq-broker", "id-1", "fd00::1", 6379, second, plain)?;
///
/// assert_eq!(announcement.up(), b"imq-broker\tid-1\tup\t[fd00::1]:6379\t1\tplain");
/// assert_eq!(announcement.down(), b"imq-broker\tid-1\tdown\t[fd00::1]:6379");
/// # Ok::<(), imqueue_udp_core::AnnouncementError>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Announcement {
    interval: Duration,
    up: Box<[u8]>,
    down: Box<[u8]>,
}

impl Announcement {
    /// Composes the datagrams of the broker `id` at `host` (IPv6 without brackets) and `port`.
    ///
    /// `interval` is how often the announcer will send them, more than zero and at most one day.
    /// Listeners drop the broker when it is silent for that long plus their tolerance.
    ///
    /// # Errors
    ///
    /// The first value, in the order of the arguments, that a listener would not read.
    pub fn new(
        name: &str,
        id: &str,
        host: &str,
        port: u16,
        interval: Duration,
        transport: Option<Transport>,
    ) -> Result<Self, AnnouncementError> {
        if !wire::is_label(name, wire::MAX_NAME) {
            return Err(AnnouncementError::Name(name.into()));
        }
        if !wire::is_label(id, wire::MAX_ID) {
            return Err(AnnouncementError::Id(id.into()));
        }
        if !wire::host::is_host(host) {
            return Err(AnnouncementError::Host(host.into()));
        }
        if port == 0 {
            return Err(AnnouncementError::Port);
        }
        if interval.is_zero() || interval > MAX_INTERVAL {
            return Err(AnnouncementError::Interval(interval));
        }
        let compose = |kind| {
            let (name, id) = (name.into(), id.into());
            let datagram = Datagram {
                name,
                id,
                kind,
                host,
                port,
                interval,
                transport,
            };
            datagram.to_string().into_bytes().into_boxed_slice()
        };
        Ok(Self {
            interval,
            up: compose(Kind::Up),
            down: compose(Kind::Down),
        })
    }

    /// The datagram of either kind, as bytes to send.
    pub fn datagram(&self, kind: Kind) -> &[u8] {
        match kind {
            Kind::Down => &self.down,
            Kind::Up => &self.up,
        }
    }

    /// The heartbeat: "I am here".
    pub fn up(&self) -> &[u8] {
        self.datagram(Kind::Up)
    }

    /// The farewell: "I leave".
    pub fn down(&self) -> &[u8] {
        self.datagram(Kind::Down)
    }

    /// How often the heartbeat is to be sent.
    pub fn interval(&self) -> Duration {
        self.interval
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announce(
        name: &str,
        id: &str,
        host: &str,
        port: u16,
        interval: Duration,
    ) -> Result<Announcement, AnnouncementError> {
        Announcement::new(name, id, host, port, interval, None)
    }

    #[test]
    fn what_a_listener_would_not_read_is_refused_by_name_and_value() {
        use AnnouncementError::{Host, Id, Interval, Name, Port};
        const SECOND: Duration = Duration::from_secs(1);
        let long = "n".repeat(256);

        for name in ["", "a\tb", "a\nb", &long] {
            assert_eq!(
                announce(name, "id", "redis", 1, SECOND),
                Err(Name(name.into()))
            );
        }
        for id in ["", "a\tb", "\u{1b}", &long[..129]] {
            assert_eq!(announce("imq", id, "redis", 1, SECOND), Err(Id(id.into())));
        }
        for host in [
            "",
            "0.0.0.0",
            "[fd00::1]",
            "::",
            "red is",
            "redis:1",
            "a\tb",
            &long[..254],
        ] {
            assert_eq!(
                announce("imq", "id", host, 1, SECOND),
                Err(Host(host.into()))
            );
        }
        assert_eq!(announce("imq", "id", "redis", 0, SECOND), Err(Port));
        for interval in [
            Duration::ZERO,
            MAX_INTERVAL + Duration::from_nanos(1),
            Duration::MAX,
        ] {
            assert_eq!(
                announce("imq", "id", "redis", 1, interval),
                Err(Interval(interval))
            );
        }
    }

    #[test]
    fn the_longest_values_are_accepted() {
        let long = "n".repeat(255);
        let announced = announce(&long, &long[..128], &long[..253], u16::MAX, MAX_INTERVAL);
        assert!(announced.is_ok());
    }

    #[test]
    fn errors_say_what_to_mend() {
        let error = announce("imq", "id", "0.0.0.0", 1, MAX_INTERVAL).unwrap_err();
        assert!(error.to_string().contains("\"0.0.0.0\""), "{error}");
        let error = announce("imq", "id", "redis", 1, Duration::ZERO).unwrap_err();
        assert_eq!(
            error.to_string(),
            "interval 0ns is not more than zero and at most one day"
        );
    }
}
