//! Unix.

use std::mem::MaybeUninit;
use std::ptr;

/// While this lives, the current thread takes no signals, and threads that it starts never do.
///
/// Signals that tell of a fault in the thread itself are left as they are: blocking them would only
/// keep the process from reporting its crash.
pub(super) struct Blocked {
    former: libc::sigset_t,
}

const FAULTS: [libc::c_int; 4] = [libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGSEGV];

impl Blocked {
    pub(super) fn all() -> Self {
        let mut all = MaybeUninit::uninit();
        let mut former = MaybeUninit::uninit();
        // SAFETY: `sigfillset` initializes `all`, and `pthread_sigmask` writes `former`: it fails
        // for no other reason than a wrong first argument.
        unsafe {
            libc::sigfillset(all.as_mut_ptr());
            for fault in FAULTS {
                libc::sigdelset(all.as_mut_ptr(), fault);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), former.as_mut_ptr());
            Self {
                former: former.assume_init(),
            }
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: the mask is one that this thread has had.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.former, ptr::null_mut())
        };
    }
}

/// Whether the current thread takes no such signals.
#[cfg(test)]
pub(super) fn is_blocked(signal: libc::c_int) -> bool {
    let mut mask = MaybeUninit::uninit();
    // SAFETY: without a new mask, the present one is only read, to where it has room.
    unsafe {
        libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), mask.as_mut_ptr());
        libc::sigismember(mask.as_ptr(), signal) == 1
    }
}
