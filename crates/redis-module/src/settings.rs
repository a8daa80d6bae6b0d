//! What the environment and the arguments of `loadmodule` say.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use imqueue_udp_core::Announcement;
use imqueue_udp_net::{DEFAULT_PORT, Selection};

/// What a module has been told, by arguments and by the environment. It remembers what made no
/// sense.
pub struct Options {
    /// Names and values, until they have been read.
    arguments: Vec<(String, String)>,
    environment: Environment,
    warnings: Vec<String>,
}

type Environment = Box<dyn Fn(&str) -> Option<String>>;

/// What both modules have to know.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) name: String,
    /// The UDP port.
    pub(crate) port: u16,
    pub(crate) interval: Duration,
    pub(crate) tls: Option<bool>,
    pub(crate) replicas: bool,
    pub(crate) selection: Selection,
    /// What Redis listens on, where that is said to us.
    pub(crate) redis_bind: Option<Vec<String>>,
    pub(crate) redis_port: Option<u16>,
    pub(crate) redis_tls_port: Option<u16>,
}

const DEFAULT_NAME: &str = "imq-broker";
const DEFAULT_INTERVAL: Duration = Duration::from_secs(1);

/// Seconds between announcements: not a flood, and not more than listeners take.
const INTERVALS: RangeInclusive<f64> = 0.01..=86_400.0;

impl Options {
    /// `arguments` are pairs of a name and a value; `environment` looks a variable up.
    pub fn new(
        arguments: &[String],
        environment: impl Fn(&str) -> Option<String> + 'static,
    ) -> Self {
        let mut options = Self {
            arguments: Vec::new(),
            environment: Box::new(environment),
            warnings: Vec::new(),
        };
        for pair in arguments.chunks(2) {
            match pair {
                [name, value] => options.arguments.push((normal(name), value.clone())),
                odd => options.warnings.push(format!(
                    "argument {:?} has no value and is ignored: arguments are pairs, such as \
                     interval 2",
                    odd[0]
                )),
            }
        }
        options
    }

    /// What the variable, or the argument that goes with it, says. A value that `parse` refuses is
    /// told of: it is not `expected`, and `otherwise` says what is used instead. One that is empty
    /// counts as none.
    pub fn read<T>(
        &mut self,
        variable: &str,
        expected: &str,
        otherwise: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let argument = normal(
            variable
                .strip_prefix("REDIS_BROADCAST_")
                .unwrap_or(variable),
        );
        let place = self
            .arguments
            .iter()
            .position(|(name, _)| *name == argument);
        let (source, value) = match place.map(|place| self.arguments.remove(place)) {
            Some((_, value)) => (format!("argument {argument}"), value),
            None => (variable.to_owned(), (self.environment)(variable)?),
        };
        let value = value.trim();
        if value.is_empty() {
            return None;
        }
        let parsed = parse(value);
        if parsed.is_none() {
            self.warn(format!(
                "{source} {value:?} is not {expected}; using {otherwise}"
            ));
        }
        parsed
    }

    /// The variable as a whole number of seconds, of which there are at least `least`.
    pub fn seconds(&mut self, variable: &str, least: u64, default: u64) -> Duration {
        let expected = format!("a whole number of seconds, {least} or more");
        let parse = |text: &str| text.parse().ok().filter(|seconds| *seconds >= least);
        let seconds = self.read(variable, &expected, &default.to_string(), parse);
        Duration::from_secs(seconds.unwrap_or(default))
    }

    /// Notes what an operator should know.
    pub fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    /// Once everything has been read: all that made no sense.
    pub(crate) fn finish(mut self) -> Vec<String> {
        for (name, _) in self.arguments {
            let warning =
                format!("argument {name:?} is not known, or is there twice, and is ignored");
            self.warnings.push(warning);
        }
        self.warnings
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("arguments", &self.arguments)
            .finish_non_exhaustive()
    }
}

impl Settings {
    pub(crate) fn read(options: &mut Options) -> Self {
        let name = options.read(
            "REDIS_BROADCAST_NAME",
            "a name of 1 to 255 bytes without control characters",
            DEFAULT_NAME,
            |text| is_name(text).then(|| text.to_owned()),
        );
        let port = options.read(
            "REDIS_BROADCAST_PORT",
            "a port from 1 to 65535",
            &DEFAULT_PORT.to_string(),
            |text| text.parse().ok().filter(|port| *port != 0),
        );
        let interval = options.read(
            "REDIS_BROADCAST_INTERVAL",
            "a number of seconds from 0.01 to 86400",
            "1",
            |text| {
                text.parse()
                    .ok()
                    .filter(|seconds| INTERVALS.contains(seconds))
            },
        );
        let tls = options.read(
            "REDIS_BROADCAST_TLS",
            FLAGS,
            "the port that listens, plain before TLS",
            flag,
        );
        let replicas = options.read("REDIS_BROADCAST_REPLICAS", FLAGS, "no", flag);
        Self {
            name: name.unwrap_or_else(|| DEFAULT_NAME.to_owned()),
            port: port.unwrap_or(DEFAULT_PORT),
            interval: interval.map_or(DEFAULT_INTERVAL, Duration::from_secs_f64),
            tls,
            replicas: replicas.unwrap_or(false),
            selection: selection(options),
            redis_bind: options.read("REDIS_BROADCAST_REDIS_BIND", "", "", |text| {
                Some(text.split_whitespace().map(str::to_owned).collect())
            }),
            redis_port: redis_port(options, "REDIS_BROADCAST_REDIS_PORT"),
            redis_tls_port: redis_port(options, "REDIS_BROADCAST_REDIS_TLS_PORT"),
        }
    }

