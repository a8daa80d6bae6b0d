//! Which address of the Redis services are told.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use imqueue_udp_net::{Destination, InterfaceAddress, Selection, interface_addresses};
use thiserror::Error;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::log::Level;

/// How often it is looked whether this host has other addresses now.
const PERIOD: Duration = Duration::from_secs(1);

/// How often it is looked whether the way to the destinations leads elsewhere, for which their names
/// are looked up.
const ROUTE_PERIOD: Duration = Duration::from_secs(10);

/// How long a name among the destinations may take to be looked up.
const LOOKUP_LIMIT: Duration = Duration::from_secs(5);

/// An address to tell, and through which interface it is broadcast.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Advertised {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// `None`: through all of them.
    pub(crate) interface: Option<Ipv4Addr>,
}

/// How the address is found.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// What was said to be told. `None`: an own address of this host.
    pub(crate) host: Option<String>,
    pub(crate) port: u16,
    /// Which own addresses may be told, and which interfaces broadcast.
    pub(crate) selection: Selection,
    pub(crate) broadcast: bool,
}

/// Why there is no address to tell.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub(crate) enum AdvertiseError {
    #[error(
        "no interface of this host is up but loopback{0}, which no other host reaches; name the \
         address with --advertise, or check the network"
    )]
    NoInterface(Selected),
    #[error(
        "the destinations are on this host alone, so that {0} would be announced, which no other \
         host reaches; name the address with --advertise"
    )]
    Loopback(IpAddr),
    #[error(
        "there is no way to any destination: {0}; name the address with --advertise, or check the \
         network"
    )]
    NoRoute(String),
    /// Where an own address is told, it is the one on the way to them.
    #[error(
        "it waits for the pods: none is known yet, and so not the address of this host that leads to \
         them"
    )]
    NoDestination,
    #[error("the interfaces of this host cannot be listed: {0}; name the address with --advertise")]
    NotListed(String),
    #[error(
        "nothing listens at {0}, which services would be told: look at bind and port of the Redis, \
         or name another address with --advertise"
    )]
    NotListening(String),
}

/// Adds to a message which networks were selected.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Selected(Selection);

impl fmt::Display for Selected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.0.is_empty() {
            return Ok(());
        }
        write!(f, " in the selected networks {}", self.0)
    }
}

impl AdvertiseError {
    /// How much the operator is concerned.
    pub(crate) const fn level(&self) -> Level {
        match self {
            Self::NoDestination => Level::Info,
            _ => Level::Error,
        }
    }
}

impl fmt::Display for Advertised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port, .. } = self;
        if host.contains(':') {
            write!(f, "[{host}]:{port}")
        } else {
            write!(f, "{host}:{port}")
        }
    }
}

/// What there is to tell, or why nothing.
pub(crate) type Addresses = Result<Vec<Advertised>, AdvertiseError>;

impl Plan {
    /// Keeps `found` true to what this host has, and to the way to the destinations, for ever.
    pub(crate) async fn follow(
        self,
        mut destinations: watch::Receiver<Vec<Destination>>,
        found: watch::Sender<Option<Addresses>>,
    ) {
        loop {
            let wanted = destinations.borrow_and_update().clone();
            let addresses = self.find(&wanted).await;
            let pause = match addresses {
                Ok(_) if !self.broadcast => ROUTE_PERIOD,
                Ok(_) | Err(_) => PERIOD,
            };
            found.send_if_modified(|former| replace(former, addresses));
            tokio::select! {
                Ok(()) = destinations.changed() => {}
                () = sleep(pause) => {}
            }
        }
    }

    async fn find(&self, destinations: &[Destination]) -> Addresses {
        match &self.host {
            Some(host) if !self.broadcast || self.selection.0.is_empty() => {
                Ok(vec![self.advertised(host.clone(), None)])
            }
            _ if self.broadcast => {
                let list = interface_addresses();
                let list = list.map_err(|error| AdvertiseError::NotListed(error.to_string()))?;
                self.broadcasting(&list)
            }
            _ => {
                let host = self.towards(destinations).await?;
                Ok(vec![self.advertised(host.to_string(), None)])
            }
        }
    }

