//! The hub's side of an announcer: sends what is due to everyone it concerns.

use std::collections::{HashMap, HashSet};
use std::io;
use std::mem;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use imqueue_udp_core::{Announcement, Kind, Schedule};

use crate::announcer::{AnnouncerOptions, Owner};
use crate::destination::Destination;
use crate::goodbye::Goodbyes;
use crate::inbox::Messages;
use crate::interface::Interfaces;
use crate::lookup::{Lookups, Name, NameKey};
use crate::notice::AnnouncerNotice;
use crate::route::{Route, Senders};
use crate::stats::{AnnouncerCounters, SendCounters};

/// Sends one broker's announcements.
#[derive(Debug)]
pub(crate) struct Speaker {
    announcement: Announcement,
    schedule: Schedule,
    owner: Arc<Owner>,
    targets: Vec<Target>,
    /// Through which interface broadcasts leave; `None` is every one.
    interface: Option<Ipv4Addr>,
    senders: Senders,
    /// Somebody has been told that the broker is there.
    announced: bool,
    /// Something went wrong in the last round.
    failing: bool,
    /// When whoever stops it wants to be gone.
    end: Option<Instant>,
}

#[derive(Debug)]
enum Target {
    Address(SocketAddr),
    /// This port on every network.
    Everywhere(u16),
    Name(Name),
}

/// How old the list of interfaces may be in a round: an interface that comes up is to be used long
/// before listeners behind it miss the broker.
const INTERFACES_AGE: Duration = Duration::from_millis(500);

impl Speaker {
    /// One that has its first word to say `now`.
    pub(crate) fn new(options: AnnouncerOptions, owner: Arc<Owner>, now: Instant) -> Self {
        Self {
            schedule: Schedule::new(options.announcement.interval(), now),
            announcement: options.announcement,
            owner,
            targets: options.destinations.iter().map(Target::new).collect(),
            interface: options.interface,
            senders: Senders::default(),
            announced: false,
            failing: false,
            end: None,
        }
    }

    /// Whether it is the one that `owner` started.
    pub(crate) fn is_of(&self, owner: &Arc<Owner>) -> bool {
        Arc::ptr_eq(&self.owner, owner)
    }

    /// Notes, without a call yet, that the hub thread has panicked.
    pub(crate) fn note_panic(&self, now: Instant, message: &Arc<str>) {
        let notice = AnnouncerNotice::Panicked {
            message: Arc::clone(message),
            held_back: 0,
        };
        self.owner.inbox.post_quietly(|notices| {
            notices.push(now, notice);
        });
    }

    pub(crate) fn call(&self) {
        self.owner.inbox.call();
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.schedule.poll_timeout()
    }

    /// Sends what is due.
    pub(crate) fn handle_timeout(
        &mut self,
        now: Instant,
        interfaces: &mut Interfaces,
        lookups: &Lookups,
    ) {
        while let Some(kind) = self.schedule.poll_transmit(now) {
            match kind {
                Kind::Down => self.say_goodbye(now, interfaces),
                Kind::Up => {
                    self.look_up(now, lookups);
                    self.send_round(now, kind, interfaces);
                }
            }
        }
    }

    /// Ends the heartbeats, and says `down` at once, more than once only as long as that ends before
    /// `end`.
    pub(crate) fn stop(
        &mut self,
        now: Instant,
        end: Option<Instant>,
        interfaces: &mut Interfaces,
        lookups: &Lookups,
    ) {
        if self.is_done() {
            return;
        }
        self.end = end;
        self.schedule.stop();
        self.handle_timeout(now, interfaces, lookups);
        self.notify(now, AnnouncerNotice::Stopped);
    }

    /// Takes up what a name among the destinations stands for. Addresses that it did not have
    /// before hear of the broker at once.
    pub(crate) fn resolved(
        &mut self,
        now: Instant,
        key: &NameKey,
        result: io::Result<Vec<SocketAddr>>,
    ) {
        let mut targets = self.targets.iter_mut();
        let Some(target) = targets.find(|target| target.is_name(key)) else {
            return;
        };
        let mut report = Report::default();
        let mut routes = target.resolved(now, result);
        report.check(target);
        if !self.is_done() {
            self.send(Kind::Up, &mut routes, &mut report);
            self.failing |= self.tell(now, report);
        }
    }

