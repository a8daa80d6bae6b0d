//! A heartbeat of a known broker allocates nothing, whatever the size of the fleet.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::{Duration, Instant};

use imqueue_udp_core::{Datagram, Fleet, FleetConfig, Outcome};

/// The system's allocator, which counts the allocations of each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: everything is passed on to the system's allocator unchanged; counting allocates nothing,
// since the cell is initialised at compile time and needs no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`, and `pointer` is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
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
fn heartbeats_and_ticks_of_a_thousand_brokers_allocate_nothing() {
    let mut now = Instant::now();
    let mut events = Vec::new();
    let mut fleet = Fleet::new(FleetConfig::default(), now);
    // Every second endpoint is a standby of the one before it.
    let ups: Vec<String> = (1..=1_000)
        .map(|port| format!("imq-broker\tid-{}\tup\tredis:{port}\t1", port / 2))
        .collect();
    for up in &ups {
        fleet.handle_datagram(now, up.as_bytes(), SOURCE, &mut events);
    }
    assert_eq!(fleet.len(), 1_000);
    events.clear();

    let counted = allocations(|| {
        for _ in 0..30 {
            now += Duration::from_secs(1);
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
