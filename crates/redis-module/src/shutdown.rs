//! Whether Redis' main thread is at a SHUTDOWN: upon that command Redis writes its append-only file
//! to the disk, and lets modules know only then. One that it refuses, it is done with at once.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// Which one the main thread is at, by number; 0 for none.
static CURRENT: AtomicU64 = AtomicU64::new(0);

/// How many there were. Written by the main thread only.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// Which SHUTDOWN lasts: one that the main thread is at for longer. To refuse one takes it some
/// microseconds; the rest is for what it does then before it sleeps, and for a machine that is
/// overloaded.
const REFUSED_WITHIN: Duration = Duration::from_millis(10);

/// The main thread begins with one.
pub(crate) fn begins() {
    let number = COUNT.load(Relaxed) + 1;
    COUNT.store(number, Relaxed);
    CURRENT.store(number, Relaxed);
}

/// The main thread has come to something else. Returns whether it was at one.
pub(crate) fn ends() -> bool {
    // Every command comes by here, and next to none finds anything: to look is cheaper.
    let was_at_one = CURRENT.load(Relaxed) != 0;
    if was_at_one {
        CURRENT.store(0, Relaxed);
    }
    was_at_one
}

/// For another thread: whether the main thread is at one, and still will be in a moment, for which
/// this waits.
pub(crate) fn lasts() -> bool {
    lasts_while(|| thread::sleep(REFUSED_WITHIN))
}

fn lasts_while(wait: impl FnOnce()) -> bool {
    let number = CURRENT.load(Relaxed);
    if number == 0 {
        return false;
    }
    wait();
    CURRENT.load(Relaxed) == number
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, since the main thread is one.
    #[test]
    fn one_that_is_refused_does_not_last() {
        assert!(!ends());
        assert!(!lasts());

        begins();
        assert!(lasts());
        assert!(!lasts_while(|| assert!(ends())));
        assert!(!ends());
        assert!(!lasts());

        // Nor do two, one after the other.
        begins();
        assert!(!lasts_while(begins));
        assert!(ends());
    }
}
