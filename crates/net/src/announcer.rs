//! An announcer: what tells the fleet that a broker is there.

use std::sync::Arc;

use imqueue_udp_core::Announcement;

use crate::hub::{Command, Lease};
use crate::inbox::{Inbox, Messages, Waker};
use crate::{AnnouncerNotice, Destination, StartError};

/// What to announce, and to whom.
#[derive(Clone, Debug)]
pub struct AnnouncerOptions {
    /// What is said, and how often.
    pub announcement: Announcement,
    /// Where it is sent to. Empty, it is broadcast to port 63000 on every network.
    ///
    /// The limited broadcast address 255.255.255.255, which decides only the port then, leaves
    /// through every interface that is up, except loopback and point-to-point ones; interfaces that
    /// come and go are followed. On a host without any, it reaches the host itself.
    pub destinations: Vec<Destination>,
}

/// Announces one broker, from when it starts until it is stopped or dropped.
#[derive(Debug)]
pub struct Announcer {
    // Before the lease, which may end the hub: the order in which they are dropped.
    inbox: Arc<AnnouncerInbox>,
    lease: Lease,
}

/// Shared between the announcer and the hub.
pub(crate) type AnnouncerInbox = Inbox<Messages<AnnouncerNotice>>;

impl Announcer {
    /// Starts announcing at once, on the hub thread, which is started if this is the process's
    /// first user of it. [`AnnouncerNotice::Announced`] follows.
    ///
    /// # Errors
    ///
    /// The thread could not be started; nothing is announced then.
    pub fn start(options: AnnouncerOptions, waker: Waker) -> Result<Self, StartError> {
        let lease = Lease::take()?;
        let inbox = Arc::new(Inbox::new(waker));
        lease.send(Command::Announce(options, Arc::clone(&inbox)));
        Ok(Self { inbox, lease })
    }

    /// Ends the heartbeats, then says `down` to all destinations. [`AnnouncerNotice::Stopped`]
    /// follows. The `down` is said even if the announcer is dropped right after this.
    pub fn stop(&self) {
        self.lease.send(Command::Stop(Arc::clone(&self.inbox)));
    }

    /// Takes what is new, after which the waker is called again for what follows.
    pub fn take(&self) -> Vec<AnnouncerNotice> {
        self.inbox.take(Messages::take)
    }
}

impl Drop for Announcer {
    /// Ends the heartbeats, if it was not stopped, without a `down`: listeners notice the silence.
    /// When this returns, the waker is not called any more. The process's last user ends the hub
    /// thread, and waits for that.
    fn drop(&mut self) {
        self.inbox.close();
        self.lease.send(Command::Forget(Arc::clone(&self.inbox)));
    }
}
