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

    /// Lets it be run again after a panic.
    pub(crate) fn recover(&mut self, panic: &str) -> Duration {
        self.state.recover(panic)
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
mod tests {
    use std::collections::VecDeque;
    use std::future;
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::failure::Verb;
    use crate::options::PodsOptions;
    use crate::pod::Change;
    use crate::pods::{Mode, PodsEvent};
    use crate::state::Snapshot;

    /// What a source does when it is asked.
    enum Step {
        List(Result<&'static [&'static str], Failure>),
        /// Each event comes that many ms after the one before; then the watch ends, or fails.
        Watch(Vec<(u64, Event)>, End),
        Refuse(Failure),
    }

    /// What happens after the events of a watch.
    #[derive(Clone)]
    enum End {
        After(u64),
        Fails(Failure),
        Never,
    }

    struct Script {
        steps: VecDeque<Step>,
        log: Log,
    }

    type Log = Arc<Mutex<Vec<String>>>;

    struct Told(VecDeque<(u64, Event)>, End);

    impl Script {
        /// The next step. Where the script ends, nothing answers any more.
        async fn step(&mut self, asked: &str) -> Step {
            note(&self.log, asked);
            match self.steps.pop_front() {
                Some(step) => step,
                None => future::pending().await,
            }
        }
    }

    impl Source for Script {
        type Watch = Told;

        async fn list(&mut self) -> Result<Listing, Failure> {
            match self.step("list").await {
                Step::List(pods) => Ok(Listing {
                    pods: pods?.iter().map(|name| pod(name)).collect(),
                    version: "1".into(),
                }),
                _ => panic!("a list was not expected"),
            }
        }

        async fn watch(&mut self, version: &str) -> Result<Told, Failure> {
            match self.step(&format!("watch {version}")).await {
                Step::Watch(events, end) => Ok(Told(events.into(), end)),
                Step::Refuse(failure) => Err(failure),
                Step::List(_) => panic!("a watch was not expected"),
            }
        }

        fn place(&self) -> String {
            "namespace prod".into()
        }
    }

    impl Events for Told {
        async fn next(&mut self) -> Result<Option<Event>, Failure> {
            if let Some((after, _)) = self.0.front() {
                time::sleep(Duration::from_millis(*after)).await;
                return Ok(self.0.pop_front().map(|(_, event)| event));
            }
            match self.1.clone() {
                End::After(ms) => time::sleep(Duration::from_millis(ms)).await,
                End::Fails(failure) => return Err(failure),
                End::Never => future::pending().await,
            }
            Ok(None)
        }
    }

    /// A pod, whose name tells the end of its address.
    fn pod(name: &str) -> Pod {
        let address = format!("10.0.0.{name}").parse().ok();
        Pod {
            name: name.into(),
            addresses: address.into_iter().collect(),
        }
    }

    fn comes(after: u64, name: &str, version: &str) -> (u64, Event) {
        let change = Some(Change::Is(pod(name)));
        (
            after,
            Event {
                version: version.into(),
                change,
            },
        )
    }

    fn note(log: &Log, line: &str) {
        log.lock().unwrap().push(line.into());
    }

    fn forbidden(verb: Verb) -> Failure {
        Failure::Forbidden {
            verb,
            account: "service account prod/redis".into(),
            namespace: "prod".into(),
            message: "no".into(),
        }
    }

    fn status(code: u16, retry_after: Option<u64>) -> Failure {
        Failure::status(
            code,
            "so it is".into(),
            retry_after.map(Duration::from_secs),
        )
    }

    /// What was asked and told within so many seconds, with the ms at which it was.
    async fn story(seconds: u64, options: PodsOptions, steps: impl Into<VecDeque<Step>>) -> String {
        let begun = Instant::now();
        let log = Log::default();
        let told = Arc::clone(&log);
        let on_event = move |event| {
            let at = begun.elapsed().as_millis();
            note(
                &told,
                &match event {
                    PodsEvent::Changed(addresses) => {
                        let ends = addresses.iter().map(ToString::to_string);
                        let ends: Vec<_> = ends.map(|text| text.replace("10.0.0.", "")).collect();
                        format!("{at} [{}]", ends.join(" "))
                    }
                    PodsEvent::Notice { message, .. } => {
                        let start: Vec<_> = message.split(' ').take(4).collect();
                        format!("{at} {}", start.join(" "))
                    }
                },
            );
        };
        let snapshot = Arc::new(Mutex::new(Snapshot {
            pods: 0,
            confirmed: None,
            mode: Mode::Waiting,
        }));
        let state = State::new(&options, Box::new(on_event), snapshot);
        let steps = steps.into();
        let script = Script {
            steps,
            log: Arc::clone(&log),
        };
        let mut follower = Follower::new(script, state);
        let end = Duration::from_secs(seconds);
        assert!(time::timeout(end, follower.run()).await.is_err());
        log.lock().unwrap().join("; ")
    }

    #[tokio::test(start_paused = true)]
    async fn lists_then_watches_then_goes_on_where_it_was() {
        let steps = [
            Step::List(Ok(&["1", "2"])),
            Step::Watch(vec![comes(3000, "3", "5")], End::After(27_000)),
            Step::Watch(vec![], End::Never),
        ];
        assert_eq!(
            story(40, PodsOptions::default(), steps).await,
            "list; watch 1; 0 [1 2]; 0 following the pods in; 3000 [1 2 3]; watch 5",
        );
    }
}
