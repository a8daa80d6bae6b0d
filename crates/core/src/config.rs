//! What a listener may choose about its fleet.

use std::time::{Duration, Instant};

/// Added to every deadline, so that a heartbeat which arrives just on time is not too late.
const SLACK: Duration = Duration::from_millis(1);

/// How a [`Fleet`](crate::Fleet) judges and whom it takes in. Listeners with equal configurations
/// can share one tracker.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct FleetConfig {
    /// How much longer than its own interval a broker may be silent, `aliveTimeoutCorrection` of
    /// the options; 5 s by default. Smaller finds a crashed broker sooner but takes lost datagrams
    /// for a crash.
    ///
    /// `None` judges no deadlines at all: only a `down` removes (docs/protocol.md, rule 11).
    pub alive_check: Option<Duration>,
    /// How many endpoints are tracked, standbys included; 1024 by default. It bounds what a
    /// stranger on the network can make this process remember (docs/protocol.md, rule 10). Choose
    /// it well above the number of brokers: a moved one counts twice until its old address expires.
    pub max_servers: usize,
    /// The announcement names to listen to; empty, the default, accepts every name. Keep it sorted
    /// and free of duplicates, so that equal choices compare equal.
    pub names: Vec<Box<str>>,
}

impl Default for FleetConfig {
    fn default() -> Self {
        Self {
            alive_check: Some(Duration::from_secs(5)),
            max_servers: 1024,
            names: Vec::new(),
        }
    }
}

impl FleetConfig {
    pub(crate) fn accepts(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|accepted| **accepted == *name)
    }

    /// When a broker that said `up` at `heard` has been silent for too long; `None` is never.
    pub(crate) fn deadline(&self, heard: Instant, interval: Duration) -> Option<Instant> {
        let patience = interval
            .checked_add(self.alive_check?)?
            .checked_add(SLACK)?;
        heard.checked_add(patience)
    }

    /// When a broker has had the chance to be heard by a listener that runs again since `now`
    /// (docs/protocol.md, rule 12); `None` is never.
    pub(crate) fn grace(now: Instant, interval: Duration) -> Option<Instant> {
        now.checked_add(interval.checked_add(SLACK)?)
    }
}
