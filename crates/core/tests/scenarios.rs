//! The fleet rules of `docs/protocol.md`, one after the other, each told as a story.

mod common;
#[path = "scenarios/hand_back.rs"]
mod hand_back;

use std::time::Duration;

use imqueue_udp_core::{FleetConfig, IgnoreReason, Outcome, ReadError, RemovalReason, Transport};

use self::common::{World, ms};

/// Two addresses that a broker may be at, and one more.
const HERE: &str = "10.0.0.1:6379";
const THERE: &str = "10.0.0.2:6379";
const ELSEWHERE: &str = "10.0.0.3:6379";

/// How long a broker that announces itself once a second may be silent.
const ALIVE: Duration = ms(1_000 + 5_000 + 1);

/// Just not enough time.
const INSTANT: Duration = ms(1);

const DOWN: RemovalReason = RemovalReason::Down;
const EXPIRED: RemovalReason = RemovalReason::Expired;
const FORMER_OWNER: Outcome = Outcome::Ignored(IgnoreReason::FormerOwner);

/// A world that knows `ann`, active here.
fn ann_is_here() -> World {
    let mut world = World::new();
    assert_eq!(world.up("ann", HERE), Outcome::Changed);
    world.expect_added("ann", HERE);
    world
}

fn full_at(max_servers: usize) -> FleetConfig {
    FleetConfig {
        max_servers,
        ..FleetConfig::default()
    }
}

#[test]
fn rule_1_an_unknown_broker_is_added() {
    let mut world = World::new();
    let line = "imq-broker\tann\tup\t10.0.0.1:6379\t2\ttls";
    assert_eq!(world.hear(line), Outcome::Changed);
    world.expect_added("ann", HERE);

    let ann = world.server("ann");
    assert_eq!((&*ann.name, ann.interval), ("imq-broker", ms(2_000)));
    assert_eq!(ann.transport, Some(Transport::Tls));
    assert_eq!(ann.source().to_string(), "10.0.4.12:49152");
    assert_eq!(world.active(), ["ann@10.0.0.1:6379"]);
}

#[test]
fn rule_2_a_heartbeat_renews_the_deadline_and_says_nothing() {
    let mut world = ann_is_here();
    for _ in 0..20 {
        world.wait(ALIVE - INSTANT);
        assert_eq!(world.up("ann", HERE), Outcome::Refreshed);
    }
    let heard = world.server("ann").last_heard();
    world.wait(INSTANT);
    assert_eq!(world.up("ann", HERE), Outcome::Refreshed);
    assert_eq!(world.server("ann").last_heard() - heard, INSTANT);
}

#[test]
fn rule_2_the_deadline_follows_the_interval_of_the_last_heartbeat() {
    let mut world = ann_is_here();
    assert_eq!(world.up_every(60, "ann", HERE), Outcome::Refreshed);
    world.wait(ALIVE * 2);
    assert_eq!(world.up_every(1, "ann", HERE), Outcome::Refreshed);
    world.wait(ALIVE);
    world.expect_removed("ann", HERE, EXPIRED);
}

#[test]
fn rule_2_an_interval_above_a_day_counts_as_a_day() {
    let mut world = World::new();
    world.up_every(1_000_000, "ann", HERE);
    world.expect_added("ann", HERE);
    world.wait(Duration::from_secs(86_400) + ms(5_000));
    world.wait(INSTANT);
    world.expect_removed("ann", HERE, EXPIRED);
}

#[test]
fn rule_3_a_restarted_broker_is_updated_and_stays_active() {
    let mut world = ann_is_here();
    world.wait(ms(5_000));
    assert_eq!(world.up("bob", HERE), Outcome::Changed);
    world.expect_updated("ann", "bob", HERE);
    assert_eq!(world.up("bob", HERE), Outcome::Refreshed);

    world.wait(ALIVE);
    world.expect_removed("bob", HERE, EXPIRED);
}

