//! Whether somebody listens on a port of this host.

use std::mem;
use std::net::SocketAddrV4;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Whether a connection to `address`, which is one of this host, is taken. If that cannot be found
/// out, it is taken to be so.
///
/// Nothing is sent: whoever listens is noticed because the address is not free. Since Redis does
/// not listen anew while its main thread is here, it cannot be disturbed by this.
pub(crate) fn is_listened_on(address: SocketAddrV4) -> bool {
    // SAFETY: it takes no pointers.
    let descriptor = unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0) };
    if descriptor < 0 {
        return true;
    }
    // SAFETY: it has just been opened, and nobody else knows of it.
    let socket = unsafe { OwnedFd::from_raw_fd(descriptor) };
    // SAFETY: any bytes make a valid one.
    let mut name: libc::sockaddr_in = unsafe { mem::zeroed() };
    name.sin_family = libc::AF_INET as libc::sa_family_t;
    name.sin_port = address.port().to_be();
    name.sin_addr.s_addr = address.ip().to_bits().to_be();
    let length = size_of_val(&name) as libc::socklen_t;
    // SAFETY: the system reads so many bytes of `name`.
    let result = unsafe { libc::bind(socket.as_raw_fd(), (&raw const name).cast(), length) };
    result != 0
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr, TcpListener};

    use super::*;

    #[test]
    fn tells_whether_somebody_listens() {
        for bound in [Ipv4Addr::LOCALHOST, Ipv4Addr::UNSPECIFIED] {
            let listener = TcpListener::bind((bound, 0)).unwrap();
            let SocketAddr::V4(mut address) = listener.local_addr().unwrap() else {
                unreachable!("it is bound to an IPv4 address");
            };
            address.set_ip(Ipv4Addr::LOCALHOST);
            assert!(is_listened_on(address));
            drop(listener);
            assert!(!is_listened_on(address));
        }
    }
}
