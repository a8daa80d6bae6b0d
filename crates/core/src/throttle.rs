//! Keeps a log readable.

use std::time::{Duration, Instant};

/// How long a cause is silent after it was admitted.
const PAUSE: Duration = Duration::from_secs(60);

/// At most one line per cause and minute, with a count of what was held back.
///
/// A cause is remembered for ever, and found by comparing one after the other: let it be one of a
/// few, such as the variants of an enum, and nothing that the network chooses.
///
/// ```
/// use imqueue_udp_core::Throttle;
/// use std::time::{Duration, Instant};
///
/// let now = Instant::now();
/// let mut throttle = Throttle::new();
/// assert_eq!(throttle.admit(now, "bind failed"), Some(0));
/// assert_eq!(throttle.admit(now, "bind failed"), None);
/// assert_eq!(throttle.admit(now + Duration::from_secs(60), "bind failed"), Some(1));
/// ```
#[derive(Clone, Debug)]
pub struct Throttle<C> {
    causes: Vec<Cause<C>>,
}

#[derive(Clone, Debug)]
struct Cause<C> {
    cause: C,
    admitted: Instant,
    held_back: u64,
}

impl<C: PartialEq> Throttle<C> {
    /// A throttle that has admitted nothing yet.
    pub const fn new() -> Self {
        Self { causes: Vec::new() }
    }

    /// Whether to speak of `cause` at `now`: `Some` with how often it was held back since it was
    /// last spoken of, or `None`, which counts as held back.
    pub fn admit(&mut self, now: Instant, cause: C) -> Option<u64> {
        let Some(known) = self.causes.iter_mut().find(|known| known.cause == cause) else {
            self.causes.push(Cause {
                cause,
                admitted: now,
                held_back: 0,
            });
            return Some(0);
        };
        if now.saturating_duration_since(known.admitted) < PAUSE {
            known.held_back += 1;
            return None;
        }
        known.admitted = now;
        Some(std::mem::take(&mut known.held_back))
    }
}

impl<C: PartialEq> Default for Throttle<C> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_do_not_silence_each_other() {
        let now = Instant::now();
        let mut throttle = Throttle::new();
        assert_eq!(throttle.admit(now, 'a'), Some(0));
        assert_eq!(throttle.admit(now, 'b'), Some(0));
        assert_eq!(throttle.admit(now, 'a'), None);
        assert_eq!(throttle.admit(now + PAUSE, 'b'), Some(0));
        assert_eq!(throttle.admit(now + PAUSE, 'a'), Some(1));
    }

    #[test]
    fn a_steady_cause_is_admitted_once_a_minute_and_nothing_is_lost() {
        let start = Instant::now();
        let mut throttle = Throttle::new();
        let admitted: Vec<u64> = (0..180)
            .filter_map(|second| throttle.admit(start + Duration::from_secs(second), ()))
            .collect();
        assert_eq!(admitted, [0, 59, 59]);
    }
}
