//! Notices that a port was not read for a while.

use std::time::{Duration, Instant};

/// Whether what waits on a port may have waited for long, since the process was stopped, starved or
/// suspended. Listeners do not fall for an `up` that is older than a `down` (docs/protocol.md, rule
/// 8), but only for as long as it takes to be a pause.
#[derive(Debug, Default)]
pub(crate) struct Pause {
    /// When the port is to be read next if nothing else asks for it.
    tick: Option<Instant>,
    /// When it was begun to be read last.
    read_at: Option<Instant>,
    stale: bool,
}

impl Pause {
    /// A port that was not read for longer than this has had a pause.
    const LEAST: Duration = Duration::from_secs(1);

    /// Reads this far apart at most show that there was none.
    const TICK: Duration = Duration::from_millis(500);

    /// The port is about to be read.
    pub(crate) fn begin(&mut self, now: Instant) {
        let before = self.read_at.replace(now);
        // Where no tick was to come, that nothing came says nothing.
        let before = before.filter(|_| self.tick.is_some());
        self.stale |= before.is_some_and(|at| now.saturating_duration_since(at) > Self::LEAST);
    }

    /// It was read, and to its end if `is_dry`.
    pub(crate) fn end(&mut self, is_dry: bool) {
        self.stale &= !is_dry;
    }

    /// Asks for ticks, by which pauses are noticed, or for none.
    pub(crate) fn watch(&mut self, now: Instant, is_wanted: bool) {
        self.tick = is_wanted.then(|| now + Self::TICK);
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.tick
    }

    /// Whether what is being read may have waited since before a pause.
    pub(crate) fn is_stale(&self) -> bool {
        self.stale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waited_through_a_pause_is_stale_until_it_is_read_to_the_end() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut pause = Pause::default();
        pause.begin(at(0));
        pause.end(true);
        pause.watch(at(0), true);
        assert_eq!(pause.poll_timeout(), Some(at(500)));

        pause.begin(at(1000));
        assert!(!pause.is_stale());
        pause.end(true);
        pause.begin(at(2001));
        assert!(pause.is_stale());
        pause.end(false);
        pause.begin(at(2051));
        assert!(pause.is_stale());
        pause.end(true);
        assert!(!pause.is_stale());
    }

    #[test]
    fn who_asked_for_no_ticks_misses_none() {
        let start = Instant::now();
        let mut pause = Pause::default();
        pause.begin(start);
        pause.end(true);
        pause.watch(start, false);
        assert_eq!(pause.poll_timeout(), None);
        pause.begin(start + Duration::from_secs(9));
        assert!(!pause.is_stale());
    }
}
