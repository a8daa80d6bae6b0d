//! What is left behind. In a process of its own, since other tests have threads and files, too.

#![cfg(target_os = "linux")]

use std::error::Error;
use std::sync::mpsc;
use std::time::Duration;
use std::{fs, io};

use imqueue_kubernetes::{ApiServer, Pods, PodsEvent, PodsOptions};

const LIVES: usize = 50;

const DEADLINE: Duration = Duration::from_secs(20);

#[test]
fn lives_leave_nothing_behind() -> Result<(), Box<dyn Error>> {
    let mut before = None;
    for _ in 0..LIVES {
        let (send, events) = mpsc::channel();
        // Nobody is there.
        let server = ApiServer {
            url: "https://127.0.0.1:1".into(),
            ca_file: None,
            token_file: None,
        };
        let options = PodsOptions {
            server: Some(server),
            ..PodsOptions::default()
        };
        let pods = Pods::watch(options, move |event| drop(send.send(event)))?;
        let event = events.recv_timeout(DEADLINE)?;
        assert!(matches!(event, PodsEvent::Notice { .. }), "{event:?}");
        drop(pods);
        // Nobody is left who could tell anything.
        assert!(events.recv().is_err());
        // kube turns signals on in tokio, whose first runtime opens two sockets for them, for good.
        let after = possessions()?;
        assert_eq!(*before.get_or_insert(after), after);
    }
    Ok(())
}

/// How many threads and open files there are.
fn possessions() -> io::Result<(usize, usize)> {
    let count = |path| fs::read_dir(path).map(Iterator::count);
    Ok((count("/proc/self/task")?, count("/proc/self/fd")?))
}
