//! An announcer: what tells the fleet that a broker is there.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Instant;

use imqueue_udp_core::Announcement;

use crate::hub::{Command, Lease};
use crate::inbox::{Inbox, Messages, Waker};
use crate::stats::AnnouncerCounters;
use crate::{AnnouncerNotice, AnnouncerStats, Destination, StartError};

/// What to announce, and to whom.
#[derive(Clone, Debug)]
pub struct AnnouncerOptions {
    /// What is said, and how often.
    pub announcement: Announcement,
    /// Where it is sent to. Empty, it is said to nobody, until [`Announcer::redirect`].
    ///
    /// The limited broadcast address 255.255.255.255, as in [`Destination::BROADCAST`], leaves
    /// through every interface that is up, except loopback and point-to-point ones; interfaces that
    /// come and go are followed. On a host without any, it reaches the host itself.
    pub destinations: Vec<Destination>,
    /// Limited broadcasts leave only through the interface that has this address. While there is
    /// none, sending fails. `None`: through every one.
    pub interface: Option<Ipv4Addr>,
}

/// Announces one broker, from when it starts until it is stopped or dropped.
#[derive(Debug)]
pub struct Announcer {
    // Before the lease, which may end the hub: the order in which they are dropped.
    owner: Arc<Owner>,
    lease: Lease,
}

/// The hub's side of whoever started an announcer.
#[derive(Debug)]
pub(crate) struct Owner {
    pub(crate) inbox: Inbox<Messages<AnnouncerNotice>>,
    pub(crate) counters: AnnouncerCounters,
}

impl Owner {
    pub(crate) fn new(waker: Waker) -> Self {
        Self {
            inbox: Inbox::new(waker),
            counters: AnnouncerCounters::default(),
        }
    }
}

impl Announcer {
    /// Starts announcing at once, on the hub thread, which is started if this is the process's
    /// first user of it. [`AnnouncerNotice::Announced`] follows.
    ///
    /// # Errors
    ///
    /// The thread could not be started; nothing is announced then.
    pub fn start(options: AnnouncerOptions, waker: Waker) -> Result<Self, StartError> {
        let lease = Lease::take()?;
        let owner = Arc::new(Owner::new(waker));
        lease.send(Command::Announce(options, Arc::clone(&owner)));
        Ok(Self { owner, lease })
    }

    /// Ends the heartbeats, then says `down` to all destinations, three times.
    /// [`AnnouncerNotice::Stopped`] follows. The `down` is said even if the announcer is dropped
    /// right after this.
    pub fn stop(&self) {
        self.lease
            .send(Command::Stop(Arc::clone(&self.owner), None));
    }

    /// Like [`stop`](Self::stop), for whoever wants to be gone by `end`: all destinations are told
    /// once, however long that takes, and again only as long as it is likely to end before `end`.
    pub fn stop_by(&self, end: Instant) {
        let owner = Arc::clone(&self.owner);
        self.lease.send(Command::Stop(owner, Some(end)));
    }

    /// Sends to these destinations from now on. Those that were not among the former ones hear at
    /// once; the others go on as before. The last `down` goes to the latest destinations only.
    pub fn redirect(&self, destinations: Vec<Destination>) {
        self.lease
            .send(Command::Redirect(Arc::clone(&self.owner), destinations));
    }

    /// What has been sent so far.
    pub fn stats(&self) -> AnnouncerStats {
        self.owner.counters.read()
    }

    /// Takes what is new, after which the waker is called again for what follows.
    pub fn take(&self) -> Vec<AnnouncerNotice> {
        self.owner.inbox.take(Messages::take)
    }
}

impl Drop for Announcer {
    /// Ends the heartbeats, if it was not stopped, without a `down`: listeners notice the silence.
    /// When this returns, the waker is not called any more. The process's last user ends the hub
    /// thread, and waits for that.
    fn drop(&mut self) {
        self.owner.inbox.close();
        self.lease.send(Command::Forget(Arc::clone(&self.owner)));
    }
}
