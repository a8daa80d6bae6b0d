//! What is left behind.

use std::fs;
use std::thread;
use std::time::Instant;

use crate::common::{EVERYONE, Follower, PATIENCE, Port, Speaker, down, process, up};

#[test]
#[cfg(target_os = "linux")]
fn a_thousand_cycles_leave_nothing_behind() {
    let output = process("lifecycle::cycles").output().unwrap();
    let output = String::from_utf8_lossy(&output.stdout);
    assert!(output.contains("1 passed"), "{output}");
}

#[test]
#[ignore = "run by the test above, in a process where nothing else goes on"]
fn cycles() {
    let port = Port::reserve();
    let threads = count("task");
    // Where a crate of the workspace turns signals on in tokio, its first runtime opens two sockets
    // for them, which stay open for good.
    drop(Follower::start(port.options()));
    let descriptors = count("fd");
    for cycle in 0..1000 {
        let mut follower = Follower::start(port.options());
        assert!(count("task") > threads);
        // Now and then with traffic, otherwise dropped before anything has happened.
        if cycle % 50 == 0 {
            let speaker = Speaker::start("a", &[format!("127.255.255.255:{}", port.number)]);
            follower.until("+a");
            speaker.stop();
            follower.expect(&["-a down"]);
            port.send(EVERYONE, up("b", 1));
            follower.expect(&["+b"]);
            port.send(EVERYONE, down("b", 1));
        }
    }
    assert_eq!(count("fd"), descriptors);

    // The system lists a thread for a moment after it was joined.
    let end = Instant::now() + PATIENCE;
    while count("task") > threads {
        assert!(Instant::now() < end, "a thread is left");
        thread::yield_now();
    }
}

/// How many threads (`task`) or descriptors (`fd`) this process has.
fn count(what: &str) -> usize {
    fs::read_dir(format!("/proc/self/{what}")).unwrap().count()
}
