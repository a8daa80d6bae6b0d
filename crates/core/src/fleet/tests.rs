//! What the fleet keeps inside: bounds that no event shows. The rules themselves are told in
//! `tests/scenarios.rs`.

use std::collections::BTreeSet;
use std::time::Duration;

use proptest::prelude::*;

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
        assert!(fleet.departures.len() <= Departures::FEW);
        assert_eq!(fleet.owners.len(), 0);
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
    assert_eq!(fleet.owners.len(), 0);
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

#[test]
fn at_the_end_of_time_the_next_tick_does_not_overflow() {
    let (mut fleet, now) = fleet(9);
    fleet.config.alive_check = Some(Duration::ZERO);
    let deadline = last_instant(now);
    let heard = deadline - Duration::from_millis(1);
    say(&mut fleet, heard, "imq id-1 up redis:6379 0");
    assert_eq!(fleet.poll_timeout(), Some(deadline));
    fleet.handle_timeout(deadline, &mut Vec::new());
    assert!(fleet.is_empty());
}

/// The last instant there is.
fn last_instant(now: Instant) -> Instant {
    let seconds = (0..64).rev().map(|bit| Duration::from_secs(1 << bit));
    let nanos = (0..30).rev().map(|bit| Duration::from_nanos(1 << bit));
    seconds
        .chain(nanos)
        .fold(now, |last, step| last.checked_add(step).unwrap_or(last))
}

proptest! {
    /// By hand any number of histories, with `PROPTEST_CASES=N`.
    #[test]
    fn no_history_grows_anything_past_its_bounds(
        steps in prop::collection::vec(any::<u32>(), 1..600),
        max_servers in 0..12_usize,
    ) {
        let (mut fleet, mut now) = fleet(max_servers);
        for (turn, step) in steps.into_iter().enumerate() {
            let [what, id, port, time] = step.to_le_bytes();
            let port = port % 16 + 1;
            // Mostly the usual owner, so that a `down` finds somebody who leaves.
            let id = if id < 192 { port } else { id % 12 };
            let broker = |kind| format!("imq id-{id} {kind} redis:{port}");
            match what % 16 {
                // Each interval is shorter than the one before, which is what litters the heap.
                0..=6 => {
                    say(&mut fleet, now, &format!("{} {}", broker("up"), 600 - turn));
                }
                7 | 8 => {
                    say(&mut fleet, now, &format!("{} {time}", broker("up")));
                }
                9..=12 => {
                    say(&mut fleet, now, &broker("down"));
                }
                13 => now += Duration::from_secs(u64::from(time % 8)),
                14 => now += Duration::from_millis(u64::from(time)),
                _ => fleet.handle_timeout(now, &mut Vec::new()),
            }
            assert_within_bounds(&fleet);
        }
    }
}

/// All that a fleet remembers is in proportion to `max_servers`, and its indices say what its
/// endpoints say.
#[track_caller]
fn assert_within_bounds(fleet: &Fleet) {
    let limit = fleet.config.max_servers;
    assert!(fleet.endpoints.len() <= limit);
    assert!(fleet.departures.len() <= limit.max(Departures::FEW));
    assert!(fleet.deadlines.len() <= 2 * limit + 64);

    let ids: BTreeSet<&str> = fleet
        .endpoints
        .values()
        .map(|at| &*at.owner.server.id)
        .collect();
    assert_eq!(fleet.owners.len(), ids.len());
    let owned = ids.iter().map(|id| fleet.owners.endpoints(id).len());
    assert_eq!(owned.sum::<usize>(), fleet.endpoints.len());
    for id in ids {
        let active = fleet.active().filter(|server| *server.id == *id).count();
        assert_eq!(fleet.owners.active(id), active, "{id}");
    }
    // The heap asks about each endpoint before it is overdue.
    for endpoint in fleet.endpoints.values() {
        let Some(deadline) = endpoint.owner.deadline else {
            continue;
        };
        assert!(endpoint.queued.is_some_and(|queued| queued <= deadline));
    }
}

/// Datagrams are handled at a later moment than the one up to which the socket was read dry. What came
/// between the two waits there still.
#[test]
fn deadlines_are_judged_as_of_the_moment_up_to_which_all_was_read() {
    let (mut fleet, now) = fleet(9);
    let at = |ms| now + Duration::from_millis(ms);
    fleet.config.alive_check = Some(Duration::ZERO);
    say(&mut fleet, now, "imq slow up slow:1 0.4");
    say(&mut fleet, now, "imq quick up quick:1 0.3");

    say(&mut fleet, at(450), "imq quick up quick:1 0.3");
    fleet.handle_timeout(at(301), &mut Vec::new());
    assert_eq!(fleet.len(), 2);

    say(&mut fleet, at(451), "imq slow up slow:1 0.4");
    fleet.handle_timeout(at(450), &mut Vec::new());
    assert_eq!(fleet.len(), 2);
}

#[test]
fn after_a_pause_what_keeps_coming_does_not_put_deadlines_off() {
    let (mut fleet, now) = fleet(9);
    fleet.config.alive_check = Some(Duration::ZERO);
    say(&mut fleet, now, "imq dead up dead:1 1");

    let turns = (2_000..3_100).map(|ms| now + Duration::from_millis(ms));
    for read_dry_at in turns {
        say(&mut fleet, read_dry_at + Duration::from_micros(10), "noise");
        if fleet.poll_timeout().is_some_and(|at| at <= read_dry_at) {
            fleet.handle_timeout(read_dry_at, &mut Vec::new());
        }
    }
    assert_eq!(fleet.len(), 0);
}
