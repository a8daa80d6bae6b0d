//! The tracker: who is alive, and which of them the clusters use.

use std::net::SocketAddrV4;
use std::sync::Arc;
use std::time::Instant;

use crate::address::AddressRef;
use crate::config::FleetConfig;
use crate::counters::FleetCounters;
use crate::event::{Event, RemovalReason};
use crate::outcome::{IgnoreReason, Outcome};
use crate::server::Server;
use crate::wire::{Datagram, Kind};

use self::claim::{Claim, Heartbeat};
use self::deadlines::Deadlines;
use self::departures::Departures;
use self::endpoint::Endpoint;
use self::endpoints::{Endpoints, Place};
use self::owners::Owners;
use self::pulse::Pulse;

mod claim;
mod deadlines;
mod departures;
mod endpoint;
mod endpoints;
mod owners;
mod pulse;

/// The fleet as its announcements tell it: a map of endpoints, each owned by a guid, active or
/// standby, until it leaves or falls silent (docs/protocol.md, "Fleet rules").
///
/// Two inputs change it, and each appends to the caller's events, so that none can be forgotten:
///
/// - [`handle_datagram`](Self::handle_datagram), for every datagram as it arrives;
/// - [`handle_timeout`](Self::handle_timeout), which alone judges deadlines.
///
/// After either, [`poll_timeout`](Self::poll_timeout) says when to call the latter. Time is the
/// caller's monotonic clock; one that runs backwards is taken to stand still. Only deadlines may be
/// judged as of an earlier moment than the last datagram's: that up to which the socket was read dry.
///
/// A heartbeat of a known broker costs the same in a fleet of any size, and allocates nothing.
#[derive(Debug)]
pub struct Fleet {
    config: FleetConfig,
    epoch: Instant,
    endpoints: Endpoints,
    owners: Owners,
    deadlines: Deadlines,
    departures: Departures,
    pulse: Pulse,
    /// Whether it was said that the fleet is full, since it last had room.
    full: bool,
    counters: FleetCounters,
}

impl Fleet {
    /// An empty fleet. `epoch` is any instant not after the first input; what
    /// [`Server::last_heard`] can tell starts there.
    pub fn new(config: FleetConfig, epoch: Instant) -> Self {
        Self {
            departures: Departures::new(config.max_servers),
            config,
            epoch,
            endpoints: Endpoints::default(),
            owners: Owners::default(),
            deadlines: Deadlines::default(),
            pulse: Pulse::new(epoch),
            full: false,
            counters: FleetCounters::default(),
        }
    }

    /// Reads a datagram that arrived at `now` from `source` and acts upon it. No deadline is judged
    /// here, so a backlog can be read through without evicting those who are further back in it.
    pub fn handle_datagram(
        &mut self,
        now: Instant,
        bytes: &[u8],
        source: SocketAddrV4,
        events: &mut Vec<Event>,
    ) -> Outcome {
        let now = self.pulse.beat(now, self.endpoints.is_empty());
        if self.handle_repeated(now, bytes, source) {
            return Outcome::Refreshed;
        }
        let known = events.len();
        let outcome = match Datagram::read(bytes) {
            Ok(datagram) => self.handle(
                &Message {
                    now,
                    bytes,
                    datagram,
                    source,
                },
                events,
            ),
            Err(error) => Outcome::Rejected(error),
        };
        self.deadlines.tidy(&mut self.endpoints);
        self.counters.count_outcome(outcome);
        self.counters.count_events(&events[known..]);
        outcome
    }

    /// Lets the processor fetch what the datagrams that are handled next are about, and changes
    /// nothing. A heartbeat in a fleet of many thousands is mostly a wait for memory, and those of a
    /// batch then overlap.
    pub fn look_ahead<'a>(&self, datagrams: impl Iterator<Item = &'a [u8]>) {
        self.endpoints.look_ahead(datagrams);
    }

    /// Makes room for one more endpoint. In a large fleet that takes a while now and then, for which
    /// the next new one has to wait if this was not called before, when nobody did.
    pub fn make_room(&mut self) {
        self.endpoints.make_room();
        self.owners.make_room();
        self.deadlines.make_room();
    }

    /// Judges deadlines: removes the endpoints that have been silent for too long at `now`,
    /// earliest deadline first. Call it at [`poll_timeout`](Self::poll_timeout), or at any other
    /// time, but only once the socket is read dry: a heartbeat that waits there has arrived.
    ///
    /// If the fleet was given nothing for over a second, its listener was not running. Nobody is
    /// then removed before having had an interval to be heard in (docs/protocol.md, rule 12).
    pub fn handle_timeout(&mut self, now: Instant, events: &mut Vec<Event>) {
        let latest = self.pulse.beat(now, self.endpoints.is_empty());
        let known = events.len();
        if self.pulse.take_missed() {
            for endpoint in self.endpoints.values_mut() {
                endpoint.grant_grace(latest);
            }
        }
        // Not as of the latest datagram: others that came before it may still wait to be read.
        for place in self.deadlines.take_expired(now, &mut self.endpoints) {
            self.expire(place, now, events);
        }
        self.departures.forget_old(now);
        self.counters.count_events(&events[known..]);
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next; an instant that has passed means
    /// at once, `None` that there is nothing to wait for. Ask again after every input.
    ///
    /// While somebody has a deadline this is at most half a second after the last input: by these
    /// ticks a fleet knows that its listener runs. It may also be early for a deadline that has
    /// been renewed.
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.endpoints.is_empty() {
            return None;
        }
        self.deadlines
            .next()
            .map(|deadline| self.pulse.next(deadline))
    }

    /// The active servers, in no particular order: those that were added and not removed.
    pub fn active(&self) -> impl Iterator<Item = &Arc<Server>> {
        self.endpoints
            .values()
            .filter(|endpoint| endpoint.active)
            .map(|endpoint| &endpoint.owner.server)
    }

    /// What the fleet has seen since it was created.
    pub fn counters(&self) -> &FleetCounters {
        &self.counters
    }

    /// How many endpoints are tracked, standbys included.
    pub fn len(&self) -> usize {
        self.endpoints.len()
    }

    /// Whether no endpoint is tracked.
    pub fn is_empty(&self) -> bool {
        self.endpoints.is_empty()
    }
}

