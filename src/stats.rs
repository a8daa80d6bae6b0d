//! The counters of a listener under their JavaScript names.

use imqueue_udp_core::{IgnoreReason, ReadError};
use imqueue_udp_net::ListenerStats;

/// Calls `each` with the name and the value of every counter. A name with a dot in it is a counter
/// within a group.
pub(crate) fn for_each<E>(
    stats: &ListenerStats,
    mut each: impl FnMut(&str, u64) -> Result<(), E>,
) -> Result<(), E> {
    let fleet = &stats.fleet;
    for (name, value) in [
        ("datagrams", stats.datagrams),
        ("ups", fleet.ups),
        ("downs", fleet.downs),
        ("added", fleet.added),
        ("updated", fleet.updated),
        ("removed", fleet.removed),
        ("evicted", fleet.evicted),
        ("relayed", stats.relayed),
        ("relayEchoes", stats.relay_echoes),
        ("relayErrors", stats.relay_errors),
        ("receiveErrors", stats.receive_errors),
        ("kernelDrops", stats.kernel_drops),
    ] {
        each(name, value)?;
    }
    for error in ReadError::ALL {
        each(
            &format!("rejected.{}", error.as_str()),
            fleet.rejected[error as usize],
        )?;
    }
    for reason in IgnoreReason::ALL {
        each(
            &format!("ignored.{}", reason.as_str()),
            fleet.ignored[reason as usize],
        )?;
    }
    Ok(())
}
