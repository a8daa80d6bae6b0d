//! The life of a module: what happens on Redis' main thread.

use std::any::Any;
use std::error::Error;
use std::ffi::CStr;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};
use std::{env, fmt, mem};

use imqueue_udp_net::Level;

use crate::endpoints::{Endpoint, Listening, endpoints};
use crate::ffi::{Event, Server};
use crate::presence::{Audience, Line, Presence};
use crate::probe::is_listened_on;
use crate::settings::{Options, Settings};
use crate::shutdown;
use crate::watch::Watch;

/// What makes one module out of what all have in common: whom it tells of its Redis.
pub trait Recipe: Sized + Send + 'static {
    /// The name in `MODULE LIST`.
    const NAME: &'static CStr;
    /// Whom it tells.
    const AUDIENCE: Audience;

    /// Begins to find out who they are, and reads its own settings. Dropped when the module is
    /// unloaded, on Redis' main thread.
    ///
    /// # Errors
    ///
    /// Why the module cannot be loaded.
    fn start(options: &mut Options, voice: Voice) -> Result<Self, Box<dyn Error>>;
}

/// How a [`Recipe`] says what it has found out, from any thread.
#[derive(Clone, Debug)]
pub struct Voice(Arc<Presence>);

impl Voice {
    /// From now on these hosts are told, and no others. New ones hear of the broker at once.
    pub fn redirect(&self, hosts: Vec<IpAddr>) {
        self.0.redirect(hosts);
    }

    /// Adds a line to Redis' log, within a tenth of a second.
    pub fn log(&self, level: Level, message: String) {
        self.0.log(level, message);
    }
}

/// The module while it is loaded. A static can outlive an unload, and be met again by the next
/// load: hence nothing in it is set only once.
static MODULE: Mutex<Option<Module>> = Mutex::new(None);

/// How often Redis is asked what it listens on, where it tells of changes, and where it does not.
const READ_AGAIN: Duration = Duration::from_secs(5);
const READ_AGAIN_UNTOLD: Duration = Duration::from_millis(500);

/// After a goodbye, so many crons show that Redis goes on: one may belong to the very moment, at
/// the next one it has tried to end.
const GOES_ON: u32 = 2;

struct Module {
    // In the order in which they are dropped: threads before what they use.
    recipe: Box<dyn Any + Send>,
    watch: Watch,
    presence: Arc<Presence>,
    settings: Settings,
    read_every: Duration,
    read_at: Instant,
    /// Something has changed.
    due: bool,
    was_replica: bool,
    /// How many crons there were since the goodbye.
    silent_crons: u32,
    /// Redis waits for its disk when it ends.
    is_appending: bool,
    /// Its clients may not write for now, or might not when that was looked at last.
    is_paused: bool,
    /// Why nothing is announced, as it was told last.
    told: Option<Line>,
}

/// Starts all that the module needs. Redis calls for events only after that.
pub(crate) fn load<R: Recipe>(server: &Server<'_>, arguments: &[String]) -> Result<(), String> {
    let environment = |name: &str| Some(env::var_os(name)?.to_string_lossy().into_owned());
    let mut options = Options::new(arguments, environment);
    let settings = Settings::read(&mut options);
    let presence = Arc::new(Presence::new(&settings, R::AUDIENCE));
    let recipe = R::start(&mut options, Voice(Arc::clone(&presence)));
    let recipe = recipe.map_err(|error| error.to_string())?;
    let on_end = Arc::clone(&presence);
    let watch = Watch::start(move || on_end.say_goodbye())
        .map_err(|error| format!("cannot watch this host: {error}"))?;

    if settings.is_told_of_redis() {
        options.warn(
            "what Redis listens on is taken from this module's arguments, not from Redis"
                .to_owned(),
        );
    }
    for warning in options.finish() {
        server.log(Level::Warn, &warning);
    }
    let module = Module {
        recipe: Box::new(recipe),
        watch,
        presence,
        settings,
        read_every: READ_AGAIN,
        read_at: Instant::now(),
        due: true,
        was_replica: false,
        silent_crons: 0,
        is_appending: false,
        is_paused: false,
        told: None,
    };
    *MODULE.lock().unwrap_or_else(PoisonError::into_inner) = Some(module);
    Ok(())
}

