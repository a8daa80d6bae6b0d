//! The relay: what the system gave to one socket of the port alone reaches the others too.
//!
//! Several processes may listen on a port. A broadcast reaches them all, a unicast datagram only
//! one of them, so that one sends it on to the loopback broadcast address. Since a copy's
//! destination is a broadcast, nobody relays it again.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::mem;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::time::{Duration, Instant};

use imqueue_udp_core::{Kind, Outcome};

use crate::interface::LOOPBACK_BROADCAST;
use crate::socket;

/// Relays the datagrams of one port.
#[derive(Debug, Default)]
pub(crate) struct Relay {
    /// Made when it is first needed. It is not the socket that listens, so that copies can be told
    /// by where they come from.
    sender: Option<Sender>,
    limiter: Limiter,
    budgets: [Budget; Meaning::COUNT],
    outbox: Outbox,
}

/// Copies that wait to be sent: those who listen here are told first.
#[derive(Debug, Default)]
struct Outbox {
    /// One after the other.
    bytes: Vec<u8>,
    lengths: Vec<usize>,
}

/// What a valid datagram meant to those who listen here, the least first.
///
/// Each meaning has a budget of its own: a flood of one does not use up what the others need. So
/// the heartbeats of healthy brokers reach the other processes whatever is invented or forged
/// beside them.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Meaning {
    /// Nothing here, but perhaps something to somebody who has listened for longer or shorter.
    Nothing,
    Change,
    Heartbeat,
}

impl Meaning {
    const COUNT: usize = 3;

    /// `None` for what is not valid.
    pub(crate) fn of(outcome: Outcome) -> Option<Self> {
        match outcome {
            Outcome::Changed | Outcome::Standby => Some(Self::Change),
            Outcome::Ignored(_) => Some(Self::Nothing),
            Outcome::Refreshed => Some(Self::Heartbeat),
            Outcome::Rejected(_) => None,
        }
    }
}

impl Relay {
    /// Whether a datagram from `source` is a copy that was sent here.
    pub(crate) fn is_own(&self, source: SocketAddrV4) -> bool {
        self.sender
            .as_ref()
            .is_some_and(|sender| sender.address == source.into())
    }

    /// Whether a valid datagram is to be sent on, beside a fleet of so many endpoints. It is not if
    /// the same `up` was sent on a moment ago, or if there is a flood.
    pub(crate) fn admits(
        &mut self,
        now: Instant,
        kind: Kind,
        datagram: &[u8],
        meaning: Meaning,
        endpoints: usize,
    ) -> bool {
        (kind == Kind::Down || self.limiter.admits(now, datagram))
            && self.budgets[meaning as usize].spend(now, endpoints)
    }

    /// Takes a copy of a datagram that is to be sent on. Says whether there are so many that they
    /// should be sent now.
    pub(crate) fn keep(&mut self, datagram: &[u8]) -> bool {
        self.outbox.bytes.extend_from_slice(datagram);
        self.outbox.lengths.push(datagram.len());
        self.outbox.bytes.len() >= Outbox::MUCH
    }

    /// Sends the copies to all sockets on `port`, and reports each one that fails.
    pub(crate) fn send(&mut self, port: u16, mut report: impl FnMut(io::Error)) {
        let mut outbox = mem::take(&mut self.outbox);
        let mut rest = &*outbox.bytes;
        for length in outbox.lengths.drain(..) {
            let (datagram, others) = rest.split_at(length);
            rest = others;
            send(&mut self.sender, datagram, port).unwrap_or_else(&mut report);
        }
        outbox.bytes.clear();
        // For its memory.
        self.outbox = outbox;
    }
}

impl Outbox {
    /// A flood is not to make it grow.
    const MUCH: usize = 64 * 1024;
}

fn send(sender: &mut Option<Sender>, datagram: &[u8], port: u16) -> io::Result<()> {
    let sender = match sender {
        Some(sender) => sender,
        None => sender.insert(Sender::new()?),
    };
    let to = (LOOPBACK_BROADCAST, port);
    sender.socket.send_to(datagram, to).map(|_| ())
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

/// How much of one meaning may be relayed in a second. To relay takes a multiple of what it takes to
/// read: without a bound a flood would keep the thread from reading.
#[derive(Debug, Default)]
struct Budget {
    second: Option<Instant>,
    spent: usize,
}

impl Budget {
    /// More than any fleet says that is not a very large one.
    const LEAST: usize = 5000;

    /// As much as the limiter lets pass of each endpoint.
    const PER_ENDPOINT: usize = 10;

    fn spend(&mut self, now: Instant, endpoints: usize) -> bool {
        let is_over = |since: Instant| now.saturating_duration_since(since).as_secs() > 0;
        if self.second.is_none_or(is_over) {
            self.second = Some(now);
            self.spent = 0;
        }
        let has_room = self.spent < Self::LEAST.max(endpoints * Self::PER_ENDPOINT);
        self.spent += usize::from(has_room);
        has_room
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

    /// How many of `count` datagrams, no two alike, are sent on.
    fn admitted(
        relay: &mut Relay,
        now: Instant,
        meaning: Meaning,
        endpoints: usize,
        count: u32,
    ) -> usize {
        (0..count)
            .filter(|number| {
                let datagram = number.to_ne_bytes();
                relay.admits(now, Kind::Up, &datagram, meaning, endpoints)
            })
            .count()
    }

    #[test]
    fn a_flood_is_relayed_in_part_and_leaves_room_for_heartbeats() {
        let mut relay = Relay::default();
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);

        for meaning in [Meaning::Nothing, Meaning::Change] {
            let relayed = admitted(&mut relay, at(0), meaning, 20, 100_000);
            assert_eq!(relayed, Budget::LEAST);
            assert_eq!(admitted(&mut relay, at(999), meaning, 20, 1), 0);
        }
        let heartbeats = admitted(&mut relay, at(1099), Meaning::Heartbeat, 20, 20);
        assert_eq!(heartbeats, 20);
        assert_eq!(admitted(&mut relay, at(1199), Meaning::Nothing, 20, 20), 20);
    }

    #[test]
    fn a_large_fleet_is_relayed_in_full() {
        let mut relay = Relay::default();
        let now = Instant::now();
        let heartbeats = admitted(&mut relay, now, Meaning::Heartbeat, 10_000, 100_000);
        assert_eq!(heartbeats, 100_000);
    }

    #[test]
    fn copies_wait_until_they_are_sent_and_are_sent_once() {
        let others = UdpSocket::bind((LOOPBACK_BROADCAST, 0)).unwrap();
        others
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        let port = others.local_addr().unwrap().port();
        let mut relay = Relay::default();
        assert!(!relay.keep(b"first"));
        assert!(!relay.keep(b"second"));

        for _ in 0..2 {
            relay.send(port, |error| panic!("{error}"));
        }
        let mut buffer = [0; 9];
        for copy in [&b"first"[..], b"second"] {
            let length = others.recv(&mut buffer).unwrap();
            assert_eq!(&buffer[..length], copy);
        }
        others.set_nonblocking(true).unwrap();
        assert!(others.recv(&mut buffer).is_err());
    }

    #[test]
    fn many_copies_do_not_wait() {
        let mut relay = Relay::default();
        let kept = (1..).find(|_| relay.keep(&[0; 512])).unwrap();
        assert_eq!(kept, Outbox::MUCH / 512);
    }

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
