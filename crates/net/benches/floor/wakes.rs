//! What the system takes to wake two threads one after the other: the one that a datagram comes for,
//! and the one that it tells of it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::FromRawFd;
use std::thread;
use std::time::{Duration, Instant};

/// How far apart the datagrams are, as in `bench/metrics/latency.js`: time enough to fall asleep.
const PAUSE: Duration = Duration::from_micros(2500);

/// How long it took each of so many datagrams from before it was sent until the second thread ran.
pub(crate) fn measure(datagrams: usize) -> io::Result<Vec<Duration>> {
    let receiver = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    sender.connect(receiver.local_addr()?)?;
    let mut told = event()?;
    let mut tell = told.try_clone()?;

    let first = thread::spawn(move || -> io::Result<()> {
        for _ in 0..datagrams {
            receiver.recv(&mut [0; 64])?;
            tell.write_all(&1u64.to_ne_bytes())?;
        }
        Ok(())
    });
    let second = thread::spawn(move || -> io::Result<Vec<Instant>> {
        (0..datagrams)
            .map(|_| told.read_exact(&mut [0; 8]).map(|()| Instant::now()))
            .collect()
    });
    let mut sent = Vec::with_capacity(datagrams);
    for _ in 0..datagrams {
        thread::sleep(PAUSE);
        sent.push(Instant::now());
        sender.send(b"up")?;
    }
    first.join().expect("it does not panic")?;
    let seen = second.join().expect("it does not panic")?;
    Ok(seen
        .iter()
        .zip(sent)
        .map(|(&seen, sent)| seen - sent)
        .collect())
}

/// What an event loop is woken by. As many can be read as were written, also if the reader is late.
fn event() -> io::Result<File> {
    // SAFETY: it only makes a descriptor, which nobody else owns.
    let descriptor = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_SEMAPHORE) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: as above.
    Ok(unsafe { File::from_raw_fd(descriptor) })
}