/// Redis does not tell of changes of its configuration.
pub(crate) fn expect_no_config_events() {
    with_module(|module| module.read_every = READ_AGAIN_UNTOLD);
}

/// Says goodbye and ends everything.
pub(crate) fn unload(server: &Server<'_>) {
    server.filter(false);
    let module = MODULE.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(module) = module {
        module.presence.leave();
        module.log(server);
    }
}

/// Redis is to carry out a SHUTDOWN, unless it refuses to.
pub(crate) fn shutdown_begins() {
    shutdown::begins();
    with_module(|module| module.watch.shutdown_begins());
}

/// Something has happened in Redis.
pub(crate) fn handle(server: &Server<'_>, event: Event) {
    with_module(|module| match event {
        Event::Changed => {
            module.heed_shutdown(server);
            module.refresh(server);
        }
        Event::Cron => module.cron(server),
        Event::Sleep => module.look_out_for_shutdown(server),
        // A replica deletes what it has before it loads what has come, and answers nobody
        // meanwhile. It is back when there are crons again.
        Event::Flushing if server.is_receiving() => module.say_goodbye(server),
        Event::Flushing => {}
        Event::Loading if server.is_loading() => module.say_goodbye(server),
        Event::Loading => {}
        // Saving can take minutes, and while it lasts Redis answers nobody. To save nothing, as
        // after FLUSHALL, takes no time.
        Event::Saving if !module.presence.is_announcing() || server.is_empty() => {}
        Event::Saving | Event::Shutdown => {
            module.presence.leave();
            module.log(server);
        }
    });
}

/// Does nothing if one call leads to another, which Redis never does.
fn with_module(act: impl FnOnce(&mut Module)) {
    let mut slot = match MODULE.try_lock() {
        Ok(slot) => slot,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return,
    };
    if let Some(module) = &mut *slot {
        act(module);
    }
}

impl Module {
    /// Redis calls this ten times a second, as long as it is ready to serve.
    fn cron(&mut self, server: &Server<'_>) {
        self.follow_shutdown(server);
        let changed = self.watch.changed() || self.was_replica != server.is_replica();
        if changed || self.due || self.read_at.elapsed() >= self.read_every {
            self.refresh(server);
        }
        self.log(server);
    }

    /// A shutdown can wait for replicas, fail, or be called off; a save ends.
    fn follow_shutdown(&mut self, server: &Server<'_>) {
        if !self.heed_shutdown(server) && self.presence.is_silent() {
            self.silent_crons += 1;
            if self.silent_crons >= GOES_ON {
                self.silent_crons = 0;
                self.presence.resume();
                self.due = true;
            }
        }
    }

    /// A Redis that was told to end, and waits for its replicas, says so only when it is asked. It
    /// pauses its clients, and this is called right after the command: that is the one at which they
    /// came to be paused, or a SHUTDOWN while they were.
    fn look_out_for_shutdown(&mut self, server: &Server<'_>) {
        let was_told_to_end = shutdown::ends();
        let was_paused = mem::replace(&mut self.is_paused, server.is_paused());
        if was_told_to_end || !was_paused {
            self.heed_shutdown(server);
        }
        if self.is_paused != was_paused {
            self.filter(server);
        }
    }

    /// Hears of SHUTDOWN only while there is something to be heard of: it makes Redis slower.
    fn filter(&self, server: &Server<'_>) {
        server.filter(self.is_appending || self.is_paused);
    }

    /// Says goodbye if Redis waits for its replicas before it ends, and whether it does.
    fn heed_shutdown(&mut self, server: &Server<'_>) -> bool {
        let ends = server.is_paused() && server.is_shutting_down();
        if ends {
            self.presence.say_goodbye();
            self.silent_crons = 0;
        }
        ends
    }

    /// Says goodbye for a while. Where nothing is announced, as at a start, there is nothing to take
    /// back, and nothing to wait for later.
    fn say_goodbye(&mut self, server: &Server<'_>) {
        if self.presence.is_announcing() {
            self.presence.say_goodbye();
            self.silent_crons = 0;
            self.log(server);
        }
    }

