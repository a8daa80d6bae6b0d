//! Plays a fleet of brokers, for `npm run bench`: sends heartbeats to a port of this machine, by
//! broadcast, at an even rate.
//!
//! `fleet PORT BROKERS RATE SECONDS`, or `fleet PORT new RATE SECONDS`: then each datagram announces
//! another broker, whose guid is the monotonic clock's time in nanoseconds when it was sent. Prints
//! what it has sent as a line of JSON.

#![expect(
    clippy::print_stdout,
    reason = "its result is for the program that started it"
)]

#[cfg(target_os = "linux")]
#[path = "../benches/floor/sending.rs"]
mod sending;

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("only Linux can send fast enough");
}

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [port, brokers, rate, seconds] = args.as_slice() else {
        return Err("usage: fleet PORT BROKERS|new RATE SECONDS".into());
    };
    let mut fleet = linux::Fleet::new(port.parse()?, brokers)?;
    let seconds = std::time::Duration::from_secs_f64(seconds.parse()?);
    let sent = fleet.announce(rate.parse()?, seconds)?;
    println!(r#"{{"sent":{sent}}}"#);
    Ok(())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::error::Error;
    use std::io;
    use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
    use std::thread;
    use std::time::{Duration, Instant};

    use crate::sending::{Outgoing, heartbeat};

    /// How long it rests when it has sent what is due.
    const REST: Duration = Duration::from_micros(300);

    /// How much is sent before the clock is looked at again.
    const MOST: u64 = 256;

    pub(crate) struct Fleet {
        socket: UdpSocket,
        to: SocketAddrV4,
        /// What its brokers say; nothing if each is a new one.
        said: Vec<Vec<u8>>,
    }

    impl Fleet {
        pub(crate) fn new(port: u16, brokers: &str) -> Result<Self, Box<dyn Error>> {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
            socket.set_broadcast(true)?;
            let count = if brokers == "new" {
                0
            } else {
                brokers.parse()?
            };
            Ok(Self {
                socket,
                to: SocketAddrV4::new(Ipv4Addr::new(127, 255, 255, 255), port),
                said: (0..count).map(heartbeat).collect(),
            })
        }

        /// Sends at an even rate; where the machine is too slow for it, at the highest it reaches.
        pub(crate) fn announce(&mut self, rate: f64, duration: Duration) -> io::Result<u64> {
            let start = Instant::now();
            let mut sent = 0;
            loop {
                let time = start.elapsed().min(duration);
                let due = (time.as_secs_f64() * rate) as u64;
                if sent < due {
                    let count = (due - sent).min(MOST);
                    self.send(sent, count)?;
                    sent += count;
                } else if time == duration {
                    return Ok(sent);
                } else {
                    thread::sleep(REST);
                }
            }
        }

        fn send(&self, first: u64, count: u64) -> io::Result<()> {
            let new: Vec<Vec<u8>>;
            let said = if self.said.is_empty() {
                new = (first..first + count).map(newcomer).collect();
                &new
            } else {
                &self.said
            };
            let places = (first..first + count).map(|number| number as usize % said.len());
            let datagrams = places.map(|place| (&*said[place], self.to));
            Outgoing::new(datagrams).send(&self.socket)
        }
    }

    fn newcomer(number: u64) -> Vec<u8> {
        let [a, b, c] = [16, 8, 0].map(|bits| number >> bits & 0xff);
        let now = now();
        format!("imq-broker\t{now}\tup\t10.{a}.{b}.{c}:6379\t1").into_bytes()
    }

    fn now() -> u128 {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the call writes to `time` only, which is what it expects.
        let result = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
        assert_eq!(result, 0, "the clock cannot be read");
        Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32).as_nanos()
    }
}
