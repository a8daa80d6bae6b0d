//! Decides what to ask next.

use std::convert::Infallible;
use std::future::{self, Future};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{self, Instant};

use crate::failure::{Failure, excerpt};
use crate::follow::Listing;
use crate::options::PodsOptions;
use crate::pod::Event;
use imqueue_udp_net::Level;

use crate::pods::{Mode, PodsEvent};
use crate::report::{self, Report};
use crate::roster::Roster;

/// All that outlives a request.
pub(crate) struct State {
    refresh: Duration,
    /// After how long a watch that does not end is taken for mute.
    pub(crate) silence: Duration,
    /// Which pods these are, for an operator.
    pub(crate) place: String,
    /// From where to watch. Without it, pods have to be listed.
    pub(crate) position: Option<Position>,
    /// Until when pods are listed only, and why.
    lists_only: Option<(Instant, Failure)>,
    /// In a row.
    failures: u32,
    roster: Roster,
    report: Report,
    on_event: Box<dyn Fn(PodsEvent) + Send>,
    snapshot: Arc<Mutex<Snapshot>>,
}

/// What a watch begins after.
#[derive(Debug)]
pub(crate) struct Position {
    pub(crate) version: String,
    /// Whether it is that of a list, and no watch from there has told anything yet.
    pub(crate) fresh: bool,
}

/// What other threads may know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Snapshot {
    pub(crate) pods: usize,
    pub(crate) confirmed: Option<Instant>,
    pub(crate) mode: Mode,
}

/// A watch that lasted so long was a good one. Others are followed by pauses, or a server that ends
/// each at once would never be left in peace.
const GOOD_WATCH: Duration = Duration::from_secs(1);

/// Where pods may not be watched, it is tried again after so long: permissions change.
const WATCH_AGAIN: Duration = Duration::from_secs(60);

/// Nobody means to list without a pause.
const SHORTEST_REFRESH: Duration = Duration::from_millis(100);

/// How many characters are shown of what a panic said.
const MAX_PANIC: usize = 500;

/// The pause after the first failure. It doubles with each.
const FIRST_PAUSE: Duration = Duration::from_millis(250);

/// Services drop a broker after some seconds: an API that is back must not be asked much later.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

impl State {
    pub(crate) fn new(
        options: &PodsOptions,
        on_event: Box<dyn Fn(PodsEvent) + Send>,
        snapshot: Arc<Mutex<Snapshot>>,
    ) -> Self {
        Self {
            refresh: options.refresh.max(SHORTEST_REFRESH),
            silence: Duration::from_secs(options.watch_seconds().into()) + options.timeout,
            place: String::new(),
            position: None,
            lists_only: None,
            failures: 0,
            roster: Roster::new(options.max_age),
            report: Report::default(),
            on_event,
            snapshot,
        }
    }

    /// Does some work, and tells meanwhile what has changed before, or has become too old.
    pub(crate) async fn meanwhile<T>(&mut self, work: impl Future<Output = T>) -> T {
        tokio::select! {
            // A stream of events that never pauses must not keep them from being told.
            biased;
            never = self.tell_in_time() => match never {},
            done = work => done,
        }
    }

    async fn tell_in_time(&mut self) -> Infallible {
        loop {
            match self.roster.due(Instant::now(), self.is_current()) {
                Some(due) => time::sleep_until(due).await,
                None => future::pending().await,
            }
            let now = Instant::now();
            let Some(addresses) = self.roster.tell(now, self.is_current()) else {
                continue;
            };
            if addresses.is_empty() {
                self.say(Some(Report::gave_up(now, &self.roster)));
            }
            self.publish();
            (self.on_event)(PodsEvent::Changed(addresses));
        }
    }

    /// A list came, or did not. Gives the pause after it.
    pub(crate) fn listed(
        &mut self,
        listing: Result<Listing, Failure>,
    ) -> Result<Duration, Failure> {
        // After an outage, what may be done is found out anew.
        let listing = listing.inspect_err(|_| self.lists_only = None)?;
        self.roster.replace(listing.pods);
        self.roster.confirm(Instant::now());
        match &self.lists_only {
            Some((until, _)) if Instant::now() < *until => Ok(self.poll()),
            _ => {
                self.publish();
                self.position = Some(Position {
                    version: listing.version,
                    fresh: true,
                });
                Ok(Duration::ZERO)
            }
        }
    }

