//! The module API of Redis, as far as it is needed: what Redis offers, and what it calls.
//!
//! Redis hands each call a context, whose first word is a function that finds the others by name.
//! Valkey knows them by the same names. All of it belongs to Redis' main thread.

use std::any::Any;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::panic::{self, AssertUnwindSafe};
use std::slice;
use std::sync::OnceLock;

use imqueue_udp_net::Level;

use crate::module::{self, Recipe};

use self::functions::{Functions, RawEvent, RedisString};

pub use self::functions::{Arguments, Context};

mod filter;
mod functions;

const OK: c_int = 0;
const ERROR: c_int = 1;
const API_VERSION: c_int = 1;

const IS_REPLICA: c_int = 1 << 3;
const IS_LOADING: c_int = 1 << 13;
const IS_RECEIVING: c_int = 1 << 16;
/// Since Redis 7.0.
const IS_LOADING_ASIDE: c_int = 1 << 23;

/// Without this, a replica with the module in it does not load data aside, although it is told to.
const HANDLES_LOADING_ASIDE: c_int = 1 << 2;

const ROLE: u64 = 0;
const PERSISTENCE: u64 = 1;
const FLUSH: u64 = 2;
const LOADING: u64 = 3;
const SHUTDOWN: u64 = 5;
const CRON: u64 = 8;
/// Since Redis 7.0.
const EVENT_LOOP: u64 = 15;
const CONFIG: u64 = 16;

/// What is subscribed to wherever it is offered.
const EVENTS: [u64; 7] = [
    ROLE,
    PERSISTENCE,
    FLUSH,
    LOADING,
    SHUTDOWN,
    CRON,
    EVENT_LOOP,
];

/// What Redis does itself, unlike what a child of it does.
const SAVE_STARTS: u64 = 2;
const APPEND_ONLY_SAVE_STARTS: u64 = 5;

const SLEEP_BEGINS: u64 = 0;

const FLUSH_STARTS: u64 = 0;

/// From a dump, an append-only file, or a master.
const LOADING_STARTS: RangeInclusive<u64> = 0..=2;

/// What the module has to know of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Event {
    /// It may have become a replica or a master, or listen on something else.
    Changed,
    Cron,
    /// It begins to delete all keys, or those of a database.
    Flushing,
    /// It begins to load data.
    Loading,
    /// The main thread begins to save, and does nothing else until it is done.
    Saving,
    Shutdown,
    /// It has done what was to be done. Comes as often as it reads from its clients.
    Sleep,
}

/// They stay where they are as long as the server that has loaded us runs.
static FUNCTIONS: OnceLock<Functions> = OnceLock::new();

/// Redis, for as long as a call of it lasts.
pub(crate) struct Server<'a> {
    context: *mut Context,
    functions: &'static Functions,
    _call: PhantomData<&'a Context>,
}

