//! Pauses of the hub thread while heartbeats come fast.

use std::thread;
use std::time::{Duration, Instant};

use crate::port::Activity;

/// Lets heartbeats gather, so that waking up, which costs far more than reading one, is done for
/// several of them. What network adapters do for packets, in software.
///
/// While news come nothing is held up, nor in a fleet of a few hundred brokers, of which the
/// heartbeats come further apart. Commands end a pause at once: whoever sends one unparks the thread.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    /// When the last datagrams were read.
    read_at: Option<Instant>,
    until: Option<Instant>,
}

impl Rest {
    /// How long a new broker may have to wait at most because many others announce themselves.
    const PAUSE: Duration = Duration::from_millis(3);

    /// How long if so many came at a time as never come from a fleet, and may be more than the
    /// system has room for.
    const PAUSE_IN_A_FLOOD: Duration = Duration::from_millis(1);
    const FLOOD: u64 = 64;

    /// How soon after others datagrams have to come to count as fast.
    const FAST: Duration = Duration::from_millis(5);

    /// Notes what the turn that ends `now` has brought.
    pub(crate) fn record(&mut self, now: Instant, activity: Activity) {
        if activity == Activity::Nothing {
            self.until = None;
            return;
        }
        let before = self.read_at.replace(now);
        let fast = before.is_some_and(|at| now.saturating_duration_since(at) < Self::FAST);
        self.until = match activity {
            Activity::Heartbeats(count) if fast => Some(now + Self::pause_after(count)),
            Activity::Nothing | Activity::Heartbeats(_) | Activity::News => None,
        };
    }

    fn pause_after(datagrams: u64) -> Duration {
        if datagrams < Self::FLOOD {
            Self::PAUSE
        } else {
            Self::PAUSE_IN_A_FLOOD
        }
    }

    /// Pauses if it is time to, but not beyond `timeout`.
    pub(crate) fn take(&mut self, timeout: Option<Instant>) {
        if let Some(until) = self.until.take() {
            let until = timeout.map_or(until, |at| at.min(until));
            thread::park_timeout(until.saturating_duration_since(Instant::now()));
        }
    }
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
        let few = Heartbeats(3);

        assert_eq!(pause(&[(0, few)]), None);
        assert_eq!(pause(&[(0, few), (4, few)]), Some(3 * MS));
        assert_eq!(pause(&[(0, few), (5, few)]), None);
        assert_eq!(pause(&[(0, few), (1, Nothing)]), None);
        assert_eq!(pause(&[(0, few), (1, Nothing), (1, few)]), Some(3 * MS));
        assert_eq!(pause(&[(0, News), (1, few)]), Some(3 * MS));
        assert_eq!(pause(&[(0, few), (1, News)]), None);
        assert_eq!(pause(&[(0, few), (1, Heartbeats(64))]), Some(MS));
    }

    #[test]
    fn does_not_rest_beyond_what_is_due() {
        let far = Instant::now() + Duration::from_secs(3600);
        let mut rest = Rest {
            until: Some(far),
            ..Default::default()
        };
        rest.take(Some(Instant::now()));
        assert!(Instant::now() < far);
        assert_eq!(rest.until, None);
    }

    #[test]
    fn whoever_has_a_command_ends_the_rest() {
        let far = Instant::now() + Duration::from_secs(3600);
        let mut rest = Rest {
            until: Some(far),
            ..Default::default()
        };
        thread::current().unpark();
        rest.take(None);
        assert!(Instant::now() < far);
    }
}
