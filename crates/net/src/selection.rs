//! Which of this host's addresses are announced: `SELECTED_INTERFACES`.

use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;

use thiserror::Error;

/// Beginnings of addresses, as text, and networks. Empty, it selects all addresses but loopback.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Selection(pub Vec<Pattern>);

/// What one part of a [`Selection`] stands for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Pattern {
    /// `10`, `192.168` or `172.2`, which also stands for `172.20.0.1`.
    Prefix(String),
    /// `10.0.0.0/8`.
    Network(Ipv4Addr, u32),
}

/// The text is no [`Pattern`].
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error(
    "expected the beginning of an IPv4 address, such as 192.168, or a network, such as 10.0.0.0/8"
)]
pub struct NoPattern;

impl Selection {
    /// Whether an address is announced. A loopback address has to be asked for by name: nobody
    /// elsewhere can connect to it, and whoever is told of it looks for the broker at home.
    pub fn admits(&self, address: Ipv4Addr) -> bool {
        if address.is_loopback() {
            return self
                .0
                .iter()
                .any(|pattern| pattern.is_loopback() && pattern.matches(address));
        }
        self.0.is_empty() || self.0.iter().any(|pattern| pattern.matches(address))
    }
}

impl Pattern {
    fn matches(&self, address: Ipv4Addr) -> bool {
        match self {
            Self::Prefix(prefix) => address.to_string().starts_with(prefix),
            Self::Network(network, bits) => {
                let host_bits = 32 - bits;
                let difference = network.to_bits() ^ address.to_bits();
                difference.checked_shr(host_bits).unwrap_or(0) == 0
            }
        }
    }

    /// Whether nothing but loopback addresses are meant.
    fn is_loopback(&self) -> bool {
        match self {
            Self::Prefix(prefix) => prefix.starts_with("127"),
            Self::Network(network, bits) => network.is_loopback() && *bits >= 8,
        }
    }
}

impl FromStr for Pattern {
    type Err = NoPattern;

    fn from_str(text: &str) -> Result<Self, NoPattern> {
        if let Some((network, bits)) = text.split_once('/') {
            let network = network.parse().map_err(|_| NoPattern)?;
            let bits = bits.parse().map_err(|_| NoPattern)?;
            return if bits <= 32 {
                Ok(Self::Network(network, bits))
            } else {
                Err(NoPattern)
            };
        }
        let parts: Vec<_> = text.split('.').collect();
        let is_number = |part: &&str| {
            part.parse::<u8>()
                .is_ok_and(|number| *part == number.to_string())
        };
        // A dot at the end keeps `10.` from standing for `100.1.2.3`.
        let (last, former) = parts.split_last().ok_or(NoPattern)?;
        let complete = former.iter().all(is_number);
        let ends_well = is_number(last) || (last.is_empty() && !former.is_empty());
        if complete && ends_well && parts.len() <= 4 {
            Ok(Self::Prefix(text.to_owned()))
        } else {
            Err(NoPattern)
        }
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, pattern) in self.0.iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            match pattern {
                Pattern::Prefix(prefix) => write!(f, "{comma}{prefix}")?,
                Pattern::Network(network, bits) => write!(f, "{comma}{network}/{bits}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(patterns: &str, address: [u8; 4]) -> bool {
        let patterns = patterns.split(',').map(|text| text.parse().unwrap());
        Selection(patterns.collect()).admits(address.into())
    }

    #[test]
    fn without_patterns_everything_is_announced_but_loopback() {
        assert!(Selection::default().admits(Ipv4Addr::new(10, 0, 0, 1)));
        assert!(!Selection::default().admits(Ipv4Addr::LOCALHOST));
    }

    #[test]
    fn prefixes_are_text_as_in_the_original() {
        assert!(admits("10,192.168,172.20", [192, 168, 7, 1]));
        assert!(admits("172.2", [172, 20, 0, 1]));
        assert!(admits("10", [100, 1, 2, 3]));
        assert!(!admits("10.", [100, 1, 2, 3]));
        assert!(!admits("10,192.168", [172, 20, 0, 1]));
    }

    #[test]
    fn networks_are_compared_by_bits() {
        assert!(admits("172.16.0.0/12", [172, 31, 255, 1]));
        assert!(!admits("172.16.0.0/12", [172, 32, 0, 1]));
        assert!(admits("10.0.0.1/32", [10, 0, 0, 1]));
        assert!(!admits("10.0.0.1/32", [10, 0, 0, 2]));
        assert!(admits("0.0.0.0/0", [8, 8, 8, 8]));
    }

    #[test]
    fn loopback_is_announced_only_where_it_is_meant() {
        assert!(admits("127", [127, 0, 0, 1]));
        assert!(admits("127.0.0.1", [127, 0, 0, 1]));
        assert!(admits("10,127.0.0.0/8", [127, 0, 0, 1]));
        assert!(!admits("1", [127, 0, 0, 1]));
        assert!(!admits("0.0.0.0/0", [127, 0, 0, 1]));
        assert!(!admits("127.0.0.1", [10, 0, 0, 1]));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            ".",
            "eth0",
            "256",
            "10..",
            "010",
            "1.2.3.4.",
            "10.0.0.0/33",
            "10/8",
            "fd00::1",
        ] {
            assert!(text.parse::<Pattern>().is_err(), "{text:?}");
        }
    }
}
