//! What an operator wants to know about the fleet as a whole: that it is there, that it is gone, or
//! that it never came.

use std::sync::Arc;
use std::time::{Duration, Instant};

use imqueue_udp_core::{Event, FleetCounters, RemovalReason, Server};

use crate::notice::Notice;

/// Watches whether there is any broker, and tells each time that this has changed.
///
/// A fleet that comes and goes is told of once a minute each way; what was not told then is told at
/// the end of that minute, if it still is so.
#[derive(Debug)]
pub(crate) struct Outlook {
    /// When the socket was bound, which is when silence begins to mean something.
    listening_since: Option<Instant>,
    active: usize,
    state: State,
    told: State,
    appeared: Quiet,
    vanished: Quiet,
    /// What was told last, which whoever joins does not know.
    last: Option<Notice>,
}

#[derive(Clone, Debug)]
enum State {
    /// No broker was heard yet.
    Silent,
    /// There is at least one; this was the first.
    Present(Arc<Server>),
    /// There is none any more; this was the last.
    Empty(Arc<Server>, RemovalReason),
}

/// When something was told, and may be told again.
type Quiet = Option<Instant>;

/// A broker announces itself once a second; who hears none for so long has a reason to look for one.
const SILENCE: Duration = Duration::from_secs(15);

/// How long nothing is told again that has just been told.
const QUIET: Duration = Duration::from_secs(60);

impl Outlook {
    pub(crate) fn new() -> Self {
        Self {
            listening_since: None,
            active: 0,
            state: State::Silent,
            told: State::Silent,
            appeared: None,
            vanished: None,
            last: None,
        }
    }

    /// What was told last, for whoever joins after that.
    pub(crate) fn last(&self) -> Option<&Notice> {
        self.last.as_ref()
    }

    /// The socket has been bound. Only the first time counts.
    pub(crate) fn listening(&mut self, now: Instant) {
        self.listening_since.get_or_insert(now);
    }

    /// Takes note of what happened in the fleet.
    pub(crate) fn record(&mut self, event: &Event) {
        match event {
            Event::Added(server) => {
                self.active += 1;
                if self.active == 1 {
                    self.state = State::Present(Arc::clone(server));
                }
            }
            Event::Removed(server, reason) => {
                self.active -= 1;
                if self.active == 0 {
                    self.state = State::Empty(Arc::clone(server), *reason);
                }
            }
            _ => {}
        }
    }