#[test]
fn rule_3_nothing_the_former_owner_says_touches_the_endpoint_while_its_owner_is_there() {
    let mut world = ann_is_here();
    world.up("bob", HERE);
    world.expect_updated("ann", "bob", HERE);
    let bob_is_heard = |world: &mut World| {
        world.wait(ms(3_000));
        assert_eq!(world.up("ann", HERE), FORMER_OWNER);
        assert_eq!(world.down("ann", HERE), FORMER_OWNER);
        assert_eq!(world.up("ann", HERE), FORMER_OWNER);
        world.wait(ALIVE - ms(3_000) - INSTANT);
        assert_eq!(world.up("bob", HERE), Outcome::Refreshed);
    };
    for _ in 0..10 {
        bob_is_heard(&mut world);
    }
    assert_eq!(world.active(), ["bob@10.0.0.1:6379"]);
    assert_eq!(
        world.fleet.counters().ignored[IgnoreReason::FormerOwner as usize],
        30
    );
    assert_eq!(world.down("bob", HERE), Outcome::Changed);
    world.expect_removed("bob", HERE, DOWN);
}

#[test]
fn rule_3_the_former_owner_is_free_to_be_elsewhere() {
    let mut world = ann_is_here();
    world.up("bob", HERE);
    world.expect_updated("ann", "bob", HERE);
    assert_eq!(world.up("ann", THERE), Outcome::Changed);
    world.expect_added("ann", THERE);
    assert_eq!(world.down("ann", THERE), Outcome::Changed);
    world.expect_removed("ann", THERE, DOWN);
    assert_eq!(world.active(), ["bob@10.0.0.1:6379"]);
}

#[test]
fn rule_3_a_standby_that_changes_hands_says_nothing_if_its_new_owner_is_active() {
    let mut world = ann_is_here();
    world.up("ann", THERE);
    world.up("bob", ELSEWHERE);
    world.expect_added("bob", ELSEWHERE);
    assert_eq!(world.up("bob", THERE), Outcome::Changed);
    assert_eq!(world.up("ann", THERE), FORMER_OWNER);

    // It is bob's now: ann has nothing to fall back on, bob has.
    world.down("ann", HERE);
    world.expect_removed("ann", HERE, DOWN);
    world.wait(ms(500));
    world.up("bob", THERE);
    world.wait(ALIVE - ms(500));
    world.expect_removed("bob", ELSEWHERE, EXPIRED);
    world.expect_added("bob", THERE);
}

#[test]
fn rule_3_and_9_a_standby_that_changes_hands_becomes_active_if_its_new_owner_is_not() {
    let mut world = ann_is_here();
    world.up("ann", THERE);
    assert_eq!(world.up("bob", THERE), Outcome::Changed);
    world.expect_added("bob", THERE);
    assert_eq!(world.active(), ["ann@10.0.0.1:6379", "bob@10.0.0.2:6379"]);
}

#[test]
fn rule_3_a_restart_may_join_two_active_endpoints_and_one_of_them_may_go() {
    let mut world = ann_is_here();
    world.up("bob", THERE);
    world.expect_added("bob", THERE);
    world.up("ann", THERE);
    world.expect_updated("bob", "ann", THERE);
    world.up("ann", ELSEWHERE);

    world.wait(ms(500));
    world.up("ann", THERE);
    world.up("ann", ELSEWHERE);
    world.wait(ALIVE - ms(500));
    world.expect_removed("ann", HERE, EXPIRED);
    // No standby takes its place: ann is still active there.
    assert_eq!(world.active(), ["ann@10.0.0.2:6379"]);
}

#[test]
fn rule_4_another_endpoint_of_an_active_guid_is_kept_as_standby() {
    let mut world = ann_is_here();
    assert_eq!(world.up("ann", THERE), Outcome::Standby);
    assert_eq!(world.up("ann", THERE), Outcome::Refreshed);
    assert_eq!(world.active(), ["ann@10.0.0.1:6379"]);
    assert_eq!(world.fleet.len(), 2);
}

#[test]
fn rule_4_a_standby_has_a_deadline_of_its_own() {
    let mut world = ann_is_here();
    world.up("ann", THERE);
    world.wait(ms(3_000));
    world.up("ann", HERE);
    world.wait(ALIVE - ms(3_000));
    assert_eq!(world.fleet.len(), 1, "gone, and nothing was said");
    world.wait(ms(3_000));
    world.expect_removed("ann", HERE, EXPIRED);
}

