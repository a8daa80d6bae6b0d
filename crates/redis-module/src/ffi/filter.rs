//! Hears of a SHUTDOWN before Redis carries it out. To Redis this is a filter of commands; it leaves
//! all of them as they are.

use std::ffi::{c_char, c_int};
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use super::functions::{Command, Filter};
use super::{FUNCTIONS, Server, caught};
use crate::module;
use crate::shutdown;

/// What Redis knows ours by, while there is one. Used on the main thread only.
static FILTER: AtomicPtr<Filter> = AtomicPtr::new(ptr::null_mut());

const SHUTDOWN: &[u8] = b"SHUTDOWN";

/// Commands that modules call come by, too, but for our own.
const NOT_OURS: c_int = 1;

impl Server<'_> {
    /// Whether the module is told of a SHUTDOWN before it is carried out. While it is, each command
    /// takes some nanoseconds longer.
    pub(crate) fn filter(&self, wanted: bool) {
        let present = FILTER.load(Relaxed);
        if wanted != present.is_null() {
            return;
        }
        // SAFETY: the context belongs to our module, the function is a filter and is never unmapped,
        // and what is stopped was begun.
        let filter = unsafe {
            if wanted {
                (self.functions.filter)(self.context, on_command, NOT_OURS)
            } else {
                (self.functions.stop_filter)(self.context, present);
                ptr::null_mut()
            }
        };
        FILTER.store(filter, Relaxed);
        // What was going on is not heard of any more.
        shutdown::ends();
    }
}

/// Comes with every command: it compares its name, and no more.
unsafe extern "C" fn on_command(command: *mut Command) {
    let Some(functions) = FUNCTIONS.get() else {
        return;
    };
    let mut length = 0;
    // SAFETY: Redis has just called with this command, whose first argument is its name. That lives
    // longer than this call; were there none, Redis would give another text.
    let name = unsafe {
        let name = (functions.command_argument)(command, 0);
        let text: *const c_char = (functions.string)(name, &raw mut length);
        slice::from_raw_parts(text.cast::<u8>(), length)
    };
    if name.eq_ignore_ascii_case(SHUTDOWN) {
        // There is no way to log from here, and nothing else to do about a panic.
        caught(module::shutdown_begins).ok();
    } else {
        // Whatever came before has been refused, or waits for something.
        shutdown::ends();
    }
}