    /// When to call [`handle_timeout`](Self::handle_timeout), if nothing happens before.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        match (&self.told, &self.state) {
            (State::Silent, State::Silent) => {
                let since = self.listening_since?;
                self.vanished.is_none().then_some(since + SILENCE)
            }
            (State::Silent | State::Empty(..), State::Present(_)) => self.appeared,
            (State::Silent | State::Present(_), State::Empty(..)) => self.vanished,
            _ => None,
        }
    }

    /// Tells what is due. `port` and `counters` are for the one who wonders why nothing is heard.
    pub(crate) fn handle_timeout(
        &mut self,
        now: Instant,
        port: u16,
        datagrams: u64,
        counters: &FleetCounters,
    ) -> Option<Notice> {
        let is_due = |quiet: Quiet| quiet.is_none_or(|until| until <= now);
        let notice = match (&self.told, &self.state) {
            (State::Silent, State::Silent) => {
                let due = self.poll_timeout()?;
                (due <= now).then(|| Notice::NothingHeard {
                    port,
                    after: SILENCE,
                    datagrams,
                    rejected: counters.rejected.iter().sum(),
                    ignored: counters.ignored.iter().sum(),
                })
            }
            (State::Silent | State::Empty(..), State::Present(server)) => {
                is_due(self.appeared).then(|| Notice::FleetFound(Arc::clone(server)))
            }
            (State::Silent | State::Present(_), State::Empty(server, reason)) => {
                is_due(self.vanished).then(|| Notice::FleetEmpty(Arc::clone(server), *reason))
            }
            _ => None,
        }?;
        match self.state {
            State::Present(_) => self.appeared = Some(now + QUIET),
            State::Silent | State::Empty(..) => self.vanished = Some(now + QUIET),
        }
        self.told = self.state.clone();
        self.last = Some(notice.clone());
        Some(notice)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddrV4};

    use imqueue_udp_core::{Fleet, FleetConfig};

    use super::*;

    /// A fleet with its outlook, in virtual time.
    struct World {
        start: Instant,
        fleet: Fleet,
        outlook: Outlook,
    }

    impl World {
        fn new() -> Self {
            let start = Instant::now();
            let mut outlook = Outlook::new();
            outlook.listening(start);
            Self {
                start,
                fleet: Fleet::new(FleetConfig::default(), start),
                outlook,
            }
        }

        /// What is told when this datagram comes.
        fn hear(&mut self, seconds: u64, datagram: &str) -> Option<&'static str> {
            let now = self.at(seconds);
            let source = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1);
            let mut events = Vec::new();
            let bytes = datagram.replace(' ', "\t");
            self.fleet
                .handle_datagram(now, bytes.as_bytes(), source, &mut events);
            events.iter().for_each(|event| self.outlook.record(event));
            self.wait(seconds)
        }

        /// What is told when nothing comes.
        fn wait(&mut self, seconds: u64) -> Option<&'static str> {
            let now = self.at(seconds);
            let counters = self.fleet.counters();
            let notice = self.outlook.handle_timeout(now, 63_000, 0, counters);
            notice.map(|notice| notice.code())
        }

        fn at(&self, seconds: u64) -> Instant {
            self.start + Duration::from_secs(seconds)
        }

        /// When it wants to be asked, in seconds.
        fn timeout(&self) -> Option<u64> {
            let at = self.outlook.poll_timeout()?;
            Some(at.duration_since(self.start).as_secs())
        }
    }

    #[test]
    fn tells_of_the_first_broker_and_of_the_last() {
        let mut world = World::new();
        assert_eq!(world.hear(1, "n a up h:1 1"), Some("fleetFound"));
        assert_eq!(world.hear(2, "n b up h:2 1"), None);
        assert_eq!(world.hear(3, "n a down h:1"), None);
        assert_eq!(world.hear(4, "n b down h:2"), Some("fleetEmpty"));
        assert_eq!(world.wait(99), None);
        assert_eq!(world.timeout(), None);
    }

    #[test]
    fn tells_once_that_nothing_is_heard() {
        let mut world = World::new();
        assert_eq!(world.timeout(), Some(15));
        assert_eq!(world.wait(14), None);
        assert_eq!(world.wait(15), Some("nothingHeard"));
        assert_eq!(world.timeout(), None);
        assert_eq!(world.wait(99), None);
        assert_eq!(world.hear(100, "n a up h:1 1"), Some("fleetFound"));
    }

    #[test]
    fn silence_means_nothing_before_the_port_is_bound() {
        let mut outlook = Outlook::new();
        assert_eq!(outlook.poll_timeout(), None);
        let now = Instant::now();
        let counters = FleetCounters::default();
        assert!(outlook.handle_timeout(now, 1, 0, &counters).is_none());
        outlook.listening(now);
        outlook.listening(now + SILENCE);
        assert_eq!(outlook.poll_timeout(), Some(now + SILENCE));
    }

    #[test]
    fn a_fleet_that_comes_and_goes_is_told_of_once_a_minute() {
        let mut world = World::new();
        assert_eq!(world.hear(1, "n a up h:1 1"), Some("fleetFound"));
        assert_eq!(world.hear(2, "n a down h:1"), Some("fleetEmpty"));
        for second in (4..60).step_by(4) {
            assert_eq!(world.hear(second, "n a up h:1 1"), None);
            assert_eq!(world.timeout(), Some(61));
            assert_eq!(world.hear(second + 2, "n a down h:1"), None);
        }
        assert_eq!(world.hear(62, "n a up h:1 1"), Some("fleetFound"));
    }

    #[test]
    fn what_was_not_told_is_told_later_if_it_still_is_so() {
        let mut world = World::new();
        assert_eq!(world.hear(1, "n a up h:1 1"), Some("fleetFound"));
        assert_eq!(world.hear(2, "n a down h:1"), Some("fleetEmpty"));
        assert_eq!(world.hear(4, "n a up h:1 1"), None);
        assert_eq!(world.timeout(), Some(61));
        assert_eq!(world.wait(60), None);
        assert_eq!(world.wait(61), Some("fleetFound"));
    }
}
