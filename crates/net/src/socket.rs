//! Sockets: those that listen on a port, and those that send.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::task::{Context, Poll};

use socket2::{Domain, Protocol, Type};
use tokio::io::Interest;

use self::receive::Receiver;

pub(crate) use self::receive::Buffers;

// What differs from system to system: how a port is shared and who shares it, who counts dropped
// datagrams, how many datagrams are sent at a time.
#[cfg_attr(target_os = "linux", path = "imp/linux.rs")]
#[cfg_attr(all(unix, not(target_os = "linux")), path = "imp/unix.rs")]
#[cfg_attr(windows, path = "imp/windows.rs")]
mod imp;

// And how many are received at a time, and with what.
#[cfg_attr(target_os = "linux", path = "imp/receive_linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "imp/receive.rs")]
mod receive;

// The way of the other systems works on Linux too, where it is tested.
#[cfg(all(test, target_os = "linux"))]
#[path = "imp/receive.rs"]
mod receive_elsewhere;

/// A non-blocking socket that listens on a port.
#[derive(Debug)]
pub(crate) struct Socket {
    io: tokio::net::UdpSocket,
    receiver: Receiver,
    /// How many datagrams the system had dropped when it was last asked.
    dropped: u32,
}

impl Socket {
    /// Bound to the unspecified address, it hears all that arrives on the port, on every interface.
    /// Bound to the address of one interface, it hears no broadcast on Linux.
    ///
    /// Has to be called within the hub's runtime.
    pub(crate) fn bind(address: Ipv4Addr, port: u16) -> io::Result<Self> {
        let socket = socket2::Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        imp::share_port(&socket)?;
        // The system may allow less, and says nothing then.
        socket.set_recv_buffer_size(RECEIVE_BUFFER).ok();
        socket.set_nonblocking(true)?;
        socket.bind(&SocketAddrV4::new(address, port).into())?;

        let io = tokio::net::UdpSocket::from_std(socket.into())?;
        let receiver = Receiver::new(&io)?;
        Ok(Self {
            io,
            receiver,
            dropped: 0,
        })
    }

    /// The port it is bound to, which the system chose if it was asked for port 0.
    pub(crate) fn port(&self) -> io::Result<u16> {
        self.io.local_addr().map(|address| address.port())
    }

    pub(crate) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.poll_recv_ready(cx)
    }

    /// Replaces what is in `buffers` by what waits on the socket, as much as fits. Says whether
    /// that has read it dry; if it cannot be told, the next call fails with
    /// [`WouldBlock`](io::ErrorKind::WouldBlock).
    pub(crate) fn receive(&self, buffers: &mut Buffers) -> io::Result<bool> {
        // The socket itself is asked, not what the runtime last heard about it: a datagram that
        // came in the meantime counts as well.
        let result = self.receiver.receive(&self.io, buffers);
        let is_dry = match &result {
            Ok(is_dry) => *is_dry,
            Err(error) => error.kind() == io::ErrorKind::WouldBlock,
        };
        if is_dry {
            // Now the runtime has to see that there is none, so that it waits for the next. One that
            // has come since is an event that it hears of when it waits.
            let nothing = || Err::<(), _>(io::ErrorKind::WouldBlock.into());
            self.io.try_io(Interest::READABLE, nothing).ok();
        }
        result
    }

    /// How many datagrams the system has dropped because the receive buffer was full, since this
    /// was last asked. 0 where it does not tell.
    pub(crate) fn drops(&mut self) -> u64 {
        let Some(total) = imp::dropped(&self.io) else {
            return 0;
        };
        // The count wraps.
        let new = total.wrapping_sub(self.dropped);
        self.dropped = total;
        new.into()
    }
}

/// The sockets of the whole host that listen on one port.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Ears {
    /// How many hear everything: such a one can be given unicasts, and keep them.
    pub(crate) everything: usize,
    /// How many others hear the copies of a relay.
    pub(crate) copies: usize,
}

