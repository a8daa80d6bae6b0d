//! Finds the endpoint whose deadline passes next, at no cost to heartbeats.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

use super::endpoint::Endpoint;
use super::endpoints::{Endpoints, Place};

/// Entries that no endpoint waits for any more may outnumber the endpoints by this many before
/// they are worth a cleaning.
const LITTER: usize = 64;

/// A lazily cleaned heap of deadlines.
///
/// A renewal changes the endpoint's deadline only; its entry surfaces at the old one and is put
/// back at the real one, once per deadline instead of once per heartbeat. An entry that does not
/// match its endpoint's `queued` is litter and skipped.
#[derive(Debug, Default)]
pub(super) struct Deadlines {
    heap: BinaryHeap<Reverse<(Instant, Place)>>,
}

impl Deadlines {
    /// Sees to it that the endpoint is asked about no later than at its deadline.
    pub(super) fn watch(&mut self, endpoint: &mut Endpoint) {
        let Some(deadline) = endpoint.owner.deadline else {
            return;
        };
        if endpoint.queued.is_none_or(|queued| deadline < queued) {
            endpoint.queued = Some(deadline);
            self.heap.push(Reverse((deadline, endpoint.place)));
        }
    }

    /// Makes room for one more.
    pub(super) fn make_room(&mut self) {
        self.heap.reserve(1);
    }

    /// An instant no later than the next deadline; `None` if there is none.
    pub(super) fn next(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }

    /// The endpoints whose deadlines have passed up to and including `now`, in the order of their
    /// deadlines and, where those are the same, of their addresses. They are no longer watched.
    pub(super) fn take_expired(&mut self, now: Instant, endpoints: &mut Endpoints) -> Vec<Place> {
        let mut expired = Vec::new();
        while self.next().is_some_and(|at| at <= now) {
            let Some(Reverse((at, place))) = self.heap.pop() else {
                break;
            };
            let Some(endpoint) = endpoints.get_mut(place) else {
                continue;
            };
            if endpoint.queued != Some(at) {
                continue;
            }
            endpoint.queued = None;
            if endpoint.owner.deadline == Some(at) {
                expired.push(place);
            } else {
                // Put back even if that deadline has passed too: it will surface in its turn.
                self.watch(endpoint);
            }
        }
        expired.sort_unstable_by_key(|&place| {
            let endpoint = endpoints.get(place)?;
            Some((endpoint.owner.deadline, endpoint.address()))
        });
        expired
    }

    /// Keeps the heap in proportion to the endpoints. Costs nothing until it has outgrown them.
    pub(super) fn tidy(&mut self, endpoints: &mut Endpoints) {
        if self.heap.len() <= 2 * endpoints.len() + LITTER {
            return;
        }
        self.heap.clear();
        for endpoint in endpoints.values_mut() {
            endpoint.queued = None;
            self.watch(endpoint);
        }
    }
}
