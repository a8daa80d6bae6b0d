//! Why pods are not watched at all.

use std::io;

use thiserror::Error;

/// Why [`Pods::watch`](crate::Pods::watch) did not start. Nothing was started then.
///
/// What may come right by itself is no such error: it is said, and tried again.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// [`PodsOptions::namespace`](crate::PodsOptions::namespace) is no name of a namespace.
    #[error("{0:?} names no namespace: expected up to 63 of a-z, 0-9 and -, no - at either end")]
    Namespace(Box<str>),
    /// [`ApiServer::url`](crate::ApiServer::url) is no URL with scheme and host.
    #[error("{0:?} is no URL of an API server: expected one like https://10.0.0.1:6443")]
    Url(Box<str>),
    /// The system refused the event queue that the thread waits on, usually because the process has
    /// no file descriptors left.
    #[error("the event loop of the Kubernetes thread could not be made: {0}")]
    Runtime(#[source] io::Error),
    /// The system refused another thread.
    #[error("the Kubernetes thread could not be started: {0}")]
    Thread(#[source] io::Error),
}
