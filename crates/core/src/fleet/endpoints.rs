//! Where the endpoints are kept, and how the one that a datagram is about is found.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::endpoint::{Endpoint, Said};
use crate::address::AddressRef;
use crate::server::Server;

/// Where an endpoint is as long as it lives; another one may come to be there later.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Place(u32);

/// All endpoints, each at a place of its own.
///
/// Whoever refers to an endpoint does so by its place, which costs one look where an address costs
/// a search, and keeps a heartbeat from touching more memory than it has to: in a large fleet that
/// is what it costs.
#[derive(Debug, Default)]
pub(super) struct Endpoints {
    places: Vec<Option<Endpoint>>,
    vacant: Vec<Place>,
    /// The places that are taken, by address.
    by_address: HashTable<Place>,
    /// The same, by what their owners said last, if that is kept.
    by_said: HashTable<Place>,
    hasher: DefaultHashBuilder,
}

impl Endpoints {
    pub(super) fn len(&self) -> usize {
        self.by_address.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_address.is_empty()
    }

    /// The endpoint whose owner last said exactly this, and therefore says the same again.
    pub(super) fn find_repeated(&mut self, bytes: &[u8]) -> Option<&mut Endpoint> {
        let said = |&place: &Place| {
            self.get(place)
                .is_some_and(|endpoint| endpoint.said.bytes() == bytes)
        };
        let place = *self.by_said.find(self.hasher.hash_one(bytes), said)?;
        self.get_mut(place)
    }

    pub(super) fn find(&self, address: AddressRef<'_>) -> Option<Place> {
        let is_there = |&place: &Place| {
            self.get(place)
                .is_some_and(|endpoint| endpoint.address_ref() == address)
        };
        let hash = self.hasher.hash_one(address);
        self.by_address.find(hash, is_there).copied()
    }

    pub(super) fn get(&self, place: Place) -> Option<&Endpoint> {
        self.places.get(place.0 as usize)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, place: Place) -> Option<&mut Endpoint> {
        self.places.get_mut(place.0 as usize)?.as_mut()
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Endpoint> {
        self.places.iter().flatten()
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Endpoint> {
        self.places.iter_mut().flatten()
    }

    /// Takes in a standby that was not heard yet. There must be none at its address.
    pub(super) fn add(&mut self, server: Arc<Server>) -> &mut Endpoint {
        let place = self.vacant.pop().unwrap_or_else(|| {
            self.places.push(None);
            // No fleet has four billion endpoints: each takes more than a hundred bytes.
            Place((self.places.len() - 1) as u32)
        });
        let endpoint = self.places[place.0 as usize].insert(Endpoint::new(place, server));
        let hash = self.hasher.hash_one(endpoint.address_ref());
        let (places, hasher) = (&self.places, &self.hasher);
        self.by_address.insert_unique(hash, place, |place| {
            hash_of(places, *place, |endpoint| {
                hasher.hash_one(endpoint.address_ref())
            })
        });
        self.places[place.0 as usize]
            .as_mut()
            .expect("it was put there just now")
    }

    /// Remembers what the owner says.
    pub(super) fn remember(&mut self, place: Place, bytes: &[u8]) {
        if self
            .get(place)
            .is_none_or(|endpoint| endpoint.said.bytes() == bytes)
        {
            return;
        }
        self.forget(place);
        let kept = Said::keep(bytes);
        let (Some(endpoint), Some(kept)) = (self.get_mut(place), kept) else {
            return;
        };
        endpoint.said = kept;
        let (places, hasher) = (&self.places, &self.hasher);
        self.by_said
            .insert_unique(hasher.hash_one(bytes), place, |place| {
                hash_of(places, *place, |endpoint| {
                    hasher.hash_one(endpoint.said.bytes())
                })
            });
    }

    pub(super) fn remove(&mut self, place: Place) -> Option<Endpoint> {
        self.forget(place);
        let endpoint = self.places.get_mut(place.0 as usize)?.take()?;
        let hash = self.hasher.hash_one(endpoint.address_ref());
        if let Ok(entry) = self.by_address.find_entry(hash, |&other| other == place) {
            entry.remove();
        }
        self.vacant.push(place);
        Some(endpoint)
    }

    /// Forgets what the owner said.
    fn forget(&mut self, place: Place) {
        let Some(endpoint) = self
            .places
            .get_mut(place.0 as usize)
            .and_then(Option::as_mut)
        else {
            return;
        };
        let hash = self.hasher.hash_one(endpoint.said.bytes());
        if let Ok(entry) = self.by_said.find_entry(hash, |&other| other == place) {
            entry.remove();
        }
        endpoint.said = Said::default();
    }
}

/// A table that grows asks for what is in it already.
fn hash_of(places: &[Option<Endpoint>], place: Place, hash: impl FnOnce(&Endpoint) -> u64) -> u64 {
    places[place.0 as usize].as_ref().map_or(0, hash)
}
