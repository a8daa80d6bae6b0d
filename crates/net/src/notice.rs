//! What an operator should know.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use std::time::Duration;

use imqueue_udp_core::{MAX_INTERVAL, RemovalReason, Server};

use crate::inbox::Repeating;

pub use self::announcer::AnnouncerNotice;

mod announcer;

/// How much a notice matters.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Level {
    /// As it should be.
    Info,
    /// It works, but not as it should.
    Warn,
    /// Something does not work until somebody acts.
    Error,
}

impl Level {
    /// The name of a logger's method: `info`, `warn` or `error`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Info => "info",
            Self::Warn => "warn",
        }
    }
}

/// What a [`Listener`](crate::Listener) tells its operator. Whatever happened, it goes on by itself.
///
/// The text says what happened, to which value, and what to do. Notices with a `held_back` come at
/// most once a minute; it counts those of the kind that were not told since the last one. The others
/// tell of a new state, and come each time.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Notice {
    /// The port could not be bound. It is tried again, with a growing pause.
    BindFailed {
        /// The port that was asked for.
        port: u16,
        /// What the system said.
        error: Arc<io::Error>,
        /// How long until the next attempt.
        retry_in: Duration,
        /// How many of these were not told.
        held_back: u64,
    },
    /// There is no broker any more: this was the last one, and why it went.
    FleetEmpty(Arc<Server>, RemovalReason),
    /// There is a broker, after there was none: this one.
    FleetFound(Arc<Server>),
    /// There are more brokers than the fleet may have; unknown ones are ignored.
    FleetFull {
        /// The `max_servers` that was reached.
        limit: usize,
        /// How many of these were not told.
        held_back: u64,
    },
    /// A broker leaves by its own word and comes back, again and again: it does so, or somebody else
    /// says that it leaves.
    Flapping {
        /// The broker, which is back.
        server: Arc<Server>,
        /// Where its last `down` came from.
        down_from: SocketAddrV4,
        /// How many of these were not told.
        held_back: u64,
    },
    /// The network that was waited for is there.
    InterfaceFound {
        /// The directed broadcast address that was asked for.
        address: Ipv4Addr,
        /// The name of the interface with that network.
        interface: String,
    },
    /// No interface has the network that was asked for; it is waited for.
    InterfaceMissing {
        /// The directed broadcast address that was asked for.
        address: Ipv4Addr,
        /// The broadcast addresses that there are, each with the name of its interface.
        present: Vec<String>,
    },
    /// The port is bound; brokers are heard from now on.
    Listening(SocketAddrV4),
    /// A broker announces itself once a day or less often: if it crashes, it is missed that late.
    LongInterval {
        /// The broker.
        server: Arc<Server>,
        /// How many of these were not told.
        held_back: u64,
    },
    /// No broker was heard since the port was bound.
    NothingHeard {
        /// The port that is listened on.
        port: u16,
        /// How long ago it was bound.
        after: Duration,
        /// How many datagrams came in on it.
        datagrams: u64,
        /// How many of them could not be read.
        rejected: u64,
        /// How many of them were announcements that changed nothing.
        ignored: u64,
    },
    /// There is a bug in this program: the hub thread panicked, and was restarted with its fleet.
    Panicked {
        /// What the panic said.
        message: Arc<str>,
        /// How many of these were not told.
        held_back: u64,
    },
    /// The socket failed to receive. Once it fails repeatedly, it is opened anew.
    ReceiveFailed {
        /// The port it listens on.
        port: u16,
        /// What the system said.
        error: Arc<io::Error>,
        /// How long until it is opened anew, if it is.
        reopen_in: Option<Duration>,
        /// How many of these were not told.
        held_back: u64,
    },
    /// A unicast announcement could not be sent on to the other processes of this host.
    RelayFailed {
        /// The port they listen on.
        port: u16,
        /// What the system said.
        error: Arc<io::Error>,
        /// How many of these were not told.
        held_back: u64,
    },
}

impl Notice {
    /// How much it matters.
    pub const fn level(&self) -> Level {
        match self {
            Self::BindFailed { .. } | Self::Panicked { .. } => Level::Error,
            Self::FleetFound(_) | Self::InterfaceFound { .. } | Self::Listening(_) => Level::Info,
            Self::FleetEmpty(..)
            | Self::FleetFull { .. }
            | Self::Flapping { .. }
            | Self::InterfaceMissing { .. }
            | Self::LongInterval { .. }
            | Self::NothingHeard { .. }
            | Self::ReceiveFailed { .. }
            | Self::RelayFailed { .. } => Level::Warn,
        }
    }