#[test]
fn rule_5_silence_removes_at_the_deadline_and_not_before() {
    let mut world = ann_is_here();
    world.wait(ALIVE - INSTANT);
    world.wait(INSTANT);
    world.expect_removed("ann", HERE, EXPIRED);
    assert!(world.fleet.is_empty());
}

#[test]
fn rule_5_a_broker_that_moved_is_followed_with_one_remove_and_one_add() {
    let mut world = ann_is_here();
    for _ in 0..6 {
        world.up("ann", THERE);
        world.wait(ms(1_000));
    }
    world.wait(ALIVE - ms(6_000));
    world.expect_removed("ann", HERE, EXPIRED);
    world.expect_added("ann", THERE);
    assert_eq!(world.up("ann", THERE), Outcome::Refreshed);
}

#[test]
fn rule_5_the_standby_heard_last_takes_over() {
    let mut world = ann_is_here();
    world.wait(ms(1_000));
    world.up("ann", ELSEWHERE);
    world.up("ann", THERE);
    // Both in the same instant: it is the order that counts.
    world.up("ann", ELSEWHERE);
    world.wait(ALIVE - ms(1_000));
    world.expect_removed("ann", HERE, EXPIRED);
    world.expect_added("ann", ELSEWHERE);
}

#[test]
fn rule_5_a_standby_that_is_as_dead_takes_nothing_over() {
    let mut world = ann_is_here();
    world.up("ann", THERE);
    world.wait(ALIVE);
    world.expect_removed("ann", HERE, EXPIRED);
    assert!(world.fleet.is_empty());
}

#[test]
fn rule_5_a_fleet_that_falls_silent_goes_one_by_one_in_order_of_the_deadlines() {
    let mut world = World::new();
    world.up_every(3, "ann", HERE);
    world.expect_added("ann", HERE);
    world.up_every(1, "bob", THERE);
    world.expect_added("bob", THERE);
    world.up_every(2, "cid", ELSEWHERE);
    world.expect_added("cid", ELSEWHERE);
    world.wait(ALIVE);
    world.expect_removed("bob", THERE, EXPIRED);
    world.wait(ms(1_000));
    world.expect_removed("cid", ELSEWHERE, EXPIRED);
    world.wait(ms(1_000));
    world.expect_removed("ann", HERE, EXPIRED);
}

#[test]
fn rule_5_deadlines_judged_late_are_judged_in_order() {
    let mut world = ann_is_here();
    world.wait(ms(100));
    world.up("bob", THERE);
    world.expect_added("bob", THERE);
    world.wait(ms(100));
    // Renewed last, though queued first.
    world.up("ann", HERE);
    world.wait(ALIVE - ms(101));
    world.stall(ms(900));
    world.judge();
    world.expect_removed("bob", THERE, EXPIRED);
    world.expect_removed("ann", HERE, EXPIRED);
}

#[test]
fn rule_6_a_down_of_the_owner_removes_at_once() {
    let mut world = ann_is_here();
    assert_eq!(world.down("ann", HERE), Outcome::Changed);
    world.expect_removed("ann", HERE, DOWN);
    assert!(world.fleet.is_empty());
    assert_eq!(world.due(), None);
}

#[test]
fn rule_6_standbys_stay_standby_until_they_announce_again() {
    let mut world = ann_is_here();
    world.up("ann", THERE);
    world.down("ann", HERE);
    world.expect_removed("ann", HERE, DOWN);
    world.wait(ms(900));
    assert!(world.active().is_empty());
    assert_eq!(world.up("ann", THERE), Outcome::Changed);
    world.expect_added("ann", THERE);
}

#[test]
fn rule_6_a_standby_leaves_in_silence() {
    let mut world = ann_is_here();
    world.up("ann", THERE);
    assert_eq!(world.down("ann", THERE), Outcome::Changed);
    assert_eq!(world.fleet.len(), 1);
    assert_eq!(world.active(), ["ann@10.0.0.1:6379"]);
}

