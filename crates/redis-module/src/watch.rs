//! What has to be noticed while Redis' main thread is busy, or asleep.

use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use imqueue_udp_net::{InterfaceAddress, interface_addresses, spawn_without_signals};

use crate::{shutdown, signals};

/// Follows the addresses of this host, on a thread of its own, since listing them can take
/// milliseconds where there are many; and calls back when Redis is to end, at once upon a signal, and
/// upon a SHUTDOWN that is not refused.
#[derive(Debug)]
pub(crate) struct Watch {
    shared: Arc<Shared>,
    /// What the thread waits at the other end of.
    end: UnixStream,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    addresses: Mutex<Addresses>,
    changed: AtomicBool,
}

/// What this host has, as far as that is known, or why it never was.
pub(crate) type Addresses = Result<Vec<InterfaceAddress>, String>;

/// How often the addresses are listed: a change is followed within a second.
const PERIOD: Duration = Duration::from_millis(500);

impl Watch {
    /// `on_end` is called on the thread.
    pub(crate) fn start(on_end: impl Fn() + Send + 'static) -> io::Result<Self> {
        let (end, other_end) = UnixStream::pair()?;
        end.set_nonblocking(true)?;
        other_end.set_read_timeout(Some(PERIOD))?;
        let shared = Arc::new(Shared {
            addresses: Mutex::new(list()),
            changed: AtomicBool::new(false),
        });
        let theirs = Arc::clone(&shared);
        let thread = spawn_without_signals("imq-watch", move || {
            theirs.run(other_end, on_end);
        })?;
        signals::hook(end.as_raw_fd());
        Ok(Self {
            shared,
            end,
            thread: Some(thread),
        })
    }

    /// The main thread begins with a SHUTDOWN.
    pub(crate) fn shutdown_begins(&self) {
        // If so much is unread that it does not fit, the thread is awake.
        (&self.end).write_all(&[0]).ok();
    }

    /// The addresses as they could be listed last.
    pub(crate) fn addresses(&self) -> Addresses {
        self.shared.addresses().clone()
    }

    /// Whether they have changed since this was asked last.
    pub(crate) fn changed(&self) -> bool {
        self.shared.changed.swap(false, Ordering::Relaxed)
    }
}

impl Drop for Watch {
    /// Ends the thread, and waits for that.
    fn drop(&mut self) {
        signals::unhook();
        self.end.shutdown(Shutdown::Both).ok();
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

impl Shared {
    fn run(&self, mut end: UnixStream, on_end: impl Fn()) {
        loop {
            match end.read(&mut [0; 16]) {
                Ok(0) => return,
                Ok(_) => {
                    if signals::came() || shutdown::lasts() {
                        on_end();
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_timeout(&error) => self.learn(list()),
                Err(_) => return,
            }
        }
    }

    /// That they cannot be listed, for example because no descriptor is free, takes back nothing.
    fn learn(&self, now: Addresses) {
        let mut addresses = self.addresses();
        if *addresses != now && (now.is_ok() || addresses.is_err()) {
            *addresses = now;
            self.changed.store(true, Ordering::Relaxed);
        }
    }

    fn addresses(&self) -> std::sync::MutexGuard<'_, Addresses> {
        self.addresses
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn list() -> Addresses {
    interface_addresses().map_err(|error| error.to_string())
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_takes_back_nothing() {
        let fails = |why: &str| Err(why.to_owned());
        let shared = Shared {
            addresses: Mutex::new(fails("at first")),
            changed: AtomicBool::new(false),
        };
        let learn = |now: Addresses| {
            shared.learn(now);
            let has_changed = shared.changed.swap(false, Ordering::Relaxed);
            (shared.addresses().clone(), has_changed)
        };
        assert_eq!(learn(fails("later")), (fails("later"), true));
        assert_eq!(learn(Ok(Vec::new())), (Ok(Vec::new()), true));
        assert_eq!(learn(fails("again")), (Ok(Vec::new()), false));
        let own = list().unwrap();
        assert_eq!(learn(Ok(own.clone())), (Ok(own), true));
    }
}