/// A datagram with its circumstances.
struct Message<'a> {
    now: Instant,
    bytes: &'a [u8],
    datagram: Datagram<'a>,
    source: SocketAddrV4,
}

impl Message<'_> {
    fn address(&self) -> AddressRef<'_> {
        AddressRef {
            host: self.datagram.host,
            port: self.datagram.port,
        }
    }

    fn is_from(&self, id: &str) -> bool {
        *self.datagram.id == *id
    }

    /// Rule 8.
    fn is_late(&self, departures: &mut Departures) -> bool {
        departures.contains(self.now, self.address(), &self.datagram.id)
    }

    /// The claim of a guid that was not heard at this endpoint before.
    fn claim(&self, heartbeat: &Heartbeat, epoch: Instant) -> Claim {
        let server = Server::new(&self.datagram, self.now, self.source, epoch);
        Claim::new(Arc::new(server), heartbeat)
    }
}

impl Fleet {
    /// Rule 2, for a heartbeat that repeats the one before byte for byte, as nearly all do: what it
    /// says, and that it is acceptable, is known already. Says whether it is one.
    fn handle_repeated(&mut self, now: Instant, bytes: &[u8], source: SocketAddrV4) -> bool {
        let repeated = self.endpoints.find_repeated(bytes);
        // A standby might have to become active.
        let Some(endpoint) = repeated.filter(|endpoint| endpoint.active) else {
            return false;
        };
        self.counters.count_kind(Kind::Up);
        let interval = endpoint.owner.interval;
        endpoint.owner.renew(&Heartbeat {
            at: now.saturating_duration_since(self.epoch),
            source,
            interval,
            ordinal: self.counters.ups,
            deadline: self.config.deadline(now, interval),
        });
        self.deadlines.watch(endpoint);
        true
    }

    fn handle(&mut self, message: &Message<'_>, events: &mut Vec<Event>) -> Outcome {
        self.counters.count_kind(message.datagram.kind);
        if !self.config.accepts(&message.datagram.name) {
            return Outcome::Ignored(IgnoreReason::Name);
        }
        match message.datagram.kind {
            Kind::Down => self.handle_down(message, events),
            Kind::Up => self.handle_up(message, events),
        }
    }

    /// Rules 2, 3 and 9, where the endpoint is known.
    fn handle_up(&mut self, up: &Message<'_>, events: &mut Vec<Event>) -> Outcome {
        let heartbeat = self.heartbeat(up);
        let known = self.endpoints.find(up.address());
        let Some(endpoint) = known.and_then(|place| self.endpoints.get_mut(place)) else {
            return self.handle_newcomer(up, &heartbeat, events);
        };
        let restarted = !up.is_from(&endpoint.owner.server.id);
        if restarted {
            if up.is_late(&mut self.departures) {
                return Outcome::Ignored(IgnoreReason::LateUp);
            }
            if let Some(former) = endpoint.former_mut(&up.datagram.id) {
                former.renew(&heartbeat);
                return Outcome::Ignored(IgnoreReason::FormerOwner);
            }
            let owner = up.claim(&heartbeat, self.epoch);
            transfer(endpoint, owner, &mut self.owners, events);
        } else {
            endpoint.owner.renew(&heartbeat);
        }
        self.deadlines.watch(endpoint);
        let added = !endpoint.active && activate_alone(endpoint, &mut self.owners, events);
        let place = endpoint.place;
        self.endpoints.remember(place, up.bytes);
        if restarted || added {
            Outcome::Changed
        } else {
            Outcome::Refreshed
        }
    }

