//! What services are told of this Redis: one announcer for each endpoint, and the last word.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use imqueue_udp_core::Announcement;
use imqueue_udp_net::{Announcer, AnnouncerNotice, AnnouncerOptions, Destination, Level};

use crate::endpoints::Endpoint;
use crate::guid::guid;
use crate::settings::Settings;

/// Whom announcements are for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Audience {
    /// Everybody on the network that the announced address belongs to, by broadcast.
    Networks,
    /// The hosts that [`Voice::redirect`](crate::Voice::redirect) names.
    Hosts,
}

/// A line for Redis' log.
pub(crate) type Line = (Level, String);

/// All that is announced. Shared by Redis' main thread and those that may not wait for it.
#[derive(Debug)]
pub(crate) struct Presence {
    name: String,
    interval: Duration,
    port: u16,
    audience: Audience,
    bell: Arc<Bell>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// What tells this Redis from all others. New whenever it comes back, so that what listeners
    /// remember of its goodbye does not keep it away.
    id: String,
    announced: Vec<Announced>,
    hosts: Vec<IpAddr>,
    /// The goodbye was said, and is not to be taken back.
    silent: bool,
    lines: Vec<Line>,
}

#[derive(Debug)]
struct Announced {
    endpoint: Endpoint,
    announcer: Announcer,
    /// The goodbye is on its way.
    gone: bool,
}

/// How long the goodbye is repeated, in case that it gets lost, where it is said to many hosts each by
/// itself: while it lasts, Redis waits. To so many that one round takes longer it is said once.
const REPEATED_FOR: Duration = Duration::from_millis(50);

/// So many hosts and fewer are told each time: that takes some milliseconds. Should it take longer,
/// the machine is overloaded, and nothing is won by saying less.
const FEW_HOSTS: usize = 1000;

/// How long the main thread waits for the goodbye to be on its way. It takes less than a
/// millisecond, unless the machine is overloaded.
const PATIENCE: Duration = Duration::from_millis(40);

/// And for each host that it is said to by itself, which takes about a tenth of this. If the process
/// were to end before all have heard, the others would miss the broker only when they time out.
const PATIENCE_PER_HOST: Duration = Duration::from_micros(75);

/// However many hosts there are.
const MAX_PATIENCE: Duration = Duration::from_secs(1);

impl Presence {
    pub(crate) fn new(settings: &Settings, audience: Audience) -> Self {
        Self {
            name: settings.name.clone(),
            interval: settings.interval,
            port: settings.port,
            audience,
            bell: Arc::default(),
            state: Mutex::default(),
        }
    }

    pub(crate) fn audience(&self) -> Audience {
        self.audience
    }

    /// Announces these endpoints from now on, and no others. Does nothing after a goodbye.
    ///
    /// # Errors
    ///
    /// Why one of them is not announced. It can be tried again.
    pub(crate) fn announce(&self, endpoints: &[Endpoint]) -> Result<(), String> {
        let state = &mut *self.state();
        if state.silent {
            return Ok(());
        }
        let (stay, leave): (Vec<_>, Vec<_>) = std::mem::take(&mut state.announced)
            .into_iter()
            .partition(|announced| endpoints.contains(&announced.endpoint));
        state.announced = stay;
        for Announced {
            endpoint,
            announcer,
            ..
        } in &leave
        {
            announcer.stop();
            state.log(Level::Info, format!("no longer announcing {endpoint}"));
        }
        if state.announced.is_empty() && !endpoints.is_empty() {
            state.id = guid().map_err(|error| format!("no random id: {error}"))?;
        }
        for endpoint in endpoints {
            if state.announced.iter().all(|it| it.endpoint != *endpoint) {
                let announced = self.begin(*endpoint, state)?;
                state.announced.push(announced);
                let line = format!("announcing {endpoint} as {:?}, id {}", self.name, state.id);
                state.log(Level::Info, line);
            }
        }
        Ok(())
    }

    /// Tells these hosts, and no others.
    pub(crate) fn redirect(&self, hosts: Vec<IpAddr>) {
        let state = &mut *self.state();
        for announced in &state.announced {
            announced.announcer.redirect(self.destinations(&hosts));
        }
        state.hosts = hosts;
    }

    /// Says that this Redis leaves, once, and announces nothing more until [`resume`](Self::resume).
    /// Does not wait.
    pub(crate) fn say_goodbye(&self) {
        let mut state = self.state();
        if state.silent {
            return;
        }
        state.silent = true;
        if state.told_by_themselves() <= FEW_HOSTS {
            state.announced.iter().for_each(|it| it.announcer.stop());
            return;
        }
        let now = Instant::now();
        let count = u32::try_from(state.announced.len()).unwrap_or(u32::MAX);
        // One after the other is taken back. To repeat the first must not delay the last.
        for (announced, number) in state.announced.iter().zip(1..) {
            announced
                .announcer
                .stop_by(now + REPEATED_FOR * number / count);
        }
    }

