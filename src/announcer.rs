//! An announcer, as JavaScript sees it.

#![expect(
    clippy::too_many_arguments,
    reason = "primitives are what crosses the boundary best"
)]

use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use imqueue_udp_core::{Announcement, Transport};
use imqueue_udp_net as net;
use napi::Result;
use napi::bindgen_prelude::{FnArgs, Function};
use napi_derive::napi;

use crate::environment::{Environment, Resident};
use crate::error::{failed, invalid};

/// Announces one address from its constructor until `stop`.
#[napi]
pub struct Announcer {
    native: Rc<Resident<net::Announcer>>,
}

impl fmt::Debug for Announcer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Announcer").finish_non_exhaustive()
    }
}

#[napi]
impl Announcer {
    /// Announces at once and then every `interval` ms.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        environment: &Environment,
        host: String,
        port: u16,
        name: String,
        id: String,
        interval: f64,
        transport: Option<String>,
        destinations: Vec<String>,
    ) -> Result<Self> {
        let interval = Duration::from_secs_f64(interval / 1000.0);
        let transport = transport.as_deref().and_then(Transport::parse);
        let announcement =
            Announcement::new(&name, &id, &host, port, interval, transport).map_err(invalid)?;
        let destinations = destinations
            .iter()
            .map(|destination| destination.parse())
            .collect::<std::result::Result<_, _>>()
            .map_err(invalid)?;
        let options = net::AnnouncerOptions {
            announcement,
            destinations,
            interface: None,
        };
        let native = net::Announcer::start(options, environment.waker()).map_err(failed)?;
        Ok(Self {
            native: environment.house(native),
        })
    }

    /// Hands over what has happened since the last drain, as `(level, code, message)`.
    #[napi(
        catch_unwind,
        ts_args_type = "onNotice: (level: 'info' | 'warn' | 'error', code: string, message: string) => void"
    )]
    pub fn drain(&self, on_notice: Function<'_, FnArgs<(&str, &str, &str)>, ()>) -> Result<()> {
        for notice in self.native.with(net::Announcer::take).unwrap_or_default() {
            let message = notice.to_string();
            on_notice.call((notice.level().as_str(), notice.code(), &*message).into())?;
        }
        Ok(())
    }

    /// Ends the heartbeats and sends `down`; the notice `stopped` follows.
    #[napi(catch_unwind)]
    pub fn stop(&self) {
        self.native.with(net::Announcer::stop);
    }

    /// Forgets the announcer; without a `stop` before, no `down` is sent.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        self.native.end();
    }
}
