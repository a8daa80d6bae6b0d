//! What asks the program to end: SIGTERM and SIGINT, or Ctrl-C where there are no signals.

use std::io;

/// What is listened for.
#[cfg(unix)]
pub(crate) struct Signals(tokio::signal::unix::Signal, tokio::signal::unix::Signal);

#[cfg(unix)]
impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self(
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
        ))
    }

    /// Waits for the next one.
    pub(crate) async fn received(&mut self) {
        tokio::select! {
            _ = self.0.recv() => {}
            _ = self.1.recv() => {}
        }
    }
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
