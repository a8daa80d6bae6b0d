//! The hub's side of an announcer: sends what is due to everyone it concerns.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use imqueue_udp_core::{Kind, Schedule};

use crate::announcer::{AnnouncerInbox, AnnouncerOptions};
use crate::destination::{DEFAULT_PORT, Destination};
use crate::interface::Interfaces;
use crate::lookup::{Lookups, Name};
use crate::notice::AnnouncerNotice;
use crate::route::{Route, Senders};

/// Sends one broker's announcements.
#[derive(Debug)]
pub(crate) struct Speaker {
    options: AnnouncerOptions,
    schedule: Schedule,
    inbox: Arc<AnnouncerInbox>,
    targets: Vec<Target>,
    senders: Senders,
    /// Somebody has been told that the broker is there.
    announced: bool,
    /// Something went wrong in the last round.
    failing: bool,
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

/// How often `down` is said: if it gets lost, listeners keep a dead broker until its deadline.
const GOODBYES: usize = 3;

impl Speaker {
    /// One that has its first word to say `now`.
    pub(crate) fn new(options: AnnouncerOptions, inbox: Arc<AnnouncerInbox>, now: Instant) -> Self {
        let mut targets: Vec<_> = options.destinations.iter().map(Target::new).collect();
        if targets.is_empty() {
            targets.push(Target::Everywhere(DEFAULT_PORT));
        }
        Self {
            schedule: Schedule::new(options.announcement.interval(), now),
            options,
            inbox,
            targets,
            senders: Senders::default(),
            announced: false,
            failing: false,
        }
    }

    /// Whether it is the one of the announcer with that inbox.
    pub(crate) fn is(&self, inbox: &Arc<AnnouncerInbox>) -> bool {
        Arc::ptr_eq(&self.inbox, inbox)
    }

    pub(crate) fn call(&self) {
        self.inbox.call();
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
                Kind::Down => {
                    (0..GOODBYES).for_each(|_| self.send_round(now, kind, interfaces));
                }
                Kind::Up => {
                    self.look_up(now, lookups);
                    self.send_round(now, kind, interfaces);
                }
            }
        }
    }

    /// Ends the heartbeats, and says `down` at once.
    pub(crate) fn stop(&mut self, now: Instant, interfaces: &mut Interfaces, lookups: &Lookups) {
        if self.is_done() {
            return;
        }
        self.schedule.stop();
        self.handle_timeout(now, interfaces, lookups);
        self.notify(now, AnnouncerNotice::Stopped);
    }

    /// Takes up what the name at that place of the destinations stands for. Addresses that it did
    /// not have before hear of the broker at once.
    pub(crate) fn resolved(
        &mut self,
        now: Instant,
        place: usize,
        result: io::Result<Vec<SocketAddr>>,
    ) {
        let Some(Target::Name(name)) = self.targets.get_mut(place) else {
            return;
        };
        let new = name.resolved(now, result);
        if self.is_done() {
            return;
        }
        let mut report = Report::default();
        report.check(&self.targets[place]);
        let mut routes: Vec<_> = new.into_iter().map(Route::to).collect();
        routes.sort_unstable();
        self.send(Kind::Up, &routes, &mut report);
        self.failing |= self.tell(now, report);
    }

    fn is_done(&self) -> bool {
        self.schedule.poll_timeout().is_none()
    }

    fn look_up(&mut self, now: Instant, lookups: &Lookups) {
        for (place, target) in self.targets.iter_mut().enumerate() {
            if let Target::Name(name) = target
                && name.start_lookup(now)
            {
                lookups.start(&self.inbox, place, name);
            }
        }
    }

    fn send_round(&mut self, now: Instant, kind: Kind, interfaces: &mut Interfaces) {
        if self
            .targets
            .iter()
            .any(|target| matches!(target, Target::Everywhere(_)))
        {
            interfaces.refresh(now, INTERFACES_AGE);
        }
        let mut report = Report::default();
        self.targets.iter().for_each(|target| report.check(target));
        let mut routes = Vec::with_capacity(self.targets.len());
        for target in &self.targets {
            target.add_routes(interfaces, &mut routes);
        }
        // Nobody is to be told twice.
        routes.sort_unstable();
        routes.dedup();
        self.senders.begin_round(&routes);
        self.send(kind, &routes, &mut report);

        let failed = self.tell(now, report);
        if self.failing && !failed {
            self.notify(now, AnnouncerNotice::Recovered);
        }
        self.failing = failed;
    }

    fn send(&mut self, kind: Kind, routes: &[Route], report: &mut Report) {
        let bytes = self.options.announcement.datagram(kind);
        let sent = self.senders.send(routes, bytes, |route, error| {
            report.fail(|| route.describe(), error.into());
        });
        report.sent |= sent > 0;
    }

    /// Tells what came of sending, and whether anything failed.
    fn tell(&mut self, now: Instant, report: Report) -> bool {
        if report.sent && !self.announced {
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
        self.inbox.post(|notices| notices.push(now, notice));
    }
}

