//! The process-wide hub: one thread for every socket, timer and announcer of the process.
//!
//! It starts with the first [`Lease`] and is joined with the last.

use std::any::Any;
use std::future::{self, Future};
use std::io;
use std::net::SocketAddr;
use std::panic::{self, AssertUnwindSafe};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{self, UnboundedSender};

use crate::announcer::{AnnouncerOptions, Owner};
use crate::destination::Destination;
use crate::error::StartError;
use crate::event_loop::EventLoop;
use crate::listener::{ListenerOptions, Subscriber};
use crate::lookup::NameKey;
use crate::ports::Listening;
use crate::thread::spawn_without_signals;

/// The right to use the hub, and what keeps it running.
#[derive(Debug)]
pub(crate) struct Lease(());

impl Lease {
    /// Starts the hub if nobody else uses it. If it is just being ended, waits for that first.
    pub(crate) fn take() -> Result<Self, StartError> {
        let mut slot = hub();
        let hub = match &mut *slot {
            Some(hub) => hub,
            None => slot.insert(Hub::start()?),
        };
        hub.users += 1;
        Ok(Self(()))
    }

    pub(crate) fn send(&self, command: Command) {
        if let Some(hub) = &*hub() {
            // Fails only if the thread has ended, with which everything it could do has ended too.
            hub.commands.send(command).ok();
            hub.thread.thread().unpark();
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut slot = hub();
        let Some(hub) = &mut *slot else { return };
        hub.users -= 1;
        if hub.users > 0 {
            return;
        }
        // With the sender the channel closes, which ends the thread once it has read the rest. The
        // lock is held meanwhile, so that the next hub finds the ports free.
        if let Some(Hub {
            commands, thread, ..
        }) = slot.take()
        {
            drop(commands);
            thread.thread().unpark();
            // A panic was reported already.
            thread.join().ok();
        }
    }
}

/// What the hub is asked to do.
#[derive(Debug)]
pub(crate) enum Command {
    Announce(AnnouncerOptions, Arc<Owner>),
    /// Ends heartbeats without a word.
    Forget(Arc<Owner>),
    /// Replaces the destinations.
    Redirect(Arc<Owner>, Vec<Destination>),
    /// What a name among an announcer's destinations stands for.
    Resolved(Arc<Owner>, NameKey, io::Result<Vec<SocketAddr>>),
    /// Says `down`, more than once only as long as that ends in time.
    Stop(Arc<Owner>, Option<Instant>),
    /// Brings along what the hub listens with, should this be the first listener.
    Subscribe(ListenerOptions, Arc<Subscriber>, fn() -> Box<dyn Listening>),
    Unsubscribe(Arc<Subscriber>),
    #[cfg(any(test, feature = "fault-injection"))]
    Panic(String),
}

/// Makes the hub thread, if there is one, panic with `message`: for tests of what follows.
#[cfg(any(test, feature = "fault-injection"))]
pub fn inject_panic(message: impl Into<String>) {
    if let Some(hub) = &*hub() {
        hub.commands.send(Command::Panic(message.into())).ok();
    }
}

struct Hub {
    users: usize,
    commands: UnboundedSender<Command>,
    thread: JoinHandle<()>,
}

/// How many names are looked up at a time.
const MAX_LOOKUPS: usize = 4;

static HUB: Mutex<Option<Hub>> = Mutex::new(None);

fn hub() -> MutexGuard<'static, Option<Hub>> {
    HUB.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Hub {
    fn start() -> Result<Self, StartError> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .thread_name("imq-udp-lookup")
            .max_blocking_threads(MAX_LOOKUPS)
            .build();
        let runtime = runtime.map_err(StartError::Runtime)?;
        let (commands, receiver) = mpsc::unbounded_channel();
        let event_loop = EventLoop::new(receiver, commands.downgrade());
        let thread = spawn_without_signals("imq-udp-hub", move || run(runtime, event_loop))
            .map_err(StartError::Thread)?;
        Ok(Self {
            users: 0,
            commands,
            thread,
        })
    }
}

/// The whole life of the hub thread.
fn run(runtime: Runtime, mut event_loop: EventLoop) {
    runtime.block_on(async {
        while let Err(panic) = catch(event_loop.run()).await {
            event_loop.recover(&message(&*panic)).await;
        }
    });
    drop(event_loop);
    // A name that is still being looked up must not keep the last user waiting.
    runtime.shutdown_background();
}

/// Runs `future` to its end or to its panic.
async fn catch<F: Future>(future: F) -> thread::Result<F::Output> {
    let mut future = pin!(future);
    future::poll_fn(|cx| {
        // The state that the future works on is meant to be used further: at worst, the one
        // datagram or command at which it happened has been dealt with by half.
        let poll = panic::catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx)));
        match poll {
            Ok(poll) => poll.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    })
    .await
}

