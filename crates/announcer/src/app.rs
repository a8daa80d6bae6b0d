//! Connects what knows the Redis, what knows the addresses, and what announces; until a signal ends
//! it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use imqueue_kubernetes::{Pods, PodsEvent, PodsOptions};
use imqueue_udp_net::Destination;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::{MissedTickBehavior, interval};

use crate::advertise::Addresses;
use crate::announcing::Announcing;
use crate::http;
use crate::listening::Listening;
use crate::log::{Level, Log};
use crate::recipe::{Recipe, to_pods};
use crate::redis::{Health, Probe, Reason, Verdict};
use crate::settings::Settings;
use crate::signals::Signals;
use crate::status::Status;

/// How often the Redis is asked, at least: how late it is noticed that it became a replica.
const LONGEST_PERIOD: Duration = Duration::from_secs(1);

/// How often what could not be started is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// How many probes may wait for the status.
const QUESTIONS: usize = 16;

/// Why the program could not begin, or had to end.
#[derive(Debug, Error)]
#[non_exhaustive]
pub(crate) enum RunError {
    #[error("the event loop cannot be made: {0}")]
    Runtime(#[source] io::Error),
    #[error("signals cannot be received: {0}")]
    Signals(#[source] io::Error),
    #[error("--health-port: {0} cannot be listened on: {1}")]
    HealthPort(SocketAddr, #[source] io::Error),
    #[error("a part of this program has ended, which is a bug; so it ends")]
    Incomplete,
    #[error("pods cannot be followed: {0}")]
    Pods(#[from] imqueue_kubernetes::StartError),
}

/// Announces the Redis until a signal ends it, and says then that it leaves.
///
/// # Errors
///
/// It could not begin, and nothing was announced; or it has a bug, and what was announced is taken
/// back.
pub(crate) fn run(settings: Settings) -> Result<(), RunError> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(RunError::Runtime)?;
    let result = runtime.block_on(async { App::start(settings)?.run().await });
    // Somebody may still be looking a name up.
    runtime.shutdown_background();
    result
}

struct App {
    settings: Settings,
    announcing: Announcing,
    verdicts: watch::Receiver<Verdict>,
    /// Those at which somebody listens. `None`: not looked yet.
    addresses: watch::Receiver<Option<Addresses>>,
    destinations: watch::Receiver<Vec<Destination>>,
    questions: mpsc::Receiver<oneshot::Sender<Status>>,
    news: Arc<Notify>,
    pods: Option<Pods>,
    log: Log,
}

impl App {
    fn start(settings: Settings) -> Result<Self, RunError> {
        let log = Log::new();
        let (question, questions) = mpsc::channel(QUESTIONS);
        if let Some(address) = settings.health {
            let listener = http::bind(address).and_then(TcpListener::from_std);
            let listener = listener.map_err(|error| RunError::HealthPort(address, error))?;
            tokio::spawn(http::serve(listener, question));
        }
        let verdicts = watch_redis(&settings, log.clone());
        let (redirect, destinations) = watch::channel(settings.recipe.destinations());
        let addresses = watch_addresses(&settings, &destinations, &verdicts, log.clone());
        let pods = match &settings.recipe {
            Recipe::Kubernetes(options, port) => {
                Some(follow_pods(options.clone(), *port, redirect, log.clone())?)
            }
            Recipe::Broadcast(_) | Recipe::Unicast(_) => None,
        };

        let news = Arc::new(Notify::new());
        let mut announcing =
            Announcing::new(settings.manner.clone(), Arc::clone(&news), log.clone());
        announcing.redirect(settings.recipe.destinations());
        Ok(Self {
            settings,
            announcing,
            verdicts,
            addresses,
            destinations,
            questions,
            news,
            pods,
            log,
        })
    }

    async fn run(mut self) -> Result<(), RunError> {
        let mut signals = Signals::new().map_err(RunError::Signals)?;
        let mut retry = interval(RETRY);
        retry.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let news = Arc::clone(&self.news);
        self.say(Level::Info, "started");
        let result = loop {
            tokio::select! {
                biased;
                () = signals.received() => break Ok(()),
                changed = self.verdicts.changed() => match changed {
                    Ok(()) => self.obey(),
                    Err(_) => break Err(RunError::Incomplete),
                },
                changed = self.addresses.changed() => match changed {
                    Ok(()) => self.readdress(),
                    Err(_) => break Err(RunError::Incomplete),
                },
                Ok(()) = self.destinations.changed() => {
                    let destinations = self.destinations.borrow_and_update().clone();
                    self.announcing.redirect(destinations);
                }
                () = news.notified() => self.announcing.report(),
                Some(question) = self.questions.recv() => {
                    // The client may have left meanwhile.
                    let _ = question.send(self.status());
                }
                _ = retry.tick() => {
                    if self.announcing.adjust() {
                        self.say_where();
                    }
                    self.log.catch_up();
                }
            }
        };
        self.announcing.stop();
        if result.is_ok() {
            self.log.say(Level::Info, "end", "ended by a signal");
        }
        result
    }

    /// Does what is to be done about the Redis.
    fn obey(&mut self) {
        let verdict = self.verdicts.borrow_and_update().clone();
        match verdict {
            Verdict::Announce(run) => {
                self.announcing.start(run);
                self.say_where();
            }
            Verdict::Silent(reason) => {
                self.announcing.stop();
                let level = match reason {
                    Reason::Loading | Reason::Replica | Reason::Unknown => Level::Info,
                    Reason::Closed | Reason::Hanging(_) | Reason::Unreachable(_) => Level::Warn,
                    Reason::Refused(_) => Level::Error,
                };
                self.say(level, &format!("not announced: {reason}"));
            }
        }
    }

    fn readdress(&mut self) {
        let addresses = self.addresses.borrow_and_update().clone();
        match addresses {
            Some(Ok(addresses)) => {
                self.announcing.readdress(addresses);
                self.say_where();
            }
            Some(Err(error)) => {
                self.announcing.readdress(Vec::new());
                self.say(error.level(), &format!("not announced: {error}"));
            }
            None => self.announcing.readdress(Vec::new()),
        }
    }

    fn status(&self) -> Status {
        let pods = self.pods.as_ref().map(Pods::status);
        let pods_unknown = pods.is_some_and(|pods| pods.age.is_none());
        let verdict = self.verdicts.borrow();
        let addresses = self.addresses.borrow();
        let obstacle = match (&*verdict, &*addresses) {
            (Verdict::Silent(reason), _) => Some(reason.to_string()),
            (_, Some(Err(error))) => Some(error.to_string()),
            _ if pods_unknown => Some("the Kubernetes API has not told any pods yet".to_owned()),
            _ => None,
        };
        Status {
            recipe: self.settings.recipe.name(),
            redis: verdict.code(),
            announced: match obstacle {
                None => self.announcing.announced(),
                Some(_) => Vec::new(),
            },
            obstacle,
            sent: self.announcing.stats(),
            pods,
        }
    }

    /// Says what is announced, if anything is.
    fn say_where(&self) {
        let announced = self.announcing.announced();
        if !announced.is_empty() {
            let guid = self.announcing.guid();
            let text = format!("announced at {} as {guid}", announced.join(", "));
            self.say(Level::Info, &text);
        }
    }

    fn say(&self, level: Level, message: &str) {
        let redis = &self.settings.target.place;
        self.log
            .change(level, format!("Redis at {redis}: {message}"));
    }
}

fn watch_redis(settings: &Settings, log: Log) -> watch::Receiver<Verdict> {
    let (verdict, verdicts) = watch::channel(Verdict::Silent(Reason::Unknown));
    let probe = Probe {
        target: settings.target.clone(),
        health: Health::new(settings.patience, settings.replicas),
        period: (settings.manner.interval / 2).min(LONGEST_PERIOD),
        verdict,
        log,
    };
    tokio::spawn(probe.run());
    verdicts
}

fn watch_addresses(
    settings: &Settings,
    destinations: &watch::Receiver<Vec<Destination>>,
    verdicts: &watch::Receiver<Verdict>,
    log: Log,
) -> watch::Receiver<Option<Addresses>> {
    let (found, addresses) = watch::channel(None);
    tokio::spawn(settings.plan.clone().follow(destinations.clone(), found));
    let (told, listened_at) = watch::channel(None);
    let listening = Listening {
        verdicts: verdicts.clone(),
        addresses,
        told,
        log,
    };
    tokio::spawn(listening.follow());
    listened_at
}

fn follow_pods(
    options: PodsOptions,
    port: u16,
    redirect: watch::Sender<Vec<Destination>>,
    log: Log,
) -> Result<Pods, imqueue_kubernetes::StartError> {
    Pods::watch(options, move |event| match event {
        PodsEvent::Changed(addresses) => drop(redirect.send(to_pods(addresses, port))),
        PodsEvent::Notice { level, message } => {
            log.pass(level, &message);
        }
    })
}
