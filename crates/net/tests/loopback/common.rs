//! What the tests share.

use std::env;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use imqueue_udp_core::{Announcement, Change};
use imqueue_udp_net::{
    Announcer, AnnouncerNotice, AnnouncerOptions, Listener, ListenerOptions, Notice, Waker,
};
use socket2::{Domain, Protocol, SockRef, Socket, Type};

/// How long something may take that has to happen, on a machine that is busy with something else.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// How long to wait for what must not happen.
pub(crate) const QUIET: Duration = Duration::from_millis(300);

pub(crate) const EVERYONE: Ipv4Addr = Ipv4Addr::new(127, 255, 255, 255);
pub(crate) const ONE: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// A port that no other test gets as long as this lives.
pub(crate) struct Port {
    pub(crate) number: u16,
    _reserved: UdpSocket,
}

impl Port {
    pub(crate) fn reserve() -> Self {
        // Bound without reuse, so that the port is nobody else's; shared only then, and on an
        // address that nothing is sent to.
        let reserved = UdpSocket::bind("127.0.0.99:0").unwrap();
        share(&SockRef::from(&reserved));
        Self {
            number: reserved.local_addr().unwrap().port(),
            _reserved: reserved,
        }
    }

    pub(crate) fn options(&self) -> ListenerOptions {
        ListenerOptions {
            port: self.number,
            ..Default::default()
        }
    }

    /// A plain socket beside the listeners' that hears broadcasts only.
    pub(crate) fn eavesdrop(&self) -> UdpSocket {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP)).unwrap();
        share(&SockRef::from(&socket));
        socket
            .bind(&SocketAddrV4::new(EVERYONE, self.number).into())
            .unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.into()
    }

    /// Sends from a socket of its own.
    pub(crate) fn send(&self, to: Ipv4Addr, datagram: impl AsRef<[u8]>) {
        sender()
            .send_to(datagram.as_ref(), (to, self.number))
            .unwrap();
    }
}

fn share(socket: &SockRef<'_>) {
    socket.set_reuse_address(true).unwrap();
    socket.set_reuse_port(true).unwrap();
}

pub(crate) fn sender() -> UdpSocket {
    let socket = UdpSocket::bind((ONE, 0)).unwrap();
    socket.set_broadcast(true).unwrap();
    socket
}

pub(crate) fn up(id: &str, port: u16) -> String {
    format!("imq\t{id}\tup\t10.0.0.1:{port}\t60")
}

pub(crate) fn down(id: &str, port: u16) -> String {
    format!("imq\t{id}\tdown\t10.0.0.1:{port}")
}

/// What is received next, as text.
pub(crate) fn hear(socket: &UdpSocket) -> String {
    let mut buffer = [0; 2048];
    let length = socket.recv(&mut buffer).unwrap();
    String::from_utf8_lossy(&buffer[..length]).into_owned()
}

/// A listener, and what it was told, as text.
pub(crate) struct Follower {
    pub(crate) listener: Listener,
    pub(crate) wakes: Wakes,
    news: Vec<String>,
}

impl Follower {
    pub(crate) fn start(options: ListenerOptions) -> Self {
        let wakes = Wakes::default();
        let listener = Listener::start(options, wakes.waker()).unwrap();
        Self {
            listener,
            wakes,
            news: Vec::new(),
        }
    }

    /// One whose port is bound.
    pub(crate) fn listening(options: ListenerOptions) -> Self {
        let mut follower = Self::start(options);
        follower.notice(|notice| matches!(notice, Notice::Listening(_)));
        follower
    }

    /// Waits until the next changes are exactly these: `+id`, `-id reason`, `~id previous`,
    /// `=id`.
    pub(crate) fn expect(&mut self, changes: &[&str]) {
        while self.news.len() < changes.len() {
            self.wakes.wait();
            let batch = self.listener.take();
            self.news.extend(batch.changes.iter().map(describe));
        }
        assert_eq!(self.news, changes);
        self.news.clear();
    }

    /// What it was told already, or can take without waiting.
    pub(crate) fn expect_known(&mut self, changes: &[&str]) {
        let batch = self.listener.take();
        self.news.extend(batch.changes.iter().map(describe));
        assert_eq!(self.news, changes);
        self.news.clear();
    }