#[test]
fn rule_7_a_down_of_anybody_else_is_ignored_and_counted() {
    let mut world = ann_is_here();
    assert_eq!(
        world.down("bob", HERE),
        Outcome::Ignored(IgnoreReason::NotOwner)
    );
    assert_eq!(
        world.down("ann", THERE),
        Outcome::Ignored(IgnoreReason::EndpointUnknown)
    );
    assert_eq!(world.active(), ["ann@10.0.0.1:6379"]);

    let counters = world.fleet.counters();
    assert_eq!((counters.ups, counters.downs), (1, 2));
    assert_eq!(counters.ignored[IgnoreReason::NotOwner as usize], 1);
    assert_eq!(counters.ignored[IgnoreReason::EndpointUnknown as usize], 1);
}

#[test]
fn rule_7_an_ignored_down_keeps_nobody_out() {
    let mut world = World::new();
    world.down("ann", HERE);
    assert_eq!(world.up("ann", HERE), Outcome::Changed);
    world.expect_added("ann", HERE);
}

#[test]
fn rule_8_a_late_up_does_not_bring_the_dead_back() {
    let mut world = ann_is_here();
    world.down("ann", HERE);
    world.expect_removed("ann", HERE, DOWN);
    world.wait(ms(999));
    assert_eq!(
        world.up("ann", HERE),
        Outcome::Ignored(IgnoreReason::LateUp)
    );
    world.wait(ms(1));
    assert_eq!(world.up("ann", HERE), Outcome::Changed);
    world.expect_added("ann", HERE);
}

#[test]
fn rule_8_is_about_that_guid_and_that_endpoint_only() {
    let mut world = ann_is_here();
    world.down("ann", HERE);
    world.expect_removed("ann", HERE, DOWN);
    assert_eq!(world.up("ann", THERE), Outcome::Changed);
    world.expect_added("ann", THERE);
    assert_eq!(world.up("bob", HERE), Outcome::Changed);
    world.expect_added("bob", HERE);
}

#[test]
fn rule_8_a_late_up_does_not_take_the_endpoint_from_its_next_owner() {
    let mut world = ann_is_here();
    world.down("ann", HERE);
    world.expect_removed("ann", HERE, DOWN);
    world.up("bob", HERE);
    world.expect_added("bob", HERE);
    world.wait(ms(500));
    assert_eq!(
        world.up("ann", HERE),
        Outcome::Ignored(IgnoreReason::LateUp)
    );
    assert_eq!(world.active(), ["bob@10.0.0.1:6379"]);
}

#[test]
fn rule_9_a_known_standby_becomes_active_when_its_guid_has_no_other() {
    let mut world = ann_is_here();
    world.up("ann", THERE);
    world.up("ann", ELSEWHERE);
    world.up("bob", HERE);
    world.expect_updated("ann", "bob", HERE);
    assert_eq!(world.up("ann", ELSEWHERE), Outcome::Changed);
    world.expect_added("ann", ELSEWHERE);
    assert_eq!(world.up("ann", THERE), Outcome::Refreshed, "one is enough");
}

#[test]
fn rule_9_an_unknown_endpoint_becomes_active_when_its_guid_has_standbys_only() {
    let mut world = ann_is_here();
    world.up("ann", THERE);
    world.down("ann", HERE);
    world.expect_removed("ann", HERE, DOWN);
    assert_eq!(world.up("ann", ELSEWHERE), Outcome::Changed);
    world.expect_added("ann", ELSEWHERE);
    assert_eq!(world.up("ann", THERE), Outcome::Refreshed);
}

