//! What can be wrong with the API.

use std::fmt;
use std::mem::{self, Discriminant};
use std::time::Duration;

use thiserror::Error;

use imqueue_udp_net::Level;

/// Why the pods cannot be followed at present.
#[derive(Clone, Debug, Error)]
pub(crate) enum Failure {
    /// Not in a cluster, or without a readable service account.
    #[error("the service account cannot be read: {0}")]
    Account(String),
    /// No connection, one that is not trusted, or one that broke.
    #[error("the Kubernetes API cannot be reached: {0}")]
    Unreachable(String),
    #[error("the Kubernetes API did not answer within {0:?}")]
    TimedOut(Duration),
    /// The connection of a watch, which the API ends after a time, did not end.
    #[error("the Kubernetes API fell silent in the middle of a watch")]
    Mute,
    #[error("the Kubernetes API does not accept the token of {account}: {message}")]
    Unauthorized { account: String, message: String },
    #[error(
        "{account} may not {verb} pods in namespace {namespace}: grant it the verb {verb} on the \
         resource pods there, by a Role and a RoleBinding ({message})"
    )]
    Forbidden {
        verb: Verb,
        account: String,
        namespace: String,
        message: String,
    },
    /// The version to watch from, or the rest of a list, has been forgotten (410).
    #[error("the Kubernetes API forgets a list before it is used: {0}")]
    Expired(String),
    #[error("the Kubernetes API answers {code}: {message}")]
    Status {
        code: u16,
        message: String,
        /// How long it asks not to be asked again.
        retry_after: Option<Duration>,
    },
    #[error("the Kubernetes API answers nonsense: {0}")]
    Nonsense(String),
    /// Whoever asks is mostly a pod there: something may be wrong with namespace or selector.
    #[error("there is no pod with an address in {0}")]
    Empty(String),
}

/// What permissions are granted for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verb {
    List,
    Watch,
}

/// Tells failures apart of which one line a minute is enough.
pub(crate) type Cause = (Discriminant<Failure>, u16);

impl Failure {
    /// An answer with a code that has no meaning of its own.
    pub(crate) fn status(code: u16, message: String, retry_after: Option<Duration>) -> Self {
        match code {
            410 => Self::Expired(message),
            _ => Self::Status {
                code,
                message,
                retry_after,
            },
        }
    }

    pub(crate) fn cause(&self) -> Cause {
        let code = match self {
            Self::Status { code, .. } => *code,
            _ => 0,
        };
        (mem::discriminant(self), code)
    }

    pub(crate) const fn level(&self) -> Level {
        match self {
            Self::Account(_) | Self::Unauthorized { .. } | Self::Forbidden { .. } => Level::Error,
            _ => Level::Warn,
        }
    }

    /// How long the API asks not to be asked again.
    pub(crate) const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// Whether a watch may go on where it was, since nothing speaks against its version.
    pub(crate) const fn spares_version(&self) -> bool {
        match self {
            Self::Account(_)
            | Self::Unreachable(_)
            | Self::TimedOut(_)
            | Self::Mute
            | Self::Unauthorized { .. }
            | Self::Status { code: 429, .. } => true,
            Self::Forbidden { .. }
            | Self::Expired(_)
            | Self::Status { .. }
            | Self::Nonsense(_)
            | Self::Empty(_) => false,
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::List => "list",
            Self::Watch => "watch",
        })
    }
}

/// The beginning of a text, on one line.
pub(crate) fn excerpt(text: &str, most: usize) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ").chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_short_line() {
        assert_eq!(excerpt(" <html>\n  <body>\t502", 100), "<html> <body> 502");
        assert_eq!(excerpt(&"é".repeat(500), 120).chars().count(), 120);
    }
}
