//! What an operator is told: at most a line per cause and minute.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::failure::{Cause, Failure, excerpt};
use imqueue_udp_net::Level;

use crate::pods::PodsEvent;
use crate::roster::Roster;

/// Remembers what was said.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// When each cause was last said, if that is not long ago.
    said: HashMap<Cause, Instant>,
    trouble: Option<Trouble>,
    /// Whether pods could ever be followed.
    worked: bool,
    /// Whether it was said that pods cannot be watched.
    polls: bool,
}

#[derive(Debug)]
struct Trouble {
    since: Instant,
    /// Whether anything was said of it.
    said: bool,
}

const REMINDER: Duration = Duration::from_secs(60);

/// How many characters a reason may have, which may be anything that the API has said.
const MAX_REASON: usize = 500;

impl Report {
    /// Something does not work.
    pub(crate) fn failed(
        &mut self,
        now: Instant,
        failure: &Failure,
        roster: &Roster,
    ) -> Option<PodsEvent> {
        let trouble = self.trouble.get_or_insert(Trouble {
            since: now,
            said: false,
        });
        self.said.retain(|_, at| now < *at + REMINDER);
        if self.said.contains_key(&failure.cause()) {
            return None;
        }
        self.said.insert(failure.cause(), now);
        trouble.said = true;
        let reason = excerpt(&failure.to_string(), MAX_REASON);
        let lasts = match whole_seconds(now - trouble.since) {
            0 => String::new(),
            seconds => format!(", for {seconds} s by now"),
        };
        let rest = match (roster.told(), roster.confirmed()) {
            (0, _) | (_, None) => "there is no pod to announce to".into(),
            (told, Some(at)) => format!(
                "the last known addresses stay in use: {told}, confirmed {} s ago",
                whole_seconds(now - at)
            ),
        };
        Some(notice(failure.level(), format!("{reason}{lasts}; {rest}")))
    }

    /// It works, for the first time or again.
    pub(crate) fn works(&mut self, now: Instant, place: &str, pods: usize) -> Option<PodsEvent> {
        let trouble = self.trouble.take();
        let first = !self.worked;
        self.worked = true;
        let again = match trouble {
            Some(Trouble { since, said: true }) if !first => {
                format!(" again, after {} s", whole_seconds(now - since))
            }
            _ if first => String::new(),
            _ => return None,
        };
        let text = format!("following the pods in {place}{again}: {pods} with an address");
        Some(notice(Level::Info, text))
    }

    /// Pods may be listed, but `refusal` says that they may not be watched.
    pub(crate) fn polls(&mut self, refusal: &Failure, refresh: Duration) -> Option<PodsEvent> {
        if self.polls {
            return None;
        }
        self.polls = true;
        let reason = excerpt(&refusal.to_string(), MAX_REASON);
        let text = format!(
            "{reason}; until then pods are listed every {refresh:?}, and new ones are known so late"
        );
        Some(notice(Level::Warn, text))
    }

    /// Pods may be watched.
    pub(crate) fn watches(&mut self, place: &str) -> Option<PodsEvent> {
        if !self.polls {
            return None;
        }
        self.polls = false;
        let text = format!("the pods in {place} may be watched now");
        Some(notice(Level::Info, text))
    }

    /// The addresses were given up.
    pub(crate) fn gave_up(now: Instant, roster: &Roster) -> PodsEvent {
        let age = roster.confirmed().map_or(Duration::ZERO, |at| now - at);
        let text = format!(
            "all addresses are given up, since the Kubernetes API has not confirmed any for {} s",
            whole_seconds(age)
        );
        notice(Level::Warn, text)
    }
}

fn whole_seconds(duration: Duration) -> u64 {
    duration.as_secs_f64().round() as u64
}

