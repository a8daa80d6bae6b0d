//! A world in which time is a number: one fleet, and whoever talks to it.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::{Duration, Instant};

use imqueue_udp_core::{Event, Fleet, FleetConfig, Outcome, RemovalReason, Server};

pub(crate) const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A fleet on a virtual clock.
///
/// Every event has to be expected before anything else happens: one that was not fails the test at
/// the next step, or when the world ends. So a test also says what does *not* happen.
pub(crate) struct World {
    pub(crate) fleet: Fleet,
    start: Instant,
    now: Instant,
    events: Vec<Event>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(FleetConfig::default())
    }

    pub(crate) fn with(config: FleetConfig) -> Self {
        let start = Instant::now();
        Self {
            fleet: Fleet::new(config, start),
            start,
            now: start,
            events: Vec::new(),
        }
    }

    /// The broker `id` at `address` says that it is there, as it does once a second.
    #[track_caller]
    pub(crate) fn up(&mut self, id: &str, address: &str) -> Outcome {
        self.up_every(1, id, address)
    }

    /// The same from a broker with another interval in seconds.
    #[track_caller]
    pub(crate) fn up_every(&mut self, interval: u64, id: &str, address: &str) -> Outcome {
        self.hear(&format!("imq-broker\t{id}\tup\t{address}\t{interval}"))
    }

    /// The broker `id` says that it leaves `address`.
    #[track_caller]
    pub(crate) fn down(&mut self, id: &str, address: &str) -> Outcome {
        self.hear(&format!("imq-broker\t{id}\tdown\t{address}"))
    }

    #[track_caller]
    pub(crate) fn hear(&mut self, line: &str) -> Outcome {
        self.expect_nothing();
        let source = SocketAddrV4::new(Ipv4Addr::new(10, 0, 4, 12), 49_152);
        self.fleet
            .handle_datagram(self.now, line.as_bytes(), source, &mut self.events)
    }

    /// Time passes and the listener runs: it does what the fleet asks for, when it asks for it,
    /// until something happens or the time is over.
    #[track_caller]
    pub(crate) fn wait(&mut self, time: Duration) {
        self.expect_nothing();
        let end = self.now + time;
        while let Some(due) = self.fleet.poll_timeout().filter(|due| *due <= end) {
            self.now = self.now.max(due);
            self.fleet.handle_timeout(self.now, &mut self.events);
            assert!(
                self.events.is_empty() || self.now == end,
                "too early: {}",
                self.story()
            );
        }
        self.now = end;
    }

    /// Time passes and the listener does not run.
    #[track_caller]
    pub(crate) fn stall(&mut self, time: Duration) {
        self.expect_nothing();
        self.now += time;
    }

    /// The socket has been read dry.
    #[track_caller]
    pub(crate) fn judge(&mut self) {
        self.expect_nothing();
        self.fleet.handle_timeout(self.now, &mut self.events);
    }

    #[track_caller]
    pub(crate) fn expect_added(&mut self, id: &str, address: &str) {
        match self.next_event() {
            Some(Event::Added(server)) => assert_is(&server, id, address),
            other => panic!("expected {id} to be added, got {other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn expect_removed(&mut self, id: &str, address: &str, why: RemovalReason) {
        match self.next_event() {
            Some(Event::Removed(server, reason)) => {
                assert_is(&server, id, address);
                assert_eq!(reason, why);
            }
            other => panic!("expected {id} to be removed, got {other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn expect_updated(&mut self, previous_id: &str, id: &str, address: &str) {
        match self.next_event() {
            Some(Event::Updated { server, previous }) => {
                assert_is(&previous, previous_id, address);
                assert_is(&server, id, address);
            }
            other => panic!("expected {previous_id} to become {id}, got {other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn expect_full(&mut self, expected: usize) {
        match self.next_event() {
            Some(Event::FleetFull { limit }) => assert_eq!(limit, expected),
            other => panic!("expected the fleet to be full, got {other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn expect_nothing(&self) {
        assert!(self.events.is_empty(), "unexpected: {}", self.story());
    }

    /// The active servers as `id@host:port`, sorted.
    pub(crate) fn active(&self) -> Vec<String> {
        let text = |server: &Server| format!("{}@{}", server.id, address(server));
        let mut active: Vec<String> = self.fleet.active().map(|server| text(server)).collect();
        active.sort();
        active
    }

    pub(crate) fn server(&self, id: &str) -> &Server {
        self.fleet
            .active()
            .find(|server| *server.id == *id)
            .expect("no such server is active")
    }

    /// How long the world has been going on.
    pub(crate) fn age(&self) -> Duration {
        self.now - self.start
    }

    /// The age of the world at which the fleet wants to be called.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.fleet.poll_timeout().map(|due| due - self.start)
    }

    fn next_event(&mut self) -> Option<Event> {
        (!self.events.is_empty()).then(|| self.events.remove(0))
    }

    fn story(&self) -> String {
        format!("{:?} at {:?}", self.events, self.age())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.expect_nothing();
        }
    }
}

#[track_caller]
fn assert_is(server: &Server, id: &str, at: &str) {
    assert_eq!((&*server.id, address(server).as_str()), (id, at));
}

fn address(server: &Server) -> String {
    format!("{}:{}", server.host, server.port)
}