    /// One for each interface that reaches a network.
    fn broadcasting(&self, list: &[InterfaceAddress]) -> Addresses {
        let usable = |own: &&InterfaceAddress| {
            let reaches_others = own.broadcasts || own.address.is_loopback();
            reaches_others && self.selection.admits(own.address)
        };
        let found: Vec<_> = list
            .iter()
            .filter(usable)
            .map(|own| {
                let host = self.host.clone().unwrap_or_else(|| own.address.to_string());
                self.advertised(host, Some(own.address))
            })
            .collect();
        if found.is_empty() {
            return Err(AdvertiseError::NoInterface(Selected(
                self.selection.clone(),
            )));
        }
        Ok(found)
    }

    /// The address from which the first destination that can be reached from one is sent to.
    async fn towards(&self, destinations: &[Destination]) -> Result<IpAddr, AdvertiseError> {
        let mut failure = AdvertiseError::NoDestination;
        for destination in destinations {
            let addresses = match look_up(destination).await {
                Ok(addresses) => addresses,
                Err(error) => {
                    failure = AdvertiseError::NoRoute(format!("{destination}: {error}"));
                    continue;
                }
            };
            for address in addresses {
                match self.own_address(source(address)) {
                    Ok(own) => return Ok(own),
                    Err(error) => failure = error,
                }
            }
        }
        Err(failure)
    }

    /// What is to be told instead of the address that the system sends from, if not that one.
    fn own_address(&self, source: io::Result<IpAddr>) -> Result<IpAddr, AdvertiseError> {
        match source {
            Err(error) => Err(AdvertiseError::NoRoute(error.to_string())),
            Ok(IpAddr::V4(own)) if self.selection.admits(own) => Ok(own.into()),
            Ok(own) if own.is_loopback() => Err(AdvertiseError::Loopback(own)),
            Ok(own @ IpAddr::V6(_)) => Ok(own),
            Ok(IpAddr::V4(_)) => {
                let list = interface_addresses().unwrap_or_default();
                let mut list = list.into_iter().filter(|own| own.running);
                list.find(|own| self.selection.admits(own.address))
                    .map(|own| own.address.into())
                    .ok_or_else(|| AdvertiseError::NoInterface(Selected(self.selection.clone())))
            }
        }
    }

    fn advertised(&self, host: String, interface: Option<Ipv4Addr>) -> Advertised {
        Advertised {
            host,
            port: self.port,
            interface,
        }
    }
}

/// Takes up what was found, and returns whether that is news. That nothing could be found out is
/// no reason to take back what was told.
fn replace(former: &mut Option<Addresses>, found: Addresses) -> bool {
    use AdvertiseError::{NoDestination, NoRoute, NotListed};

    let unknown = matches!(found, Err(NoDestination | NoRoute(_) | NotListed(_)));
    let keep = matches!(former, Some(Ok(_))) && unknown;
    let changed = !keep && former.as_ref() != Some(&found);
    if changed {
        *former = Some(found);
    }
    changed
}

async fn look_up(destination: &Destination) -> io::Result<Vec<SocketAddr>> {
    match destination {
        Destination::Address(address) => Ok(vec![*address]),
        Destination::Name(host, port) => {
            let lookup = tokio::net::lookup_host((&**host, *port));
            match timeout(LOOKUP_LIMIT, lookup).await {
                Ok(addresses) => addresses.map(Iterator::collect),
                Err(_) => Err(io::ErrorKind::TimedOut.into()),
            }
        }
    }
}

