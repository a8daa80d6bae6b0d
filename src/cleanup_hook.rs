//! What is done when a JavaScript environment ends, be it because a worker thread does.
//!
//! napi's own functions for this lose a little memory for each hook that is removed, which a service
//! that makes and destroys managers all day would notice in the end.

use std::ffi::c_void;
use std::{panic, ptr};

use napi::{Env, Result, check_status, sys};

use crate::environment::evict;

/// Lets an environment be evicted when the JavaScript environment ends. Hooks run last-in first-out.
pub(crate) fn add(env: &Env, id: u32) -> Result<()> {
    // SAFETY: `env` is that of the running call. The argument is a number that nobody follows.
    check_status!(unsafe { sys::napi_add_env_cleanup_hook(env.raw(), Some(run), argument(id)) })
}

/// Takes that back; nothing happens if it has been taken back before.
pub(crate) fn remove(env: &Env, id: u32) -> Result<()> {
    // SAFETY: as above.
    check_status!(unsafe { sys::napi_remove_env_cleanup_hook(env.raw(), Some(run), argument(id)) })
}

extern "C" fn run(argument: *mut c_void) {
    // A panic must not go on into Node.
    panic::catch_unwind(|| {
        evict(u32::try_from(argument.addr()).expect("the argument was made from an id"));
    })
    .ok();
}

fn argument(id: u32) -> *mut c_void {
    ptr::without_provenance_mut(id as usize)
}