impl Server<'_> {
    /// # Safety
    ///
    /// `context` is what Redis has just handed to us, and the call lasts as long as this lives.
    unsafe fn new(context: *mut Context) -> Option<Self> {
        let find = || {
            // SAFETY: promised by the caller.
            let found = unsafe { Functions::find(context) }?;
            Some(FUNCTIONS.get_or_init(|| found))
        };
        let functions = FUNCTIONS.get().or_else(find)?;
        Some(Self {
            context,
            functions,
            _call: PhantomData,
        })
    }

    /// Writes a line to Redis' log.
    pub(crate) fn log(&self, level: Level, message: &str) {
        let level = match level {
            Level::Error | Level::Warn => c"warning",
            Level::Info => c"notice",
        };
        let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
        // SAFETY: a format for one text, and a text.
        unsafe {
            (self.functions.log)(
                self.context,
                level.as_ptr(),
                c"%s".as_ptr(),
                message.as_ptr(),
            );
        }
    }

    /// What `CONFIG GET` answers, if there is such a command and such a parameter.
    pub(crate) fn config(&self, name: &CStr) -> Option<String> {
        // SAFETY: the format is for two texts. The reply, if there is one, lives until it is freed,
        // and parts of it are read before; any function takes a reply of any type.
        unsafe {
            let reply = (self.functions.call)(
                self.context,
                c"CONFIG".as_ptr(),
                c"cc".as_ptr(),
                c"GET".as_ptr(),
                name.as_ptr(),
            );
            if reply.is_null() {
                return None;
            }
            let value = (self.functions.reply_element)(reply, 1);
            let text = (!value.is_null()).then(|| {
                let mut length = 0;
                let text = (self.functions.reply_string)(value, &raw mut length);
                to_string(text, length)
            });
            (self.functions.free_reply)(reply);
            text.flatten()
        }
    }

    /// Whether it loads its data, and answers nobody until it has. A replica that loads new data
    /// aside (`repl-diskless-load swapdb`) answers from what it has, and does not count.
    pub(crate) fn is_loading(&self) -> bool {
        self.flags() & (IS_LOADING | IS_LOADING_ASIDE) == IS_LOADING
    }

    /// Whether it gets all data from its master, which it loads once it has it.
    pub(crate) fn is_receiving(&self) -> bool {
        self.flags() & IS_RECEIVING != 0
    }

    /// Whether there is no key in any database.
    pub(crate) fn is_empty(&self) -> bool {
        // SAFETY: the context is valid. In versions that keep one for all events and modules, the
        // database that was selected is selected again.
        unsafe {
            let before = (self.functions.selected)(self.context);
            let is_there = |number: &c_int| (self.functions.select)(self.context, *number) == OK;
            let is_empty = (0..)
                .take_while(is_there)
                .all(|_| (self.functions.count_keys)(self.context) == 0);
            (self.functions.select)(self.context, before);
            is_empty
        }
    }

    pub(crate) fn is_replica(&self) -> bool {
        self.flags() & IS_REPLICA != 0
    }

    fn flags(&self) -> c_int {
        // SAFETY: the context is valid.
        unsafe { (self.functions.flags)(self.context) }
    }

    /// Whether clients may not write for now. It costs next to nothing to ask.
    pub(crate) fn is_paused(&self) -> bool {
        // SAFETY: it needs nothing.
        unsafe { (self.functions.is_paused)() != 0 }
    }

    /// Whether it waits for its replicas before it ends. Its clients are paused meanwhile.
    pub(crate) fn is_shutting_down(&self) -> bool {
        self.info(c"server", c"shutdown_in_milliseconds").is_some()
    }

    /// Whether it appends what is written to a file.
    pub(crate) fn is_appending(&self) -> bool {
        self.info(c"persistence", c"aof_enabled") == Some(1)
    }

    /// A number that `INFO` tells, if it does. To ask takes ten to twenty microseconds.
    fn info(&self, section: &CStr, field: &CStr) -> Option<u64> {
        // SAFETY: the context is valid, and the information is freed once it has been read.
        unsafe {
            let info = (self.functions.info)(self.context, section.as_ptr());
            let mut missing = ERROR;
            let value = (self.functions.info_unsigned)(info, field.as_ptr(), &raw mut missing);
            (self.functions.free_info)(self.context, info);
            (missing == OK).then_some(value)
        }
    }

    /// Major and minor version. Valkey says which Redis it is compatible with.
    pub(crate) fn version(&self) -> (c_int, c_int) {
        // SAFETY: it needs nothing.
        let version = unsafe { (self.functions.version)() };
        (version >> 16 & 0xff, version >> 8 & 0xff)
    }

    /// Gives the module its name, unless there is one of that name.
    fn register(&self, name: &'static CStr) -> bool {
        // SAFETY: the context is that of a module that is being loaded, and the name lives for ever.
        unsafe {
            let is_free = (self.functions.is_name_busy)(name.as_ptr()) == 0;
            if is_free {
                let set_attributes = self.functions.set_attributes;
                set_attributes(self.context, name.as_ptr(), module_version(), API_VERSION);
                (self.functions.set_options)(self.context, HANDLES_LOADING_ASIDE);
            }
            is_free
        }
    }

    fn subscribe(&self, id: u64) -> bool {
        let event = RawEvent { id, version: 1 };
        // SAFETY: the function is one for events.
        unsafe { (self.functions.subscribe)(self.context, event, on_event) == OK }
    }

    /// # Safety
    ///
    /// `arguments` are `count` strings of Redis.
    unsafe fn strings(&self, arguments: Arguments, count: c_int) -> Vec<String> {
        let count = usize::try_from(count).unwrap_or(0);
        if count == 0 {
            return Vec::new();
        }
        // SAFETY: promised by the caller.
        let arguments = unsafe { slice::from_raw_parts(arguments, count) };
        let text = |argument: &*mut RedisString| {
            let mut length = 0;
            // SAFETY: it is a string of Redis, which lives as long as this call.
            unsafe {
                let text = (self.functions.string)(*argument, &raw mut length);
                to_string(text, length).unwrap_or_default()
            }
        };
        arguments.iter().map(text).collect()
    }
}

