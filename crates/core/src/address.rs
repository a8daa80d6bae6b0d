//! Where a broker is: the key of every map by endpoint.

use std::sync::Arc;

use hashbrown::Equivalent;

use crate::server::Server;

/// An endpoint's host and port. A clone shares the host's text.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct Address {
    host: Arc<str>,
    port: u16,
}

impl Address {
    pub(crate) fn of(server: &Server) -> Self {
        Self {
            host: Arc::clone(&server.host),
            port: server.port,
        }
    }
}

/// The same as it stands in a datagram, so that looking one up allocates nothing.
///
/// Hashes as [`Address`] does: the derived fields are the same ones in the same order.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct AddressRef<'a> {
    pub(crate) host: &'a str,
    pub(crate) port: u16,
}

impl Equivalent<Address> for AddressRef<'_> {
    fn equivalent(&self, key: &Address) -> bool {
        self.port == key.port && *self.host == *key.host
    }
}
