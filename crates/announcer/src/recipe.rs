//! To whom the Redis is announced.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};

use imqueue_udp_net::Destination;

use crate::cli::Cli;
use crate::given::{ConfigError, Given};
use crate::settings::value;

/// To whom the Redis is announced.
#[derive(Clone, Debug)]
pub(crate) enum Recipe {
    /// To everybody on the networks of this host who listens on the port.
    Broadcast(u16),
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
            Self::Unicast(_) => "unicast",
        }
    }

    /// Whom it tells from the beginning.
    pub(crate) fn destinations(&self) -> Vec<Destination> {
        match self {
            Self::Broadcast(port) => vec![SocketAddr::from((Ipv4Addr::BROADCAST, *port)).into()],
            Self::Unicast(destinations) => destinations.clone(),
        }
    }
}

/// As `--print-config` shows whom it tells.
impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broadcast(port) => write!(f, "every network, port {port}"),
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
