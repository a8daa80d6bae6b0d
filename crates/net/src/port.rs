//! One port: its sockets, what is read from them, and who gets it.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use imqueue_udp_core::{Datagram, Kind};

use crate::backlog::Backlog;
use crate::backoff::Backoff;
use crate::interface::Interfaces;
use crate::listener::{ListenerOptions, Subscriber};
use crate::notice::Notice;
use crate::pause::Pause;
use crate::relay::{Meaning, Relay};
use crate::rest::load;
use crate::socket::{Arrival, Buffers};
use crate::sockets::Sockets;
use crate::stats::PortCounters;
use crate::tracker::Tracker;

/// Everything on one port. All trackers of the process share its sockets, since a second one that
/// hears everything would take unicast datagrams away from the first.
#[derive(Debug)]
pub(crate) struct Port {
    number: u16,
    binding: Binding,
    /// Begins anew with the first datagram, not with the bind, so that a socket which can be bound
    /// but not read is not opened anew all the time.
    backoff: Backoff,
    /// Times in a row that receiving failed.
    failures: u32,
    trackers: Vec<Tracker>,
    relay: Relay,
    pause: Pause,
    /// Something came that others would have been sent, had there been any.
    seeks_company: bool,
    /// The [`load`] that this turn has read so far.
    load: u64,
    counters: Arc<PortCounters>,
    /// When the system was last asked how many datagrams it dropped.
    drops_read_at: Instant,
    backlog: Backlog,
}

/// What a turn brought, the most notable last.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Activity {
    Nothing,
    /// Datagrams that nobody had to be told of, and their [`load`].
    Heartbeats(u64),
    News,
}

#[derive(Debug)]
enum Binding {
    Open(Sockets),
    Closed {
        retry_at: Instant,
        /// Why, if it is not simply new.
        reason: Option<Notice>,
    },
}

/// How often the system is asked how many datagrams it dropped.
const DROPS_PAUSE: Duration = Duration::from_secs(1);

/// How long one port may be read at a stretch. A flood must not keep deadlines from being judged.
const READ_TIME: Duration = Duration::from_millis(50);

/// How long somebody who comes to the port may miss the unicasts that reach this process.
const COMPANY_AGE: Duration = Duration::from_millis(250);

/// Receiving fails now and then for reasons that pass; after this many times in a row the socket
/// itself must be broken.
const MAX_FAILURES: u32 = 10;

/// How old the list of interfaces may be: when datagrams come, and when one of them tells of an
/// interface or an address that is not on it, or others may be given those that could tell.
const INTERFACES_AGE: Duration = Duration::from_secs(5);
const INTERFACES_AGE_DOUBTFUL: Duration = Duration::from_secs(1);

impl Port {
    /// A port that is to be bound `now`.
    pub(crate) fn new(number: u16, now: Instant) -> Self {
        Self {
            number,
            binding: Binding::Closed {
                retry_at: now,
                reason: None,
            },
            backoff: Backoff::new(Duration::from_millis(250), Duration::from_secs(30)),
            failures: 0,
            trackers: Vec::new(),
            relay: Relay::default(),
            pause: Pause::default(),
            seeks_company: false,
            load: 0,
            counters: Arc::default(),
            drops_read_at: now,
            backlog: Backlog::new(now),
        }
    }

    pub(crate) fn subscribe(
        &mut self,
        now: Instant,
        options: ListenerOptions,
        subscriber: Arc<Subscriber>,
        interfaces: &Interfaces,
    ) {
        let state = match &self.binding {
            Binding::Open(_) => self.counters.bound.get().map(listening),
            Binding::Closed { reason, .. } => reason.clone(),
        };
        let same = self
            .trackers
            .iter()
            .position(|tracker| *tracker.options() == options);
        let place = same.unwrap_or_else(|| {
            self.trackers.push(Tracker::new(options, now));
            self.trackers.len() - 1
        });
        self.trackers[place].subscribe(now, subscriber, &self.counters, state, interfaces);
    }

    /// Whether anybody is left.
    pub(crate) fn unsubscribe(&mut self, subscriber: &Arc<Subscriber>) -> bool {
        self.trackers
            .retain_mut(|tracker| tracker.unsubscribe(subscriber));
        !self.trackers.is_empty()
    }

