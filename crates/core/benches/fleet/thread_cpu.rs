//! Measures in CPU time of the thread, which other work on the machine disturbs less than the time
//! on the wall.

use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};

/// The CPU time that the calling thread has had.
#[derive(Debug)]
pub(crate) struct ThreadCpu;

impl ThreadCpu {
    pub(crate) fn now() -> Duration {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the call writes to `time` only, which is what it expects.
        let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
        assert_eq!(result, 0, "the clock cannot be read");
        Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
    }
}

impl Measurement for ThreadCpu {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        Self::now()
    }

    fn end(&self, start: Duration) -> Duration {
        Self::now() - start
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        WallTime.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}
