//! Linux.

use std::io;
use std::os::fd::AsRawFd;

use socket2::Socket;

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
