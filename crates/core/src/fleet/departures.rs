//! Who has just left, so that a reordered `up` does not bring the dead back.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hashbrown::Equivalent;

use crate::address::{Address, AddressRef};

/// How long an `up` may be on its way, or behind in a queue, after the `down` that followed it.
const MEMORY: Duration = Duration::from_secs(1);

/// The `down`s of the last second, oldest first (docs/protocol.md, rule 8).
#[derive(Debug)]
pub(super) struct Departures {
    recent: VecDeque<Departure>,
    /// How many are remembered at most; the oldest is forgotten first.
    limit: usize,
}

#[derive(Debug)]
struct Departure {
    at: Instant,
    address: Address,
    id: Arc<str>,
}

impl Departures {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            recent: VecDeque::new(),
            limit,
        }
    }

    /// Remembers that this guid has left this endpoint.
    pub(super) fn remember(&mut self, now: Instant, address: Address, id: Arc<str>) {
        self.forget_old(now);
        if self.recent.len() >= self.limit {
            self.recent.pop_front();
        }
        self.recent.push_back(Departure {
            at: now,
            address,
            id,
        });
    }

    /// Whether this guid has left this endpoint within the last second.
    pub(super) fn contains(&mut self, now: Instant, address: AddressRef<'_>, id: &str) -> bool {
        self.forget_old(now);
        self.recent
            .iter()
            .any(|departure| *departure.id == *id && address.equivalent(&departure.address))
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.recent.len()
    }

    /// Forgets whoever left a second ago or earlier.
    pub(super) fn forget_old(&mut self, now: Instant) {
        let old = |departure: &Departure| now.saturating_duration_since(departure.at) >= MEMORY;
        while self.recent.front().is_some_and(old) {
            self.recent.pop_front();
        }
    }
}
