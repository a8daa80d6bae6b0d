//! Linux.

use std::fs::File;
use std::io::{self, Read};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

use socket2::{SockAddr, Socket};

use super::Ears;

/// Lets other processes bind the port too, in either order: some set only one of the two options.
pub(crate) fn share_port(socket: &Socket) -> io::Result<()> {
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)
}

/// Which sockets there are on `port`. Where the kernel's lists cannot be read, there is another one
/// beside ours: to take unicasts that nobody else wants costs a few sockets, to leave them to somebody
/// who keeps them costs brokers.
pub(crate) fn ears(port: u16) -> Option<Ears> {
    let another = Ears {
        everything: 2,
        copies: 0,
    };
    Some(read_ears(port).unwrap_or(another))
}

fn read_ears(port: u16) -> io::Result<Ears> {
    // Of this thread's network namespace, which need not be that of the whole process.
    let list = read_list("/proc/thread-self/net/udp")?;
    let list_v6 = match read_list("/proc/thread-self/net/udp6") {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        list => list?,
    };
    // A socket of IPv6 hears IPv4 as well, unless it was told not to, which the list does not say.
    let everything = count(&list, "00000000", port) + count(&list_v6, &"0".repeat(32), port);
    let copies = count(&list, "FFFFFF7F", port);
    Ok(Ears { everything, copies })
}

/// Reads in large pieces, since the kernel looks through all its sockets for each of them.
fn read_list(path: &str) -> io::Result<String> {
    const PIECE: usize = 16 * 1024;

    let mut list = String::with_capacity(PIECE);
    File::open(path)?.read_to_string(&mut list)?;
    Ok(list)
}

/// How many sockets of a list are bound to an address, as the list writes it, and to `port`, and
/// connected to nobody.
fn count(list: &str, address: &str, port: u16) -> usize {
    let local = format!("{address}:{port:04X}");
    list.lines()
        .filter(|line| {
            let mut fields = line.split_ascii_whitespace().skip(1);
            fields.next() == Some(&local)
                && fields
                    .next()
                    .is_some_and(|remote| remote.ends_with(":0000"))
        })
        .count()
}

/// How many datagrams the kernel dropped because the socket's buffer was full. The count wraps.
pub(crate) fn dropped(socket: &tokio::net::UdpSocket) -> Option<u32> {
    /// As many values as the option has had since it says anything about drops (Linux 4.8).
    const VALUES: usize = libc::SK_MEMINFO_DROPS as usize + 1;

    let mut info = [0u32; VALUES];
    let mut length = size_of_val(&info) as libc::socklen_t;
    // SAFETY: the descriptor is open as long as `socket` is borrowed, and the kernel writes at most
    // `length` bytes to `info`, which is that long.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    let told = result == 0 && length as usize == size_of_val(&info);
    told.then(|| info[VALUES - 1])
}

/// Sends `bytes` to the first of these addresses, and to as many of the others as the kernel takes
/// at a time. Returns how many that were; an error is that of the first.
pub(crate) fn send_to_some(
    socket: &UdpSocket,
    bytes: &[u8],
    addresses: &[SocketAddr],
) -> io::Result<usize> {
    /// What goes into one system call. More would make it no cheaper.
    const BATCH: usize = 64;

    let mut names: [Option<SockAddr>; BATCH] = [const { None }; BATCH];
    let mut part = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    // SAFETY: zeros make a valid header, one of an empty datagram to nobody.
    let mut headers: [libc::mmsghdr; BATCH] = unsafe { std::mem::zeroed() };
    for ((header, name), address) in headers.iter_mut().zip(&mut names).zip(addresses) {
        let name = name.insert((*address).into());
        header.msg_hdr.msg_name = name.as_ptr().cast_mut().cast();
        header.msg_hdr.msg_namelen = name.len();
        header.msg_hdr.msg_iov = &raw mut part;
        header.msg_hdr.msg_iovlen = 1;
    }
    let count = addresses.len().min(BATCH) as u32;
    // SAFETY: the first `count` headers point to names, and to a part which points to bytes, that
    // all live until the call is over; the kernel only reads them.
    let sent = unsafe { libc::sendmmsg(socket.as_raw_fd(), headers.as_mut_ptr(), count, 0) };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Linux 6.18 prints it, up to the column of the inode.
    const LIST: &str = "\
   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   84: 0100007F:F618 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 5
  156: 00000000:F618 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 1
  156: 00000000:F618 0100007F:0035 01 00000000:00000000 00:00000000 00000000     0        0 2
  157: 00000000:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 3
  157: 00000000:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000  1000        0 4
";

    #[test]
    fn counts_those_who_are_bound_to_an_address() {
        let everything = |port| count(LIST, "00000000", port);
        assert_eq!([63_000, 53, 80].map(everything), [1, 2, 0]);
        assert_eq!(count(LIST, "0100007F", 63_000), 1);
    }

    #[test]
    fn sees_who_listens_on_a_port() {
        let bind = |address: &str, port: u16| {
            let address = SocketAddr::new(address.parse().unwrap(), port);
            let domain = socket2::Domain::for_address(address);
            let socket = Socket::new(domain, socket2::Type::DGRAM, None).unwrap();
            share_port(&socket).unwrap();
            socket.bind(&address.into()).unwrap();
            socket
        };
        let ears = |port| ears(port).map(|ears| (ears.everything, ears.copies));
        let first = bind("0.0.0.0", 0);
        let port = first.local_addr().unwrap().as_socket().unwrap().port();
        assert_eq!(ears(port), Some((1, 0)));
        let of_copies = bind("127.255.255.255", port);
        let deaf = bind("127.0.0.1", port);
        assert_eq!(ears(port), Some((1, 1)));
        let second = bind("0.0.0.0", port);
        let of_both = bind("::", port);
        assert_eq!(ears(port), Some((3, 1)));
        drop((first, of_copies, deaf, second, of_both));
        assert_eq!(ears(port), Some((0, 0)));
    }
}