pub(crate) const fn notice(level: Level, message: String) -> PodsEvent {
    PodsEvent::Notice { level, message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Verb;
    use crate::pod::Pod;

    const SECOND: Duration = Duration::from_secs(1);

    fn unreachable() -> Failure {
        Failure::Unreachable("refused".into())
    }

    fn status(code: u16) -> Failure {
        Failure::status(code, "so it is".into(), None)
    }

    fn roster(now: Instant) -> Roster {
        let mut roster = Roster::new(None);
        roster.replace(vec![Pod {
            name: "a".into(),
            addresses: vec!["10.0.0.1".parse().unwrap()],
        }]);
        roster.confirm(now);
        roster.tell(now, true);
        roster
    }

    fn text(event: Option<PodsEvent>) -> String {
        match event {
            Some(PodsEvent::Notice { message, .. }) => message,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_cause_is_said_once_a_minute() {
        let now = Instant::now();
        let (mut report, roster) = (Report::default(), roster(now));
        let said = text(report.failed(now + SECOND * 3, &unreachable(), &roster));
        assert!(
            said.starts_with("the Kubernetes API cannot be reached: refused; "),
            "{said}"
        );
        assert!(
            said.ends_with("stay in use: 1, confirmed 3 s ago"),
            "{said}"
        );

        for after in 4..63 {
            assert_eq!(
                report.failed(now + SECOND * after, &unreachable(), &roster),
                None
            );
        }
        let said = text(report.failed(now + SECOND * 63, &unreachable(), &roster));
        assert!(said.contains("refused, for 60 s by now; "), "{said}");
    }

    #[test]
    fn whatever_the_api_says_is_one_line() {
        let now = Instant::now();
        let failure = Failure::status(500, "no\nway\n".repeat(1000), None);
        let said = text(Report::default().failed(now, &failure, &Roster::new(None)));
        assert!(
            said.starts_with("the Kubernetes API answers 500: no way no way"),
            "{said}"
        );
        assert!(said.ends_with("; there is no pod to announce to"), "{said}");
        assert!(
            !said.contains('\n') && said.len() < MAX_REASON + 100,
            "{said}"
        );
    }

    #[test]
    fn each_cause_has_a_line_of_its_own() {
        let now = Instant::now();
        let (mut report, roster) = (Report::default(), Roster::new(None));
        for failure in [unreachable(), status(500), status(503), status(410)] {
            let said = text(report.failed(now, &failure, &roster));
            assert!(said.ends_with("; there is no pod to announce to"), "{said}");
            assert_eq!(report.failed(now, &failure, &roster), None);
        }
    }

    #[test]
    fn what_was_said_to_fail_is_said_to_work() {
        let now = Instant::now();
        let (mut report, roster) = (Report::default(), roster(now));
        let first = text(report.works(now, "namespace prod", 2));
        assert_eq!(
            first,
            "following the pods in namespace prod: 2 with an address"
        );
        assert_eq!(report.works(now, "namespace prod", 3), None);

        assert!(report.failed(now, &unreachable(), &roster).is_some());
        let again = text(report.works(now + SECOND * 9, "namespace prod", 3));
        assert_eq!(
            again,
            "following the pods in namespace prod again, after 9 s: 3 with an address"
        );
        // As nobody was told that it failed again, nobody needs to know that it works again.
        assert_eq!(
            report.failed(now + SECOND * 10, &unreachable(), &roster),
            None
        );
        assert_eq!(report.works(now + SECOND * 11, "namespace prod", 3), None);
    }

    #[test]
    fn polling_is_said_once_and_its_end() {
        let refusal = Failure::Forbidden {
            verb: Verb::Watch,
            account: "service account prod/redis".into(),
            namespace: "prod".into(),
            message: "no".into(),
        };
        let mut report = Report::default();
        assert_eq!(report.watches("namespace prod"), None);
        let said = text(report.polls(&refusal, SECOND * 5));
        let start = "service account prod/redis may not watch pods in namespace prod";
        assert!(said.starts_with(start), "{said}");
        assert!(said.contains("listed every 5s"), "{said}");
        assert_eq!(report.polls(&refusal, SECOND * 5), None);
        assert!(report.watches("namespace prod").is_some());
        assert_eq!(report.watches("namespace prod"), None);
    }

    #[test]
    fn a_missing_permission_is_one_clear_line() {
        let refusal = Failure::Forbidden {
            verb: Verb::List,
            account: "service account prod/redis".into(),
            namespace: "team-1".into(),
            message: "pods is forbidden".into(),
        };
        let now = Instant::now();
        let event = Report::default().failed(now, &refusal, &Roster::new(None));
        let Some(PodsEvent::Notice { level, message }) = event else {
            panic!("nothing was said");
        };
        assert_eq!(level, Level::Error);
        for part in [
            "service account prod/redis",
            "list",
            "pods",
            "namespace team-1",
        ] {
            assert!(message.contains(part), "{part}: {message}");
        }
        assert!(!message.contains('\n'), "{message}");
    }
}