/// Who listens on `port`. `None` where the system does not tell.
pub(crate) fn ears(port: u16) -> Option<Ears> {
    imp::ears(port)
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
pub(crate) const RECEIVE_BUFFER: usize = 4 * 1024 * 1024;

/// Sends `bytes` to each of `addresses`, in order, up to the first that fails: returns how many they
/// were before that one, and why it failed.
pub(crate) fn send_to_each(
    socket: &UdpSocket,
    bytes: &[u8],
    addresses: &[SocketAddr],
) -> (usize, io::Result<()>) {
    let mut sent = 0;
    while sent < addresses.len() {
        match imp::send_to_some(socket, bytes, &addresses[sent..]) {
            Ok(some) => sent += some,
            Err(error) => return (sent, Err(error)),
        }
    }
    (sent, Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside<T>(test: impl FnOnce() -> T) -> T {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_io().build().unwrap();
        let _inside = runtime.enter();
        test()
    }

    fn from_local() -> UdpSocket {
        sender(Ipv4Addr::LOCALHOST.into()).unwrap()
    }

    /// What is received of three datagrams, of which one is empty and one as long as can be.
    fn received<R>(receive: impl Fn(&tokio::net::UdpSocket, &UdpSocket) -> Vec<R>) -> Vec<R> {
        inside(|| {
            let socket = Socket::bind(Ipv4Addr::UNSPECIFIED, 0).unwrap();
            let port = socket.port().unwrap();
            let sender = from_local();
            for datagram in [&b"imq"[..], b"", &[b'a'; 65_507]] {
                sender.send_to(datagram, ("127.0.0.7", port)).unwrap();
            }
            receive(&socket.io, &sender)
        })
    }

    macro_rules! receives_everything {
        ($name:ident, $way:ident) => {
            #[test]
            fn $name() {
                let lengths = received(|io, sender| {
                    let receiver = $way::Receiver::new(io).unwrap();
                    let mut buffers = $way::Buffers::new();
                    let mut lengths = Vec::new();
                    while lengths.len() < 3 {
                        receiver.receive(io, &mut buffers).unwrap();
                        lengths.extend(buffers.datagrams().map(|(arrival, bytes)| {
                            assert_eq!(arrival.source, sender_address(sender));
                            assert_eq!(arrival.destination, Some([127, 0, 0, 7].into()));
                            assert!(arrival.interface.is_some());
                            bytes.len()
                        }));
                    }
                    lengths
                });
                assert_eq!(lengths, [3, 0, 65_507]);
            }
        };
    }

    fn sender_address(sender: &UdpSocket) -> SocketAddrV4 {
        match sender.local_addr().unwrap() {
            SocketAddr::V4(address) => address,
            SocketAddr::V6(_) => unreachable!("it is bound to an IPv4 address"),
        }
    }

    receives_everything!(receives_everything, receive);

    #[cfg(target_os = "linux")]
    receives_everything!(receives_everything_as_elsewhere, receive_elsewhere);

    #[test]
    fn sends_to_each_up_to_the_first_that_fails() {
        let sender = from_local();
        let listeners = [(); 200].map(|()| from_local());
        let mut addresses: Vec<_> = listeners
            .iter()
            .map(|it| it.local_addr().unwrap())
            .collect();
        let (sent, result) = send_to_each(&sender, b"up", &addresses);
        assert_eq!((sent, result.is_ok()), (200, true));

        // No IPv4 socket reaches that one.
        addresses[150] = (std::net::Ipv6Addr::LOCALHOST, 1).into();
        let (sent, result) = send_to_each(&sender, b"up", &addresses);
        assert_eq!((sent, result.is_err()), (150, true));
        let heard =
            |listener: &UdpSocket| std::iter::from_fn(|| listener.recv(&mut [0; 8]).ok()).count();
        assert_eq!((heard(&listeners[149]), heard(&listeners[151])), (2, 1));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_kernel_tells_what_it_dropped() {
        inside(|| {
            let mut socket = Socket::bind(Ipv4Addr::UNSPECIFIED, 0).unwrap();
            assert_eq!(socket.drops(), 0);

            let sender = from_local();
            let datagram = vec![0; 60_000];
            let sent = 2 * RECEIVE_BUFFER / datagram.len();
            for _ in 0..2 * sent {
                sender
                    .send_to(&datagram, (Ipv4Addr::LOCALHOST, socket.port().unwrap()))
                    .unwrap();
            }
            assert!(socket.drops() > 0);
            assert_eq!(socket.drops(), 0);
        });
    }
}
