//! Follows the addresses of Kubernetes pods, for announcements that go to each of them.
//!
//! [`Pods::watch`] lists the pods of a namespace, watches them, and tells whenever their addresses
//! have changed: a new pod is known as soon as the API tells its address, whatever the interval of
//! announcements is, and the API is asked no more often for that. Where only `list` is granted, it
//! lists every few seconds instead.
//!
//! ```no_run
//! use imqueue_kubernetes::{Pods, PodsEvent, PodsOptions};
//!
//! let pods = Pods::watch(PodsOptions::default(), |event| match event {
//!     PodsEvent::Changed(addresses) => println!("announce to {addresses:?}"),
//!     PodsEvent::Notice { level, message } => println!("{level:?}: {message}"),
//! })?;
//! println!("{:?}", pods.status());
//! # Ok::<(), imqueue_kubernetes::StartError>(())
//! ```
//!
//! # Which pods
//!
//! Those that have an address, have not finished and are not terminating. A pod has its address
//! before its phase says `Running`, which the kubelet tells a moment later: it counts from its
//! address on, since its service may be listening by then. Each address is told once, also when
//! pods on the host's network share it, and a dual-stack pod has two.
//!
//! # When something is wrong
//!
//! Services drop a broker that they have not heard for some seconds. So whatever the API does, or
//! fails to do, the last known addresses stay, a list without any never replaces one, and the next
//! attempt comes after at most five seconds, or when the API asks for it. Only
//! [`PodsOptions::max_age`] gives them up. What is wrong is said, once per cause and minute, and so
//! is that it works again.
//!
//! # Inside
//!
//! `follow.rs` asks, through the requests of `api.rs`; `state.rs` decides what to ask next,
//! `roster.rs` which addresses are told, `report.rs` what is said. All but `api.rs` run in virtual time in their tests. Everything happens
//! on one thread, which ends when [`Pods`] is dropped; no signal lands in it.

mod account;
mod api;
mod connection;
mod error;
mod failure;
mod follow;
mod lines;
mod options;
mod pod;
mod pods;
mod report;
mod roster;
mod state;

pub use error::StartError;
pub use options::{ApiServer, PodsOptions};
pub use pods::{Mode, Pods, PodsEvent, PodsStatus};

/// How much a notice matters.
pub use imqueue_udp_net::Level;
