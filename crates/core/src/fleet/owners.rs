//! Which endpoints a guid owns.

use std::sync::Arc;

use hashbrown::HashMap;

use super::claim::Claim;
use super::endpoint::Endpoint;
use super::endpoints::Place;
use crate::server::Server;

/// The endpoints of each guid, and how many of them are active.
#[derive(Debug, Default)]
pub(super) struct Owners {
    owners: HashMap<Arc<str>, Owner>,
}

#[derive(Debug, Default)]
struct Owner {
    endpoints: Vec<Place>,
    active: usize,
}

impl Owners {
    /// All endpoints of the guid, in no particular order.
    pub(super) fn endpoints(&self, id: &str) -> &[Place] {
        self.owners.get(id).map_or(&[], |owner| &owner.endpoints)
    }

    /// How many of the guid's endpoints are active.
    #[cfg(test)]
    pub(super) fn active(&self, id: &str) -> usize {
        self.owners.get(id).map_or(0, |owner| owner.active)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.owners.len()
    }

    /// Makes room for one more.
    pub(super) fn make_room(&mut self) {
        self.owners.reserve(1);
    }

    /// The endpoint's owner has one more.
    pub(super) fn join(&mut self, endpoint: &Endpoint) {
        let owner = self
            .owners
            .entry(Arc::clone(&endpoint.owner.server.id))
            .or_default();
        owner.endpoints.push(endpoint.place);
        owner.active += usize::from(endpoint.active);
    }

    /// The endpoint's owner has one less.
    pub(super) fn leave(&mut self, endpoint: &Endpoint) {
        let Some(owner) = self.owners.get_mut(&endpoint.owner.server.id) else {
            return;
        };
        owner.endpoints.retain(|owned| *owned != endpoint.place);
        owner.active -= usize::from(endpoint.active);
        if owner.endpoints.is_empty() {
            self.owners.remove(&endpoint.owner.server.id);
        }
    }

    /// Gives the endpoint to another owner and returns the one before, which is the former owner
    /// from now on. Whether the endpoint is active stays as it is.
    pub(super) fn transfer(&mut self, endpoint: &mut Endpoint, owner: Claim) -> Arc<Server> {
        self.leave(endpoint);
        let previous = Arc::clone(&endpoint.supersede(owner).server);
        self.join(endpoint);
        previous
    }

    /// Makes the endpoint active, unless its owner has an active one already. Returns whether it
    /// did. O(1), since each heartbeat of a standby asks for it.
    pub(super) fn activate(&mut self, endpoint: &mut Endpoint) -> bool {
        match self.owners.get_mut(&endpoint.owner.server.id) {
            Some(owner) if owner.active == 0 => {
                owner.active = 1;
                endpoint.active = true;
                true
            }
            _ => false,
        }
    }
}
