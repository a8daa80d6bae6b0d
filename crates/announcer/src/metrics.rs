//! The status as Prometheus reads it (text format 0.0.4).

use std::fmt::Write;

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
    text.0
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.line(format_args!("# HELP imq_announcer_{name} {help}"));
        self.line(format_args!("# TYPE imq_announcer_{name} {kind}"));
    }

    fn sample(&mut self, name: &str, labels: &str, value: u64) {
        match labels {
            "" => self.line(format_args!("imq_announcer_{name} {value}")),
            _ => self.line(format_args!("imq_announcer_{name}{{{labels}}} {value}")),
        }
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.0, "{line}").expect("a string takes all that is written");
    }
}
