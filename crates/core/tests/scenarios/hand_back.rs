//! Rule 3, where the new owner falls silent and the one before it does not: it had not restarted.

use super::*;

/// A world in which somebody else's `up`, with an interval of so many seconds, has taken `ann`'s
/// name off the endpoint. She announces herself every five seconds.
fn ann_is_robbed(interval: u64, config: FleetConfig) -> World {
    let mut world = World::with(config);
    world.up_every(5, "ann", HERE);
    world.expect_added("ann", HERE);
    world.up_every(interval, "forged", HERE);
    world.expect_updated("ann", "forged", HERE);
    world
}

fn correction(milliseconds: u64) -> FleetConfig {
    FleetConfig {
        alive_check: Some(ms(milliseconds)),
        ..FleetConfig::default()
    }
}

#[test]
fn rule_3_the_former_owner_has_the_endpoint_back_from_one_that_falls_silent() {
    let mut world = ann_is_robbed(1, FleetConfig::default());
    world.wait(ms(2_900));
    assert_eq!(world.up_every(5, "ann", HERE), FORMER_OWNER);
    world.wait(ALIVE - ms(2_900));
    world.expect_updated("forged", "ann", HERE);

    world.wait(ms(7_900) - ALIVE);
    assert_eq!(world.up_every(5, "ann", HERE), Outcome::Refreshed);
    let counters = *world.fleet.counters();
    assert_eq!((counters.added, counters.updated), (1, 2));
    assert_eq!((counters.removed, counters.evicted), (0, 0));
}

#[test]
fn rule_3_it_has_its_own_deadline_then_and_is_as_it_was_first_heard() {
    let mut world = ann_is_robbed(1, FleetConfig::default());
    world.wait(ms(2_900));
    world.up_every(3, "ann", HERE);
    world.wait(ALIVE - ms(2_900));
    world.expect_updated("forged", "ann", HERE);
    let ann = world.server("ann");
    assert_eq!(ann.interval, ms(5_000), "as any endpoint's owner");
    let heard = ann.last_heard();

    // Eight seconds and a bit after she was heard, and not before.
    world.wait(ms(2_900 + 8_000) - ALIVE);
    world.up_every(3, "ann", HERE);
    assert_eq!(world.server("ann").last_heard() - heard, ms(8_000));
    world.wait(ms(8_001));
    world.expect_removed("ann", HERE, EXPIRED);
}

#[test]
fn rule_3_what_the_silent_one_said_last_renews_nothing_when_it_says_it_again() {
    let mut world = ann_is_robbed(1, FleetConfig::default());
    world.wait(ms(3_000));
    world.up_every(5, "ann", HERE);
    world.wait(ALIVE - ms(3_000));
    world.expect_updated("forged", "ann", HERE);
    assert_eq!(world.up_every(1, "forged", HERE), FORMER_OWNER);
    assert_eq!(world.down("forged", HERE), FORMER_OWNER);
    world.wait(ms(3_000 + 10_001) - ALIVE);
    world.expect_removed("ann", HERE, EXPIRED);
}

#[test]
fn rule_3_it_has_it_back_however_small_the_correction_if_it_was_heard_by_then() {
    let mut world = ann_is_robbed(5, correction(100));
    world.wait(ms(5_000));
    assert_eq!(world.up_every(5, "ann", HERE), FORMER_OWNER);
    world.wait(ms(101));
    world.expect_updated("forged", "ann", HERE);

    // Who is judged sooner than the broker announces itself cannot know of it.
    assert_eq!(world.up_every(5, "ann", HERE), Outcome::Refreshed);
    world.up_every(1, "another", HERE);
    world.expect_updated("ann", "another", HERE);
    world.wait(ms(1_101));
    world.expect_removed("another", HERE, EXPIRED);
    world.wait(ms(3_899));
    assert_eq!(world.up_every(5, "ann", HERE), Outcome::Changed);
    world.expect_added("ann", HERE);
}

#[test]
fn rule_3_it_has_nothing_back_if_the_owner_was_heard_last() {
    let mut world = ann_is_here();
    world.up("bob", HERE);
    world.expect_updated("ann", "bob", HERE);
    world.wait(ms(1_000));
    assert_eq!(world.up_every(60, "ann", HERE), FORMER_OWNER);
    // In the same instant: it is the order that counts.
    assert_eq!(world.up("bob", HERE), Outcome::Refreshed);
    world.wait(ALIVE);
    world.expect_removed("bob", HERE, EXPIRED);
}