fn message(panic: &(dyn Any + Send)) -> Arc<str> {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
        .into()
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, UdpSocket};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::{self, Receiver};
    use std::time::Duration;

    use imqueue_udp_core::{Announcement, Change};

    use super::*;
    use crate::{Announcer, AnnouncerNotice, Batch, Listener, Notice};

    /// A listener on a port that the system chose.
    struct Follower {
        listener: Listener,
        calls: Receiver<()>,
        // Dropped last.
        _alone: MutexGuard<'static, ()>,
    }

    /// A panic is everybody's: these tests run one after the other.
    static ALONE: Mutex<()> = Mutex::new(());

    impl Follower {
        fn start(before_call: impl Fn() + Send + Sync + 'static) -> Self {
            let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
            let (send, calls) = mpsc::channel();
            let waker = move || {
                before_call();
                send.send(()).ok();
            };
            let options = ListenerOptions {
                port: 0,
                ..Default::default()
            };
            let listener = Listener::start(options, Arc::new(waker)).unwrap();
            Self {
                listener,
                calls,
                _alone: alone,
            }
        }

        fn next(&self) -> Batch {
            self.calls.recv_timeout(Duration::from_secs(20)).unwrap();
            self.listener.take()
        }

        /// Waits for the report of `panic`. Nothing else is told meanwhile but what concerns the
        /// fleet as a whole.
        fn wait_for_report(&self, panic: &str) {
            loop {
                let batch = self.next();
                assert!(batch.changes.is_empty());
                if reports(&batch, panic) {
                    return;
                }
            }
        }

        fn say(&self, text: &str) {
            let port = self.listener.local_addr().unwrap().port();
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            socket
                .send_to(text.as_bytes(), (Ipv4Addr::LOCALHOST, port))
                .unwrap();
        }
    }

    fn reports(batch: &Batch, panic: &str) -> bool {
        let mut notices = batch.notices.iter();
        notices
            .any(|notice| matches!(notice, Notice::Panicked { message, .. } if **message == *panic))
    }

    #[test]
    fn a_panic_is_reported_and_nothing_is_lost() {
        let follower = Follower::start(|| ());
        assert!(matches!(
            follower.next().notices[..],
            [Notice::Listening(_)]
        ));
        let address = follower.listener.local_addr();
        follower.say("imq\ta\tup\t10.0.0.1:1\t60");
        assert!(matches!(follower.next().changes[..], [Change::Added(_)]));

        inject_panic("on purpose");
        follower.wait_for_report("on purpose");

        // It is the same fleet, on the same socket.
        assert_eq!(follower.listener.local_addr(), address);
        follower.say("imq\ta\tdown\t10.0.0.1:1");
        assert!(matches!(follower.next().changes[..], [Change::Removed(..)]));
        assert_eq!(follower.listener.stats().fleet.ups, 1);
    }

    #[test]
    fn a_panic_is_reported_to_announcers_too() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let (send, calls) = mpsc::channel();
        let interval = Duration::from_secs(1);
        let options = AnnouncerOptions {
            announcement: Announcement::new("imq", "a", "10.0.0.1", 1, interval, None).unwrap(),
            destinations: Vec::new(),
            interface: None,
        };
        let waker = move || {
            send.send(()).ok();
        };
        let announcer = Announcer::start(options, Arc::new(waker)).unwrap();

        inject_panic("on purpose");
        calls.recv_timeout(Duration::from_secs(20)).unwrap();
        let notices = announcer.take();
        assert!(matches!(
            &notices[..],
            [AnnouncerNotice::Panicked { message, .. }] if **message == *"on purpose"
        ));
        announcer.stop();
        calls.recv_timeout(Duration::from_secs(20)).unwrap();
        assert!(matches!(announcer.take()[..], [AnnouncerNotice::Stopped]));
    }

    #[test]
    fn a_waker_that_panics_is_called_again() {
        let first = AtomicBool::new(true);
        let follower = Follower::start(move || {
            assert!(!first.swap(false, Ordering::Relaxed), "the first call");
        });
        let batch = follower.next();
        assert!(reports(&batch, "the first call"));
        assert!(
            batch
                .notices
                .iter()
                .any(|notice| matches!(notice, Notice::Listening(_)))
        );
    }

    #[test]
    fn the_last_user_need_not_wait_for_a_pause_to_end() {
        let follower = Follower::start(|| ());
        inject_panic("on purpose");
        // The test would hang, were the thread not joined.
        drop(follower);
    }
}
