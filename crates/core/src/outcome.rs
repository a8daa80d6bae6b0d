//! What became of a datagram.

use crate::error::ReadError;

/// What [`Fleet::handle_datagram`](crate::Fleet::handle_datagram) did with a datagram.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Outcome {
    /// An endpoint came, went, became active or has another owner. The events, if any, say what
    /// that means to the clusters: a standby comes and goes in silence.
    Changed,
    /// It was readable but is not acted upon, and no endpoint's deadline was renewed.
    Ignored(IgnoreReason),
    /// A heartbeat of a known broker: its deadline was renewed (docs/protocol.md, rule 2).
    Refreshed,
    /// It is no announcement, or a malformed one.
    Rejected(ReadError),
    /// A new endpoint of a guid that is active elsewhere, kept in reserve
    /// (docs/protocol.md, rule 4).
    Standby,
}

/// Why a readable datagram was not acted upon.
///
/// `reason as usize` is the reason's place in [`ALL`](Self::ALL) and in the arrays of
/// [`FleetCounters`](crate::FleetCounters).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum IgnoreReason {
    /// A `down` for an endpoint that is not known (docs/protocol.md, rule 7).
    EndpointUnknown,
    /// An `up` of an unknown endpoint while the fleet is full (docs/protocol.md, rule 10).
    FleetFull,
    /// Anything from the guid that owned the endpoint before its owner did. It is noted, since
    /// that guid may get the endpoint back once the owner falls silent (docs/protocol.md, rule 3).
    FormerOwner,
    /// An `up` within a second of the same guid's `down` for that endpoint
    /// (docs/protocol.md, rule 8).
    LateUp,
    /// The announcement name is not among those to listen to.
    Name,
    /// A `down` for an endpoint that another guid owns (docs/protocol.md, rule 7).
    NotOwner,
}

impl IgnoreReason {
    /// Every reason, in the order of the counters.
    pub const ALL: [Self; 6] = [
        Self::EndpointUnknown,
        Self::FleetFull,
        Self::FormerOwner,
        Self::LateUp,
        Self::Name,
        Self::NotOwner,
    ];

    /// How many reasons there are.
    pub const COUNT: usize = Self::ALL.len();

    /// A stable word for statistics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EndpointUnknown => "endpointUnknown",
            Self::FleetFull => "fleetFull",
            Self::FormerOwner => "formerOwner",
            Self::LateUp => "lateUp",
            Self::Name => "name",
            Self::NotOwner => "notOwner",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_numbered_by_their_place() {
        for (place, reason) in IgnoreReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, place, "{reason:?}");
        }
    }
}
