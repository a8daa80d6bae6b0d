//! Brokers that leave by their own word and come back under the same guid, again and again: perhaps
//! somebody else says that they leave.

use std::collections::VecDeque;
use std::net::SocketAddrV4;
use std::sync::Arc;
use std::time::{Duration, Instant};

use imqueue_udp_core::{Event, RemovalReason, Server};

use crate::notice::Notice;

/// Remembers who left lately, and tells of those who came back more than once within a minute.
///
/// Once is no reason: a broker may say `down` while it is busy. A forged `down` cannot be told from
/// a true one without a secret, but an operator who knows its sender can find out.
#[derive(Debug, Default)]
pub(crate) struct Flapping {
    /// In the order of their first `down`.
    departed: VecDeque<Departed>,
}

#[derive(Debug)]
struct Departed {
    server: Arc<Server>,
    /// Where its last `down` came from.
    down_from: SocketAddrV4,
    /// When it was back last.
    returned_at: Option<Instant>,
}

/// How many departures are remembered; the oldest is forgotten first. A fleet in which more brokers
/// flap is said to flap all the same.
const MEMORY: usize = 64;

/// How soon a broker has to come back again to be told of.
const WINDOW: Duration = Duration::from_secs(60);

impl Flapping {
    /// Takes note of an event that a datagram from `source` caused, and tells of a broker that is
    /// back again.
    pub(crate) fn record(
        &mut self,
        now: Instant,
        event: &Event,
        source: SocketAddrV4,
    ) -> Option<Notice> {
        match event {
            Event::Added(server) => self.returned(now, server),
            Event::Removed(server, RemovalReason::Down) => {
                self.left(server, source);
                None
            }
            _ => None,
        }
    }

    fn left(&mut self, server: &Arc<Server>, down_from: SocketAddrV4) {
        if let Some(departed) = self.find(server) {
            departed.down_from = down_from;
            return;
        }
        if self.departed.len() >= MEMORY {
            self.departed.pop_front();
        }
        self.departed.push_back(Departed {
            server: Arc::clone(server),
            down_from,
            returned_at: None,
        });
    }

    fn returned(&mut self, now: Instant, server: &Arc<Server>) -> Option<Notice> {
        let departed = self.find(server)?;
        let before = departed.returned_at.replace(now)?;
        let again = now.saturating_duration_since(before) < WINDOW;
        again.then(|| Notice::Flapping {
            server: Arc::clone(server),
            down_from: departed.down_from,
            held_back: 0,
        })
    }

    fn find(&mut self, server: &Server) -> Option<&mut Departed> {
        let is_same = |departed: &&mut Departed| {
            let known = &departed.server;
            (&known.id, &known.host, known.port) == (&server.id, &server.host, server.port)
        };
        self.departed.iter_mut().find(is_same)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use imqueue_udp_core::{Fleet, FleetConfig};

    use super::*;

    /// A fleet in virtual time, with what is told about it.
    struct World {
        start: Instant,
        fleet: Fleet,
        flapping: Flapping,
    }

    impl World {
        fn new() -> Self {
            let start = Instant::now();
            Self {
                start,
                fleet: Fleet::new(FleetConfig::default(), start),
                flapping: Flapping::default(),
            }
        }

        /// Who is told of when this datagram comes, and where the last `down` came from.
        fn hear(&mut self, seconds: u64, datagram: &str, from: u16) -> Option<(String, u16)> {
            let now = self.start + Duration::from_secs(seconds);
            let source = SocketAddrV4::new(Ipv4Addr::LOCALHOST, from);
            let bytes = datagram.replace(' ', "\t");
            let mut events = Vec::new();
            self.fleet
                .handle_datagram(now, bytes.as_bytes(), source, &mut events);
            let told = |event| self.flapping.record(now, event, source);
            match events.iter().find_map(told)? {
                Notice::Flapping {
                    server, down_from, ..
                } => Some((server.id.to_string(), down_from.port())),
                other => panic!("{other}"),
            }
        }
    }

    #[test]
    fn tells_of_a_broker_that_is_back_for_the_second_time_within_a_minute() {
        let mut world = World::new();
        assert_eq!(world.hear(0, "n a up h:1 9", 1), None);
        assert_eq!(world.hear(1, "n a down h:1", 66), None);
        assert_eq!(world.hear(3, "n a up h:1 9", 1), None);
        assert_eq!(world.hear(4, "n a down h:1", 67), None);
        assert_eq!(world.hear(6, "n a up h:1 9", 1), Some(("a".into(), 67)));
        assert_eq!(world.hear(7, "n a down h:1", 66), None);
        assert_eq!(world.hear(66, "n a up h:1 9", 1), None);
    }

    #[test]
    fn restarts_and_evictions_are_no_flapping() {
        let mut world = World::new();
        for run in 0..4 {
            assert_eq!(world.hear(run, &format!("n {run} up h:1 9"), 1), None);
            assert_eq!(world.hear(run, &format!("n {run} down h:1"), 1), None);
        }
        let mut events = Vec::new();
        for second in [10, 20, 30] {
            assert_eq!(world.hear(second, "n z up h:2 1", 1), None);
            let now = world.start + Duration::from_secs(second + 9);
            world.fleet.handle_timeout(now, &mut events);
        }
    }

    #[test]
    fn its_memory_is_bounded() {
        let mut world = World::new();
        for number in 1..1_000 {
            world.hear(number, &format!("n {number} up h:{number} 9"), 1);
            world.hear(number, &format!("n {number} down h:{number}"), 1);
        }
        assert_eq!(world.flapping.departed.len(), MEMORY);
    }
}