    /// Whether we were told what Redis listens on, and do not ask it.
    pub(crate) fn is_told_of_redis(&self) -> bool {
        self.redis_bind.is_some() || self.redis_port.is_some() || self.redis_tls_port.is_some()
    }
}

const FLAGS: &str = "1, yes, true, on, 0, no, false or off";

fn flag(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "yes" | "true" | "on" => Some(true),
        "0" | "no" | "false" | "off" => Some(false),
        _ => None,
    }
}

/// Each part is judged by itself: one that makes no sense does not widen what the others select,
/// unless there is no other.
fn selection(options: &mut Options) -> Selection {
    let variable = "SELECTED_INTERFACES";
    let Some(text) = options.read(variable, "", "", |text| Some(text.to_owned())) else {
        return Selection::default();
    };
    let mut patterns = Vec::new();
    for part in text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        match part.parse() {
            Ok(pattern) => patterns.push(pattern),
            Err(_) => options.warn(format!(
                "{variable}: {part:?} is not the beginning of an IPv4 address, nor a network such \
                 as 10.0.0.0/8; ignoring it (without any other, all addresses but loopback are \
                 announced)"
            )),
        }
    }
    Selection(patterns)
}

fn redis_port(options: &mut Options, variable: &str) -> Option<u16> {
    let expected = "a port from 0 to 65535";
    options.read(variable, expected, "what CONFIG GET says", |text| {
        text.parse().ok()
    })
}

fn is_name(text: &str) -> bool {
    Announcement::new(text, "id", "localhost", 1, DEFAULT_INTERVAL, None).is_ok()
}

/// Names of arguments do not depend on case, nor on how words are joined.
fn normal(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(arguments: &[&str], environment: &'static [(&str, &str)]) -> Options {
        let arguments: Vec<_> = arguments.iter().map(|text| (*text).to_owned()).collect();
        Options::new(&arguments, move |name| {
            let mut variables = environment.iter();
            let (_, value) = variables.find(|(variable, _)| *variable == name)?;
            Some((*value).to_owned())
        })
    }

    fn read(arguments: &[&str], environment: &'static [(&str, &str)]) -> (Settings, Vec<String>) {
        let mut options = options(arguments, environment);
        (Settings::read(&mut options), options.finish())
    }

    #[test]
    fn defaults_are_those_of_the_original() {
        let (settings, warnings) = read(&[], &[("REDIS_BROADCAST_NAME", "")]);
        assert_eq!(settings.name, "imq-broker");
        assert_eq!(
            (settings.port, settings.interval),
            (63_000, Duration::from_secs(1))
        );
        assert_eq!((settings.tls, settings.replicas), (None, false));
        assert!(settings.redis_bind.is_none() && warnings.is_empty());
    }

    #[test]
    fn arguments_win() {
        let (settings, warnings) = read(
            &["interval", "0.5", "Redis_Bind", "* -::*", "name", "mine"],
            &[
                ("REDIS_BROADCAST_INTERVAL", "7"),
                ("REDIS_BROADCAST_PORT", "1"),
                ("REDIS_BROADCAST_TLS", "ON"),
                ("REDIS_BROADCAST_REPLICAS", "1"),
            ],
        );
        assert_eq!(settings.interval, Duration::from_millis(500));
        assert_eq!(settings.redis_bind.unwrap(), ["*", "-::*"]);
        assert_eq!((settings.name.as_str(), settings.port), ("mine", 1));
        assert_eq!((settings.tls, settings.replicas), (Some(true), true));
        assert!(warnings.is_empty(), "{warnings:?}");
    }

    #[test]
    fn what_makes_no_sense_is_told_with_the_default() {
        let (settings, warnings) = read(
            &["port", "0", "tls", "maybe", "what", "ever", "alone"],
            &[
                ("REDIS_BROADCAST_INTERVAL", "-1"),
                ("REDIS_BROADCAST_NAME", "a\tb"),
                ("SELECTED_INTERFACES", "eth0, 10"),
            ],
        );
        assert_eq!((settings.port, settings.tls), (63_000, None));
        assert_eq!(settings.selection.to_string(), "10");
        for text in [
            r#"argument port "0" is not a port from 1 to 65535; using 63000"#,
            r#"REDIS_BROADCAST_INTERVAL "-1" is not a number of seconds from 0.01 to 86400; using 1"#,
            r#"REDIS_BROADCAST_NAME "a\tb" is not a name"#,
            r#"argument tls "maybe""#,
            r#"SELECTED_INTERFACES: "eth0" is not"#,
            r#"argument "what" is not known"#,
            r#"argument "alone" has no value"#,
        ] {
            assert!(
                warnings.iter().any(|it| it.contains(text)),
                "{text}: {warnings:?}"
            );
        }
        assert_eq!(warnings.len(), 7);
    }

    #[test]
    fn whole_seconds_have_a_least() {
        let mut options = options(
            &["pods-refresh", "0"],
            &[("REDIS_BROADCAST_PODS_TIMEOUT", "3")],
        );
        assert_eq!(
            options
                .seconds("REDIS_BROADCAST_PODS_REFRESH", 1, 5)
                .as_secs(),
            5
        );
        assert_eq!(
            options
                .seconds("REDIS_BROADCAST_PODS_TIMEOUT", 1, 5)
                .as_secs(),
            3
        );
        assert_eq!(
            options
                .seconds("REDIS_BROADCAST_PODS_MAX_AGE", 0, 0)
                .as_secs(),
            0
        );
        assert_eq!(options.finish().len(), 1);
    }
}