    /// Announces what is to be announced now.
    fn refresh(&mut self, server: &Server<'_>) {
        // It can be configured while it loads its data.
        if server.is_loading() {
            self.due = true;
            return;
        }
        self.read_at = Instant::now();
        self.was_replica = server.is_replica();
        self.is_appending = is_appending_lazily(server);
        self.filter(server);
        let wanted = self.wanted(server);
        let endpoints = wanted.as_deref().unwrap_or_default();
        let announced = self.presence.announce(endpoints);
        // It is tried again, as if something had changed.
        self.due = announced.is_err();
        let failed = |error| (Level::Warn, format!("not all is announced: {error}"));
        let nothing = |(level, reason)| (level, format!("nothing is announced: {reason}"));
        let reason = wanted.err().map(nothing).or(announced.err().map(failed));
        if self.told != reason
            && let Some((level, reason)) = &reason
        {
            server.log(*level, reason);
        }
        self.told = reason;
    }

    fn wanted(&self, server: &Server<'_>) -> Result<Vec<Endpoint>, Line> {
        if server.is_replica() && !self.settings.replicas {
            let reason = "this Redis is a replica, and writes to it fail; \
                REDIS_BROADCAST_REPLICAS=1 announces replicas too";
            return Err((Level::Info, reason.to_owned()));
        }
        let warn = |reason: String| (Level::Warn, reason);
        let own = self.watch.addresses();
        let own =
            own.map_err(|error| warn(format!("this host's addresses cannot be listed: {error}")))?;
        let wanted = endpoints(
            &self.listening(server).map_err(warn)?,
            &own,
            &self.settings.selection,
            self.settings.tls,
            self.presence.audience(),
        );
        let wanted = wanted.map_err(|reason| warn(reason.to_string()))?;
        // It may not listen where it was told to, and go on all the same.
        let (open, shut): (Vec<_>, Vec<_>) = wanted
            .into_iter()
            .partition(|it| is_listened_on(it.socket()));
        match shut.first() {
            Some(shut) if open.is_empty() => Err(warn(format!("Redis does not listen on {shut}"))),
            _ => Ok(open),
        }
    }

    /// What Redis listens on: what we were told, or else what it says.
    fn listening(&self, server: &Server<'_>) -> Result<Listening, String> {
        let settings = &self.settings;
        let ask = |name: &CStr| server.config(name)?.parse().ok();
        let port = settings.redis_port.or_else(|| ask(c"port"));
        let tls_port = settings.redis_tls_port.or_else(|| ask(c"tls-port"));
        if port.is_none() && tls_port.is_none() {
            return Err(
                "Redis does not say what it listens on, since its CONFIG command is \
                renamed: give the module the arguments redis-port (or redis-tls-port) and \
                redis-bind"
                    .to_owned(),
            );
        }
        let split = |text: String| text.split_whitespace().map(str::to_owned).collect();
        let said = || server.config(c"bind").map(split);
        let mut bind: Vec<_> = settings
            .redis_bind
            .clone()
            .or_else(said)
            .unwrap_or_else(|| vec!["*".to_owned()]);
        // Until version 7, nothing means everything.
        if bind.is_empty() && server.version() < (7, 0) {
            bind.push("*".to_owned());
        }
        Ok(Listening {
            bind,
            port: port.unwrap_or(0),
            tls_port: tls_port.unwrap_or(0),
        })
    }

    fn log(&self, server: &Server<'_>) {
        for (level, line) in self.presence.take_lines() {
            server.log(level, &line);
        }
    }
}

/// Whether Redis first waits for its disk when it ends. Before version 7 it does not say when a command
/// is over, and one that it refuses could be taken for one that lasts.
fn is_appending_lazily(server: &Server<'_>) -> bool {
    let does_so_always = || {
        server
            .config(c"appendfsync")
            .is_some_and(|when| when == "always")
    };
    server.version() >= (7, 0) && server.is_appending() && !does_so_always()
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module")
            .field("recipe", &self.recipe)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
