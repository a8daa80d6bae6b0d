//! Random histories, told to the fleet and to its reference: see [`story`].
//!
//! `cargo test` takes some hundred thousand steps. Any number of histories, of 150 steps on the
//! average: `PROPTEST_CASES=50000 cargo test --release -p imqueue-udp-core --test model`. A failure
//! prints its shortest history; `PROPTEST_RNG_SEED=N` makes a run repeatable.

mod story;

use std::time::Duration;

use proptest::prelude::*;

use self::story::{Setting, Step, Story};

/// How many histories there are by default.
const HISTORIES: u32 = 1_500;

fn setting() -> impl Strategy<Value = Setting> {
    let alive_check = prop_oneof![
        2 => Just(None),
        4 => Just(Some(Duration::ZERO)),
        4 => Just(Some(Duration::from_millis(300))),
        8 => Just(Some(Duration::from_secs(5))),
        1 => Just(Some(Duration::MAX)),
    ];
    let picky = prop::bool::weighted(0.1);
    (alive_check, 0..7_usize, picky).prop_map(|(alive_check, max_servers, picky)| Setting {
        alive_check,
        max_servers,
        picky,
    })
}

fn step() -> impl Strategy<Value = Step> {
    let past = prop_oneof![
        Just(Duration::ZERO),
        Just(Duration::from_nanos(1)),
        Just(Duration::from_secs(1)),
    ];
    prop_oneof![
        32 => up().prop_map(hear),
        8 => down().prop_map(hear),
        1 => noise(),
        8 => Just(Step::Drain),
        1 => Just(Step::Join),
        4 => Just(Step::Judge),
        6 => past.prop_map(|past| Step::Due { past }),
        4 => millis(1..3_000).prop_map(Step::Stall),
        1 => (0..64_u32).prop_map(|bit| Step::Stall(Duration::from_secs(1 << bit))),
        1 => millis(1..3_000).prop_map(Step::TurnBack),
        12 => prop_oneof![millis(0..50), millis(0..1_500), millis(4_000..9_000)]
            .prop_map(Step::Wait),
    ]
}

fn millis(range: std::ops::Range<u64>) -> impl Strategy<Value = Duration> {
    range.prop_map(Duration::from_millis)
}

fn up() -> impl Strategy<Value = String> {
    let interval = prop::sample::select(vec!["0", "0.5", "1", "3", "200000"]);
    (broker("up"), interval).prop_map(|(broker, interval)| format!("{broker}\t{interval}"))
}

fn down() -> impl Strategy<Value = String> {
    broker("down")
}

/// Ids and addresses are few, so that they meet.
fn broker(kind: &'static str) -> impl Strategy<Value = String> {
    (0..16_u8, 0..4_u8, 0..6_u8).prop_map(move |(name, id, address)| {
        let name = if name == 0 { "other" } else { "imq" };
        format!("{name}\tid-{id}\t{kind}\t10.0.0.{address}:6379")
    })
}

/// Datagrams that are none.
fn noise() -> impl Strategy<Value = Step> {
    prop::collection::vec(any::<u8>(), 0..9).prop_map(Step::Hear)
}

fn hear(line: String) -> Step {
    Step::Hear(line.into_bytes())
}

fn config() -> ProptestConfig {
    let mut config = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = HISTORIES;
    }
    config
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn fleet_and_reference_agree(
        setting in setting(),
        steps in prop::collection::vec(step(), 1..300),
    ) {
        let mut story = Story::new(setting);
        for step in &steps {
            story.take(step);
        }
        story.end();
    }
}