/// # Safety
///
/// `text` is null, or points to so many bytes.
unsafe fn to_string(text: *const c_char, length: usize) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: promised by the caller.
    let bytes = unsafe { slice::from_raw_parts(text.cast(), length) };
    Some(String::from_utf8_lossy(bytes).into_owned())
}

/// Loads a module: what [`export!`](crate::export) calls.
///
/// # Safety
///
/// Called with what Redis hands to `RedisModule_OnLoad`.
pub unsafe fn load<R: Recipe>(context: *mut Context, arguments: Arguments, count: c_int) -> c_int {
    // SAFETY: promised by the caller.
    let Some(server) = (unsafe { Server::new(context) }) else {
        // It is too old for anything that we need, even for a line in its log.
        return ERROR;
    };
    guarded(&server, ERROR, || {
        if !server.register(R::NAME) {
            // Redis itself gives no reason, and does not start.
            server.log(Level::Error, &is_loaded_already(R::NAME));
            return ERROR;
        }
        // SAFETY: promised by the caller.
        let arguments = unsafe { server.strings(arguments, count) };
        // Whatever can fail comes before the first subscription: old versions of Redis keep those
        // of a module that does not load.
        if let Err(error) = module::load::<R>(&server, &arguments) {
            server.log(Level::Error, &format!("not loaded: {error}"));
            return ERROR;
        }
        // The last one is refused where there is none: such a Redis does not wait for replicas.
        for event in EVENTS {
            server.subscribe(event);
        }
        if !server.subscribe(CONFIG) {
            module::expect_no_config_events();
        }
        OK
    })
}

/// Unloads a module: what [`export!`](crate::export) calls.
///
/// # Safety
///
/// Called with what Redis hands to `RedisModule_OnUnload`.
pub unsafe fn unload(context: *mut Context) -> c_int {
    // SAFETY: promised by the caller.
    if let Some(server) = unsafe { Server::new(context) } {
        guarded(&server, (), || module::unload(&server));
    }
    OK
}

unsafe extern "C" fn on_event(
    context: *mut Context,
    event: RawEvent,
    kind: u64,
    _data: *mut c_void,
) {
    let event = match (event.id, kind) {
        (CONFIG | ROLE, _) => Event::Changed,
        (CRON, _) => Event::Cron,
        (FLUSH, FLUSH_STARTS) => Event::Flushing,
        (LOADING, kind) if LOADING_STARTS.contains(&kind) => Event::Loading,
        (PERSISTENCE, SAVE_STARTS | APPEND_ONLY_SAVE_STARTS) => Event::Saving,
        (SHUTDOWN, _) => Event::Shutdown,
        (EVENT_LOOP, SLEEP_BEGINS) => Event::Sleep,
        // Events of a child that saves are among these. Nothing may be locked there.
        _ => return,
    };
    // SAFETY: Redis has just called with this context.
    if let Some(server) = unsafe { Server::new(context) } {
        guarded(&server, (), || module::handle(&server, event));
    }
}

/// Calls `act`. A panic, which would end Redis, ends there.
fn guarded<T>(server: &Server<'_>, otherwise: T, act: impl FnOnce() -> T) -> T {
    caught(act).unwrap_or_else(|message| {
        server.log(
            Level::Error,
            &format!("a fault in this module, which goes on: {message}"),
        );
        otherwise
    })
}

fn caught<T>(act: impl FnOnce() -> T) -> Result<T, String> {
    // What it works on is meant to be used further.
    panic::catch_unwind(AssertUnwindSafe(act)).map_err(|panic| message(&*panic))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

fn is_loaded_already(name: &CStr) -> String {
    let name = name.to_string_lossy();
    format!(
        "{name} is not loaded: a module of that name is there already. Load it once: leave one \
        `loadmodule` of {name} in redis.conf and on the command line, and before `MODULE LOAD` \
        call `MODULE UNLOAD {name}`"
    )
}

/// The version of this crate as one number: 1.2.3 is 10203.
fn module_version() -> c_int {
    let parts = env!("CARGO_PKG_VERSION").split('.');
    parts.fold(0, |sum, part| {
        sum * 100 + part.parse::<c_int>().unwrap_or(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_where_redis_begins() {
        assert_eq!(caught(|| 7), Ok(7));
        assert_eq!(
            caught(|| panic!("on {}", "purpose")),
            Err::<(), _>("on purpose".to_owned())
        );
    }
}
