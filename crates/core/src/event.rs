//! What a fleet tells its listeners.

use std::sync::Arc;

use crate::server::Server;

/// Something that the clusters, or whoever operates them, should know.
///
/// Per endpoint, events alternate as they must: [`Added`](Self::Added), any number of
/// [`Updated`](Self::Updated), [`Removed`](Self::Removed).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A broker became active: connect to it (docs/protocol.md, rules 1, 3, 5 and 9).
    Added(Arc<Server>),
    /// An unknown endpoint was ignored because the fleet has as many as it may
    /// (docs/protocol.md, rule 10). Said once, and again only after the fleet had room in between.
    FleetFull {
        /// The `max_servers` that was reached.
        limit: usize,
    },
    /// An active broker is gone (docs/protocol.md, rules 5 and 6). Where its guid moved to another
    /// endpoint, the `Added` of that one follows.
    Removed(Arc<Server>, RemovalReason),
    /// An active endpoint has another owner: its broker restarted with another guid, or it had not,
    /// and the guid before has the endpoint back from one that fell silent (docs/protocol.md,
    /// rule 3). Connections need not change.
    Updated {
        /// The broker from now on.
        server: Arc<Server>,
        /// The broker before, at the same endpoint.
        previous: Arc<Server>,
    },
}

/// Why a broker was removed.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum RemovalReason {
    /// It said `down` (docs/protocol.md, rule 6).
    Down,
    /// It was silent past its deadline (docs/protocol.md, rule 5).
    Expired,
}

impl RemovalReason {
    /// A stable word: `down` or `expired`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Expired => "expired",
        }
    }
}
