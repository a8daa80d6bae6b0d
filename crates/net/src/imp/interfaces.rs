//! The interfaces of systems other than Linux.

use std::io;

use if_addrs::{IfAddr, get_if_addrs};

use super::Interface;

/// The IPv4 addresses of this host.
pub(super) fn list() -> io::Result<Vec<Interface>> {
    Ok(get_if_addrs()?.into_iter().filter_map(read).collect())
}

fn read(interface: if_addrs::Interface) -> Option<Interface> {
    let IfAddr::V4(address) = &interface.addr else {
        return None;
    };
    Some(Interface {
        index: interface.index,
        address: address.ip,
        netmask: address.netmask,
        running: interface.is_oper_up(),
        broadcasts: interface.is_oper_up() && !interface.is_p2p() && !address.is_loopback(),
        name: interface.name,
    })
}