/// From which address the system sends to `destination`. Nothing is sent.
pub(crate) fn source(destination: SocketAddr) -> io::Result<IpAddr> {
    let any: IpAddr = match destination {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(destination)?;
    Ok(socket.local_addr()?.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(host: Option<&str>, selection: &str, broadcast: bool) -> Plan {
        Plan {
            host: host.map(ToOwned::to_owned),
            port: 6379,
            selection: crate::settings::selection(selection).unwrap(),
            broadcast,
        }
    }

    fn advertised(host: &str, interface: Option<[u8; 4]>) -> Advertised {
        Advertised {
            host: host.to_owned(),
            port: 6379,
            interface: interface.map(Ipv4Addr::from),
        }
    }

    fn host() -> Vec<InterfaceAddress> {
        let own = |address: [u8; 4], broadcasts| InterfaceAddress {
            address: address.into(),
            netmask: Ipv4Addr::new(255, 255, 255, 0),
            running: true,
            broadcasts,
            name: "eth".to_owned(),
        };
        vec![
            own([127, 0, 0, 1], false),
            own([10, 0, 1, 7], true),
            own([10, 9, 0, 7], true),
            own([192, 168, 0, 7], false),
        ]
    }

    #[test]
    fn each_own_address_is_told_in_its_own_network() {
        assert_eq!(
            plan(None, "", true).broadcasting(&host()),
            Ok(vec![
                advertised("10.0.1.7", Some([10, 0, 1, 7])),
                advertised("10.9.0.7", Some([10, 9, 0, 7])),
            ])
        );
        assert_eq!(
            plan(None, "10.9", true).broadcasting(&host()),
            Ok(vec![advertised("10.9.0.7", Some([10, 9, 0, 7]))])
        );
    }

    #[test]
    fn an_address_that_was_named_is_told_in_the_selected_networks() {
        assert_eq!(
            plan(Some("redis.local"), "10.9", true).broadcasting(&host()),
            Ok(vec![advertised("redis.local", Some([10, 9, 0, 7]))])
        );
    }

    #[test]
    fn loopback_is_told_only_where_it_is_selected() {
        assert_eq!(
            plan(None, "127", true).broadcasting(&host()),
            Ok(vec![advertised("127.0.0.1", Some([127, 0, 0, 1]))])
        );
        let error = plan(None, "", true).broadcasting(&host()[..1]).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("but loopback, which no other host"),
            "{error}"
        );
        let error = plan(None, "172", true).broadcasting(&host()).unwrap_err();
        assert!(error.to_string().contains("networks 172, "), "{error}");
    }

    #[tokio::test]
    async fn loopback_is_told_only_when_it_was_named() {
        let here = [SocketAddr::from((Ipv4Addr::LOCALHOST, 63_000)).into()];
        let error = plan(None, "", false).find(&here).await;
        assert_eq!(
            error,
            Err(AdvertiseError::Loopback(Ipv4Addr::LOCALHOST.into()))
        );

        let named = plan(Some("127.0.0.1"), "", false).find(&here).await;
        assert_eq!(named, Ok(vec![advertised("127.0.0.1", None)]));
    }

    #[test]
    fn an_address_is_told_until_another_one_is_known() {
        let addresses = |host| Ok(vec![advertised(host, None)]);
        let (mut told, lost) = (None, || {
            Err(AdvertiseError::NoRoute("timed out".to_owned()))
        });
        assert!(replace(&mut told, lost()));
        assert!(!replace(&mut told, lost()));
        assert!(replace(&mut told, addresses("10.0.1.7")));
        assert!(!replace(&mut told, lost()));
        assert_eq!(told, Some(addresses("10.0.1.7")));

        assert!(replace(&mut told, addresses("10.0.1.8")));
        let none = AdvertiseError::NoInterface(Selected(Selection::default()));
        assert!(replace(&mut told, Err(none)));
        assert!(matches!(told, Some(Err(_))));
    }

    #[tokio::test]
    async fn without_destinations_they_are_waited_for() {
        let error = plan(None, "", false).find(&[]).await.unwrap_err();
        assert_eq!(error, AdvertiseError::NoDestination);
        assert_eq!(error.level(), Level::Info);

        // The address that was told stays, should the last pod go.
        let mut told = Some(Ok(vec![advertised("10.0.1.7", None)]));
        assert!(!replace(&mut told, Err(error)));
    }
}
