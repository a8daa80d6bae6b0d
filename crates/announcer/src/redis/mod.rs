//! The Redis that is announced: where it is, how it is asked, and what its answers mean.

use std::fmt;
use std::fs;
use std::io;
use std::path::PathBuf;

mod address;
mod answer;
mod connection;
mod health;
mod probe;
mod resp;
mod tls;

pub(crate) use address::{Address, Place, host_and_port};
pub(crate) use health::{Health, Reason, Run, Verdict};
pub(crate) use probe::Probe;
pub(crate) use tls::{Tls, TlsFiles};

/// How to reach a Redis.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) place: Place,
    /// `None`: in the clear.
    pub(crate) tls: Option<Tls>,
    pub(crate) login: Login,
}

/// As whom to log in. Without a password, not at all.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Login {
    /// `None`: the user `default`.
    pub(crate) user: Option<String>,
    pub(crate) password: Option<Password>,
}

/// A password, or where it is: such a file may change while this program runs.
#[derive(Clone, Eq, PartialEq)]
pub(crate) enum Password {
    Text(String),
    File(PathBuf),
}

impl Password {
    /// What it is at present. Line breaks at the end of a file do not belong to it.
    pub(crate) fn read(&self) -> io::Result<String> {
        match self {
            Self::Text(text) => Ok(text.clone()),
            Self::File(path) => {
                let text = fs::read_to_string(path)?;
                Ok(text.trim_end_matches(['\r', '\n']).to_owned())
            }
        }
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text(_) => "***",
            Self::File(_) => "*** in a file",
        })
    }
}
