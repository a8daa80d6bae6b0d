//! Random histories, told to the fleet and to a reference that is too simple to be wrong.
//!
//! The reference is one list and no index, heap or laziness. After each step both must agree on
//! the outcome, the events and who is active, and the history must be one that clusters can live
//! with.

mod reference;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::{Duration, Instant};

use imqueue_udp_core::{Change, Changes, Event, Fleet, FleetConfig, Outcome, Server};
use proptest::option;
use proptest::prelude::*;

use self::reference::Reference;

/// Something that happens. Ids and addresses are few, so that they meet.
#[derive(Clone, Debug)]
enum Step {
    Down {
        id: u8,
        address: u8,
    },
    /// The subscriber looks.
    Drain,
    /// The clock moves and the listener does nothing.
    Stall {
        ms: u64,
    },
    /// The listener judges although nobody asked it to.
    Judge,
    Up {
        id: u8,
        address: u8,
        interval_ms: u64,
    },
    /// The clock moves and the listener does what the fleet asks for.
    Wait {
        ms: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let id = 0..4_u8;
    let address = 0..6_u8;
    let interval = prop_oneof![
        Just(0),
        Just(500),
        Just(1_000),
        Just(3_000),
        Just(200_000_000)
    ];
    prop_oneof![
        2 => (id.clone(), address.clone()).prop_map(|(id, address)| Step::Down { id, address }),
        2 => Just(Step::Drain),
        1 => (1..3_000_u64).prop_map(|ms| Step::Stall { ms }),
        1 => Just(Step::Judge),
        8 => (id, address, interval)
            .prop_map(|(id, address, interval_ms)| Step::Up { id, address, interval_ms }),
        4 => prop_oneof![0..50_u64, 0..1_500_u64, 4_000..9_000_u64].prop_map(|ms| Step::Wait { ms }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn fleet_and_reference_agree(
        steps in prop::collection::vec(step(), 1..120),
        correction_ms in option::weighted(0.9, prop_oneof![Just(0), Just(300), Just(5_000)]),
        max_servers in 0..7_usize,
    ) {
        let mut both = Both::new(correction_ms, max_servers);
        for step in steps {
            both.take(&step);
        }
        both.drain();
    }
}

/// The fleet and the reference, side by side, with what their listeners believe.
struct Both {
    fleet: Fleet,
    reference: Reference,
    start: Instant,
    /// Milliseconds since the start.
    now: u64,
    max_servers: usize,
    /// Who is active where, as the events tell it.
    history: BTreeMap<String, String>,
    /// The same, as a subscriber is told that only looks now and then.
    told: BTreeMap<String, String>,
    changes: Changes,
}

impl Both {
    fn new(correction_ms: Option<u64>, max_servers: usize) -> Self {
        let alive_check = correction_ms.map(Duration::from_millis);
        let config = FleetConfig {
            alive_check,
            max_servers,
            names: Vec::new(),
        };
        let start = Instant::now();
        Self {
            fleet: Fleet::new(config, start),
            reference: Reference::new(correction_ms, max_servers),
            start,
            now: 0,
            max_servers,
            history: BTreeMap::new(),
            told: BTreeMap::new(),
            changes: Changes::new(),
        }
    }

    fn take(&mut self, step: &Step) {
        match *step {
            Step::Down { id, address } => {
                let (id, address) = (format!("id-{id}"), format!("10.0.0.{address}:6379"));
                let (expected, said) = self.reference.down(self.now, &id, &address);
                self.hear(&format!("imq\t{id}\tdown\t{address}"), expected, &said);
            }
            Step::Drain => self.drain(),
            Step::Judge => self.judge(),
            Step::Stall { ms } => self.now += ms,
            Step::Up {
                id,
                address,
                interval_ms,
            } => {
                let (id, address) = (format!("id-{id}"), format!("10.0.0.{address}:6379"));
                let (expected, said) = self.reference.up(self.now, &id, &address, interval_ms);
                let interval = Duration::from_millis(interval_ms).as_secs_f64();
                self.hear(
                    &format!("imq\t{id}\tup\t{address}\t{interval}"),
                    expected,
                    &said,
                );
            }
            Step::Wait { ms } => self.wait(ms),
        }
    }

    fn hear(&mut self, line: &str, expected: Outcome, said: &[String]) {
        let source = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1);
        let mut events = Vec::new();
        let now = self.instant();
        let outcome = self
            .fleet
            .handle_datagram(now, line.as_bytes(), source, &mut events);
        assert_eq!(outcome, expected, "{line:?} at {}", self.now);
        self.check(&events, said);
    }

    fn judge(&mut self) {
        let mut events = Vec::new();
        self.fleet.handle_timeout(self.instant(), &mut events);
        let said = self.reference.timeout(self.now);
        self.check(&events, &said);
        assert!(self.reference.nobody_is_overdue(self.now));
        assert!(
            self.fleet
                .poll_timeout()
                .is_none_or(|due| due > self.instant()),
            "busy loop"
        );
    }

    fn wait(&mut self, ms: u64) {
        let end = self.now + ms;
        while let Some(due) = self.fleet.poll_timeout() {
            let due = due.saturating_duration_since(self.start).as_millis() as u64;
            if due > end {
                break;
            }
            self.now = self.now.max(due);
            self.judge();
        }
        self.now = end;
    }

    fn drain(&mut self) {
        let changes = self.changes.take();
        let rank = |change: &Change| match change {
            Change::Removed(..) => 0,
            Change::Renewed(_) | Change::Updated { .. } => 1,
            Change::Added(_) => 2,
        };
        assert!(changes.is_sorted_by_key(rank), "{changes:?}");
        for change in changes {
            match change {
                Change::Added(server) => add(&mut self.told, &server),
                Change::Removed(server, _) => remove(&mut self.told, &server),
                Change::Renewed(server) => {
                    remove(&mut self.told, &server);
                    add(&mut self.told, &server);
                }
                Change::Updated { server, previous } => {
                    assert_ne!(server.id, previous.id);
                    remove(&mut self.told, &previous);
                    add(&mut self.told, &server);
                }
            }
        }
        assert_eq!(
            self.told, self.history,
            "what was told adds up to the truth"
        );
        assert!(self.changes.is_empty());
    }

    fn check(&mut self, events: &[Event], said: &[String]) {
        assert_eq!(
            events.iter().map(text).collect::<Vec<_>>(),
            said,
            "at {}",
            self.now
        );
        for event in events {
            self.live(event);
            self.changes.record(event);
        }
        let active: BTreeMap<String, String> = self
            .fleet
            .active()
            .map(|server| (address(server), server.id.to_string()))
            .collect();
        assert_eq!(active, self.reference.active());
        assert_eq!(active, self.history);
        assert_eq!(self.fleet.len(), self.reference.len());
        assert!(self.fleet.len() <= self.max_servers);
        let counters = self.fleet.counters();
        assert_eq!(counters.added - counters.removed, active.len() as u64);
    }

    /// Applies an event to the history, which must be one that could have happened.
    fn live(&mut self, event: &Event) {
        match event {
            Event::Added(server) => {
                let id = server.id.to_string();
                let elsewhere = self.history.values().any(|active| *active == id);
                assert!(
                    !elsewhere,
                    "{id} is active twice, though no restart joined it"
                );
                add(&mut self.history, server);
            }
            Event::FleetFull { .. } => assert_eq!(self.fleet.len(), self.max_servers),
            Event::Removed(server, _) => remove(&mut self.history, server),
            Event::Updated { server, previous } => {
                remove(&mut self.history, previous);
                add(&mut self.history, server);
            }
            other => panic!("an event that this test does not know: {other:?}"),
        }
    }

    fn instant(&self) -> Instant {
        self.start + Duration::from_millis(self.now)
    }
}

fn add(map: &mut BTreeMap<String, String>, server: &Server) {
    let before = map.insert(address(server), server.id.to_string());
    assert_eq!(before, None, "{} was taken", address(server));
}

fn remove(map: &mut BTreeMap<String, String>, server: &Server) {
    let before = map.remove(&address(server));
    assert_eq!(before.as_deref(), Some(&*server.id), "{}", address(server));
}

fn address(server: &Server) -> String {
    format!("{}:{}", server.host, server.port)
}

/// An event as the reference puts it.
fn text(event: &Event) -> String {
    match event {
        Event::Added(server) => format!("+{}@{}", server.id, address(server)),
        Event::FleetFull { limit } => format!("full at {limit}"),
        Event::Removed(server, reason) => {
            format!("-{}@{} {}", server.id, address(server), reason.as_str())
        }
        Event::Updated { server, previous } => {
            format!("{}>{}@{}", previous.id, server.id, address(server))
        }
        other => panic!("an event that this test does not know: {other:?}"),
    }
}
