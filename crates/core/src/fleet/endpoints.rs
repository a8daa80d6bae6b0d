//! Where the endpoints are kept, and how the one that a datagram is about is found.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::claim::Claim;
use super::endpoint::{Endpoint, Said};
use crate::address::AddressRef;

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

/// A fleet of so many is in the caches anyway: each takes about 350 bytes.
const FEW: usize = 4096;

impl Endpoints {
    pub(super) fn len(&self) -> usize {
        self.by_address.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_address.is_empty()
    }

    /// Touches the endpoints whose owners most likely said this last.
    pub(super) fn look_ahead<'a>(&self, datagrams: impl Iterator<Item = &'a [u8]>) {
        if self.len() <= FEW {
            return;
        }
        for bytes in datagrams.filter(|bytes| bytes.len() <= Said::LONGEST) {
            // To be sure, one would have to compare: to wait for the memory.
            let likely = self.by_said.find(self.hasher.hash_one(bytes), |_| true);
            if let Some(endpoint) = likely.and_then(|&place| self.get(place)) {
                endpoint.touch();
            }
        }
    }

    /// The endpoint whose owner last said exactly this, and therefore says the same again.
    pub(super) fn find_repeated(&mut self, bytes: &[u8]) -> Option<&mut Endpoint> {
        if bytes.len() > Said::LONGEST {
            return None;
        }
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

    /// Takes in a standby. There must be none at its address.
    pub(super) fn add(&mut self, owner: Claim) -> &mut Endpoint {
        let place = self.vacant.pop().unwrap_or_else(|| {
            self.places.push(None);
            // No fleet has four billion endpoints: each takes more than a hundred bytes.
            Place((self.places.len() - 1) as u32)
        });
        let endpoint = self.places[place.0 as usize].insert(Endpoint::new(place, owner));
        let hash = self.hasher.hash_one(endpoint.address_ref());
        let rehash = hash_address(&self.places, &self.hasher);
        self.by_address.insert_unique(hash, place, rehash);
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
        let rehash = hash_said(&self.places, &self.hasher);
        self.by_said
            .insert_unique(self.hasher.hash_one(bytes), place, rehash);
    }

    /// Makes room for one more.
    pub(super) fn make_room(&mut self) {
        self.places.reserve(1);
        self.by_address
            .reserve(1, hash_address(&self.places, &self.hasher));
        self.by_said
            .reserve(1, hash_said(&self.places, &self.hasher));
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
    pub(super) fn forget(&mut self, place: Place) {
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

/// What a table that grows is told of those in it already: their hashes by address.
fn hash_address(
    places: &[Option<Endpoint>],
    hasher: &DefaultHashBuilder,
) -> impl Fn(&Place) -> u64 {
    hash_of(places, |endpoint| hasher.hash_one(endpoint.address_ref()))
}

/// And by what their owners said.
fn hash_said(places: &[Option<Endpoint>], hasher: &DefaultHashBuilder) -> impl Fn(&Place) -> u64 {
    hash_of(places, |endpoint| hasher.hash_one(endpoint.said.bytes()))
}

fn hash_of(places: &[Option<Endpoint>], hash: impl Fn(&Endpoint) -> u64) -> impl Fn(&Place) -> u64 {
    move |place| places[place.0 as usize].as_ref().map_or(0, &hash)
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddrV4};
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::fleet::claim::Heartbeat;
    use crate::server::Server;
    use crate::wire::Datagram;

    const UP: &[u8] = b"imq\tid-1\tup\tredis:6379\t1";
    const FASTER: &[u8] = b"imq\tid-1\tup\tredis:6379\t0.5";

    fn add(endpoints: &mut Endpoints, up: &[u8]) -> Place {
        let (now, source) = (Instant::now(), SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1));
        let datagram = Datagram::read(up).unwrap();
        let server = Arc::new(Server::new(&datagram, now, source, now));
        let heartbeat = Heartbeat {
            at: Duration::ZERO,
            source,
            interval: datagram.interval,
            ordinal: 1,
            deadline: None,
        };
        let place = endpoints.add(Claim::new(server, &heartbeat)).place;
        endpoints.remember(place, up);
        place
    }

    #[test]
    fn what_was_said_last_is_found_and_nothing_else() {
        let mut endpoints = Endpoints::default();
        let place = add(&mut endpoints, UP);
        assert_eq!(endpoints.find_repeated(UP).unwrap().place, place);
        assert!(endpoints.find_repeated(FASTER).is_none());
        assert!(endpoints.find_repeated(b"").is_none());

        endpoints.remember(place, FASTER);
        assert!(endpoints.find_repeated(UP).is_none());
        assert_eq!(endpoints.find_repeated(FASTER).unwrap().place, place);

        // Too long to be kept, and to be taken for what came before.
        endpoints.remember(place, &[b'a'; 128]);
        assert!(endpoints.find_repeated(FASTER).is_none());
        assert!(endpoints.find_repeated(&[b'a'; 128]).is_none());
    }

    #[test]
    fn who_made_room_in_time_adds_without_growing() {
        let mut endpoints = Endpoints::default();
        let capacity = |it: &Endpoints| {
            let tables = (it.by_address.capacity(), it.by_said.capacity());
            (it.places.capacity(), tables)
        };
        for port in 1..1000 {
            endpoints.make_room();
            let before = capacity(&endpoints);
            let up = format!("imq\tid-{port}\tup\tredis:{port}\t1");
            add(&mut endpoints, up.as_bytes());
            assert_eq!(capacity(&endpoints), before);
        }
    }

    #[test]
    fn a_place_that_is_taken_again_does_not_answer_for_who_was_there() {
        let mut endpoints = Endpoints::default();
        let place = add(&mut endpoints, UP);
        assert!(endpoints.remove(place).is_some());
        assert!(endpoints.find_repeated(UP).is_none());

        let other = add(&mut endpoints, b"imq\tid-2\tup\tredis:6380\t1");
        assert_eq!(other, place);
        assert!(endpoints.find_repeated(UP).is_none());
        let address = |port| AddressRef {
            host: "redis",
            port,
        };
        assert_eq!(endpoints.find(address(6380)), Some(place));
        assert_eq!(endpoints.find(address(6379)), None);
        assert_eq!((endpoints.len(), endpoints.values().count()), (1, 1));
    }

    #[test]
    fn thousands_are_found_while_the_tables_grow() {
        let mut endpoints = Endpoints::default();
        let ups: Vec<_> = (1..5_000)
            .map(|port| format!("imq\tid-{port}\tup\tredis:{port}\t1").into_bytes())
            .collect();
        for up in &ups {
            add(&mut endpoints, up);
        }
        assert!(ups.iter().all(|up| endpoints.find_repeated(up).is_some()));
    }
}