    /// A stable word for the kind of notice.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::BindFailed { .. } => "bindFailed",
            Self::FleetEmpty(..) => "fleetEmpty",
            Self::FleetFound(_) => "fleetFound",
            Self::FleetFull { .. } => "fleetFull",
            Self::Flapping { .. } => "flapping",
            Self::InterfaceFound { .. } => "interfaceFound",
            Self::InterfaceMissing { .. } => "interfaceMissing",
            Self::Listening(_) => "listening",
            Self::LongInterval { .. } => "longInterval",
            Self::NothingHeard { .. } => "nothingHeard",
            Self::Panicked { .. } => "panicked",
            Self::ReceiveFailed { .. } => "receiveFailed",
            Self::RelayFailed { .. } => "relayFailed",
        }
    }
}

impl Repeating for Notice {
    fn code(&self) -> &'static str {
        self.code()
    }

    fn held_back(&mut self) -> Option<&mut u64> {
        match self {
            Self::BindFailed { held_back, .. }
            | Self::FleetFull { held_back, .. }
            | Self::Flapping { held_back, .. }
            | Self::LongInterval { held_back, .. }
            | Self::Panicked { held_back, .. }
            | Self::ReceiveFailed { held_back, .. }
            | Self::RelayFailed { held_back, .. } => Some(held_back),
            Self::FleetEmpty(..)
            | Self::FleetFound(_)
            | Self::InterfaceFound { .. }
            | Self::InterfaceMissing { .. }
            | Self::Listening(_)
            | Self::NothingHeard { .. } => None,
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BindFailed {
                port,
                error,
                retry_in,
                held_back,
            } => {
                write!(
                    f,
                    "cannot listen on UDP port {port}: {error}{}",
                    Owner(*port, error)
                )?;
                write!(f, "; trying again in {retry_in:?}{}", HeldBack(*held_back))
            }
            Self::FleetEmpty(last, reason) => {
                let why = match reason {
                    RemovalReason::Down => "said that it leaves",
                    RemovalReason::Expired => "fell silent",
                };
                write!(f, "no broker is left: the last one, {}, {why}; ", At(last))?;
                write!(f, "messages wait until one announces itself")
            }
            Self::FleetFound(first) => write!(f, "there is a broker: {}", At(first)),
            Self::FleetFull { limit, held_back } => {
                write!(
                    f,
                    "the fleet has {limit} brokers, as many as maxServers allows: further "
                )?;
                write!(
                    f,
                    "ones are ignored; raise it if they belong here{}",
                    HeldBack(*held_back)
                )
            }
            Self::Flapping {
                server,
                down_from,
                held_back,
            } => {
                write!(f, "{} keeps leaving and coming back: ", At(server))?;
                write!(
                    f,
                    "its last down came from {down_from}; if that is not the "
                )?;
                write!(
                    f,
                    "broker's host, somebody forges it{}",
                    HeldBack(*held_back)
                )
            }
            Self::InterfaceFound { address, interface } => {
                write!(f, "listening to {address} on interface {interface}")
            }
            Self::InterfaceMissing { address, present } => {
                write!(
                    f,
                    "no interface has the network of address {address}: waiting for it; "
                )?;
                write!(f, "there are {}", present.join(", "))
            }
            Self::Listening(address) => write!(f, "listening on UDP {address}"),
            Self::LongInterval { server, held_back } => {
                write!(
                    f,
                    "{} announces itself once in {MAX_INTERVAL:?} ",
                    At(server)
                )?;
                write!(
                    f,
                    "or less often, which counts as that: if it crashes, it is "
                )?;
                write!(f, "missed that late{}", HeldBack(*held_back))
            }
            Self::NothingHeard {
                port,
                after,
                datagrams,
                rejected,
                ignored,
            } => {
                write!(
                    f,
                    "no broker was heard on UDP 0.0.0.0:{port} within {after:?}: "
                )?;
                write!(
                    f,
                    "{datagrams} datagrams came, {rejected} of them were no announcements "
                )?;
                write!(f, "and {ignored} were ignored. ")?;
                f.write_str(likely_cause(*datagrams, *rejected, *ignored))
            }
            Self::Panicked { message, held_back } => fmt_panic(f, message, *held_back),
            Self::ReceiveFailed {
                port,
                error,
                reopen_in,
                held_back,
            } => {
                write!(f, "receiving on UDP port {port} failed: {error}")?;
                if let Some(pause) = reopen_in {
                    write!(f, "; opening the socket anew in {pause:?}")?;
                }
                HeldBack(*held_back).fmt(f)
            }
            Self::RelayFailed {
                port,
                error,
                held_back,
            } => {
                write!(
                    f,
                    "an announcement was not sent on to 127.255.255.255:{port}, for other "
                )?;
                write!(f, "processes of this host: {error}{}", HeldBack(*held_back))
            }
        }
    }
}

