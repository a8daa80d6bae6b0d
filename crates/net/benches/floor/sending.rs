//! Heartbeats, and many datagrams with one system call.

use std::io;
use std::marker::PhantomData;
use std::net::{SocketAddrV4, UdpSocket};
use std::os::fd::AsRawFd;
use std::ptr;

/// What a broker says once a second, as the Redis module writes it: its guid is a UUID.
pub(crate) fn heartbeat(number: u32) -> Vec<u8> {
    let [_, a, b, c] = number.to_be_bytes();
    let mixed = number.wrapping_mul(0x9e37_79b9);
    format!("imq-broker\t{mixed:08x}-7c4a-4f3e-9b1d-{number:012x}\tup\t10.{a}.{b}.{c}:6379\t1")
        .into_bytes()
}

/// Datagrams to be sent, each to an address of its own.
#[derive(Debug)]
pub(crate) struct Outgoing<'a> {
    headers: Vec<libc::mmsghdr>,
    // What the headers point to.
    _addresses: Vec<libc::sockaddr_in>,
    _parts: Vec<libc::iovec>,
    _bytes: PhantomData<&'a [u8]>,
}

impl<'a> Outgoing<'a> {
    /// How many datagrams one call sends at most.
    const BATCH: usize = 64;

    pub(crate) fn new(datagrams: impl IntoIterator<Item = (&'a [u8], SocketAddrV4)>) -> Self {
        let (mut addresses, mut parts): (Vec<_>, Vec<_>) = datagrams
            .into_iter()
            .map(|(bytes, address)| (raw(address), part(bytes.as_ptr(), bytes.len())))
            .unzip();
        let both = addresses.iter_mut().zip(&mut parts);
        Self {
            headers: both.map(|(address, part)| header(address, part)).collect(),
            _addresses: addresses,
            _parts: parts,
            _bytes: PhantomData,
        }
    }

    /// Sends all of them.
    pub(crate) fn send(&mut self, socket: &UdpSocket) -> io::Result<()> {
        let mut rest = &mut self.headers[..];
        while !rest.is_empty() {
            let count = rest.len().min(Self::BATCH) as u32;
            // SAFETY: the headers point to addresses and parts on the heap that `self` holds, and
            // the parts to bytes that outlive it; the kernel only reads them.
            let result = unsafe { libc::sendmmsg(socket.as_raw_fd(), rest.as_mut_ptr(), count, 0) };
            if result < 0 {
                return Err(io::Error::last_os_error());
            }
            rest = &mut rest[result.cast_unsigned() as usize..];
        }
        Ok(())
    }
}

fn raw(address: SocketAddrV4) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr {
            s_addr: u32::from_ne_bytes(address.ip().octets()),
        },
        sin_zero: [0; 8],
    }
}

pub(crate) fn part(bytes: *const u8, length: usize) -> libc::iovec {
    libc::iovec {
        iov_base: bytes.cast_mut().cast(),
        iov_len: length,
    }
}

fn header(address: &mut libc::sockaddr_in, part: &mut libc::iovec) -> libc::mmsghdr {
    let length = size_of_val(address) as libc::socklen_t;
    libc::mmsghdr {
        msg_hdr: message(ptr::from_mut(address).cast(), length, part),
        msg_len: 0,
    }
}

pub(crate) fn message(
    name: *mut libc::c_void,
    length: libc::socklen_t,
    part: &mut libc::iovec,
) -> libc::msghdr {
    // SAFETY: a header of zeros is a valid one, with nothing in it; not every target has the same
    // private fields.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_name = name;
    message.msg_namelen = length;
    message.msg_iov = part;
    message.msg_iovlen = 1;
    message
}
