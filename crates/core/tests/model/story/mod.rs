//! A history of one fleet, told to it and to a reference that is too simple to be wrong, with what
//! must hold after each step. Shared by the property test beside it and by `fuzz/`.
//!
//! Held all the time:
//!
//! - Fleet and reference agree on the outcome, the events and who is active, last heard when and
//!   from where. So no endpoint is active past its deadline once time was judged, and none is
//!   dropped before.
//! - The events are a legal history: what is added was absent, what is removed or updated was
//!   there. No guid is added while it is active elsewhere; only a change of owner joins two.
//! - A subscriber that looks now and then is told legal steps too, at most one per endpoint, that
//!   add up to the truth.
//! - The fleet keeps to `max_servers`, counts what happened, and asks to be called in time and
//!   never twice at once.

mod reference;
mod script;

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use std::time::{Duration, Instant};

use imqueue_udp_core::{
    Change, Changes, Datagram, Event, Fleet, FleetConfig, FleetCounters, Kind, Outcome,
    RemovalReason, Server,
};

use self::reference::Reference;
use self::script::Line;

pub(crate) use self::script::Script;

/// Longer than this no fleet that waits for a deadline goes without being called.
const TICK: Duration = Duration::from_millis(500);

/// What the fleet is to be like.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) alive_check: Option<Duration>,
    pub(crate) max_servers: usize,
    /// Only the name `imq` is listened to, instead of every name.
    pub(crate) picky: bool,
}

/// Something that happens.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// The clock goes to the instant at which the fleet asked to be called, or this far past it.
    Due { past: Duration },
    /// The subscriber looks.
    Drain,
    /// A datagram arrives.
    Hear(Line),
    /// Another subscriber takes the place of the one there was.
    Join,
    /// The listener judges although nobody asked it to.
    Judge,
    /// The clock moves, up to the end of time, and the listener does nothing.
    Stall(Duration),
    /// The clock runs backwards.
    TurnBack(Duration),
    /// The clock moves and the listener does what the fleet asks for.
    Wait(Duration),
}

/// Who is active where.
type Servers = BTreeMap<(Arc<str>, u16), Arc<Server>>;

/// The fleet and the reference, side by side, with what their listeners believe.
pub(crate) struct Story {
    fleet: Fleet,
    reference: Reference,
    setting: Setting,
    start: Instant,
    /// Since the start. `Duration` has no end that matters, `Instant` has.
    now: Duration,
    end: Duration,
    /// Who sends the next datagram: another one each time.
    source: SocketAddrV4,
    counters: FleetCounters,
    /// What is true, as the events tell it.
    history: Servers,
    /// The same, as the subscriber was told it.
    told: Servers,
    changes: Changes,
}

impl Story {
    pub(crate) fn tell(script: &Script) {
        let mut story = Self::new(script.setting.clone());
        for step in &script.steps {
            story.take(step);
        }
        story.drain();
    }

