//! What asks the program to end: SIGTERM, SIGINT, SIGQUIT and SIGHUP, or Ctrl-C where there are no
//! signals.

use std::io;
#[cfg(unix)]
use std::task::Poll;

/// What is listened for.
#[cfg(unix)]
pub(crate) struct Signals(Vec<tokio::signal::unix::Signal>);

#[cfg(unix)]
impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let mut kinds = vec![
            SignalKind::terminate(),
            SignalKind::interrupt(),
            SignalKind::quit(),
        ];
        // It was started by `nohup`, and goes on when its terminal is closed.
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        if !ignores(&status, SignalKind::hangup().as_raw_value()) {
            kinds.push(SignalKind::hangup());
        }
        kinds
            .into_iter()
            .map(signal)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Waits for the next one.
    pub(crate) async fn received(&mut self) {
        std::future::poll_fn(|context| {
            let mut signals = self.0.iter_mut();
            match signals.any(|signal| signal.poll_recv(context).is_ready()) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
    }
}

/// Whether a process ignores a signal, by its status as Linux tells it.
#[cfg(unix)]
fn ignores(status: &str, signal: i32) -> bool {
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}

/// What is listened for.
#[cfg(not(unix))]
pub(crate) struct Signals(tokio::signal::windows::CtrlC);

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    /// Waits for the next one.
    pub(crate) async fn received(&mut self) {
        self.0.recv().await;
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn reads_what_is_ignored() {
        let status = "Name:\tx\nSigBlk:\t0000000000000004\nSigIgn:\t0000000000001001\n";
        assert!(ignores(status, 1));
        assert!(!ignores(status, 3));
        assert!(!ignores("", 1));
    }
}
