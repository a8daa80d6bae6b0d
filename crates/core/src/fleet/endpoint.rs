//! What the fleet knows about one host and port.

use std::net::SocketAddrV4;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::endpoints::Place;
use crate::address::{Address, AddressRef};
use crate::config::FleetConfig;
use crate::server::Server;

/// A host and port with its owner. Whether it is active or a standby is the one thing the clusters
/// see of it.
#[derive(Debug)]
#[repr(align(64))] // So that it shares no cache line with another one.
pub(super) struct Endpoint {
    pub(super) place: Place,
    /// The owner, as first heard here.
    pub(super) server: Arc<Server>,
    /// Whether it was given to the clusters.
    pub(super) active: bool,
    /// The guid that owned it before the last restart; what it says counts only if the owner falls
    /// silent.
    pub(super) former: Option<Arc<str>>,
    /// The interval of the last `up`.
    pub(super) interval: Duration,
    /// The ordinal of the last `up` among all of the fleet's: which of two was heard last, also
    /// when both came at the same instant.
    pub(super) heard: u64,
    /// When it has been silent for too long; `None` is never.
    pub(super) deadline: Option<Instant>,
    /// When the heap will ask about it: at the deadline or, after a renewal, earlier.
    pub(super) queued: Option<Instant>,
    /// The owner's last `up`.
    pub(super) said: Said,
}

impl Endpoint {
    /// A standby that was not heard yet.
    pub(super) fn new(place: Place, server: Arc<Server>) -> Self {
        Self {
            place,
            server,
            active: false,
            former: None,
            interval: Duration::ZERO,
            heard: 0,
            deadline: None,
            queued: None,
            said: Said::default(),
        }
    }

    /// Notes an `up` of the owner.
    pub(super) fn renew(&mut self, heartbeat: &Heartbeat) {
        self.server.renew(heartbeat.now, heartbeat.source);
        self.interval = heartbeat.interval;
        self.heard = heartbeat.ordinal;
        self.deadline = heartbeat.deadline;
    }

    /// Rule 12: whoever may have been missed while nobody listened has an interval to be heard in.
    pub(super) fn grant_grace(&mut self, now: Instant) {
        let grace = FleetConfig::grace(now, self.interval);
        self.deadline = self
            .deadline
            .and_then(|deadline| Some(deadline.max(grace?)));
    }

    pub(super) fn is_overdue(&self, now: Instant) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now)
    }

    /// Whether this guid has been superseded here (rule 3).
    pub(super) fn was_owned_by(&self, id: &str) -> bool {
        self.former.as_deref() == Some(id)
    }

    /// How long ago the owner was last heard.
    pub(super) fn silence(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.server.last_heard())
    }

    pub(super) fn address_ref(&self) -> AddressRef<'_> {
        AddressRef {
            host: &self.server.host,
            port: self.server.port,
        }
    }

    pub(super) fn address(&self) -> Address {
        Address::of(&self.server)
    }
}

/// A short datagram, byte for byte.
///
/// It stands in place, beside what a heartbeat touches anyway: in a large fleet each further place
/// in memory costs as much as all the rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said {
    length: u8,
    bytes: [u8; Self::LONGEST],
}

impl Said {
    /// Room for a UUID, for the DNS name of a pod, and for more.
    const LONGEST: usize = 127;

    /// Nothing if it is too long.
    pub(super) fn keep(bytes: &[u8]) -> Option<Self> {
        let mut said = Self::default();
        said.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        said.length = bytes.len() as u8;
        Some(said)
    }

    /// Empty if nothing is kept.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl Default for Said {
    fn default() -> Self {
        Self {
            length: 0,
            bytes: [0; Self::LONGEST],
        }
    }
}

/// What renews an endpoint.
#[derive(Debug)]
pub(super) struct Heartbeat {
    pub(super) now: Instant,
    pub(super) source: SocketAddrV4,
    pub(super) interval: Duration,
    pub(super) ordinal: u64,
    pub(super) deadline: Option<Instant>,
}
