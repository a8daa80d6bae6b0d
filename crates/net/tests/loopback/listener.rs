//! Listeners, told by plain sockets.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use imqueue_udp_core::FleetConfig;
use imqueue_udp_net::{ListenerOptions, Notice};
use quinn_udp::{Transmit, UdpSockRef, UdpSocketState};

use crate::common::{EVERYONE, Follower, ONE, Port, Stall, down, sender, up};

#[test]
fn follows_a_broker_through_its_life() {
    let port = Port::reserve();
    let mut follower = Follower::listening(port.options());
    port.send(EVERYONE, up("a", 1));
    follower.expect(&["+a"]);
    port.send(EVERYONE, up("b", 1));
    follower.expect(&["~b a"]);
    port.send(EVERYONE, down("b", 1));
    follower.expect(&["-b down"]);
}

#[test]
fn removes_a_broker_that_falls_silent() {
    let port = Port::reserve();
    let correction = Duration::from_millis(50);
    let fleet = FleetConfig {
        alive_check: Some(correction),
        ..Default::default()
    };
    let mut follower = Follower::listening(ListenerOptions {
        fleet,
        ..port.options()
    });
    let said = Instant::now();
    port.send(EVERYONE, "imq\ta\tup\t10.0.0.1:1\t0.1");
    follower.expect(&["+a"]);
    follower.expect(&["-a expired"]);
    assert!(said.elapsed() > Duration::from_millis(150));
}

#[test]
fn a_heartbeat_that_waits_to_be_read_has_arrived_in_time() {
    let port = Port::reserve();
    let fleet = FleetConfig {
        alive_check: Some(Duration::ZERO),
        ..Default::default()
    };
    let mut follower = Follower::listening(ListenerOptions {
        fleet,
        ..port.options()
    });
    port.send(EVERYONE, "imq\ta\tup\t10.0.0.1:1\t0.4");
    follower.expect(&["+a"]);

    // Keeps the hub thread from running, as a busy machine would, until the deadline has passed.
    let stall = Stall::begin();
    thread::sleep(Duration::from_millis(600));
    port.send(EVERYONE, "imq\ta\tup\t10.0.0.1:1\t60");
    port.send(EVERYONE, up("b", 2));
    stall.end();
    follower.expect(&["+b"]);
}

/// So many trackers that what waits takes longer to read than a port is read at a stretch.
#[test]
fn a_heartbeat_that_waits_behind_many_others_has_arrived_in_time() {
    let port = Port::reserve();
    let mut followers: Vec<_> = (0..200)
        .map(|ms| {
            let fleet = FleetConfig {
                alive_check: Some(Duration::from_millis(ms)),
                ..Default::default()
            };
            Follower::listening(ListenerOptions {
                fleet,
                ..port.options()
            })
        })
        .collect();
    port.send(EVERYONE, "imq\ta\tup\t10.0.0.1:1\t0.2");
    for follower in &mut followers {
        follower.expect(&["+a"]);
    }

    let stall = Stall::begin();
    // The smallest receive buffer that is usual has room for them.
    for stranger in 0..400 {
        port.send(EVERYONE, down(&format!("stranger-{stranger}"), stranger));
    }
    port.send(EVERYONE, "imq\ta\tup\t10.0.0.1:1\t60");
    port.send(EVERYONE, up("b", 2));
    thread::sleep(Duration::from_millis(500));
    stall.end();
    for follower in &mut followers {
        follower.expect(&["+b"]);
    }
}

#[test]
fn says_where_it_listens() {
    let port = Port::reserve();
    let follower = Follower::listening(port.options());
    let address = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port.number);
    assert_eq!(follower.listener.local_addr(), Some(address));
}

#[test]
fn equal_options_share_a_fleet_and_the_second_is_told_of_it() {
    let port = Port::reserve();
    let mut first = Follower::listening(port.options());
    port.send(EVERYONE, up("a", 1));
    first.expect(&["+a"]);

    let mut second = Follower::listening(port.options());
    second.expect_known(&["+a"]);
    assert_eq!(second.listener.stats().fleet.ups, 1);

    drop(first);
    port.send(EVERYONE, down("a", 1));
    second.expect(&["-a down"]);
}

#[test]
fn different_options_share_the_socket() {
    let port = Port::reserve();
    let mut first = Follower::listening(port.options());
    let fleet = FleetConfig {
        max_servers: 1,
        ..Default::default()
    };
    let mut second = Follower::listening(ListenerOptions {
        fleet,
        ..port.options()
    });

    // A unicast datagram reaches one socket only.
    port.send(ONE, up("a", 1));
    first.expect(&["+a"]);
    second.expect(&["+a"]);

    port.send(ONE, up("b", 2));
    first.expect(&["+b"]);
    let notice = second.notice(|notice| matches!(notice, Notice::FleetFull { .. }));
    assert!(notice.to_string().contains("maxServers"));
}