    /// Says it, and waits until it is on its way to everybody, as far as patience goes.
    pub(crate) fn leave(&self) {
        self.say_goodbye();
        let state = &mut *self.state();
        let end = Instant::now() + state.patience();
        loop {
            self.bell.silence();
            state.collect();
            let left = end.saturating_duration_since(Instant::now());
            if state.announced.iter().all(|it| it.gone) || left.is_zero() {
                return;
            }
            self.bell.wait(left);
        }
    }

    /// Whether there is anything that a goodbye would take back.
    pub(crate) fn is_announcing(&self) -> bool {
        !self.state().announced.is_empty()
    }

    /// Whether the goodbye was said.
    pub(crate) fn is_silent(&self) -> bool {
        self.state().silent
    }

    /// Takes the goodbye back: what [`announce`](Self::announce) gets next is announced.
    pub(crate) fn resume(&self) {
        let mut state = self.state();
        state.announced.clear();
        state.silent = false;
    }

    /// What has happened, for the log.
    pub(crate) fn take_lines(&self) -> Vec<Line> {
        let mut state = self.state();
        if self.bell.silence() {
            state.collect();
        }
        std::mem::take(&mut state.lines)
    }

    /// Adds a line for the log, from any thread.
    pub(crate) fn log(&self, level: Level, message: String) {
        self.state().log(level, message);
    }

    fn begin(&self, endpoint: Endpoint, state: &State) -> Result<Announced, String> {
        let announcement = Announcement::new(
            &self.name,
            &state.id,
            &endpoint.address.to_string(),
            endpoint.port,
            self.interval,
            Some(endpoint.transport),
        );
        let options = AnnouncerOptions {
            announcement: announcement.map_err(|error| error.to_string())?,
            destinations: self.destinations(&state.hosts),
            interface: (self.audience == Audience::Networks).then_some(endpoint.address),
        };
        let bell = Arc::clone(&self.bell);
        let announcer = Announcer::start(options, Arc::new(move || bell.ring()));
        Ok(Announced {
            endpoint,
            announcer: announcer.map_err(|error| error.to_string())?,
            gone: false,
        })
    }

    fn destinations(&self, hosts: &[IpAddr]) -> Vec<Destination> {
        let everybody = [IpAddr::V4(Ipv4Addr::BROADCAST)];
        let addresses = match self.audience {
            Audience::Hosts => hosts,
            Audience::Networks => &everybody,
        };
        let address = |ip: &IpAddr| SocketAddr::new(*ip, self.port).into();
        addresses.iter().map(address).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn log(&mut self, level: Level, message: String) {
        self.lines.push((level, message));
    }

    /// How many times a host is told, each by itself, until all know of all.
    fn told_by_themselves(&self) -> usize {
        self.announced.len() * self.hosts.len()
    }

    fn patience(&self) -> Duration {
        let hosts = u32::try_from(self.told_by_themselves()).unwrap_or(u32::MAX);
        let all_hosts = PATIENCE_PER_HOST.saturating_mul(hosts);
        PATIENCE.saturating_add(all_hosts).min(MAX_PATIENCE)
    }

    /// Takes up what the announcers have to tell.
    fn collect(&mut self) {
        for announced in &mut self.announced {
            for notice in announced.announcer.take() {
                announced.gone |= matches!(notice, AnnouncerNotice::Stopped);
                // That it begins is told when it is asked to.
                if !matches!(notice, AnnouncerNotice::Announced) {
                    let line = format!("{}: {notice}", announced.endpoint);
                    self.lines.push((notice.level(), line));
                }
            }
        }
    }
}

/// Rings when an announcer has something to tell.
#[derive(Debug, Default)]
struct Bell {
    rung: Mutex<bool>,
    changed: Condvar,
}

impl Bell {
    fn ring(&self) {
        *self.rung() = true;
        self.changed.notify_all();
    }

    /// Whether it has rung since it was silenced last.
    fn silence(&self) -> bool {
        std::mem::take(&mut *self.rung())
    }

    /// Waits until it has rung, or for `limit`.
    fn wait(&self, limit: Duration) {
        drop(
            self.changed
                .wait_timeout_while(self.rung(), limit, |rung| !*rung),
        );
    }

