//! A subscription to the fleet.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::{Arc, OnceLock};

use imqueue_udp_core::{Change, Changes, FleetConfig};

use crate::destination::DEFAULT_PORT;
use crate::hub::{Command, Lease};
use crate::inbox::{Inbox, Messages, Waker};
use crate::ports::Ports;
use crate::stats::Counters;
use crate::{ListenerStats, Notice, StartError};

/// What to listen to. Listeners with equal options share a tracker, those on one port a socket.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct ListenerOptions {
    /// The UDP port, 63000 by default. With 0 the system chooses one, the same for all listeners
    /// of the process that ask for 0.
    pub port: u16,
    /// 255.255.255.255, the default, or 0.0.0.0 is every interface. A directed broadcast address,
    /// such as 10.0.1.255, is the interface with that network: announcements from elsewhere are
    /// ignored. It does not have to be there yet.
    pub address: Ipv4Addr,
    /// Whether unicast announcements, which the system gives to one process only, are sent on to
    /// the other processes of this host; true by default.
    pub relay: bool,
    /// How the fleet is judged.
    pub fleet: FleetConfig,
}

impl Default for ListenerOptions {
    fn default() -> Self {
        Self {
            port: DEFAULT_PORT,
            address: Ipv4Addr::BROADCAST,
            relay: true,
            fleet: FleetConfig::default(),
        }
    }
}

/// One subscription: learns which brokers come, restart and go, from when it starts until it is
/// dropped.
///
/// Nothing that happens to the socket ends it: failures become [`Notice`]s, and are overcome as
/// soon as they can be.
#[derive(Debug)]
pub struct Listener {
    // Before the lease, which may end the hub: the order in which they are dropped.
    subscriber: Arc<Subscriber>,
    lease: Lease,
}

impl Listener {
    /// Subscribes, and starts the hub thread if this is the process's first user of it.
    ///
    /// Brokers that are known already, because another listener has equal options, are the first
    /// news. Until a [`Notice::Listening`] is among them, the port is not bound.
    ///
    /// # Errors
    ///
    /// The thread could not be started; there is no subscription then.
    pub fn start(options: ListenerOptions, waker: Waker) -> Result<Self, StartError> {
        let lease = Lease::take()?;
        let subscriber = Arc::new(Subscriber::new(waker));
        let command = Command::Subscribe(options, Arc::clone(&subscriber), Ports::boxed);
        lease.send(command);
        Ok(Self { subscriber, lease })
    }

    /// Takes what is new, after which the waker is called again for what follows.
    pub fn take(&self) -> Batch {
        self.subscriber.inbox.take(|news| Batch {
            changes: news.changes.take(),
            notices: news.notices.take(),
        })
    }

    /// The address that is listened on, while the port is bound.
    pub fn local_addr(&self) -> Option<SocketAddrV4> {
        let port = self.subscriber.counters.get()?.port.bound.get()?;
        Some(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port))
    }

    /// What has been seen so far. Counters of the port, and those of the fleet where options are
    /// equal, are shared with other listeners and may have begun before this one.
    pub fn stats(&self) -> ListenerStats {
        self.subscriber
            .counters
            .get()
            .map(Counters::read)
            .unwrap_or_default()
    }
}

impl Drop for Listener {
    /// Unsubscribes: when this returns, the waker is not called any more. The process's last user
    /// ends the hub thread, and waits for that.
    fn drop(&mut self) {
        self.subscriber.inbox.close();
        self.lease
            .send(Command::Unsubscribe(Arc::clone(&self.subscriber)));
    }
}

/// What a listener has not been told before.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Batch {
    /// How the fleet differs from what was last told: removes, then updates, then adds.
    pub changes: Vec<Change>,
    /// What an operator should know, one of each kind at most.
    pub notices: Vec<Notice>,
}

/// The hub's side of a listener.
#[derive(Debug)]
pub(crate) struct Subscriber {
    pub(crate) inbox: Inbox<News>,
    /// Set once the hub has taken the subscription up.
    pub(crate) counters: OnceLock<Counters>,
}

#[derive(Debug, Default)]
pub(crate) struct News {
    pub(crate) changes: Changes,
    pub(crate) notices: Messages<Notice>,
}

impl Subscriber {
    pub(crate) fn new(waker: Waker) -> Self {
        Self {
            inbox: Inbox::new(waker),
            counters: OnceLock::new(),
        }
    }
}
