//! What Redis and a module hand each other, and the functions of Redis that are used.

use std::ffi::{c_char, c_int, c_void};
use std::mem;

use super::OK;

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
pub(super) struct Reply([u8; 0]);

#[repr(C)]
pub(super) struct Info([u8; 0]);

/// A command, before it is carried out.
#[repr(C)]
pub(super) struct Command([u8; 0]);

/// That a function is to be called with each command.
#[repr(C)]
pub(super) struct Filter([u8; 0]);

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawEvent {
    pub(super) id: u64,
    pub(super) version: u64,
}

type FindFn = unsafe extern "C" fn(*const c_char, *mut *mut c_void) -> c_int;
type EventFn = unsafe extern "C" fn(*mut Context, RawEvent, u64, *mut c_void);
type FilterFn = unsafe extern "C" fn(*mut Command);

/// Declares the functions that are used, and how to find them all.
macro_rules! functions {
    ($($field:ident: $name:literal = fn($($argument:ty),*; $($variadic:tt)*) $(-> $result:ty)?,)*) => {
        #[derive(Clone, Copy)]
        pub(super) struct Functions {
            $(pub(super) $field: unsafe extern "C" fn($($argument,)* $($variadic)*) $(-> $result)?,)*
        }

        impl Functions {
            /// # Safety
            ///
            /// `context` is what Redis has just handed to us.
            pub(super) unsafe fn find(context: *const Context) -> Option<Self> {
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
    command_argument: c"RedisModule_CommandFilterArgGet"
        = fn(*mut Command, c_int;) -> *const RedisString,
    count_keys: c"RedisModule_DbSize" = fn(*mut Context;) -> u64,
    filter: c"RedisModule_RegisterCommandFilter"
        = fn(*mut Context, FilterFn, c_int;) -> *mut Filter,
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
    select: c"RedisModule_SelectDb" = fn(*mut Context, c_int;) -> c_int,
    selected: c"RedisModule_GetSelectedDb" = fn(*mut Context;) -> c_int,
    set_attributes: c"RedisModule_SetModuleAttribs"
        = fn(*mut Context, *const c_char, c_int, c_int;),
    set_options: c"RedisModule_SetModuleOptions" = fn(*mut Context, c_int;),
    stop_filter: c"RedisModule_UnregisterCommandFilter"
        = fn(*mut Context, *mut Filter;) -> c_int,
    string: c"RedisModule_StringPtrLen" = fn(*const RedisString, *mut usize;) -> *const c_char,
    subscribe: c"RedisModule_SubscribeToServerEvent"
        = fn(*mut Context, RawEvent, EventFn;) -> c_int,
    version: c"RedisModule_GetServerVersion" = fn(;) -> c_int,
}
