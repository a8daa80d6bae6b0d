//! What one subscriber has yet to be told.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::address::Address;
use crate::event::{Event, RemovalReason};
use crate::server::Server;

/// One subscriber's difference between what it was last told and what is true now.
///
/// However long a subscriber does not look, it waits for at most one change per endpoint, and what
/// comes and goes between two [`take`](Self::take)s leaves nothing. A subscriber that joins late is
/// told of a fleet by recording an [`Event::Added`] for each of its active servers.
#[derive(Debug, Default)]
pub struct Changes {
    /// Only endpoints where the two differ.
    pending: HashMap<Address, Pending>,
    /// How many events were recorded: orders what is pending.
    recorded: u64,
}

/// A step from what the subscriber knows to what is true now.
#[derive(Clone, Debug)]
pub enum Change {
    /// A broker that the subscriber does not know.
    Added(Arc<Server>),
    /// A broker that is no more, as the subscriber knows it.
    Removed(Arc<Server>, RemovalReason),
    /// The broker that the subscriber knows went and came back with the same guid. There is nothing
    /// to tell anybody, since clusters know a broker by its guid, host and port; but only this server is
    /// renewed by heartbeats from now on.
    Renewed(Arc<Server>),
    /// Another broker at the same endpoint.
    Updated {
        /// The broker from now on.
        server: Arc<Server>,
        /// The broker that the subscriber knows, at the same endpoint.
        previous: Arc<Server>,
    },
}

impl Changes {
    /// The changes of a subscriber that knows nothing, and has nothing to learn yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes note of an event. Events must be recorded in the order in which they happened.
    pub fn record(&mut self, event: &Event) {
        let (server, before, now) = match event {
            Event::Added(server) => (server, None, Ok(server)),
            Event::FleetFull { .. } => return,
            Event::Removed(server, reason) => (server, Some(server), Err(*reason)),
            Event::Updated { server, previous } => (server, Some(previous), Ok(server)),
        };
        let address = Address::of(server);
        let told = match self.pending.remove(&address) {
            Some(pending) => pending.told,
            None => before.map(Arc::clone),
        };
        self.recorded += 1;
        let pending = Pending {
            told,
            now: now.map(Arc::clone),
            number: self.recorded,
        };
        if pending.change().is_some() {
            self.pending.insert(address, pending);
        }
    }

    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// All that is to be told, which then counts as told: removes, then updates and renewals, then
    /// adds, each in the order in which they last happened.
    pub fn take(&mut self) -> Vec<Change> {
        let mut pending: Vec<Pending> = self.pending.drain().map(|(_, pending)| pending).collect();
        pending.sort_unstable_by_key(|pending| pending.number);
        let mut changes: Vec<Change> = pending.iter().filter_map(Pending::change).collect();
        changes.sort_by_key(Change::rank);
        changes
    }
}

impl Change {
    /// A broker that moved is to be left before it is joined.
    fn rank(&self) -> u8 {
        match self {
            Self::Removed(..) => 0,
            Self::Renewed(_) | Self::Updated { .. } => 1,
            Self::Added(_) => 2,
        }
    }
}

#[derive(Debug)]
struct Pending {
    /// What the subscriber knows.
    told: Option<Arc<Server>>,
    /// What is true.
    now: Result<Arc<Server>, RemovalReason>,
    /// The number of the last event, for the order.
    number: u64,
}

impl Pending {
    /// The step from what is known to what is true; `None` where they agree.
    fn change(&self) -> Option<Change> {
        match (&self.told, &self.now) {
            (None, Err(_)) => None,
            (None, Ok(server)) => Some(Change::Added(Arc::clone(server))),
            (Some(told), Err(reason)) => Some(Change::Removed(Arc::clone(told), *reason)),
            (Some(told), Ok(server)) if Arc::ptr_eq(told, server) => None,
            (Some(told), Ok(server)) if told.id == server.id => {
                Some(Change::Renewed(Arc::clone(server)))
            }
            (Some(told), Ok(server)) => Some(Change::Updated {
                server: Arc::clone(server),
                previous: Arc::clone(told),
            }),
        }
    }
}

#[cfg(test)]
mod tests;
