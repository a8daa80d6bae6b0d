//! What the operator reads: one line an event on standard error. Each change of what is announced, but
//! for a flood of them, whose last one is told in the end; of all else, at most one a minute of a kind.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use imqueue_udp_core::Throttle;
pub(crate) use imqueue_udp_net::Level;

/// Writes to standard error. Clones share their memory of what was said.
#[derive(Clone, Debug)]
pub(crate) struct Log(Arc<Mutex<Memory>>);

#[derive(Debug)]
struct Memory {
    throttle: Throttle<&'static str>,
    changes: Changes,
}

/// How things are, as far as it was told.
#[derive(Debug)]
struct Changes {
    latest: Option<(Level, String)>,
    /// How many were not told, with the latest one.
    untold: u64,
    /// Each one that is told takes up a minute. This is the end of the last one.
    taken_until: Instant,
}

/// So many changes are told at once: a Redis that is restarted a few times, or fails over. Of one that
/// flaps, one a minute.
const AT_ONCE: u32 = 10;
const MINUTE: Duration = Duration::from_secs(60);

impl Log {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Memory {
            throttle: Throttle::new(),
            changes: Changes::new(Instant::now()),
        })))
    }

    /// Says it, unless `cause` was spoken of in the last minute.
    pub(crate) fn say(&self, level: Level, cause: &'static str, message: &str) {
        let mut memory = self.memory();
        if let Some(held_back) = memory.throttle.admit(Instant::now(), cause) {
            write(level, message, held_back);
        }
    }

    /// Says how things are from now on. Should that have to wait, [`catch_up`](Self::catch_up) says it.
    pub(crate) fn change(&self, level: Level, message: String) {
        self.memory().changes.add(level, message);
        self.catch_up();
    }

    /// To be called once a second or so.
    pub(crate) fn catch_up(&self) {
        if let Some((level, message, held_back)) = self.memory().changes.due(Instant::now()) {
            write(level, message, held_back);
        }
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes on what somebody else says no more often than that already.
    pub(crate) fn pass(&self, level: Level, message: &str) {
        write(level, message, 0);
    }
}

impl Changes {
    fn new(now: Instant) -> Self {
        Self {
            latest: None,
            untold: 0,
            taken_until: now,
        }
    }

    fn add(&mut self, level: Level, message: String) {
        let latest = Some((level, message));
        if self.latest != latest {
            self.latest = latest;
            self.untold += 1;
        }
    }

    /// The latest, with how many were held back before it, if it was not told and is to be told now.
    fn due(&mut self, now: Instant) -> Option<(Level, &str, u64)> {
        let has_room = self.taken_until <= now + MINUTE * (AT_ONCE - 1);
        let (level, message) = self.latest.as_ref()?;
        if self.untold == 0 || !has_room {
            return None;
        }
        self.taken_until = self.taken_until.max(now) + MINUTE;
        Some((*level, message, std::mem::take(&mut self.untold) - 1))
    }
}

fn write(level: Level, message: &str, held_back: u64) {
    // Whoever closed standard error does not want to know.
    let _ = io::stderr().write_all(line(level, message, held_back).as_bytes());
}

/// What others have said is kept from breaking the line, and from the terminal.
fn line(level: Level, message: &str, held_back: u64) -> String {
    let message = message.replace(char::is_control, " ");
    let level = level.as_str();
    match held_back {
        0 => format!("imq-announcer: {level}: {message}\n"),
        count => format!("imq-announcer: {level}: {message} ({count} more not told)\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line() {
        assert_eq!(
            line(Level::Warn, "it says: a\nb\u{1b}[2J", 0),
            "imq-announcer: warn: it says: a b [2J\n"
        );
        assert_eq!(
            line(Level::Info, "again", 3),
            "imq-announcer: info: again (3 more not told)\n"
        );
    }

    #[test]
    fn changes_are_told_and_of_a_flood_the_last_one() {
        let start = Instant::now();
        let mut changes = Changes::new(start);
        let mut change = |seconds, message: &str| {
            changes.add(Level::Info, message.to_owned());
            let due = changes.due(start + Duration::from_secs(seconds));
            due.map(|(_, message, held_back)| (message.to_owned(), held_back))
        };
        for _ in 0..5 {
            assert_eq!(change(0, "up"), Some(("up".to_owned(), 0)));
            assert_eq!(change(0, "down"), Some(("down".to_owned(), 0)));
            assert_eq!(change(0, "down"), None);
        }
        assert_eq!(change(1, "up"), None);
        assert_eq!(change(59, "down"), None);
        assert_eq!(change(60, "up"), Some(("up".to_owned(), 2)));
        assert_eq!(change(61, "down"), None);
        assert_eq!(change(120, "down"), Some(("down".to_owned(), 0)));
        assert_eq!(change(999, "down"), None);
    }
}