    fn rung(&self) -> MutexGuard<'_, bool> {
        self.rung.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use imqueue_udp_core::Transport;

    use super::*;
    use crate::settings::Options;

    /// A presence that tells `listener`, once a day.
    fn presence(listener: &UdpSocket) -> Presence {
        let port = listener.local_addr().unwrap().port().to_string();
        let arguments = ["port", &port, "interval", "86400"].map(str::to_owned);
        let settings = Settings::read(&mut Options::new(&arguments, |_| None));
        let presence = Presence::new(&settings, Audience::Hosts);
        presence.redirect(vec![Ipv4Addr::LOCALHOST.into()]);
        presence
    }

    fn listener() -> UdpSocket {
        let listener = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let patience = Some(Duration::from_secs(20));
        listener.set_read_timeout(patience).unwrap();
        listener
    }

    fn endpoint(port: u16) -> Endpoint {
        Endpoint {
            address: Ipv4Addr::new(10, 0, 0, 1),
            port,
            transport: Transport::Plain,
        }
    }

    /// The type and the port of so many announcements, and the last id.
    fn hear<const COUNT: usize>(listener: &UdpSocket) -> ([String; COUNT], String) {
        let mut last_id = String::new();
        let heard = [(); COUNT].map(|()| {
            let mut bytes = [0; 256];
            let length = listener.recv(&mut bytes).unwrap();
            let text = String::from_utf8_lossy(&bytes[..length]).into_owned();
            let fields: Vec<_> = text.split('\t').collect();
            fields[1].clone_into(&mut last_id);
            format!("{} {}", fields[2], fields[3])
        });
        (heard, last_id)
    }

    #[test]
    fn says_goodbye_once_and_nothing_more_until_it_resumes() {
        let listener = listener();
        let presence = presence(&listener);
        presence.announce(&[endpoint(1)]).unwrap();
        let (said, id) = hear(&listener);
        assert_eq!(said, ["up 10.0.0.1:1"]);

        presence.say_goodbye();
        presence.leave();
        presence.announce(&[endpoint(2)]).unwrap();
        assert!(presence.is_silent());
        assert_eq!(hear(&listener).0, ["down 10.0.0.1:1"; 3]);

        // A new id, since what was said of the former one is remembered.
        presence.resume();
        presence.announce(&[endpoint(1)]).unwrap();
        let (said, new_id) = hear(&listener);
        assert_eq!(said, ["up 10.0.0.1:1"]);
        assert_ne!(new_id, id);
    }

    #[test]
    fn tells_only_what_changes() {
        let listener = listener();
        let presence = presence(&listener);
        presence.announce(&[endpoint(1), endpoint(2)]).unwrap();
        let (said, id) = hear(&listener);
        assert_eq!(said, ["up 10.0.0.1:1", "up 10.0.0.1:2"]);

        presence.announce(&[endpoint(2), endpoint(3)]).unwrap();
        let (said, same_id) = hear(&listener);
        let [first, .., last]: [String; 4] = said;
        assert_eq!([first, last], ["down 10.0.0.1:1", "up 10.0.0.1:3"]);
        assert_eq!(same_id, id);

        // At another port only, it is another broker.
        presence.announce(&[endpoint(4)]).unwrap();
        let (said, new_id) = hear::<7>(&listener);
        assert_eq!(said[6], "up 10.0.0.1:4");
        assert_ne!(new_id, id);
    }

    #[test]
    fn has_more_patience_with_many_hosts() {
        let listener = listener();
        let presence = presence(&listener);
        presence.announce(&[endpoint(1)]).unwrap();
        let patience = |hosts: u32| {
            let hosts = (0..hosts).map(|host| Ipv4Addr::from_bits(host).into());
            presence.state().hosts = hosts.collect();
            presence.state().patience().as_millis()
        };
        assert_eq!([0, 1, 10_000, 1_000_000].map(patience), [40, 40, 790, 1000]);
    }

    #[test]
    fn the_log_tells_what_is_announced() {
        let listener = listener();
        let presence = presence(&listener);
        presence.announce(&[endpoint(1)]).unwrap();
        presence.leave();
        presence.log(Level::Warn, "from elsewhere".to_owned());
        let lines: Vec<_> = presence
            .take_lines()
            .into_iter()
            .map(|line| line.1)
            .collect();
        assert!(lines[0].starts_with("announcing 10.0.0.1:1 (plain) as \"imq-broker\", id "));
        assert_eq!(
            lines[1..],
            ["10.0.0.1:1 (plain): stopped announcing", "from elsewhere"]
        );
        assert!(presence.take_lines().is_empty());
    }
}
