//! The interfaces on Linux, by way of an ordinary socket.
//!
//! Netlink, which is the usual way, is forbidden where systemd runs Redis on Debian, and takes several
//! times as many system calls: a manager that starts lists them before it can hear anybody.

use std::ffi::CStr;
use std::io;
use std::mem;
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;

use socket2::{Domain, Socket, Type};

use super::Interface;

/// The IPv4 addresses of this host.
pub(super) fn list() -> io::Result<Vec<Interface>> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
    let requests = addresses(&socket)?;
    // An address that has gone since is left out.
    Ok(requests
        .into_iter()
        .filter_map(|request| read(&socket, request).ok())
        .collect())
}

/// A request for each address, with the name of its interface.
fn addresses(socket: &Socket) -> io::Result<Vec<libc::ifreq>> {
    /// How many there is room for at first.
    const USUAL: usize = 64;

    let mut room = USUAL;
    loop {
        // SAFETY: zeros make a valid request.
        let mut requests: Vec<libc::ifreq> = vec![unsafe { mem::zeroed() }; room];
        let size = room * size_of::<libc::ifreq>();
        // SAFETY: zeros make a valid one, with room for nothing.
        let mut all: libc::ifconf = unsafe { mem::zeroed() };
        all.ifc_len = size as libc::c_int;
        all.ifc_ifcu.ifcu_req = requests.as_mut_ptr();
        control(socket, libc::SIOCGIFCONF, &mut all)?;

        let count = all.ifc_len as usize / size_of::<libc::ifreq>();
        // There may be more than there was room for.
        if count < room {
            requests.truncate(count);
            return Ok(requests);
        }
        room *= 2;
    }
}

fn read(socket: &Socket, mut request: libc::ifreq) -> io::Result<Interface> {
    let address = address(&request);
    // Asked with the address, since an interface can have several. The answers replace it, and
    // each other.
    let named = request;
    control(socket, libc::SIOCGIFNETMASK, &mut request)?;
    let netmask = self::address(&request);

    request = named;
    control(socket, libc::SIOCGIFFLAGS, &mut request)?;
    // SAFETY: the kernel has just written the flags.
    let flags = libc::c_int::from(unsafe { request.ifr_ifru.ifru_flags });
    let running = flags & libc::IFF_RUNNING != 0;

    request = named;
    control(socket, libc::SIOCGIFINDEX, &mut request)?;
    // SAFETY: the kernel has just written the index.
    let index = unsafe { request.ifr_ifru.ifru_ifindex };

    // SAFETY: the kernel ends names with a zero, and they are shorter than the field.
    let name = unsafe { CStr::from_ptr(request.ifr_name.as_ptr()) };
    Ok(Interface {
        name: name.to_string_lossy().into_owned(),
        index: u32::try_from(index).ok(),
        address,
        netmask,
        running,
        broadcasts: running && flags & libc::IFF_POINTOPOINT == 0 && !address.is_loopback(),
    })
}

/// The IPv4 address that the kernel has written into a request.
fn address(request: &libc::ifreq) -> Ipv4Addr {
    // SAFETY: whatever it is, it is as long as a `sockaddr_in`, which is valid with any bytes.
    let address = unsafe {
        (&raw const request.ifr_ifru.ifru_addr)
            .cast::<libc::sockaddr_in>()
            .read_unaligned()
    };
    Ipv4Addr::from_bits(u32::from_be(address.sin_addr.s_addr))
}

fn control<T>(socket: &Socket, operation: libc::c_ulong, argument: &mut T) -> io::Result<()> {
    // SAFETY: both operations with their arguments are those of this file: the kernel reads and
    // writes an `ifreq`, or an `ifconf` and as many bytes as that says.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), operation as _, &raw mut *argument) };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::super::elsewhere;
    use super::*;

    /// Takes netlink away from the current thread, for good.
    fn forbid_netlink() {
        let statement = |code, k| libc::sock_filter {
            code,
            jt: 0,
            jf: 0,
            k,
        };
        let load = |offset| statement((libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16, offset);
        let answer = |k| statement((libc::BPF_RET | libc::BPF_K) as u16, k);
        let unless = |k, skip| libc::sock_filter {
            code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
            jt: 0,
            jf: skip,
            k,
        };
        // In what the kernel tells of a system call, its number is first, and 16 bytes later
        // its first argument.
        let mut program = [
            load(0),
            unless(libc::SYS_socket as u32, 3),
            load(16),
            unless(libc::AF_NETLINK as u32, 1),
            answer(libc::SECCOMP_RET_ERRNO | libc::EAFNOSUPPORT as u32),
            answer(libc::SECCOMP_RET_ALLOW),
        ];
        let program = libc::sock_fprog {
            len: program.len() as u16,
            filter: program.as_mut_ptr(),
        };
        // SAFETY: the program is a valid one, and lives until it has been copied.
        let result = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            libc::prctl(
                libc::PR_SET_SECCOMP,
                libc::SECCOMP_MODE_FILTER,
                &raw const program,
            )
        };
        assert_eq!(result, 0, "{}", io::Error::last_os_error());
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn needs_no_netlink_to_list_the_same_as_elsewhere() {
        let without = thread::spawn(|| {
            forbid_netlink();
            assert!(elsewhere::list().is_err());
            list().unwrap()
        });
        let without = without.join().unwrap();
        let with = elsewhere::list().unwrap();
        assert_eq!(format!("{without:?}"), format!("{with:?}"));
    }
}