    pub(crate) fn subscribers(&self) -> impl Iterator<Item = &Arc<Subscriber>> {
        self.trackers.iter().flat_map(Tracker::subscribers)
    }

    pub(crate) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<()> {
        match &self.binding {
            Binding::Open(sockets) => sockets.poll_readable(cx),
            Binding::Closed { .. } => Poll::Pending,
        }
    }

    /// Does all that is due: opens the socket if it is closed, reads it dry, looks for others on the
    /// port, and judges deadlines.
    pub(crate) fn turn(&mut self, buffers: &mut Buffers, interfaces: &mut Interfaces) -> Activity {
        self.load = 0;
        let (now, judged_as_of) = self.receive(buffers, interfaces);
        // Right after reading: a socket that is closed takes with it what waits.
        self.look(now, interfaces);
        let mut activity = match self.load {
            0 => Activity::Nothing,
            load => Activity::Heartbeats(load),
        };
        for tracker in &mut self.trackers {
            if tracker.handle_timeout(judged_as_of, &self.counters, interfaces) {
                activity = Activity::News;
            }
        }
        self.send_copies(now);
        if activity == Activity::News {
            self.trackers.iter_mut().for_each(Tracker::make_room);
        }
        if std::mem::take(&mut self.seeks_company) {
            self.seek_company(now, COMPANY_AGE, interfaces);
        }
        if let Binding::Open(sockets) = &mut self.binding
            && now.saturating_duration_since(self.drops_read_at) >= DROPS_PAUSE
        {
            self.drops_read_at = now;
            self.counters.kernel_drops.add(sockets.drops());
        }
        // While no broker is known at all, that is not worth waking up for.
        self.pause.watch(now, self.relays());
        activity
    }

    /// Reads the sockets dry, but not for ever. Returns the moment up to which that was done, whatever
    /// this thread was kept from since, and the one as of which deadlines can be judged: the same,
    /// unless something may still wait that had arrived before it.
    fn receive(
        &mut self,
        buffers: &mut Buffers,
        interfaces: &mut Interfaces,
    ) -> (Instant, Instant) {
        let started = Instant::now();
        self.pause.begin(started);
        self.open_if_due(started, interfaces);
        let Binding::Open(sockets) = &self.binding else {
            return (started, started);
        };
        let count = sockets.len();
        // A flood at one of them must not keep the others from being read.
        let time = READ_TIME / count as u32;
        let (read_up_to, mut all_dry) = self.read(0, started, time, buffers, interfaces);
        for place in 1..count {
            let (_, is_dry) = self.read(place, Instant::now(), time, buffers, interfaces);
            all_dry &= is_dry;
        }
        self.pause.end(all_dry);
        let judged_as_of = self.backlog.record(read_up_to, all_dry, self.load, count);
        (read_up_to, judged_as_of)
    }

