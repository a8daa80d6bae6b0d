//! Every row of the fixture table that all readers of this format share.

use std::fs;
use std::time::Duration;

use imqueue_udp_core::{Announcement, Datagram, Kind, Transport};
use serde::Deserialize;

const TABLE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../__test__/fixtures/datagrams.json"
);

/// So that a table which shrinks or is not found cannot pass.
const ROWS: usize = 69;

#[derive(Deserialize)]
struct Row {
    title: String,
    hex: String,
    text: Option<String>,
    expected: Option<Expected>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Expected {
    r#type: String,
    name: String,
    id: String,
    host: String,
    port: u16,
    interval_ms: u64,
    transport: Option<String>,
}

impl Expected {
    fn datagram(&self) -> Datagram<'_> {
        Datagram {
            name: self.name.as_str().into(),
            id: self.id.as_str().into(),
            kind: if self.r#type == "up" {
                Kind::Up
            } else {
                Kind::Down
            },
            host: &self.host,
            port: self.port,
            interval: Duration::from_millis(self.interval_ms),
            transport: self.transport.as_deref().and_then(Transport::parse),
        }
    }
}

#[test]
fn every_row_reads_as_expected() {
    for row in rows() {
        let bytes = row.bytes();
        if let Some(text) = &row.text {
            assert_eq!(text.as_bytes(), bytes, "{}: text and hex differ", row.title);
        }
        let read = Datagram::read(&bytes);
        let expected = row.expected.as_ref().map(Expected::datagram);
        assert_eq!(
            read.as_ref().ok(),
            expected.as_ref(),
            "{}: {read:?}",
            row.title
        );
    }
}

#[test]
fn every_expected_datagram_is_read_back_as_it_was_written() {
    for row in rows() {
        let Some(mut expected) = row.expected.as_ref().map(Expected::datagram) else {
            continue;
        };
        if expected.kind == Kind::Down {
            // A `down` is written with four fields.
            expected.transport = None;
        }
        let line = expected.to_string();
        let fields = line.split('\t').count();
        assert_eq!(
            Datagram::read(line.as_bytes()),
            Ok(expected.clone()),
            "{}",
            row.title
        );
        match (expected.kind, expected.transport) {
            (Kind::Down, _) => assert_eq!(fields, 4, "{}", row.title),
            (Kind::Up, None) => assert_eq!(fields, 5, "{}", row.title),
            (Kind::Up, Some(_)) => assert_eq!(fields, 6, "{}", row.title),
        }
    }
}

#[test]
fn every_expected_up_can_be_announced() {
    let mut announced = 0;
    for row in rows() {
        let Some(expected) = row.expected.as_ref().map(Expected::datagram) else {
            continue;
        };
        if expected.kind == Kind::Down || expected.interval.is_zero() {
            continue;
        }
        let Datagram {
            name,
            id,
            host,
            port,
            interval,
            transport,
            ..
        } = &expected;
        let announcement = Announcement::new(name, id, host, *port, *interval, *transport);
        let announcement = announcement.unwrap_or_else(|error| panic!("{}: {error}", row.title));
        assert_eq!(
            Datagram::read(announcement.up()).as_ref(),
            Ok(&expected),
            "{}",
            row.title
        );
        announced += 1;
    }
    assert!(announced > 10);
}

impl Row {
    fn bytes(&self) -> Vec<u8> {
        let byte = |at| u8::from_str_radix(&self.hex[at..at + 2], 16).expect("two hex digits");
        (0..self.hex.len()).step_by(2).map(byte).collect()
    }
}

fn rows() -> Vec<Row> {
    let table = fs::read_to_string(TABLE).expect("the fixture table is in the repository");
    let rows: Vec<Row> = serde_json::from_str(&table).expect("the fixture table is a JSON array");
    assert_eq!(rows.len(), ROWS);
    rows
}
