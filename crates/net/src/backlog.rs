//! What waited in the sockets of a port while it was not read.

use std::time::Instant;

use crate::socket::RECEIVE_BUFFER;

/// As of when deadlines can be judged: a heartbeat that has arrived counts, also while it waits to be
/// read (docs/protocol.md, rule 12).
///
/// That is the moment up to which the sockets were last read dry. One that fills up faster than it is
/// read never is, but what waited in it has been read once more was than it has room for.
#[derive(Debug)]
pub(crate) struct Backlog {
    read_dry_at: Instant,
    /// What was read since, as [`load`](crate::rest::load) counts it.
    read_since: u64,
}

impl Backlog {
    /// At least what a socket has room for: Linux makes its buffer twice as large as was asked for, and
    /// no datagram takes less than 512 bytes of it.
    const ROOM: u64 = 2 * RECEIVE_BUFFER as u64 / 512;

    pub(crate) fn new(now: Instant) -> Self {
        Self {
            read_dry_at: now,
            read_since: 0,
        }
    }

    /// Notes how much was read of so many sockets, up to which moment and whether that was all.
    /// Returns as of when deadlines can be judged.
    pub(crate) fn record(
        &mut self,
        read_up_to: Instant,
        is_dry: bool,
        load: u64,
        sockets: usize,
    ) -> Instant {
        if is_dry {
            *self = Self::new(read_up_to);
            return read_up_to;
        }
        self.read_since += load;
        if self.read_since > Self::ROOM * sockets as u64 {
            return read_up_to;
        }
        self.read_dry_at
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_has_waited_is_read_before_deadlines_are_judged() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut backlog = Backlog::new(start);

        assert_eq!(backlog.record(at(10), true, 5, 1), at(10));
        assert_eq!(backlog.record(at(60), false, 5_000, 1), at(10));
        assert_eq!(backlog.record(at(110), false, 5_000, 1), at(10));
        assert_eq!(backlog.record(at(120), true, 700, 1), at(120));
        assert_eq!(backlog.record(at(170), false, 16_000, 1), at(120));
    }

    #[test]
    fn who_never_stops_sending_does_not_put_deadlines_off() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let judged = |sockets| {
            let mut backlog = Backlog::new(start);
            (1..=10)
                .map(|turn| backlog.record(at(50 * turn), false, 9_000, sockets))
                .position(|as_of| as_of > start)
        };

        assert_eq!(judged(1), Some(1));
        assert_eq!(judged(2), Some(3));
    }
}
