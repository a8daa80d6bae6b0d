//! What is asked and told, in virtual time.

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
    FailsAfter(u64, Failure),
    Never,
}

struct Script {
    steps: VecDeque<Step>,
    log: Log,
}

/// Lines, each after the ms at which it was written.
#[derive(Clone)]
struct Log {
    begun: Instant,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Log {
    fn new() -> Self {
        let lines = Arc::default();
        Self {
            begun: Instant::now(),
            lines,
        }
    }

    fn note(&self, text: &str) {
        let line = format!("{} {text}", self.begun.elapsed().as_millis());
        self.lines.lock().unwrap().push(line);
    }

    fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}

struct Told(VecDeque<(u64, Event)>, End);

impl Script {
    /// The next step. Where the script ends, nothing answers any more.
    async fn step(&mut self, asked: &str) -> Step {
        self.log.note(asked);
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
            End::FailsAfter(ms, failure) => {
                time::sleep(Duration::from_millis(ms)).await;
                return Err(failure);
            }
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

fn unreachable() -> Failure {
    Failure::Unreachable("refused".into())
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

/// Follows a script, and writes down what is asked and told.
fn follower(options: &PodsOptions, steps: impl Into<VecDeque<Step>>) -> (Follower<Script>, Log) {
    let log = Log::new();
    let told = log.clone();
    let on_event = move |event| match event {
        PodsEvent::Changed(addresses) => {
            let texts: Vec<_> = addresses.iter().map(ToString::to_string).collect();
            told.note(&format!("[{}]", texts.join(" ").replace("10.0.0.", "")));
        }
        PodsEvent::Notice { message, .. } => {
            let start: Vec<_> = message.split(' ').take(4).collect();
            told.note(&start.join(" "));
        }
    };
    let snapshot = Arc::new(Mutex::new(Snapshot {
        pods: 0,
        confirmed: None,
        mode: Mode::Waiting,
    }));
    let state = State::new(options, Box::new(on_event), snapshot);
    let steps = steps.into();
    let script = Script {
        steps,
        log: log.clone(),
    };
    (Follower::new(script, state), log)
}

async fn run_for(seconds: u64, follower: &mut Follower<Script>) {
    let end = Duration::from_secs(seconds);
    assert!(time::timeout(end, follower.run()).await.is_err());
}

/// What is asked and told within so many seconds, after the ms at which it was.
async fn story(
    seconds: u64,
    options: PodsOptions,
    steps: impl Into<VecDeque<Step>>,
) -> Vec<String> {
    let (mut follower, log) = follower(&options, steps);
    run_for(seconds, &mut follower).await;
    log.lines()
}

#[tokio::test(start_paused = true)]
async fn lists_then_watches_then_goes_on_where_it_was() {
    let steps = [
        Step::List(Ok(&["1", "2"])),
        Step::Watch(vec![comes(3000, "3", "5")], End::After(27_000)),
        Step::Watch(vec![], End::Never),
    ];
    assert_eq!(
        story(34, PodsOptions::default(), steps).await,
        [
            "0 list",
            "0 [1 2]",
            "0 watch 1",
            "0 following the pods in",
            "3000 [1 2 3]",
            "30000 watch 5",
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn an_outage_is_followed_by_ever_longer_pauses() {
    let mut steps: VecDeque<_> = (0..8).map(|_| Step::List(Err(unreachable()))).collect();
    steps.push_back(Step::List(Ok(&["1"])));
    steps.push_back(Step::Watch(vec![], End::Never));
    assert_eq!(
        story(30, PodsOptions::default(), steps).await,
        [
            "0 list",
            "0 the Kubernetes API cannot",
            "250 list",
            "750 list",
            "1750 list",
            "3750 list",
            "7750 list",
            "12750 list",
            "17750 list",
            "22750 list",
            "22750 [1]",
            "22750 watch 1",
            "22750 following the pods in",
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn the_version_outlives_an_outage() {
    let steps = [
        Step::List(Ok(&["1"])),
        Step::Watch(vec![comes(2000, "2", "7")], End::After(0)),
        Step::Refuse(unreachable()),
        Step::Refuse(status(429, Some(7))),
        Step::Watch(vec![], End::Never),
    ];
    assert_eq!(
        story(20, PodsOptions::default(), steps).await,
        [
            "0 list",
            "0 [1]",
            "0 watch 1",
            "0 following the pods in",
            "2000 [1 2]",
            "2000 watch 7",
            "2000 the Kubernetes API cannot",
            "2250 watch 7",
            "2250 the Kubernetes API answers",
            "9250 watch 7",
            "9250 following the pods in",
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn a_version_that_was_forgotten_is_replaced_at_once_and_in_silence() {
    let steps = [
        Step::List(Ok(&["1"])),
        Step::Watch(
            vec![comes(2000, "2", "7")],
            End::FailsAfter(0, status(410, None)),
        ),
        Step::List(Ok(&["2"])),
        Step::Watch(vec![comes(2000, "3", "9")], End::After(2000)),
        Step::Refuse(status(410, None)),
        Step::List(Ok(&["3"])),
        Step::Watch(vec![], End::Never),
    ];
    assert_eq!(
        story(20, PodsOptions::default(), steps).await,
        [
            "0 list",
            "0 [1]",
            "0 watch 1",
            "0 following the pods in",
            "2000 [1 2]",
            "2000 list",
            "2000 watch 1",
            "2050 [2]",
            "4000 [2 3]",
            "6000 watch 9",
            "6000 list",
            "6000 [3]",
            "6000 watch 1",
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn a_watch_may_be_told_so_too() {
    let steps = [
        Step::List(Ok(&["1"])),
        Step::Watch(vec![], End::FailsAfter(3000, status(410, None))),
        Step::List(Ok(&["1", "2"])),
        Step::Watch(vec![], End::Never),
    ];
    assert_eq!(
        story(20, PodsOptions::default(), steps).await,
        [
            "0 list",
            "0 [1]",
            "0 watch 1",
            "0 following the pods in",
            "3000 list",
            "3000 [1 2]",
            "3000 watch 1",
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn an_api_that_forgets_each_list_is_left_in_peace() {
    let mut steps = VecDeque::new();
    for _ in 0..4 {
        steps.push_back(Step::List(Ok(&["1"])));
        steps.push_back(Step::Refuse(status(410, None)));
    }
    assert_eq!(
        story(3, PodsOptions::default(), steps).await,
        [
            "0 list",
            "0 [1]",
            "0 watch 1",
            "0 the Kubernetes API forgets",
            "250 list",
            "250 watch 1",
            "750 list",
            "750 watch 1",
            "1750 list",
            "1750 watch 1",
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn after_nonsense_it_lists_anew() {
    let nonsense = || Failure::Nonsense("<html>".into());
    let steps = [
        Step::List(Err(nonsense())),
        Step::List(Ok(&["1"])),
        Step::Watch(vec![comes(2000, "2", "7")], End::FailsAfter(0, nonsense())),
        Step::List(Ok(&["2"])),
        Step::Watch(vec![], End::Never),
    ];
    assert_eq!(
        story(20, PodsOptions::default(), steps).await,
        [
            "0 list",
            "0 the Kubernetes API answers",
            "250 list",
            "250 [1]",
            "250 watch 1",
            "250 following the pods in",
            "2250 [1 2]",
            "2500 list",
            "2500 [2]",
            "2500 watch 1",
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn watches_that_end_at_once_are_not_begun_at_once() {
    let mut steps = VecDeque::from([Step::List(Ok(&["1"]))]);
    steps.extend((0..5).map(|_| Step::Watch(vec![], End::After(0))));
    assert_eq!(
        story(3, PodsOptions::default(), steps).await,
        [
            "0 list",
            "0 [1]",
            "0 watch 1",
            "0 following the pods in",
            "0 watch 1",
            "250 watch 1",
            "750 watch 1",
            "1750 watch 1",
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_went_mute_is_given_up() {
    let steps = [
        Step::List(Ok(&["1"])),
        Step::Watch(vec![comes(1000, "2", "4")], End::Never),
        Step::Watch(vec![], End::After(1000)),
    ];
    assert_eq!(
        story(36, PodsOptions::default(), steps).await,
        [
            "0 list",
            "0 [1]",
            "0 watch 1",
            "0 following the pods in",
            "1000 [1 2]",
            "35000 the Kubernetes API fell",
            "35250 watch 4",
            "35250 following the pods in",
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn who_may_not_watch_lists_and_tries_again() {
    let mut steps = VecDeque::from([Step::List(Ok(&["1"])), Step::Refuse(forbidden(Verb::Watch))]);
    steps.extend((0..2).map(|_| Step::List(Ok(&["1"]))));
    steps.push_back(Step::List(Ok(&["1", "2"])));
    steps.push_back(Step::Refuse(forbidden(Verb::Watch)));
    steps.push_back(Step::List(Ok(&["1", "2"])));
    steps.extend((0..2).map(|_| Step::List(Ok(&["1", "2"]))));
    steps.push_back(Step::Watch(vec![], End::Never));
    let options = PodsOptions {
        refresh: Duration::from_secs(20),
        ..PodsOptions::default()
    };
    assert_eq!(
        story(130, options, steps).await,
        [
            "0 list",
            "0 [1]",
            "0 watch 1",
            "0 service account prod/redis may",
            "0 following the pods in",
            "20000 list",
            "40000 list",
            "60000 list",
            "60000 [1 2]",
            "60000 watch 1",
            "80000 list",
            "100000 list",
            "120000 list",
            "120000 watch 1",
            "120000 the pods in namespace",
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn after_an_outage_it_tries_to_watch_first() {
    let steps = [
        Step::List(Ok(&["1"])),
        Step::Watch(vec![comes(2000, "2", "7")], End::After(0)),
        Step::Refuse(forbidden(Verb::Watch)),
        Step::List(Err(forbidden(Verb::List))),
        Step::List(Ok(&["2"])),
        Step::Watch(vec![], End::Never),
    ];
    assert_eq!(
        story(20, PodsOptions::default(), steps).await,
        [
            "0 list",
            "0 [1]",
            "0 watch 1",
            "0 following the pods in",
            "2000 [1 2]",
            "2000 watch 7",
            "2000 list",
            "2000 service account prod/redis may",
            "2250 list",
            "2250 [2]",
            "2250 watch 1",
            "2250 following the pods in",
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn no_pods_at_all_replace_nothing() {
    let gone = Event {
        version: "5".into(),
        change: Some(Change::Gone("1".into())),
    };
    let steps = [
        Step::List(Ok(&["1"])),
        Step::Watch(vec![(2000, gone)], End::FailsAfter(0, status(410, None))),
        Step::List(Ok(&[])),
        Step::Watch(vec![comes(3000, "2", "9")], End::Never),
    ];
    assert_eq!(
        story(20, PodsOptions::default(), steps).await,
        [
            "0 list",
            "0 [1]",
            "0 watch 1",
            "0 following the pods in",
            "2000 there is no pod",
            "2000 list",
            "2000 watch 1",
            "5000 following the pods in",
            "5000 [2]",
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_too_old_is_given_up_and_told_again() {
    let mut steps = VecDeque::from([
        Step::List(Ok(&["1"])),
        Step::Watch(vec![], End::After(10_000)),
    ]);
    steps.extend((0..6).map(|_| Step::Refuse(unreachable())));
    steps.push_back(Step::Watch(vec![], End::Never));
    let options = PodsOptions {
        max_age: Some(Duration::from_secs(20)),
        ..PodsOptions::default()
    };
    assert_eq!(
        story(25, options, steps).await,
        [
            "0 list",
            "0 [1]",
            "0 watch 1",
            "0 following the pods in",
            "10000 watch 1",
            "10000 the Kubernetes API cannot",
            "10250 watch 1",
            "10750 watch 1",
            "11750 watch 1",
            "13750 watch 1",
            "17750 watch 1",
            "20000 all addresses are given",
            "20000 []",
            "22750 watch 1",
            "22750 following the pods in",
            "22750 [1]",
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn a_rollout_is_told_in_few_steps() {
    let mut events = vec![comes(1000, "2", "2")];
    events.extend((3..=80).map(|name| comes(1, &name.to_string(), "3")));
    let steps = [Step::List(Ok(&["1"])), Step::Watch(events, End::Never)];
    let story = story(20, PodsOptions::default(), steps).await;
    let told: Vec<_> = story.iter().filter(|line| line.contains('[')).collect();
    let sizes = told.iter().map(|line| line.split(' ').count() - 1);
    assert_eq!(sizes.collect::<Vec<_>>(), [1, 2, 51, 80], "{told:?}");
    assert!(told[3].starts_with("1100 "), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn after_a_panic_all_is_told_again() {
    let steps = [
        Step::List(Ok(&["1"])),
        Step::Watch(vec![], End::Never),
        Step::List(Ok(&["1"])),
        Step::Watch(vec![], End::Never),
    ];
    let (mut follower, log) = follower(&PodsOptions::default(), steps);
    run_for(2, &mut follower).await;
    follower.recover("on purpose").await;
    run_for(2, &mut follower).await;
    assert_eq!(
        log.lines(),
        [
            "0 list",
            "0 [1]",
            "0 watch 1",
            "0 following the pods in",
            "2250 following pods failed by",
            "2250 list",
            "2250 [1]",
            "2250 watch 1",
        ],
    );
}
