//! Sends hostile datagrams to a port of this machine, as many a second as it is told, for the tests
//! in `__test__/hostile/`.
//!
//! `flood KIND ADDRESS:PORT RATE SECONDS [GUID@HOST:PORT]...`, where the last are the brokers whose
//! names it abuses. Sends to loopback addresses only. Prints what it has sent as a line of JSON.

#![expect(
    clippy::print_stdout,
    reason = "its result is for the program that started it"
)]

use std::env;
use std::error::Error;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [kind, target, rate, seconds, brokers @ ..] = args.as_slice() else {
        return Err("usage: flood KIND ADDRESS:PORT RATE SECONDS [GUID@HOST:PORT]...".into());
    };
    let target: SocketAddrV4 = target.parse()?;
    if !target.ip().is_loopback() {
        return Err(format!("{target} is not on the loopback interface").into());
    }
    let brokers = brokers
        .iter()
        .map(|broker| broker.split_once('@').ok_or("a broker is GUID@HOST:PORT"))
        .collect::<Result<Vec<_>, _>>()?;
    let mut datagrams = Datagrams::new(kind, brokers)?;
    let duration = Duration::from_secs_f64(seconds.parse()?).min(LONGEST);
    let flood = flood(&mut datagrams, target, rate.parse()?, duration)?;
    println!(
        r#"{{"sent":{},"failed":{},"seconds":{:.3}}}"#,
        flood.sent,
        flood.failed,
        flood.time.as_secs_f64()
    );
    Ok(())
}

/// However it is called, it ends by itself.
const LONGEST: Duration = Duration::from_secs(600);

/// Noise is shorter than this, as most datagrams are.
const NOISE_LENGTH: usize = 1400;

/// How long it rests when it has sent what is due.
const REST: Duration = Duration::from_micros(500);

struct Flood {
    sent: u64,
    failed: u64,
    time: Duration,
}

