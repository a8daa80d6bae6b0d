//! Whether a Redis is to be announced: what it said, and how long it may be silent. No clock, no
//! sockets; time is an argument.

use std::fmt;
use std::time::{Duration, Instant};

use super::answer::Answer;

/// How long a Redis that closed the connection has to answer on another one. It may have closed
/// only this one, by `CLIENT KILL` or because it was idle; a dead one refuses the next at once.
pub(crate) const SECOND_CHANCE: Duration = Duration::from_millis(40);

/// One run of a Redis, from its start to its end, as far as it can be told from the next.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Run(u64);

/// What is to be done about a Redis.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    Announce(Run),
    /// It is not there for services, and this is why.
    Silent(Reason),
}

/// Why a Redis is not announced.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Reason {
    /// It was not asked yet.
    Unknown,
    /// There is no connection to be had; what the system, or the Redis, said.
    Unreachable(String),
    /// It closed the connection and does not answer on another one.
    Closed,
    /// It takes too long to answer.
    Hanging(Duration),
    Loading,
    Replica,
    /// It does not serve, or not us; its own words.
    Refused(String),
}

/// Follows one Redis.
///
/// Every question is [`asked`](Self::asked) and [`answered`](Self::answered); a connection is
/// [`connected`](Self::connected) first and [`lost`](Self::lost) in the end, or was never to be had:
/// [`unreachable`](Self::unreachable). Call [`handle_timeout`](Self::handle_timeout) at
/// [`poll_timeout`](Self::poll_timeout).
#[derive(Debug)]
pub(crate) struct Health {
    /// How long it may take to answer.
    patience: Duration,
    replicas: bool,
    run: Run,
    run_id: Option<String>,
    verdict: Verdict,
    /// When it is given up, and why then.
    deadline: Option<(Instant, Reason)>,
}

impl Health {
    /// Of a Redis that was not asked yet, and is allowed to be a replica or not.
    pub(crate) fn new(patience: Duration, replicas: bool) -> Self {
        Self {
            patience,
            replicas,
            run: Run::default(),
            run_id: None,
            verdict: Verdict::Silent(Reason::Unknown),
            deadline: None,
        }
    }

    pub(crate) fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// A Redis answers on a new connection. One that does not tell its run may be another than
    /// before if it was away meanwhile.
    pub(crate) fn connected(&mut self, run_id: Option<&str>) {
        let same = match run_id {
            Some(id) => self.run_id.as_deref() == Some(id),
            None => matches!(self.verdict, Verdict::Announce(_)),
        };
        if !same {
            self.run.0 += 1;
            self.run_id = run_id.map(ToOwned::to_owned);
        }
    }

    /// Whether it has ever answered.
    pub(crate) fn was_reached(&self) -> bool {
        self.run != Run::default()
    }

    /// It is asked how it is. A question that is open already counts from then.
    pub(crate) fn asked(&mut self, now: Instant) {
        let hanging = || (now + self.patience, Reason::Hanging(self.patience));
        self.deadline.get_or_insert_with(hanging);
    }

    /// It said how it is. That it is busy is no answer.
    pub(crate) fn answered(&mut self, answer: Answer) {
        let verdict = match answer {
            Answer::Busy => return,
            Answer::Master => Verdict::Announce(self.run),
            Answer::Replica if self.replicas => Verdict::Announce(self.run),
            Answer::Replica => Verdict::Silent(Reason::Replica),
            Answer::Loading => Verdict::Silent(Reason::Loading),
            Answer::Refused(words) => Verdict::Silent(Reason::Refused(words)),
        };
        self.verdict = verdict;
        self.deadline = None;
    }

    /// The connection on which it answered is gone.
    pub(crate) fn lost(&mut self, now: Instant) {
        let second_chance = now + SECOND_CHANCE;
        if self
            .deadline
            .as_ref()
            .is_none_or(|(at, _)| *at > second_chance)
        {
            self.deadline = Some((second_chance, Reason::Closed));
        }
    }

    /// There is no connection to be had.
    pub(crate) fn unreachable(&mut self, why: String) {
        self.give_up(Reason::Unreachable(why));
    }

    /// When it is given up, unless it answers before.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.deadline.as_ref().map(|(at, _)| *at)
    }

    /// Gives it up if that is due.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if let Some((_, reason)) = self.deadline.take_if(|(at, _)| *at <= now) {
            self.give_up(reason);
        }
    }

    fn give_up(&mut self, reason: Reason) {
        self.verdict = Verdict::Silent(reason);
        self.deadline = None;
    }
}

impl Verdict {
    /// A stable word for the state of the Redis, as metrics have it.
    pub(crate) const fn code(&self) -> &'static str {
        match self {
            Self::Announce(_) => "ready",
            Self::Silent(reason) => reason.code(),
        }
    }

    /// All words that [`code`](Self::code) may be.
    pub(crate) const CODES: [&'static str; 8] = [
        "ready",
        "unknown",
        "unreachable",
        "closed",
        "hanging",
        "loading",
        "replica",
        "refused",
    ];
}

