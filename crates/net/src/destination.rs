//! Where an announcer sends to.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use crate::DestinationError;

/// The port that announcements go to unless another one is named.
pub const DEFAULT_PORT: u16 = 63_000;

/// An address, broadcast or not, or a host name, each with a port.
///
/// A name is looked up again now and then, and stands for all the addresses it has: that of a
/// headless Kubernetes service reaches every pod.
///
/// ```
/// use imqueue_udp_net::Destination;
///
/// let service: Destination = "workers.default.svc".parse()?;
/// assert_eq!(service.to_string(), "workers.default.svc:63000");
/// # Ok::<(), imqueue_udp_net::DestinationError>(())
/// ```
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Destination {
    /// An IP address and a port.
    Address(SocketAddr),
    /// A host name and a port.
    Name(Box<str>, u16),
}

impl Destination {
    /// Everybody on every network of this host who listens on [`DEFAULT_PORT`].
    pub const BROADCAST: Self = Self::Address(SocketAddr::new(
        IpAddr::V4(Ipv4Addr::BROADCAST),
        DEFAULT_PORT,
    ));
}

impl FromStr for Destination {
    type Err = DestinationError;

    /// Reads `host`, `host:port`, `[IPv6 address]` or `[IPv6 address]:port`. Without a port it is
    /// [`DEFAULT_PORT`].
    fn from_str(text: &str) -> Result<Self, DestinationError> {
        if let Some((address, rest)) = text.strip_prefix('[').and_then(|t| t.split_once(']')) {
            let address: Ipv6Addr = address
                .parse()
                .map_err(|_| DestinationError::Host(text.into()))?;
            let port = match rest.strip_prefix(':') {
                Some(port) => read_port(text, port)?,
                None if rest.is_empty() => DEFAULT_PORT,
                None => return Err(DestinationError::Port(text.into())),
            };
            return Ok(Self::Address((address, port).into()));
        }

        let (host, port) = match text.split_once(':') {
            Some((host, port)) => (host, read_port(text, port)?),
            None => (text, DEFAULT_PORT),
        };
        match host.parse::<IpAddr>() {
            Ok(address) => Ok(Self::Address((address, port).into())),
            Err(_) if is_name(host) => Ok(Self::Name(host.into(), port)),
            Err(_) => Err(DestinationError::Host(text.into())),
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Name(host, port) => write!(f, "{host}:{port}"),
        }
    }
}

impl From<SocketAddr> for Destination {
    fn from(address: SocketAddr) -> Self {
        Self::Address(address)
    }
}

fn read_port(text: &str, port: &str) -> Result<u16, DestinationError> {
    let digits = port.bytes().all(|byte| byte.is_ascii_digit());
    match port.parse() {
        Ok(port) if digits && port != 0 => Ok(port),
        Ok(_) | Err(_) => Err(DestinationError::Port(text.into())),
    }
}

/// Whether `host` can be a name: not what was meant to be an address, and nothing that a resolver
/// would misread.
fn is_name(host: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let numeric = host
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    host.len() <= 253 && !numeric && host.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, DestinationError> {
        text.parse::<Destination>()
            .map(|destination| destination.to_string())
    }

    #[test]
    fn expect_addresses() {
        assert_eq!(read("10.0.0.7").unwrap(), "10.0.0.7:63000");
        assert_eq!(
            read("127.255.255.255:1234").unwrap(),
            "127.255.255.255:1234"
        );
        assert_eq!(read("[::1]").unwrap(), "[::1]:63000");
        assert_eq!(read("[fd00::2]:65535").unwrap(), "[fd00::2]:65535");
    }

    #[test]
    fn expect_names() {
        assert_eq!(read("localhost").unwrap(), "localhost:63000");
        assert_eq!(read("a-b.svc_1.local.:1").unwrap(), "a-b.svc_1.local.:1");
    }

    #[test]
    fn reject_what_names_no_host() {
        for text in [
            "",
            ":63000",
            "1.2.3",
            "10.0.0.256",
            "a b",
            "[10.0.0.1]:1",
            "[x]",
            "a/b",
        ] {
            assert_eq!(read(text), Err(DestinationError::Host(text.into())));
        }
    }

    #[test]
    fn reject_ports() {
        for text in [
            "a:", "a:0", "a:65536", "a:+1", "a:1x", "::1", "fd00::2", "[::1]1", "[::1]:",
        ] {
            assert_eq!(read(text), Err(DestinationError::Port(text.into())));
        }
    }
}
