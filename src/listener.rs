//! A subscription to the fleet, as JavaScript sees it.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::net::Ipv4Addr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use imqueue_udp_core::{Change, FleetConfig, Server, Transport};
use imqueue_udp_net as net;
use napi::Result;
use napi::bindgen_prelude::{FnArgs, Function};
use napi_derive::napi;

use crate::environment::{Environment, Resident};
use crate::error::{failed, invalid};
use crate::stats;

/// `(kind, id, name, host, port, timeout in ms, transport, detail)`. The detail is the reason of a
/// `remove`, `down` or `expired`, and the previous id of an `update`.
type ChangeArgs<'a> = (
    &'a str,
    &'a str,
    &'a str,
    &'a str,
    u16,
    f64,
    Option<&'a str>,
    Option<&'a str>,
);

/// `(level, code, message)`.
type NoticeArgs<'a> = (&'a str, &'a str, &'a str);

/// `(id, name, host, port, transport, last heard in ms since the epoch, source)`.
type ServerArgs<'a> = (
    &'a str,
    &'a str,
    &'a str,
    u16,
    Option<&'a str>,
    f64,
    &'a str,
);

/// The servers that JavaScript knows, by host and port.
type Told = BTreeMap<(Arc<str>, u16), Arc<Server>>;

/// Listens to the fleet from its constructor until `close`.
#[napi]
pub struct Listener {
    native: Rc<Resident<net::Listener>>,
    backlog: RefCell<VecDeque<Change>>,
    told: RefCell<Told>,
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").finish_non_exhaustive()
    }
}

#[napi]
impl Listener {
    /// Subscribes; a `correction` (in ms) that is null turns the alive check off. The arguments
    /// have been checked by the facade.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        environment: &Environment,
        port: u16,
        address: String,
        relay: bool,
        correction: Option<f64>,
        max_servers: u32,
        names: Vec<String>,
    ) -> Result<Self> {
        let options = net::ListenerOptions {
            port,
            address: address.parse::<Ipv4Addr>().map_err(invalid)?,
            relay,
            fleet: FleetConfig {
                alive_check: correction.map(|ms| Duration::from_secs_f64(ms / 1000.0)),
                max_servers: max_servers as usize,
                names: names.into_iter().map(Into::into).collect(),
            },
        };
        let native = net::Listener::start(options, environment.waker()).map_err(failed)?;
        Ok(Self {
            native: environment.house(native),
            backlog: RefCell::default(),
            told: RefCell::default(),
        })
    }

    /// Hands over what has changed since the last drain, at most `limit` changes, and says whether
    /// more may be waiting. A callback that throws ends the drain; the rest stays for the next one.
    #[napi(
        catch_unwind,
        ts_args_type = "limit: number, \
            onChange: (kind: 'add' | 'remove' | 'update', id: string, name: string, host: string, \
                port: number, timeout: number, transport: string | null, detail: string | null) => void, \
            onNotice: (level: 'info' | 'warn' | 'error', code: string, message: string) => void"
    )]
    pub fn drain(
        &self,
        limit: u32,
        on_change: Function<'_, FnArgs<ChangeArgs<'_>>, ()>,
        on_notice: Function<'_, FnArgs<NoticeArgs<'_>>, ()>,
    ) -> Result<bool> {
        // What came since that one was taken has woken JavaScript already, and will not again.
        let rest_of_batch = !self.backlog.borrow().is_empty();
        if !rest_of_batch {
            let batch = self.native.with(net::Listener::take).unwrap_or_default();
            self.backlog.borrow_mut().extend(batch.changes);
            for notice in batch.notices {
                let message = notice.to_string();
                on_notice.call((notice.level().as_str(), notice.code(), &*message).into())?;
            }
        }
        for _ in 0..limit {
            // Nothing is borrowed while JavaScript runs: it may close this listener.
            let Some(change) = self.backlog.borrow_mut().pop_front() else {
                return Ok(rest_of_batch);
            };
            self.note(&change);
            if let Some(arguments) = arguments(&change) {
                on_change.call(arguments.into())?;
            }
        }
        Ok(rest_of_batch || !self.backlog.borrow().is_empty())
    }

    /// Shows every server that JavaScript was told of and that is still there.
    #[napi(
        catch_unwind,
        ts_args_type = "each: (id: string, name: string, host: string, port: number, \
            transport: string | null, lastHeard: number, source: string) => void"
    )]
    pub fn servers(&self, each: Function<'_, FnArgs<ServerArgs<'_>>, ()>) -> Result<()> {
        let told: Vec<_> = self.told.borrow().values().cloned().collect();
        for server in told {
            let source = server.source().to_string();
            each.call(
                (
                    &*server.id,
                    &*server.name,
                    &*server.host,
                    server.port,
                    server.transport.map(Transport::as_str),
                    epoch_ms(server.last_heard()),
                    &*source,
                )
                    .into(),
            )?;
        }
        Ok(())
    }

    /// Shows every counter by its name; a name with a dot in it is a counter within a group.
    #[napi(
        catch_unwind,
        ts_args_type = "each: (name: string, value: number) => void"
    )]
    pub fn stats(&self, each: Function<'_, FnArgs<(&str, f64)>, ()>) -> Result<()> {
        let stats = self.native.with(net::Listener::stats).unwrap_or_default();
        // Exact up to 2^53, and JavaScript has no other numbers.
        stats::for_each(&stats, |name, value| each.call((name, value as f64).into()))
    }

    /// The address that the socket is bound to, or null while it is not.
    #[napi(catch_unwind)]
    pub fn address(&self) -> Option<String> {
        self.native
            .with(net::Listener::local_addr)
            .flatten()
            .map(|address| address.ip().to_string())
    }

    /// Ends the subscription; nothing is handed over any more.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        self.native.end();
        self.backlog.borrow_mut().clear();
        self.told.borrow_mut().clear();
    }
}

impl Listener {
    fn note(&self, change: &Change) {
        let mut told = self.told.borrow_mut();
        match change {
            Change::Added(server) | Change::Renewed(server) | Change::Updated { server, .. } => {
                told.insert((Arc::clone(&server.host), server.port), Arc::clone(server));
            }
            Change::Removed(server, _) => {
                told.remove(&(Arc::clone(&server.host), server.port));
            }
        }
    }
}

/// What JavaScript is told of a change, if it is told.
fn arguments(change: &Change) -> Option<ChangeArgs<'_>> {
    let (kind, server, detail) = match change {
        Change::Added(server) => ("add", server, None),
        Change::Removed(server, reason) => ("remove", server, Some(reason.as_str())),
        Change::Renewed(_) => return None,
        Change::Updated { server, previous } => ("update", server, Some(&*previous.id)),
    };
    Some((
        kind,
        &*server.id,
        &*server.name,
        &*server.host,
        server.port,
        server.interval.as_secs_f64() * 1000.0,
        server.transport.map(Transport::as_str),
        detail,
    ))
}

/// The clock that the tracker runs on has no date; the wall clock knows how long ago it was. Never
/// later than what JavaScript reads off that clock next, which counts whole milliseconds as well.
#[expect(
    clippy::disallowed_methods,
    reason = "for people to read, not to decide anything by"
)]
fn epoch_ms(instant: Instant) -> f64 {
    let now = SystemTime::now();
    let then = now
        .checked_sub(instant.elapsed())
        .unwrap_or(SystemTime::UNIX_EPOCH);
    let since_epoch = then
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    since_epoch.as_millis() as f64
}