    /// Sends to these destinations from now on. Those that are new hear of the broker at once.
    pub(crate) fn redirect(
        &mut self,
        now: Instant,
        destinations: &[Destination],
        interfaces: &mut Interfaces,
        lookups: &Lookups,
    ) {
        let known: HashSet<_> = self.routes(now, interfaces).into_iter().collect();
        let mut names: HashMap<_, _> = mem::take(&mut self.targets)
            .into_iter()
            .filter_map(Target::into_name)
            .collect();
        let mut target = |destination| {
            let target = Target::new(destination);
            match target {
                Target::Name(name) => Target::Name(names.remove(name.key()).unwrap_or(name)),
                Target::Address(_) | Target::Everywhere(_) => target,
            }
        };
        self.targets = destinations.iter().map(&mut target).collect();
        if self.is_done() {
            return;
        }
        self.look_up(now, lookups);
        let mut new = self.routes(now, interfaces);
        new.retain(|route| !known.contains(route));
        let mut report = Report::default();
        self.send(Kind::Up, &mut new, &mut report);
        self.failing |= self.tell(now, report);
    }

    fn is_done(&self) -> bool {
        self.schedule.poll_timeout().is_none()
    }

    fn look_up(&mut self, now: Instant, lookups: &Lookups) {
        for target in &mut self.targets {
            if let Target::Name(name) = target
                && name.start_lookup(now)
            {
                lookups.start(&self.owner, name);
            }
        }
    }

    fn routes(&self, now: Instant, interfaces: &mut Interfaces) -> Vec<Route> {
        let mut targets = self.targets.iter();
        if targets.any(|target| matches!(target, Target::Everywhere(_))) {
            interfaces.refresh(now, INTERFACES_AGE);
        }
        let mut routes = Vec::with_capacity(self.targets.len());
        for target in &self.targets {
            target.add_routes(self.interface, interfaces, &mut routes);
        }
        routes
    }

    fn say_goodbye(&mut self, now: Instant, interfaces: &mut Interfaces) {
        // Rounds take time, of which `now` knows nothing.
        let mut goodbyes = Goodbyes::begin(Instant::now(), self.end);
        loop {
            self.send_round(now, Kind::Down, interfaces);
            if !goodbyes.go_on(Instant::now()) {
                return;
            }
        }
    }

    fn send_round(&mut self, now: Instant, kind: Kind, interfaces: &mut Interfaces) {
        let mut report = Report::default();
        self.targets.iter().for_each(|target| report.check(target));
        let mut routes = self.routes(now, interfaces);
        self.senders.begin_round(&routes);
        self.send(kind, &mut routes, &mut report);

        let failed = self.tell(now, report);
        if self.failing && !failed {
            self.notify(now, AnnouncerNotice::Recovered);
        }
        self.failing = failed;
    }

    /// Sends along all of `routes`, once along each.
    fn send(&mut self, kind: Kind, routes: &mut Vec<Route>, report: &mut Report) {
        routes.sort_unstable();
        routes.dedup();
        let bytes = self.announcement.datagram(kind);
        report.tried(routes);
        self.senders.send(routes, bytes, |route, error| {
            report.failed(route, error);
        });
    }

    /// Tells what came of sending, and whether anything failed.
    fn tell(&mut self, now: Instant, report: Report) -> bool {
        report.count(&self.owner.counters);
        if report.sent() && !self.announced {
            self.announced = true;
            self.notify(now, AnnouncerNotice::Announced);
        }
        let Some((destination, error)) = report.failure else {
            return false;
        };
        self.notify(
            now,
            AnnouncerNotice::SendFailed {
                destination,
                error,
                held_back: 0,
            },
        );
        true
    }

    fn notify(&self, now: Instant, notice: AnnouncerNotice) {
        let post = |notices: &mut Messages<_>| notices.push(now, notice);
        self.owner.inbox.post(post);
    }
}

impl Target {
    fn new(destination: &Destination) -> Self {
        match destination {
            Destination::Address(address) if address.ip() == Ipv4Addr::BROADCAST => {
                Self::Everywhere(address.port())
            }
            Destination::Address(address) => Self::Address(*address),
            Destination::Name(host, port) => Self::Name(Name::new((host.clone(), *port))),
        }
    }

    fn is_name(&self, key: &NameKey) -> bool {
        matches!(self, Self::Name(name) if name.key() == key)
    }

    fn into_name(self) -> Option<(NameKey, Name)> {
        match self {
            Self::Name(name) => Some((name.key().clone(), name)),
            Self::Address(_) | Self::Everywhere(_) => None,
        }
    }

    /// Takes up what a name stands for, and returns the ways to what is new of it.
    fn resolved(&mut self, now: Instant, result: io::Result<Vec<SocketAddr>>) -> Vec<Route> {
        match self {
            Self::Name(name) => name
                .resolved(now, result)
                .into_iter()
                .map(Route::to)
                .collect(),
            Self::Address(_) | Self::Everywhere(_) => Vec::new(),
        }
    }

