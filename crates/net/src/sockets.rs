//! What a port is heard with: one socket and, beside others, one more for each own address.
//!
//! Linux gives a unicast datagram to one of the sockets on a port, and rather to one that is bound
//! to the address it was sent to than to one that hears everything. The manager of `@imqueue/core`
//! hears everything, and keeps what it is given to itself. So a process that is not alone on its
//! port takes the unicasts, of which the relay sends copies to everybody. Broadcasts reach the
//! socket that hears everything, and none of the others.

use std::net::Ipv4Addr;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use std::{io, iter};

use crate::socket::{self, Socket};

/// The sockets of one port.
#[derive(Debug)]
pub(crate) struct Sockets {
    everything: Socket,
    port: u16,
    /// Each with its address.
    own: Vec<(Ipv4Addr, Socket)>,
    /// When others were last looked for; `None` on systems where they do not matter.
    looked_at: Option<Instant>,
    /// How long that took: on a host with thousands of sockets, it is much.
    look_took: Duration,
    /// Whether there were none that time.
    alone: bool,
    /// When some were last seen who hear everything.
    seen_at: Option<Instant>,
}

/// How often others are looked for. One that starts later may be given all unicasts, so this and an
/// announce interval have to fit into the time until a broker's deadline (6 s by default).
const LOOK: Duration = Duration::from_secs(2);

/// How often while no broker is known, so that none can be lost, and few are worth waking up for.
const LOOK_IDLE: Duration = Duration::from_secs(5);

/// Looking takes no more than this part of the time.
const LOOK_SHARE: u32 = 100;

/// How long others count as there who are not: some restart, and what is sent to a socket at the
/// moment in which it is closed is lost.
const MEMORY: Duration = Duration::from_secs(10);

/// A host can have thousands of addresses: kube-proxy gives it one for each service.
const MAX_OWN: usize = 64;

impl Sockets {
    /// Binds the socket that hears everything, and looks for others for the first time. Has to be
    /// called within the hub's runtime.
    pub(crate) fn bind(port: u16, now: Instant) -> io::Result<Self> {
        let everything = Socket::bind(Ipv4Addr::UNSPECIFIED, port)?;
        let mut sockets = Self {
            port: everything.port()?,
            everything,
            own: Vec::new(),
            looked_at: None,
            look_took: Duration::ZERO,
            alone: false,
            seen_at: None,
        };
        sockets.look(now);
        Ok(sockets)
    }

