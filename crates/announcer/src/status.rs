//! How everything is, for probes and metrics.

use imqueue_kubernetes::PodsStatus;
use imqueue_udp_net::AnnouncerStats;

/// One moment.
#[derive(Clone, Debug)]
pub(crate) struct Status {
    /// The name of the recipe.
    pub(crate) recipe: &'static str,
    /// The word for how the Redis is, one of `Verdict::CODES`.
    pub(crate) redis: &'static str,
    /// Which addresses are announced; none: the Redis is not announced.
    pub(crate) announced: Vec<String>,
    /// Why none is.
    pub(crate) obstacle: Option<String>,
    /// What was sent so far.
    pub(crate) sent: AnnouncerStats,
    /// The pods that are told, where it is they.
    pub(crate) pods: Option<PodsStatus>,
}
