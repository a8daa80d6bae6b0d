//! Errors of the crates, as JavaScript sees them.

use std::fmt::Display;

use napi::{Error, Status};

/// An argument that the facade's checks let through and a crate refused.
pub(crate) fn invalid(cause: impl Display) -> Error {
    Error::new(Status::InvalidArg, cause.to_string())
}

/// What could not be done although the arguments were right.
pub(crate) fn failed(cause: impl Display) -> Error {
    Error::new(Status::GenericFailure, cause.to_string())
}
