//! Beside the manager of `@imqueue/core`, which relays nothing of what it is given.

use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use imqueue_udp_net::ListenerOptions;
use socket2::{Domain, Protocol, Socket, Type};

use crate::common::{Follower, ONE, PATIENCE, Port, hear, up};

#[test]
fn both_hear_everything() {
    let port = Port::reserve();
    let core = core(&port, 22);
    let mut follower = Follower::listening(port.options());
    for number in 1..=50 {
        let datagram = up(&format!("{number}"), number);
        port.send(ONE, &datagram);
        follower.expect(&[&format!("+{number}")]);
        assert_eq!(hear(&core), datagram);
    }
    let stats = follower.listener.stats();
    assert_eq!((stats.datagrams, stats.relayed), (50, 50));
}

#[test]
fn both_hear_everything_soon_after_core_has_started_last() {
    let port = Port::reserve();
    let mut follower = Follower::listening(port.options());
    let core = core(&port, 20);
    let deadline = Instant::now() + PATIENCE;
    while follower.listener.stats().datagrams == 0 {
        assert!(Instant::now() < deadline, "core should have been seen");
        port.send(ONE, up("a", 1));
        assert_eq!(hear(&core), up("a", 1));
        thread::sleep(Duration::from_millis(20));
    }
    follower.expect(&["+a"]);
    port.send(ONE, up("b", 2));
    follower.expect(&["+b"]);
    assert_eq!(hear(&core), up("b", 2));
}

#[test]
fn without_the_relay_core_keeps_its_share() {
    let port = Port::reserve();
    let core = core(&port, 22);
    let _follower = Follower::listening(ListenerOptions {
        relay: false,
        ..port.options()
    });
    // That it is given none of them has a chance of one in 2^50.
    (1..=50).for_each(|number| port.send(ONE, up("a", number)));
    assert!(hear(&core).starts_with("imq\ta\tup"));
}

/// A socket like that of core. On Node.js 20 it only allows others on the port; of two such sockets
/// the later one is given all unicasts.
fn core(port: &Port, node: u32) -> UdpSocket {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP)).unwrap();
    socket.set_reuse_address(true).unwrap();
    socket.set_reuse_port(node > 20).unwrap();
    let address = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port.number);
    socket.bind(&address.into()).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.into()
}
