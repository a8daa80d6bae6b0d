//! macOS and other Unix systems.

use std::io;

use socket2::Socket;

/// Lets other processes bind the port too, in either order: some set only one of the two options.
pub(crate) fn share_port(socket: &Socket) -> io::Result<()> {
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)
}

/// How many datagrams the system dropped because the socket's buffer was full: not told here.
pub(crate) fn dropped(_socket: &tokio::net::UdpSocket) -> Option<u32> {
    None
}
