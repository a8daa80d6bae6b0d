//! The network interfaces of this host, and what follows from them: which datagrams belong to a
//! network, which were sent to this host alone, and from where a broadcast has to leave.

use std::io;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use crate::socket::Arrival;

// How they are listed.
#[cfg_attr(target_os = "linux", path = "imp/interfaces_linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "imp/interfaces.rs")]
mod imp;

// The way of the other systems works on Linux too, where the two are compared.
#[cfg(all(test, target_os = "linux"))]
#[path = "imp/interfaces.rs"]
mod elsewhere;

/// Reaches every socket on a port of this host, and nobody else.
pub(crate) const LOOPBACK_BROADCAST: Ipv4Addr = Ipv4Addr::new(127, 255, 255, 255);

/// One IPv4 address of this host.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct InterfaceAddress {
    /// The address.
    pub address: Ipv4Addr,
    /// The part of it that the whole network has in common; 0.0.0.0 where there is none.
    pub netmask: Ipv4Addr,
    /// Its interface is up, and has a link.
    pub running: bool,
    /// That, and it leads to a network that a broadcast reaches, which neither loopback nor a
    /// point-to-point link does.
    pub broadcasts: bool,
    /// The name of the interface, such as `eth0`.
    pub name: String,
}

/// Lists the IPv4 addresses of this host, in a stable order. On a host with very many interfaces
/// this can take milliseconds.
///
/// # Errors
///
/// The system does not tell, not even where it forbids only one of two ways to ask (Linux).
pub fn interface_addresses() -> io::Result<Vec<InterfaceAddress>> {
    let mut addresses: Vec<_> = imp::list()?
        .into_iter()
        .map(|interface| InterfaceAddress {
            address: interface.address,
            netmask: interface.netmask,
            running: interface.running,
            broadcasts: interface.broadcasts,
            name: interface.name,
        })
        .collect();
    addresses.sort_unstable();
    Ok(addresses)
}

/// The list as it was read last.
#[derive(Debug, Default)]
pub(crate) struct Interfaces {
    list: Vec<Interface>,
    read_at: Option<Instant>,
}

/// One IPv4 address of an interface.
#[derive(Clone, Debug)]
pub(crate) struct Interface {
    pub(crate) name: String,
    /// What a datagram's arrival is told by.
    index: Option<u32>,
    pub(crate) address: Ipv4Addr,
    netmask: Ipv4Addr,
    running: bool,
    /// It is running and leads to more than one peer.
    broadcasts: bool,
}

impl Interfaces {
    /// Reads the list if it is older than `max_age`. When that fails, the former one stays.
    pub(crate) fn refresh(&mut self, now: Instant, max_age: Duration) {
        if self
            .read_at
            .is_some_and(|at| now.saturating_duration_since(at) < max_age)
        {
            return;
        }
        self.read_at = Some(now);
        if let Ok(list) = imp::list() {
            self.list = list;
        }
    }

    /// Whether an `arrival` holds nothing that the list cannot explain. Otherwise an interface or
    /// an address may have come since the list was read.
    pub(crate) fn explain(&self, arrival: &Arrival) -> bool {
        let interface = arrival.interface.is_none_or(|index| {
            self.list
                .iter()
                .any(|interface| interface.index == Some(index))
        });
        let destination = arrival.destination.is_none_or(|destination| {
            destination.is_broadcast()
                || destination == LOOPBACK_BROADCAST
                || self.is_own(destination)
                || self
                    .list
                    .iter()
                    .any(|interface| interface.broadcast() == destination)
        });
        interface && destination
    }

    /// Whether `address` is one of this host's own, so that what is sent there reaches one socket.
    pub(crate) fn is_own(&self, address: Ipv4Addr) -> bool {
        let loopback = address.is_loopback() && address != LOOPBACK_BROADCAST;
        loopback
            || self
                .list
                .iter()
                .any(|interface| interface.address == address)
    }

    /// This host's own addresses, without those of the loopback network that no interface has.
    pub(crate) fn own(&self) -> impl Iterator<Item = Ipv4Addr> {
        self.list.iter().map(|interface| interface.address)
    }

