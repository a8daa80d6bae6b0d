//! Which endpoints are announced.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};

use imqueue_udp_core::Transport;
use imqueue_udp_net::{InterfaceAddress, Selection};
use thiserror::Error;

use crate::presence::Audience;

/// What Redis listens on.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Listening {
    /// The parts of `bind`.
    pub(crate) bind: Vec<String>,
    /// Zero where it does not listen.
    pub(crate) port: u16,
    /// Zero where it does not listen.
    pub(crate) tls_port: u16,
}

/// Where a service can connect to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Endpoint {
    pub(crate) address: Ipv4Addr,
    pub(crate) port: u16,
    pub(crate) transport: Transport,
}

/// Why there is nothing to announce.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub(crate) enum Unreachable {
    #[error("Redis listens on no TCP port: both port and tls-port are 0")]
    Deaf,
    #[error(
        "REDIS_BROADCAST_TLS says no, but Redis listens on its tls-port only: \
         leave the variable out, or set port"
    )]
    NoPlain,
    #[error(
        "REDIS_BROADCAST_TLS says yes, but Redis has no tls-port: \
         leave the variable out, or set tls-port"
    )]
    NoTls,
    #[error(
        "Redis is bound to {bind:?}, and this host has no such IPv4 address up: \
         bind an address that services can reach, or *"
    )]
    NotBound { bind: String },
    #[error(
        "Redis listens on loopback only, where no other host can reach it: bind an address that \
         services can reach, or set SELECTED_INTERFACES=127 for services on this host"
    )]
    OnlyLoopback,
    #[error(
        "no address that Redis listens on matches SELECTED_INTERFACES={selection}: {candidates}"
    )]
    NotSelected {
        selection: String,
        candidates: String,
    },
    #[error("no interface that Redis listens on can broadcast: {candidates}")]
    NoBroadcast { candidates: String },
}

/// The endpoints to announce, in the order of `own`: one for each address that Redis listens on,
/// that this host has, and that is selected. `tls` is which port is wanted; without a wish it is the
/// plain one, if Redis listens there.
pub(crate) fn endpoints(
    listening: &Listening,
    own: &[InterfaceAddress],
    selection: &Selection,
    tls: Option<bool>,
    audience: Audience,
) -> Result<Vec<Endpoint>, Unreachable> {
    let (port, transport) = listening.announced_port(tls)?;
    let bound: Vec<_> = own.iter().filter(|own| listening.is_on(own)).collect();
    if bound.is_empty() {
        let bind = listening.bind.join(" ");
        return Err(Unreachable::NotBound { bind });
    }

    let selected: Vec<_> = bound
        .iter()
        .filter(|own| selection.admits(own.address))
        .collect();
    if selected.is_empty() {
        return Err(if bound.iter().all(|own| own.address.is_loopback()) {
            Unreachable::OnlyLoopback
        } else {
            Unreachable::NotSelected {
                selection: selection.to_string(),
                candidates: list(&bound),
            }
        });
    }

    let reaches = |own: &InterfaceAddress| match audience {
        Audience::Hosts => true,
        Audience::Networks => own.broadcasts || own.address.is_loopback(),
    };
    let mut endpoints: Vec<_> = selected
        .iter()
        .filter(|own| reaches(own))
        .map(|own| Endpoint {
            address: own.address,
            port,
            transport,
        })
        .collect();
    if endpoints.is_empty() {
        let candidates = list(&bound);
        return Err(Unreachable::NoBroadcast { candidates });
    }
    endpoints.dedup();
    Ok(endpoints)
}

impl Listening {
    fn announced_port(&self, tls: Option<bool>) -> Result<(u16, Transport), Unreachable> {
        let plain = (self.port != 0).then_some((self.port, Transport::Plain));
        let secure = (self.tls_port != 0).then_some((self.tls_port, Transport::Tls));
        match tls {
            _ if plain.is_none() && secure.is_none() => Err(Unreachable::Deaf),
            None => plain.or(secure).ok_or(Unreachable::Deaf),
            Some(false) => plain.ok_or(Unreachable::NoPlain),
            Some(true) => secure.ok_or(Unreachable::NoTls),
        }
    }

    /// Whether Redis listens on an address that this host has, and that works.
    fn is_on(&self, own: &InterfaceAddress) -> bool {
        let names = |part: &String| {
            // With a dash Redis also starts without that address.
            let part = part.strip_prefix('-').unwrap_or(part);
            part == "*"
                || part
                    .parse()
                    .is_ok_and(|bound: Ipv4Addr| bound.is_unspecified() || bound == own.address)
        };
        own.running && self.bind.iter().any(names)
    }
}

impl Endpoint {
    pub(crate) fn socket(&self) -> SocketAddrV4 {
        SocketAddrV4::new(self.address, self.port)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            address,
            port,
            transport,
        } = self;
        write!(f, "{address}:{port} ({})", transport.as_str())
    }
}

