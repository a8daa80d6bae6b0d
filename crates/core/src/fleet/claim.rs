//! Who says to be at an endpoint, and until when that is believed.

use std::net::SocketAddrV4;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::config::FleetConfig;
use crate::server::Server;

/// What a guid's last `up` for an endpoint came to. The owner has one, and its former owner has.
#[derive(Debug)]
pub(super) struct Claim {
    /// The guid, as first heard here.
    pub(super) server: Arc<Server>,
    /// The interval of the last `up`.
    pub(super) interval: Duration,
    /// The ordinal of the last `up` among all of the fleet's: which of two was heard last, also
    /// when both came at the same instant. Zero, which is before all of them, is not at all.
    pub(super) heard: u64,
    /// When it has been silent for too long; `None` is never.
    pub(super) deadline: Option<Instant>,
}

impl Claim {
    pub(super) fn new(server: Arc<Server>, up: &Heartbeat) -> Self {
        Self {
            server,
            interval: up.interval,
            heard: up.ordinal,
            deadline: up.deadline,
        }
    }

    pub(super) fn renew(&mut self, up: &Heartbeat) {
        self.server.renew(up.at, up.source);
        self.interval = up.interval;
        self.heard = up.ordinal;
        self.deadline = up.deadline;
    }

    /// Counts for nothing until it is renewed.
    pub(super) fn withdraw(&mut self) {
        self.heard = 0;
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
}

/// An `up`, as far as it makes or renews a claim.
#[derive(Debug)]
pub(super) struct Heartbeat {
    /// When it arrived, since the fleet's epoch.
    pub(super) at: Duration,
    pub(super) source: SocketAddrV4,
    pub(super) interval: Duration,
    pub(super) ordinal: u64,
    pub(super) deadline: Option<Instant>,
}
