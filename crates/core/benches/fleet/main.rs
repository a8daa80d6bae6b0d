//! What the core costs, in CPU time: `cargo bench -p imqueue-udp-core`.

mod brokers;
mod thread_cpu;

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use imqueue_udp_core::{Changes, Datagram, Event, Fleet, Outcome};

use self::brokers::{INTERVAL, SOURCE, Traffic, fleet};
use self::thread_cpu::ThreadCpu;

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(ThreadCpu);
    targets = read, heartbeat, expiry, drain
}
criterion_main!(benches);

/// One of each kind that may arrive.
fn read(criterion: &mut Criterion<ThreadCpu>) {
    let kinds: [(&str, &[u8]); 9] = [
        (
            "up",
            b"imq-broker\t1f0c2d3e-7c4a-4f3e-9b1d-00000000002a\tup\t10.0.0.42:6379\t1",
        ),
        (
            "up tls",
            b"imq-broker\t1f0c2d3e-7c4a-4f3e-9b1d-00000000002a\tup\t10.0.0.42:6379\t1\ttls",
        ),
        (
            "up fraction",
            b"imq-broker\t1f0c2d3e-7c4a-4f3e-9b1d-00000000002a\tup\t10.0.0.42:6379\t0.25",
        ),
        (
            "up host name",
            b"imq-broker\t1f0c2d3e-7c4a-4f3e-9b1d-00000000002a\tup\tredis-0.redis.svc:6379\t1",
        ),
        (
            "up ipv6",
            b"imq-broker\t1f0c2d3e-7c4a-4f3e-9b1d-00000000002a\tup\t[fd00::2a]:6379\t1",
        ),
        (
            "up utf-8",
            "брокер\t1f0c2d3e-7c4a-4f3e-9b1d-00000000002a\tup\t10.0.0.42:6379\t1".as_bytes(),
        ),
        (
            "down",
            b"imq-broker\t1f0c2d3e-7c4a-4f3e-9b1d-00000000002a\tdown\t10.0.0.42:6379",
        ),
        (
            "bad port",
            b"imq-broker\t1f0c2d3e-7c4a-4f3e-9b1d-00000000002a\tup\t10.0.0.42:0\t1",
        ),
        (
            "foreign",
            b"M-SEARCH * HTTP/1.1\r\nHOST: 239.255.255.250:1900\r\nMAN: \"ssdp:discover\"\r\n",
        ),
    ];
    let mut group = criterion.benchmark_group("read");
    for (kind, bytes) in kinds {
        group.bench_function(kind, |bencher| {
            bencher.iter(|| Datagram::read(black_box(bytes)).is_ok());
        });
    }
}

/// A heartbeat of a known broker, with its share of the deadlines, in fleets of different sizes.
fn heartbeat(criterion: &mut Criterion<ThreadCpu>) {
    let mut group = criterion.benchmark_group("heartbeat");
    for size in [10, 1_000, 10_000, 100_000] {
        group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
            let mut day = Day::new(size);
            // Until deadlines are as they always are, and not all the same as at the start.
            day.pass(8 * u64::from(size.max(Traffic::BATCH as u32)));
            bencher.iter_custom(|heartbeats| day.pass(heartbeats));
        });
    }
}

/// A fleet that falls silent as a whole.
fn expiry(criterion: &mut Criterion<ThreadCpu>) {
    let mut group = criterion.benchmark_group("expiry");
    for size in [1_000, 100_000] {
        group.throughput(Throughput::Elements(size.into()));
        group.sample_size(10);
        group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
            let now = Instant::now();
            let setup = || {
                let (fleet, mut events) = fleet(size, now);
                events.clear();
                (fleet, events)
            };
            let expire = |(fleet, events): &mut (Fleet, Vec<Event>)| {
                let mut now = now;
                while let Some(due) = fleet.poll_timeout() {
                    now = now.max(due);
                    fleet.handle_timeout(now, events);
                }
                assert_eq!(events.len(), size as usize);
            };
            bencher.iter_batched_ref(setup, expire, BatchSize::PerIteration);
        });
    }
}

/// A subscriber is told of a fleet that has just appeared.
fn drain(criterion: &mut Criterion<ThreadCpu>) {
    let mut group = criterion.benchmark_group("drain");
    let (_, events) = fleet(1_000, Instant::now());
    group.throughput(Throughput::Elements(1_000));
    group.bench_function(BenchmarkId::from_parameter(1_000), |bencher| {
        bencher.iter(|| {
            let mut changes = Changes::new();
            events.iter().for_each(|event| changes.record(event));
            changes.take()
        });
    });
}

/// A fleet in which nothing happens but heartbeats, on a clock of its own.
struct Day {
    now: Instant,
    step: Duration,
    fleet: Fleet,
    events: Vec<Event>,
    traffic: Traffic,
}

impl Day {
    fn new(size: u32) -> Self {
        let now = Instant::now();
        let (fleet, mut events) = fleet(size, now);
        events.clear();
        Self {
            now,
            // Once all have been heard an interval has passed.
            step: INTERVAL * Traffic::BATCH as u32 / size.max(Traffic::BATCH as u32),
            fleet,
            events,
            traffic: Traffic::new(size),
        }
    }

    /// What `heartbeats` heartbeats take.
    fn pass(&mut self, heartbeats: u64) -> Duration {
        let mut spent = Duration::ZERO;
        let mut left = heartbeats as usize;
        while left > 0 {
            self.now += self.step;
            let batch = self.traffic.receive().take(left);
            let start = ThreadCpu::now();
            self.fleet.look_ahead(batch.clone());
            for datagram in batch {
                let outcome =
                    self.fleet
                        .handle_datagram(self.now, datagram, SOURCE, &mut self.events);
                debug_assert_eq!(outcome, Outcome::Refreshed);
            }
            if self.fleet.poll_timeout().is_some_and(|at| at <= self.now) {
                self.fleet.handle_timeout(self.now, &mut self.events);
            }
            spent += ThreadCpu::now() - start;
            left = left.saturating_sub(Traffic::BATCH);
        }
        assert!(self.events.is_empty(), "nothing but heartbeats happens");
        spent
    }
}
