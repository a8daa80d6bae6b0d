//! Hears of SIGTERM and SIGINT at once. Redis notes them, and acts upon them at its next cron,
//! which can be a tenth of a second away, or more.
//!
//! Redis' handlers stay what they are: ours writes a byte and calls them. All that it uses are
//! atomics and `write`, since it can interrupt anything.

use std::ffi::{c_int, c_void};
use std::mem::{self, MaybeUninit};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering::SeqCst};

/// The signals by which a Redis is ended.
static HOOKS: [Hook; 2] = [Hook::new(libc::SIGTERM), Hook::new(libc::SIGINT)];

/// One came, and [`came`] was not asked since. That is not left to the byte, for which there may be no
/// room.
static CAME: AtomicBool = AtomicBool::new(false);

/// What a byte is written to; negative for nobody.
static LISTENER: AtomicI32 = AtomicI32::new(-1);

/// The process that wants to know: a child, which saves, has the same handlers.
static PROCESS: AtomicI32 = AtomicI32::new(0);

/// How many handlers are at work.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

struct Hook {
    signal: c_int,
    /// Whose handler this one calls.
    former: AtomicUsize,
    /// Whether that one takes three arguments.
    takes_three: AtomicBool,
    /// Our handler is in use, by the system or by another handler that calls it.
    installed: AtomicBool,
}

type Handler = extern "C" fn(c_int);
type LongHandler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// From now on `descriptor` gets a byte whenever such a signal comes, unless it is full of them. It has
/// to be one that never blocks, and to stay open until [`unhook`].
pub(crate) fn hook(descriptor: c_int) {
    CAME.store(false, SeqCst);
    // SAFETY: it cannot fail.
    PROCESS.store(unsafe { libc::getpid() }, SeqCst);
    LISTENER.store(descriptor, SeqCst);
    HOOKS.iter().for_each(Hook::install);
}

/// Nothing is written any more when this returns.
pub(crate) fn unhook() {
    LISTENER.store(-1, SeqCst);
    HOOKS.iter().for_each(Hook::remove);
    // One that runs on another thread may have read the descriptor before.
    while RUNNING.load(SeqCst) > 0 {
        std::hint::spin_loop();
    }
}

/// Whether a signal has come since this was asked last: to be asked after each byte.
pub(crate) fn came() -> bool {
    CAME.swap(false, SeqCst)
}

impl Hook {
    const fn new(signal: c_int) -> Self {
        Self {
            signal,
            former: AtomicUsize::new(libc::SIG_DFL),
            takes_three: AtomicBool::new(false),
            installed: AtomicBool::new(false),
        }
    }

    fn install(&self) {
        let Some(mut action) = self.action() else {
            return;
        };
        let handled = ![libc::SIG_DFL, libc::SIG_IGN].contains(&action.sa_sigaction);
        // It may be in use since an earlier load: twice, it would call itself.
        if !handled || self.installed.swap(true, SeqCst) {
            return;
        }
        self.former.store(action.sa_sigaction, SeqCst);
        let takes_three = action.sa_flags & libc::SA_SIGINFO != 0;
        self.takes_three.store(takes_three, SeqCst);
        action.sa_sigaction = on_signal as LongHandler as usize;
        action.sa_flags |= libc::SA_SIGINFO;
        self.set_action(&action);
    }

    /// Restores the former handler, unless somebody else has replaced ours and calls it.
    fn remove(&self) {
        let Some(mut action) = self.action() else {
            return;
        };
        if action.sa_sigaction != on_signal as LongHandler as usize {
            return;
        }
        action.sa_sigaction = self.former.load(SeqCst);
        if !self.takes_three.load(SeqCst) {
            action.sa_flags &= !libc::SA_SIGINFO;
        }
        self.set_action(&action);
        self.installed.store(false, SeqCst);
    }

    fn action(&self) -> Option<libc::sigaction> {
        let mut action = MaybeUninit::uninit();
        // SAFETY: the system writes the present action, if the signal is one.
        unsafe {
            (libc::sigaction(self.signal, ptr::null(), action.as_mut_ptr()) == 0)
                .then(|| action.assume_init())
        }
    }

