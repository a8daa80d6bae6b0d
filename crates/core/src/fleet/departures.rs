//! Who has just left, so that a reordered `up` does not bring the dead back.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hashbrown::{Equivalent, HashSet};

use crate::address::{Address, AddressRef};

/// How long an `up` may be on its way, or behind in a queue, after the `down` that followed it.
const MEMORY: Duration = Duration::from_secs(1);

/// The `down`s of the last second (docs/protocol.md, rule 8).
///
/// Whoever sends `up` and `down` in turns makes it ask for one with the limit remembered each time,
/// so that finding one costs the same however many there are.
#[derive(Debug)]
pub(super) struct Departures {
    recent: HashSet<Departure>,
    /// The same ones with their times, oldest first.
    order: VecDeque<(Instant, Departure)>,
    /// How many are remembered at most; the oldest is forgotten first.
    limit: usize,
}

/// Cloning it copies no text.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Departure {
    address: Address,
    id: Arc<str>,
}

/// The same as it stands in a datagram; it hashes as [`Departure`] does.
#[derive(Hash)]
struct DepartureRef<'a> {
    address: AddressRef<'a>,
    id: &'a str,
}

impl Equivalent<Departure> for DepartureRef<'_> {
    fn equivalent(&self, key: &Departure) -> bool {
        *self.id == *key.id && self.address.equivalent(&key.address)
    }
}

impl Departures {
    /// Even the smallest fleet can lose several brokers within a second, one after the other.
    pub(super) const FEW: usize = 64;

    /// For a fleet of so many endpoints.
    pub(super) fn new(max_servers: usize) -> Self {
        Self {
            recent: HashSet::new(),
            order: VecDeque::new(),
            limit: max_servers.max(Self::FEW),
        }
    }

    /// Remembers that this guid has left this endpoint. While it does, the guid cannot own the
    /// endpoint again, and so cannot leave it a second time.
    pub(super) fn remember(&mut self, now: Instant, address: Address, id: Arc<str>) {
        self.forget_old(now);
        if self.order.len() >= self.limit {
            self.forget_oldest();
        }
        let departure = Departure { address, id };
        if self.recent.insert(departure.clone()) {
            self.order.push_back((now, departure));
        }
    }

    /// Whether this guid has left this endpoint within the last second.
    pub(super) fn contains(&mut self, now: Instant, address: AddressRef<'_>, id: &str) -> bool {
        self.forget_old(now);
        self.recent.contains(&DepartureRef { address, id })
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        debug_assert_eq!(self.recent.len(), self.order.len());
        self.order.len()
    }

    /// Forgets whoever left a second ago or earlier.
    pub(super) fn forget_old(&mut self, now: Instant) {
        let is_old = |at: Instant| now.saturating_duration_since(at) >= MEMORY;
        while self.order.front().is_some_and(|(at, _)| is_old(*at)) {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some((_, departure)) = self.order.pop_front() {
            self.recent.remove(&departure);
        }
    }
}
