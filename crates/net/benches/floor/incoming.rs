//! Many datagrams with one system call, and no second look at what came.

use std::io;
use std::mem::MaybeUninit;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::ptr;

use crate::sending::{message, part};

/// Buffers of datagrams that nobody reads.
pub(crate) struct Incoming {
    bytes: Vec<u8>,
    /// Whether the kernel is asked where they come from, where they were sent to and through which
    /// interface they came, as everyone has to who listens to a fleet.
    addresses: bool,
}

impl Incoming {
    /// As many as the listener takes at a time.
    const BATCH: usize = 32;
    const BUFFER: usize = 2048;

    pub(crate) fn new(socket: &UdpSocket, addresses: bool) -> Self {
        if addresses {
            ask_for_packet_info(socket);
        }
        Self {
            bytes: vec![0; Self::BATCH * Self::BUFFER],
            addresses,
        }
    }

    /// Receives what is there, and returns how many datagrams that was. Waits for the first.
    pub(crate) fn receive(&mut self, socket: &UdpSocket) -> io::Result<usize> {
        let mut buffers = self.bytes.chunks_exact_mut(Self::BUFFER);
        let mut parts: [libc::iovec; Self::BATCH] = std::array::from_fn(|_| {
            let buffer = buffers.next().expect("there are as many buffers as parts");
            part(buffer.as_mut_ptr(), buffer.len())
        });
        let mut headers = parts.each_mut().map(|part| libc::mmsghdr {
            msg_hdr: message(ptr::null_mut(), 0, part),
            msg_len: 0,
        });
        let mut sources = [const { MaybeUninit::<libc::sockaddr_in>::uninit() }; Self::BATCH];
        let mut infos = [const { MaybeUninit::<[u64; 4]>::uninit() }; Self::BATCH];
        if self.addresses {
            for ((header, source), info) in headers.iter_mut().zip(&mut sources).zip(&mut infos) {
                header.msg_hdr.msg_name = source.as_mut_ptr().cast();
                header.msg_hdr.msg_namelen = size_of_val(source) as libc::socklen_t;
                header.msg_hdr.msg_control = info.as_mut_ptr().cast();
                header.msg_hdr.msg_controllen = size_of_val(info) as _;
            }
        }
        // SAFETY: the headers point to parts, sources and infos, and the parts to buffers, that all
        // live until the call is over.
        let result = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                headers.as_mut_ptr(),
                headers.len() as u32,
                libc::MSG_WAITFORONE,
                ptr::null_mut(),
            )
        };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(result.cast_unsigned() as usize)
    }
}

fn ask_for_packet_info(socket: &UdpSocket) {
    let on: libc::c_int = 1;
    // SAFETY: the kernel reads an integer.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_PKTINFO,
            (&raw const on).cast(),
            size_of_val(&on) as libc::socklen_t,
        )
    };
    assert_eq!(result, 0, "Linux has this option");
}
