//! Says what is to be said of the Redis: an announcer for each address that it is told at.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use imqueue_udp_core::{Announcement, AnnouncementError, Transport};
use imqueue_udp_net::{
    Announcer, AnnouncerNotice, AnnouncerOptions, AnnouncerStats, Destination, SendStats,
};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::advertise::Advertised;
use crate::log::{Level, Log};
use crate::redis::Run;

/// Services do not listen to a broker at an address for a second after its last `down` there.
const NOT_LISTENED_TO: Duration = Duration::from_millis(1500);

/// What is the same in all announcements.
#[derive(Clone, Debug)]
pub(crate) struct Manner {
    pub(crate) name: String,
    pub(crate) interval: Duration,
    pub(crate) transport: Transport,
}

/// All announcements of one Redis, or none.
#[derive(Debug)]
pub(crate) struct Announcing {
    manner: Manner,
    destinations: Vec<Destination>,
    addresses: Vec<Advertised>,
    /// Which run of the Redis is to be announced.
    run: Option<Run>,
    /// Which broker is announced, as long as any address is.
    guid: Uuid,
    announcers: HashMap<Advertised, Announcer>,
    /// When this broker has left an address.
    left: HashMap<Advertised, Instant>,
    /// Those that were told to stop and have not done so yet.
    leaving: Vec<Announcer>,
    /// What those have sent that have stopped.
    past: AnnouncerStats,
    /// Some announcer has something to tell.
    news: Arc<Notify>,
    log: Log,
}

impl Announcing {
    /// Of a Redis that is not announced yet.
    pub(crate) fn new(manner: Manner, news: Arc<Notify>, log: Log) -> Self {
        Self {
            manner,
            destinations: Vec::new(),
            addresses: Vec::new(),
            run: None,
            guid: Uuid::nil(),
            announcers: HashMap::new(),
            left: HashMap::new(),
            leaving: Vec::new(),
            past: AnnouncerStats::default(),
            news,
            log,
        }
    }

    /// Announces this run of the Redis, and no other.
    pub(crate) fn start(&mut self, run: Run) {
        if self.run != Some(run) {
            self.stop();
            self.run = Some(run);
        }
        self.adjust();
    }

    /// Takes everything back that was announced.
    pub(crate) fn stop(&mut self) {
        self.run = None;
        self.adjust();
    }

    /// Tells these addresses from now on.
    pub(crate) fn readdress(&mut self, addresses: Vec<Advertised>) {
        self.addresses = addresses;
        self.adjust();
    }

    /// Tells these destinations from now on.
    pub(crate) fn redirect(&mut self, destinations: Vec<Destination>) {
        for announcer in self.announcers.values() {
            announcer.redirect(destinations.clone());
        }
        self.destinations = destinations;
    }

    /// The addresses that are announced at present.
    pub(crate) fn announced(&self) -> Vec<String> {
        let mut hosts: Vec<_> = self.announcers.keys().map(ToString::to_string).collect();
        hosts.sort_unstable();
        hosts.dedup();
        hosts
    }

    /// As which broker they are announced.
    pub(crate) fn guid(&self) -> Uuid {
        self.guid
    }

    /// What has been sent since this program began.
    pub(crate) fn stats(&self) -> AnnouncerStats {
        let mut sum = self.past;
        for announcer in self.announcers.values().chain(&self.leaving) {
            add(&mut sum, announcer.stats());
        }
        sum
    }

    /// Logs what the announcers have to tell, and lets go of those that have stopped.
    pub(crate) fn report(&mut self) {
        for announcer in self.announcers.values() {
            self.log_notices(announcer);
        }
        let leaving = std::mem::take(&mut self.leaving);
        for announcer in leaving {
            if self.log_notices(&announcer) {
                add(&mut self.past, announcer.stats());
            } else {
                self.leaving.push(announcer);
            }
        }
    }

    /// Returns whether the announcer has stopped.
    fn log_notices(&self, announcer: &Announcer) -> bool {
        let notices = announcer.take();
        for notice in notices
            .iter()
            .filter(|notice| notice.level() != Level::Info)
        {
            self.log
                .say(notice.level(), notice.code(), &notice.to_string());
        }
        notices
            .iter()
            .any(|notice| matches!(notice, AnnouncerNotice::Stopped))
    }