    fn set_action(&self, action: &libc::sigaction) {
        // SAFETY: the action is the present one with another handler, which stays: the module is
        // linked so that it is never unmapped.
        unsafe { libc::sigaction(self.signal, action, ptr::null_mut()) };
    }

    /// Does what would have been done without us.
    fn pass_on(&self, info: *mut libc::siginfo_t, context: *mut c_void) {
        let former = self.former.load(SeqCst);
        if [libc::SIG_DFL, libc::SIG_IGN].contains(&former) {
            return;
        }
        if self.takes_three.load(SeqCst) {
            // SAFETY: it is what the system had as a handler with three arguments.
            let handler = unsafe { mem::transmute::<usize, LongHandler>(former) };
            handler(self.signal, info, context);
        } else {
            // SAFETY: it is what the system had as a handler with one argument.
            let handler = unsafe { mem::transmute::<usize, Handler>(former) };
            handler(self.signal);
        }
    }
}

extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    RUNNING.fetch_add(1, SeqCst);
    notify();
    RUNNING.fetch_sub(1, SeqCst);
    // It may end the process.
    if let Some(hook) = HOOKS.iter().find(|hook| hook.signal == signal) {
        hook.pass_on(info, context);
    }
}

fn notify() {
    let descriptor = LISTENER.load(SeqCst);
    // SAFETY: it cannot fail.
    if descriptor < 0 || unsafe { libc::getpid() } != PROCESS.load(SeqCst) {
        return;
    }
    CAME.store(true, SeqCst);
    let errno = errno();
    // SAFETY: the descriptor is open as long as this handler counts as running, and the byte is
    // there. `errno` belongs to the thread, which was interrupted, and is put back.
    unsafe {
        let former = *errno;
        libc::write(descriptor, [0_u8].as_ptr().cast(), 1);
        *errno = former;
    }
}

fn errno() -> *mut c_int {
    // SAFETY: every thread has one.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::__errno_location()
    }
    // SAFETY: every thread has one.
    #[cfg(not(target_os = "linux"))]
    unsafe {
        libc::__error()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read, Write};
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    /// How often the host's own handlers have run.
    static CALLS: AtomicUsize = AtomicUsize::new(0);

    extern "C" fn hosts_own(_: c_int) {
        CALLS.fetch_add(1, SeqCst);
    }

    fn raise() {
        // SAFETY: there is a handler.
        unsafe { libc::raise(libc::SIGTERM) };
    }

    /// One test, since handlers are the whole process's.
    #[test]
    fn tells_of_a_signal_and_lets_the_host_have_it() {
        // SAFETY: the handler only counts.
        unsafe { libc::signal(libc::SIGTERM, hosts_own as Handler as usize) };
        let (writer, mut reader) = UnixStream::pair().unwrap();
        writer.set_nonblocking(true).unwrap();
        reader.set_nonblocking(true).unwrap();
        let mut heard = || reader.read(&mut [0; 8]).map_err(|error| error.kind());

        hook(writer.as_raw_fd());
        hook(writer.as_raw_fd());
        raise();
        assert_eq!((heard(), CALLS.load(SeqCst)), (Ok(1), 1));
        assert!(came() && !came());

        // It is not missed for want of room.
        while (&writer).write(&[0; 8]).is_ok() {}
        raise();
        assert!(came());
        while heard().is_ok() {}

        // Somebody else comes after us, and calls us.
        let theirs = HOOKS[0].action().unwrap();
        // SAFETY: as above.
        unsafe { libc::signal(libc::SIGTERM, hosts_own as Handler as usize) };
        unhook();
        HOOKS[0].set_action(&theirs);
        raise();
        assert_eq!(
            (heard(), CALLS.load(SeqCst)),
            (Err(ErrorKind::WouldBlock), 3)
        );

        // Loaded once more, it is called once; and unloaded, it is gone.
        hook(writer.as_raw_fd());
        raise();
        assert_eq!((heard(), CALLS.load(SeqCst)), (Ok(1), 4));
        unhook();
        assert_eq!(
            HOOKS[0].action().unwrap().sa_sigaction,
            hosts_own as Handler as usize
        );
        raise();
        assert_eq!(
            (heard(), CALLS.load(SeqCst)),
            (Err(ErrorKind::WouldBlock), 5)
        );
    }
}
