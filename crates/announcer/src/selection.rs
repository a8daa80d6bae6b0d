//! Which of this host's addresses are meant, by `SELECTED_INTERFACES`.

use std::fmt;
use std::net::Ipv4Addr;

use thiserror::Error;

/// Networks, of which an address has to be in one. None at all are every network.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Selection(Vec<Network>);

/// The addresses whose first `length` bits are those of `address`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Network {
    address: Ipv4Addr,
    length: u8,
}

/// A text that names no network.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error(
    "{0:?} is no network: expected the beginning of an IPv4 address (10 or 192.168), or 10.0.0.0/8"
)]
pub(crate) struct SelectionError(String);

impl Selection {
    /// Reads networks with commas between them: the first numbers of an address, as for the
    /// modules, or an address and the length of its prefix.
    pub(crate) fn read(text: &str) -> Result<Self, SelectionError> {
        let items = text.split(',').map(str::trim);
        items
            .filter(|item| !item.is_empty())
            .map(|item| Network::read(item).ok_or_else(|| SelectionError(item.to_owned())))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    pub(crate) fn is_everything(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn contains(&self, address: Ipv4Addr) -> bool {
        self.is_everything() || self.0.iter().any(|network| network.contains(address))
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Network { address, length }) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{address}/{length}")?;
        }
        Ok(())
    }
}

impl Network {
    fn read(text: &str) -> Option<Self> {
        if let Some((address, length)) = text.split_once('/') {
            let length = length.parse().ok().filter(|length| *length <= 32)?;
            let address = address.parse().ok()?;
            return Some(Self { address, length });
        }
        let mut octets = [0; 4];
        let mut count = 0;
        for part in text.strip_suffix('.').unwrap_or(text).split('.') {
            let digits = part.bytes().all(|byte| byte.is_ascii_digit());
            *octets.get_mut(count)? = part.parse().ok().filter(|_| digits)?;
            count += 1;
        }
        Some(Self {
            address: octets.into(),
            length: [0, 8, 16, 24, 32][count],
        })
    }

    fn contains(self, address: Ipv4Addr) -> bool {
        let rest = 32 - u32::from(self.length);
        let prefix = |address: Ipv4Addr| u64::from(address.to_bits()) >> rest;
        prefix(address) == prefix(self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contains(selection: &str, address: &str) -> bool {
        let selection = Selection::read(selection).unwrap();
        selection.contains(address.parse().unwrap())
    }

    #[test]
    fn prefixes_are_whole_numbers() {
        let selection = "10, 192.168,172.20.";
        assert!(contains(selection, "10.1.2.3"));
        assert!(contains(selection, "192.168.0.1"));
        assert!(contains(selection, "172.20.9.9"));
        assert!(!contains(selection, "100.1.2.3"));
        assert!(!contains(selection, "192.169.0.1"));
        assert!(contains("10.1.2.3", "10.1.2.3"));
        assert!(!contains("10.1.2.3", "10.1.2.30"));
    }

    #[test]
    fn networks_have_any_length() {
        assert!(contains("172.16.0.0/12", "172.31.0.1"));
        assert!(!contains("172.16.0.0/12", "172.32.0.1"));
        assert!(contains("0.0.0.0/0", "8.8.8.8"));
        assert!(!contains("10.0.0.1/32", "10.0.0.2"));
    }

    #[test]
    fn nothing_is_everything() {
        for text in ["", " , "] {
            assert!(Selection::read(text).unwrap().is_everything());
            assert!(contains(text, "8.8.8.8"));
        }
    }

    #[test]
    fn names_what_is_no_network() {
        for text in [
            "eth0",
            "10.256",
            "10..1",
            "1.2.3.4.5",
            "10.0.0.0/33",
            "10/8x",
            "+1",
        ] {
            let error = Selection::read(&format!("10,{text}")).unwrap_err();
            assert_eq!(error, SelectionError(text.to_owned()));
        }
    }

    #[test]
    fn is_shown_as_networks() {
        let selection = Selection::read("10,192.168.").unwrap();
        assert_eq!(selection.to_string(), "10.0.0.0/8,192.168.0.0/16");
    }
}