    /// The port they are bound to, which the system chose if it was asked for port 0.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn len(&self) -> usize {
        1 + self.own.len()
    }

    /// The one that hears everything comes first.
    pub(crate) fn get(&self, place: usize) -> Option<&Socket> {
        self.iter().nth(place)
    }

    pub(crate) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<()> {
        // Each is asked, so that each of them can wake the thread.
        let readable = self.iter().filter(|it| it.poll_readable(cx).is_ready());
        if readable.count() > 0 {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }

    /// How many datagrams the system has dropped since this was last asked.
    pub(crate) fn drops(&mut self) -> u64 {
        let own = self.own.iter_mut().map(|(_, socket)| socket);
        iter::once(&mut self.everything)
            .chain(own)
            .map(Socket::drops)
            .sum()
    }

    /// When to [`look`](Self::look) for others again, given whether any broker is known.
    pub(crate) fn poll_timeout(&self, knows_brokers: bool) -> Option<Instant> {
        let pause = if knows_brokers { LOOK } else { LOOK_IDLE };
        Some(self.looked_at? + pause.max(LOOK_SHARE * self.look_took))
    }

    /// Looks for others on the port.
    pub(crate) fn look(&mut self, now: Instant) {
        let started = Instant::now();
        let ears = socket::ears(self.port);
        self.look_took = started.elapsed();
        self.looked_at = ears.map(|_| now);
        self.alone = ears.is_some_and(|ears| ears.everything + ears.copies <= 1);
        if ears.is_some_and(|ears| ears.everything > 1) {
            self.seen_at = Some(now);
        }
    }

    /// Whether nobody else hears what is sent to everybody, as far as the last look can tell.
    pub(crate) fn are_alone(&self) -> bool {
        self.alone
    }

    /// Whether the last look is as old as `age`, and may be repeated.
    pub(crate) fn looked_before(&self, now: Instant, age: Duration) -> bool {
        let age = age.max(LOOK_SHARE * self.look_took);
        self.looked_at
            .is_some_and(|at| now.saturating_duration_since(at) >= age)
    }

    /// Whether there are others who hear everything, or were of late.
    pub(crate) fn are_shared(&self, now: Instant) -> bool {
        let of_late = |at| now.saturating_duration_since(at) < MEMORY;
        self.seen_at.is_some_and(of_late)
    }

    /// Keeps a socket open for each of these addresses, and for no other. One that cannot be opened
    /// is left for the next time: what is sent there reaches one of those that hear everything.
    pub(crate) fn take_unicasts_to(&mut self, addresses: &[Ipv4Addr]) {
        self.own.retain(|(address, _)| addresses.contains(address));
        for &address in addresses {
            if self.own.len() < MAX_OWN
                && self.own.iter().all(|(taken, _)| *taken != address)
                && let Ok(socket) = Socket::bind(address, self.port)
            {
                self.own.push((address, socket));
            }
        }
    }

    fn iter(&self) -> impl Iterator<Item = &Socket> {
        let own = self.own.iter().map(|(_, socket)| socket);
        iter::once(&self.everything).chain(own)
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::net::UdpSocket;

    use super::*;
    use crate::interface::LOOPBACK_BROADCAST;
    use crate::socket::Buffers;

    const ONE: Ipv4Addr = Ipv4Addr::LOCALHOST;
    const OTHER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

    /// An address for documentation, which no host has.
    const FOREIGN: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);

    fn with_sockets(test: impl FnOnce(Sockets, Instant)) {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_io().build().unwrap();
        let _inside = runtime.enter();
        let now = Instant::now();
        test(Sockets::bind(0, now).unwrap(), now);
    }

    /// Another program's socket on the port. Core binds one like this on Node.js 20.
    fn neighbour(sockets: &Sockets, address: Ipv4Addr) -> UdpSocket {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None);
        let socket = UdpSocket::from(socket.unwrap());
        let options = socket2::SockRef::from(&socket);
        options.set_reuse_address(true).unwrap();
        options.set_nonblocking(true).unwrap();
        let address = std::net::SocketAddrV4::new(address, sockets.port());
        options.bind(&address.into()).unwrap();
        socket
    }

    fn send(sockets: &Sockets, to: Ipv4Addr) {
        let sender = socket::sender(ONE.into()).unwrap();
        sender.send_to(b"up", (to, sockets.port())).unwrap();
    }

    /// How many datagrams wait on each socket.
    fn waiting(sockets: &Sockets) -> Vec<usize> {
        let count = |socket: &Socket| {
            let mut buffers = Buffers::new();
            socket
                .receive(&mut buffers)
                .map_or(0, |_| buffers.datagrams().count())
        };
        sockets.iter().map(count).collect()
    }

    #[test]
    fn one_hears_everything_while_nobody_else_does() {
        with_sockets(|mut sockets, now| {
            sockets.look(now);
            assert!(!sockets.are_shared(now));
            sockets.look_took = Duration::from_millis(20);
            assert_eq!(sockets.poll_timeout(true), Some(now + LOOK));
            assert_eq!(sockets.poll_timeout(false), Some(now + LOOK_IDLE));
            sockets.look_took = Duration::from_millis(70);
            let later = Some(now + Duration::from_secs(7));
            assert_eq!(sockets.poll_timeout(true), later);
            assert_eq!(sockets.poll_timeout(false), later);
            let destinations = [ONE, OTHER, LOOPBACK_BROADCAST];
            destinations.iter().for_each(|to| send(&sockets, *to));
            assert_eq!(waiting(&sockets), [3]);
        });
    }

    #[test]
    fn others_are_seen_and_remembered_for_a_while() {
        with_sockets(|mut sockets, now| {
            let other = neighbour(&sockets, Ipv4Addr::UNSPECIFIED);
            let mut shared_at = |at| {
                sockets.look(at);
                sockets.are_shared(at)
            };
            assert!(shared_at(now));
            drop(other);
            assert!(shared_at(now + LOOK));
            assert!(!shared_at(now + MEMORY));
        });
    }

    #[test]
    fn alone_is_who_is_the_only_one_to_hear_copies() {
        with_sockets(|mut sockets, now| {
            let alone = |sockets: &mut Sockets| {
                sockets.look(now);
                sockets.are_alone()
            };
            assert!(alone(&mut sockets));
            let _deaf = neighbour(&sockets, ONE);
            assert!(alone(&mut sockets));
            let of_copies = neighbour(&sockets, LOOPBACK_BROADCAST);
            assert!(!alone(&mut sockets));
            drop(of_copies);
            let _of_everything = neighbour(&sockets, Ipv4Addr::UNSPECIFIED);
            assert!(!alone(&mut sockets));
        });
    }

    #[test]
    fn looking_takes_a_small_part_of_the_time() {
        with_sockets(|mut sockets, now| {
            let at = |ms| now + Duration::from_millis(ms);
            let age = Duration::from_millis(250);
            sockets.look_took = Duration::from_millis(2);
            assert!(!sockets.looked_before(at(249), age));
            assert!(sockets.looked_before(at(250), age));
            assert!(!sockets.looked_before(at(199), Duration::ZERO));
            assert!(sockets.looked_before(at(200), Duration::ZERO));
        });
    }

    #[test]
    fn own_sockets_do_not_count_as_others() {
        with_sockets(|mut sockets, now| {
            sockets.take_unicasts_to(&[ONE]);
            sockets.look(now);
            assert!(!sockets.are_shared(now));
        });
    }

    #[test]
    fn unicasts_reach_the_socket_of_their_address_and_broadcasts_the_first() {
        with_sockets(|mut sockets, _| {
            // Binds what it can, once.
            sockets.take_unicasts_to(&[FOREIGN, ONE, ONE]);
            assert_eq!(sockets.len(), 2);

            let other = neighbour(&sockets, Ipv4Addr::UNSPECIFIED);
            (0..9).for_each(|_| send(&sockets, ONE));
            send(&sockets, LOOPBACK_BROADCAST);
            assert_eq!(waiting(&sockets), [1, 9]);
            // The broadcast, and nothing else.
            assert!(other.recv(&mut [0; 2]).is_ok());
            assert!(other.recv(&mut [0; 2]).is_err());
        });
    }

    #[test]
    fn follows_the_addresses_there_are() {
        with_sockets(|mut sockets, _| {
            let addresses = |sockets: &Sockets| -> Vec<_> {
                sockets.own.iter().map(|(address, _)| *address).collect()
            };
            sockets.take_unicasts_to(&[ONE, OTHER]);
            assert_eq!(addresses(&sockets), [ONE, OTHER]);
            sockets.take_unicasts_to(&[OTHER]);
            assert_eq!(addresses(&sockets), [OTHER]);
            sockets.take_unicasts_to(&[OTHER, ONE]);
            assert_eq!(addresses(&sockets), [OTHER, ONE]);
            sockets.take_unicasts_to(&[]);
            assert_eq!(sockets.len(), 1);

            let many: Vec<_> = (1..=100)
                .map(|last| Ipv4Addr::new(127, 0, 1, last))
                .collect();
            sockets.take_unicasts_to(&many);
            assert_eq!(sockets.len(), 1 + MAX_OWN);
        });
    }
}