    /// Waits for a notice.
    pub(crate) fn notice(&mut self, wanted: impl Fn(&Notice) -> bool) -> Notice {
        loop {
            self.wakes.wait();
            let batch = self.listener.take();
            self.news.extend(batch.changes.iter().map(describe));
            if let Some(notice) = batch.notices.into_iter().find(&wanted) {
                return notice;
            }
        }
    }

    /// Waits until this change is among the news, and forgets the rest. What was subscribed before
    /// this has then been told everything up to there.
    pub(crate) fn until(&mut self, change: &str) {
        while !self.news.iter().any(|news| news == change) {
            self.wakes.wait();
            let batch = self.listener.take();
            self.news.extend(batch.changes.iter().map(describe));
        }
        self.news.clear();
    }
}

pub(crate) fn describe(change: &Change) -> String {
    match change {
        Change::Added(server) => format!("+{}", server.id),
        Change::Removed(server, reason) => format!("-{} {}", server.id, reason.as_str()),
        Change::Renewed(server) => format!("={}", server.id),
        Change::Updated { server, previous } => format!("~{} {}", server.id, previous.id),
    }
}

/// An announcer, and what it was told.
pub(crate) struct Speaker {
    pub(crate) announcer: Announcer,
    pub(crate) wakes: Wakes,
}

impl Speaker {
    /// Says every 20 ms that a broker is there.
    pub(crate) fn start(id: &str, destinations: &[String]) -> Self {
        let interval = Duration::from_millis(20);
        let announcement = Announcement::new("imq", id, "10.0.0.1", 6379, interval, None).unwrap();
        let destinations = destinations
            .iter()
            .map(|text| text.parse().unwrap())
            .collect();
        Self::with(AnnouncerOptions {
            announcement,
            destinations,
            interface: None,
        })
    }

    pub(crate) fn with(options: AnnouncerOptions) -> Self {
        let wakes = Wakes::default();
        let announcer = Announcer::start(options, wakes.waker()).unwrap();
        Self { announcer, wakes }
    }

    /// Waits for a notice with that code.
    pub(crate) fn notice(&self, code: &str) -> AnnouncerNotice {
        loop {
            self.wakes.wait();
            let mut notices = self.announcer.take().into_iter();
            if let Some(notice) = notices.find(|notice| notice.code() == code) {
                return notice;
            }
        }
    }

    pub(crate) fn stop(self) {
        self.announcer.stop();
        self.notice("stopped");
    }
}

/// Holds the hub thread up, by a waker that does what none may do.
pub(crate) struct Stall {
    release: Sender<()>,
    _listener: Listener,
}

impl Stall {
    /// When this returns, the thread is held up.
    pub(crate) fn begin() -> Self {
        let (release, released) = mpsc::channel::<()>();
        let (entered, enter) = mpsc::channel();
        let released = Mutex::new(released);
        let waker = move || {
            entered.send(()).ok();
            // Later calls pass: the other end is gone then.
            released.lock().unwrap().recv().ok();
        };
        let port = Port::reserve();
        let listener = Listener::start(port.options(), Arc::new(waker)).unwrap();
        enter
            .recv_timeout(PATIENCE)
            .expect("the listener should be told that it listens");
        Self {
            release,
            _listener: listener,
        }
    }

    pub(crate) fn end(self) {
        drop(self.release);
    }
}

/// Counts calls of a waker, and lets a test wait for the next.
pub(crate) struct Wakes {
    count: Arc<AtomicUsize>,
    waker: Waker,
    calls: Receiver<()>,
}

impl Default for Wakes {
    fn default() -> Self {
        let (send, calls) = mpsc::channel();
        let count = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&count);
        let waker: Waker = Arc::new(move || {
            counter.fetch_add(1, Ordering::SeqCst);
            send.send(()).ok();
        });
        Self {
            count,
            waker,
            calls,
        }
    }
}

impl Wakes {
    pub(crate) fn waker(&self) -> Waker {
        Arc::clone(&self.waker)
    }

    pub(crate) fn wait(&self) {
        self.calls
            .recv_timeout(PATIENCE)
            .expect("the waker should have been called");
    }

    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }
}

/// A process that runs one test of this binary, an ignored one, and nothing else.
pub(crate) fn process(test: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture"]);
    command
}