/// A broker as an operator would look for it.
struct At<'a>(&'a Server);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(server) = self;
        write!(
            f,
            "{} at {}:{}, heard from {}",
            server.name,
            server.host,
            server.port,
            server.source()
        )
    }
}

/// Where to look first when no broker is heard.
fn likely_cause(datagrams: u64, rejected: u64, ignored: u64) -> &'static str {
    if datagrams == 0 {
        "Do the brokers announce, to this port, and does broadcast reach this network (it does not \
         cross subnets and most cloud networks)? Does a firewall drop UDP?"
    } else if rejected == datagrams {
        "Something else sends to this port: see stats().rejected."
    } else if ignored == 0 {
        "What could be read came in on other networks than the one that the option address names."
    } else {
        "See stats().ignored: the options name and maxServers leave brokers out."
    }
}

/// What there is to say of a panic, to whoever is concerned.
fn fmt_panic(f: &mut fmt::Formatter<'_>, message: &str, held_back: u64) -> fmt::Result {
    f.write_str("the UDP thread panicked and was restarted, please report this: ")?;
    write!(f, "{message}{}", HeldBack(held_back))
}

/// The end of a message that stands for others too.
struct HeldBack(u64);

impl fmt::Display for HeldBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            1 => f.write_str(" (and once more since the last such message)"),
            count => write!(f, " (and {count} times more since the last such message)"),
        }
    }
}

/// What keeps a port from being bound, and how to find it, where the error says that somebody does.
struct Owner<'a>(u16, &'a io::Error);

impl fmt::Display for Owner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(port, error) = self;
        if error.kind() != io::ErrorKind::AddrInUse {
            return Ok(());
        }
        f.write_str("; another program holds it for itself, find it with: ")?;
        if cfg!(target_os = "linux") {
            write!(f, "ss -ulpn 'sport = :{port}'")
        } else if cfg!(windows) {
            write!(f, "netstat -ano -p UDP | findstr :{port}")
        } else {
            write!(f, "lsof -nP -iUDP:{port}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_bind_says_what_to_do() {
        let notice = Notice::BindFailed {
            port: 63_000,
            error: Arc::new(io::ErrorKind::AddrInUse.into()),
            retry_in: Duration::from_millis(250),
            held_back: 2,
        };
        let text = notice.to_string();
        assert!(
            text.starts_with("cannot listen on UDP port 63000: "),
            "{text}"
        );
        assert!(text.contains("another program holds it"), "{text}");
        assert!(
            text.contains("; trying again in 250ms (and 2 times more since"),
            "{text}"
        );
        assert_eq!(
            (notice.level(), notice.code()),
            (Level::Error, "bindFailed")
        );
    }

    #[test]
    fn silence_says_where_to_look() {
        let text = |datagrams, rejected, ignored| {
            let (port, after) = (63_000, Duration::from_secs(15));
            Notice::NothingHeard {
                port,
                after,
                datagrams,
                rejected,
                ignored,
            }
            .to_string()
        };
        assert!(text(0, 0, 0).contains("firewall"));
        assert!(text(3, 3, 0).contains("stats().rejected"));
        assert!(text(3, 1, 0).contains("other networks"));
        assert!(text(3, 1, 2).contains("stats().ignored"));
    }

    #[test]
    fn a_missing_interface_says_which_there_are() {
        let notice = Notice::InterfaceMissing {
            address: Ipv4Addr::new(10, 0, 1, 255),
            present: vec!["127.255.255.255 (lo)".into(), "192.0.2.255 (eth0)".into()],
        };
        let text = notice.to_string();
        assert!(
            text.ends_with("there are 127.255.255.255 (lo), 192.0.2.255 (eth0)"),
            "{text}"
        );
        assert!(text.contains("10.0.1.255"), "{text}");
    }
}
