//! Sockets: the one that listens on a port, and those that send.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::task::{Context, Poll};
use std::{array, fmt};

use quinn_udp::{BATCH_SIZE, RecvMeta, UdpSockRef, UdpSocketState};
use socket2::{Domain, Protocol, Type};
use tokio::io::Interest;

// What differs from system to system: how a port is shared, and who counts dropped datagrams.
#[cfg_attr(target_os = "linux", path = "imp/linux.rs")]
#[cfg_attr(all(unix, not(target_os = "linux")), path = "imp/unix.rs")]
#[cfg_attr(windows, path = "imp/windows.rs")]
mod imp;

/// A non-blocking socket that hears all that arrives on a port, on every interface.
///
/// It is bound to the wildcard address, since on Linux a socket bound to the address of one
/// interface hears no broadcast.
#[derive(Debug)]
pub(crate) struct Socket {
    io: tokio::net::UdpSocket,
    state: UdpSocketState,
}

impl Socket {
    /// Has to be called within the hub's runtime.
    pub(crate) fn bind(port: u16) -> io::Result<Self> {
        let socket = socket2::Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        imp::share_port(&socket)?;
        // The system may allow less, and says nothing then.
        socket.set_recv_buffer_size(RECEIVE_BUFFER).ok();
        socket.set_nonblocking(true)?;
        socket.bind(&SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port).into())?;

        let io = tokio::net::UdpSocket::from_std(socket.into())?;
        let state = UdpSocketState::new(UdpSockRef::from(&io))?;
        Ok(Self { io, state })
    }

    /// The port it is bound to, which the system chose if it was asked for port 0.
    pub(crate) fn port(&self) -> io::Result<u16> {
        self.io.local_addr().map(|address| address.port())
    }

    pub(crate) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.poll_recv_ready(cx)
    }

    /// Replaces what is in `buffers` by what waits on the socket, as much as fits.
    ///
    /// Fails with [`WouldBlock`](io::ErrorKind::WouldBlock) once the socket has been read dry.
    pub(crate) fn receive(&self, buffers: &mut Buffers) -> io::Result<()> {
        // The socket itself is asked, not what the runtime last heard about it: a datagram that
        // came in the meantime counts as well. Only when there is none, the runtime has to see it,
        // so that it waits for the next.
        match buffers.fill(&self.state, &self.io) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => self
                .io
                .try_io(Interest::READABLE, || buffers.fill(&self.state, &self.io)),
            result => result,
        }
    }

    /// How many datagrams the system dropped because the receive buffer was full, if it tells. The
    /// count wraps.
    pub(crate) fn dropped(&self) -> Option<u32> {
        imp::dropped(&self.io)
    }
}

/// What is known about a datagram beside its bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Arrival {
    pub(crate) source: SocketAddrV4,
    /// The address it was sent to, where the system tells.
    pub(crate) destination: Option<Ipv4Addr>,
    /// The index of the interface it came in on, where the system tells.
    pub(crate) interface: Option<u32>,
}

/// Room for what one system call reads. Pages that no datagram ever touched cost no memory.
pub(crate) struct Buffers {
    bytes: Box<[u8]>,
    meta: [RecvMeta; BATCH_SIZE],
    filled: usize,
}

impl Buffers {
    pub(crate) fn new() -> Self {
        let bytes = vec![0; BATCH_SIZE * BUFFER].into_boxed_slice();
        Self {
            bytes,
            meta: [RecvMeta::default(); BATCH_SIZE],
            filled: 0,
        }
    }

    /// What was last received. Each buffer holds one datagram or, where the system joins them,
    /// several of the same length (the last may be shorter) from one sender.
    pub(crate) fn datagrams(&self) -> impl Iterator<Item = (Arrival, &[u8])> {
        let received = self.meta[..self.filled]
            .iter()
            .zip(self.bytes.chunks_exact(BUFFER));
        received
            .filter_map(|(meta, buffer)| Some((arrival(meta)?, meta, &buffer[..meta.len])))
            .flat_map(|(arrival, meta, bytes)| {
                split(bytes, meta.stride).map(move |datagram| (arrival, datagram))
            })
    }

    fn fill(&mut self, state: &UdpSocketState, io: &tokio::net::UdpSocket) -> io::Result<()> {
        self.filled = 0;
        let mut chunks = self.bytes.chunks_exact_mut(BUFFER);
        let mut slices: [IoSliceMut<'_>; BATCH_SIZE] = array::from_fn(|_| {
            IoSliceMut::new(chunks.next().expect("there are as many chunks as slices"))
        });
        self.filled = state.recv(UdpSockRef::from(io), &mut slices, &mut self.meta)?;
        Ok(())
    }
}

impl fmt::Debug for Buffers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffers")
            .field("filled", &self.filled)
            .finish_non_exhaustive()
    }
}

/// A non-blocking socket that sends from `address`, to broadcast addresses too.
pub(crate) fn sender(address: IpAddr) -> io::Result<UdpSocket> {
    let address = SocketAddr::new(address, 0);
    let socket = socket2::Socket::new(
        Domain::for_address(address),
        Type::DGRAM,
        Some(Protocol::UDP),
    )?;
    if address.is_ipv4() {
        socket.set_broadcast(true)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    Ok(socket.into())
}

/// Holds the heartbeats of thousands of brokers while the hub thread is kept from reading.
const RECEIVE_BUFFER: usize = 4 * 1024 * 1024;

/// Longer than any IPv4 datagram, joined ones included, so that nothing is ever cut.
const BUFFER: usize = 64 * 1024;
const _: () = assert!(BUFFER > u16::MAX as usize);

fn arrival(meta: &RecvMeta) -> Option<Arrival> {
    let SocketAddr::V4(source) = meta.addr else {
        return None;
    };
    let destination = match meta.dst_ip {
        Some(IpAddr::V4(destination)) => Some(destination),
        Some(IpAddr::V6(_)) | None => None,
    };
    Some(Arrival {
        source,
        destination,
        interface: meta.interface_index,
    })
}

/// The datagrams in `bytes`, each `stride` long; an empty one is a datagram too.
fn split(bytes: &[u8], stride: usize) -> impl Iterator<Item = &[u8]> {
    let empty = bytes.is_empty().then_some(bytes);
    empty.into_iter().chain(bytes.chunks(stride.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(bytes: &[u8], stride: usize) -> Vec<&[u8]> {
        split(bytes, stride).collect()
    }

    #[test]
    fn splits_joined_datagrams() {
        assert_eq!(parts(b"aabbc", 2), [&b"aa"[..], b"bb", b"c"]);
        assert_eq!(parts(b"aabb", 2), [b"aa", b"bb"]);
        assert_eq!(parts(b"aabb", 4), [b"aabb"]);
    }

    #[test]
    fn an_empty_datagram_is_one_datagram() {
        assert_eq!(parts(b"", 0), [b""]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_kernel_tells_what_it_dropped() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
            .unwrap();
        let _inside = runtime.enter();
        let socket = Socket::bind(0).unwrap();
        assert_eq!(socket.dropped(), Some(0));

        let sender = sender(Ipv4Addr::LOCALHOST.into()).unwrap();
        let datagram = vec![0; 60_000];
        let sent = 2 * RECEIVE_BUFFER / datagram.len();
        for _ in 0..2 * sent {
            sender
                .send_to(&datagram, (Ipv4Addr::LOCALHOST, socket.port().unwrap()))
                .unwrap();
        }
        assert!(socket.dropped().unwrap() > 0);
    }
}
