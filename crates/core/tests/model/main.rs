//! Random histories, told to the fleet and to its reference: see [`story`].
//!
//! `cargo test` takes some hundred thousand steps. Any number of histories of 120 steps or so:
//! `PROPTEST_CASES=100000 cargo test --release -p imqueue-udp-core --test model`. A failure prints
//! the shortest history that was found; `PROPTEST_RNG_SEED=N` makes a run repeatable.

mod story;

use proptest::prelude::*;

use self::story::{Script, Story};

/// How many histories there are by default.
const HISTORIES: u32 = 3_000;

fn script() -> impl Strategy<Value = Script> {
    prop::collection::vec(any::<u8>(), 1..600).prop_map(|bytes| Script::read(&bytes))
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
    fn fleet_and_reference_agree(script in script()) {
        Story::tell(&script);
    }
}
