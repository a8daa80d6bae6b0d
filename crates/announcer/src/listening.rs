//! Whether somebody listens at the addresses that services are told.
//!
//! This program's own connection tells nothing of that: it comes by loopback where the Redis does not
//! listen on the network, and lives on when the Redis is told to listen elsewhere.

use std::cell::LazyCell;
use std::collections::HashSet;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use imqueue_udp_net::interface_addresses;
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::advertise::{Addresses, AdvertiseError, Advertised, source};
use crate::log::{Level, Log};
use crate::redis::{Run, Verdict};

/// How often it is looked.
const PERIOD: Duration = Duration::from_millis(500);

/// How long a connection within this host may take. After that nothing is known.
const TIME_LIMIT: Duration = Duration::from_millis(500);

/// After so long a refusal is believed, if it is repeated. Until then a Redis that has ended is known
/// to have done so, and one that opens its sockets anew has done so.
const SECOND_LOOK: Duration = Duration::from_millis(100);

/// Withholds the addresses at which nobody listens.
#[derive(Debug)]
pub(crate) struct Listening {
    pub(crate) verdicts: watch::Receiver<Verdict>,
    pub(crate) addresses: watch::Receiver<Option<Addresses>>,
    /// Those that may be told. `None`: not looked yet.
    pub(crate) told: watch::Sender<Option<Addresses>>,
    pub(crate) log: Log,
}

/// What there is at an address.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Finding {
    Listening,
    Refused,
    /// It is not for us to judge, or could not be found out.
    Unknown,
}

impl Listening {
    /// Goes on while there are verdicts and addresses.
    pub(crate) async fn follow(mut self) {
        let mut refused = Refused::default();
        let mut former = None;
        loop {
            let run = run(&self.verdicts.borrow_and_update());
            let addresses = self.addresses.borrow_and_update().clone();
            // One that was away may listen elsewhere now.
            if run != former {
                former = run;
                refused = Refused::default();
                self.withhold();
            }
            let (Some(_), Some(Ok(addresses))) = (run, &addresses) else {
                // One that does not answer is not announced, wherever it listens.
                self.publish(addresses.filter(Result::is_err));
                if !self.changed().await {
                    return;
                }
                continue;
            };
            tokio::select! {
                biased;
                goes_on = self.changed() => if goes_on { continue } else { return },
                findings = look_at_all(addresses) => self.judge(&mut refused, findings),
            }
            tokio::select! {
                biased;
                goes_on = self.changed() => if !goes_on { return },
                () = sleep(PERIOD) => {}
            }
        }
    }

    /// Waits for another verdict or other addresses. Returns whether there can be any.
    async fn changed(&mut self) -> bool {
        tokio::select! {
            changed = self.verdicts.changed() => changed.is_ok(),
            changed = self.addresses.changed() => changed.is_ok(),
        }
    }

    fn judge(&self, refused: &mut Refused, findings: Vec<(Advertised, Finding)>) {
        let (told, news) = refused.judge(findings);
        // Where none is left, that is told instead.
        if told.is_ok() {
            for address in news {
                let text = format!("not announced at {address}: nothing listens there");
                self.log.say(Level::Warn, "refused", &text);
            }
        }
        self.publish(Some(told));
    }

    /// What was found of another run is not told of this one.
    fn withhold(&self) {
        self.told.send_if_modified(|former| {
            let was_told = matches!(former, Some(Ok(_)));
            if was_told {
                *former = None;
            }
            was_told
        });
    }

    fn publish(&self, told: Option<Addresses>) {
        self.told.send_if_modified(|former| {
            let changed = *former != told;
            *former = told;
            changed
        });
    }
}

/// The addresses at which nobody listened when that could be found out last.
#[derive(Debug, Default)]
struct Refused(HashSet<Advertised>);

impl Refused {
    /// Returns the addresses that may be told, and which of the others are new among them.
    fn judge(&mut self, findings: Vec<(Advertised, Finding)>) -> (Addresses, Vec<String>) {
        let mut news = Vec::new();
        let mut told = Vec::new();
        let mut withheld = HashSet::new();
        for (address, finding) in findings {
            let known = self.0.contains(&address);
            match finding {
                Finding::Listening => told.push(address),
                Finding::Unknown if !known => told.push(address),
                Finding::Refused | Finding::Unknown => {
                    if !known {
                        news.push(address.to_string());
                    }
                    withheld.insert(address);
                }
            }
        }
        self.0 = withheld;
        if told.is_empty() {
            let mut addresses: Vec<_> = self.0.iter().map(ToString::to_string).collect();
            addresses.sort_unstable();
            addresses.dedup();
            return (
                Err(AdvertiseError::NotListening(addresses.join(", "))),
                news,
            );
        }
        (Ok(told), news)
    }
}

