//! One fleet and those who follow it.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use imqueue_udp_core::{Event, Fleet, Outcome};

use crate::interface::Interfaces;
use crate::listener::{ListenerOptions, Subscriber};
use crate::notice::Notice;
use crate::outlook::Outlook;
use crate::socket::Arrival;
use crate::stats::{Counters, PortCounters, SharedFleetCounters};

/// Drives a [`Fleet`] for all listeners with the same options.
#[derive(Debug)]
pub(crate) struct Tracker {
    options: ListenerOptions,
    fleet: Fleet,
    /// What has not been handed to the subscribers yet.
    events: Vec<Event>,
    subscribers: Vec<Arc<Subscriber>>,
    counters: Arc<SharedFleetCounters>,
    network: Network,
    outlook: Outlook,
}

/// Which datagrams a tracker takes.
#[derive(Debug)]
enum Network {
    Every,
    /// Those of one interface.
    Directed {
        address: Ipv4Addr,
        /// Whether an interface has that network; unknown at first.
        present: Option<bool>,
        /// When to look for it again.
        look_at: Option<Instant>,
    },
}

impl Tracker {
    pub(crate) fn new(options: ListenerOptions, now: Instant) -> Self {
        let network = match options.address {
            Ipv4Addr::BROADCAST | Ipv4Addr::UNSPECIFIED => Network::Every,
            address => Network::Directed {
                address,
                present: None,
                look_at: Some(now),
            },
        };
        Self {
            fleet: Fleet::new(options.fleet.clone(), now),
            options,
            events: Vec::new(),
            subscribers: Vec::new(),
            counters: Arc::default(),
            network,
            outlook: Outlook::new(),
        }
    }

    pub(crate) fn options(&self) -> &ListenerOptions {
        &self.options
    }

    pub(crate) fn subscribers(&self) -> &[Arc<Subscriber>] {
        &self.subscribers
    }

    /// Takes a subscriber in, and tells it of everything that the others know.
    pub(crate) fn subscribe(
        &mut self,
        now: Instant,
        subscriber: Arc<Subscriber>,
        port: &Arc<PortCounters>,
        state: Option<Notice>,
        interfaces: &Interfaces,
    ) {
        // What the others have not been told yet is in the fleet already.
        self.deliver(now);
        let counters = Counters {
            port: Arc::clone(port),
            fleet: Arc::clone(&self.counters),
        };
        // A subscriber subscribes once.
        subscriber.counters.set(counters).ok();
        subscriber.inbox.post(|news| {
            let active = self.fleet.active().cloned().map(Event::Added);
            active.for_each(|event| news.changes.record(&event));
            let mut told = !news.changes.is_empty();
            for notice in state.into_iter().chain(self.network.missing(interfaces)) {
                told |= news.notices.push(now, notice);
            }
            told
        });
        self.subscribers.push(subscriber);
    }

    /// Whether anybody is left.
    pub(crate) fn unsubscribe(&mut self, subscriber: &Arc<Subscriber>) -> bool {
        self.subscribers
            .retain(|other| !Arc::ptr_eq(other, subscriber));
        !self.subscribers.is_empty()
    }

    /// Gives the fleet a datagram, if it came in on the right network, and says whether it is
    /// a valid one.
    pub(crate) fn handle_datagram(
        &mut self,
        now: Instant,
        arrival: &Arrival,
        bytes: &[u8],
        interfaces: &Interfaces,
    ) -> bool {
        self.network.hears(arrival, interfaces)
            && !matches!(
                self.fleet
                    .handle_datagram(now, bytes, arrival.source, &mut self.events),
                Outcome::Rejected(_)
            )
    }

    /// Judges deadlines, looks for the network, and hands over what happened since the last time.
    pub(crate) fn handle_timeout(
        &mut self,
        now: Instant,
        port: &PortCounters,
        interfaces: &mut Interfaces,
    ) {
        if self.fleet.poll_timeout().is_some_and(|at| at <= now) {
            self.fleet.handle_timeout(now, &mut self.events);
        }
        if let Some(notice) = self.network.look(now, interfaces) {
            self.notify(now, &notice);
        }
        // First the counters: who is called sees them as they are now.
        self.counters.write(self.fleet.counters());
        self.events
            .iter()
            .for_each(|event| self.outlook.record(event));
        self.deliver(now);
        self.look_out(now, port);
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.fleet
            .poll_timeout()
            .into_iter()
            .chain(self.network.poll_timeout())
            .chain(self.outlook.poll_timeout())
            .min()
    }

    pub(crate) fn notify(&self, now: Instant, notice: &Notice) {
        for subscriber in &self.subscribers {
            subscriber
                .inbox
                .post(|news| news.notices.push(now, notice.clone()));
        }
    }

    fn look_out(&mut self, now: Instant, port: &PortCounters) {
        let bound = port.bound.get();
        if bound.is_some() {
            self.outlook.listening(now);
        }
        let number = bound.unwrap_or(self.options.port);
        let datagrams = port.datagrams.get();
        let counters = self.fleet.counters();
        if let Some(notice) = self
            .outlook
            .handle_timeout(now, number, datagrams, counters)
        {
            self.notify(now, &notice);
        }
    }

    fn deliver(&mut self, now: Instant) {
        if self.events.is_empty() {
            return;
        }
        for event in &self.events {
            self.outlook.record(event);
        }
        for subscriber in &self.subscribers {
            subscriber.inbox.post(|news| {
                let mut told = false;
                for event in &self.events {
                    news.changes.record(event);
                    if let Event::FleetFull { limit } = *event {
                        told |= news.notices.push(
                            now,
                            Notice::FleetFull {
                                limit,
                                held_back: 0,
                            },
                        );
                    }
                }
                told || !news.changes.is_empty()
            });
        }
        self.events.clear();
    }
}

impl Network {
    /// How often a network that is not there is looked for.
    const LOOK: Duration = Duration::from_secs(1);

    fn hears(&self, arrival: &Arrival, interfaces: &Interfaces) -> bool {
        match *self {
            Self::Every => true,
            Self::Directed { address, .. } => interfaces.hears(address, arrival),
        }
    }

    /// Tells when the network has come or gone.
    fn look(&mut self, now: Instant, interfaces: &mut Interfaces) -> Option<Notice> {
        let Self::Directed {
            address,
            present,
            look_at,
        } = self
        else {
            return None;
        };
        if look_at.is_some_and(|at| at <= now) {
            interfaces.refresh(now, Self::LOOK);
        }
        let found = interfaces.with_network(*address).next();
        *look_at = match (found, *look_at) {
            (Some(_), _) => None,
            (None, Some(at)) if at > now => Some(at),
            (None, _) => Some(now + Self::LOOK),
        };
        let before = present.replace(found.is_some());
        match found {
            Some(interface) if before == Some(false) => Some(Notice::InterfaceFound {
                address: *address,
                interface: interface.name.clone(),
            }),
            None if before != Some(false) => self.missing(interfaces),
            Some(_) | None => None,
        }
    }

    /// What to say as long as no interface has the network.
    fn missing(&self, interfaces: &Interfaces) -> Option<Notice> {
        match *self {
            Self::Directed {
                address,
                present: Some(false),
                ..
            } => Some(Notice::InterfaceMissing {
                address,
                present: interfaces.describe(),
            }),
            Self::Directed { .. } | Self::Every => None,
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Self::Directed { look_at, .. } => *look_at,
            Self::Every => None,
        }
    }
}
