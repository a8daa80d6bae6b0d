//! When an announcer speaks.

use std::time::{Duration, Instant};

use crate::wire::{Kind, MAX_INTERVAL};

/// The shortest pause between two heartbeats: a schedule always lets its caller rest.
const MIN_INTERVAL: Duration = Duration::from_millis(1);

/// When an announcer says what: `up` at once and then every interval, at last one `down`, and
/// never an `up` after it.
///
/// The beat does not drift: each `up` is due an interval after the previous one was *due*. Beats
/// that were missed altogether are skipped rather than sent in a burst.
///
/// Drive it like this: wait until [`poll_timeout`](Self::poll_timeout), send what
/// [`poll_transmit`](Self::poll_transmit) gives until it gives nothing, and be done once
/// `poll_timeout` is `None`.
#[derive(Clone, Debug)]
pub struct Schedule {
    interval: Duration,
    /// When the caller last asked: an instant that has come, for a `down` that is due at once.
    asked: Instant,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Nothing was said yet, so there would be nothing to take back.
    Silent {
        first: Instant,
    },
    /// Said `up` at least once.
    Announcing {
        next: Instant,
    },
    /// The `down` is to be said.
    Leaving,
    Done,
}

impl Schedule {
    /// A schedule whose first `up` is due `now`. `interval` is the announcement's, taken as at
    /// least a millisecond and at most one day.
    pub fn new(interval: Duration, now: Instant) -> Self {
        let interval = interval.clamp(MIN_INTERVAL, MAX_INTERVAL);
        Self {
            interval,
            asked: now,
            state: State::Silent { first: now },
        }
    }

    /// When to call [`poll_transmit`](Self::poll_transmit) next; an instant that has passed means
    /// at once, `None` that all has been said.
    ///
    /// Ask again after `poll_transmit` or [`stop`](Self::stop).
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self.state {
            State::Silent { first: due } | State::Announcing { next: due } => Some(due),
            State::Leaving => Some(self.asked),
            State::Done => None,
        }
    }

    /// What to send now, if anything is due.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Kind> {
        self.asked = self.asked.max(now);
        match self.state {
            State::Silent { first: due } | State::Announcing { next: due } if due <= now => {
                self.state = State::Announcing {
                    next: self.beat_after(due, now),
                };
                Some(Kind::Up)
            }
            State::Leaving => {
                self.state = State::Done;
                Some(Kind::Down)
            }
            State::Silent { .. } | State::Announcing { .. } | State::Done => None,
        }
    }

    /// Ends the heartbeats: the next [`poll_transmit`](Self::poll_transmit) gives the `down`, once
    /// and without waiting, or nothing where no `up` was ever given. Further calls change nothing.
    pub fn stop(&mut self) {
        self.state = match self.state {
            State::Announcing { .. } | State::Leaving => State::Leaving,
            State::Silent { .. } | State::Done => State::Done,
        };
    }

    /// The first beat after `now` of those that `due` is one of.
    fn beat_after(&self, due: Instant, now: Instant) -> Instant {
        let late = now.saturating_duration_since(due).as_nanos() % self.interval.as_nanos();
        let late = u64::try_from(late).expect("less than the interval, which is at most a day");
        now + (self.interval - Duration::from_nanos(late))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn first_up_is_due_at_once_and_the_next_an_interval_later() {
        let start = Instant::now();
        let mut schedule = Schedule::new(SECOND, start);
        assert_eq!(schedule.poll_timeout(), Some(start));
        assert_eq!(schedule.poll_transmit(start), Some(Kind::Up));
        assert_eq!(schedule.poll_transmit(start), None);
        assert_eq!(schedule.poll_timeout(), Some(start + SECOND));
        assert_eq!(
            schedule.poll_transmit(start + SECOND - Duration::from_nanos(1)),
            None
        );
        assert_eq!(schedule.poll_transmit(start + SECOND), Some(Kind::Up));
    }

    #[test]
    fn being_late_does_not_shift_the_beat() {
        let start = Instant::now();
        let mut schedule = Schedule::new(SECOND, start);
        for beat in 0..100 {
            let late = start + SECOND * beat + Duration::from_millis(u64::from(beat) * 9);
            assert_eq!(schedule.poll_transmit(late), Some(Kind::Up));
            assert_eq!(schedule.poll_timeout(), Some(start + SECOND * (beat + 1)));
        }
    }

    #[test]
    fn missed_beats_are_skipped_not_sent_in_a_burst() {
        let start = Instant::now();
        let mut schedule = Schedule::new(SECOND, start);
        assert_eq!(schedule.poll_transmit(start), Some(Kind::Up));
        let awake = start + Duration::from_millis(5_300);
        assert_eq!(schedule.poll_transmit(awake), Some(Kind::Up));
        assert_eq!(schedule.poll_transmit(awake), None);
        assert_eq!(schedule.poll_timeout(), Some(start + SECOND * 6));
    }

    #[test]
    fn stop_gives_one_down_at_once_and_no_up_after_it() {
        let start = Instant::now();
        let mut schedule = Schedule::new(SECOND, start);
        assert_eq!(schedule.poll_transmit(start), Some(Kind::Up));
        schedule.stop();
        schedule.stop();
        assert!(schedule.poll_timeout().is_some_and(|due| due <= start));
        assert_eq!(schedule.poll_transmit(start), Some(Kind::Down));
        schedule.stop();
        assert_eq!(schedule.poll_timeout(), None);
        assert_eq!(schedule.poll_transmit(start + SECOND * 9), None);
    }

    #[test]
    fn stop_before_the_first_up_says_nothing() {
        let start = Instant::now();
        let mut schedule = Schedule::new(SECOND, start);
        schedule.stop();
        assert_eq!(schedule.poll_timeout(), None);
        assert_eq!(schedule.poll_transmit(start), None);
    }

    #[test]
    fn no_interval_makes_it_spin_or_overflow() {
        let start = Instant::now();
        for (interval, pause) in [
            (Duration::ZERO, MIN_INTERVAL),
            (Duration::MAX, MAX_INTERVAL),
        ] {
            let mut schedule = Schedule::new(interval, start);
            assert_eq!(schedule.poll_transmit(start), Some(Kind::Up));
            assert_eq!(schedule.poll_timeout(), Some(start + pause));
        }
    }
}
