//! What a fleet has seen.

use crate::error::ReadError;
use crate::event::{Event, RemovalReason};
use crate::outcome::{IgnoreReason, Outcome};
use crate::wire::Kind;

/// Totals since the fleet was created; each only grows.
///
/// `ups + downs` and the sum of `rejected` are all datagrams; `added - removed` is how many
/// brokers are active now.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct FleetCounters {
    /// Readable `up` datagrams, ignored ones included.
    pub ups: u64,
    /// Readable `down` datagrams, ignored ones included.
    pub downs: u64,
    /// Unreadable datagrams, by `ReadError as usize`.
    pub rejected: [u64; ReadError::COUNT],
    /// Readable datagrams not acted upon, by `IgnoreReason as usize`.
    pub ignored: [u64; IgnoreReason::COUNT],
    /// Brokers that became active.
    pub added: u64,
    /// Active brokers that went, for either reason.
    pub removed: u64,
    /// Active endpoints that another guid owns since: their brokers restarted.
    pub updated: u64,
    /// Those of `removed` that fell silent.
    pub evicted: u64,
}

impl FleetCounters {
    pub(crate) fn count_kind(&mut self, kind: Kind) {
        match kind {
            Kind::Down => self.downs += 1,
            Kind::Up => self.ups += 1,
        }
    }

    pub(crate) fn count_outcome(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Ignored(reason) => self.ignored[reason as usize] += 1,
            Outcome::Rejected(error) => self.rejected[error as usize] += 1,
            Outcome::Changed | Outcome::Refreshed | Outcome::Standby => {}
        }
    }

    pub(crate) fn count_events(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::Added(_) => self.added += 1,
                Event::FleetFull { .. } => {}
                Event::Removed(_, RemovalReason::Down) => self.removed += 1,
                Event::Removed(_, RemovalReason::Expired) => {
                    self.removed += 1;
                    self.evicted += 1;
                }
                Event::Updated { .. } => self.updated += 1,
            }
        }
    }
}