    fn add_routes(
        &self,
        interface: Option<Ipv4Addr>,
        interfaces: &Interfaces,
        routes: &mut Vec<Route>,
    ) {
        match self {
            Self::Address(address) => routes.push(Route::to(*address)),
            Self::Everywhere(port) => match interface {
                Some(from) => routes.push(Route::network(from, *port)),
                None => routes.extend(Route::everywhere(*port, interfaces)),
            },
            Self::Name(name) => routes.extend(name.addresses().iter().copied().map(Route::to)),
        }
    }
}

/// What came of a round.
#[derive(Debug, Default)]
struct Report {
    broadcast: Tally,
    unicast: Tally,
    /// The first one stands for all.
    failure: Option<(String, Arc<io::Error>)>,
}

#[derive(Debug, Default)]
struct Tally {
    tried: u64,
    failed: u64,
    /// Names that stand for nothing.
    unknown: u64,
}

impl Report {
    /// A name that stands for nothing cannot even be tried.
    fn check(&mut self, target: &Target) {
        if let Target::Name(name) = target
            && let Some(error) = name.failure()
        {
            self.unicast.unknown += 1;
            self.fail(|| name.to_string(), Arc::clone(error));
        }
    }

    fn tried(&mut self, routes: &[Route]) {
        for route in routes {
            self.tally(route).tried += 1;
        }
    }

    fn failed(&mut self, route: &Route, error: io::Error) {
        self.tally(route).failed += 1;
        self.fail(|| route.describe(), error.into());
    }

    fn tally(&mut self, route: &Route) -> &mut Tally {
        if route.is_broadcast() {
            &mut self.broadcast
        } else {
            &mut self.unicast
        }
    }

    fn sent(&self) -> bool {
        [&self.broadcast, &self.unicast]
            .iter()
            .any(|tally| tally.tried > tally.failed)
    }

    fn count(&self, counters: &AnnouncerCounters) {
        self.broadcast.count(&counters.broadcast);
        self.unicast.count(&counters.unicast);
    }

    fn fail(&mut self, destination: impl FnOnce() -> String, error: Arc<io::Error>) {
        self.failure.get_or_insert_with(|| (destination(), error));
    }
}

impl Tally {
    fn count(&self, counters: &SendCounters) {
        counters.sent.add(self.tried - self.failed);
        counters.failed.add(self.failed + self.unknown);
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use tokio::sync::mpsc;

    use super::*;
    use crate::goodbye::GOODBYES;
    use crate::socket;
    use crate::stats::SendStats;

    /// One that announces a broker every second.
    fn speaker(destinations: Vec<Destination>, now: Instant) -> Speaker {
        let interval = Duration::from_secs(1);
        let announcement = Announcement::new("imq", "a", "10.0.0.1", 1, interval, None).unwrap();
        let owner = Arc::new(Owner::new(Arc::new(|| ())));
        Speaker::new(
            AnnouncerOptions {
                announcement,
                destinations,
                interface: None,
            },
            owner,
            now,
        )
    }

    fn lookups() -> Lookups {
        Lookups::new(mpsc::unbounded_channel().0.downgrade())
    }

    fn heard(socket: &UdpSocket) -> usize {
        std::iter::from_fn(|| socket.recv(&mut [0; 256]).ok()).count()
    }

    fn told(speaker: &Speaker) -> Vec<&'static str> {
        let notices = speaker.owner.inbox.take(Messages::take);
        notices.iter().map(AnnouncerNotice::code).collect()
    }

    #[test]
    fn recovers_when_a_name_can_be_looked_up() {
        let listener = socket::sender(Ipv4Addr::LOCALHOST.into()).unwrap();
        let address = listener.local_addr().unwrap();
        let lookups = lookups();
        let mut interfaces = Interfaces::default();
        let start = Instant::now();
        let key = ("workers".into(), 1);
        let mut speaker = speaker(vec![Destination::Name("workers".into(), 1)], start);

        speaker.resolved(start, &key, Err(io::ErrorKind::TimedOut.into()));
        assert_eq!(told(&speaker), ["failed"]);

        // A new address hears of the broker before the next round, one that is known does not.
        speaker.resolved(start, &key, Ok(vec![address]));
        assert_eq!((heard(&listener), told(&speaker)), (1, vec!["announced"]));
        speaker.resolved(start, &key, Ok(vec![address]));
        assert_eq!((heard(&listener), told(&speaker)), (0, vec![]));

        speaker.handle_timeout(start, &mut interfaces, &lookups);
        assert_eq!((heard(&listener), told(&speaker)), (1, vec!["recovered"]));
        speaker.handle_timeout(start, &mut interfaces, &lookups);
        assert_eq!((heard(&listener), told(&speaker)), (0, vec![]));

        speaker.stop(start, None, &mut interfaces, &lookups);
        let goodbyes = (heard(&listener), told(&speaker));
        assert_eq!(goodbyes, (GOODBYES, vec!["stopped"]));
        assert_eq!(speaker.poll_timeout(), None);
    }

