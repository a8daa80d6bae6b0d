//! Properties of the format: no bytes confuse the reader, and what is announced is read back.

use std::time::Duration;

use imqueue_udp_core::{Announcement, Datagram, Kind, MAX_INTERVAL, Transport};
use proptest::option;
use proptest::prelude::*;

/// Bytes that look enough like a datagram to reach every field's reader.
fn almost_a_datagram() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"\t".to_vec()),
        Just(b"up".to_vec()),
        Just(b"down".to_vec()),
        Just(b"[::1]:6379".to_vec()),
        Just(b"10.0.4.12:".to_vec()),
        Just(b"1e9".to_vec()),
        Just(b"tls".to_vec()),
        "[ -~]{0,3}".prop_map(String::into_bytes),
        prop::collection::vec(any::<u8>(), 0..4),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn announced_host() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z0-9_]([a-z0-9_.-]{0,40}[a-z0-9])?",
        "[а-я]{1,20}\\.рф",
        any::<u32>().prop_map(|bits| std::net::Ipv4Addr::from_bits(bits).to_string()),
        any::<u128>().prop_map(|bits| std::net::Ipv6Addr::from_bits(bits).to_string()),
    ]
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..2_048)) {
        let _ = Datagram::read(&bytes);
    }

    #[test]
    fn whatever_is_read_keeps_its_promises(bytes in almost_a_datagram()) {
        if let Ok(datagram) = Datagram::read(&bytes) {
            prop_assert!(!datagram.name.is_empty() && !datagram.name.contains(char::is_control));
            prop_assert!(!datagram.id.is_empty() && !datagram.id.contains(char::is_control));
            prop_assert!((1..=253).contains(&datagram.host.len()));
            prop_assert_ne!(datagram.port, 0);
            prop_assert!(datagram.interval <= MAX_INTERVAL);

            // Written again, it reads the same, but for what a `down` leaves out.
            let mut expected = datagram.clone();
            if expected.kind == Kind::Down {
                (expected.interval, expected.transport) = (Duration::ZERO, None);
            }
            let line = datagram.to_string();
            prop_assert_eq!(Datagram::read(line.as_bytes()), Ok(expected));
        }
    }

    #[test]
    fn what_is_announced_is_read_back(
        name in "\\PC{1,60}",
        id in "\\PC{1,32}",
        host in announced_host(),
        port in 1_u16..,
        nanos in 1..=MAX_INTERVAL.as_nanos() as u64,
        transport in option::of(prop_oneof![Just(Transport::Plain), Just(Transport::Tls)]),
    ) {
        let interval = Duration::from_nanos(nanos);
        // Multicast addresses and the like are refused, as they should be.
        let announced = Announcement::new(&name, &id, &host, port, interval, transport);
        prop_assume!(announced.is_ok());
        let announced = announced.unwrap();

        let up = Datagram {
            name: name.as_str().into(),
            id: id.as_str().into(),
            kind: Kind::Up,
            host: &host,
            port,
            interval,
            transport,
        };
        let down =
            Datagram { kind: Kind::Down, interval: Duration::ZERO, transport: None, ..up.clone() };
        prop_assert_eq!(Datagram::read(announced.up()), Ok(up));
        prop_assert_eq!(Datagram::read(announced.down()), Ok(down));
    }
}
