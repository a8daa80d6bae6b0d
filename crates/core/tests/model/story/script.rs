//! Stories as bytes, so that whoever makes up bytes makes up stories: any bytes are one.
//!
//! The first byte is the setting. Each step then is a byte whose low half says what happens and
//! whose high half varies it, with as many bytes after it as that takes; `fuzz/seeds.js` writes the
//! same format.

use std::fmt;
use std::time::Duration;

use super::{Setting, Step};

/// Ids and addresses are few, so that they meet.
const IDS: u8 = 4;
const ADDRESSES: u8 = 6;

/// In seconds, as announced; the last is more than a day.
const INTERVALS: [&str; 5] = ["1", "0", "0.5", "3", "200000"];

/// The units of the times that the clock moves by.
const UNITS: [Duration; 3] = [
    Duration::from_millis(40),
    Duration::from_millis(8),
    Duration::from_millis(1),
];

#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) setting: Setting,
    pub(crate) steps: Vec<Step>,
}

impl Script {
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let mut reader = Reader(bytes);
        Self {
            setting: reader.setting(),
            steps: std::iter::from_fn(|| reader.step()).collect(),
        }
    }
}

/// The bytes of a datagram, shown as text.
#[derive(Clone)]
pub(crate) struct Line(pub(crate) Vec<u8>);

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn setting(&mut self) -> Setting {
        let byte = self.byte().unwrap_or_default();
        let alive_check = match byte % 8 {
            0..=2 => Some(Duration::from_secs(5)),
            3 | 4 => Some(Duration::from_millis(300)),
            5 => Some(Duration::ZERO),
            6 => Some(Duration::MAX),
            _ => None,
        };
        Setting {
            alive_check,
            max_servers: usize::from(byte / 8 % 8),
            picky: byte / 64 == 3,
        }
    }

    /// `None` at the end of the bytes, also where they end within a step.
    fn step(&mut self) -> Option<Step> {
        let byte = self.byte()?;
        let variant = usize::from(byte / 16);
        Some(match byte % 16 {
            0..=5 => self.up(variant)?,
            6 | 7 => hear(self.broker("down", variant)?),
            8 if variant == 15 => Step::Join,
            8 => Step::Drain,
            9 => Step::Judge,
            10 => Step::Due {
                past: [0, 1, 1_000_000_000].map(Duration::from_nanos)[variant % 3],
            },
            11 | 12 => Step::Wait(self.time(variant)?),
            13 => Step::Stall(self.time(variant)?),
            14 if variant < 8 => Step::TurnBack(self.time(variant)?),
            14 => Step::Stall(Duration::from_secs(1 << (self.byte()? % 64))),
            _ => self.noise(variant)?,
        })
    }

    fn up(&mut self, variant: usize) -> Option<Step> {
        let broker = self.broker("up", variant)?;
        let interval = INTERVALS[variant % INTERVALS.len()];
        Some(hear(format!("{broker}\t{interval}")))
    }

    fn broker(&mut self, kind: &str, variant: usize) -> Option<String> {
        let byte = self.byte()?;
        let name = if variant == 15 { "other" } else { "imq" };
        let (id, address) = (byte % IDS, byte / IDS % ADDRESSES);
        Some(format!("{name}\tid-{id}\t{kind}\t10.0.0.{address}:6379"))
    }

    fn time(&mut self, variant: usize) -> Option<Duration> {
        Some(UNITS[variant % UNITS.len()] * u32::from(self.byte()?))
    }

    /// A datagram as it stands there. Mostly a short one, lest noise drown the rest.
    fn noise(&mut self, variant: usize) -> Option<Step> {
        let len = usize::from(self.byte()?);
        let len = if variant == 15 { len } else { len % 8 };
        let (line, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(Step::Hear(Line(line.to_vec())))
    }

    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }
}

fn hear(line: String) -> Step {
    Step::Hear(Line(line.into_bytes()))
}
