//! The status as Prometheus reads it (text format 0.0.4).

use std::fmt::{Arguments, Display, Write};

use crate::redis::Verdict;
use crate::status::Status;

/// All metrics. Names are stable; new ones may be added.
pub(crate) fn render(status: &Status) -> String {
    let mut text = Text::default();
    let (broadcast, unicast) = (status.sent.broadcast, status.sent.unicast);

    text.family("info", "gauge", "What is running, and by which recipe.");
    let version = env!("CARGO_PKG_VERSION");
    let labels = format!("version=\"{version}\",recipe=\"{}\"", status.recipe);
    text.sample("info", &labels, 1);

    text.family("announcing", "gauge", "1 while the Redis is announced.");
    text.sample("announcing", "", u64::from(!status.announced.is_empty()));

    text.family(
        "redis_state",
        "gauge",
        "1 for the state that the Redis is in.",
    );
    for state in Verdict::CODES {
        let labels = format!("state=\"{state}\"");
        text.sample("redis_state", &labels, u64::from(state == status.redis));
    }

    let counters = [
        (
            "sent_total",
            "Announcements sent.",
            broadcast.sent,
            unicast.sent,
        ),
        (
            "send_failures_total",
            "Announcements that could not be sent.",
            broadcast.failed,
            unicast.failed,
        ),
    ];
    for (name, help, broadcast, unicast) in counters {
        let name = format!("announcements_{name}");
        text.family(&name, "counter", help);
        text.sample(&name, "destination=\"broadcast\"", broadcast);
        text.sample(&name, "destination=\"unicast\"", unicast);
    }
    if let Some(pods) = status.pods {
        text.family("pods", "gauge", "Addresses of pods that are told.");
        text.sample("pods", "", pods.pods as u64);
        if let Some(age) = pods.age {
            let help = "How long ago the Kubernetes API last confirmed the pods.";
            text.family("pods_age_seconds", "gauge", help);
            text.sample(
                "pods_age_seconds",
                "",
                format_args!("{:.3}", age.as_secs_f64()),
            );
        }
    }
    text.0
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.line(format_args!("# HELP imq_announcer_{name} {help}"));
        self.line(format_args!("# TYPE imq_announcer_{name} {kind}"));
    }

    fn sample(&mut self, name: &str, labels: &str, value: impl Display) {
        match labels {
            "" => self.line(format_args!("imq_announcer_{name} {value}")),
            _ => self.line(format_args!("imq_announcer_{name}{{{labels}}} {value}")),
        }
    }

    fn line(&mut self, line: Arguments<'_>) {
        writeln!(self.0, "{line}").expect("a string takes all that is written");
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use imqueue_kubernetes::{Mode, PodsStatus};
    use imqueue_udp_net::AnnouncerStats;

    use super::*;

    fn status() -> Status {
        Status {
            recipe: "kubernetes",
            redis: "hanging",
            announced: Vec::new(),
            obstacle: None,
            sent: AnnouncerStats::default(),
            pods: None,
        }
    }

    #[test]
    fn tells_the_state_and_what_was_sent() {
        let mut status = status();
        status.sent.unicast.sent = 7;
        status.sent.broadcast.failed = 2;
        let text = render(&status);
        for line in [
            "# TYPE imq_announcer_announcements_sent_total counter",
            "imq_announcer_announcements_sent_total{destination=\"unicast\"} 7",
            "imq_announcer_announcements_send_failures_total{destination=\"broadcast\"} 2",
            "imq_announcer_announcing 0",
            "imq_announcer_redis_state{state=\"hanging\"} 1",
            "imq_announcer_redis_state{state=\"ready\"} 0",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}\n{text}");
        }
        assert!(text.contains("imq_announcer_info{version=\"") && text.ends_with('\n'));
        assert!(!text.contains("pods"));
    }

    #[test]
    fn tells_of_pods_what_is_known() {
        let mut status = status();
        let mut pods = PodsStatus {
            pods: 3,
            age: None,
            mode: Mode::Waiting,
        };
        status.pods = Some(pods);
        let text = render(&status);
        assert!(text.contains("\nimq_announcer_pods 3\n"), "{text}");
        assert!(!text.contains("pods_age"), "{text}");

        pods.age = Some(Duration::from_millis(1500));
        status.pods = Some(pods);
        let text = render(&status);
        assert!(
            text.contains("\nimq_announcer_pods_age_seconds 1.500\n"),
            "{text}"
        );
    }
}
