//! The tracker: whatever happens in whatever order, it agrees with the reference of the model test
//! and keeps the promises that `crates/core/tests/model/story` lists.

#![no_main]

use libfuzzer_sys::arbitrary::{Arbitrary, Result, Unstructured};
use libfuzzer_sys::fuzz_target;

use self::story::{Script, Story};

#[path = "../../crates/core/tests/model/story/mod.rs"]
mod story;

fuzz_target!(|input: Input| Story::tell(&input.0));

/// All of the bytes as a script. `cargo fuzz fmt fleet FILE` shows its steps.
#[derive(Debug)]
struct Input(Script);

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        let all = bytes.bytes(bytes.len())?;
        Ok(Self(Script::read(all)))
    }
}