/// Sends at an even rate; where the machine is too slow for it, at the highest it reaches.
fn flood(
    datagrams: &mut Datagrams<'_>,
    target: SocketAddrV4,
    rate: f64,
    duration: Duration,
) -> Result<Flood, Box<dyn Error>> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    socket.set_broadcast(true)?;
    let start = Instant::now();
    let mut sent = 0;
    let mut failed = 0;
    loop {
        let time = start.elapsed();
        if time >= duration {
            return Ok(Flood { sent, failed, time });
        }
        let due = (time.as_secs_f64() * rate) as u64;
        if sent + failed >= due {
            thread::sleep(REST);
            continue;
        }
        // Not too many before the clock is looked at again.
        for _ in 0..(due - sent - failed).min(1000) {
            match socket.send_to(datagrams.next(), target) {
                Ok(_) => sent += 1,
                Err(_) => failed += 1,
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Kind {
    /// `down` of a broker at an address that is not its own.
    ElsewhereDown,
    /// Nothing that can be read.
    Garbage,
    /// `up` of a broker that does not exist, always another one at another address.
    Invented,
    /// `up` and `down` at one address, with one guid.
    PairsOfOne,
    /// `up` and `down` at one address, each pair with another guid.
    PairsOfMany,
    /// `down` at a broker's address with a guid that does not exist.
    UnknownDown,
    /// `up` at a broker's address with a guid that does not exist, as if the broker had restarted.
    Usurped,
}

/// Makes one datagram after the other.
struct Datagrams<'a> {
    kind: Kind,
    brokers: Vec<(&'a str, &'a str)>,
    count: usize,
    noise: Vec<u8>,
    bytes: Vec<u8>,
}

impl<'a> Datagrams<'a> {
    fn new(kind: &str, brokers: Vec<(&'a str, &'a str)>) -> Result<Self, Box<dyn Error>> {
        let kind = match kind {
            "elsewhere-down" => Kind::ElsewhereDown,
            "garbage" => Kind::Garbage,
            "invented" => Kind::Invented,
            "pairs-of-one" => Kind::PairsOfOne,
            "pairs-of-many" => Kind::PairsOfMany,
            "unknown-down" => Kind::UnknownDown,
            "usurped" => Kind::Usurped,
            other => return Err(format!("unknown kind {other}").into()),
        };
        let abuses = matches!(
            kind,
            Kind::ElsewhereDown | Kind::UnknownDown | Kind::Usurped
        );
        if abuses && brokers.is_empty() {
            return Err("this kind needs brokers".into());
        }
        Ok(Self {
            kind,
            brokers,
            count: 0,
            noise: noise(),
            bytes: Vec::new(),
        })
    }

    fn next(&mut self) -> &[u8] {
        let number = self.count;
        self.count += 1;
        self.bytes.clear();
        match self.kind {
            Kind::Garbage => self.garbage(number),
            Kind::Invented => self.invented(number),
            Kind::PairsOfOne => self.pair(number, 0),
            Kind::PairsOfMany => self.pair(number, number / 2),
            Kind::ElsewhereDown | Kind::UnknownDown | Kind::Usurped => self.forged(number),
        }
        &self.bytes
    }

    fn invented(&mut self, number: usize) {
        let [_, a, b, c] = (number as u32 & 0x00ff_ffff).to_be_bytes();
        self.write(format_args!(
            "imq-broker\tinvented-{number}\tup\t10.{a}.{b}.{c}:6379\t1"
        ));
    }

    fn pair(&mut self, number: usize, id: usize) {
        if number.is_multiple_of(2) {
            self.write(format_args!("imq-broker\tpair-{id}\tup\t10.0.0.1:6379\t1"));
        } else {
            self.write(format_args!("imq-broker\tpair-{id}\tdown\t10.0.0.1:6379"));
        }
    }

    fn forged(&mut self, number: usize) {
        let (id, address) = self.brokers[number % self.brokers.len()];
        match self.kind {
            Kind::ElsewhereDown => {
                self.write(format_args!(
                    "imq-broker\t{id}\tdown\t10.0.0.2:{}",
                    1 + number % 65_535
                ));
            }
            Kind::Usurped => {
                self.write(format_args!(
                    "imq-broker\tforged-{number}\tup\t{address}\t1"
                ));
            }
            _ => self.write(format_args!("imq-broker\tforged-{number}\tdown\t{address}")),
        }
    }

    /// Near misses of an announcement, what other programs send, and noise.
    fn garbage(&mut self, number: usize) {
        match number % 16 {
            0 => {}
            1 => self.bytes.resize(64, b'\t'),
            2 => self.bytes.resize(512, 0),
            3 => self.write(format_args!("imq-broker\tid\tup\t10.0.0.1:6379\t-1")),
            4 => self.write(format_args!("imq-broker\tid\tup\t10.0.0.1:6379\tInfinity")),
            5 => self.write(format_args!("imq-broker\tid\tup\t10.0.0.1:6379\tsoon")),
            6 => self.write(format_args!("imq-broker\tid\tup\t0.0.0.0:6379\t1")),
            7 => self.write(format_args!("imq-broker\tid\tup\t10.0.0.1:65536\t1")),
            8 => self.write(format_args!("imq-broker\tid\tsideways\t10.0.0.1:6379\t1")),
            9 => self.write(format_args!("imq-broker\t\tup\t10.0.0.1:6379\t1")),
            10 => self.write(format_args!("imq-broker\ta\0b\tup\t10.0.0.1:6379\t1")),
            11 => self.write(format_args!("\tid\tup\t10.0.0.1:6379\t1")),
            12 => self.write(format_args!("{:300}\tid\tup\t10.0.0.1:6379\t1", "name")),
            // A query of mDNS for _services._dns-sd._udp.local.
            13 => self.bytes.extend_from_slice(
                b"\0\0\0\0\0\x01\0\0\0\0\0\0\x09_services\x07_dns-sd\x04_udp\x05local\0\0\x0c\0\x01",
            ),
            _ => {
                let [length, offset] = [NOISE_LENGTH, self.noise.len() - NOISE_LENGTH]
                    .map(|limit| number.wrapping_mul(0x9e37_79b1) % limit);
                self.bytes
                    .extend_from_slice(&self.noise[offset..offset + length]);
            }
        }
    }

    fn write(&mut self, text: std::fmt::Arguments<'_>) {
        self.bytes
            .write_fmt(text)
            .expect("writing to memory cannot fail");
    }
}

/// Bytes that look random, and are the same each time (xorshift).
fn noise() -> Vec<u8> {
    let mut state = 1_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    std::iter::repeat_with(next).take(1 << 16).collect()
}
