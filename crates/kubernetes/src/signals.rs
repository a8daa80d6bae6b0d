//! Keeps signals away from a thread.

use std::mem::MaybeUninit;
use std::ptr;

/// Starts a thread with `spawn`, in which no signal lands: those of the process go to the threads
/// that its owner means them for. What the calling thread blocks is as it was afterwards.
pub(crate) fn without<T>(spawn: impl FnOnce() -> T) -> T {
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigfillset writes a whole set, which is read only after it; pthread_sigmask reads the
    // one set and writes the other. Neither keeps a pointer.
    let blocked = unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr())
    };
    // A new thread blocks what the one that makes it does.
    let result = spawn();
    if blocked == 0 {
        // SAFETY: pthread_sigmask did succeed, and so `before` was written. It is only read here.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    }
    result
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::fs;
    use std::thread;

    use super::*;

    /// The signals that the calling thread blocks, as a set of bits.
    fn blocked() -> u64 {
        let status = fs::read_to_string("/proc/thread-self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
        u64::from_str_radix(line.unwrap().trim(), 16).unwrap()
    }

    #[test]
    fn the_new_thread_blocks_what_can_be_blocked() {
        let before = blocked();
        let inside = without(|| thread::spawn(blocked)).join().unwrap();
        assert_eq!(blocked(), before);
        for signal in [
            libc::SIGTERM,
            libc::SIGINT,
            libc::SIGHUP,
            libc::SIGUSR1,
            libc::SIGALRM,
        ] {
            assert_ne!(inside & (1 << (signal - 1)), 0, "{signal}");
        }
    }
}
