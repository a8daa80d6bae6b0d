//! Pauses between attempts.

use std::time::Duration;

/// A pause that doubles with every failure, up to a limit.
#[derive(Clone, Debug)]
pub(crate) struct Backoff {
    first: Duration,
    limit: Duration,
    next: Duration,
}

impl Backoff {
    pub(crate) const fn new(first: Duration, limit: Duration) -> Self {
        Self {
            first,
            limit,
            next: first,
        }
    }

    /// How long to wait after one more failure.
    pub(crate) fn pause(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.limit);
        pause
    }

    /// Begins anew: it worked.
    pub(crate) fn reset(&mut self) {
        self.next = self.first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_to_the_limit_and_begins_anew() {
        let mut backoff = Backoff::new(Duration::from_millis(250), Duration::from_millis(900));
        let pauses = [(); 4].map(|()| backoff.pause().as_millis());
        assert_eq!(pauses, [250, 500, 900, 900]);

        backoff.reset();
        assert_eq!(backoff.pause().as_millis(), 250);
    }
}
