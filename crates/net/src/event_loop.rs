//! What the hub thread does: waits for something to happen, then does all that is due.

use std::collections::{HashMap, VecDeque};
use std::future;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, WeakUnboundedSender};

use crate::alarm::Alarm;
use crate::announcer::Owner;
use crate::backoff::Backoff;
use crate::hub::Command;
use crate::interface::Interfaces;
use crate::listener::Subscriber;
use crate::lookup::Lookups;
use crate::notice::Notice;
use crate::port::{Activity, Port};
use crate::rest::Rest;
use crate::socket::Buffers;
use crate::speaker::Speaker;

/// Everything that lives on the hub thread. It outlasts a panic of [`run`](Self::run).
#[derive(Debug)]
pub(crate) struct EventLoop {
    commands: UnboundedReceiver<Command>,
    /// Commands that came and have not been obeyed yet.
    pending: VecDeque<Command>,
    /// Nobody is left to send commands.
    closed: bool,
    ports: HashMap<u16, Port>,
    speakers: Vec<Speaker>,
    interfaces: Interfaces,
    lookups: Lookups,
    buffers: Buffers,
    alarm: Alarm,
    rest: Rest,
    panics: Panics,
}

/// How often this happened, and what there is left to do about it.
#[derive(Debug)]
struct Panics {
    backoff: Backoff,
    last: Option<Instant>,
    /// Everybody has to be called, since a call may have been cut short.
    call_all: bool,
}

impl EventLoop {
    pub(crate) fn new(
        commands: UnboundedReceiver<Command>,
        sender: WeakUnboundedSender<Command>,
    ) -> Self {
        Self {
            commands,
            pending: VecDeque::new(),
            closed: false,
            ports: HashMap::new(),
            speakers: Vec::new(),
            interfaces: Interfaces::default(),
            lookups: Lookups::new(sender),
            buffers: Buffers::new(),
            alarm: Alarm::default(),
            rest: Rest::default(),
            panics: Panics {
                backoff: Backoff::new(Duration::from_millis(100), Duration::from_secs(5)),
                last: None,
                call_all: false,
            },
        }
    }

    /// Works until the hub has no users left. Can be called again after a panic.
    pub(crate) async fn run(&mut self) {
        if std::mem::take(&mut self.panics.call_all) {
            self.subscribers()
                .for_each(|subscriber| subscriber.inbox.call());
            self.speakers.iter().for_each(Speaker::call);
        }
        self.turn();
        while !self.closed {
            self.wait().await;
            self.turn();
        }
    }

    /// After a panic: lets everybody know, and pauses, the longer the more often it happens.
    pub(crate) async fn recover(&mut self, message: &Arc<str>) {
        let now = Instant::now();
        for subscriber in self.subscribers() {
            subscriber.inbox.post_quietly(|news| {
                let notice = Notice::Panicked {
                    message: Arc::clone(message),
                    held_back: 0,
                };
                news.notices.push(now, notice);
            });
        }
        for speaker in &self.speakers {
            speaker.note_panic(now, message);
        }
        let panics = &mut self.panics;
        panics.call_all = true;
        if panics
            .last
            .replace(now)
            .is_none_or(|last| now - last > Panics::FORGOTTEN)
        {
            panics.backoff.reset();
        }
        let end = now + panics.backoff.pause();
        while !self.closed && Instant::now() < end {
            self.collect(Some(end), false).await;
        }
    }

    /// Waits until there is something to do.
    async fn wait(&mut self) {
        let ports = self.ports.values().filter_map(Port::poll_timeout);
        let speakers = self.speakers.iter().filter_map(Speaker::poll_timeout);
        let timeout = ports.chain(speakers).min();
        self.rest.take(timeout);
        self.collect(timeout, true).await;
    }

    /// Waits for commands, for `timeout` at the latest, and for datagrams if `readable`.
    async fn collect(&mut self, timeout: Option<Instant>, readable: bool) {
        future::poll_fn(|cx| {
            // Each is asked, so that each of them can wake the thread.
            let mut ready = self.alarm.poll(timeout, cx).is_ready();
            while let Poll::Ready(command) = self.commands.poll_recv(cx) {
                ready = true;
                match command {
                    Some(command) => self.pending.push_back(command),
                    None => {
                        self.closed = true;
                        break;
                    }
                }
            }
            if readable {
                for port in self.ports.values() {
                    ready |= port.poll_readable(cx).is_ready();
                }
            }
            if ready {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }

    /// Does all that is due, whatever the reason to wake up was.
    fn turn(&mut self) {
        while let Some(command) = self.pending.pop_front() {
            self.obey(command);
        }
        let mut activity = Activity::Nothing;
        for port in self.ports.values_mut() {
            activity = activity.max(port.turn(&mut self.buffers, &mut self.interfaces));
        }
        self.rest.record(Instant::now(), activity);
        for speaker in &mut self.speakers {
            speaker.handle_timeout(Instant::now(), &mut self.interfaces, &self.lookups);
        }
    }

    fn obey(&mut self, command: Command) {
        let now = Instant::now();
        match command {
            Command::Announce(options, owner) => {
                self.speakers.push(Speaker::new(options, owner, now));
            }
            Command::Forget(owner) => self.speakers.retain(|speaker| !speaker.is_of(&owner)),
            Command::Redirect(owner, destinations) => {
                if let Some(speaker) = speaker_of(&owner, &mut self.speakers) {
                    speaker.redirect(now, &destinations, &mut self.interfaces, &self.lookups);
                }
            }
            Command::Resolved(owner, name, result) => {
                if let Some(speaker) = speaker_of(&owner, &mut self.speakers) {
                    speaker.resolved(now, &name, result);
                }
            }
            Command::Stop(owner) => {
                if let Some(speaker) = speaker_of(&owner, &mut self.speakers) {
                    speaker.stop(now, &mut self.interfaces, &self.lookups);
                }
            }
            Command::Subscribe(options, subscriber) => {
                let number = options.port;
                let port = self
                    .ports
                    .entry(number)
                    .or_insert_with(|| Port::new(number, now));
                port.subscribe(now, options, subscriber, &self.interfaces);
            }
            Command::Unsubscribe(subscriber) => {
                self.ports.retain(|_, port| port.unsubscribe(&subscriber));
            }
            #[cfg(any(test, feature = "fault-injection"))]
            Command::Panic(message) => panic!("{message}"),
        }
    }

    fn subscribers(&self) -> impl Iterator<Item = &Arc<Subscriber>> {
        self.ports.values().flat_map(Port::subscribers)
    }
}

fn speaker_of<'a>(owner: &Arc<Owner>, speakers: &'a mut [Speaker]) -> Option<&'a mut Speaker> {
    speakers.iter_mut().find(|speaker| speaker.is_of(owner))
}

impl Panics {
    /// How long after a panic the next one counts as the first.
    const FORGOTTEN: Duration = Duration::from_secs(60);
}