    /// Reads one of the sockets dry, if that takes no longer than `time`. Returns a moment up to
    /// which it was read, and whether it was read dry.
    fn read(
        &mut self,
        place: usize,
        started: Instant,
        time: Duration,
        buffers: &mut Buffers,
        interfaces: &mut Interfaces,
    ) -> (Instant, bool) {
        let mut now = started;
        while let Binding::Open(sockets) = &self.binding
            && let Some(socket) = sockets.get(place)
            && now.duration_since(started) < time
        {
            match socket.receive(buffers) {
                Ok(is_dry) => {
                    let asked = now;
                    now = Instant::now();
                    self.handle_datagrams(now, buffers, interfaces);
                    if is_dry {
                        // What has come since the system was asked is not read yet.
                        return (asked, true);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return (now, true),
                Err(error) => {
                    now = Instant::now();
                    self.handle_failure(now, error);
                }
            }
        }
        (now, false)
    }

    /// Looks for others who share the port, if it is time to.
    fn look(&mut self, now: Instant, interfaces: &mut Interfaces) {
        let knows_brokers = self.knows_brokers();
        if let Binding::Open(sockets) = &mut self.binding
            && let Some(due) = sockets.poll_timeout(knows_brokers)
            && due <= now
        {
            sockets.look(now);
            self.take_unicasts(now, interfaces);
        }
    }

    /// Takes the unicasts if others share the port, who would keep them to themselves.
    fn take_unicasts(&mut self, now: Instant, interfaces: &mut Interfaces) {
        let Binding::Open(sockets) = &mut self.binding else {
            return;
        };
        let mut addresses = Vec::new();
        if sockets.are_shared(now) {
            interfaces.refresh(now, INTERFACES_AGE_DOUBTFUL);
            // And only those: what is not sent on from here, others have a right to.
            let relayed = self.trackers.iter().map(|it| it.relays_from(interfaces));
            addresses.extend(relayed.flatten());
        }
        // Those of the ones that are closed, too.
        self.counters.kernel_drops.add(sockets.drops());
        sockets.take_unicasts_to(&addresses);
    }

    fn knows_brokers(&self) -> bool {
        self.trackers.iter().any(|tracker| tracker.len() > 0)
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let own = match &self.binding {
            Binding::Open(sockets) => sockets.poll_timeout(self.knows_brokers()),
            Binding::Closed { retry_at, .. } => Some(*retry_at),
        };
        self.trackers
            .iter()
            .filter_map(Tracker::poll_timeout)
            .chain(own)
            .chain(self.pause.poll_timeout())
            .min()
    }

    fn judges_deadlines(&self) -> bool {
        let mut trackers = self.trackers.iter();
        trackers.any(|tracker| tracker.options().fleet.alive_check.is_some())
    }

    fn relays(&self) -> bool {
        let mut trackers = self.trackers.iter();
        matches!(self.binding, Binding::Open(_))
            && trackers.any(|tracker| tracker.options().relay && tracker.len() > 0)
    }

    fn open_if_due(&mut self, now: Instant, interfaces: &mut Interfaces) {
        match self.binding {
            Binding::Closed { retry_at, .. } if retry_at <= now => {}
            Binding::Closed { .. } | Binding::Open(_) => return,
        }
        match Sockets::bind(self.number, now) {
            Ok(sockets) => {
                let port = sockets.port();
                self.binding = Binding::Open(sockets);
                self.counters.bound.set(Some(port));
                // While nothing waits for it yet.
                interfaces.refresh(now, INTERFACES_AGE);
                self.take_unicasts(now, interfaces);
                self.notify(now, &listening(port));
            }
            Err(error) => {
                let (error, retry_in) = (Arc::new(error), self.backoff.pause());
                self.close(
                    now,
                    retry_in,
                    Notice::BindFailed {
                        port: self.number,
                        error,
                        retry_in,
                        held_back: 0,
                    },
                );
            }
        }
    }

    fn close(&mut self, now: Instant, pause: Duration, reason: Notice) {
        self.notify(now, &reason);
        self.counters.bound.set(None);
        self.binding = Binding::Closed {
            retry_at: now + pause,
            reason: Some(reason),
        };
    }

    fn handle_failure(&mut self, now: Instant, error: io::Error) {
        self.counters.receive_errors.add(1);
        self.failures += 1;
        let (port, error, held_back) = (self.number, Arc::new(error), 0);
        if self.failures < MAX_FAILURES {
            self.notify(
                now,
                &Notice::ReceiveFailed {
                    port,
                    error,
                    reopen_in: None,
                    held_back,
                },
            );
            return;
        }
        self.failures = 0;
        let pause = self.backoff.pause();
        let reopen_in = Some(pause);
        self.close(
            now,
            pause,
            Notice::ReceiveFailed {
                port,
                error,
                reopen_in,
                held_back,
            },
        );
    }

    fn handle_datagrams(&mut self, now: Instant, buffers: &Buffers, interfaces: &mut Interfaces) {
        self.failures = 0;
        self.backoff.reset();
        interfaces.refresh(now, INTERFACES_AGE);
        for tracker in &self.trackers {
            tracker.look_ahead(buffers.datagrams().map(|(_, bytes)| bytes));
        }
        for (arrival, bytes) in buffers.datagrams() {
            self.handle_datagram(now, &arrival, bytes, interfaces);
        }
    }

    fn handle_datagram(
        &mut self,
        now: Instant,
        arrival: &Arrival,
        bytes: &[u8],
        interfaces: &mut Interfaces,
    ) {
        if self.relay.is_own(arrival.source) {
            self.counters.relay_echoes.add(1);
            return;
        }
        self.counters.datagrams.add(1);
        self.load += load(bytes.len());
        if !interfaces.explain(arrival) {
            interfaces.refresh(now, INTERFACES_AGE_DOUBTFUL);
        }
        let mut meaning = None;
        for tracker in &mut self.trackers {
            let outcome = tracker.handle_datagram(now, arrival, bytes, interfaces);
            if tracker.options().relay {
                meaning = meaning.max(outcome.and_then(Meaning::of));
            }
        }
        // Only what is known to have been sent to this host alone. A broadcast reached the others
        // as well, and a copy of it would be relayed in turn.
        if let Some(meaning) = meaning
            && arrival
                .destination
                .is_some_and(|destination| interfaces.is_own(destination))
        {
            self.forward(now, meaning, bytes, interfaces);
        }
    }

    fn forward(
        &mut self,
        now: Instant,
        meaning: Meaning,
        bytes: &[u8],
        interfaces: &mut Interfaces,
    ) {
        let Ok(Datagram { kind, .. }) = Datagram::read(bytes) else {
            return;
        };
        if self.is_alone() {
            // A missed `up` is followed by another, for which it does to look once users are told.
            // A missed `down` is followed by none.
            match kind {
                Kind::Up => self.seeks_company = true,
                Kind::Down => self.seek_company(now, Duration::ZERO, interfaces),
            }
        }
        if self.is_alone() {
            return;
        }
        // The others may have heard what followed: they would take a broker back that has left, or
        // drop one that is back. Where nobody judges deadlines, a `down` is all that removes it.
        if self.pause.is_stale() && (kind == Kind::Up || self.judges_deadlines()) {
            return;
        }
        let endpoints = self.trackers.iter().map(Tracker::len).max().unwrap_or(0);
        if !self.relay.admits(now, kind, bytes, meaning, endpoints) {
            return;
        }
        // Whoever is told before it is sent sees it counted.
        self.counters.relayed.add(1);
        if self.relay.keep(bytes) {
            self.send_copies(now);
        }
    }

    /// Whether nobody else would hear a copy, as far as is known.
    fn is_alone(&self) -> bool {
        matches!(&self.binding, Binding::Open(sockets) if sockets.are_alone())
    }

    /// Looks whether somebody has come who would hear copies, if the last look is as old as `age`.
    fn seek_company(&mut self, now: Instant, age: Duration, interfaces: &mut Interfaces) {
        if let Binding::Open(sockets) = &mut self.binding
            && sockets.looked_before(now, age)
        {
            sockets.look(now);
            if !sockets.are_alone() {
                self.take_unicasts(now, interfaces);
            }
        }
    }

    fn send_copies(&mut self, now: Instant) {
        let port = self.counters.bound.get().unwrap_or(self.number);
        let mut errors = Vec::new();
        self.relay.send(port, |error| errors.push(Arc::new(error)));
        self.counters.relay_errors.add(errors.len() as u64);
        for error in errors {
            let notice = Notice::RelayFailed {
                port,
                error,
                held_back: 0,
            };
            self.notify(now, &notice);
        }
    }

    fn notify(&self, now: Instant, notice: &Notice) {
        for tracker in &self.trackers {
            tracker.notify(now, notice);
        }
    }
}

fn listening(port: u16) -> Notice {
    Notice::Listening(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When a port that fails until its socket is closed wants to open it again.
    fn pause_after_failures(port: &mut Port, now: Instant) -> Duration {
        port.binding = Binding::Closed {
            retry_at: now,
            reason: None,
        };
        for _ in 1..MAX_FAILURES {
            port.handle_failure(now, io::ErrorKind::NetworkDown.into());
            assert_eq!(port.poll_timeout(), Some(now));
        }
        port.handle_failure(now, io::ErrorKind::NetworkDown.into());
        port.poll_timeout().unwrap() - now
    }

    #[test]
    fn opens_the_socket_anew_when_receiving_fails_repeatedly() {
        let now = Instant::now();
        let mut port = Port::new(0, now);
        let pauses = [(); 3].map(|()| pause_after_failures(&mut port, now).as_millis());
        assert_eq!(pauses, [250, 500, 1000]);

        port.handle_datagrams(now, &Buffers::new(), &mut Interfaces::default());
        assert_eq!(pause_after_failures(&mut port, now).as_millis(), 250);
        assert_eq!(port.counters.bound.get(), None);
    }
}
