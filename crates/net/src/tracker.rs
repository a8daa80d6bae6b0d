//! One fleet and those who follow it.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use imqueue_udp_core::{Event, Fleet, MAX_INTERVAL, Outcome};

use crate::flapping::Flapping;
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
    flapping: Flapping,
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
            flapping: Flapping::default(),
        }
    }

    pub(crate) fn options(&self) -> &ListenerOptions {
        &self.options
    }

    /// The own addresses of which unicasts are heard here and sent on.
    pub(crate) fn relays_from(&self, interfaces: &Interfaces) -> Vec<Ipv4Addr> {
        match self.network {
            _ if !self.options.relay => Vec::new(),
            Network::Every => interfaces.own().collect(),
            Network::Directed { address, .. } => {
                let network = interfaces.with_network(address);
                network.map(|interface| interface.address).collect()
            }
        }
    }

    /// How many endpoints there are.
    pub(crate) fn len(&self) -> usize {
        self.fleet.len()
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
        self.deliver(now, &[]);
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
            let network = self.network.missing(interfaces);
            let outlook = self.outlook.last().cloned();
            for notice in state.into_iter().chain(network).chain(outlook) {
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

    /// Prepares the fleet for datagrams that it is about to be given.
    pub(crate) fn look_ahead<'a>(&self, datagrams: impl Iterator<Item = &'a [u8]>) {
        self.fleet.look_ahead(datagrams);
    }

    /// Gives the fleet a datagram, if it came in on the right network, and says what became of it.
    pub(crate) fn handle_datagram(
        &mut self,
        now: Instant,
        arrival: &Arrival,
        bytes: &[u8],
        interfaces: &Interfaces,
    ) -> Option<Outcome> {
        if !self.network.hears(arrival, interfaces) {
            return None;
        }
        let known = self.events.len();
        let outcome = self
            .fleet
            .handle_datagram(now, bytes, arrival.source, &mut self.events);
        for event in &self.events[known..] {
            self.outlook.record(event);
            if let Some(notice) = self.flapping.record(now, event, arrival.source) {
                self.notify(now, &notice);
            }
        }
        Some(outcome)
    }

    /// Judges deadlines, looks for the network, and hands over what happened since the last time.
    /// Says whether there was anything to hand over.
    pub(crate) fn handle_timeout(
        &mut self,
        now: Instant,
        port: &PortCounters,
        interfaces: &mut Interfaces,
    ) -> bool {
        let mut told = false;
        // Whoever waits for a new broker does not wait for others to be given up as well.
        if self.fleet.poll_timeout().is_some_and(|at| at <= now) {
            self.counters.write(self.fleet.counters());
            told = self.deliver(now, &[]);
            let known = self.events.len();
            self.fleet.handle_timeout(now, &mut self.events);
            self.events[known..]
                .iter()
                .for_each(|event| self.outlook.record(event));
        }
        // First the counters: who is called sees them as they are now.
        self.counters.write(self.fleet.counters());
        let notices = self.network.look(now, interfaces).into_iter();
        let notices: Vec<_> = notices.chain(self.look_out(now, port)).collect();
        self.deliver(now, &notices) || told
    }

    /// Makes room for the next new endpoint, while none is waiting.
    pub(crate) fn make_room(&mut self) {
        self.fleet.make_room();
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

    fn look_out(&mut self, now: Instant, port: &PortCounters) -> Option<Notice> {
        let bound = port.bound.get();
        if bound.is_some() {
            self.outlook.listening(now);
        }
        let number = bound.unwrap_or(self.options.port);
        let datagrams = port.datagrams.get();
        let counters = self.fleet.counters();
        self.outlook
            .handle_timeout(now, number, datagrams, counters)
    }

    /// Hands over what happened, with what there is to say about it: whoever is called for the one
    /// need not be called again for the other. Says whether it was anything.
    fn deliver(&mut self, now: Instant, notices: &[Notice]) -> bool {
        if self.events.is_empty() && notices.is_empty() {
            return false;
        }
        for subscriber in &self.subscribers {
            subscriber.inbox.post(|news| {
                let mut told = false;
                for event in &self.events {
                    news.changes.record(event);
                }
                let remarks = self.events.iter().filter_map(remark);
                for notice in remarks.chain(notices.iter().cloned()) {
                    told |= news.notices.push(now, notice);
                }
                told || !news.changes.is_empty()
            });
        }
        self.events.clear();
        true
    }
}

/// What an operator should know about an event.
fn remark(event: &Event) -> Option<Notice> {
    let held_back = 0;
    match event {
        Event::Added(server) | Event::Updated { server, .. } => (server.interval >= MAX_INTERVAL)
            .then(|| Notice::LongInterval {
                server: Arc::clone(server),
                held_back,
            }),
        Event::FleetFull { limit } => Some(Notice::FleetFull {
            limit: *limit,
            held_back,
        }),
        _ => None,
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

#[cfg(test)]
mod tests {
    use std::net::SocketAddrV4;
    use std::sync::{Mutex, Weak};

    use imqueue_udp_core::Change;

    use super::*;

    const ARRIVAL: Arrival = Arrival {
        source: SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1),
        destination: None,
        interface: None,
    };

    #[test]
    fn relays_from_the_addresses_that_it_hears() {
        let interfaces = Interfaces::example();
        let relays_from = |address: [u8; 4], relay| {
            let options = ListenerOptions {
                address: address.into(),
                relay,
                ..Default::default()
            };
            Tracker::new(options, Instant::now()).relays_from(&interfaces)
        };
        assert_eq!(
            relays_from([255; 4], true),
            Vec::from_iter(interfaces.own())
        );
        assert_eq!(
            relays_from([10, 0, 1, 255], true),
            [Ipv4Addr::new(10, 0, 1, 7)]
        );
        assert!(relays_from([172, 16, 0, 255], true).is_empty());
        assert!(relays_from([255; 4], false).is_empty());
    }

    #[test]
    fn whoever_joins_is_told_how_the_fleet_looks() {
        let now = Instant::now();
        let (port, mut interfaces): (Arc<PortCounters>, _) =
            (Arc::default(), Interfaces::default());
        port.bound.set(Some(1));
        let mut tracker = Tracker::new(ListenerOptions::default(), now);
        tracker.handle_timeout(now, &port, &mut interfaces);
        let later = now + Duration::from_secs(15);
        tracker.handle_timeout(later, &port, &mut interfaces);

        let subscriber = Arc::new(Subscriber::new(Arc::new(|| ())));
        tracker.subscribe(later, Arc::clone(&subscriber), &port, None, &interfaces);
        let notices = subscriber.inbox.take(|news| news.notices.take());
        assert!(matches!(notices[..], [Notice::NothingHeard { .. }]));
    }

    #[test]
    fn a_new_broker_is_told_of_before_others_are_given_up() {
        let (start, port) = (Instant::now(), Arc::default());
        let mut interfaces = Interfaces::default();
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let subscriber = Arc::new_cyclic(|me: &Weak<Subscriber>| {
            let (me, told) = (Weak::clone(me), Arc::clone(&told));
            Subscriber::new(Arc::new(move || {
                let changes = me.upgrade().unwrap().inbox.take(|it| it.changes.take());
                let hosts = changes.iter().map(|change| match change {
                    Change::Added(server) => format!("+{}", server.host),
                    Change::Removed(server, _) => format!("-{}", server.host),
                    other => panic!("{other:?}"),
                });
                told.lock().unwrap().extend(hosts);
            }))
        });
        let mut tracker = Tracker::new(ListenerOptions::default(), start);
        tracker.subscribe(start, subscriber, &port, None, &interfaces);

        let mut now = start;
        for up in [b"n\ta\tup\told:1\t1", b"n\tb\tup\tnew:1\t1"] {
            tracker.handle_datagram(now, &ARRIVAL, up, &interfaces);
            assert!(tracker.handle_timeout(now, &port, &mut interfaces));
            // When the first one has been silent for too long, in a listener that runs.
            for _ in 0..13 {
                now += Duration::from_millis(500);
                tracker
                    .fleet
                    .handle_datagram(now, b"", ARRIVAL.source, &mut Vec::new());
            }
        }
        assert_eq!(*told.lock().unwrap(), ["+old", "+new", "-old"]);
    }

    #[test]
    fn whoever_joins_while_news_wait_does_not_make_them_count_twice() {
        let now = Instant::now();
        let (port, mut interfaces) = (Arc::default(), Interfaces::default());
        let mut tracker = Tracker::new(ListenerOptions::default(), now);
        let subscriber = Arc::new(Subscriber::new(Arc::new(|| ())));

        let up = b"n\ta\tup\th:1\t1";
        assert_eq!(
            tracker.handle_datagram(now, &ARRIVAL, up, &interfaces),
            Some(Outcome::Changed)
        );
        tracker.subscribe(now, Arc::clone(&subscriber), &port, None, &interfaces);
        tracker.handle_timeout(now, &port, &mut interfaces);
        let down = b"n\ta\tdown\th:1";
        assert_eq!(
            tracker.handle_datagram(now, &ARRIVAL, down, &interfaces),
            Some(Outcome::Changed)
        );
        tracker.handle_timeout(now, &port, &mut interfaces);

        let notices = subscriber.inbox.take(|news| news.notices.take());
        let codes: Vec<_> = notices.iter().map(Notice::code).collect();
        assert_eq!(codes, ["fleetFound", "fleetEmpty"]);
    }
}