    /// Starts and stops announcers, so that there is one for each address while there is a broker.
    /// One that could not be started is tried again when this is called, and so is one at an address
    /// that the broker has just left. Returns whether any was started.
    pub(crate) fn adjust(&mut self) -> bool {
        let wanted = match self.run {
            Some(_) => self.addresses.clone(),
            None => Vec::new(),
        };
        let gone = self
            .announcers
            .extract_if(|address, _| !wanted.contains(address));
        for (address, announcer) in gone {
            announcer.stop();
            self.leaving.push(announcer);
            self.left.insert(address, Instant::now());
        }
        self.left.retain(|_, at| at.elapsed() < NOT_LISTENED_TO);
        let mut started = false;
        for address in wanted {
            if self.announcers.is_empty() {
                // Another one is listened to at once.
                self.guid = Uuid::new_v4();
                self.left.clear();
            }
            if !self.announcers.contains_key(&address) && !self.left.contains_key(&address) {
                started |= self.add(address);
            }
        }
        started
    }

    /// Returns whether it was started.
    fn add(&mut self, address: Advertised) -> bool {
        let Manner {
            name,
            interval,
            transport,
        } = &self.manner;
        let (id, Advertised { host, port, .. }) = (self.guid.to_string(), &address);
        let started = Announcement::new(name, &id, host, *port, *interval, Some(*transport))
            .map_err(|error: AnnouncementError| error.to_string())
            .and_then(|announcement| {
                let options = AnnouncerOptions {
                    announcement,
                    destinations: self.destinations.clone(),
                    interface: address.interface,
                };
                let news = Arc::clone(&self.news);
                Announcer::start(options, Arc::new(move || news.notify_one()))
                    .map_err(|error| error.to_string())
            });
        match started {
            Ok(announcer) => drop(self.announcers.insert(address, announcer)),
            Err(error) => {
                self.log.say(Level::Error, "start", &error);
                return false;
            }
        }
        true
    }
}

fn add(sum: &mut AnnouncerStats, more: AnnouncerStats) {
    let add = |sum: &mut SendStats, more: SendStats| {
        sum.sent += more.sent;
        sum.failed += more.failed;
    };
    add(&mut sum.broadcast, more.broadcast);
    add(&mut sum.unicast, more.unicast);
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, UdpSocket};

    use super::*;

    /// Tells of nothing yet, and whoever is the receiver of it.
    fn announcing() -> (Announcing, UdpSocket) {
        let ear = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let manner = Manner {
            name: "imq-broker".to_owned(),
            interval: Duration::from_secs(60),
            transport: Transport::Plain,
        };
        let mut announcing = Announcing::new(manner, Arc::default(), Log::new());
        announcing.redirect(vec![ear.local_addr().unwrap().into()]);
        (announcing, ear)
    }

    fn address(port: u16) -> Advertised {
        Advertised {
            host: "127.0.0.1".to_owned(),
            port,
            interface: None,
        }
    }

    #[test]
    fn each_time_that_it_is_announced_it_is_another_broker() {
        let (mut announcing, _ear) = announcing();
        let run = Run::default();
        announcing.readdress(vec![address(6379)]);
        announcing.start(run);
        let first = announcing.guid();
        announcing.start(run);
        announcing.readdress(vec![address(6379), address(6380)]);
        announcing.readdress(vec![address(6380)]);
        assert_eq!(announcing.guid(), first);

        announcing.stop();
        announcing.start(run);
        let second = announcing.guid();
        assert_ne!(second, first);

        announcing.readdress(Vec::new());
        announcing.readdress(vec![address(6380)]);
        assert_ne!(announcing.guid(), second);
        assert_eq!(announcing.announced(), ["127.0.0.1:6380"]);
    }

    #[test]
    fn a_broker_that_stays_comes_back_to_an_address_once_it_is_listened_to_there() {
        let (mut announcing, _ear) = announcing();
        announcing.readdress(vec![address(6379), address(6380)]);
        announcing.start(Run::default());
        announcing.readdress(vec![address(6379)]);
        announcing.readdress(vec![address(6379), address(6380)]);
        assert!(!announcing.adjust());
        assert_eq!(announcing.announced(), ["127.0.0.1:6379"]);

        std::thread::sleep(NOT_LISTENED_TO);
        assert!(announcing.adjust());
        assert_eq!(announcing.announced(), ["127.0.0.1:6379", "127.0.0.1:6380"]);
    }
}
