//! Which ways an announcement takes, and the sockets at which they begin.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use crate::interface::{Interfaces, LOOPBACK_BROADCAST};
use crate::socket;

/// The way that a datagram takes.
#[derive(Debug, Eq, Ord, PartialEq, PartialOrd)]
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
        let to = SocketAddr::from((Ipv4Addr::BROADCAST, port));
        let mut routes: Vec<_> = interfaces
            .broadcasting()
            .map(|from| Self {
                from: from.into(),
                to,
            })
            .collect();
        if routes.is_empty() {
            let to = (LOOPBACK_BROADCAST, port).into();
            routes.push(Self {
                from: Ipv4Addr::LOCALHOST.into(),
                to,
            });
        }
        routes
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
    /// Makes the socket if there is none, and drops it when it fails, so that the next round begins
    /// with a new one.
    pub(crate) fn send(&mut self, route: &Route, bytes: &[u8]) -> io::Result<()> {
        let Route { from, to } = *route;
        let socket = match self.0.remove(&from) {
            Some(socket) => socket,
            None => socket::sender(from)?,
        };
        let sent = match socket.send_to(bytes, to) {
            // What somebody answered to an earlier datagram; this one was not sent.
            Err(error) if is_answer(&error) => socket.send_to(bytes, to),
            result => result,
        };
        sent?;
        self.0.insert(from, socket);
        Ok(())
    }

    /// Drops the sockets that no route begins at.
    pub(crate) fn keep(&mut self, routes: &BTreeSet<Route>) {
        self.0
            .retain(|from, _| routes.iter().any(|route| route.from == *from));
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
}
