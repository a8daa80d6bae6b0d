//! The module API of Redis, as far as it is needed: what Redis offers, and what it calls.
//!
//! Redis hands each call a context, whose first word is a function that finds the others by name.
//! Valkey knows them by the same names. All of it belongs to Redis' main thread.

use std::any::Any;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::slice;
use std::sync::OnceLock;

use imqueue_udp_net::Level;

use crate::module::{self, Recipe};

/// What Redis hands to a module with each call.
#[repr(C)]
#[derive(Debug)]
pub struct Context {
    find: FindFn,
    _private: [u8; 0],
}

/// What follows the path of the module in `loadmodule`.
pub type Arguments = *mut *mut RedisString;

/// A string of Redis.
#[repr(C)]
#[derive(Debug)]
pub struct RedisString([u8; 0]);

#[repr(C)]
struct Reply([u8; 0]);

#[repr(C)]
struct Info([u8; 0]);

#[repr(C)]
#[derive(Clone, Copy)]
struct RawEvent {
    id: u64,
    version: u64,
}

/// What comes with an event of [`FLUSH`].
#[repr(C)]
struct FlushInfo {
    version: u64,
    sync: i32,
    database: i32,
}

type FindFn = unsafe extern "C" fn(*const c_char, *mut *mut c_void) -> c_int;
type EventFn = unsafe extern "C" fn(*mut Context, RawEvent, u64, *mut c_void);

/// Declares the functions that are used, and how to find them all.
macro_rules! functions {
    ($($field:ident: $name:literal = fn($($argument:ty),*; $($variadic:tt)*) $(-> $result:ty)?,)*) => {
        #[derive(Clone, Copy)]
        struct Functions {
            $($field: unsafe extern "C" fn($($argument,)* $($variadic)*) $(-> $result)?,)*
        }

        impl Functions {
            /// # Safety
            ///
            /// `context` is what Redis has just handed to us.
            unsafe fn find(context: *const Context) -> Option<Self> {
                Some(Self {
                    $($field: {
                        let mut function = std::ptr::null_mut();
                        // SAFETY: Redis writes a pointer to a function of this name, whose type is
                        // the one of redismodule.h, or says that it has none.
                        unsafe {
                            if ((*context).find)($name.as_ptr(), &raw mut function) != OK {
                                return None;
                            }
                            mem::transmute::<
                                *mut c_void,
                                unsafe extern "C" fn($($argument,)* $($variadic)*) $(-> $result)?
                            >(function)
                        }
                    },)*
                })
            }
        }
    };
}

functions! {
    call: c"RedisModule_Call" = fn(*mut Context, *const c_char, *const c_char; ...) -> *mut Reply,
    flags: c"RedisModule_GetContextFlags" = fn(*mut Context;) -> c_int,
    free_info: c"RedisModule_FreeServerInfo" = fn(*mut Context, *mut Info;),
    free_reply: c"RedisModule_FreeCallReply" = fn(*mut Reply;),
    info: c"RedisModule_GetServerInfo" = fn(*mut Context, *const c_char;) -> *mut Info,
    info_unsigned: c"RedisModule_ServerInfoGetFieldUnsigned"
        = fn(*mut Info, *const c_char, *mut c_int;) -> u64,
    is_name_busy: c"RedisModule_IsModuleNameBusy" = fn(*const c_char;) -> c_int,
    is_paused: c"RedisModule_AvoidReplicaTraffic" = fn(;) -> c_int,
    log: c"RedisModule_Log" = fn(*mut Context, *const c_char, *const c_char; ...),
    reply_element: c"RedisModule_CallReplyArrayElement" = fn(*mut Reply, usize;) -> *mut Reply,
    reply_string: c"RedisModule_CallReplyStringPtr" = fn(*mut Reply, *mut usize;) -> *const c_char,
    set_attributes: c"RedisModule_SetModuleAttribs"
        = fn(*mut Context, *const c_char, c_int, c_int;),
    string: c"RedisModule_StringPtrLen" = fn(*const RedisString, *mut usize;) -> *const c_char,
    subscribe: c"RedisModule_SubscribeToServerEvent"
        = fn(*mut Context, RawEvent, EventFn;) -> c_int,
    version: c"RedisModule_GetServerVersion" = fn(;) -> c_int,
}

const OK: c_int = 0;
const ERROR: c_int = 1;
const API_VERSION: c_int = 1;

const IS_REPLICA: c_int = 1 << 3;
const IS_LOADING: c_int = 1 << 13;

const ROLE: u64 = 0;
const PERSISTENCE: u64 = 1;
const FLUSH: u64 = 2;
const SHUTDOWN: u64 = 5;
const CRON: u64 = 8;
/// Since Redis 7.0.
const EVENT_LOOP: u64 = 15;
const CONFIG: u64 = 16;

/// What Redis does itself, unlike what a child of it does.
const SAVE_STARTS: u64 = 2;
const APPEND_ONLY_SAVE_STARTS: u64 = 5;

const SLEEP_BEGINS: u64 = 0;

const FLUSH_ENDS: u64 = 1;
const EVERY_DATABASE: i32 = -1;

/// What the module has to know of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Event {
    /// It may have become a replica or a master, or listen on something else.
    Changed,
    Cron,
    /// Everything has been deleted.
    Flushed,
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

    pub(crate) fn is_loading(&self) -> bool {
        self.flags() & IS_LOADING != 0
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

    /// Whether it waits for its replicas before it ends, which takes ten to twenty microseconds to
    /// find out. Its clients are paused meanwhile.
    pub(crate) fn is_shutting_down(&self) -> bool {
        // SAFETY: the context is valid, and the information is freed once it has been read.
        unsafe {
            let info = (self.functions.info)(self.context, c"server".as_ptr());
            let mut missing = ERROR;
            let field = c"shutdown_in_milliseconds".as_ptr();
            (self.functions.info_unsigned)(info, field, &raw mut missing);
            (self.functions.free_info)(self.context, info);
            missing == OK
        }
    }

    /// Major and minor version. Valkey says which Redis it is compatible with.
    pub(crate) fn version(&self) -> (c_int, c_int) {
        // SAFETY: it needs nothing.
        let version = unsafe { (self.functions.version)() };
        (version >> 16 & 0xff, version >> 8 & 0xff)
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
        let version = module_version();
        // SAFETY: the context is valid, and the name lives for ever.
        let is_busy = unsafe {
            let is_busy = (server.functions.is_name_busy)(R::NAME.as_ptr()) != 0;
            if !is_busy {
                (server.functions.set_attributes)(context, R::NAME.as_ptr(), version, API_VERSION);
            }
            is_busy
        };
        if is_busy {
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
        for event in [ROLE, PERSISTENCE, FLUSH, SHUTDOWN, CRON, EVENT_LOOP] {
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
    data: *mut c_void,
) {
    let event = match (event.id, kind) {
        (CONFIG | ROLE, _) => Event::Changed,
        (CRON, _) => Event::Cron,
        // SAFETY: that is what Redis hands over with this event.
        (FLUSH, FLUSH_ENDS) if unsafe { is_everything(data.cast()) } => Event::Flushed,
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

/// # Safety
///
/// `info` is null, or what Redis tells of a flush.
unsafe fn is_everything(info: *const FlushInfo) -> bool {
    // SAFETY: promised by the caller.
    unsafe { info.as_ref() }.is_some_and(|info| info.database == EVERY_DATABASE)
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
