//! Follows pods and prints what happens, as JSON lines, until standard input ends:
//! `pods '{"namespace": "prod", "url": "https://...", "caFile": "...", "tokenFile": "..."}'`.
//!
//! On standard input, a line `status` asks how it stands, and `again` begins anew.

use std::error::Error;
use std::io::{self, BufRead as _, Write as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use imqueue_kubernetes::{ApiServer, Mode, Pods, PodsEvent, PodsOptions};
use serde::Deserialize;
use serde_json::{Value, json};

/// All of it is optional; durations are in ms.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Arguments {
    namespace: Option<String>,
    selector: Option<String>,
    refresh: Option<u64>,
    timeout: Option<u64>,
    max_age: Option<u64>,
    watch: Option<u64>,
    /// Where the API is; without it, as in a pod.
    url: Option<String>,
    ca_file: Option<PathBuf>,
    token_file: Option<PathBuf>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = std::env::args().nth(1).unwrap_or_else(|| "{}".into());
    let options: PodsOptions = serde_json::from_str::<Arguments>(&arguments)?.into();

    let mut pods = Pods::watch(options.clone(), print_event)?;
    for line in io::stdin().lock().lines() {
        match &*line? {
            "status" => print(status(&pods)),
            "again" => {
                drop(pods);
                pods = Pods::watch(options.clone(), print_event)?;
                print(json!({ "event": "answer" }));
            }
            other => return Err(format!("it does not know {other:?}").into()),
        }
    }
    let begun = Instant::now();
    drop(pods);
    print(json!({ "event": "ended", "took": milliseconds(begun.elapsed()) }));
    Ok(())
}

fn print_event(event: PodsEvent) {
    print(match event {
        PodsEvent::Changed(addresses) => json!({ "event": "changed", "addresses": addresses }),
        PodsEvent::Notice { level, message } => json!({
            "event": "notice",
            "level": format!("{level:?}").to_lowercase(),
            "message": message,
        }),
    });
}

fn status(pods: &Pods) -> Value {
    let status = pods.status();
    json!({
        "event": "answer",
        "pods": status.pods,
        "age": status.age.map(milliseconds),
        "mode": match status.mode {
            Mode::Waiting => "waiting",
            Mode::Watching => "watching",
            Mode::Polling => "polling",
        },
    })
}

fn print(line: Value) {
    // Nobody reads it any more.
    writeln!(io::stdout().lock(), "{line}").ok();
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

impl From<Arguments> for PodsOptions {
    fn from(arguments: Arguments) -> Self {
        let defaults = Self::default();
        let or = |ms: Option<u64>, default| ms.map_or(default, Duration::from_millis);
        let (ca_file, token_file) = (arguments.ca_file, arguments.token_file);
        Self {
            namespace: arguments.namespace,
            selector: arguments.selector,
            refresh: or(arguments.refresh, defaults.refresh),
            timeout: or(arguments.timeout, defaults.timeout),
            max_age: arguments.max_age.map(Duration::from_millis),
            watch: or(arguments.watch, defaults.watch),
            server: arguments.url.map(|url| ApiServer {
                url,
                ca_file,
                token_file,
            }),
        }
    }
}
