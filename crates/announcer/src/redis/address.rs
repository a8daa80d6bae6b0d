//! Where a Redis is, and how it is spoken to.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

use thiserror::Error;

/// Where Redis listens unless another port is named.
pub(crate) const DEFAULT_PORT: u16 = 6379;

/// Where a Redis is, with what its URL says about how to log in.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Address {
    pub(crate) place: Place,
    /// The scheme asked for TLS.
    pub(crate) tls: bool,
    pub(crate) user: Option<String>,
    pub(crate) password: Option<String>,
}

/// Where a Redis listens.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Place {
    /// A name or an IP address, IPv6 without brackets.
    Host(String, u16),
    Socket(PathBuf),
}

/// Why a text is no [`Address`]. It does not repeat the text, which may hold a password.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub(crate) enum AddressError {
    #[error("expected host, host:port, redis://..., rediss://... or unix:///path")]
    Form,
    #[error("the host is no name and no address; IPv6 addresses need brackets")]
    Host,
    #[error("the port is no number from 1 to 65535")]
    Port,
    #[error("the path of the Unix socket does not begin with /")]
    Path,
    #[error("a % in user or password is not followed by two hexadecimal digits")]
    Escape,
}

impl Place {
    /// Whether it can only be reached from this host, so that services elsewhere need another
    /// address for it.
    pub(crate) fn is_local(&self) -> bool {
        match self {
            Self::Socket(_) => true,
            Self::Host(host, _) => match host.parse::<IpAddr>() {
                Ok(address) => address.is_loopback() || address.is_unspecified(),
                Err(_) => host == "localhost" || host.ends_with(".localhost"),
            },
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(host, port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Host(host, port) => write!(f, "{host}:{port}"),
            Self::Socket(path) => write!(f, "{}", path.display()),
        }
    }
}

impl FromStr for Address {
    type Err = AddressError;

    /// Reads `host`, `host:port`, `/path`, `unix:///path`, or `redis://user:password@host:port`
    /// with or without each of its parts. What follows the port, a number of a database, does not
    /// matter to whoever asks nothing but how the server is.
    fn from_str(text: &str) -> Result<Self, AddressError> {
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => (scheme, rest),
            None if text.starts_with('/') => ("unix", text),
            None => ("", text),
        };
        let tls = match scheme {
            "" | "redis" | "unix" => false,
            "rediss" => true,
            _ => return Err(AddressError::Form),
        };
        let (login, rest) = match rest.rsplit_once('@') {
            Some((login, rest)) if !scheme.is_empty() => (login, rest),
            _ => ("", rest),
        };
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        let place = if scheme == "unix" {
            let path = rest.split('?').next().unwrap_or_default();
            if !path.starts_with('/') {
                return Err(AddressError::Path);
            }
            Place::Socket(path.into())
        } else {
            let end = rest.find(['/', '?']).filter(|_| !scheme.is_empty());
            let (host, port) = host_and_port(&rest[..end.unwrap_or(rest.len())])?;
            Place::Host(host, port.unwrap_or(DEFAULT_PORT))
        };
        Ok(Self {
            place,
            tls,
            user: unescape(user)?,
            password: unescape(password)?,
        })
    }
}

/// Reads `host`, `host:port`, `[IPv6 address]` or `[IPv6 address]:port`.
pub(crate) fn host_and_port(text: &str) -> Result<(String, Option<u16>), AddressError> {
    if let Some((host, rest)) = text.strip_prefix('[').and_then(|text| text.split_once(']')) {
        let address: std::net::Ipv6Addr = host.parse().map_err(|_| AddressError::Host)?;
        let port = match rest.strip_prefix(':') {
            Some(port) => Some(read_port(port)?),
            None if rest.is_empty() => None,
            None => return Err(AddressError::Port),
        };
        return Ok((address.to_string(), port));
    }
    let (host, port) = match text.split_once(':') {
        Some((host, port)) => (host, Some(read_port(port)?)),
        None => (text, None),
    };
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if host.is_empty() || host.len() > 253 || !host.bytes().all(allowed) {
        return Err(AddressError::Host);
    }
    Ok((host.to_owned(), port))
}

