//! The hub's side of all listeners: one port, and socket, for each number.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::task::Context;
use std::time::Instant;

use crate::interface::Interfaces;
use crate::listener::{ListenerOptions, Subscriber};
use crate::notice::Notice;
use crate::port::{Activity, Port};
use crate::rest::Rest;
use crate::socket::Buffers;

/// What the hub does for listeners.
///
/// Only a listener knows more of it than this. A program without any, such as a module of Redis, so
/// carries nothing along of what it takes to listen.
pub(crate) trait Listening: fmt::Debug + Send {
    fn subscribe(
        &mut self,
        now: Instant,
        options: ListenerOptions,
        subscriber: Arc<Subscriber>,
        interfaces: &Interfaces,
    );

    fn unsubscribe(&mut self, subscriber: &Arc<Subscriber>);

    /// When to call [`turn`](Self::turn) next, if nothing arrives before.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Whether something has arrived; otherwise the task is woken when something does.
    fn poll_readable(&self, cx: &mut Context<'_>) -> bool;

    /// Lets datagrams gather where they come fast, but not beyond `timeout`. Says whether it did.
    fn rest(&mut self, timeout: Option<Instant>) -> bool;

    /// Reads every socket dry, and does what is due.
    fn turn(&mut self, interfaces: &mut Interfaces);

    /// Tells every listener of a panic, for which none of them is called.
    fn note_panic(&self, now: Instant, message: &Arc<str>);

    /// Calls every listener.
    fn call_all(&self);
}

/// The ports that are listened on.
#[derive(Debug)]
pub(crate) struct Ports {
    ports: HashMap<u16, Port>,
    buffers: Buffers,
    rest: Rest,
}

impl Ports {
    /// None, for the first listener.
    pub(crate) fn boxed() -> Box<dyn Listening> {
        Box::new(Self {
            ports: HashMap::new(),
            buffers: Buffers::new(),
            rest: Rest::default(),
        })
    }

    fn subscribers(&self) -> impl Iterator<Item = &Arc<Subscriber>> {
        self.ports.values().flat_map(Port::subscribers)
    }
}

impl Listening for Ports {
    fn subscribe(
        &mut self,
        now: Instant,
        options: ListenerOptions,
        subscriber: Arc<Subscriber>,
        interfaces: &Interfaces,
    ) {
        let number = options.port;
        let port = self
            .ports
            .entry(number)
            .or_insert_with(|| Port::new(number, now));
        port.subscribe(now, options, subscriber, interfaces);
    }

    fn unsubscribe(&mut self, subscriber: &Arc<Subscriber>) {
        self.ports.retain(|_, port| port.unsubscribe(subscriber));
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.ports.values().filter_map(Port::poll_timeout).min()
    }

    fn poll_readable(&self, cx: &mut Context<'_>) -> bool {
        // Each is asked, so that each of them can wake the thread.
        let mut ready = false;
        for port in self.ports.values() {
            ready |= port.poll_readable(cx).is_ready();
        }
        ready
    }

    fn rest(&mut self, timeout: Option<Instant>) -> bool {
        self.rest.take(timeout)
    }

    fn turn(&mut self, interfaces: &mut Interfaces) {
        let mut activity = Activity::Nothing;
        for port in self.ports.values_mut() {
            activity = activity.max(port.turn(&mut self.buffers, interfaces));
        }
        self.rest.record(Instant::now(), activity);
    }

    fn note_panic(&self, now: Instant, message: &Arc<str>) {
        for subscriber in self.subscribers() {
            subscriber.inbox.post_quietly(|news| {
                let notice = Notice::Panicked {
                    message: Arc::clone(message),
                    held_back: 0,
                };
                news.notices.push(now, notice);
            });
        }
    }

    fn call_all(&self) {
        self.subscribers()
            .for_each(|subscriber| subscriber.inbox.call());
    }
}
