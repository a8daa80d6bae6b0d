//! Windows.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use socket2::Socket;

use super::Ears;

/// Lets other processes bind the port too. The one option means here what two mean on Unix.
pub(crate) fn share_port(socket: &Socket) -> io::Result<()> {
    socket.set_reuse_address(true)
}

/// Which sockets there are on a port: not told here.
pub(crate) fn ears(_port: u16) -> Option<Ears> {
    None
}

/// How many datagrams the system dropped because the socket's buffer was full: not told here.
pub(crate) fn dropped(_socket: &tokio::net::UdpSocket) -> Option<u32> {
    None
}

/// Sends `bytes` to the first of these addresses, and returns 1; an error is that of the first.
pub(crate) fn send_to_some(
    socket: &UdpSocket,
    bytes: &[u8],
    addresses: &[SocketAddr],
) -> io::Result<usize> {
    let Some(first) = addresses.first() else {
        return Ok(0);
    };
    socket.send_to(bytes, first).map(|_| 1)
}
