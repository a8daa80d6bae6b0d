//! Takes turns, and tells the medians.

use std::env;
use std::io::{self, Write};
use std::time::Duration;

use crate::announce::Pods;
use crate::cpu;
use crate::receive::Receiving;
use crate::wakes;

const FLEETS: [u32; 3] = [10, 1_000, 100_000];

pub(crate) fn run() -> io::Result<()> {
    let has = |flag: &str| env::args().any(|argument| argument == flag);
    let quick = has("--quick");
    let results = if has("--wakes") {
        let took = wakes::measure(if quick { 200 } else { 1000 })?;
        vec![("two wake-ups".to_owned(), median(took))]
    } else {
        let mut results = cpu::on_the_first(|| receiving(if quick { 50 } else { 800 }));
        results.extend(announcing(&pods()?, if quick { 2 } else { 12 }));
        results
    };

    let mut out = io::stdout().lock();
    if has("--json") {
        let fields: Vec<_> = results
            .iter()
            .map(|(name, median)| format!("\"{name}\":{}", median.as_nanos()))
            .collect();
        return writeln!(out, "{{{}}}", fields.join(","));
    }
    writeln!(out, "what one datagram takes")?;
    for (name, median) in results {
        writeln!(out, "{name:<28}{:>8} ns", median.as_nanos())?;
    }
    Ok(())
}

/// The fleets are looked at several times, one after the other: a process has one hub only.
fn receiving(turns: usize) -> Vec<(String, Duration)> {
    const PASSES: usize = 8;

    let mut floors = [
        ("recvmmsg", Receiving::bare(false), Vec::new()),
        ("recvmmsg with addresses", Receiving::bare(true), Vec::new()),
    ];
    let mut fleets = FLEETS.map(|brokers| (brokers, Vec::new()));
    for _ in 0..PASSES {
        for (brokers, spent) in &mut fleets {
            let mut hub = Receiving::hub(*brokers);
            for _ in 0..turns / PASSES {
                for (_, floor, spent) in &mut floors {
                    spent.push(floor.burst());
                }
                spent.push(hub.burst());
            }
        }
    }
    let floors = floors.map(|(name, _, spent)| (name.to_owned(), median(spent)));
    let hubs = fleets.map(|(brokers, spent)| (format!("hub, {brokers} brokers"), median(spent)));
    floors.into_iter().chain(hubs).collect()
}

/// Where the pods are: `--pods ADDRESS` is the first of them, else they are on the loopback
/// interface, where each datagram also costs its sender what its arrival costs.
fn pods() -> io::Result<Pods> {
    let first = env::args()
        .skip_while(|argument| argument != "--pods")
        .nth(1);
    let first = first.as_deref().unwrap_or("127.1.0.0").parse();
    Ok(Pods::new(first.map_err(io::Error::other)?))
}

fn announcing(pods: &Pods, turns: usize) -> Vec<(String, Duration)> {
    /// What one datagram takes, on the average of so many rounds.
    type Side = fn(&Pods, u32) -> Duration;
    const ROUNDS: u32 = 5;

    let sides: [(&str, Side); 3] = [
        ("sendmmsg", Pods::bare),
        ("announcer", Pods::announcer),
        ("a socket for each", Pods::socket_for_each),
    ];
    let mut spent = vec![Vec::new(); sides.len()];
    for _ in 0..turns {
        for ((_, side), spent) in sides.iter().zip(&mut spent) {
            spent.push(side(pods, ROUNDS));
        }
    }
    let names = sides.iter().map(|(name, _)| (*name).to_owned());
    names.zip(spent.into_iter().map(median)).collect()
}

fn median(mut values: Vec<Duration>) -> Duration {
    values.sort();
    values[values.len() / 2]
}