    /// Rules 1, 4, 8, 9 and 10, where the endpoint is unknown.
    fn handle_newcomer(
        &mut self,
        up: &Message<'_>,
        heartbeat: &Heartbeat,
        events: &mut Vec<Event>,
    ) -> Outcome {
        if up.is_late(&mut self.departures) {
            return Outcome::Ignored(IgnoreReason::LateUp);
        }
        let limit = self.config.max_servers;
        if self.endpoints.len() >= limit {
            if !self.full {
                events.push(Event::FleetFull { limit });
            }
            self.full = true;
            return Outcome::Ignored(IgnoreReason::FleetFull);
        }
        let endpoint = self.endpoints.add(up.claim(heartbeat, self.epoch));
        self.deadlines.watch(endpoint);
        self.owners.join(endpoint);
        let added = activate_alone(endpoint, &mut self.owners, events);
        let place = endpoint.place;
        self.endpoints.remember(place, up.bytes);
        if added {
            Outcome::Changed
        } else {
            Outcome::Standby
        }
    }

    /// Rules 6 and 7. The owner's standbys wait until they are heard again: it knows which of its
    /// addresses are still good.
    fn handle_down(&mut self, down: &Message<'_>, events: &mut Vec<Event>) -> Outcome {
        let known = self.endpoints.find(down.address());
        let Some(endpoint) = known.and_then(|place| self.endpoints.get_mut(place)) else {
            return Outcome::Ignored(IgnoreReason::EndpointUnknown);
        };
        if let Some(former) = endpoint.former_mut(&down.datagram.id) {
            former.withdraw();
            return Outcome::Ignored(IgnoreReason::FormerOwner);
        }
        if !down.is_from(&endpoint.owner.server.id) {
            return Outcome::Ignored(IgnoreReason::NotOwner);
        }
        let (place, address) = (endpoint.place, endpoint.address());
        let id = Arc::clone(&endpoint.owner.server.id);
        if let Some(gone) = self.remove(place).filter(|gone| gone.active) {
            events.push(Event::Removed(gone.owner.server, RemovalReason::Down));
        }
        self.departures.remember(down.now, address, id);
        Outcome::Changed
    }

    /// Rule 5. The owner's standby that was heard last takes over, unless its own deadline has
    /// passed too and merely was not judged yet.
    fn expire(&mut self, place: Place, now: Instant, events: &mut Vec<Event>) {
        if self.hand_back(place, now, events) {
            return;
        }
        let Some(gone) = self.remove(place).filter(|gone| gone.active) else {
            return;
        };
        let owned = self.owners.endpoints(&gone.owner.server.id).iter();
        let heir = owned
            .filter_map(|&place| self.endpoints.get(place))
            .filter(|endpoint| !endpoint.owner.is_overdue(now))
            .max_by_key(|endpoint| endpoint.owner.heard)
            .map(|endpoint| endpoint.place);
        events.push(Event::Removed(gone.owner.server, RemovalReason::Expired));
        if let Some(endpoint) = heir.and_then(|place| self.endpoints.get_mut(place)) {
            activate_alone(endpoint, &mut self.owners, events);
        }
    }

    /// Rule 3: where the owner fell silent and the one before it did not, it was the owner's `up`
    /// that was wrong. Says whether the endpoint went back.
    fn hand_back(&mut self, place: Place, now: Instant, events: &mut Vec<Event>) -> bool {
        let Some(endpoint) = self.endpoints.get_mut(place) else {
            return false;
        };
        let Some(owner) = endpoint.take_surviving_former(now) else {
            return false;
        };
        transfer(endpoint, owner, &mut self.owners, events);
        self.deadlines.watch(endpoint);
        // Said by the one that fell silent: it must not renew what is another's now.
        self.endpoints.forget(place);
        true
    }

    fn remove(&mut self, place: Place) -> Option<Endpoint> {
        let endpoint = self.endpoints.remove(place)?;
        self.owners.leave(&endpoint);
        self.full = false;
        Some(endpoint)
    }

    fn heartbeat(&self, up: &Message<'_>) -> Heartbeat {
        let interval = up.datagram.interval;
        Heartbeat {
            at: up.now.saturating_duration_since(self.epoch),
            source: up.source,
            interval,
            ordinal: self.counters.ups,
            deadline: self.config.deadline(up.now, interval),
        }
    }
}

/// Rule 3: the endpoint has another owner, and stays active or a standby as it was.
fn transfer(endpoint: &mut Endpoint, owner: Claim, owners: &mut Owners, events: &mut Vec<Event>) {
    let previous = owners.transfer(endpoint, owner);
    if endpoint.active {
        let server = Arc::clone(&endpoint.owner.server);
        events.push(Event::Updated { server, previous });
    }
}

/// A guid is active at one endpoint only: this one becomes active if there is no other. Returns
/// whether it did.
fn activate_alone(endpoint: &mut Endpoint, owners: &mut Owners, events: &mut Vec<Event>) -> bool {
    let activated = owners.activate(endpoint);
    if activated {
        events.push(Event::Added(Arc::clone(&endpoint.owner.server)));
    }
    activated
}

#[cfg(test)]
mod tests;