#[test]
fn rule_10_a_full_fleet_ignores_the_unknown_says_so_once_and_goes_on() {
    let mut world = World::with(full_at(2));
    world.up("ann", HERE);
    world.expect_added("ann", HERE);
    assert_eq!(
        world.up("ann", THERE),
        Outcome::Standby,
        "standbys take room too"
    );

    let full = Outcome::Ignored(IgnoreReason::FleetFull);
    assert_eq!(world.up("bob", ELSEWHERE), full);
    world.expect_full(2);
    assert_eq!(world.up("bob", ELSEWHERE), full);
    assert_eq!(world.up("cid", "10.0.0.4:6379"), full);
    assert_eq!(
        world.fleet.counters().ignored[IgnoreReason::FleetFull as usize],
        3
    );

    assert_eq!(world.up("ann", HERE), Outcome::Refreshed);
    assert_eq!(
        world.up("bob", HERE),
        Outcome::Changed,
        "a restart needs no room"
    );
    world.expect_updated("ann", "bob", HERE);
    assert_eq!(world.fleet.len(), 2);
}

#[test]
fn rule_10_the_warning_comes_back_once_there_was_room() {
    let mut world = World::with(full_at(1));
    world.up("ann", HERE);
    world.expect_added("ann", HERE);
    world.up("bob", THERE);
    world.expect_full(1);

    world.down("ann", HERE);
    world.expect_removed("ann", HERE, DOWN);
    world.up("bob", THERE);
    world.expect_added("bob", THERE);
    world.up("cid", ELSEWHERE);
    world.expect_full(1);
}

#[test]
fn rule_11_without_alive_check_only_a_down_removes() {
    let mut world = World::with(FleetConfig {
        alive_check: None,
        ..FleetConfig::default()
    });
    world.up("ann", HERE);
    world.expect_added("ann", HERE);
    assert_eq!(world.due(), None, "no deadlines, no ticks");
    world.wait(Duration::from_secs(365 * 86_400));
    world.judge();
    assert_eq!(world.up("ann", HERE), Outcome::Refreshed);
    world.down("ann", HERE);
    world.expect_removed("ann", HERE, DOWN);
}

#[test]
fn rule_12_a_running_listener_is_called_twice_a_second() {
    let mut world = World::new();
    assert_eq!(world.due(), None, "nobody to watch");
    world.up_every(60, "ann", HERE);
    world.expect_added("ann", HERE);
    assert_eq!(world.due(), Some(ms(500)));
    world.wait(ms(500));
    assert_eq!(world.due(), Some(ms(1_000)));
    world.wait(ms(200));
    world.up_every(60, "ann", HERE);
    assert_eq!(world.due(), Some(ms(1_200)));
}

#[test]
fn rule_12_after_a_pause_every_endpoint_has_an_interval_to_be_heard_in() {
    let mut world = ann_is_here();
    world.up_every(3, "bob", THERE);
    world.expect_added("bob", THERE);
    world.stall(ms(60_000));
    world.judge();

    world.wait(ms(1_000));
    world.wait(INSTANT);
    world.expect_removed("ann", HERE, EXPIRED);
    world.wait(ms(1_999));
    world.wait(INSTANT);
    world.expect_removed("bob", THERE, EXPIRED);
}

#[test]
fn rule_12_after_a_pause_the_socket_is_read_dry_before_anybody_is_judged() {
    let mut world = ann_is_here();
    world.up("bob", THERE);
    world.expect_added("bob", THERE);
    world.stall(ms(60_000));

    // What waited in the socket, then the verdict, at once.
    assert_eq!(world.up("ann", HERE), Outcome::Refreshed);
    assert_eq!(world.due(), Some(world.age()));
    world.judge();
    assert_eq!(world.due(), Some(world.age() + ms(500)));

    world.wait(ms(1_001));
    world.expect_removed("bob", THERE, EXPIRED);
    world.wait(ALIVE - ms(1_001));
    world.expect_removed("ann", HERE, EXPIRED);
}

#[test]
fn rule_12_a_backlog_read_over_seconds_evicts_nobody() {
    let mut world = ann_is_here();
    for _ in 0..10 {
        world.stall(ms(900));
        world.hear("noise");
    }
    assert_eq!(world.up("ann", HERE), Outcome::Refreshed);
    world.judge();
}

#[test]
fn rule_12_a_second_is_not_yet_a_pause() {
    let mut world = ann_is_here();
    world.wait(ALIVE - ms(1_000));
    world.judge();
    world.stall(ms(1_000));
    world.judge();
    world.expect_removed("ann", HERE, EXPIRED);
}