    fn new(setting: Setting) -> Self {
        let start = Instant::now();
        let end = end_of_time(start);
        let picked = setting.picky.then(|| Box::from("imq"));
        let config = FleetConfig {
            alive_check: setting.alive_check,
            max_servers: setting.max_servers,
            names: picked.into_iter().collect(),
        };
        Self {
            fleet: Fleet::new(config, start),
            reference: Reference::new(setting.clone(), end),
            setting,
            start,
            now: Duration::ZERO,
            end,
            source: SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1),
            counters: FleetCounters::default(),
            history: Servers::new(),
            told: Servers::new(),
            changes: Changes::new(),
        }
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Due { past } => {
                let due = self.due().unwrap_or_default().max(self.now);
                self.now = due.saturating_add(*past).min(self.end);
            }
            Step::Drain => self.drain(),
            Step::Hear(Line(bytes)) => self.hear(bytes),
            Step::Join => self.join(),
            Step::Judge => self.judge(),
            Step::Stall(time) => self.now = self.now.saturating_add(*time).min(self.end),
            Step::TurnBack(time) => self.now = self.now.saturating_sub(*time),
            Step::Wait(time) => self.wait(*time),
        }
    }

    fn hear(&mut self, bytes: &[u8]) {
        self.source
            .set_port(self.source.port().wrapping_add(1).max(1));
        let read = Datagram::read(bytes);
        match read.as_ref().map(|datagram| datagram.kind) {
            Ok(Kind::Down) => self.counters.downs += 1,
            Ok(Kind::Up) => self.counters.ups += 1,
            Err(error) => self.counters.rejected[*error as usize] += 1,
        }
        let (expected, said) = self.reference.hear(self.now, read, self.source);
        if let Outcome::Ignored(reason) = expected {
            self.counters.ignored[reason as usize] += 1;
        }

        let mut events = Vec::new();
        let now = self.instant();
        let outcome = self
            .fleet
            .handle_datagram(now, bytes, self.source, &mut events);
        let line = String::from_utf8_lossy(bytes);
        assert_eq!(outcome, expected, "{line:?} at {:?}", self.now);
        self.check(&events, &said);
    }

    fn judge(&mut self) {
        let mut events = Vec::new();
        self.fleet.handle_timeout(self.instant(), &mut events);
        let said = self.reference.timeout(self.now);
        self.check(&events, &said);
        self.fleet.make_room();
        assert!(self.due().is_none_or(|due| due > self.now), "busy loop");
    }

    fn wait(&mut self, time: Duration) {
        let end = self.now.saturating_add(time).min(self.end);
        while let Some(due) = self.due().filter(|due| *due <= end) {
            self.now = self.now.max(due);
            self.judge();
        }
        self.now = end;
    }

    fn join(&mut self) {
        (self.changes, self.told) = (Changes::new(), Servers::new());
        for server in self.fleet.active() {
            self.changes.record(&Event::Added(Arc::clone(server)));
        }
    }

    fn drain(&mut self) {
        let places: BTreeSet<_> = self.told.keys().chain(self.history.keys()).collect();
        let most = places.len();
        let changes = self.changes.take();
        assert!(changes.len() <= most, "more than one per endpoint");
        assert!(changes.is_sorted_by_key(rank), "{changes:?}");
        for change in &changes {
            self.believe(change);
        }
        assert!(
            are_same(&self.told, &self.history),
            "what was told does not add up to the truth"
        );
        assert!(self.changes.is_empty());
    }

    /// Applies a change to what was told.
    fn believe(&mut self, change: &Change) {
        match change {
            Change::Added(server) => {
                assert!(
                    !is_elsewhere(&self.told, server) || is_elsewhere(&self.history, server),
                    "{server:?} is told to be active twice, and is not"
                );
                add(&mut self.told, server);
            }
            Change::Removed(server, _) => remove(&mut self.told, server),
            Change::Renewed(server) => {
                let before = self.told.insert(place(server), Arc::clone(server));
                let before = before.expect("only what was told is renewed");
                assert_eq!(before.id, server.id);
                assert!(!Arc::ptr_eq(&before, server), "nothing was renewed");
            }
            Change::Updated { server, previous } => update(&mut self.told, server, previous),
        }
    }

    /// What must hold after each input, which had these events and should have had those.
    fn check(&mut self, events: &[Event], said: &[String]) {
        let events_said = events.iter().map(text);
        assert!(
            events_said.eq(said.iter().cloned()),
            "{events:?} instead of {said:?} at {:?}",
            self.now
        );
        for event in events {
            self.live(event);
            self.changes.record(event);
        }
        self.check_active();
        self.check_due();
        assert_eq!(self.fleet.len(), self.reference.len());
        assert_eq!(self.fleet.is_empty(), self.reference.len() == 0);
        assert!(self.fleet.len() <= self.setting.max_servers);
        assert_eq!(*self.fleet.counters(), self.counters);
    }

    /// Applies an event to the history, which must be one that could have happened.
    fn live(&mut self, event: &Event) {
        match event {
            Event::Added(server) => {
                assert!(
                    !is_elsewhere(&self.history, server),
                    "{server:?} is active twice, though no change of owner joined it"
                );
                add(&mut self.history, server);
                self.counters.added += 1;
            }
            Event::FleetFull { .. } => assert_eq!(self.fleet.len(), self.setting.max_servers),
            Event::Removed(server, reason) => {
                remove(&mut self.history, server);
                self.counters.removed += 1;
                self.counters.evicted += u64::from(*reason == RemovalReason::Expired);
            }
            Event::Updated { server, previous } => {
                update(&mut self.history, server, previous);
                self.counters.updated += 1;
            }
            other => panic!("an event that this test does not know: {other:?}"),
        }
    }

    fn check_active(&self) {
        let mut active = 0;
        for server in self.fleet.active() {
            let known = self.history.get(&place(server));
            assert!(known.is_some_and(|known| Arc::ptr_eq(known, server)));
            let (at, source) = self
                .reference
                .last_heard(&server.id, &server.host, server.port)
                .unwrap_or_else(|| panic!("{server:?} should not be active"));
            // The cell that heartbeats renew holds nanoseconds, 584 years of them.
            let at = self.start + at.min(Duration::from_nanos(u64::MAX));
            assert_eq!((server.last_heard(), server.source()), (at, source));
            active += 1;
        }
        assert_eq!(active, self.history.len());
        assert_eq!(active, self.reference.active());
    }

    /// The fleet asks to be called before anybody is late, and often enough to know that it runs.
    fn check_due(&self) {
        let due = self.due();
        if self.fleet.is_empty() || self.setting.alive_check.is_none() {
            assert_eq!(due, None, "there is nothing to wait for");
        }
        if let Some(deadline) = self.reference.next_deadline() {
            let latest = deadline.min(self.reference.last_input().saturating_add(TICK));
            let latest = latest.max(self.reference.last_input());
            assert!(due.is_some_and(|due| due <= latest), "{due:?} > {latest:?}");
        }
    }

    /// When the fleet asks to be called.
    fn due(&self) -> Option<Duration> {
        let due = self.fleet.poll_timeout()?;
        Some(due.saturating_duration_since(self.start))
    }

    fn instant(&self) -> Instant {
        self.start + self.now
    }
}

