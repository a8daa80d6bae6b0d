//! What was asked for on the command line and in the environment, checked.

use std::fmt;
use std::net::{Ipv6Addr, SocketAddr};
use std::time::Duration;

use imqueue_udp_core::{Announcement, MAX_INTERVAL, Transport};
use imqueue_udp_net::{DEFAULT_PORT, NoPattern, Selection};

use crate::advertise::Plan;
use crate::announcing::Manner;
use crate::cli::Cli;
use crate::given::{ConfigError, Given};
use crate::recipe::Recipe;
use crate::redis::{Address, Login, Password, Place, Target, Tls, TlsFiles, host_and_port};

const DEFAULT_NAME: &str = "imq-broker";
const DEFAULT_REDIS: &str = "127.0.0.1:6379";
const DEFAULT_INTERVAL: Duration = Duration::from_secs(1);

/// After so long without an answer a Redis is of no use to services, however rarely it is announced.
const LONGEST_PATIENCE: Duration = Duration::from_secs(10);

/// More often than that is of no use to anybody, and a burden to all.
const MIN_INTERVAL: Duration = Duration::from_millis(100);

/// Everything that this program is told.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) target: Target,
    /// How long the Redis may take to answer.
    pub(crate) patience: Duration,
    pub(crate) replicas: bool,
    pub(crate) manner: Manner,
    pub(crate) plan: Plan,
    pub(crate) recipe: Recipe,
    /// Where to answer probes and Prometheus.
    pub(crate) health: Option<SocketAddr>,
}

impl Settings {
    /// Reads all settings. An empty one counts as not given, as it comes from templates.
    ///
    /// # Errors
    ///
    /// The first one that cannot be used.
    pub(crate) fn read(cli: &Cli) -> Result<Self, ConfigError> {
        let address = address(cli)?;
        let port = optional(&cli.port, port)?.unwrap_or(DEFAULT_PORT);
        let interval = optional(&cli.interval, interval)?.unwrap_or(DEFAULT_INTERVAL);
        let target = target(cli, &address)?;
        let announced_tls = optional(&cli.announce_tls, yes_or_no)?;
        let transport = match announced_tls.unwrap_or(target.tls.is_some()) {
            true => Transport::Tls,
            false => Transport::Plain,
        };
        let manner = Manner {
            name: value(&cli.name)
                .map_or(DEFAULT_NAME, Given::text)
                .to_owned(),
            interval,
            transport,
        };
        let recipe = Recipe::read(cli, port)?;
        let plan = plan(cli, &address.place, &recipe)?;
        let patience = (interval * 2).min(LONGEST_PATIENCE);
        check(cli, &manner, &plan)?;
        Ok(Self {
            target,
            patience: optional(&cli.redis_timeout, seconds)?.unwrap_or(patience),
            replicas: optional(&cli.replicas, yes_or_no)?.unwrap_or(false),
            manner,
            plan,
            recipe,
            health: optional(&cli.health_port, listen_address)?,
        })
    }
}

/// A value that was given, unless it is empty.
pub(crate) fn value(given: &Option<Given>) -> Option<&Given> {
    given.as_ref().filter(|given| !given.text().is_empty())
}

/// Reads a value, if it was given.
pub(crate) fn optional<T, E: ToString>(
    given: &Option<Given>,
    read: impl FnOnce(&str) -> Result<T, E>,
) -> Result<Option<T>, ConfigError> {
    value(given).map(|given| given.read(read)).transpose()
}

/// Reads seconds, with a fraction or not.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse().ok();
    let duration = number.and_then(|number| Duration::try_from_secs_f64(number).ok());
    duration
        .filter(|duration| !duration.is_zero() && *duration <= MAX_INTERVAL)
        .ok_or_else(|| "expected seconds, more than 0 and at most 86400".to_owned())
}

fn interval(text: &str) -> Result<Duration, String> {
    match seconds(text) {
        Ok(interval) if interval >= MIN_INTERVAL => Ok(interval),
        _ => Err("expected seconds, from 0.1 to 86400".to_owned()),
    }
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "yes" | "true" | "on" => Ok(true),
        "0" | "no" | "false" | "off" => Ok(false),
        _ => Err("expected yes or no (or 1, true, on, 0, false, off)".to_owned()),
    }
}

fn port(text: &str) -> Result<u16, String> {
    let port = text.parse().ok().filter(|port| *port != 0);
    port.ok_or_else(|| "expected a port from 1 to 65535".to_owned())
}

/// Reads networks with commas between them.
pub(crate) fn selection(text: &str) -> Result<Selection, NoPattern> {
    let parts = text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    parts
        .map(str::parse)
        .collect::<Result<_, _>>()
        .map(Selection)
}

fn listen_address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let port = port(text).map_err(|expected| format!("{expected}, or address:port"))?;
    Ok((Ipv6Addr::UNSPECIFIED, port).into())
}

/// Its text may hold a password, and is shown nowhere.
fn address(cli: &Cli) -> Result<Address, ConfigError> {
    match value(&cli.redis) {
        None => Ok(DEFAULT_REDIS.parse().expect("the default is an address")),
        Some(given) => {
            let address = given.text().parse::<Address>();
            address.map_err(|error| given.secret_error(&error.to_string()))
        }
    }
}

fn target(cli: &Cli, address: &Address) -> Result<Target, ConfigError> {
    Ok(Target {
        place: address.place.clone(),
        tls: tls(cli, address)?,
        login: login(cli, address)?,
    })
}

