//! Windows, which has no signals that could land in a thread.

pub(super) struct Blocked;

impl Blocked {
    pub(super) fn all() -> Self {
        Self
    }
}