/// How far the last instant is away.
fn end_of_time(start: Instant) -> Duration {
    let seconds = (0..64).rev().map(|bit| Duration::from_secs(1 << bit));
    let nanos = (0..30).rev().map(|bit| Duration::from_nanos(1 << bit));
    let last = seconds
        .chain(nanos)
        .fold(start, |last, step| last.checked_add(step).unwrap_or(last));
    last - start
}

fn rank(change: &Change) -> u8 {
    match change {
        Change::Removed(..) => 0,
        Change::Renewed(_) | Change::Updated { .. } => 1,
        Change::Added(_) => 2,
    }
}

/// Whether the server's guid is active at another endpoint.
fn is_elsewhere(servers: &Servers, server: &Server) -> bool {
    servers.values().any(|other| {
        other.id == server.id && (&other.host, other.port) != (&server.host, server.port)
    })
}

fn are_same(left: &Servers, right: &Servers) -> bool {
    let same = |(left, right): (&Arc<Server>, &Arc<Server>)| Arc::ptr_eq(left, right);
    left.keys().eq(right.keys()) && left.values().zip(right.values()).all(same)
}

fn add(servers: &mut Servers, server: &Arc<Server>) {
    let before = servers.insert(place(server), Arc::clone(server));
    assert!(before.is_none(), "{before:?} was where {server:?} came");
}

fn remove(servers: &mut Servers, server: &Arc<Server>) {
    let before = servers.remove(&place(server));
    let same = before.is_some_and(|before| Arc::ptr_eq(&before, server));
    assert!(same, "{server:?} went and was not there");
}

fn update(servers: &mut Servers, server: &Arc<Server>, previous: &Arc<Server>) {
    assert_ne!(server.id, previous.id);
    assert_eq!(place(server), place(previous));
    remove(servers, previous);
    add(servers, server);
}

fn place(server: &Server) -> (Arc<str>, u16) {
    (Arc::clone(&server.host), server.port)
}

/// An event as the reference puts it.
fn text(event: &Event) -> String {
    let at = |server: &Server| format!("{}:{}", server.host, server.port);
    match event {
        Event::Added(server) => format!("+{}@{}", server.id, at(server)),
        Event::FleetFull { limit } => format!("full at {limit}"),
        Event::Removed(server, reason) => {
            format!("-{}@{} {}", server.id, at(server), reason.as_str())
        }
        Event::Updated { server, previous } => {
            format!("{}>{}@{}", previous.id, server.id, at(server))
        }
        other => panic!("an event that this test does not know: {other:?}"),
    }
}
