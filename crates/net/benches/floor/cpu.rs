//! CPU time, which other work on the machine disturbs less than the time on the wall.

use std::fs;
use std::time::Duration;

/// What the calling thread has had.
pub(crate) fn mine() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes to `time` only, which is what it expects.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(result, 0, "the clock cannot be read");
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
}

/// What the hub thread has had, up to when it last fell asleep.
pub(crate) fn of_the_hub() -> Duration {
    let tasks = fs::read_dir("/proc/self/task").expect("Linux lists the threads");
    let hub = tasks
        .filter_map(|task| Some(task.ok()?.path()))
        .find(|task| {
            fs::read_to_string(task.join("comm")).is_ok_and(|name| name.trim() == "imq-udp-hub")
        })
        .expect("the hub thread runs while it has a user");
    let statistics =
        fs::read_to_string(hub.join("schedstat")).expect("the kernel counts what threads use");
    let nanoseconds = statistics
        .split(' ')
        .next()
        .and_then(|text| text.parse().ok());
    Duration::from_nanos(nanoseconds.expect("the first field is the time on a CPU"))
}
