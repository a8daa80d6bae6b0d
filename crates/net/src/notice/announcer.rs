//! What the owner of an announcer should know.

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::inbox::Repeating;

use super::{HeldBack, Level, fmt_panic};

/// What an [`Announcer`](crate::Announcer) tells its owner. Until it is stopped it goes on by itself.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnnouncerNotice {
    /// The first heartbeat is on the wire.
    Announced,
    /// There is a bug in this program: the hub thread panicked, and was restarted with all that it
    /// announces.
    Panicked {
        /// What the panic said.
        message: Arc<str>,
        /// How many of these were not told.
        held_back: u64,
    },
    /// Nothing has failed in the last round.
    Recovered,
    /// A datagram could not be sent; the other destinations are not affected, and the next round
    /// tries this one again. Comes at most once a minute.
    SendFailed {
        /// Where it should have gone.
        destination: String,
        /// What the system said.
        error: Arc<io::Error>,
        /// How many of these were not told since the last one.
        held_back: u64,
    },
    /// The `down` is on the wire; nothing follows.
    Stopped,
}

impl AnnouncerNotice {
    /// How much it matters.
    pub const fn level(&self) -> Level {
        match self {
            Self::Announced | Self::Recovered | Self::Stopped => Level::Info,
            Self::Panicked { .. } => Level::Error,
            Self::SendFailed { .. } => Level::Warn,
        }
    }

    /// A stable word for the kind of notice: `announced`, `failed`, `panicked`, `recovered` or
    /// `stopped`.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Announced => "announced",
            Self::Panicked { .. } => "panicked",
            Self::Recovered => "recovered",
            Self::SendFailed { .. } => "failed",
            Self::Stopped => "stopped",
        }
    }
}

impl Repeating for AnnouncerNotice {
    fn code(&self) -> &'static str {
        self.code()
    }

    fn held_back(&mut self) -> Option<&mut u64> {
        match self {
            Self::Panicked { held_back, .. } | Self::SendFailed { held_back, .. } => {
                Some(held_back)
            }
            Self::Announced | Self::Recovered | Self::Stopped => None,
        }
    }
}

impl fmt::Display for AnnouncerNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Announced => f.write_str("announced"),
            Self::Panicked { message, held_back } => fmt_panic(f, message, *held_back),
            Self::Recovered => f.write_str("announcing works again"),
            Self::SendFailed {
                destination,
                error,
                held_back,
            } => write!(
                f,
                "announcing to {destination} failed: {error}; trying again{}",
                HeldBack(*held_back),
            ),
            Self::Stopped => f.write_str("stopped announcing"),
        }
    }
}
