//! Several processes on one port.

use std::env;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use imqueue_udp_net::{Listener, ListenerOptions, Notice};

use crate::common::{
    EVERYONE, Follower, ONE, PATIENCE, Port, QUIET, Speaker, Wakes, describe, down, hear, process,
    up,
};

#[test]
fn a_unicast_announcer_is_heard_by_every_process() {
    let port = Port::reserve();
    let mut follower = Follower::listening(port.options());
    let mut processes = [(); 3].map(|()| OtherProcess::start(&port));

    // The system gives each of these datagrams to one of the four.
    let speaker = Speaker::start("a", &[format!("127.0.0.1:{}", port.number)]);
    follower.expect(&["+a"]);
    processes
        .iter_mut()
        .for_each(|process| process.expect("+a"));

    speaker.stop();
    follower.expect(&["-a down"]);
    processes
        .iter_mut()
        .for_each(|process| process.expect("-a down"));
}

#[test]
fn each_unicast_datagram_is_relayed_once() {
    let port = Port::reserve();
    let eavesdropper = port.eavesdrop();
    let mut follower = Follower::listening(port.options());
    for number in 1..=50 {
        let datagram = up(&format!("{number}"), number);
        port.send(ONE, &datagram);
        assert_eq!(hear(&eavesdropper), datagram);
    }
    port.send(ONE, down("50", 50));
    assert_eq!(hear(&eavesdropper), down("50", 50));

    // All copies have come back by now, and none of them was sent on again: what follows is the
    // next thing to be heard.
    port.send(EVERYONE, up("last", 51));
    assert_eq!(hear(&eavesdropper), up("last", 51));
    follower.until("+last");
    let stats = follower.listener.stats();
    assert_eq!(
        (stats.relayed, stats.relay_echoes, stats.relay_errors),
        (51, 51, 0)
    );
    assert_eq!(stats.datagrams, 52);
}

#[test]
fn other_traffic_is_not_relayed() {
    let port = Port::reserve();
    let eavesdropper = port.eavesdrop();
    let mut relaying = Follower::listening(port.options());
    port.send(ONE, "no announcement");
    port.send(EVERYONE, up("a", 1));
    relaying.expect(&["+a"]);
    assert_eq!(hear(&eavesdropper), up("a", 1));
    assert_eq!(relaying.listener.stats().relayed, 0);

    // Waits to show that nothing comes.
    eavesdropper.set_read_timeout(Some(QUIET)).unwrap();
    assert!(eavesdropper.recv(&mut [0; 16]).is_err());
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_is_relayed_until_somebody_would_hear_it() {
    let port = Port::reserve();
    let mut follower = Follower::listening(port.options());
    for number in 1..=50 {
        port.send(ONE, up(&format!("{number}"), number));
        follower.expect(&[&format!("+{number}")]);
    }
    assert_eq!(follower.listener.stats().relayed, 0);

    let eavesdropper = port.eavesdrop();
    let deadline = Instant::now() + PATIENCE;
    while follower.listener.stats().relayed == 0 {
        assert!(Instant::now() < deadline, "somebody listens now");
        port.send(ONE, up("1", 1));
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(hear(&eavesdropper), up("1", 1));
}

#[test]
fn the_relay_can_be_turned_off() {
    let port = Port::reserve();
    let eavesdropper = port.eavesdrop();
    let mut follower = Follower::listening(ListenerOptions {
        relay: false,
        ..port.options()
    });
    port.send(ONE, up("a", 1));
    follower.expect(&["+a"]);
    port.send(EVERYONE, up("b", 2));
    follower.expect(&["+b"]);
    assert_eq!(hear(&eavesdropper), up("b", 2));
    assert_eq!(follower.listener.stats().relayed, 0);
}

/// Another process that listens on a port, and says what it hears.
struct OtherProcess {
    child: Child,
    _stdin: ChildStdin,
    lines: BufReader<ChildStdout>,
}

/// Tells this test binary that it is such a process.
const VARIABLE: &str = "IMQ_NET_TEST_PORT";

impl OtherProcess {
    fn start(port: &Port) -> Self {
        let mut child = process("relay::other_process")
            .env(VARIABLE, port.number.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut other = Self {
            child,
            _stdin: stdin,
            lines,
        };
        other.expect("listening");
        other
    }

    fn expect(&mut self, wanted: &str) {
        let mut line = String::new();
        // What the test harness prints comes before.
        while line.trim() != wanted {
            assert!(
                !line.starts_with(['+', '-', '~']),
                "heard {line:?} instead of {wanted:?}"
            );
            line.clear();
            assert_ne!(
                self.lines.read_line(&mut line).unwrap(),
                0,
                "it should be running"
            );
        }
    }
}

impl Drop for OtherProcess {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
#[ignore = "run by the other tests, as a process of its own"]
fn other_process() {
    let Ok(port) = env::var(VARIABLE) else { return };
    // Ends with the process that started it, however that ends.
    thread::spawn(|| {
        io::stdin().read_to_end(&mut Vec::new()).ok();
        std::process::exit(0);
    });
    let wakes = Wakes::default();
    let options = ListenerOptions {
        port: port.parse().unwrap(),
        ..Default::default()
    };
    let listener = Listener::start(options, wakes.waker()).unwrap();
    let mut stdout = io::stdout();
    loop {
        wakes.wait();
        let batch = listener.take();
        if batch
            .notices
            .iter()
            .any(|notice| matches!(notice, Notice::Listening(_)))
        {
            writeln!(stdout, "\nlistening").unwrap();
        }
        for change in &batch.changes {
            writeln!(stdout, "{}", describe(change)).unwrap();
        }
    }
}
