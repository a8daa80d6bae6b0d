//! What the operator reads: one line an event on standard error, at most one a minute of a kind.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use imqueue_udp_core::Throttle;
pub(crate) use imqueue_udp_net::Level;

/// Writes to standard error. Clones share their memory of what was said.
#[derive(Clone, Debug)]
pub(crate) struct Log(Arc<Mutex<Throttle<&'static str>>>);

impl Log {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Throttle::new())))
    }

    /// Says it, unless `cause` was spoken of in the last minute.
    pub(crate) fn say(&self, level: Level, cause: &'static str, message: &str) {
        let mut throttle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(held_back) = throttle.admit(Instant::now(), cause) {
            write(level, message, held_back);
        }
    }

    /// Passes on what somebody else says no more often than that already.
    pub(crate) fn pass(&self, level: Level, message: &str) {
        write(level, message, 0);
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
}