    /// The interfaces with the network that the directed broadcast address `wanted` belongs to:
    /// those whose netmask matches most of it, should several overlap.
    pub(crate) fn with_network(&self, wanted: Ipv4Addr) -> impl Iterator<Item = &Interface> {
        let longest = self
            .list
            .iter()
            .filter_map(|interface| interface.matches(wanted))
            .max();
        self.list
            .iter()
            .filter(move |interface| longest.is_some() && interface.matches(wanted) == longest)
    }

    /// Whether a datagram came in on the network of the directed broadcast address `wanted`.
    ///
    /// So did one that a process of this host relayed, and one that this host sent to its own
    /// address in that network, which arrives on the loopback interface. Where the system does not
    /// tell the interface, the source has to be in the network.
    pub(crate) fn hears(&self, wanted: Ipv4Addr, arrival: &Arrival) -> bool {
        arrival.destination == Some(LOOPBACK_BROADCAST)
            || self
                .with_network(wanted)
                .any(|interface| match arrival.interface {
                    Some(index) if interface.index == Some(index) => true,
                    Some(index) => {
                        self.is_loopback(index) && arrival.destination == Some(interface.address)
                    }
                    None => interface.contains(*arrival.source.ip()),
                })
    }

    /// From which addresses a broadcast has to be sent to reach every network.
    pub(crate) fn broadcasting(&self) -> impl Iterator<Item = Ipv4Addr> {
        let broadcasting = self.list.iter().filter(|interface| interface.broadcasts);
        broadcasting.map(|interface| interface.address)
    }

    /// The broadcast addresses there are, for a message that proposes them.
    pub(crate) fn describe(&self) -> Vec<String> {
        let describe =
            |interface: &Interface| format!("{} ({})", interface.broadcast(), interface.name);
        self.list.iter().map(describe).collect()
    }

    fn is_loopback(&self, index: u32) -> bool {
        let mut list = self.list.iter();
        list.any(|interface| interface.index == Some(index) && interface.address.is_loopback())
    }
}

impl Interface {
    /// How many leading bits of `address` this network shares, if it is in it.
    fn matches(&self, address: Ipv4Addr) -> Option<u32> {
        self.contains(address)
            .then(|| self.netmask.to_bits().leading_ones())
    }

    /// A netmask of zero is that of an interface that has none, not of one with every network.
    fn contains(&self, address: Ipv4Addr) -> bool {
        let mask = self.netmask;
        !mask.is_unspecified() && address & mask == self.address & mask
    }

    fn broadcast(&self) -> Ipv4Addr {
        self.address | !self.netmask
    }
}

