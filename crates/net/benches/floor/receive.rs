//! Receiving: a bare `recvmmsg` loop that throws the bytes away against the hub, which receives,
//! reads and refreshes.
//!
//! Both get bursts of heartbeats that wait in the socket before anybody may begin with them, so
//! that nobody is measured waiting for the sender. That one has a CPU of its own, where the machine
//! has two: what it has just touched costs less on the same one, which should not be left to chance.

use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use imqueue_udp_core::FleetConfig;
use imqueue_udp_net::{Listener, ListenerOptions};
use socket2::SockRef;

use crate::cpu;
use crate::incoming::Incoming;
use crate::sending::{Outgoing, heartbeat};

/// How many heartbeats wait at a time: no more than fit the receive buffer of an untuned system.
const BURST: usize = 500;

/// The same that the hub asks for.
const RECEIVE_BUFFER: usize = 4 * 1024 * 1024;

/// Someone who receives the bursts that are sent to a port.
pub(crate) struct Receiving {
    traffic: Traffic,
    gate: GateKeeper,
    /// Whose hub it is; nobody's where the loop is bare.
    listener: Option<Listener>,
    received: u64,
}

impl Receiving {
    /// The floor: a loop that throws the bytes away, and asks for `addresses` or does not.
    pub(crate) fn bare(addresses: bool) -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("there is a free port");
        let port = socket.local_addr().expect("it is bound").port();
        let buffer = SockRef::from(&socket).set_recv_buffer_size(RECEIVE_BUFFER);
        buffer.expect("it can be set");
        let (gate, keeper) = gate();
        let receive = move || {
            let mut incoming = Incoming::new(&socket, addresses);
            while gate.pass() {
                let mut left = BURST + 1;
                while left > 0 {
                    left -= incoming.receive(&socket).expect("datagrams wait");
                }
            }
        };
        cpu::on_the_last(|| thread::spawn(receive));
        keeper.wait();
        Self {
            traffic: Traffic::new(1_000, port),
            gate: keeper,
            listener: None,
            received: 0,
        }
    }

    /// A hub that knows so many brokers.
    pub(crate) fn hub(brokers: u32) -> Self {
        let (gate, keeper) = gate();
        let options = ListenerOptions {
            port: 0,
            fleet: FleetConfig {
                max_servers: brokers as usize + 1,
                ..FleetConfig::default()
            },
            ..ListenerOptions::default()
        };
        let waker = Arc::new(move || {
            gate.pass();
        });
        let listener = cpu::on_the_last(|| Listener::start(options, waker));
        let listener = listener.expect("a thread can be started");
        keeper.wait();
        let address = listener
            .local_addr()
            .expect("it is bound when it first calls");
        let mut hub = Self {
            traffic: Traffic::new(brokers, address.port()),
            gate: keeper,
            listener: Some(listener),
            received: 0,
        };
        while hub.fleet_size() < u64::from(brokers) + 1 {
            hub.burst();
        }
        hub
    }

    /// Lets one burst be received, and returns the CPU time of a datagram.
    pub(crate) fn burst(&mut self) -> Duration {
        self.traffic.send(BURST);
        self.received += BURST as u64 + 1;
        let mut spent = self.open_gate();
        // The hub also calls to tell of the fleet as a whole.
        while let Some(listener) = &self.listener
            && listener.stats().datagrams < self.received
        {
            spent += self.open_gate();
        }
        spent / (BURST as u32 + 1)
    }

    fn open_gate(&self) -> Duration {
        if let Some(listener) = &self.listener {
            drop(listener.take());
        }
        self.gate.open();
        self.gate.wait()
    }

    fn fleet_size(&self) -> u64 {
        let stats = self.listener.as_ref().map(Listener::stats);
        let fleet = stats.unwrap_or_default().fleet;
        assert_eq!(
            fleet.removed, 0,
            "this machine is too slow: brokers were given up"
        );
        fleet.added
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        // Who waits at the gate may pass; otherwise the listener would wait for its waker.
        self.gate.open = None;
    }
}

/// Where a thread waits until the next burst is there.
struct Gate {
    may_pass: Mutex<Receiver<()>>,
    passed: Mutex<Duration>,
    spent: Sender<Duration>,
}

impl Gate {
    /// Says what the thread has spent since it passed last, and waits. `false` once nobody opens
    /// the gate any more.
    fn pass(&self) -> bool {
        let may_pass = self.may_pass.lock().expect("nothing here panics");
        let mut passed = self.passed.lock().expect("nothing here panics");
        self.spent.send(cpu::mine().saturating_sub(*passed)).ok();
        let open = may_pass.recv().is_ok();
        *passed = cpu::mine();
        open
    }
}

struct GateKeeper {
    open: Option<Sender<()>>,
    spent: Receiver<Duration>,
}

impl GateKeeper {
    fn open(&self) {
        let open = self
            .open
            .as_ref()
            .expect("it is taken away at the end only");
        open.send(()).expect("somebody waits at the gate");
    }

    /// Waits until somebody is at the gate, and returns what they spent on their way.
    fn wait(&self) -> Duration {
        let spent = self.spent.recv_timeout(Duration::from_secs(20));
        spent.expect("a burst is received at once")
    }
}

fn gate() -> (Gate, GateKeeper) {
    let (open, may_pass) = mpsc::channel();
    let (sender, spent) = mpsc::channel();
    let gate = Gate {
        may_pass: Mutex::new(may_pass),
        passed: Mutex::default(),
        spent: sender,
    };
    let open = Some(open);
    (gate, GateKeeper { open, spent })
}

/// The heartbeats of a fleet, in an order of their own but the same in each interval.
struct Traffic {
    said: Vec<Vec<u8>>,
    next: usize,
    markers: u32,
    socket: UdpSocket,
    address: SocketAddrV4,
}

impl Traffic {
    fn new(brokers: u32, port: u16) -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a free port");
        socket.set_broadcast(true).expect("it can be set");
        let mut said: Vec<_> = (0..brokers).map(heartbeat).collect();
        // In the order of their guids, which are as good as random.
        said.sort();
        Self {
            said,
            next: 0,
            markers: 0,
            socket,
            address: SocketAddrV4::new(Ipv4Addr::new(127, 255, 255, 255), port),
        }
    }

    /// Sends so many heartbeats, and the restart of a broker, so that the hub has something to call
    /// for when it is through with them.
    fn send(&mut self, count: usize) {
        self.markers += 1;
        let marker = format!(
            "imq-broker\trestart-{}\tup\t10.255.255.255:1\t60",
            self.markers
        );
        let heartbeats = (0..count).map(|place| {
            let place = (self.next + place) % self.said.len();
            &*self.said[place]
        });
        let datagrams = heartbeats
            .chain([marker.as_bytes()])
            .map(|bytes| (bytes, self.address));
        let sent = Outgoing::new(datagrams).send(&self.socket);
        sent.expect("a burst fits the buffers");
        self.next = (self.next + count) % self.said.len();
    }
}
