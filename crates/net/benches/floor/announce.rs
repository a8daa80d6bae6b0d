//! Announcing by unicast to many pods: a bare `sendmmsg` loop, and a socket opened for each
//! datagram, against an announcer.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use imqueue_udp_core::{Announcement, Kind};
use imqueue_udp_net::{Announcer, AnnouncerOptions, Destination};
use socket2::{Domain, Protocol, SockRef, Socket, Type};

use crate::cpu;
use crate::sending::Outgoing;

const PODS: u32 = 10_000;

/// Longer than a round takes, so that the announcer sleeps between two of them.
const INTERVAL: Duration = Duration::from_millis(60);

/// The pods, all on one port.
///
/// Where they are on this host, the datagrams are thrown away as soon as they arrive, since the
/// buffer is full. Only the last of the pods hears, which is how the end of a round is known.
pub(crate) struct Pods {
    addresses: Vec<SocketAddrV4>,
    last: UdpSocket,
    _others: UdpSocket,
}

impl Pods {
    /// They have addresses from `first` on, but for the last one, which is always on this host.
    pub(crate) fn new(first: Ipv4Addr) -> Self {
        let others = bind(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0));
        let smallest = SockRef::from(&others).set_recv_buffer_size(0);
        smallest.expect("it can be set");
        let port = others.local_addr().expect("it is bound").port();
        let last = Ipv4Addr::new(127, 2, 0, 1);
        let first = first.to_bits();
        let addresses: Vec<_> = (first..first + PODS - 1)
            .map(Ipv4Addr::from_bits)
            .chain([last])
            .map(|address| SocketAddrV4::new(address, port))
            .collect();
        let last = bind(SocketAddrV4::new(last, port));
        let timeout = Duration::from_secs(20);
        last.set_read_timeout(Some(timeout)).expect("it can be set");
        Self {
            addresses,
            last,
            _others: others,
        }
    }

    /// What the hub thread needs for a datagram, on the average of so many rounds.
    pub(crate) fn announcer(&self, rounds: u32) -> Duration {
        let addresses = self.addresses.iter().copied().map(SocketAddr::V4);
        let options = AnnouncerOptions {
            announcement: announcement(),
            destinations: addresses.map(Destination::from).collect(),
            interface: None,
        };
        let announcer =
            Announcer::start(options, Arc::new(|| ())).expect("a thread can be started");
        self.wait_for_rounds(1);
        let before = cpu::of_the_hub();
        self.wait_for_rounds(rounds);
        let spent = cpu::of_the_hub() - before;
        drop(announcer);
        spent / (rounds * PODS)
    }

    /// The floor.
    pub(crate) fn bare(&self, rounds: u32) -> Duration {
        let announcement = announcement();
        let bytes = announcement.datagram(Kind::Up);
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("there is a free port");
        self.forget_rounds();
        let mut outgoing = Outgoing::new(self.addresses.iter().map(|&address| (bytes, address)));
        let before = cpu::mine();
        for _ in 0..rounds {
            outgoing
                .send(&socket)
                .expect("the loopback takes everything");
        }
        let spent = cpu::mine() - before;
        self.wait_for_rounds(rounds);
        spent / (rounds * PODS)
    }

    /// What somebody does who does not care.
    pub(crate) fn socket_for_each(&self, rounds: u32) -> Duration {
        let announcement = announcement();
        let bytes = announcement.datagram(Kind::Up);
        self.forget_rounds();
        let before = cpu::mine();
        for &address in (0..rounds).flat_map(|_| &self.addresses) {
            let socket = udp();
            let sent = socket.send_to(bytes, &address.into());
            sent.expect("the loopback takes everything");
        }
        let spent = cpu::mine() - before;
        self.wait_for_rounds(rounds);
        spent / (rounds * PODS)
    }

    /// An announcer may have begun another round before it was stopped.
    fn forget_rounds(&self) {
        self.last.set_nonblocking(true).expect("it can be set");
        while self.last.recv(&mut [0; 256]).is_ok() {}
        self.last.set_nonblocking(false).expect("it can be set");
    }

    fn wait_for_rounds(&self, rounds: u32) {
        for _ in 0..rounds {
            let heard = self.last.recv(&mut [0; 256]);
            heard.expect("the last pod hears of each round");
        }
        // Until the sender sleeps, when the kernel has counted what it used.
        thread::sleep(Duration::from_millis(5));
    }
}

fn announcement() -> Announcement {
    let id = "1f0c2d3e-7c4a-4f3e-9b1d-00000000002a";
    Announcement::new("imq-broker", id, "10.0.0.42", 6379, INTERVAL, None).expect("it is valid")
}

fn bind(address: SocketAddrV4) -> UdpSocket {
    let socket = udp();
    socket.set_reuse_address(true).expect("it can be set");
    socket.bind(&address.into()).expect("the port is free");
    socket.into()
}

fn udp() -> Socket {
    Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP)).expect("there can be a socket")
}
