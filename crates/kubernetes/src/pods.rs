//! The thread that follows pods, and what it tells.

use std::any::Any;
use std::net::IpAddr;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use imqueue_udp_net::{Level, spawn_without_signals};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use crate::api::Api;
use crate::error::StartError;
use crate::follow::Follower;
use crate::options::PodsOptions;
use crate::state::{Snapshot, State};

/// The pods of a namespace, followed from a thread of their own for as long as this exists.
///
/// Dropping it ends and joins the thread, within some milliseconds even if the API hangs; afterwards
/// nothing is told any more. It must not be dropped by what it tells.
#[derive(Debug)]
pub struct Pods {
    snapshot: Arc<Mutex<Snapshot>>,
    /// Dropping it ends the thread.
    running: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What happens.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PodsEvent {
    /// Announcements are meant for these addresses from now on: sorted, each once. There are some,
    /// except when the list was given up because of [`PodsOptions::max_age`].
    Changed(Vec<IpAddr>),
    /// What an operator should know.
    Notice {
        /// How much it matters.
        level: Level,
        /// One line of text.
        message: String,
    },
}

/// How it stands with the pods.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PodsStatus {
    /// How many addresses were told.
    pub pods: usize,
    /// How long ago the API last confirmed that the pods are these. While nothing changes, a watch
    /// confirms it about as often as it lasts. `None`: never.
    pub age: Option<Duration>,
    /// In which way pods are followed.
    pub mode: Mode,
}

/// In which way pods are followed.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Mode {
    /// Not at present: the API has not answered yet, or something is wrong.
    Waiting,
    /// The API tells of each change as it happens.
    Watching,
    /// They are listed every [`PodsOptions::refresh`].
    Polling,
}

impl Pods {
    /// Begins to follow pods. `on_event` is called on the thread that does so; while it lasts, no
    /// news arrives, and this cannot be dropped.
    ///
    /// # Errors
    ///
    /// If the options can never work, or the system refuses the thread. Whatever else is wrong, like
    /// a missing service account or an API that is away, is told and tried again.
    pub fn watch(
        options: PodsOptions,
        on_event: impl Fn(PodsEvent) + Send + 'static,
    ) -> Result<Self, StartError> {
        options.check()?;
        let snapshot = Arc::new(Mutex::new(Snapshot {
            pods: 0,
            confirmed: None,
            mode: Mode::Waiting,
        }));
        let state = State::new(&options, Box::new(on_event), Arc::clone(&snapshot));
        let follower = Follower::new(Api::new(options), state);
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(StartError::Runtime)?;
        let (running, stopped) = oneshot::channel();
        let work = move || run(runtime, follower, stopped);
        let thread = spawn_without_signals("imq-kubernetes", work).map_err(StartError::Thread)?;
        Ok(Self {
            snapshot,
            running: Some(running),
            thread: Some(thread),
        })
    }

    /// How it stands at this moment.
    #[must_use]
    pub fn status(&self) -> PodsStatus {
        let snapshot = *self.snapshot.lock().unwrap_or_else(PoisonError::into_inner);
        PodsStatus {
            pods: snapshot.pods,
            age: snapshot.confirmed.map(|at| at.elapsed()),
            mode: snapshot.mode,
        }
    }
}

impl Drop for Pods {
    fn drop(&mut self) {
        drop(self.running.take());
        if let Some(thread) = self.thread.take() {
            // A panic was told already.
            thread.join().ok();
        }
    }
}

/// The whole life of the thread.
fn run(runtime: Runtime, mut follower: Follower<Api>, mut stopped: oneshot::Receiver<()>) {
    let mut panicked: Option<String> = None;
    loop {
        let follow = async {
            if let Some(panic) = &panicked {
                follower.recover(panic).await;
            }
            follower.run().await
        };
        let life = async {
            tokio::select! {
                biased;
                _ = &mut stopped => (),
                never = follow => match never {},
            }
        };
        match panic::catch_unwind(AssertUnwindSafe(|| runtime.block_on(life))) {
            Ok(()) => break,
            Err(panic) => panicked = Some(message(&*panic).into()),
        }
    }
    drop(follower);
    // A name that is still being looked up must not keep anybody waiting.
    runtime.shutdown_background();
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::options::ApiServer;

    const DEADLINE: Duration = Duration::from_secs(20);

    /// Nobody is there.
    fn options() -> PodsOptions {
        PodsOptions {
            server: Some(ApiServer {
                url: "https://127.0.0.1:1".into(),
                ca_file: None,
                token_file: None,
            }),
            ..PodsOptions::default()
        }
    }

    #[test]
    fn a_panic_of_whoever_is_told_ends_nothing() {
        let (send, events) = mpsc::channel();
        let on_event = move |event| {
            let PodsEvent::Notice { level, message } = event else {
                return;
            };
            send.send(message).ok();
            assert_eq!(level, Level::Error, "on purpose");
        };
        let _pods = Pods::watch(options(), on_event).unwrap();
        let first = events.recv_timeout(DEADLINE).unwrap();
        assert!(first.contains("cannot be reached"), "{first}");
        let report = events.recv_timeout(DEADLINE).unwrap();
        assert!(report.contains("begins anew: "), "{report}");
        assert!(report.contains("on purpose"), "{report}");
    }

    #[test]
    fn nothing_is_known_before_the_first_answer() {
        let pods = Pods::watch(options(), |_| ()).unwrap();
        let nothing = PodsStatus {
            pods: 0,
            age: None,
            mode: Mode::Waiting,
        };
        assert_eq!(pods.status(), nothing);
    }
}