#[cfg(test)]
impl Interfaces {
    /// The interfaces of a host in two networks, which overlap.
    pub(crate) fn example() -> Self {
        let interface =
            |name: &str, index, address: [u8; 4], netmask: [u8; 4], broadcasts| Interface {
                name: name.to_owned(),
                index: Some(index),
                address: address.into(),
                netmask: netmask.into(),
                running: true,
                broadcasts,
            };
        let list = vec![
            interface("lo", 1, [127, 0, 0, 1], [255, 0, 0, 0], false),
            interface("eth0", 2, [10, 0, 1, 7], [255, 255, 255, 0], true),
            interface("eth1", 3, [10, 9, 0, 7], [255, 0, 0, 0], true),
            interface("tun0", 4, [192, 168, 0, 7], [0, 0, 0, 0], false),
        ];
        Self {
            list,
            read_at: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddrV4;

    use super::*;

    const DIRECTED: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 255);

    fn arrival(destination: [u8; 4], interface: Option<u32>) -> Arrival {
        Arrival {
            source: SocketAddrV4::new(Ipv4Addr::new(10, 0, 1, 3), 40_000),
            destination: Some(destination.into()),
            interface,
        }
    }

    fn hears(destination: [u8; 4], interface: Option<u32>) -> bool {
        Interfaces::example().hears(DIRECTED, &arrival(destination, interface))
    }

    #[test]
    fn hears_its_own_network_only() {
        assert!(hears([255, 255, 255, 255], Some(2)));
        assert!(hears([10, 0, 1, 255], Some(2)));
        assert!(hears([10, 0, 1, 7], Some(2)));
        assert!(!hears([255, 255, 255, 255], Some(3)));
        assert!(!hears([10, 0, 1, 255], Some(9)));
    }

    #[test]
    fn hears_what_this_host_sends_to_its_address_there() {
        assert!(hears([10, 0, 1, 7], Some(1)));
        assert!(!hears([10, 9, 0, 7], Some(1)));
        assert!(!hears([10, 0, 1, 7], Some(3)));
    }

    #[test]
    fn hears_relayed_copies() {
        assert!(hears([127, 255, 255, 255], Some(1)));
    }

    #[test]
    fn judges_by_the_source_where_no_interface_is_told() {
        assert!(hears([255, 255, 255, 255], None));
        let foreign = Ipv4Addr::new(10, 77, 0, 255);
        assert!(Interfaces::example().hears(foreign, &arrival([255, 255, 255, 255], None)));
        let foreign = Ipv4Addr::new(172, 16, 0, 255);
        assert!(!Interfaces::example().hears(foreign, &arrival([255, 255, 255, 255], None)));
    }

    #[test]
    fn the_longest_netmask_decides() {
        let names = |wanted| -> Vec<String> {
            Interfaces::example()
                .with_network(wanted)
                .map(|interface| interface.name.clone())
                .collect()
        };
        assert_eq!(names(DIRECTED), ["eth0"]);
        assert_eq!(names(Ipv4Addr::new(10, 255, 255, 255)), ["eth1"]);
        assert_eq!(names(LOOPBACK_BROADCAST), ["lo"]);
        assert!(names(Ipv4Addr::new(172, 16, 0, 255)).is_empty());
    }

    #[test]
    fn knows_its_own_addresses() {
        assert!(Interfaces::example().is_own(Ipv4Addr::new(10, 0, 1, 7)));
        assert!(Interfaces::example().is_own(Ipv4Addr::new(127, 0, 0, 53)));
        assert!(!Interfaces::example().is_own(DIRECTED));
        assert!(!Interfaces::example().is_own(LOOPBACK_BROADCAST));
        assert!(!Interfaces::example().is_own(Ipv4Addr::BROADCAST));
    }

    #[test]
    fn sees_that_the_list_is_out_of_date() {
        assert!(Interfaces::example().explain(&arrival([255, 255, 255, 255], Some(2))));
        assert!(Interfaces::example().explain(&arrival([10, 0, 1, 255], None)));
        assert!(Interfaces::example().explain(&arrival([127, 255, 255, 255], Some(1))));
        assert!(!Interfaces::example().explain(&arrival([255, 255, 255, 255], Some(9))));
        assert!(!Interfaces::example().explain(&arrival([10, 0, 1, 8], Some(2))));
    }

    #[test]
    fn reads_this_hosts_list() {
        let mut interfaces = Interfaces::default();
        interfaces.refresh(Instant::now(), Duration::ZERO);
        assert!(interfaces.is_own(Ipv4Addr::LOCALHOST));
        assert!(
            interfaces
                .describe()
                .iter()
                .any(|text| text.starts_with("127.255.255.255 ("))
        );
    }

    #[test]
    fn tells_the_addresses_of_this_host() {
        let addresses = interface_addresses().unwrap();
        let loopback = addresses
            .iter()
            .find(|own| own.address == Ipv4Addr::LOCALHOST);
        let loopback = loopback.expect("every host has one");
        assert!(loopback.running && !loopback.broadcasts);
        assert_eq!(loopback.netmask, Ipv4Addr::new(255, 0, 0, 0));
        assert!(addresses.is_sorted());
    }

    #[test]
    fn reads_the_list_no_more_often_than_asked() {
        let mut interfaces = Interfaces::default();
        let start = Instant::now();
        interfaces.refresh(start, Duration::from_secs(5));
        assert!(!interfaces.list.is_empty());

        interfaces.list.clear();
        interfaces.refresh(start + Duration::from_secs(4), Duration::from_secs(5));
        assert!(interfaces.list.is_empty());
        interfaces.refresh(start + Duration::from_secs(5), Duration::from_secs(5));
        assert!(!interfaces.list.is_empty());
    }
}