#[test]
fn rule_12_a_pause_shortens_no_deadline() {
    let mut world = ann_is_here();
    world.stall(ms(1_500));
    world.judge();
    world.wait(ALIVE - ms(1_501));
    world.wait(INSTANT);
    world.expect_removed("ann", HERE, EXPIRED);
}

#[test]
fn rule_12_the_silence_of_an_empty_fleet_is_no_pause() {
    let config = FleetConfig {
        alive_check: Some(Duration::ZERO),
        ..FleetConfig::default()
    };
    let mut world = World::with(config);
    world.wait(ms(3_600_000));
    world.up("ann", HERE);
    world.expect_added("ann", HERE);
    world.wait(ms(1_000));
    world.wait(INSTANT);
    world.expect_removed("ann", HERE, EXPIRED);
}

#[test]
fn other_names_are_ignored_and_counted() {
    let names = vec!["jobs".into(), "mail".into()];
    let mut world = World::with(FleetConfig {
        names,
        ..FleetConfig::default()
    });
    let name = Outcome::Ignored(IgnoreReason::Name);
    assert_eq!(world.up("ann", HERE), name);
    assert_eq!(
        world.hear("mail\tann\tup\t10.0.0.1:6379\t1"),
        Outcome::Changed
    );
    world.expect_added("ann", HERE);
    assert_eq!(world.down("ann", HERE), name);
    assert_eq!(
        world.fleet.counters().ignored[IgnoreReason::Name as usize],
        2
    );
}

#[test]
fn unreadable_datagrams_are_counted_by_cause_and_change_nothing() {
    let mut world = ann_is_here();
    assert_eq!(world.hear("x"), Outcome::Rejected(ReadError::Fields));
    assert_eq!(
        world.up("bob", "0.0.0.0:6379"),
        Outcome::Rejected(ReadError::Address)
    );
    let counters = world.fleet.counters();
    assert_eq!(counters.rejected.iter().sum::<u64>(), 2);
    assert_eq!(counters.rejected[ReadError::Fields as usize], 1);
    assert_eq!(counters.rejected[ReadError::Address as usize], 1);
    assert_eq!(world.fleet.len(), 1);
}

#[test]
fn a_correction_without_end_neither_overflows_nor_evicts() {
    for correction in [
        Duration::MAX,
        Duration::MAX - ms(2),
        Duration::from_secs(u64::MAX / 3),
    ] {
        let config = FleetConfig {
            alive_check: Some(correction),
            ..FleetConfig::default()
        };
        let mut world = World::with(config);
        world.up("ann", HERE);
        world.expect_added("ann", HERE);
        world.stall(Duration::from_secs(365 * 86_400));
        world.judge();
        assert_eq!(world.up("ann", HERE), Outcome::Refreshed);
    }
}

#[test]
fn counters_follow_the_events() {
    let mut world = ann_is_here();
    world.up("bob", HERE);
    world.expect_updated("ann", "bob", HERE);
    world.up("cid", THERE);
    world.expect_added("cid", THERE);
    world.down("cid", THERE);
    world.expect_removed("cid", THERE, DOWN);
    world.wait(ALIVE);
    world.expect_removed("bob", HERE, EXPIRED);
    let counters = world.fleet.counters();
    assert_eq!((counters.added, counters.updated), (2, 1));
    assert_eq!((counters.removed, counters.evicted), (2, 1));
}

#[test]
fn rule_8_a_small_fleet_remembers_several_that_left() {
    let mut world = World::with(FleetConfig {
        max_servers: 1,
        ..Default::default()
    });
    for id in ["ann", "bob"] {
        world.up(id, HERE);
        world.expect_added(id, HERE);
        world.down(id, HERE);
        world.expect_removed(id, HERE, DOWN);
    }
    let late = Outcome::Ignored(IgnoreReason::LateUp);
    assert_eq!([world.up("ann", HERE), world.up("bob", HERE)], [late, late]);
}
