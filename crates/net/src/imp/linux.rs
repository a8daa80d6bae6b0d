//! Linux.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

use socket2::{SockAddr, Socket};

/// Lets other processes bind the port too, in either order: some set only one of the two options.
pub(crate) fn share_port(socket: &Socket) -> io::Result<()> {
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)
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
