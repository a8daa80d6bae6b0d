//! How often `down` is said.

use std::time::Instant;

/// If it gets lost, listeners keep a dead broker until its deadline.
pub(crate) const GOODBYES: usize = 3;

/// Counts the rounds in which `down` is said, and how long they take.
#[derive(Debug)]
pub(crate) struct Goodbyes {
    said: usize,
    /// When the present round began.
    began: Instant,
    /// Whoever leaves waits until then, and longer only for the first round.
    end: Option<Instant>,
}

impl Goodbyes {
    /// The first round begins `now`.
    pub(crate) fn begin(now: Instant, end: Option<Instant>) -> Self {
        Self {
            said: 0,
            began: now,
            end,
        }
    }

    /// A round is over. Whether another one begins: as it seems, it takes as long as this one.
    pub(crate) fn go_on(&mut self, now: Instant) -> bool {
        let took = now - self.began;
        self.said += 1;
        self.began = now;
        self.said < GOODBYES && self.end.is_none_or(|end| now + took <= end)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// How many rounds there are, if one takes so long.
    fn rounds(round: u64, end: Option<u64>) -> usize {
        let start = Instant::now();
        let after = |ms| start + Duration::from_millis(ms);
        let mut goodbyes = Goodbyes::begin(start, end.map(after));
        let ends = (1..).map(|number| after(round * number));
        1 + ends.take_while(|&ended| goodbyes.go_on(ended)).count()
    }

    #[test]
    fn whoever_has_time_says_it_thrice() {
        assert_eq!([0, 16, 1000].map(|round| rounds(round, None)), [3, 3, 3]);
    }

    #[test]
    fn whoever_has_not_says_it_as_often_as_there_is_time_for_and_at_least_once() {
        let within_fifty = |round| rounds(round, Some(50));
        assert_eq!([0, 16, 17, 25].map(within_fifty), [3, 3, 2, 2]);
        assert_eq!([26, 49, 1000].map(within_fifty), [1, 1, 1]);
        // It was late from the beginning.
        assert_eq!(rounds(1, Some(0)), 1);
    }
}