fn read_port(text: &str) -> Result<u16, AddressError> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(port) if digits && port != 0 => Ok(port),
        Ok(_) | Err(_) => Err(AddressError::Port),
    }
}

/// Puts characters in for their `%41`; an empty text is none.
fn unescape(text: &str) -> Result<Option<String>, AddressError> {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let code = part.get(..2).ok_or(AddressError::Escape)?;
        bytes.push(u8::from_str_radix(code, 16).map_err(|_| AddressError::Escape)?);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    let text = String::from_utf8(bytes).map_err(|_| AddressError::Escape)?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(host: &str, port: u16) -> Address {
        Address {
            place: Place::Host(host.to_owned(), port),
            tls: false,
            user: None,
            password: None,
        }
    }

    fn read(text: &str) -> Result<Address, AddressError> {
        text.parse()
    }

    #[test]
    fn reads_hosts_with_and_without_a_port() {
        assert_eq!(read("127.0.0.1:6380"), Ok(host("127.0.0.1", 6380)));
        assert_eq!(read("redis"), Ok(host("redis", 6379)));
        assert_eq!(read("[fd00::1]:1"), Ok(host("fd00::1", 1)));
        assert_eq!(read("[::1]"), Ok(host("::1", 6379)));
    }

    #[test]
    fn reads_urls() {
        assert_eq!(read("redis://cache.local/0"), Ok(host("cache.local", 6379)));
        let login = Address {
            tls: true,
            user: Some("a:b".to_owned()),
            password: Some("p@:/ss".to_owned()),
            ..host("10.0.0.1", 6390)
        };
        assert_eq!(read("rediss://a%3Ab:p@:%2Fss@10.0.0.1:6390?x=1"), Ok(login));
        let password = Address {
            password: Some("secret".to_owned()),
            ..host("redis", 6379)
        };
        assert_eq!(read("redis://:secret@redis"), Ok(password));
    }

    #[test]
    fn reads_unix_sockets() {
        for text in ["unix:///run/redis.sock", "/run/redis.sock"] {
            let place = Place::Socket("/run/redis.sock".into());
            assert_eq!(read(text).unwrap().place, place);
        }
        let place = Place::Socket("/run/redis.sock".into());
        let login = read("unix://user:secret@/run/redis.sock?db=1").unwrap();
        assert_eq!(
            (login.place, login.password.as_deref()),
            (place, Some("secret"))
        );
    }

    #[test]
    fn says_what_is_wrong() {
        for (text, error) in [
            ("http://redis", AddressError::Form),
            ("", AddressError::Host),
            ("redis://", AddressError::Host),
            ("a b", AddressError::Host),
            ("user@redis", AddressError::Host),
            ("[10.0.0.1]", AddressError::Host),
            ("redis:0", AddressError::Port),
            ("redis:65536", AddressError::Port),
            ("redis:+1", AddressError::Port),
            ("fd00::1", AddressError::Port),
            ("[::1]x", AddressError::Port),
            ("unix://run/redis.sock", AddressError::Path),
            ("redis://:50%@redis", AddressError::Escape),
            ("redis://:%zz@redis", AddressError::Escape),
        ] {
            assert_eq!(read(text), Err(error), "{text}");
        }
    }

    #[test]
    fn knows_what_only_this_host_reaches() {
        for text in [
            "127.0.0.1",
            "localhost:1",
            "[::1]",
            "0.0.0.0",
            "/run/redis.sock",
        ] {
            assert!(read(text).unwrap().place.is_local(), "{text}");
        }
        for text in ["10.0.0.1", "redis", "[fd00::1]"] {
            assert!(!read(text).unwrap().place.is_local(), "{text}");
        }
    }
}