#[test]
fn a_directed_address_hears_its_network_only() {
    let port = Port::reserve();
    let mut everywhere = Follower::listening(port.options());
    let directed = |address| ListenerOptions {
        address,
        ..port.options()
    };
    let mut loopback = Follower::listening(directed(EVERYONE));
    let mut foreign = Follower::start(directed(Ipv4Addr::new(198, 51, 100, 255)));
    let notice = foreign.notice(|notice| matches!(notice, Notice::InterfaceMissing { .. }));
    assert!(
        notice.to_string().contains("127.255.255.255 (lo)"),
        "{notice}"
    );

    port.send(ONE, up("a", 1));
    everywhere.expect(&["+a"]);
    loopback.expect(&["+a"]);

    // What comes to the loopback broadcast address may have been relayed by another process, and
    // is heard by everyone. That it is all that the last one hears shows that it missed the first.
    port.send(EVERYONE, up("b", 2));
    everywhere.expect(&["+b"]);
    loopback.expect(&["+b"]);
    foreign.expect(&["+b"]);
}

#[test]
fn waits_for_a_port_that_somebody_holds_for_himself() {
    let exclusive = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    let port = exclusive.local_addr().unwrap().port();
    let options = ListenerOptions {
        port,
        ..Default::default()
    };
    let mut follower = Follower::start(options.clone());
    let is_failure = |notice: &Notice| matches!(notice, Notice::BindFailed { .. });
    let notice = follower.notice(is_failure);
    assert!(
        matches!(notice, Notice::BindFailed { ref error, .. }
            if error.kind() == io::ErrorKind::AddrInUse),
        "{notice}"
    );
    assert!(
        notice.to_string().contains(&format!("UDP port {port}")),
        "{notice}"
    );
    assert_eq!(follower.listener.local_addr(), None);

    // One that comes later learns it too.
    let mut second = Follower::start(options);
    second.notice(is_failure);

    drop(exclusive);
    follower.notice(|notice| matches!(notice, Notice::Listening(_)));
    second.notice(|notice| matches!(notice, Notice::Listening(_)));
    sender()
        .send_to(up("a", 1).as_bytes(), (EVERYONE, port))
        .unwrap();
    follower.expect(&["+a"]);
}

#[test]
fn heartbeats_wake_nobody() {
    let port = Port::reserve();
    let mut follower = Follower::listening(port.options());
    port.send(EVERYONE, up("a", 1));
    follower.expect(&["+a"]);

    let before = follower.wakes.count();
    for _ in 0..1000 {
        port.send(EVERYONE, up("a", 1));
    }
    for junk in ["", "junk", "a\tb\tup\tc:1\t"] {
        port.send(EVERYONE, junk);
    }
    port.send(EVERYONE, down("a", 1));
    follower.expect(&["-a down"]);
    assert_eq!(follower.wakes.count(), before + 1);

    let stats = follower.listener.stats();
    assert_eq!((stats.fleet.ups, stats.fleet.downs), (1001, 1));
    assert_eq!(stats.fleet.rejected.iter().sum::<u64>(), 3);
    assert_eq!(
        (stats.datagrams, stats.kernel_drops, stats.receive_errors),
        (1005, 0, 0)
    );
}

#[test]
fn one_wake_stands_for_many_changes() {
    let port = Port::reserve();
    let mut follower = Follower::listening(port.options());
    let mut other = Follower::listening(port.options());
    let before = follower.wakes.count();
    port.send(EVERYONE, up("first", 1));
    for number in 2..=100 {
        port.send(EVERYONE, up("passing", number));
        port.send(EVERYONE, down("passing", number));
    }
    port.send(EVERYONE, up("last", 101));
    other.until("+last");
    assert_eq!(follower.wakes.count(), before + 1);
    follower.expect(&["+first", "+last"]);
}

#[test]
fn the_longest_datagram_is_read_whole() {
    let port = Port::reserve();
    let mut follower = Follower::listening(port.options());
    let mut datagram = up("a", 1) + "\tplain\t";
    datagram.extend(std::iter::repeat_n('x', 65_507 - datagram.len()));
    port.send(ONE, &datagram);
    follower.expect(&["+a"]);
}

#[test]
fn joined_datagrams_are_told_apart() {
    const COUNT: u16 = 40;
    let port = Port::reserve();
    let mut follower = Follower::listening(port.options());
    let socket = UdpSocket::bind((ONE, 0)).unwrap();
    let state = UdpSocketState::new(UdpSockRef::from(&socket)).unwrap();
    assert!(
        state.max_gso_segments() >= usize::from(COUNT),
        "no segmentation offload here"
    );

    // One system call, and on the loopback interface one packet.
    let datagrams: Vec<String> = (0..COUNT)
        .map(|n| up(&format!("{n:02}"), 1000 + n))
        .collect();
    let bytes = datagrams.concat();
    let transmit = Transmit {
        destination: (ONE, port.number).into(),
        ecn: None,
        contents: bytes.as_bytes(),
        segment_size: Some(datagrams[0].len()),
        src_ip: None,
    };
    state
        .try_send(UdpSockRef::from(&socket), &transmit)
        .unwrap();

    let added: Vec<String> = (0..COUNT).map(|n| format!("+{n:02}")).collect();
    follower.expect(&added.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(follower.listener.stats().datagrams, COUNT.into());
}

#[test]
fn a_dropped_listener_is_not_called() {
    let port = Port::reserve();
    let Follower {
        listener, wakes, ..
    } = Follower::listening(port.options());
    let mut other = Follower::listening(port.options());
    drop(listener);
    let before = wakes.count();
    port.send(EVERYONE, up("a", 1));
    other.until("+a");
    assert_eq!(wakes.count(), before);
}
