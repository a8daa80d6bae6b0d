//! Brokers, and what they say.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::{Duration, Instant};

use imqueue_udp_core::{Event, Fleet, FleetConfig};

pub(crate) const INTERVAL: Duration = Duration::from_secs(1);

pub(crate) const SOURCE: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1);

/// What a broker says once a second, as the Redis module writes it: it has a UUID for a guid.
pub(crate) fn heartbeat(number: u32) -> Vec<u8> {
    let [_, a, b, c] = number.to_be_bytes();
    // Different from its first byte on, as UUIDs are.
    let mixed = number.wrapping_mul(0x9e37_79b9);
    format!("imq-broker\t{mixed:08x}-7c4a-4f3e-9b1d-{number:012x}\tup\t10.{a}.{b}.{c}:6379\t1")
        .into_bytes()
}

/// A fleet that knows brokers 0 to `size`, and the events of their arrival.
pub(crate) fn fleet(size: u32, now: Instant) -> (Fleet, Vec<Event>) {
    let config = FleetConfig {
        max_servers: size as usize,
        ..FleetConfig::default()
    };
    let mut fleet = Fleet::new(config, now);
    let mut events = Vec::new();
    for number in 0..size {
        fleet.handle_datagram(now, &heartbeat(number), SOURCE, &mut events);
    }
    (fleet, events)
}

/// What all brokers of a fleet say once, in an order that has nothing to do with the one in which
/// they were first heard. It is handed out as the socket does: into buffers that are used again.
#[derive(Debug)]
pub(crate) struct Traffic {
    said: Vec<Vec<u8>>,
    next: usize,
    batch: [([u8; Self::BUFFER], usize); Self::BATCH],
}

impl Traffic {
    /// As many as the hub takes from a socket at once.
    pub(crate) const BATCH: usize = 32;
    const BUFFER: usize = 256;

    pub(crate) fn new(size: u32) -> Self {
        let mut order: Vec<u32> = (0..size).collect();
        let mut random = 1_u64;
        for place in (1..order.len()).rev() {
            // Xorshift: the same order in each run.
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            order.swap(place, (random % (place as u64 + 1)) as usize);
        }
        Self {
            said: order.into_iter().map(heartbeat).collect(),
            next: 0,
            batch: [([0; Self::BUFFER], 0); Self::BATCH],
        }
    }

    /// The next so many datagrams.
    pub(crate) fn receive(&mut self) -> impl Iterator<Item = &[u8]> + Clone {
        for (buffer, length) in &mut self.batch {
            let datagram = &self.said[self.next];
            buffer[..datagram.len()].copy_from_slice(datagram);
            *length = datagram.len();
            self.next = (self.next + 1) % self.said.len();
        }
        self.batch.iter().map(|(buffer, length)| &buffer[..*length])
    }
}