/// The run of a Redis that is to be announced.
fn run(verdict: &Verdict) -> Option<Run> {
    match verdict {
        Verdict::Announce(run) => Some(*run),
        Verdict::Silent(_) => None,
    }
}

/// Looks at all of them at the same time.
async fn look_at_all(addresses: &[Advertised]) -> Vec<(Advertised, Finding)> {
    let mut looks = JoinSet::new();
    for (number, own) in own_addresses(addresses).into_iter().enumerate() {
        looks.spawn(async move {
            match own {
                Some(own) => (number, look_twice(own).await),
                None => (number, Finding::Unknown),
            }
        });
    }
    let mut findings = vec![Finding::Unknown; addresses.len()];
    while let Some(look) = looks.join_next().await {
        if let Ok((number, finding)) = look {
            findings[number] = finding;
        }
    }
    addresses.iter().cloned().zip(findings).collect()
}

/// Those that are of this host. At any other, such as a name or one that is translated on the way, it
/// cannot be judged from here what services find.
fn own_addresses(addresses: &[Advertised]) -> Vec<Option<SocketAddr>> {
    // Where there are many, listing them takes a while.
    let interfaces = LazyCell::new(|| interface_addresses().unwrap_or_default());
    let own = |advertised: &Advertised| {
        let address: IpAddr = advertised.host.parse().ok()?;
        let target = SocketAddr::new(address, advertised.port);
        let is_own = match address {
            IpAddr::V4(v4) => v4.is_loopback() || interfaces.iter().any(|own| own.address == v4),
            // The system sends to an own address from the same one.
            IpAddr::V6(_) => source(target).is_ok_and(|source| source == address),
        };
        is_own.then_some(target)
    };
    addresses.iter().map(own).collect()
}

async fn look_twice(address: SocketAddr) -> Finding {
    match look(address).await {
        Finding::Refused => {
            sleep(SECOND_LOOK).await;
            look(address).await
        }
        finding => finding,
    }
}

async fn look(address: SocketAddr) -> Finding {
    // Most of the time this tells enough, and the Redis does not notice. It would log each connection
    // to a port with TLS that is closed without a word.
    if is_taken(address) {
        return Finding::Listening;
    }
    // Perhaps nobody listens, or what comes here is sent on, as by Docker.
    match timeout(TIME_LIMIT, TcpStream::connect(address)).await {
        Ok(Ok(_)) => Finding::Listening,
        Ok(Err(error)) if error.kind() == ErrorKind::ConnectionRefused => Finding::Refused,
        Ok(Err(_)) | Err(_) => Finding::Unknown,
    }
}

