//! Host names of destinations, and what they stand for.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::net::lookup_host;
use tokio::sync::mpsc::WeakUnboundedSender;

use crate::announcer::Owner;
use crate::hub::Command;

/// A name and a port, by which what it stands for is found again.
pub(crate) type NameKey = (Box<str>, u16);

/// A name, and the addresses that it had when it could last be looked up.
#[derive(Debug)]
pub(crate) struct Name {
    key: NameKey,
    addresses: Vec<SocketAddr>,
    /// Why the last lookup failed.
    error: Option<Arc<io::Error>>,
    lookup: Lookup,
}

#[derive(Debug)]
enum Lookup {
    Due(Instant),
    First,
    Running,
}

impl Name {
    /// How long addresses are used before they are looked up again.
    const FRESH: Duration = Duration::from_secs(30);

    /// How long to wait after a failure.
    const RETRY: Duration = Duration::from_secs(5);

    pub(crate) fn new(key: NameKey) -> Self {
        Self {
            key,
            addresses: Vec::new(),
            error: None,
            lookup: Lookup::First,
        }
    }

    pub(crate) fn key(&self) -> &NameKey {
        &self.key
    }

    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Why there are no addresses, if the name was looked up.
    pub(crate) fn failure(&self) -> Option<&Arc<io::Error>> {
        self.error.as_ref().filter(|_| self.addresses.is_empty())
    }

    /// Whether it has to be looked up now, which is taken to happen then.
    pub(crate) fn start_lookup(&mut self, now: Instant) -> bool {
        let start = match self.lookup {
            Lookup::Due(at) => at <= now,
            Lookup::First => true,
            Lookup::Running => false,
        };
        if start {
            self.lookup = Lookup::Running;
        }
        start
    }

    /// Takes the result, and returns the addresses that are new. A failure keeps the former ones.
    pub(crate) fn resolved(
        &mut self,
        now: Instant,
        result: io::Result<Vec<SocketAddr>>,
    ) -> Vec<SocketAddr> {
        let (pause, new) = match result.and_then(choose) {
            Ok(addresses) => {
                let known = |address: &SocketAddr| self.addresses.contains(address);
                let new = addresses
                    .iter()
                    .copied()
                    .filter(|address| !known(address))
                    .collect();
                (self.addresses, self.error) = (addresses, None);
                (Self::FRESH, new)
            }
            Err(error) => {
                self.error = Some(Arc::new(error));
                (Self::RETRY, Vec::new())
            }
        };
        self.lookup = Lookup::Due(now + pause);
        new
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (host, port) = &self.key;
        write!(f, "{host}:{port}")
    }
}

/// Looks names up beside the hub thread, which is told by a command.
#[derive(Debug)]
pub(crate) struct Lookups {
    /// Weak, since a lookup must not keep the hub running.
    commands: WeakUnboundedSender<Command>,
}

impl Lookups {
    pub(crate) fn new(commands: WeakUnboundedSender<Command>) -> Self {
        Self { commands }
    }

    /// Looks up a name among the destinations of somebody's announcer.
    pub(crate) fn start(&self, owner: &Arc<Owner>, name: &Name) {
        let (commands, owner) = (self.commands.clone(), Arc::clone(owner));
        let key = name.key.clone();
        tokio::spawn(async move {
            let result = lookup_host((&*key.0, key.1)).await.map(Iterator::collect);
            if let Some(commands) = commands.upgrade() {
                commands.send(Command::Resolved(owner, key, result)).ok();
            }
        });
    }
}

/// The addresses to use: listeners have IPv4 ones, others are of use only where there is none.
fn choose(mut addresses: Vec<SocketAddr>) -> io::Result<Vec<SocketAddr>> {
    if addresses.iter().any(SocketAddr::is_ipv4) {
        addresses.retain(SocketAddr::is_ipv4);
    }
    if addresses.is_empty() {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            "the name has no address",
        ));
    }
    Ok(addresses)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(texts: &[&str]) -> Vec<SocketAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn name() -> Name {
        Name::new(("workers".into(), 1))
    }

    #[test]
    fn is_looked_up_at_first_and_when_it_is_no_longer_fresh() {
        let (mut name, start) = (name(), Instant::now());
        assert!(name.start_lookup(start));
        assert!(!name.start_lookup(start));

        let pods = addresses(&["10.0.0.1:1", "10.0.0.2:1"]);
        assert_eq!(name.resolved(start, Ok(pods.clone())), pods);
        assert!(!name.start_lookup(start + Name::FRESH - Duration::from_millis(1)));
        assert!(name.start_lookup(start + Name::FRESH));

        let pods = addresses(&["10.0.0.2:1", "10.0.0.3:1"]);
        assert_eq!(name.resolved(start, Ok(pods.clone())), pods[1..]);
        assert_eq!(name.addresses(), pods);
    }

    #[test]
    fn a_failure_keeps_the_addresses_and_is_tried_again_soon() {
        let (mut name, start) = (name(), Instant::now());
        name.resolved(start, Err(io::ErrorKind::TimedOut.into()));
        assert_eq!(name.failure().unwrap().kind(), io::ErrorKind::TimedOut);

        let pods = addresses(&["10.0.0.1:1"]);
        name.resolved(start, Ok(pods.clone()));
        assert!(name.failure().is_none());

        name.resolved(start, Err(io::ErrorKind::TimedOut.into()));
        assert!(name.failure().is_none());
        assert_eq!(name.addresses(), pods);
        assert!(name.start_lookup(start + Name::RETRY));
    }

    #[test]
    fn prefers_ipv4() {
        let both = addresses(&["[::1]:1", "127.0.0.1:1"]);
        assert_eq!(choose(both).unwrap(), addresses(&["127.0.0.1:1"]));
        let only = addresses(&["[::1]:1"]);
        assert_eq!(choose(only.clone()).unwrap(), only);
        assert!(choose(Vec::new()).is_err());
    }
}
