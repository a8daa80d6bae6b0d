//! Pauses of the hub thread while heartbeats come fast.

use std::thread;
use std::time::{Duration, Instant};

use crate::port::Activity;

/// Lets heartbeats gather, so that waking up, which costs far more than reading one, is done for
/// several of them. What network adapters do for packets, in software.
///
/// While news come nothing is held up, nor in a fleet of a hundred brokers, of which the
/// heartbeats come further apart. Commands end a pause at once: whoever sends one unparks the thread.
///
/// What comes during a pause has to find room in the socket's buffer, or a flood of a few large
/// datagrams would displace heartbeats while the thread sleeps. So it pauses for no longer than a part
/// of the smallest usual buffer takes to fill, as fast as datagrams have come just now.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    /// When the last datagrams were read.
    read_at: Option<Instant>,
    until: Option<Instant>,
}

impl Rest {
    /// How long a new broker may have to wait at most because many others announce themselves: little
    /// beside the second that it may take until it does so itself.
    const PAUSE: Duration = Duration::from_millis(12);

    /// A pause that is shorter would save nothing.
    const LEAST: Duration = Duration::from_micros(250);

    /// How much may come in a pause, as [`load`] counts it: a quarter of what a buffer of 208 KiB has
    /// room for, which is what a Linux allows that nobody has told otherwise.
    const ROOM: u64 = 128;

    /// How far apart datagrams may come at most to count as fast.
    const FAST: Duration = Duration::from_millis(6);

    /// Notes what the turn that ends `now` has brought.
    pub(crate) fn record(&mut self, now: Instant, activity: Activity) {
        if activity == Activity::Nothing {
            self.until = None;
            return;
        }
        let before = self.read_at.replace(now);
        self.until = match (activity, before) {
            (Activity::Heartbeats(load), Some(before)) => {
                let elapsed = now.saturating_duration_since(before);
                let pause = Self::pause_after(load, elapsed);
                let fast = elapsed.as_nanos() < Self::FAST.as_nanos() * u128::from(load);
                (fast && pause >= Self::LEAST).then(|| now + pause)
            }
            _ => None,
        };
    }

    /// How long it takes for what there is room for to come, if so much came in the time that has
    /// elapsed.
    fn pause_after(load: u64, elapsed: Duration) -> Duration {
        let full_after = elapsed.as_secs_f64() * Self::ROOM as f64 / load as f64;
        Self::PAUSE.min(Duration::from_secs_f64(full_after))
    }

    /// Pauses if it is time to, but not beyond `timeout`. Says whether it did.
    pub(crate) fn take(&mut self, timeout: Option<Instant>) -> bool {
        let Some(until) = self.until.take() else {
            return false;
        };
        let until = timeout.map_or(until, |at| at.min(until));
        thread::park_timeout(until.saturating_duration_since(Instant::now()));
        true
    }
}

/// How much room a datagram of so many bytes takes, in datagrams of the usual size.
pub(crate) fn load(length: usize) -> u64 {
    const USUAL: u64 = 512;
    1 + length as u64 / USUAL
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// How long the rest is after turns with these activities, so many ms apart.
    fn pause(turns: &[(u32, Activity)]) -> Option<Duration> {
        let mut rest = Rest::default();
        let mut now = Instant::now();
        for &(after, activity) in turns {
            now += after * MS;
            rest.record(now, activity);
        }
        rest.until.map(|until| until - now)
    }

    #[test]
    fn rests_while_heartbeats_come_fast() {
        use Activity::{Heartbeats, News, Nothing};
        let (one, few) = (Heartbeats(1), Heartbeats(3));

        assert_eq!(pause(&[(0, one)]), None);
        assert_eq!(pause(&[(0, one), (5, one)]), Some(12 * MS));
        assert_eq!(pause(&[(0, one), (6, one)]), None);
        assert_eq!(pause(&[(0, one), (17, few)]), Some(12 * MS));
        assert_eq!(pause(&[(0, one), (18, few)]), None);
        assert_eq!(pause(&[(0, one), (1, Nothing)]), None);
        assert_eq!(pause(&[(0, one), (1, Nothing), (1, one)]), Some(12 * MS));
        assert_eq!(pause(&[(0, News), (1, one)]), Some(12 * MS));
        assert_eq!(pause(&[(0, one), (1, News)]), None);
    }

    #[test]
    fn rests_no_longer_than_there_is_room_for_what_comes() {
        use Activity::Heartbeats;
        let after_2_ms = |load| pause(&[(0, Heartbeats(1)), (2, Heartbeats(load))]);

        assert_eq!(after_2_ms(21), Some(12 * MS));
        assert_eq!(after_2_ms(256), Some(MS));
        assert_eq!(after_2_ms(1024), Some(MS / 4));
        assert_eq!(after_2_ms(1025), None);
        // Ten of the largest datagrams.
        assert_eq!(after_2_ms(10 * load(65_507)), None);
    }

    #[test]
    fn does_not_rest_beyond_what_is_due() {
        let far = Instant::now() + Duration::from_secs(3600);
        let mut rest = Rest {
            until: Some(far),
            ..Default::default()
        };
        assert!(rest.take(Some(Instant::now())));
        assert!(Instant::now() < far);
        assert!(!rest.take(None));
    }

    #[test]
    fn whoever_has_a_command_ends_the_rest() {
        let far = Instant::now() + Duration::from_secs(3600);
        let mut rest = Rest {
            until: Some(far),
            ..Default::default()
        };
        thread::current().unpark();
        assert!(rest.take(None));
        assert!(Instant::now() < far);
    }
}
