//! What the fleet knows about one host and port.

use std::hint::black_box;
use std::time::Instant;

use super::claim::Claim;
use super::endpoints::Place;
use crate::address::{Address, AddressRef};

/// A host and port with its owner. Whether it is active or a standby is the one thing the clusters
/// see of it.
///
/// In this order, and sharing none with another one, a heartbeat touches three cache lines of it.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Endpoint {
    pub(super) owner: Claim,
    /// When the heap will ask about it: at the deadline or, after a renewal, earlier.
    pub(super) queued: Option<Instant>,
    /// Who owned it before the owner did. Kept apart, since no heartbeat of the owner touches it.
    former: Option<Box<Claim>>,
    pub(super) place: Place,
    /// Whether it was given to the clusters.
    pub(super) active: bool,
    /// The owner's last `up`.
    pub(super) said: Said,
}

impl Endpoint {
    /// A standby.
    pub(super) fn new(place: Place, owner: Claim) -> Self {
        Self {
            place,
            owner,
            former: None,
            active: false,
            queued: None,
            said: Said::default(),
        }
    }

    /// Reads the far ends of what a heartbeat of the owner touches, so that it is in the caches.
    pub(super) fn touch(&self) {
        black_box((
            self.said.bytes().last().copied(),
            self.owner.server.source(),
        ));
    }

    /// Rule 12, also for the former owner: it was missed as well.
    pub(super) fn grant_grace(&mut self, now: Instant) {
        self.owner.grant_grace(now);
        if let Some(former) = &mut self.former {
            former.grant_grace(now);
        }
    }

    /// The claim of the former owner, if that is this guid.
    pub(super) fn former_mut(&mut self, id: &str) -> Option<&mut Claim> {
        self.former
            .as_deref_mut()
            .filter(|former| *former.server.id == *id)
    }

    /// Takes the claim of the former owner, if that is still there while the owner, whose deadline
    /// has passed, is not (rule 3).
    pub(super) fn take_surviving_former(&mut self, now: Instant) -> Option<Claim> {
        let owner = &self.owner;
        let surviving = self
            .former
            .take_if(|former| former.heard > owner.heard && !former.is_overdue(now));
        surviving.map(|former| *former)
    }

    /// Makes another one the owner, and the owner the former one, whose claim is returned.
    pub(super) fn supersede(&mut self, owner: Claim) -> &Claim {
        let previous = std::mem::replace(&mut self.owner, owner);
        self.former.insert(Box::new(previous))
    }

    pub(super) fn address_ref(&self) -> AddressRef<'_> {
        AddressRef {
            host: &self.owner.server.host,
            port: self.owner.server.port,
        }
    }

    pub(super) fn address(&self) -> Address {
        Address::of(&self.owner.server)
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
    pub(super) const LONGEST: usize = 127;

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