/// Whether the system does not give the address away because somebody listens there. Connections
/// that are left of somebody who did do not count, and nobody is kept from listening meanwhile.
fn is_taken(address: SocketAddr) -> bool {
    let bind = || -> io::Result<()> {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4(),
            SocketAddr::V6(_) => TcpSocket::new_v6(),
        }?;
        socket.set_reuseaddr(true)?;
        socket.bind(address)
    };
    bind().is_err_and(|error| error.kind() == ErrorKind::AddrInUse)
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use tokio::net::TcpListener;
    use tokio::time::Instant;

    use super::*;
    use crate::redis::Reason;

    fn advertised(address: SocketAddr) -> Advertised {
        Advertised {
            host: address.ip().to_string(),
            port: address.port(),
            interface: None,
        }
    }

    async fn listen() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    /// One that refuses connections.
    async fn closed() -> SocketAddr {
        listen().await.1
    }

    struct Scene {
        verdict: watch::Sender<Verdict>,
        addresses: watch::Sender<Option<Addresses>>,
        told: watch::Receiver<Option<Addresses>>,
    }

    impl Scene {
        fn new(addresses: &[SocketAddr]) -> Self {
            let (verdict, verdicts) = watch::channel(Verdict::Announce(Run::default()));
            let list = addresses.iter().copied().map(advertised).collect();
            let (addresses, theirs) = watch::channel(Some(Ok(list)));
            let (told, ours) = watch::channel(None);
            let listening = Listening {
                verdicts,
                addresses: theirs,
                told,
                log: Log::new(),
            };
            tokio::spawn(listening.follow());
            Self {
                verdict,
                addresses,
                told: ours,
            }
        }

        /// Waits until something else is told, and returns what.
        async fn next(&mut self) -> Option<Addresses> {
            let next = timeout(Duration::from_secs(5), self.told.changed());
            next.await.unwrap().unwrap();
            self.told.borrow_and_update().clone()
        }
    }

    fn refusal(address: SocketAddr) -> Option<Addresses> {
        Some(Err(AdvertiseError::NotListening(address.to_string())))
    }

    #[tokio::test]
    async fn an_address_is_told_while_somebody_listens_there() {
        let (listener, address) = listen().await;
        let mut scene = Scene::new(&[address]);
        assert_eq!(scene.next().await, Some(Ok(vec![advertised(address)])));

        drop(listener);
        assert_eq!(scene.next().await, refusal(address));

        let _again = TcpListener::bind(address).await.unwrap();
        assert_eq!(scene.next().await, Some(Ok(vec![advertised(address)])));
    }

    #[tokio::test]
    async fn of_several_those_are_told_at_which_somebody_listens() {
        let ((_listener, address), closed) = (listen().await, closed().await);
        let mut scene = Scene::new(&[closed, address]);
        assert_eq!(scene.next().await, Some(Ok(vec![advertised(address)])));
    }

    #[tokio::test]
    async fn it_is_looked_again_when_the_redis_was_away() {
        let (listener, address) = listen().await;
        let mut scene = Scene::new(&[address]);
        assert!(matches!(scene.next().await, Some(Ok(_))));

        scene.verdict.send_replace(Verdict::Silent(Reason::Closed));
        assert_eq!(scene.next().await, None);
        drop(listener);
        scene
            .verdict
            .send_replace(Verdict::Announce(Run::default()));
        assert_eq!(scene.next().await, refusal(address));
    }

    #[tokio::test]
    async fn that_there_is_no_address_is_passed_on_also_while_the_redis_is_away() {
        let error = || Err(AdvertiseError::NotListed("no".to_owned()));
        let (_listener, address) = listen().await;
        let mut scene = Scene::new(&[address]);
        assert!(matches!(scene.next().await, Some(Ok(_))));
        scene.addresses.send_replace(Some(error()));
        assert_eq!(scene.next().await, Some(error()));
        scene.verdict.send_replace(Verdict::Silent(Reason::Closed));
        sleep(Duration::from_millis(50)).await;
        assert!(!scene.told.has_changed().unwrap());
    }

    #[tokio::test]
    async fn somebody_who_listens_is_not_connected_to() {
        let (listener, address) = listen().await;
        let mut scene = Scene::new(&[address]);
        assert!(matches!(scene.next().await, Some(Ok(_))));
        let accepted = timeout(PERIOD * 3, listener.accept()).await;
        // Other systems may need a connection to know.
        assert!(accepted.is_err() || !cfg!(target_os = "linux"));
    }

    #[tokio::test]
    async fn a_connection_that_is_left_does_not_count() {
        let (listener, address) = listen().await;
        let _near = TcpStream::connect(address).await.unwrap();
        let _far = listener.accept().await.unwrap();
        assert_eq!(look(address).await, Finding::Listening);
        drop(listener);
        assert_eq!(look(address).await, Finding::Refused);
    }

    #[tokio::test]
    async fn a_refusal_is_believed_once_it_is_repeated() {
        let address = closed().await;
        let began = Instant::now();
        let looking = tokio::spawn(look_twice(address));
        sleep(SECOND_LOOK / 2).await;
        let _listener = TcpListener::bind(address).await.unwrap();
        assert_eq!(looking.await.unwrap(), Finding::Listening);
        assert!(began.elapsed() >= SECOND_LOOK);
    }

    #[test]
    fn what_cannot_be_found_out_changes_nothing() {
        let address = advertised(SocketAddr::from((Ipv4Addr::LOCALHOST, 6379)));
        let mut refused = Refused::default();
        let mut judge = |finding| refused.judge(vec![(address.clone(), finding)]);
        assert!(judge(Finding::Unknown).0.is_ok());
        assert_eq!(judge(Finding::Refused).1, ["127.0.0.1:6379"]);
        let (told, news) = judge(Finding::Unknown);
        assert!(told.is_err() && news.is_empty());
        assert!(judge(Finding::Listening).0.is_ok());
        assert!(judge(Finding::Unknown).0.is_ok());
    }

    #[test]
    fn only_own_addresses_are_judged() {
        let own = |host: &str| {
            let address = Advertised {
                host: host.to_owned(),
                port: 6379,
                interface: None,
            };
            own_addresses(&[address])[0].is_some()
        };
        assert!(own("127.0.0.1"));
        // Addresses for documentation.
        assert!(!own("192.0.2.1") && !own("2001:db8::1"));
        assert!(!own("localhost") && !own("redis.local"));
        for address in interface_addresses().unwrap() {
            assert!(own(&address.address.to_string()), "{address:?}");
        }
        if std::net::UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).is_ok() {
            assert!(own("::1"));
        }
    }
}
