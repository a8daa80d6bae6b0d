//! CPU time, which other work on the machine disturbs less than the time on the wall; and the CPUs.

use std::fs;
use std::sync::LazyLock;
use std::time::Duration;

/// Those that this process may use.
static ALLOWED: LazyLock<libc::cpu_set_t> = LazyLock::new(affinity);

/// Runs `work` on the first CPU. A thread that it starts stays there.
pub(crate) fn on_the_first<T>(work: impl FnOnce() -> T) -> T {
    on(cpus().next(), work)
}

/// The same on the last one.
pub(crate) fn on_the_last<T>(work: impl FnOnce() -> T) -> T {
    on(cpus().last(), work)
}

fn on<T>(cpu: Option<usize>, work: impl FnOnce() -> T) -> T {
    let before = affinity();
    set_affinity(&only(cpu.expect("a process has a CPU")));
    let result = work();
    set_affinity(&before);
    result
}

fn cpus() -> impl Iterator<Item = usize> {
    // SAFETY: it reads a bit of the set, which has room for so many.
    (0..libc::CPU_SETSIZE as usize).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &ALLOWED) })
}

fn only(cpu: usize) -> libc::cpu_set_t {
    let mut set = none();
    // SAFETY: it writes a bit of the set, which has this one.
    unsafe { libc::CPU_SET(cpu, &mut set) };
    set
}

fn affinity() -> libc::cpu_set_t {
    let mut set = none();
    // SAFETY: the kernel writes a set of the size that it is told.
    let result = unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) };
    assert_eq!(result, 0, "a thread may ask where it runs");
    set
}

fn set_affinity(set: &libc::cpu_set_t) {
    // SAFETY: the kernel reads a set of the size that it is told.
    let result = unsafe { libc::sched_setaffinity(0, size_of_val(set), set) };
    assert_eq!(result, 0, "a process may use the CPUs that it has");
}

fn none() -> libc::cpu_set_t {
    // SAFETY: zeros make an empty set.
    unsafe { std::mem::zeroed() }
}

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