fn list(own: &[&InterfaceAddress]) -> String {
    let texts: Vec<_> = own
        .iter()
        .map(|own| format!("{} ({})", own.address, own.name))
        .collect();
    texts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A host on two networks, with a tunnel and an interface that has no link.
    fn own() -> Vec<InterfaceAddress> {
        let own = |name: &str, address: [u8; 4], broadcasts, running| InterfaceAddress {
            address: address.into(),
            netmask: [255, 255, 255, 0].into(),
            broadcasts,
            running,
            name: name.to_owned(),
        };
        vec![
            own("eth0", [10, 0, 1, 7], true, true),
            own("eth1", [192, 168, 0, 7], true, true),
            own("tun0", [10, 8, 0, 7], false, true),
            own("docker0", [172, 17, 0, 1], false, false),
            own("lo", [127, 0, 0, 1], false, true),
        ]
    }

    fn listening(bind: &str, port: u16, tls_port: u16) -> Listening {
        let bind = bind.split_whitespace().map(str::to_owned).collect();
        Listening {
            bind,
            port,
            tls_port,
        }
    }

    fn announced(
        listening: &Listening,
        selection: &str,
        tls: Option<bool>,
        audience: Audience,
    ) -> Result<Vec<String>, Unreachable> {
        let patterns = selection.split(',').filter(|text| !text.is_empty());
        let selection = Selection(patterns.map(|text| text.parse().unwrap()).collect());
        let endpoints = endpoints(listening, &own(), &selection, tls, audience)?;
        Ok(endpoints.iter().map(Endpoint::to_string).collect())
    }

    fn addresses(bind: &str, selection: &str) -> Result<Vec<String>, Unreachable> {
        let listening = listening(bind, 1, 0);
        let announced = announced(&listening, selection, None, Audience::Networks)?;
        let address = |text: String| text.split(':').next().unwrap().to_owned();
        Ok(announced.into_iter().map(address).collect())
    }

    #[test]
    fn wildcards_stand_for_every_network() {
        for bind in ["* -::*", "0.0.0.0", "-* ::1", "10.0.1.7 *"] {
            assert_eq!(addresses(bind, "").unwrap(), ["10.0.1.7", "192.168.0.7"]);
        }
    }

    #[test]
    fn a_bound_address_is_announced_if_it_is_there_and_works() {
        assert_eq!(
            addresses("127.0.0.1 -192.168.0.7", "").unwrap(),
            ["192.168.0.7"]
        );
        for bind in ["10.0.1.8", "::", "172.17.0.1", ""] {
            let bind = bind.to_owned();
            assert_eq!(addresses(&bind, ""), Err(Unreachable::NotBound { bind }));
        }
    }

    #[test]
    fn loopback_is_announced_only_when_asked_for() {
        assert_eq!(
            addresses("127.0.0.1 -::1", ""),
            Err(Unreachable::OnlyLoopback)
        );
        assert_eq!(addresses("127.0.0.1 -::1", "127").unwrap(), ["127.0.0.1"]);
        assert_eq!(addresses("*", "127").unwrap(), ["127.0.0.1"]);
    }

    #[test]
    fn only_selected_addresses_are_announced() {
        assert_eq!(addresses("*", "192.168").unwrap(), ["192.168.0.7"]);
        assert_eq!(
            addresses("*", "192.168.0.0/16,10.0").unwrap(),
            ["10.0.1.7", "192.168.0.7"]
        );
        let error = addresses("*", "172").unwrap_err().to_string();
        assert!(error.contains("SELECTED_INTERFACES=172"), "{error}");
        assert!(
            error.contains("10.0.1.7 (eth0), 192.168.0.7 (eth1)"),
            "{error}"
        );
    }

    #[test]
    fn a_tunnel_leads_to_hosts_but_to_no_network() {
        let listening = listening("10.8.0.7", 1, 0);
        let hosts = announced(&listening, "", None, Audience::Hosts);
        assert_eq!(hosts.unwrap(), ["10.8.0.7:1 (plain)"]);
        let networks = announced(&listening, "", None, Audience::Networks);
        assert!(matches!(networks, Err(Unreachable::NoBroadcast { .. })));
    }

    #[test]
    fn the_announced_port_is_one_that_listens() {
        let port = |port, tls_port, tls| {
            let listening = listening("10.0.1.7", port, tls_port);
            announced(&listening, "", tls, Audience::Hosts).map(|texts| texts.join(" "))
        };
        let plain = Ok("10.0.1.7:1 (plain)".to_owned());
        let tls = Ok("10.0.1.7:2 (tls)".to_owned());

        assert_eq!(
            (port(1, 2, None), port(1, 2, Some(false))),
            (plain.clone(), plain.clone())
        );
        assert_eq!(
            (port(0, 2, None), port(1, 2, Some(true))),
            (tls.clone(), tls)
        );
        assert_eq!(port(1, 0, Some(true)), Err(Unreachable::NoTls));
        assert_eq!(port(0, 2, Some(false)), Err(Unreachable::NoPlain));
        for wish in [None, Some(false), Some(true)] {
            assert_eq!(port(0, 0, wish), Err(Unreachable::Deaf));
        }
    }
}
