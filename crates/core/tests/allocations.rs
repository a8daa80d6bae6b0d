//! A heartbeat of a known broker allocates nothing, whatever the size of the fleet, and nothing that
//! strangers say makes a fleet remember more than its limit allows.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::{Duration, Instant};

use imqueue_udp_core::{Datagram, Fleet, FleetConfig, IgnoreReason, Outcome};

/// The system's allocator, which counts the allocations of each thread, and the bytes it holds.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static HELD: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: everything is passed on to the system's allocator unchanged; counting allocates nothing,
// since the cells are initialised at compile time and need no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        HELD.set(HELD.get() + layout.size().cast_signed());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.set(HELD.get() - layout.size().cast_signed());
        // SAFETY: the caller keeps the contract of `dealloc`, and `pointer` is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        HELD.set(HELD.get() + size.cast_signed() - layout.size().cast_signed());
        // SAFETY: the caller keeps the contract of `realloc`, and `pointer` is the system's.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SOURCE: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1);

fn allocations(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

#[test]
fn the_allocator_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
}

#[test]
fn reading_a_datagram_allocates_nothing() {
    let good = "брокер\tid-1\tup\t[fd00::1]:6379\t1\ttls\tmore".as_bytes();
    assert_eq!(allocations(|| assert!(Datagram::read(good).is_ok())), 0);
    let bad = b"imq-broker\tid-1\tup\t10.0.4.12:0\t1";
    assert_eq!(allocations(|| assert!(Datagram::read(bad).is_err())), 0);
}

#[test]
fn heartbeats_and_ticks_of_thousands_of_brokers_allocate_nothing() {
    const BROKERS: usize = 5_000;

    let mut now = Instant::now();
    let mut events = Vec::new();
    let config = FleetConfig {
        max_servers: BROKERS,
        ..FleetConfig::default()
    };
    let mut fleet = Fleet::new(config, now);
    // Every second endpoint is a standby of the one before it.
    let ups: Vec<String> = (1..=BROKERS)
        .map(|port| format!("imq-broker\tid-{}\tup\tredis:{port}\t1", port / 2))
        .collect();
    for up in &ups {
        fleet.handle_datagram(now, up.as_bytes(), SOURCE, &mut events);
    }
    assert_eq!(fleet.len(), BROKERS);
    events.clear();

    let counted = allocations(|| {
        for _ in 0..30 {
            now += Duration::from_secs(1);
            fleet.look_ahead(ups.iter().map(String::as_bytes));
            for up in &ups {
                let outcome = fleet.handle_datagram(now, up.as_bytes(), SOURCE, &mut events);
                assert_eq!(outcome, Outcome::Refreshed);
            }
            fleet.handle_timeout(now, &mut events);
        }
    });
    assert_eq!(counted, 0);
    assert!(events.is_empty());
}

#[test]
fn what_a_former_owner_says_allocates_nothing() {
    let now = Instant::now();
    let mut fleet = Fleet::new(FleetConfig::default(), now);
    let mut hear = |line: &str| {
        let (line, mut events) = (line.replace(' ', "\t"), Vec::new());
        let mut outcome = None;
        let counted = allocations(|| {
            outcome = Some(fleet.handle_datagram(now, line.as_bytes(), SOURCE, &mut events));
        });
        (counted, outcome)
    };
    hear("imq-broker id-1 up redis:6379 1");
    hear("imq-broker id-2 up redis:6379 1");
    let ignored = Some(Outcome::Ignored(IgnoreReason::FormerOwner));
    for kind in ["up", "up", "down", "up"] {
        let line = format!("imq-broker id-1 {kind} redis:6379 2");
        assert_eq!(hear(&line), (0, ignored), "{kind}");
    }
}

#[test]
fn strangers_cannot_make_a_fleet_remember_more_than_its_limit_allows() {
    const LIMIT: usize = 32;
    /// Name, guid and host at their longest (undecodable bytes take three), some of them twice where
    /// a broker has just restarted or left, and a share of the tables: 4 KB, and as much to spare.
    const PER_SERVER: isize = 8_192;

    let mut now = Instant::now();
    let config = FleetConfig {
        max_servers: LIMIT,
        ..FleetConfig::default()
    };
    let mut fleet = Fleet::new(config, now);
    let before = HELD.get();
    let mut random = 1_u64;
    for turn in 0..10_000_u64 {
        // Xorshift: a sequence that is the same in each run.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        // More endpoints than there is room for, half of the time with their usual owner.
        let port = random >> 16 & 0x3f;
        let stranger = random >> 8 & 0xff;
        let id = if random & 0x10_0000_0000 == 0 {
            port
        } else {
            stranger
        };
        let kind = if random.is_multiple_of(3) {
            "down"
        } else {
            "up"
        };
        let mut line = [[0xff; 255].as_slice(), b"\t", &[0xff; 120]].concat();
        line.extend(format!("{id}\t{kind}\t{:h>253}:{}\t{}", "", port + 1, random % 9).bytes());
        // More than a reader reads, and nothing to remember.
        line.extend_from_slice(&[b'\t'; 16_384]);
        // Bursts, which the memory of departures fills in, and lulls, in which brokers expire.
        let pause = if turn / 1_000 % 2 == 0 { 1 } else { 200 };
        now += Duration::from_millis(pause);

        let mut events = Vec::new();
        fleet.handle_datagram(now, &line, SOURCE, &mut events);
        if random.is_multiple_of(16) {
            fleet.handle_timeout(now, &mut events);
        }
        drop((events, line));
        let held = HELD.get() - before;
        assert!(held < PER_SERVER * LIMIT.cast_signed(), "{held} bytes");
    }
    let counters = fleet.counters();
    let left = counters.removed - counters.evicted;
    assert!(counters.updated > 100 && counters.evicted > 100 && left > 100);
    drop(fleet);
    assert_eq!(HELD.get(), before);
}
