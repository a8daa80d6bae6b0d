//! What the hub thread does: waits for something to happen, then does all that is due.

use std::collections::VecDeque;
use std::future;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, WeakUnboundedSender, error::TryRecvError};

use crate::alarm::Alarm;
use crate::announcer::Owner;
use crate::backoff::Backoff;
use crate::hub::Command;
use crate::interface::Interfaces;
use crate::lookup::Lookups;
use crate::ports::Listening;
use crate::speaker::Speaker;

/// Everything that lives on the hub thread. It outlasts a panic of [`run`](Self::run).
#[derive(Debug)]
pub(crate) struct EventLoop {
    commands: UnboundedReceiver<Command>,
    /// Commands that came and have not been obeyed yet.
    pending: VecDeque<Command>,
    /// Nobody is left to send commands.
    closed: bool,
    /// There is none before the first listener.
    ports: Option<Box<dyn Listening>>,
    speakers: Vec<Speaker>,
    interfaces: Interfaces,
    lookups: Lookups,
    alarm: Alarm,
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
            ports: None,
            speakers: Vec::new(),
            interfaces: Interfaces::default(),
            lookups: Lookups::new(sender),
            alarm: Alarm::default(),
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
            self.ports.iter().for_each(|ports| ports.call_all());
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
        if let Some(ports) = &self.ports {
            ports.note_panic(now, message);
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
        let ports = self.ports.iter().filter_map(|ports| ports.poll_timeout());
        let speakers = self.speakers.iter().filter_map(Speaker::poll_timeout);
        let timeout = ports.chain(speakers).min();
        // After a rest there is something to read, most likely: it is read at once, since to ask the
        // runtime first costs more than to find nothing.
        let rested = self.ports.as_mut().is_some_and(|it| it.rest(timeout));
        if rested {
            self.take_commands();
        } else {
            self.collect(timeout, true).await;
        }
    }

    /// Takes the commands that have come.
    fn take_commands(&mut self) {
        loop {
            match self.commands.try_recv() {
                Ok(command) => self.pending.push_back(command),
                Err(error) => {
                    self.closed |= error == TryRecvError::Disconnected;
                    return;
                }
            }
        }
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
            if readable && let Some(ports) = &self.ports {
                ready |= ports.poll_readable(cx);
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
        if let Some(ports) = &mut self.ports {
            ports.turn(&mut self.interfaces);
        }
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
            Command::Stop(owner, end) => {
                if let Some(speaker) = speaker_of(&owner, &mut self.speakers) {
                    speaker.stop(now, end, &mut self.interfaces, &self.lookups);
                }
            }
            Command::Subscribe(options, subscriber, ports) => {
                let ports = self.ports.get_or_insert_with(ports);
                ports.subscribe(now, options, subscriber, &self.interfaces);
            }
            Command::Unsubscribe(subscriber) => {
                if let Some(ports) = &mut self.ports {
                    ports.unsubscribe(&subscriber);
                }
            }
            #[cfg(any(test, feature = "fault-injection"))]
            Command::Panic(message) => panic!("{message}"),
        }
    }
}

fn speaker_of<'a>(owner: &Arc<Owner>, speakers: &'a mut [Speaker]) -> Option<&'a mut Speaker> {
    speakers.iter_mut().find(|speaker| speaker.is_of(owner))
}

impl Panics {
    /// How long after a panic the next one counts as the first.
    const FORGOTTEN: Duration = Duration::from_secs(60);
}
