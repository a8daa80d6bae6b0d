//! Receiving on Linux: `recvmmsg`, and with each datagram only what is asked for.
//!
//! Each further control message and the time stamps of `quinn-udp`, which other systems receive
//! through, cost a good part of what a datagram costs as a whole.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::AsRawFd;
use std::{array, fmt, ptr};

use tokio::net::UdpSocket;

use super::Arrival;

/// Room for what one system call receives. Pages that no datagram ever touched cost no memory.
pub(crate) struct Buffers {
    bytes: Box<[u8]>,
    /// What was received, with where its bytes end.
    received: Vec<(Arrival, usize)>,
}

/// How many datagrams one system call receives at most.
const BATCH: usize = 32;

/// Longer than any IPv4 datagram, so that none is ever cut, and by two cache lines longer than a
/// power of two: the beginnings of all buffers would else compete for the same few lines.
const BUFFER: usize = 64 * 1024 + 128;

impl Buffers {
    pub(crate) fn new() -> Self {
        Self {
            bytes: vec![0; BATCH * BUFFER].into_boxed_slice(),
            received: Vec::with_capacity(BATCH),
        }
    }

    /// What was last received.
    pub(crate) fn datagrams(&self) -> impl Iterator<Item = (Arrival, &[u8])> {
        let received = self.received.iter().zip(self.bytes.chunks_exact(BUFFER));
        received.map(|((arrival, length), buffer)| (*arrival, &buffer[..*length]))
    }

    fn fill(&mut self, socket: &UdpSocket) -> io::Result<()> {
        self.received.clear();
        let mut chunks = self.bytes.chunks_exact_mut(BUFFER);
        let mut parts: [libc::iovec; BATCH] = array::from_fn(|_| {
            let chunk = chunks.next().expect("there are as many chunks as parts");
            libc::iovec {
                iov_base: chunk.as_mut_ptr().cast(),
                iov_len: chunk.len(),
            }
        });
        let mut extras = [const { Extra::new() }; BATCH];
        let mut headers: [libc::mmsghdr; BATCH] = array::from_fn(|place| libc::mmsghdr {
            msg_hdr: extras[place].header(&mut parts[place]),
            msg_len: 0,
        });
        // SAFETY: the headers point to parts and extras, and the parts to chunks of `bytes`, which
        // all live until the call is over. The kernel writes within the lengths that are given.
        let count = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                headers.as_mut_ptr(),
                BATCH as u32,
                0,
                ptr::null_mut(),
            )
        };
        let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
        let received = headers.iter().zip(&extras).take(count);
        self.received.extend(
            received.map(|(header, extra)| (extra.read(&header.msg_hdr), header.msg_len as usize)),
        );
        Ok(())
    }
}

/// A socket's part in it.
#[derive(Debug)]
pub(crate) struct Receiver(());

impl Receiver {
    /// Prepares a socket to be received from.
    pub(crate) fn new(socket: &UdpSocket) -> io::Result<Self> {
        let on: libc::c_int = 1;
        // SAFETY: the descriptor is open as long as `socket` is borrowed, and the kernel reads an
        // integer.
        let result = unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::IPPROTO_IP,
                libc::IP_PKTINFO,
                (&raw const on).cast(),
                size_of_val(&on) as libc::socklen_t,
            )
        };
        if result == 0 {
            Ok(Self(()))
        } else {
            Err(io::Error::last_os_error())
        }
    }

    /// Replaces what is in `buffers` by what waits on the socket, as much as fits. Says whether that
    /// is known to be all, as it is when there was room for more.
    pub(crate) fn receive(&self, socket: &UdpSocket, buffers: &mut Buffers) -> io::Result<bool> {
        buffers.fill(socket)?;
        Ok(buffers.received.len() < BATCH)
    }
}

impl fmt::Debug for Buffers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffers")
            .field("received", &self.received)
            .finish_non_exhaustive()
    }
}

/// What comes with a datagram: its source, and its destination and interface.
#[repr(C, align(8))]
struct Extra {
    control: [u8; Self::CONTROL],
    source: libc::sockaddr_in,
}

impl Extra {
    /// What the one control message takes that is asked for.
    // SAFETY: it only computes.
    const CONTROL: usize =
        unsafe { libc::CMSG_SPACE(size_of::<libc::in_pktinfo>() as u32) } as usize;

    const fn new() -> Self {
        Self {
            control: [0; Self::CONTROL],
            source: libc::sockaddr_in {
                sin_family: 0,
                sin_port: 0,
                sin_addr: libc::in_addr { s_addr: 0 },
                sin_zero: [0; 8],
            },
        }
    }

    fn header(&mut self, part: &mut libc::iovec) -> libc::msghdr {
        // SAFETY: zeros make a valid header. Its private fields differ from one libc to another.
        let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
        header.msg_name = (&raw mut self.source).cast();
        header.msg_namelen = size_of_val(&self.source) as libc::socklen_t;
        header.msg_iov = part;
        header.msg_iovlen = 1;
        header.msg_control = self.control.as_mut_ptr().cast();
        header.msg_controllen = Self::CONTROL as _;
        header
    }

    /// What the kernel has written here. `header` is the one that it was told to write by.
    fn read(&self, header: &libc::msghdr) -> Arrival {
        let info = self.packet_info(header);
        Arrival {
            source: SocketAddrV4::new(
                address(self.source.sin_addr),
                u16::from_be(self.source.sin_port),
            ),
            destination: info.map(|info| address(info.ipi_addr)),
            interface: info.map(|info| info.ipi_ifindex.cast_unsigned()),
        }
    }

    fn packet_info(&self, header: &libc::msghdr) -> Option<libc::in_pktinfo> {
        // SAFETY: the header's control buffer is that of `self`, which is aligned for a control
        // message, and of which the kernel has written as much as the header says.
        let message = unsafe { libc::CMSG_FIRSTHDR(header).as_ref() }?;
        let asked_for =
            (message.cmsg_level, message.cmsg_type) == (libc::IPPROTO_IP, libc::IP_PKTINFO);
        // SAFETY: that is what follows in a message of this kind, and there was room for all of it.
        asked_for.then(|| unsafe {
            libc::CMSG_DATA(message)
                .cast::<libc::in_pktinfo>()
                .read_unaligned()
        })
    }
}

fn address(raw: libc::in_addr) -> Ipv4Addr {
    Ipv4Addr::from(raw.s_addr.to_ne_bytes())
}
