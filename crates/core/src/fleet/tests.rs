//! What the fleet keeps inside: bounds that no event shows. The rules themselves are told in
//! `tests/scenarios.rs`.

use std::time::Duration;

use super::*;

const SOURCE: SocketAddrV4 = SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, 1);

fn fleet(max_servers: usize) -> (Fleet, Instant) {
    let now = Instant::now();
    (
        Fleet::new(
            FleetConfig {
                max_servers,
                ..FleetConfig::default()
            },
            now,
        ),
        now,
    )
}

fn say(fleet: &mut Fleet, now: Instant, line: &str) -> Outcome {
    let mut events = Vec::new();
    let line = line.replace(' ', "\t");
    fleet.handle_datagram(now, line.as_bytes(), SOURCE, &mut events)
}

#[test]
fn heartbeats_leave_the_heap_alone() {
    let (mut fleet, now) = fleet(9);
    for beat in 0..1_000 {
        let now = now + Duration::from_millis(beat * 10);
        say(&mut fleet, now, "imq id-1 up redis:6379 1");
    }
    assert_eq!(fleet.deadlines.len(), 1);
}

#[test]
fn a_shrinking_interval_cannot_grow_the_heap() {
    let (mut fleet, now) = fleet(9);
    for interval in (1..2_000).rev() {
        say(
            &mut fleet,
            now,
            &format!("imq id-1 up redis:6379 {interval}"),
        );
        assert!(fleet.deadlines.len() <= 2 + 64);
    }
    // The entry that the bound left over is the right one.
    let deadline = now + Duration::from_millis(1_000 + 5_000 + 1);
    assert_eq!(fleet.deadlines.next(), Some(deadline));
}

#[test]
fn brokers_that_come_and_go_cannot_grow_anything() {
    let (mut fleet, now) = fleet(8);
    for port in 1..2_000 {
        let up = format!("imq id-{port} up redis:{port} 1");
        assert_eq!(say(&mut fleet, now, &up), Outcome::Changed);
        let down = format!("imq id-{port} down redis:{port}");
        assert_eq!(say(&mut fleet, now, &down), Outcome::Changed);
        assert!(fleet.deadlines.len() <= 2 + 64);
        assert!(fleet.departures.len() <= 8);
        assert!(fleet.owners.is_empty());
    }
    assert_eq!(fleet.poll_timeout(), None);
}

#[test]
fn departures_are_forgotten_after_a_second() {
    let (mut fleet, now) = fleet(8);
    say(&mut fleet, now, "imq id-1 up redis:6379 1");
    say(&mut fleet, now, "imq id-1 down redis:6379");
    assert_eq!(fleet.departures.len(), 1);
    fleet.handle_timeout(now + Duration::from_secs(1), &mut Vec::new());
    assert_eq!(fleet.departures.len(), 0);
}

#[test]
fn restarts_leave_no_owner_behind() {
    let (mut fleet, now) = fleet(8);
    for restart in 0..100 {
        say(
            &mut fleet,
            now,
            &format!("imq id-{restart} up redis:6379 1"),
        );
    }
    assert!(fleet.owners.endpoints("id-98").is_empty());
    assert_eq!(fleet.owners.endpoints("id-99").len(), 1);
    say(&mut fleet, now, "imq id-99 down redis:6379");
    assert!(fleet.owners.is_empty());
}

#[test]
fn an_entry_that_nobody_waits_for_is_dropped_when_it_surfaces() {
    let (mut fleet, now) = fleet(9);
    say(&mut fleet, now, "imq id-1 up redis:6379 2");
    say(&mut fleet, now, "imq id-1 up redis:6379 1");
    assert_eq!(fleet.deadlines.len(), 2);
    for second in 1..9 {
        let now = now + Duration::from_secs(second);
        say(&mut fleet, now, "imq id-1 up redis:6379 1");
        fleet.handle_timeout(now, &mut Vec::new());
    }
    assert_eq!((fleet.len(), fleet.deadlines.len()), (1, 1));
}

#[test]
fn a_clock_that_runs_backwards_stands_still() {
    let (mut fleet, now) = fleet(9);
    let later = now + Duration::from_secs(10);
    say(&mut fleet, later, "imq id-1 up redis:6379 1");
    say(&mut fleet, now, "imq id-1 up redis:6379 1");
    fleet.handle_timeout(now, &mut Vec::new());
    assert!(fleet.active().all(|server| server.last_heard() == later));
    assert_eq!(
        fleet.poll_timeout(),
        Some(later + Duration::from_millis(500))
    );
}
