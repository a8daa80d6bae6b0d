//! Receiving on any system, through `quinn-udp`.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::{array, fmt};

use quinn_udp::{BATCH_SIZE, RecvMeta, UdpSockRef, UdpSocketState};
use tokio::net::UdpSocket;

use super::Arrival;

/// Room for what one system call receives. Pages that no datagram ever touched cost no memory.
pub(crate) struct Buffers {
    bytes: Box<[u8]>,
    meta: [RecvMeta; BATCH_SIZE],
    filled: usize,
}

/// Longer than any IPv4 datagram, joined ones included, so that nothing is ever cut.
const BUFFER: usize = 64 * 1024;
const _: () = assert!(BUFFER > u16::MAX as usize);

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
}

/// A socket's part in it.
#[derive(Debug)]
pub(crate) struct Receiver(UdpSocketState);

impl Receiver {
    /// Prepares a socket to be received from.
    pub(crate) fn new(socket: &UdpSocket) -> io::Result<Self> {
        UdpSocketState::new(UdpSockRef::from(socket)).map(Self)
    }

    /// Replaces what is in `buffers` by what waits on the socket, as much as fits. Says whether that
    /// is known to be all: never, since not every system is asked for many datagrams at a time.
    pub(crate) fn receive(&self, socket: &UdpSocket, buffers: &mut Buffers) -> io::Result<bool> {
        buffers.filled = 0;
        let mut chunks = buffers.bytes.chunks_exact_mut(BUFFER);
        let mut slices: [IoSliceMut<'_>; BATCH_SIZE] = array::from_fn(|_| {
            IoSliceMut::new(chunks.next().expect("there are as many chunks as slices"))
        });
        let socket = UdpSockRef::from(socket);
        buffers.filled = self.0.recv(socket, &mut slices, &mut buffers.meta)?;
        Ok(false)
    }
}

impl fmt::Debug for Buffers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffers")
            .field("filled", &self.filled)
            .finish_non_exhaustive()
    }
}

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
}
