use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::Instant;

use super::*;
use crate::wire::Datagram;

/// The server `id` at a host; its address is `host:6379`.
fn server(id: &str, host: &str) -> Arc<Server> {
    let line = format!("imq-broker\t{id}\tup\t{host}:6379\t1");
    let up = Datagram::read(line.as_bytes()).unwrap();
    let source = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1);
    let now = Instant::now();
    Arc::new(Server::new(&up, now, source, now))
}

fn added(id: &str, host: &str) -> Event {
    Event::Added(server(id, host))
}

fn removed(id: &str, host: &str) -> Event {
    Event::Removed(server(id, host), RemovalReason::Down)
}

fn updated(previous: &str, id: &str, host: &str) -> Event {
    Event::Updated {
        server: server(id, host),
        previous: server(previous, host),
    }
}

fn record(changes: &mut Changes, events: &[Event]) {
    for event in events {
        changes.record(event);
    }
}

/// What is taken, as text.
fn take(changes: &mut Changes) -> Vec<String> {
    let text = |change| match change {
        Change::Added(server) => format!("+{}@{}", server.id, server.host),
        Change::Removed(server, _) => format!("-{}@{}", server.id, server.host),
        Change::Renewed(server) => format!("={}@{}", server.id, server.host),
        Change::Updated { server, previous } => {
            format!("{}>{}@{}", previous.id, server.id, server.host)
        }
    };
    changes.take().into_iter().map(text).collect()
}

/// Changes for a subscriber that knows `a` at `one`.
fn knowing_a_at_one() -> Changes {
    let mut changes = Changes::new();
    changes.record(&added("a", "one"));
    assert_eq!(take(&mut changes), ["+a@one"]);
    changes
}

#[test]
fn what_was_taken_counts_as_told() {
    let mut changes = knowing_a_at_one();
    assert!(changes.is_empty());
    assert!(changes.take().is_empty());
}

#[test]
fn what_comes_and_goes_between_two_takes_leaves_nothing() {
    let mut changes = Changes::new();
    record(&mut changes, &[added("a", "one"), removed("a", "one")]);
    assert!(changes.is_empty());
    record(
        &mut changes,
        &[
            added("a", "one"),
            updated("a", "b", "one"),
            removed("b", "one"),
        ],
    );
    assert!(changes.is_empty());
}

#[test]
fn a_broker_that_went_and_came_back_is_only_renewed() {
    let mut changes = knowing_a_at_one();
    record(&mut changes, &[removed("a", "one"), added("a", "one")]);
    assert_eq!(take(&mut changes), ["=a@one"]);
    record(
        &mut changes,
        &[updated("a", "b", "one"), updated("b", "a", "one")],
    );
    assert_eq!(take(&mut changes), ["=a@one"]);
}

#[test]
fn another_guid_in_the_end_is_an_update_of_what_was_told() {
    let mut changes = knowing_a_at_one();
    record(&mut changes, &[removed("a", "one"), added("b", "one")]);
    assert_eq!(take(&mut changes), ["a>b@one"]);
    record(
        &mut changes,
        &[updated("b", "c", "one"), updated("c", "d", "one")],
    );
    assert_eq!(take(&mut changes), ["b>d@one"]);
}

#[test]
fn an_update_of_what_was_never_told_is_an_add() {
    let mut changes = Changes::new();
    record(&mut changes, &[added("a", "one"), updated("a", "b", "one")]);
    assert_eq!(take(&mut changes), ["+b@one"]);
}

#[test]
fn a_removal_names_the_broker_that_was_told() {
    let mut changes = knowing_a_at_one();
    record(
        &mut changes,
        &[updated("a", "b", "one"), removed("b", "one")],
    );
    assert_eq!(take(&mut changes), ["-a@one"]);
}

#[test]
fn removes_precede_updates_precede_adds_each_in_order_of_its_last_event() {
    let mut changes = Changes::new();
    record(
        &mut changes,
        &[
            added("a", "one"),
            added("b", "two"),
            added("c", "three"),
            added("d", "four"),
        ],
    );
    assert_eq!(
        take(&mut changes),
        ["+a@one", "+b@two", "+c@three", "+d@four"]
    );

    record(
        &mut changes,
        &[
            added("e", "five"),
            updated("b", "f", "two"),
            removed("d", "four"),
            added("g", "six"),
            removed("a", "one"),
            updated("c", "h", "three"),
            updated("e", "i", "five"),
        ],
    );
    let told = [
        "-d@four",
        "-a@one",
        "b>f@two",
        "c>h@three",
        "+g@six",
        "+i@five",
    ];
    assert_eq!(take(&mut changes), told);
}

#[test]
fn a_full_fleet_is_no_change() {
    let mut changes = Changes::new();
    changes.record(&Event::FleetFull { limit: 1 });
    assert!(changes.is_empty());
}
