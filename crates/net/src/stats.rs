//! Counters, written by the hub thread and read by anyone.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use imqueue_udp_core::{FleetCounters, IgnoreReason, ReadError};

/// What a [`Listener`](crate::Listener) has seen. All counters are totals that only grow.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ListenerStats {
    /// Datagrams received on the port, own relayed copies not included.
    pub datagrams: u64,
    /// Times that receiving failed.
    pub receive_errors: u64,
    /// Datagrams that the system dropped because the socket's buffer was full. Brought up to date
    /// once a second at most while datagrams arrive; always 0 where the system does not tell.
    pub kernel_drops: u64,
    /// Unicast datagrams that were sent on to the other processes of this host, failures included.
    pub relayed: u64,
    /// Times that sending one on failed.
    pub relay_errors: u64,
    /// Own relayed copies that came back, and were ignored.
    pub relay_echoes: u64,
    /// What the fleet made of the datagrams that came in on the listener's network.
    pub fleet: FleetCounters,
}

/// What an [`Announcer`](crate::Announcer) has sent. All counters are totals that only grow.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct AnnouncerStats {
    /// To networks, by limited broadcast.
    pub broadcast: SendStats,
    /// To addresses.
    pub unicast: SendStats,
}

/// How sending went, by datagrams.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct SendStats {
    /// Datagrams that the system took.
    pub sent: u64,
    /// Datagrams that it did not, and names that stand for no address.
    pub failed: u64,
}

/// Written by the hub thread for the owner of an announcer.
#[derive(Debug, Default)]
pub(crate) struct AnnouncerCounters {
    pub(crate) broadcast: SendCounters,
    pub(crate) unicast: SendCounters,
}

#[derive(Debug, Default)]
pub(crate) struct SendCounters {
    pub(crate) sent: Counter,
    pub(crate) failed: Counter,
}

impl AnnouncerCounters {
    pub(crate) fn read(&self) -> AnnouncerStats {
        AnnouncerStats {
            broadcast: self.broadcast.read(),
            unicast: self.unicast.read(),
        }
    }
}

impl SendCounters {
    fn read(&self) -> SendStats {
        SendStats {
            sent: self.sent.get(),
            failed: self.failed.get(),
        }
    }
}

/// Where a listener finds its counters.
#[derive(Clone, Debug)]
pub(crate) struct Counters {
    pub(crate) port: Arc<PortCounters>,
    pub(crate) fleet: Arc<SharedFleetCounters>,
}

impl Counters {
    pub(crate) fn read(&self) -> ListenerStats {
        let Self { port, fleet } = self;
        ListenerStats {
            datagrams: port.datagrams.get(),
            receive_errors: port.receive_errors.get(),
            kernel_drops: port.kernel_drops.get(),
            relayed: port.relayed.get(),
            relay_errors: port.relay_errors.get(),
            relay_echoes: port.relay_echoes.get(),
            fleet: fleet.read(),
        }
    }
}

/// What all listeners on a port share.
#[derive(Debug, Default)]
pub(crate) struct PortCounters {
    pub(crate) bound: BoundPort,
    pub(crate) datagrams: Counter,
    pub(crate) receive_errors: Counter,
    pub(crate) kernel_drops: Counter,
    pub(crate) relayed: Counter,
    pub(crate) relay_errors: Counter,
    pub(crate) relay_echoes: Counter,
}

/// One counter. Readers see some recent value of each, not one moment of all of them.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Only the hub thread writes, so that it need not keep others from doing so meanwhile, which
    /// is what costs.
    pub(crate) fn add(&self, count: u64) {
        self.set(self.get().wrapping_add(count));
    }

    fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The port that a socket is bound to at the moment, if it is.
#[derive(Debug, Default)]
pub(crate) struct BoundPort(AtomicU32);

impl BoundPort {
    /// Beyond all ports, and therefore with a set bit that says that there is one.
    const BOUND: u32 = 1 << 16;

    pub(crate) fn set(&self, port: Option<u16>) {
        let value = port.map_or(0, |port| Self::BOUND | u32::from(port));
        self.0.store(value, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> Option<u16> {
        let value = self.0.load(Ordering::Relaxed);
        u16::try_from(value.checked_sub(Self::BOUND)?).ok()
    }
}

/// The counters of a fleet, as they were when it was last asked.
#[derive(Debug, Default)]
pub(crate) struct SharedFleetCounters {
    ups: Counter,
    downs: Counter,
    rejected: [Counter; ReadError::COUNT],
    ignored: [Counter; IgnoreReason::COUNT],
    added: Counter,
    removed: Counter,
    updated: Counter,
    evicted: Counter,
}

impl SharedFleetCounters {
    pub(crate) fn write(&self, counters: &FleetCounters) {
        let FleetCounters {
            ups,
            downs,
            rejected,
            ignored,
            added,
            removed,
            updated,
            evicted,
        } = counters;
        self.ups.set(*ups);
        self.downs.set(*downs);
        self.rejected
            .iter()
            .zip(rejected)
            .for_each(|(counter, value)| counter.set(*value));
        self.ignored
            .iter()
            .zip(ignored)
            .for_each(|(counter, value)| counter.set(*value));
        self.added.set(*added);
        self.removed.set(*removed);
        self.updated.set(*updated);
        self.evicted.set(*evicted);
    }

    fn read(&self) -> FleetCounters {
        FleetCounters {
            ups: self.ups.get(),
            downs: self.downs.get(),
            rejected: self.rejected.each_ref().map(Counter::get),
            ignored: self.ignored.each_ref().map(Counter::get),
            added: self.added.get(),
            removed: self.removed.get(),
            updated: self.updated.get(),
            evicted: self.evicted.get(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_bound_or_not() {
        let bound = BoundPort::default();
        assert_eq!(bound.get(), None);
        for port in [0, 1, 63_000, u16::MAX] {
            bound.set(Some(port));
            assert_eq!(bound.get(), Some(port));
        }
        bound.set(None);
        assert_eq!(bound.get(), None);
    }

    #[test]
    fn fleet_counters_are_read_as_they_were_written() {
        let mut counters = FleetCounters {
            ups: 1,
            downs: 2,
            added: 3,
            ..Default::default()
        };
        (counters.removed, counters.updated, counters.evicted) = (4, 5, 6);
        counters.rejected[1] = 7;
        counters.ignored[2] = 8;

        let shared = SharedFleetCounters::default();
        shared.write(&counters);
        assert_eq!(shared.read(), counters);
    }
}
