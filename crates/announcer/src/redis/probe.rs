//! Asks a Redis again and again how it is, on one connection that is held open.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::time::{self, sleep, sleep_until};

use crate::log::{Level, Log};

use super::Target;
use super::answer::Answer;
use super::connection::{Connection, OpenError};
use super::health::{Health, Verdict};

/// How long after a failure to connect the next attempt follows; twice as long each time.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Connections that worked and were closed follow each other no faster than this, which still leaves
/// time for the second chance.
const PACE: Duration = Duration::from_millis(20);

/// How long a connection may take to be there: longer than any network needs, and not so long that a
/// Redis that is back has to wait for it.
const OPEN_LIMIT: Duration = Duration::from_secs(5);

/// Follows one Redis, and tells others what is to be done about it.
#[derive(Debug)]
pub(crate) struct Probe {
    pub(crate) target: Target,
    pub(crate) health: Health,
    /// How long after an answer it is asked again.
    pub(crate) period: Duration,
    pub(crate) verdict: watch::Sender<Verdict>,
    pub(crate) log: Log,
}

impl Probe {
    /// Goes on for ever.
    pub(crate) async fn run(mut self) {
        let mut pause = FIRST_PAUSE;
        loop {
            let opened = time::Instant::now();
            match self.open().await {
                Ok(connection) => {
                    // One that has answered may have been closed for no reason.
                    if self.follow(connection).await {
                        pause = FIRST_PAUSE;
                        self.meanwhile(sleep_until(opened + PACE)).await;
                        continue;
                    }
                }
                Err(error) => {
                    match error {
                        OpenError::Unreachable(error) => {
                            self.health.unreachable(self.explain(&error));
                        }
                        OpenError::Refused(words) => self.health.answered(Answer::Refused(words)),
                    }
                    self.publish();
                }
            }
            self.meanwhile(sleep(pause)).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn open(&mut self) -> Result<Connection, OpenError> {
        let target = self.target.clone();
        let connection = time::timeout(OPEN_LIMIT, Connection::open(&target));
        match self.meanwhile(connection).await {
            Ok(result) => result,
            Err(_) => {
                let text = format!("no answer within {OPEN_LIMIT:?}");
                Err(io::Error::new(io::ErrorKind::TimedOut, text).into())
            }
        }
    }

    /// What the system says where one side speaks TLS, and the other does not, helps nobody.
    fn explain(&self, error: &io::Error) -> String {
        use io::ErrorKind::{ConnectionReset, TimedOut, UnexpectedEof};
        let hint = match (error.kind(), &self.target.tls) {
            // It is spoken to as it wants to be.
            _ if self.health.was_reached() => "",
            (ConnectionReset | UnexpectedEof, None) => {
                " (if it speaks TLS there, it takes rediss:// or --tls)"
            }
            (TimedOut, Some(_)) => " (does it speak TLS there?)",
            _ => "",
        };
        format!("{error}{hint}")
    }

    /// Asks until the connection is gone or of no use. Returns whether it ever had an answer.
    async fn follow(&mut self, mut connection: Connection) -> bool {
        let mut answered = false;
        self.health.connected(connection.run_id());
        loop {
            self.health.asked(now());
            let answer = tokio::select! {
                biased;
                answer = connection.probe() => answer,
                () = at(self.health.poll_timeout()) => {
                    self.health.handle_timeout(now());
                    self.publish();
                    return answered;
                }
            };
            let Ok(answer) = answer else {
                break;
            };
            self.health.answered(answer);
            self.publish();
            if !answered {
                answered = true;
                self.warn_of_blindness(&connection);
            }
            tokio::select! {
                biased;
                _ = connection.closed() => break,
                () = sleep(self.period) => {}
            }
        }
        self.health.lost(now());
        answered
    }

    /// Waits for something, and gives the Redis up when that is due.
    async fn meanwhile<T>(&mut self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        loop {
            tokio::select! {
                biased;
                output = &mut future => return output,
                () = at(self.health.poll_timeout()) => {
                    self.health.handle_timeout(now());
                    self.publish();
                }
            }
        }
    }

    /// Those who follow are woken only by what is new.
    fn publish(&self) {
        self.verdict.send_if_modified(|verdict| {
            let changed = verdict != self.health.verdict();
            verdict.clone_from(self.health.verdict());
            changed
        });
    }

    fn warn_of_blindness(&self, connection: &Connection) {
        if !connection.tells_role() {
            self.log.say(
                Level::Warn,
                "role",
                "Redis allows neither ROLE nor INFO: it is taken for a master (grant +role and \
                 +info, or see to it that no replica is announced)",
            );
        } else if connection.run_id().is_none() {
            self.log.say(
                Level::Warn,
                "run",
                "Redis does not allow INFO: a restart is noticed only by its closed connection \
                 (grant +info)",
            );
        }
    }
}

fn now() -> Instant {
    time::Instant::now().into_std()
}

/// Waits until then; `None` is never.
async fn at(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant.into()).await,
        None => std::future::pending().await,
    }
}
