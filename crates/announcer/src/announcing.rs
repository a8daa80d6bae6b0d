//! Says what is to be said of the Redis: an announcer for each address that it is told at.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use imqueue_udp_core::{Announcement, AnnouncementError, Transport};
use imqueue_udp_net::{
    Announcer, AnnouncerNotice, AnnouncerOptions, AnnouncerStats, Destination, SendStats,
};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::advertise::Advertised;
use crate::log::{Level, Log};

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
    /// Which broker is announced at present.
    guid: Option<Uuid>,
    announcers: HashMap<Advertised, Announcer>,
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
            guid: None,
            announcers: HashMap::new(),
            leaving: Vec::new(),
            past: AnnouncerStats::default(),
            news,
            log,
        }
    }

    /// Announces as another broker than before.
    pub(crate) fn start(&mut self, guid: Uuid) {
        self.stop();
        self.guid = Some(guid);
        self.adjust();
    }

    /// Takes everything back that was announced.
    pub(crate) fn stop(&mut self) {
        self.guid = None;
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
        let hosts = self.announcers.keys().map(|Advertised { host, port, .. }| {
            if host.contains(':') {
                format!("[{host}]:{port}")
            } else {
                format!("{host}:{port}")
            }
        });
        let mut hosts: Vec<_> = hosts.collect();
        hosts.sort_unstable();
        hosts.dedup();
        hosts
    }

    pub(crate) fn guid(&self) -> Option<Uuid> {
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
    /// One that could not be started is tried again when this is called.
    pub(crate) fn adjust(&mut self) {
        let wanted: &[Advertised] = match self.guid {
            Some(_) => &self.addresses,
            None => &[],
        };
        let gone = self
            .announcers
            .extract_if(|address, _| !wanted.contains(address));
        for (_, announcer) in gone {
            announcer.stop();
            self.leaving.push(announcer);
        }
        if let Some(guid) = self.guid {
            for address in self.addresses.clone() {
                if !self.announcers.contains_key(&address) {
                    self.add(guid, address);
                }
            }
        }
    }

    fn add(&mut self, guid: Uuid, address: Advertised) {
        let Manner {
            name,
            interval,
            transport,
        } = &self.manner;
        let (id, Advertised { host, port, .. }) = (guid.to_string(), &address);
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
            Err(error) => self.log.say(Level::Error, "start", &error),
        }
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
