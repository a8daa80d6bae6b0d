//! Asks for pods, one request after the other.

use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

use tokio::time::{self, Instant};

use crate::failure::Failure;
use crate::pod::{Event, Pod};
use crate::state::{Position, State};

/// Who can be asked for pods.
pub(crate) trait Source {
    type Watch: Events;

    /// All pods.
    fn list(&mut self) -> impl Future<Output = Result<Listing, Failure>>;

    /// What happens after a version.
    fn watch(&mut self, version: &str) -> impl Future<Output = Result<Self::Watch, Failure>>;

    /// Which pods these are, for an operator.
    fn place(&self) -> String;
}

/// What happens to pods.
pub(crate) trait Events {
    /// The next event, or the end. A call that is given up loses nothing.
    fn next(&mut self) -> impl Future<Output = Result<Option<Event>, Failure>>;
}

/// All pods, at a version.
#[derive(Debug)]
pub(crate) struct Listing {
    pub(crate) pods: Vec<Pod>,
    pub(crate) version: String,
}

/// Follows the pods of a source.
pub(crate) struct Follower<S> {
    source: S,
    state: State,
}

impl<S: Source> Follower<S> {
    pub(crate) const fn new(source: S, state: State) -> Self {
        Self { source, state }
    }

    /// Goes on for ever.
    pub(crate) async fn run(&mut self) -> Infallible {
        loop {
            let result = match self.state.position.take() {
                None => self.list().await,
                Some(position) => self.watch(position).await,
            };
            let pause = result.unwrap_or_else(|failure| self.state.fail(&failure));
            self.state.meanwhile(time::sleep(pause)).await;
        }
    }

    /// Makes ready to run again after a panic.
    pub(crate) async fn recover(&mut self, panic: &str) {
        self.state.recover(panic).await;
    }

    /// Lists, and gives the pause after that.
    async fn list(&mut self) -> Result<Duration, Failure> {
        let listing = self.state.meanwhile(self.source.list()).await;
        self.state.place = self.source.place();
        self.state.listed(listing)
    }

    /// Watches to the end of the watch, and gives the pause after that.
    async fn watch(&mut self, position: Position) -> Result<Duration, Failure> {
        let opened = Instant::now();
        let watch = self.source.watch(&position.version);
        let watch = self.state.meanwhile(watch).await;
        self.state.position = Some(position);
        let end = match watch {
            Ok(events) => self.read(events, opened).await,
            Err(failure) => Err(failure),
        };
        self.state.closed(opened.elapsed(), end)
    }

    /// Takes all that a watch tells.
    async fn read(&mut self, mut events: S::Watch, opened: Instant) -> Result<(), Failure> {
        self.state.opened();
        let deadline = opened + self.state.silence;
        loop {
            let next = time::timeout_at(deadline, events.next());
            match self.state.meanwhile(next).await {
                Ok(event) => match event? {
                    Some(event) => self.state.take(event),
                    None => return Ok(()),
                },
                Err(_) => return Err(Failure::Mute),
            }
        }
    }
}

#[cfg(test)]
mod tests;
