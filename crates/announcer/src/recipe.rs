//! To whom the Redis is announced.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use imqueue_kubernetes::{ApiServer, PodsOptions, StartError};
use imqueue_udp_net::Destination;

use crate::cli::Cli;
use crate::given::{ConfigError, Given};
use crate::settings::{optional, seconds, value};

/// To whom the Redis is announced.
#[derive(Clone, Debug)]
pub(crate) enum Recipe {
    /// To everybody on the networks of this host who listens on the port.
    Broadcast(u16),
    /// To these pods, on the port.
    Kubernetes(PodsOptions, u16),
    /// To these hosts.
    Unicast(Vec<Destination>),
}

const EXPECTED: &str = "expected broadcast, kubernetes or unicast; --help tells which is for what";

impl Recipe {
    /// Reads the recipe with the settings that belong to it. Those of others are an error on the
    /// command line; in the environment, which others may share, they are not.
    pub(crate) fn read(cli: &Cli, port: u16) -> Result<Self, ConfigError> {
        let Some(given) = value(&cli.recipe) else {
            return Err(ConfigError::new("the recipe", EXPECTED));
        };
        let recipe = match given.text() {
            "broadcast" => Self::Broadcast(port),
            "kubernetes" => Self::Kubernetes(pods(cli)?, port),
            "unicast" => Self::Unicast(destinations(cli, port)?),
            _ => return Err(given.error(EXPECTED)),
        };
        let foreign = settings(cli)
            .into_iter()
            .filter(|(name, _)| *name != recipe.name());
        let mut foreign = foreign.filter_map(|(name, given)| Some((name, value(given)?)));
        match foreign.find(|(_, given)| given.on_command_line) {
            Some((name, given)) => Err(given.error(&format!("it belongs to the recipe {name}"))),
            None => Ok(recipe),
        }
    }

    /// What it is called on the command line.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Broadcast(_) => "broadcast",
            Self::Kubernetes(..) => "kubernetes",
            Self::Unicast(_) => "unicast",
        }
    }

    /// Whom it tells from the beginning.
    pub(crate) fn destinations(&self) -> Vec<Destination> {
        match self {
            Self::Broadcast(port) => vec![SocketAddr::from((Ipv4Addr::BROADCAST, *port)).into()],
            Self::Kubernetes(..) => Vec::new(),
            Self::Unicast(destinations) => destinations.clone(),
        }
    }
}

/// As `--print-config` shows whom it tells.
impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broadcast(port) => write!(f, "every network, port {port}"),
            Self::Kubernetes(options, port) => {
                let or =
                    |text: &Option<String>, default: &str| text.clone().unwrap_or(default.into());
                let selector = or(&options.selector, "all");
                let namespace = or(&options.namespace, "this one");
                let api = options
                    .server
                    .as_ref()
                    .map_or("of this pod", |server| &server.url);
                let PodsOptions {
                    refresh,
                    timeout,
                    max_age,
                    ..
                } = options;
                let age = max_age.map_or("for ever".into(), |age| format!("for {age:?}"));
                write!(
                    f,
                    "pods ({selector}) of namespace {namespace}, port {port}; API {api}, "
                )?;
                write!(
                    f,
                    "refresh {refresh:?}, timeout {timeout:?}, last pods kept {age}"
                )
            }
            Self::Unicast(destinations) => {
                let texts: Vec<_> = destinations.iter().map(ToString::to_string).collect();
                f.write_str(&texts.join(","))
            }
        }
    }
}

/// The settings that belong to one recipe each.
fn settings(cli: &Cli) -> [(&'static str, &Option<Given>); 9] {
    [
        ("unicast", &cli.to),
        ("kubernetes", &cli.namespace),
        ("kubernetes", &cli.selector),
        ("kubernetes", &cli.pods_refresh),
        ("kubernetes", &cli.pods_timeout),
        ("kubernetes", &cli.pods_max_age),
        ("kubernetes", &cli.api_server),
        ("kubernetes", &cli.api_ca),
        ("kubernetes", &cli.api_token_file),
    ]
}

/// Destinations for these pods.
pub(crate) fn to_pods(addresses: Vec<IpAddr>, port: u16) -> Vec<Destination> {
    let addresses = addresses.into_iter();
    addresses
        .map(|address| SocketAddr::from((address, port)).into())
        .collect()
}

fn pods(cli: &Cli) -> Result<PodsOptions, ConfigError> {
    let text = |given| value(given).map(|given| given.text().to_owned());
    let path = |given| value(given).map(|given| given.text().into());
    let default = PodsOptions::default();
    let server = value(&cli.api_server).map(|url| ApiServer {
        url: url.text().to_owned(),
        ca_file: path(&cli.api_ca),
        token_file: path(&cli.api_token_file),
    });
    if server.is_none()
        && let Some(given) = value(&cli.api_ca).or(value(&cli.api_token_file))
    {
        return Err(given.error("it needs --api-server"));
    }
    let max_age = optional(&cli.pods_max_age, seconds_or_none)?;
    let options = PodsOptions {
        namespace: text(&cli.namespace),
        selector: text(&cli.selector),
        refresh: optional(&cli.pods_refresh, seconds)?.unwrap_or(default.refresh),
        timeout: optional(&cli.pods_timeout, seconds)?.unwrap_or(default.timeout),
        max_age: max_age.flatten(),
        server,
        ..default
    };
    match options.check() {
        Ok(()) => Ok(options),
        Err(error) => {
            let given = match error {
                StartError::Namespace(_) => value(&cli.namespace),
                _ => value(&cli.api_server),
            };
            let problem = error.to_string();
            Err(given.map_or_else(
                || ConfigError::new("kubernetes", &problem),
                |given| given.error(&problem),
            ))
        }
    }
}

/// Reads seconds, of which none are for ever.
fn seconds_or_none(text: &str) -> Result<Option<Duration>, String> {
    match text.parse() {
        Ok(0.0) => Ok(None),
        _ => seconds(text).map(Some),
    }
}

fn destinations(cli: &Cli, port: u16) -> Result<Vec<Destination>, ConfigError> {
    let Some(given) = value(&cli.to) else {
        return Err(ConfigError::new(
            "--to",
            "unicast needs the hosts to tell, as in --to 10.0.0.5",
        ));
    };
    let items = given
        .text()
        .split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty());
    let destinations: Vec<_> = items
        .map(|item| given.read(|_| destination(item, port)))
        .collect::<Result<_, _>>()?;
    if destinations.is_empty() {
        return Err(given.error("expected hosts, with commas between them"));
    }
    Ok(destinations)
}

/// Reads one with a port of its own or not.
fn destination(text: &str, port: u16) -> Result<Destination, imqueue_udp_net::DestinationError> {
    let destination = text.parse()?;
    let has_port = text
        .rsplit_once(':')
        .is_some_and(|(_, last)| !last.ends_with(']'));
    Ok(match destination {
        destination if has_port => destination,
        Destination::Address(address) => Destination::Address((address.ip(), port).into()),
        Destination::Name(name, _) => Destination::Name(name, port),
    })
}
