//! The one-line datagram, read and written.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use crate::error::ReadError;

pub(crate) mod host;

/// The longest announce interval, one day: a longer one is read as this.
///
/// It bounds how long a single datagram can keep a silent broker in the fleet.
pub const MAX_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// The longest announcement name in bytes, as long as a DNS name on the wire.
pub(crate) const MAX_NAME: usize = 255;

/// The longest guid in bytes; a UUID has 36.
pub(crate) const MAX_ID: usize = 128;

/// One announcement as it travels: tab-separated UTF-8, fields by position.
///
/// ```text
/// name  guid  up    host:port  interval  [transport]
/// name  guid  down  host:port
/// ```
///
/// [`read`](Self::read) borrows from the received bytes; [`Display`](fmt::Display) writes the same
/// line. Fields after the sixth are ignored, so that the format can grow
/// (docs/protocol.md, "Wire format").
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Datagram<'a> {
    /// What the announcers of one fleet call themselves, 1 to 255 bytes without control characters.
    pub name: Cow<'a, str>,
    /// The broker's guid, 1 to 128 bytes without control characters; usually a UUID.
    pub id: Cow<'a, str>,
    /// Whether the broker is there or leaves.
    pub kind: Kind,
    /// The host name or address to connect to; IPv6 without its brackets.
    pub host: &'a str,
    /// The port to connect to, never 0.
    pub port: u16,
    /// How often the broker announces itself, at most [`MAX_INTERVAL`]; zero where it does not say.
    pub interval: Duration,
    /// How the announced port is spoken to, where the announcer says so.
    pub transport: Option<Transport>,
}

impl<'a> Datagram<'a> {
    /// Reads a datagram. Allocates only to replace undecodable bytes in `name` or `id` by U+FFFD.
    ///
    /// # Errors
    ///
    /// The first field that cannot be read. Foreign traffic on the port ends here, so an error is
    /// a thing to count, not to log.
    pub fn read(bytes: &'a [u8]) -> Result<Self, ReadError> {
        let mut fields = bytes.split(|&byte| byte == b'\t');
        let mut required = || fields.next().ok_or(ReadError::Fields);
        let (name, id, kind, address) = (required()?, required()?, required()?, required()?);

        let name = read_label(name, MAX_NAME).ok_or(ReadError::Name)?;
        let id = read_label(id, MAX_ID).ok_or(ReadError::Id)?;
        let kind = Kind::read(kind).ok_or(ReadError::Kind)?;
        let (host, port) = read_address(address).ok_or(ReadError::Address)?;
        let interval = fields.next().map_or(Some(Duration::ZERO), read_interval);
        let interval = match kind {
            // A leaving broker has no use for an interval: nothing in it makes a `down` unreadable.
            Kind::Down => interval.unwrap_or_default(),
            Kind::Up => interval.ok_or(ReadError::Interval)?,
        };
        let transport = fields.next().and_then(text).and_then(Transport::parse);

        Ok(Self {
            name,
            id,
            kind,
            host,
            port,
            interval,
            transport,
        })
    }
}

impl fmt::Display for Datagram<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            id,
            host,
            port,
            ..
        } = self;
        write!(f, "{name}\t{id}\t{}\t", self.kind.as_str())?;
        if host.contains(':') {
            write!(f, "[{host}]:{port}")?;
        } else {
            write!(f, "{host}:{port}")?;
        }
        if self.kind == Kind::Down {
            // Older readers take a fifth field of a `down` for its interval, and drop what is none.
            return Ok(());
        }
        write!(f, "\t{}", self.interval.as_secs_f64())?;
        match self.transport {
            Some(transport) => write!(f, "\t{}", transport.as_str()),
            None => Ok(()),
        }
    }
}

/// What a datagram announces.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Kind {
    /// The broker leaves: connect to it no more.
    Down,
    /// The broker is there, and will say so again within its interval.
    Up,
}

impl Kind {
    /// The word on the wire: `down` or `up`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Up => "up",
        }
    }

    fn read(field: &[u8]) -> Option<Self> {
        [Self::Down, Self::Up]
            .into_iter()
            .find(|kind| field.eq_ignore_ascii_case(kind.as_str().as_bytes()))
    }
}

/// How the announced port is spoken to.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Transport {
    /// Redis protocol straight over TCP.
    Plain,
    /// Redis protocol over TLS.
    Tls,
}

impl Transport {
    /// The word on the wire: `plain` or `tls`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Tls => "tls",
        }
    }

    /// The transport of this name in any case, spaces around it aside; `None` for any other.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Plain, Self::Tls]
            .into_iter()
            .find(|transport| name.trim().eq_ignore_ascii_case(transport.as_str()))
    }
}

/// Whether names and guids may hold this text. They reach logs and terminals, hence no controls;
/// a tab, being one, would also split the field.
pub(crate) fn is_label(text: &str, max_len: usize) -> bool {
    (1..=max_len).contains(&text.len()) && !text.contains(char::is_control)
}

/// The length is that of the bytes as sent: each undecodable one grows to three.
fn read_label(field: &[u8], max_len: usize) -> Option<Cow<'_, str>> {
    if field.len() > max_len {
        return None;
    }
    let label = String::from_utf8_lossy(field);
    is_label(&label, usize::MAX).then_some(label)
}

fn read_address(field: &[u8]) -> Option<(&str, u16)> {
    let (host, port) = text(field)?.rsplit_once(':')?;
    let (host, port) = (host.trim(), port.trim());
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']').filter(|host| host::is_ipv6(host)),
        None => Some(host).filter(|host| host::is_name(host)),
    }?;
    Some((host, read_port(port)?))
}

/// Digits only, where `parse` alone would also take a plus sign.
fn read_port(port: &str) -> Option<u16> {
    if !port.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    port.parse().ok().filter(|&port| port != 0)
}

fn read_interval(field: &[u8]) -> Option<Duration> {
    let seconds: f64 = text(field)?.trim().parse().ok()?;
    if !seconds.is_finite() || seconds < 0.0 {
        return None;
    }
    Some(Duration::from_secs_f64(
        seconds.min(MAX_INTERVAL.as_secs_f64()),
    ))
}

fn text(field: &[u8]) -> Option<&str> {
    str::from_utf8(field).ok()
}

#[cfg(test)]
mod tests;
