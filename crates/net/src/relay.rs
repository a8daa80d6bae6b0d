//! The relay: what the system gave to one socket of the port alone reaches the others too.
//!
//! Several processes may listen on a port. A broadcast reaches them all, a unicast datagram only
//! one of them, so that one sends it on to the loopback broadcast address. Since a copy's
//! destination is a broadcast, nobody relays it again.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::time::{Duration, Instant};

use imqueue_udp_core::Kind;

use crate::interface::LOOPBACK_BROADCAST;
use crate::socket;

/// Relays the datagrams of one port.
#[derive(Debug, Default)]
pub(crate) struct Relay {
    /// Made when it is first needed. It is not the socket that listens, so that copies can be told
    /// by where they come from.
    sender: Option<Sender>,
    limiter: Limiter,
}

impl Relay {
    /// Whether a datagram from `source` is a copy that was sent here.
    pub(crate) fn is_own(&self, source: SocketAddrV4) -> bool {
        self.sender
            .as_ref()
            .is_some_and(|sender| sender.address == source.into())
    }

    /// Sends a valid datagram on to all sockets on `port`. `Ok(false)` means that it was held back:
    /// the same `up` was relayed a moment ago.
    pub(crate) fn forward(
        &mut self,
        now: Instant,
        kind: Kind,
        datagram: &[u8],
        port: u16,
    ) -> io::Result<bool> {
        if kind == Kind::Up && !self.limiter.admits(now, datagram) {
            return Ok(false);
        }
        let sender = match &self.sender {
            Some(sender) => sender,
            None => self.sender.insert(Sender::new()?),
        };
        sender
            .socket
            .send_to(datagram, (LOOPBACK_BROADCAST, port))?;
        Ok(true)
    }
}

#[derive(Debug)]
struct Sender {
    socket: UdpSocket,
    address: SocketAddr,
}

impl Sender {
    fn new() -> io::Result<Self> {
        let socket = socket::sender(IpAddr::V4(Ipv4Addr::LOCALHOST))?;
        let address = socket.local_addr()?;
        Ok(Self { socket, address })
    }
}

/// Lets the same bytes pass once in a while.
#[derive(Debug, Default)]
struct Limiter {
    /// When a datagram passed, by the keyed hash of its bytes: a sender who does not know the key
    /// cannot make two of them collide.
    passed: HashMap<u64, Instant>,
    hasher: RandomState,
}

impl Limiter {
    /// Longer than a burst takes, shorter than any sensible announce interval.
    const INTERVAL: Duration = Duration::from_millis(100);

    /// What the network can make it remember.
    const CAPACITY: usize = 4096;

    fn admits(&mut self, now: Instant, datagram: &[u8]) -> bool {
        let hash = self.hasher.hash_one(datagram);
        let recent = |at: Instant| now.saturating_duration_since(at) < Self::INTERVAL;
        if self.passed.get(&hash).is_some_and(|&at| recent(at)) {
            return false;
        }
        if self.passed.len() >= Self::CAPACITY {
            self.passed.retain(|_, at| recent(*at));
        }
        if self.passed.len() >= Self::CAPACITY {
            // A flood: to relay some of it twice is better than to hold a new broker back.
            self.passed.clear();
        }
        self.passed.insert(hash, now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_bytes_pass_once_in_100_ms() {
        let mut limiter = Limiter::default();
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);

        assert!(limiter.admits(at(0), b"a"));
        assert!(!limiter.admits(at(99), b"a"));
        assert!(limiter.admits(at(100), b"a"));
        assert!(!limiter.admits(at(199), b"a"));
        assert!(limiter.admits(at(200), b"a"));
    }

    #[test]
    fn other_bytes_pass_at_once() {
        let mut limiter = Limiter::default();
        let now = Instant::now();
        assert!(limiter.admits(now, b"a"));
        assert!(limiter.admits(now, b"b"));
        assert!(!limiter.admits(now, b"a"));
    }

    #[test]
    fn its_memory_is_bounded() {
        let mut limiter = Limiter::default();
        let start = Instant::now();
        for number in 0..10_000_u32 {
            assert!(limiter.admits(start, &number.to_ne_bytes()));
            assert!(limiter.passed.len() <= Limiter::CAPACITY);
        }

        let later = start + Limiter::INTERVAL;
        for number in 0..10_000_u32 {
            assert!(limiter.admits(later, &number.to_ne_bytes()));
            assert!(limiter.passed.len() <= Limiter::CAPACITY);
        }
    }
}
