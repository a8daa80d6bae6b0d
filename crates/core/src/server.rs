//! A broker as its listeners know it.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::wire::{Datagram, Transport};

/// A broker at an endpoint: what it announced when it was first heard there, and when it was last
/// heard.
///
/// The facts never change; a broker that restarts with another guid, or is removed and added again,
/// is another `Server`. One that gets its endpoint back (docs/protocol.md, rule 3) is the same one. When and from where it was last heard is renewed by each heartbeat, and can
/// be read from any thread without a lock.
#[derive(Debug)]
pub struct Server {
    /// The broker's guid.
    pub id: Arc<str>,
    /// The announcement name.
    pub name: Arc<str>,
    /// The host to connect to, as announced; IPv6 without brackets.
    pub host: Arc<str>,
    /// The port to connect to.
    pub port: u16,
    /// How often the broker said it announces itself; zero where it did not say.
    pub interval: Duration,
    /// How the port is spoken to, where the announcer said so.
    pub transport: Option<Transport>,
    heard: Heard,
}

impl Server {
    pub(crate) fn new(
        up: &Datagram<'_>,
        now: Instant,
        source: SocketAddrV4,
        epoch: Instant,
    ) -> Self {
        let server = Self {
            id: up.id.as_ref().into(),
            name: up.name.as_ref().into(),
            host: up.host.into(),
            port: up.port,
            interval: up.interval,
            transport: up.transport,
            heard: Heard {
                epoch,
                at: AtomicU64::new(0),
                from: AtomicU64::new(0),
            },
        };
        server.renew(now.saturating_duration_since(epoch), source);
        server
    }

    /// When the last `up` of this broker for this endpoint arrived, on the clock of whoever drives
    /// the fleet.
    pub fn last_heard(&self) -> Instant {
        self.heard.epoch + Duration::from_nanos(self.heard.at.load(Ordering::Relaxed))
    }

    /// The address that the last `up` was sent from.
    pub fn source(&self) -> SocketAddrV4 {
        unpack(self.heard.from.load(Ordering::Relaxed))
    }

    /// Notes a heartbeat that arrived `at` after the epoch. The caller knows that: to ask for the
    /// epoch here would be to wait for this memory. Relaxed, since nothing else is published through
    /// these cells: a reader may at worst see the time of one heartbeat with the source of another.
    pub(crate) fn renew(&self, at: Duration, source: SocketAddrV4) {
        let at = u64::try_from(at.as_nanos()).unwrap_or(u64::MAX);
        self.heard.at.store(at, Ordering::Relaxed);
        self.heard.from.store(pack(source), Ordering::Relaxed);
    }
}

#[derive(Debug)]
struct Heard {
    /// What `at` counts from.
    epoch: Instant,
    /// Nanoseconds.
    at: AtomicU64,
    /// The packed source address.
    from: AtomicU64,
}

fn pack(address: SocketAddrV4) -> u64 {
    u64::from(address.ip().to_bits()) << 16 | u64::from(address.port())
}

fn unpack(packed: u64) -> SocketAddrV4 {
    // Both casts cut off the other half on purpose.
    SocketAddrV4::new(Ipv4Addr::from_bits((packed >> 16) as u32), packed as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_when_and_from_where_it_was_last_heard() {
        let epoch = Instant::now();
        let first = SocketAddrV4::new(Ipv4Addr::BROADCAST, u16::MAX);
        let up = Datagram::read(b"imq-broker\tid-1\tup\t10.0.4.12:6379\t1").unwrap();
        let server = Server::new(&up, epoch + Duration::from_nanos(7), first, epoch);
        assert_eq!(server.last_heard(), epoch + Duration::from_nanos(7));
        assert_eq!(server.source(), first);

        let next = SocketAddrV4::new(Ipv4Addr::new(10, 0, 4, 12), 1);
        server.renew(Duration::from_secs(86_400), next);
        assert_eq!(server.last_heard(), epoch + Duration::from_secs(86_400));
        assert_eq!(server.source(), next);
    }
}