impl Reason {
    pub(crate) const fn code(&self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Unreachable(_) => "unreachable",
            Self::Closed => "closed",
            Self::Hanging(_) => "hanging",
            Self::Loading => "loading",
            Self::Replica => "replica",
            Self::Refused(_) => "refused",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("it was not reached yet"),
            Self::Unreachable(why) => write!(f, "it cannot be reached: {why}"),
            Self::Closed => f.write_str("it closed the connection"),
            Self::Hanging(patience) => write!(f, "it has not answered for {patience:?}"),
            Self::Loading => f.write_str("it is loading its data"),
            Self::Replica => f.write_str(
                "it is a replica, which refuses writes (--replicas announces it all the same)",
            ),
            Self::Refused(words) => write!(f, "it answers: {words}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(2);

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    /// A master that is announced since `start`.
    fn announced(start: Instant) -> Health {
        let mut health = Health::new(PATIENCE, false);
        health.connected(Some("run-1"));
        health.asked(start);
        health.answered(Answer::Master);
        assert_eq!(health.verdict(), &Verdict::Announce(Run(1)));
        assert_eq!(health.poll_timeout(), None);
        health
    }

    fn code(health: &Health) -> &'static str {
        health.verdict().code()
    }

    #[test]
    fn nothing_is_announced_before_it_has_answered() {
        let mut health = Health::new(PATIENCE, false);
        assert_eq!(code(&health), "unknown");
        health.connected(Some("run-1"));
        health.asked(Instant::now());
        assert_eq!(code(&health), "unknown");
    }

    #[test]
    fn every_answer_but_that_of_a_master_silences() {
        for (answer, expected) in [
            (Answer::Replica, "replica"),
            (Answer::Loading, "loading"),
            (Answer::Refused("NOAUTH".into()), "refused"),
        ] {
            let mut health = announced(Instant::now());
            health.answered(answer);
            assert_eq!(code(&health), expected);
            health.answered(Answer::Master);
            assert_eq!(health.verdict(), &Verdict::Announce(Run(1)));
        }
    }

    #[test]
    fn a_replica_is_announced_where_that_is_allowed() {
        let mut health = Health::new(PATIENCE, true);
        health.connected(Some("run-1"));
        health.answered(Answer::Replica);
        assert_eq!(code(&health), "ready");
    }

    #[test]
    fn hangs_once_its_patience_is_over() {
        let start = Instant::now();
        let mut health = announced(start);
        health.asked(start);
        assert_eq!(health.poll_timeout(), Some(start + PATIENCE));

        health.handle_timeout(start + PATIENCE - ms(1));
        assert_eq!(code(&health), "ready");
        health.handle_timeout(start + PATIENCE);
        let hanging = Verdict::Silent(Reason::Hanging(PATIENCE));
        assert_eq!(health.verdict(), &hanging);
        assert_eq!(health.poll_timeout(), None);
    }

    #[test]
    fn busy_is_no_answer() {
        let start = Instant::now();
        let mut health = announced(start);
        health.asked(start);
        health.answered(Answer::Busy);
        health.asked(start + ms(500));
        assert_eq!(health.poll_timeout(), Some(start + PATIENCE));

        health.answered(Answer::Master);
        assert_eq!(health.poll_timeout(), None);
    }

    #[test]
    fn a_closed_connection_is_forgiven_if_the_next_one_answers() {
        let start = Instant::now();
        let mut health = announced(start);
        health.lost(start);
        assert_eq!(health.poll_timeout(), Some(start + SECOND_CHANCE));
        health.connected(Some("run-1"));
        health.asked(start);
        health.answered(Answer::Master);

        health.handle_timeout(start + SECOND_CHANCE);
        assert_eq!(health.verdict(), &Verdict::Announce(Run(1)));
    }

    #[test]
    fn a_closed_connection_silences_if_the_next_one_is_not_to_be_had() {
        let start = Instant::now();
        let mut refused = announced(start);
        refused.lost(start);
        refused.unreachable("refused".into());
        assert_eq!(code(&refused), "unreachable");
        assert_eq!(refused.poll_timeout(), None);

        let mut mute = announced(start);
        mute.lost(start);
        mute.connected(Some("run-1"));
        mute.asked(start);
        mute.handle_timeout(start + SECOND_CHANCE);
        assert_eq!(code(&mute), "closed");
    }

    #[test]
    fn a_lost_connection_does_not_prolong_an_open_question() {
        let start = Instant::now();
        let mut health = announced(start);
        health.asked(start);
        health.lost(start + PATIENCE - ms(1));
        assert_eq!(health.poll_timeout(), Some(start + PATIENCE));
    }

    #[test]
    fn another_run_is_another_broker() {
        let start = Instant::now();
        let mut health = announced(start);
        health.lost(start);
        health.connected(Some("run-2"));
        // Still the former one: this one has not said how it is.
        assert_eq!(health.verdict(), &Verdict::Announce(Run(1)));
        health.answered(Answer::Master);
        assert_eq!(health.verdict(), &Verdict::Announce(Run(2)));

        health.unreachable("gone".into());
        health.connected(Some("run-2"));
        health.answered(Answer::Master);
        assert_eq!(health.verdict(), &Verdict::Announce(Run(2)));
    }

    #[test]
    fn one_that_does_not_tell_its_run_is_another_if_it_was_away() {
        let start = Instant::now();
        let mut health = Health::new(PATIENCE, false);
        health.connected(None);
        health.answered(Answer::Master);
        let first = health.verdict().clone();

        health.lost(start);
        health.connected(None);
        health.answered(Answer::Master);
        assert_eq!(health.verdict(), &first);

        health.unreachable("gone".into());
        health.connected(None);
        health.answered(Answer::Master);
        assert_ne!(health.verdict(), &first);
        assert_eq!(code(&health), "ready");
    }

    #[test]
    fn every_state_has_a_word() {
        let reasons = [
            Reason::Unknown,
            Reason::Unreachable(String::new()),
            Reason::Closed,
            Reason::Hanging(PATIENCE),
            Reason::Loading,
            Reason::Replica,
            Reason::Refused(String::new()),
        ];
        let verdicts = reasons.map(Verdict::Silent);
        let codes = verdicts.iter().map(Verdict::code);
        let codes: Vec<_> = [Verdict::Announce(Run(1)).code()]
            .into_iter()
            .chain(codes)
            .collect();
        assert_eq!(codes, Verdict::CODES);
    }
}