fn login(cli: &Cli, address: &Address) -> Result<Login, ConfigError> {
    let text = value(&cli.password).map(|given| given.text().to_owned());
    let text = text.or_else(|| address.password.clone());
    let password = match value(&cli.password_file) {
        None => text.map(Password::Text),
        Some(given) if text.is_some() => {
            return Err(given.error("there is another password beside the one in this file"));
        }
        Some(given) => {
            let password = Password::File(given.text().into());
            given.read(|_| password.read())?;
            Some(password)
        }
    };
    let user = value(&cli.user).map(|given| given.text().to_owned());
    let user = user.or_else(|| address.user.clone());
    match value(&cli.user) {
        Some(given) if password.is_none() => {
            Err(given.error("a user needs a password: --password, --password-file or in --redis"))
        }
        _ => Ok(Login { user, password }),
    }
}

fn tls(cli: &Cli, address: &Address) -> Result<Option<Tls>, ConfigError> {
    let wanted = optional(&cli.tls, yes_or_no)?.unwrap_or(address.tls);
    let details = [&cli.tls_ca, &cli.tls_cert, &cli.tls_key, &cli.tls_name];
    if !wanted {
        return match details.into_iter().find_map(value) {
            Some(given) => Err(given.error("it needs --tls, or --redis rediss://...")),
            None => Ok(None),
        };
    }
    let Place::Host(host, _) = &address.place else {
        return Err(ConfigError::new(
            "--tls",
            "there is no TLS on a Unix socket",
        ));
    };
    let path = |given| value(given).map(|given| given.text().into());
    let client = match (value(&cli.tls_cert), value(&cli.tls_key)) {
        (Some(certificate), Some(key)) => Some((certificate.text().into(), key.text().into())),
        (None, None) => None,
        (Some(given), None) => return Err(given.error("it needs --tls-key")),
        (None, Some(given)) => return Err(given.error("it needs --tls-cert")),
    };
    let files = TlsFiles {
        ca: path(&cli.tls_ca),
        client,
    };
    let name = value(&cli.tls_name).map_or(host.as_str(), Given::text);
    let tls = Tls::new(files, name).map_err(|error| ConfigError::new("TLS", &error.to_string()))?;
    Ok(Some(tls))
}

fn plan(cli: &Cli, place: &Place, recipe: &Recipe) -> Result<Plan, ConfigError> {
    let (named, named_port) = value(&cli.advertise).map_or(Ok((None, None)), advertised)?;
    let (host, port) = match place {
        Place::Host(host, port) if !place.is_local() => (Some(host.clone()), Some(*port)),
        Place::Host(_, port) => (None, Some(*port)),
        Place::Socket(_) => (None, None),
    };
    let port = named_port.or(port).ok_or_else(|| {
        let problem = "a Redis that is reached by a Unix socket has a port for services: name it, \
                       as in --advertise :6379";
        ConfigError::new("--advertise", problem)
    })?;
    Ok(Plan {
        host: named.or(host),
        port,
        selection: optional(&cli.interfaces, selection)?.unwrap_or_default(),
        broadcast: matches!(recipe, Recipe::Broadcast(_)),
    })
}

/// Reads `host`, `host:port` or `:port`; an IPv6 address needs no brackets where no port follows it.
fn advertised(given: &Given) -> Result<(Option<String>, Option<u16>), ConfigError> {
    if let Ok(address) = given.text().parse::<Ipv6Addr>() {
        return Ok((Some(address.to_string()), None));
    }
    if let Some(text) = given.text().strip_prefix(':') {
        return Ok((None, Some(given.read(|_| port(text))?)));
    }
    let (host, port) = given.read(host_and_port)?;
    Ok((Some(host), port))
}

/// Composes an announcement, so that nothing can be wrong with it later.
fn check(cli: &Cli, manner: &Manner, plan: &Plan) -> Result<(), ConfigError> {
    use imqueue_udp_core::AnnouncementError::Name;

    let host = plan.host.as_deref().unwrap_or("redis");
    let (second, port) = (manner.interval, plan.port);
    match Announcement::new(&manner.name, "id", host, port, second, None) {
        Ok(_) => Ok(()),
        Err(error) => {
            let (given, flag) = match error {
                Name(_) => (&cli.name, "--name"),
                _ => (&cli.advertise, "--advertise"),
            };
            let problem = error.to_string();
            Err(value(given).map_or_else(
                || ConfigError::new(flag, &problem),
                |given| given.error(&problem),
            ))
        }
    }
}

/// As `--print-config` shows them: without secrets.
impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            target,
            manner,
            plan,
            ..
        } = self;
        let mut line = |name: &str, value: &dyn fmt::Display| writeln!(f, "{name:<16}{value}");
        let or = |text: Option<String>, default: &str| text.unwrap_or_else(|| default.to_owned());

        line("recipe", &self.recipe.name())?;
        line("to", &self.recipe)?;
        line("redis", &target.place)?;
        line("user", &or(target.login.user.clone(), "default"))?;
        let password = target.login.password.as_ref();
        line(
            "password",
            &or(password.map(|password| format!("{password:?}")), "none"),
        )?;
        line(
            "tls",
            &or(target.tls.as_ref().map(ToString::to_string), "no"),
        )?;
        line("redis-timeout", &format_args!("{:?}", self.patience))?;
        line("replicas", &yes(self.replicas))?;
        line("name", &manner.name)?;
        line("interval", &format_args!("{:?}", manner.interval))?;
        line("announce-tls", &yes(manner.transport == Transport::Tls))?;
        let own = "the address of this host in the network that is told";
        line("advertise", &or(plan.host.clone(), own))?;
        line("advertised port", &plan.port)?;
        let networks = Some(plan.selection.to_string()).filter(|text| !text.is_empty());
        line("interfaces", &or(networks, "all but loopback"))?;
        let health = self.health.map(|address| address.to_string());
        line("health-port", &or(health, "none"))
    }
}

const fn yes(value: bool) -> &'static str {
    if value { "yes" } else { "no" }
}
