//! Notices that the listener itself was not running.

use std::time::{Duration, Instant};

/// A running listener gives the fleet some input at least this often.
const TICK: Duration = Duration::from_millis(500);

/// A listener that gave no input for longer than this was stopped, starved or suspended
/// (docs/protocol.md, rule 12).
const SILENCE: Duration = Duration::from_secs(1);

/// The fleet's own heartbeat: when it was last given anything.
#[derive(Debug)]
pub(super) struct Pulse {
    last: Instant,
    /// When it was noticed that beats were missed.
    missed: Option<Instant>,
}

impl Pulse {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            last: now,
            missed: None,
        }
    }

    /// Notes an input and returns its time, which never runs backwards. An `idle` fleet asks for
    /// no ticks, so it misses none.
    pub(super) fn beat(&mut self, now: Instant, idle: bool) -> Instant {
        let now = now.max(self.last);
        if !idle && now.duration_since(self.last) > SILENCE {
            self.missed.get_or_insert(now);
        }
        self.last = now;
        now
    }

    /// Whether a beat was missed since this was last asked.
    pub(super) fn take_missed(&mut self) -> bool {
        self.missed.take().is_some()
    }

    /// When the next input is due if something waits for `deadline`: at once after a missed beat,
    /// so that the grace starts when the listener does.
    pub(super) fn next(&self, deadline: Instant) -> Instant {
        if let Some(noticed) = self.missed {
            return noticed;
        }
        let tick = self.last.checked_add(TICK);
        tick.map_or(deadline, |tick| deadline.min(tick))
    }
}
