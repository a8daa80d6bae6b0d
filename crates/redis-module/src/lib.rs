//! What the Redis modules `promoter` and `unicaster` have in common: they tell services that the
//! Redis they are loaded into is there.
//!
//! A module is a [`Recipe`], which says whom to tell, and [`export!`], which gives Redis the two
//! functions that it looks for. The rest is here:
//!
//! - `ffi.rs`: what Redis offers and what it calls, and all the unsafe code that this takes;
//!   `ffi/filter.rs`: how a SHUTDOWN is heard of before Redis carries it out;
//! - `module.rs`: the life of the module, on Redis' main thread; it says goodbye while Redis waits for
//!   replicas before it ends, and before it saves or loads, since it answers nobody meanwhile;
//! - `settings.rs`: the environment and the arguments of `loadmodule`;
//! - `endpoints.rs`: which addresses are announced, a function without side effects; `probe.rs`:
//!   whether Redis really listens there;
//! - `presence.rs`: one announcer an address, and the last word, for which Redis waits: it is said three
//!   times, or once if there are very many to be told;
//! - `watch.rs`, `signals.rs`, `shutdown.rs`: a thread that follows this host's addresses, and hears at
//!   once of a signal that Redis acts upon only a tenth of a second later, and of a SHUTDOWN that it
//!   is at for long.
//!
//! # Replacing a module
//!
//! A module stays in memory after `MODULE UNLOAD`, since other modules may have chained their signal
//! handlers to its own. A newer file is loaded by a Redis that runs only from another path; at the
//! same one it takes a restart.
//!
//! # Settings
//!
//! Each has an environment variable and an argument of `loadmodule`, which is the variable's name
//! in lower case, with dashes, and without `REDIS_BROADCAST_`. Arguments win. A value that makes no
//! sense is told in Redis' log, with the default that is used instead.
//!
//! | variable | default | |
//! | --- | --- | --- |
//! | `REDIS_BROADCAST_NAME` | `imq-broker` | what services look for |
//! | `REDIS_BROADCAST_PORT` | 63000 | the UDP port that services listen on |
//! | `REDIS_BROADCAST_INTERVAL` | 1 | seconds between announcements |
//! | `REDIS_BROADCAST_TLS` | | which port is announced: the TLS port (`1`, `yes`, `true`, `on`), the plain one (`0`, `no`, `false`, `off`); unset, the plain one, or the TLS port where that is the only one |
//! | `REDIS_BROADCAST_REPLICAS` | no | whether a replica announces itself, but for when it loads all data anew |
//! | `SELECTED_INTERFACES` | all but loopback | which addresses are announced: beginnings of addresses and networks such as `192.168.0.0/16`, with commas |
//! | `REDIS_BROADCAST_REDIS_BIND`, `_REDIS_PORT`, `_REDIS_TLS_PORT` | as `CONFIG GET` says | what Redis listens on, for one that has no `CONFIG` command |

#![cfg(unix)]

mod endpoints;
mod ffi;
mod guid;
mod module;
mod presence;
mod probe;
mod settings;
mod shutdown;
mod signals;
mod watch;

pub use ffi::{Arguments, Context, load, unload};
pub use module::{Recipe, Voice};
pub use presence::Audience;
pub use settings::Options;

/// How much a line in Redis' log matters.
pub use imqueue_udp_net::Level as LogLevel;

/// Gives Redis the functions that it looks for in a module, for a type that is a [`Recipe`].
#[macro_export]
macro_rules! export {
    ($recipe:ty) => {
        /// Redis has loaded the module.
        ///
        /// # Safety
        ///
        /// Called by Redis, as its module API says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn RedisModule_OnLoad(
            context: *mut $crate::Context,
            arguments: $crate::Arguments,
            count: ::std::ffi::c_int,
        ) -> ::std::ffi::c_int {
            // SAFETY: Redis gives what it has to.
            unsafe { $crate::load::<$recipe>(context, arguments, count) }
        }

        /// Redis is about to unload the module.
        ///
        /// # Safety
        ///
        /// Called by Redis, as its module API says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn RedisModule_OnUnload(
            context: *mut $crate::Context,
        ) -> ::std::ffi::c_int {
            // SAFETY: Redis gives what it has to.
            unsafe { $crate::unload(context) }
        }
    };
}
