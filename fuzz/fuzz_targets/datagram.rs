//! The reader: no bytes make it panic, and whatever it reads is within the limits of
//! `docs/protocol.md`, reads the same once written again, and can be announced.

#![no_main]

use std::time::Duration;

use imqueue_udp_core::{Announcement, Datagram, Kind, MAX_INTERVAL};
use libfuzzer_sys::fuzz_target;

const MAX_NAME: usize = 255;
const MAX_ID: usize = 128;
const MAX_HOST: usize = 253;

fuzz_target!(|bytes: &[u8]| {
    let Ok(datagram) = Datagram::read(bytes) else {
        return;
    };
    check_label(&datagram.name, MAX_NAME);
    check_label(&datagram.id, MAX_ID);
    assert!((1..=MAX_HOST).contains(&datagram.host.len()));
    assert!(
        !datagram
            .host
            .contains(|char: char| char.is_control() || char.is_whitespace())
    );
    assert_ne!(datagram.port, 0);
    assert!(datagram.interval <= MAX_INTERVAL);

    // A label with undecodable bytes may have outgrown its limit by what stands in for them, and
    // is then nothing that anybody could announce.
    if datagram.name.len() <= MAX_NAME && datagram.id.len() <= MAX_ID {
        check_written(&datagram);
        check_announced(&datagram);
    }
});

/// The limit is that of the bytes as sent; each undecodable one is read as the three of U+FFFD.
fn check_label(label: &str, limit: usize) {
    assert!(!label.is_empty() && !label.contains(char::is_control));
    let replaced = label.contains(char::REPLACEMENT_CHARACTER);
    assert!(label.len() <= if replaced { 3 * limit } else { limit });
}

/// Written again, it reads the same, but for what a `down` leaves out.
fn check_written(datagram: &Datagram<'_>) {
    let mut expected = datagram.clone();
    if expected.kind == Kind::Down {
        (expected.interval, expected.transport) = (Duration::ZERO, None);
    }
    let line = datagram.to_string();
    assert_eq!(Datagram::read(line.as_bytes()), Ok(expected), "{line:?}");
}

/// What a listener reads, an announcer can say, and the other way round.
fn check_announced(datagram: &Datagram<'_>) {
    let announced = Announcement::new(
        &datagram.name,
        &datagram.id,
        datagram.host,
        datagram.port,
        datagram.interval,
        datagram.transport,
    );
    if datagram.interval.is_zero() {
        assert!(announced.is_err(), "without a pause");
        return;
    }
    let announced = announced.expect("whatever is read can be announced");
    let written = datagram.to_string();
    assert_eq!(announced.datagram(datagram.kind), written.as_bytes());
    for kind in [Kind::Down, Kind::Up] {
        assert_eq!(
            Datagram::read(announced.datagram(kind)).map(|read| read.kind),
            Ok(kind)
        );
    }
}
