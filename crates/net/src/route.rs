//! Which ways an announcement takes, and the sockets at which they begin.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use crate::interface::{Interfaces, LOOPBACK_BROADCAST};
use crate::socket;

/// The way that a datagram takes.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct Route {
    from: IpAddr,
    to: SocketAddr,
}

impl Route {
    /// The one that the system chooses.
    pub(crate) fn to(to: SocketAddr) -> Self {
        let from = match to {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        Self { from, to }
    }

    /// Those to every network: a limited broadcast leaves through the interface whose address it is
    /// sent from, default route or not.
    pub(crate) fn everywhere(port: u16, interfaces: &Interfaces) -> Vec<Self> {
        let mut routes: Vec<_> = interfaces
            .broadcasting()
            .map(|from| Self::network(from, port))
            .collect();
        if routes.is_empty() {
            routes.push(Self::network(Ipv4Addr::LOCALHOST, port));
        }
        routes
    }

    /// The one to the network of the interface that has the address `from`.
    pub(crate) fn network(from: Ipv4Addr, port: u16) -> Self {
        let to = if from.is_loopback() {
            LOOPBACK_BROADCAST
        } else {
            Ipv4Addr::BROADCAST
        };
        Self {
            from: from.into(),
            to: (to, port).into(),
        }
    }

    /// Whether it leads to a network as a whole, as far as can be told from the address.
    pub(crate) fn is_broadcast(&self) -> bool {
        !self.from.is_unspecified()
    }

    pub(crate) fn describe(&self) -> String {
        let Self { from, to } = self;
        if from.is_unspecified() {
            to.to_string()
        } else {
            format!("{to} from {from}")
        }
    }
}

/// The sockets, by the address that they send from.
#[derive(Debug, Default)]
pub(crate) struct Senders(HashMap<IpAddr, UdpSocket>);

impl Senders {
    /// Sends `bytes` along all of `routes`, which are sorted, and returns how many worked. The others
    /// are handed to `fail` with the reason.
    pub(crate) fn send(
        &mut self,
        routes: &[Route],
        bytes: &[u8],
        mut fail: impl FnMut(&Route, io::Error),
    ) -> usize {
        let mut sent = 0;
        for routes in routes.chunk_by(|one, other| one.from == other.from) {
            let to: Vec<_> = routes.iter().map(|route| route.to).collect();
            let mut done = 0;
            while done < routes.len() {
                let (some, result) = self.send_from(routes[0].from, bytes, &to[done..]);
                (sent, done) = (sent + some, done + some);
                if let Err(error) = result {
                    fail(&routes[done], error);
                    done += 1;
                }
            }
        }
        sent
    }

    /// Sends up to the first that fails. Makes the socket if there is none, and drops it when it
    /// fails, so that what follows begins with a new one.
    fn send_from(
        &mut self,
        from: IpAddr,
        bytes: &[u8],
        to: &[SocketAddr],
    ) -> (usize, io::Result<()>) {
        let socket = match self
            .0
            .remove(&from)
            .map_or_else(|| socket::sender(from), Ok)
        {
            Ok(socket) => socket,
            Err(error) => return (0, Err(error)),
        };
        let (mut sent, mut result) = socket::send_to_each(&socket, bytes, to);
        // What somebody answered to an earlier datagram; this one was not sent.
        if result.as_ref().is_err_and(is_answer) {
            let (more, last) = socket::send_to_each(&socket, bytes, &to[sent..]);
            (sent, result) = (sent + more, last);
        }
        match result {
            Ok(()) => drop(self.0.insert(from, socket)),
            // Its buffer is full; that of another one is not.
            Err(error) if sent > 0 && error.kind() == io::ErrorKind::WouldBlock => result = Ok(()),
            Err(_) => {}
        }
        (sent, result)
    }

    /// Begins another round: drops the sockets that no route begins at, and those from which the
    /// system chooses the way.
    ///
    /// What is sent to one host so comes from another port each round. Of several processes that
    /// listen there, the system gives all that comes from one port to the same; should that one be
    /// stopped, the others would hear nothing of this broker any more.
    pub(crate) fn begin_round(&mut self, routes: &[Route]) {
        self.0.retain(|from, _| {
            !from.is_unspecified() && routes.iter().any(|route| route.from == *from)
        });
    }
}

fn is_answer(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broadcast_leaves_from_every_interface() {
        let routes = Route::everywhere(63_000, &Interfaces::example());
        let routes: Vec<_> = routes.iter().map(Route::describe).collect();
        assert_eq!(
            routes,
            [
                "255.255.255.255:63000 from 10.0.1.7",
                "255.255.255.255:63000 from 10.9.0.7"
            ]
        );
    }

    #[test]
    fn a_host_without_a_network_tells_itself() {
        let routes = Route::everywhere(63_000, &Interfaces::default());
        let routes: Vec<_> = routes.iter().map(Route::describe).collect();
        assert_eq!(routes, ["127.255.255.255:63000 from 127.0.0.1"]);
    }

    /// From which port each of three rounds came.
    fn ports(route: impl Fn(SocketAddr) -> Route) -> Vec<u16> {
        let listener = socket::sender(Ipv4Addr::LOCALHOST.into()).unwrap();
        let routes = [route(listener.local_addr().unwrap())];
        let mut senders = Senders::default();
        let mut round = || {
            senders.begin_round(&routes);
            assert_eq!(
                senders.send(&routes, b"up", |_, error| panic!("{error}")),
                1
            );
            listener.recv_from(&mut [0; 8]).unwrap().1.port()
        };
        vec![round(), round(), round()]
    }

    #[test]
    fn each_round_to_a_host_leaves_from_another_port() {
        let ports = ports(Route::to);
        assert!(
            ports.iter().any(|port| *port != ports[0]),
            "always {}",
            ports[0]
        );
    }

    #[test]
    fn a_broadcast_leaves_from_the_same_port_each_time() {
        let from = Ipv4Addr::LOCALHOST.into();
        let ports = ports(|to| Route { from, to });
        assert_eq!(ports, [ports[0]; 3]);
    }
}