#[test]
fn rule_3_it_has_nothing_back_that_it_left() {
    let mut world = ann_is_here();
    world.up("bob", HERE);
    world.expect_updated("ann", "bob", HERE);
    world.wait(ms(3_000));
    assert_eq!(world.up("ann", HERE), FORMER_OWNER);
    assert_eq!(world.down("ann", HERE), FORMER_OWNER);
    world.wait(ALIVE - ms(3_000));
    world.expect_removed("bob", HERE, EXPIRED);
    assert_eq!(world.up("ann", HERE), Outcome::Changed);
    world.expect_added("ann", HERE);
}

#[test]
fn rule_3_and_8_an_ignored_down_keeps_nobody_out() {
    let mut world = ann_is_robbed(1, FleetConfig::default());
    world.wait(ms(3_000));
    assert_eq!(world.down("ann", HERE), FORMER_OWNER);
    assert_eq!(world.up_every(5, "ann", HERE), FORMER_OWNER);
    world.wait(ALIVE - ms(3_000));
    world.expect_updated("forged", "ann", HERE);
}

#[test]
fn rule_3_it_has_nothing_back_if_it_fell_silent_too() {
    let mut world = ann_is_robbed(60, FleetConfig::default());
    for _ in 0..5 {
        world.wait(ms(5_000));
        assert_eq!(world.up_every(5, "ann", HERE), FORMER_OWNER);
    }
    world.wait(ms(60_000 + 5_001 - 25_000));
    world.expect_removed("forged", HERE, EXPIRED);
}

#[test]
fn rule_3_its_deadline_is_judged_at_the_same_instant() {
    // Heard four seconds later, with an interval that is as much shorter.
    let mut world = ann_is_robbed(5, FleetConfig::default());
    world.wait(ms(4_000));
    assert_eq!(world.up("ann", HERE), FORMER_OWNER);
    world.wait(ms(6_001));
    world.expect_removed("forged", HERE, EXPIRED);

    let mut world = ann_is_robbed(5, FleetConfig::default());
    world.wait(ms(4_001));
    assert_eq!(world.up("ann", HERE), FORMER_OWNER);
    world.wait(ms(6_000));
    world.expect_updated("forged", "ann", HERE);
    world.wait(INSTANT);
    world.expect_removed("ann", HERE, EXPIRED);
}

#[test]
fn rule_3_an_endpoint_goes_back_and_forth_between_two() {
    let mut world = ann_is_here();
    world.up("bob", HERE);
    world.expect_updated("ann", "bob", HERE);
    let mut deadline = ALIVE;
    for (silent, heard) in [("bob", "ann"), ("ann", "bob"), ("bob", "ann")] {
        let half = (deadline - world.age()) / 2;
        world.wait(half);
        assert_eq!(world.up(heard, HERE), FORMER_OWNER);
        let next = world.age() + ALIVE;
        world.wait(deadline - world.age());
        world.expect_updated(silent, heard, HERE);
        deadline = next;
    }
    world.wait(deadline - world.age());
    world.expect_removed("ann", HERE, EXPIRED);
}

#[test]
fn rule_3_only_the_last_one_before_the_owner_is_remembered() {
    let mut world = ann_is_here();
    world.up("bob", HERE);
    world.expect_updated("ann", "bob", HERE);
    world.up("cid", HERE);
    world.expect_updated("bob", "cid", HERE);
    assert_eq!(world.up("bob", HERE), FORMER_OWNER);
    assert_eq!(world.up("ann", HERE), Outcome::Changed);
    world.expect_updated("cid", "ann", HERE);
}

#[test]
fn rule_3_a_standby_goes_back_in_silence_and_stays_one() {
    let mut world = ann_is_here();
    world.up("ann", THERE);
    world.up("bob", ELSEWHERE);
    world.expect_added("bob", ELSEWHERE);
    world.up("bob", THERE);
    world.wait(ms(3_000));
    world.up("ann", HERE);
    world.up("ann", THERE);
    world.up("bob", ELSEWHERE);
    world.wait(ALIVE - ms(3_000));
    assert_eq!(world.fleet.len(), 3);
    assert_eq!(world.fleet.counters().updated, 0);
    assert_eq!(world.up("ann", THERE), Outcome::Refreshed, "it is hers");
    assert_eq!(world.active(), ["ann@10.0.0.1:6379", "bob@10.0.0.3:6379"]);
}