impl Target {
    fn new(destination: &Destination) -> Self {
        match destination {
            Destination::Address(address) if address.ip() == Ipv4Addr::BROADCAST => {
                Self::Everywhere(address.port())
            }
            Destination::Address(address) => Self::Address(*address),
            Destination::Name(host, port) => Self::Name(Name::new(host.clone(), *port)),
        }
    }

    fn add_routes(&self, interfaces: &Interfaces, routes: &mut Vec<Route>) {
        match self {
            Self::Address(address) => routes.push(Route::to(*address)),
            Self::Everywhere(port) => routes.extend(Route::everywhere(*port, interfaces)),
            Self::Name(name) => routes.extend(name.addresses().iter().copied().map(Route::to)),
        }
    }
}

/// What came of a round.
#[derive(Debug, Default)]
struct Report {
    sent: bool,
    /// The first one stands for all.
    failure: Option<(String, Arc<io::Error>)>,
}

impl Report {
    /// A name that stands for nothing cannot even be tried.
    fn check(&mut self, target: &Target) {
        if let Target::Name(name) = target
            && let Some(error) = name.failure()
        {
            self.fail(|| name.to_string(), Arc::clone(error));
        }
    }

    fn fail(&mut self, destination: impl FnOnce() -> String, error: Arc<io::Error>) {
        self.failure.get_or_insert_with(|| (destination(), error));
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use imqueue_udp_core::Announcement;
    use tokio::sync::mpsc;

    use super::*;
    use crate::inbox::{Inbox, Messages};
    use crate::socket;

    /// One that announces a broker every second.
    fn speaker(destinations: Vec<Destination>, now: Instant) -> Speaker {
        let interval = Duration::from_secs(1);
        let announcement = Announcement::new("imq", "a", "10.0.0.1", 1, interval, None).unwrap();
        let inbox = Arc::new(Inbox::new(Arc::new(|| ())));
        Speaker::new(
            AnnouncerOptions {
                announcement,
                destinations,
            },
            inbox,
            now,
        )
    }

    fn heard(socket: &UdpSocket) -> usize {
        std::iter::from_fn(|| socket.recv(&mut [0; 256]).ok()).count()
    }

    fn told(speaker: &Speaker) -> Vec<&'static str> {
        let notices = speaker.inbox.take(Messages::take);
        notices.iter().map(AnnouncerNotice::code).collect()
    }

    #[test]
    fn recovers_when_a_name_can_be_looked_up() {
        let listener = socket::sender(Ipv4Addr::LOCALHOST.into()).unwrap();
        let address = listener.local_addr().unwrap();
        let lookups = Lookups::new(mpsc::unbounded_channel().0.downgrade());
        let mut interfaces = Interfaces::default();
        let start = Instant::now();
        let mut speaker = speaker(vec![Destination::Name("workers".into(), 1)], start);

        speaker.resolved(start, 0, Err(io::ErrorKind::TimedOut.into()));
        assert_eq!(told(&speaker), ["failed"]);

        // A new address hears of the broker before the next round, one that is known does not.
        speaker.resolved(start, 0, Ok(vec![address]));
        assert_eq!((heard(&listener), told(&speaker)), (1, vec!["announced"]));
        speaker.resolved(start, 0, Ok(vec![address]));
        assert_eq!((heard(&listener), told(&speaker)), (0, vec![]));

        speaker.handle_timeout(start, &mut interfaces, &lookups);
        assert_eq!((heard(&listener), told(&speaker)), (1, vec!["recovered"]));
        speaker.handle_timeout(start, &mut interfaces, &lookups);
        assert_eq!((heard(&listener), told(&speaker)), (0, vec![]));

        speaker.stop(start, &mut interfaces, &lookups);
        let goodbyes = (heard(&listener), told(&speaker));
        assert_eq!(goodbyes, (GOODBYES, vec!["stopped"]));
        assert_eq!(speaker.poll_timeout(), None);
    }

    #[test]
    fn no_destinations_is_everywhere() {
        let now = Instant::now();
        assert!(matches!(
            speaker(Vec::new(), now).targets[..],
            [Target::Everywhere(63_000)]
        ));
        let limited = "255.255.255.255:7".parse().unwrap();
        assert!(matches!(
            speaker(vec![limited], now).targets[..],
            [Target::Everywhere(7)]
        ));
    }
}
