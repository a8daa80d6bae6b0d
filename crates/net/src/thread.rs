//! Threads that leave the signals of the process to the others.

use std::io;
use std::thread::{Builder, JoinHandle};

// What a mask of signals is.
#[cfg_attr(unix, path = "imp/signals_unix.rs")]
#[cfg_attr(windows, path = "imp/signals_windows.rs")]
mod signals;

/// Starts a thread that no signal to the process lands in, nor in the threads that it starts.
///
/// Whatever the process does about a signal, it does it on one of its own threads: a handler may
/// rely on that, and a system call of this thread is never cut short.
///
/// # Errors
///
/// The system refused another thread.
pub fn spawn_without_signals<F>(name: &str, body: F) -> io::Result<JoinHandle<()>>
where
    F: FnOnce() + Send + 'static,
{
    // A thread inherits the mask of the one that starts it.
    let _blocked = signals::Blocked::all();
    Builder::new().name(name.to_owned()).spawn(body)
}

#[cfg(all(test, unix))]
mod tests {
    use std::sync::{Arc, mpsc};
    use std::time::Duration;

    use imqueue_udp_core::Announcement;

    use super::*;
    use crate::{Announcer, AnnouncerOptions};

    #[test]
    fn signals_stay_with_the_thread_that_started_it() {
        let before = signals::is_blocked(libc::SIGTERM);
        let (send, receive) = mpsc::channel();
        let thread = spawn_without_signals("quiet", move || {
            let blocked = [libc::SIGTERM, libc::SIGINT, libc::SIGALRM, libc::SIGSEGV];
            send.send(blocked.map(signals::is_blocked)).unwrap();
        });
        thread.unwrap().join().unwrap();
        // A crash is to be reported by whoever reports crashes.
        assert_eq!(receive.recv().unwrap(), [true, true, true, false]);
        assert_eq!(signals::is_blocked(libc::SIGTERM), before);
    }

    #[test]
    fn no_signal_lands_in_the_hub() {
        let (send, receive) = mpsc::channel();
        let second = Duration::from_secs(1);
        let options = AnnouncerOptions {
            announcement: Announcement::new("imq", "a", "10.0.0.1", 1, second, None).unwrap(),
            destinations: vec!["127.0.0.1:9".parse().unwrap()],
            interface: None,
        };
        let waker = move || {
            send.send(signals::is_blocked(libc::SIGTERM)).ok();
        };
        let _announcer = Announcer::start(options, Arc::new(waker)).unwrap();
        assert!(receive.recv_timeout(Duration::from_secs(20)).unwrap());
    }
}