    /// A watch has begun.
    pub(crate) fn opened(&mut self) {
        self.set_mode(Mode::Watching);
        let said = self.report.watches(&self.place);
        self.say(said);
        self.confirm();
    }

    /// A watch tells something.
    pub(crate) fn take(&mut self, event: Event) {
        self.position = Some(Position {
            version: event.version,
            fresh: false,
        });
        if let Some(change) = event.change {
            self.roster.apply(change);
        }
        self.confirm();
    }

    /// A watch has ended, or could not begin. Gives the pause after it.
    pub(crate) fn closed(
        &mut self,
        lasted: Duration,
        end: Result<(), Failure>,
    ) -> Result<Duration, Failure> {
        let good = lasted >= GOOD_WATCH;
        if good {
            self.failures = 0;
        }
        let fresh = self
            .position
            .as_ref()
            .is_some_and(|position| position.fresh);
        match end {
            Ok(()) if good => Ok(Duration::ZERO),
            Ok(()) => Ok(self.pause()),
            // So it goes when nothing was heard for long; a list helps, unless it has just failed to.
            Err(Failure::Expired(_)) if good || !fresh => {
                self.position = None;
                Ok(self.pause())
            }
            Err(refusal @ Failure::Forbidden { .. }) => {
                self.position = None;
                self.lists_only = Some((Instant::now() + WATCH_AGAIN, refusal));
                // Whether pods may at least be listed is known only if they just were.
                Ok(if fresh { self.poll() } else { Duration::ZERO })
            }
            Err(failure) => Err(failure),
        }
    }

    /// Gives the pause after a failure.
    pub(crate) fn fail(&mut self, failure: &Failure) -> Duration {
        if !failure.spares_version() {
            self.position = None;
        }
        self.set_mode(Mode::Waiting);
        let said = self.report.failed(Instant::now(), failure, &self.roster);
        self.say(said);
        // What has failed is not tried again at once, even if it is the first time.
        self.failures = self.failures.max(1);
        let pause = self.pause();
        failure.retry_after().unwrap_or(pause)
    }

    /// Begins anew after a panic, which may have been that of whoever is told.
    pub(crate) async fn recover(&mut self, panic: &str) {
        self.position = None;
        self.roster.repeat();
        self.set_mode(Mode::Waiting);
        self.failures = self.failures.max(1);
        time::sleep(self.pause()).await;
        let panic = excerpt(panic, MAX_PANIC);
        let text = format!("following pods failed by a fault of its own, and begins anew: {panic}");
        self.say(Some(report::notice(Level::Error, text)));
    }

    /// Pods were listed, and will be again. Gives the pause before.
    fn poll(&mut self) -> Duration {
        self.failures = 0;
        self.set_mode(Mode::Polling);
        if let Some((_, refusal)) = &self.lists_only {
            let said = self.report.polls(refusal, self.refresh);
            self.say(said);
        }
        self.confirm();
        self.refresh
    }

    /// Pods are known to be as they are known.
    fn confirm(&mut self) {
        let now = Instant::now();
        self.roster.confirm(now);
        let said = match self.roster.len() {
            0 => {
                let failure = Failure::Empty(self.place.clone());
                self.report.failed(now, &failure, &self.roster)
            }
            pods => self.report.works(now, &self.place, pods),
        };
        self.say(said);
        self.publish();
    }

    /// None at first, then ever longer ones.
    fn pause(&mut self) -> Duration {
        const DOUBLINGS: u32 = 5;
        let failures = self.failures;
        self.failures = failures.saturating_add(1);
        match failures {
            0 => Duration::ZERO,
            _ => (FIRST_PAUSE * (1 << (failures - 1).min(DOUBLINGS))).min(LONGEST_PAUSE),
        }
    }

    /// Whether the API would have said what has changed.
    fn is_current(&self) -> bool {
        self.locked().mode != Mode::Waiting
    }

    fn set_mode(&self, mode: Mode) {
        self.locked().mode = mode;
    }

    fn publish(&self) {
        let mut snapshot = self.locked();
        snapshot.pods = self.roster.told();
        snapshot.confirmed = self.roster.confirmed();
    }

    fn say(&self, notice: Option<PodsEvent>) {
        if let Some(notice) = notice {
            (self.on_event)(notice);
        }
    }

    fn locked(&self) -> MutexGuard<'_, Snapshot> {
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
