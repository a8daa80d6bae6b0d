//! Which hosts a datagram may announce: those that a client can connect to.

use std::net::{Ipv4Addr, Ipv6Addr};

/// The longest host in bytes: a DNS name in text form.
const MAX_LEN: usize = 253;

/// Whether a broker may be announced at this host: a name, an IPv4 or an IPv6 address, the last
/// without brackets.
pub(crate) fn is_host(host: &str) -> bool {
    is_name(host) || is_ipv6(host)
}

/// A host name, internationalised ones included, or an IPv4 address.
pub(crate) fn is_name(host: &str) -> bool {
    (1..=MAX_LEN).contains(&host.len())
        && host
            .chars()
            .all(|char| char.is_alphanumeric() || "-_.".contains(char))
        && host.parse().map_or(true, is_connectable)
}

/// An IPv6 address without brackets.
pub(crate) fn is_ipv6(host: &str) -> bool {
    host.parse()
        .is_ok_and(|address: Ipv6Addr| match address.to_ipv4_mapped() {
            Some(mapped) => is_connectable(mapped),
            None => !address.is_unspecified() && !address.is_multicast(),
        })
}

fn is_connectable(address: Ipv4Addr) -> bool {
    !address.is_unspecified() && !address.is_broadcast() && !address.is_multicast()
}