#[test]
fn rule_3_and_9_a_standby_that_went_back_becomes_active_when_it_is_announced_again() {
    let mut world = ann_is_here();
    world.up("ann", THERE);
    world.up_every(60, "bob", ELSEWHERE);
    world.expect_added("bob", ELSEWHERE);
    world.up("bob", THERE);
    world.down("ann", HERE);
    world.expect_removed("ann", HERE, DOWN);
    world.wait(ms(3_000));
    assert_eq!(world.up("ann", THERE), FORMER_OWNER);
    world.wait(ALIVE - ms(3_000));
    assert_eq!(world.active(), ["bob@10.0.0.3:6379"]);
    assert_eq!(world.up("ann", THERE), Outcome::Changed);
    world.expect_added("ann", THERE);
}

#[test]
fn rule_3_and_5_what_went_back_can_be_inherited() {
    let mut world = ann_is_here();
    world.up("ann", THERE);
    world.up_every(60, "bob", ELSEWHERE);
    world.expect_added("bob", ELSEWHERE);
    assert_eq!(world.up("bob", THERE), Outcome::Changed);
    world.wait(ms(500));
    world.up("ann", HERE);
    world.wait(ms(500));
    assert_eq!(world.up("ann", THERE), FORMER_OWNER);
    world.wait(ALIVE - ms(1_400));
    // Bob's deadline there passes, and then ann's here; both are judged at once.
    world.judge();
    world.stall(ms(900));
    world.judge();
    world.expect_removed("ann", HERE, EXPIRED);
    world.expect_added("ann", THERE);
}

#[test]
fn rule_3_and_9_the_standbys_of_the_silent_one_wait_until_they_announce_again() {
    let mut world = ann_is_here();
    world.up("bob", HERE);
    world.expect_updated("ann", "bob", HERE);
    world.wait(ms(3_000));
    assert_eq!(world.up("bob", THERE), Outcome::Standby);
    assert_eq!(world.up("ann", HERE), FORMER_OWNER);
    world.wait(ALIVE - ms(3_000));
    world.expect_updated("bob", "ann", HERE);
    assert_eq!(world.up("bob", THERE), Outcome::Changed);
    world.expect_added("bob", THERE);
}

#[test]
fn rule_3_what_goes_back_may_join_two_active_endpoints() {
    let mut world = ann_is_robbed(1, FleetConfig::default());
    world.wait(ms(3_000));
    assert_eq!(world.up_every(5, "ann", THERE), Outcome::Changed);
    world.expect_added("ann", THERE);
    assert_eq!(world.up_every(5, "ann", HERE), FORMER_OWNER);
    world.wait(ALIVE - ms(3_000));
    world.expect_updated("forged", "ann", HERE);
    assert_eq!(world.active(), ["ann@10.0.0.1:6379", "ann@10.0.0.2:6379"]);
}

#[test]
fn rule_3_and_11_without_deadlines_nothing_goes_back() {
    let mut world = ann_is_robbed(
        1,
        FleetConfig {
            alive_check: None,
            ..FleetConfig::default()
        },
    );
    world.wait(Duration::from_secs(365 * 86_400));
    assert_eq!(world.up_every(5, "ann", HERE), FORMER_OWNER);
    world.judge();
    assert_eq!(world.active(), ["forged@10.0.0.1:6379"]);
}

#[test]
fn rule_3_and_12_after_a_pause_the_former_owner_has_its_interval_as_well() {
    let mut world = ann_is_robbed(1, FleetConfig::default());
    world.wait(ms(3_000));
    assert_eq!(world.up_every(5, "ann", HERE), FORMER_OWNER);
    world.stall(ms(60_000));
    world.judge();
    world.wait(ms(1_001));
    world.expect_updated("forged", "ann", HERE);
    world.wait(ms(3_999));
    assert_eq!(world.up_every(5, "ann", HERE), Outcome::Refreshed);

    world.up_every(1, "forged", HERE);
    assert_eq!(world.down("forged", HERE), FORMER_OWNER);
    world.stall(ms(60_000));
    world.judge();
    world.wait(ms(5_001));
    world.expect_removed("ann", HERE, EXPIRED);
}