    #[test]
    fn counts_what_was_sent_and_what_was_not() {
        let listener = socket::sender(Ipv4Addr::LOCALHOST.into()).unwrap();
        let refused = SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into();
        let destinations = vec![listener.local_addr().unwrap().into(), refused];
        let (lookups, start) = (lookups(), Instant::now());
        let mut speaker = speaker(destinations, start);
        speaker.interface = Some(Ipv4Addr::LOCALHOST);
        speaker
            .targets
            .push(Target::Everywhere(listener.local_addr().unwrap().port()));

        speaker.handle_timeout(start, &mut Interfaces::default(), &lookups);
        let stats = speaker.owner.counters.read();
        assert_eq!(stats.broadcast, SendStats { sent: 1, failed: 0 });
        assert_eq!(stats.unicast, SendStats { sent: 1, failed: 1 });
    }

    #[test]
    fn new_destinations_hear_at_once_and_former_ones_no_more() {
        let listeners = [(); 2].map(|()| socket::sender(Ipv4Addr::LOCALHOST.into()).unwrap());
        let [one, other] = listeners
            .each_ref()
            .map(|listener| Destination::from(listener.local_addr().unwrap()));
        let (lookups, start) = (lookups(), Instant::now());
        let mut interfaces = Interfaces::default();
        let mut speaker = speaker(Vec::new(), start);
        let heard = || listeners.each_ref().map(heard);

        speaker.handle_timeout(start, &mut interfaces, &lookups);
        assert_eq!(heard(), [0, 0]);
        assert_eq!(told(&speaker), Vec::<&str>::new());

        speaker.redirect(start, std::slice::from_ref(&one), &mut interfaces, &lookups);
        assert_eq!(heard(), [1, 0]);
        assert_eq!(told(&speaker), ["announced"]);
        speaker.redirect(start, &[one, other.clone()], &mut interfaces, &lookups);
        assert_eq!(heard(), [0, 1]);
        let later = start + Duration::from_secs(1);
        speaker.handle_timeout(later, &mut interfaces, &lookups);
        assert_eq!(heard(), [1, 1]);

        speaker.redirect(later, &[other], &mut interfaces, &lookups);
        speaker.stop(later, None, &mut interfaces, &lookups);
        assert_eq!(heard(), [0, GOODBYES]);
    }

    #[test]
    fn whoever_wants_to_be_gone_already_says_goodbye_once() {
        let listener = socket::sender(Ipv4Addr::LOCALHOST.into()).unwrap();
        let destinations = vec![listener.local_addr().unwrap().into()];
        let (lookups, start) = (lookups(), Instant::now());
        let mut interfaces = Interfaces::default();
        let mut speaker = speaker(destinations, start);
        speaker.handle_timeout(start, &mut interfaces, &lookups);
        assert_eq!((heard(&listener), told(&speaker)), (1, vec!["announced"]));

        speaker.stop(start, Some(start), &mut interfaces, &lookups);
        assert_eq!((heard(&listener), told(&speaker)), (1, vec!["stopped"]));
    }

    #[test]
    fn a_name_keeps_its_addresses_when_other_destinations_change() {
        let listener = socket::sender(Ipv4Addr::LOCALHOST.into()).unwrap();
        let (lookups, start) = (lookups(), Instant::now());
        let mut interfaces = Interfaces::default();
        let name = Destination::Name("workers".into(), 1);
        let mut speaker = speaker(vec![name.clone()], start);
        speaker.resolved(
            start,
            &("workers".into(), 1),
            Ok(vec![listener.local_addr().unwrap()]),
        );
        assert_eq!(heard(&listener), 1);

        let another = Destination::from(SocketAddr::from((Ipv4Addr::LOCALHOST, 9)));
        speaker.redirect(start, &[another, name], &mut interfaces, &lookups);
        assert_eq!(heard(&listener), 0);
        speaker.handle_timeout(start, &mut interfaces, &lookups);
        assert_eq!(heard(&listener), 1);
    }

    #[test]
    fn the_limited_broadcast_address_is_everywhere() {
        let speaker = speaker(vec!["255.255.255.255:7".parse().unwrap()], Instant::now());
        assert!(matches!(speaker.targets[..], [Target::Everywhere(7)]));
    }
}
