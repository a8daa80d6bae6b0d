//! The fleet rules, written down as plainly as possible: one list, searched from end to end. Times
//! are durations since the start; events are text.

use std::net::SocketAddrV4;
use std::time::Duration;

use imqueue_udp_core::{Datagram, IgnoreReason, Kind, Outcome, ReadError};

use super::Setting;

const SECOND: Duration = Duration::from_secs(1);
const SLACK: Duration = Duration::from_millis(1);

pub(crate) struct Reference {
    setting: Setting,
    /// There is no instant after this one: a deadline that would be later never passes.
    end: Duration,
    places: Vec<Place>,
    /// Who left where and when, oldest first.
    left: Vec<(Duration, String, Address)>,
    /// How many `up`s there were.
    ups: u64,
    last_input: Duration,
    paused: bool,
    warned: bool,
}

type Address = (String, u16);

struct Place {
    address: Address,
    active: bool,
    owner: Tenant,
    former: Option<Tenant>,
}

struct Tenant {
    id: String,
    interval: Duration,
    /// The number of the last `up`, when it came and from where.
    last_up: (u64, Duration, SocketAddrV4),
    deadline: Option<Duration>,
    /// Whether it said `down` after that.
    left: bool,
}

type Told = (Outcome, Vec<String>);

impl Reference {
    pub(crate) fn new(setting: Setting, end: Duration) -> Self {
        Self {
            setting,
            end,
            places: Vec::new(),
            left: Vec::new(),
            ups: 0,
            last_input: Duration::ZERO,
            paused: false,
            warned: false,
        }
    }

    pub(crate) fn hear(
        &mut self,
        now: Duration,
        read: Result<Datagram<'_>, ReadError>,
        source: SocketAddrV4,
    ) -> Told {
        let now = self.input(now);
        let datagram = match read {
            Ok(datagram) => datagram,
            Err(error) => return (Outcome::Rejected(error), vec![]),
        };
        self.ups += u64::from(datagram.kind == Kind::Up);
        if self.setting.picky && datagram.name != "imq" {
            return ignored(IgnoreReason::Name);
        }
        match datagram.kind {
            Kind::Down => self.down(now, &datagram),
            Kind::Up => self.up(now, &datagram, source),
        }
    }

    pub(crate) fn timeout(&mut self, now: Duration) -> Vec<String> {
        let latest = self.input(now);
        if std::mem::take(&mut self.paused) {
            self.grant_grace(latest);
        }
        let mut said = vec![];
        while let Some(at) = self.most_overdue(now) {
            let place = &mut self.places[at];
            // Rule 3.
            if place.has_better_former(now) {
                let former = place.former.take().expect("it is the better one");
                said.extend(place.pass_to(former));
                continue;
            }
            // Rule 5.
            let gone = self.remove(at);
            if !gone.active {
                continue;
            }
            let owner = &gone.owner.id;
            said.push(format!("-{owner}@{} expired", text(&gone.address)));
            if self.is_active(owner) {
                continue;
            }
            let heir = self
                .places
                .iter_mut()
                .filter(|place| place.owner.id == *owner && !place.owner.is_overdue(now))
                .max_by_key(|place| place.owner.last_up.0);
            if let Some(heir) = heir {
                heir.active = true;
                said.push(format!("+{owner}@{}", text(&heir.address)));
            }
        }
        said
    }

    /// When and from where the active broker was last heard; `None` if it is not active there.
    pub(crate) fn last_heard(
        &self,
        id: &str,
        host: &str,
        port: u16,
    ) -> Option<(Duration, SocketAddrV4)> {
        let place = &self.places[self.position(host, port)?];
        let (_, at, source) = place.owner.last_up;
        (place.active && place.owner.id == id).then_some((at, source))
    }

    pub(crate) fn active(&self) -> usize {
        self.places.iter().filter(|place| place.active).count()
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn next_deadline(&self) -> Option<Duration> {
        let deadlines = self.places.iter().filter_map(|place| place.owner.deadline);
        deadlines.min()
    }

    pub(crate) fn last_input(&self) -> Duration {
        self.last_input
    }
}

impl Reference {
    fn up(&mut self, now: Duration, up: &Datagram<'_>, source: SocketAddrV4) -> Told {
        let address = (up.host.to_owned(), up.port);
        let known = self.position(up.host, up.port);
        let owns = known.is_some_and(|at| self.places[at].owner.id == up.id);

        // Rule 8.
        if !owns && self.left_lately(now, &up.id, &address) {
            return ignored(IgnoreReason::LateUp);
        }
        let tenant = self.tenant(now, up, source);
        let mut said = vec![];
        let mut outcome = Outcome::Refreshed;
        let at = match known {
            // Rule 2.
            Some(at) if owns => {
                self.places[at].owner = tenant;
                at
            }
            // Rule 3.
            Some(at) => {
                let place = &mut self.places[at];
                if place.was_owned_by(&up.id) {
                    place.former = Some(tenant);
                    return ignored(IgnoreReason::FormerOwner);
                }
                said.extend(place.pass_to(tenant));
                outcome = Outcome::Changed;
                at
            }
            // Rule 10.
            None if self.places.len() >= self.setting.max_servers => {
                if !self.warned {
                    said.push(format!("full at {}", self.setting.max_servers));
                }
                self.warned = true;
                return (Outcome::Ignored(IgnoreReason::FleetFull), said);
            }
            None => {
                self.places.push(Place {
                    address: address.clone(),
                    active: false,
                    owner: tenant,
                    former: None,
                });
                outcome = Outcome::Standby;
                self.places.len() - 1
            }
        };
        let alone = !self.is_active(&up.id);
        let place = &mut self.places[at];
        // Rules 1, 4 and 9.
        if !place.active && alone {
            place.active = true;
            said.push(format!("+{}@{}", up.id, text(&address)));
            outcome = Outcome::Changed;
        }
        (outcome, said)
    }

    fn down(&mut self, now: Duration, down: &Datagram<'_>) -> Told {
        // Rule 7.
        let Some(at) = self.position(down.host, down.port) else {
            return ignored(IgnoreReason::EndpointUnknown);
        };
        let place = &mut self.places[at];
        if let Some(former) = place.former.as_mut().filter(|former| former.id == down.id) {
            former.left = true;
            return ignored(IgnoreReason::FormerOwner);
        }
        if place.owner.id != down.id {
            return ignored(IgnoreReason::NotOwner);
        }
        // Rule 6.
        let gone = self.remove(at);
        self.left.retain(|(when, ..)| now - *when < SECOND);
        let said = if gone.active {
            vec![format!("-{}@{} down", gone.owner.id, text(&gone.address))]
        } else {
            vec![]
        };
        self.left.push((now, gone.owner.id, gone.address));
        if self.left.len() > self.setting.max_servers.max(64) {
            self.left.remove(0);
        }
        (Outcome::Changed, said)
    }

    fn tenant(&self, now: Duration, up: &Datagram<'_>, source: SocketAddrV4) -> Tenant {
        let deadline = |patience| later(now, &[up.interval, patience, SLACK], self.end);
        Tenant {
            id: up.id.to_string(),
            interval: up.interval,
            last_up: (self.ups, now, source),
            deadline: self.setting.alive_check.and_then(deadline),
            left: false,
        }
    }

    /// Time never runs backwards.
    fn input(&mut self, now: Duration) -> Duration {
        let now = now.max(self.last_input);
        if !self.places.is_empty() && now - self.last_input > SECOND {
            self.paused = true;
        }
        self.last_input = now;
        now
    }

    fn position(&self, host: &str, port: u16) -> Option<usize> {
        self.places
            .iter()
            .position(|place| place.address.0 == host && place.address.1 == port)
    }

    fn is_active(&self, id: &str) -> bool {
        self.places
            .iter()
            .any(|place| place.active && place.owner.id == id)
    }

    fn left_lately(&self, now: Duration, id: &str, address: &Address) -> bool {
        let mut left = self.left.iter();
        left.any(|(when, who, place)| now - *when < SECOND && who == id && place == address)
    }

    /// Rule 12.
    fn grant_grace(&mut self, now: Duration) {
        for place in &mut self.places {
            for tenant in [&mut place.owner].into_iter().chain(&mut place.former) {
                let grace = later(now, &[tenant.interval, SLACK], self.end);
                tenant.deadline = tenant.deadline.and_then(|at| Some(at.max(grace?)));
            }
        }
    }

    fn most_overdue(&self, now: Duration) -> Option<usize> {
        let overdue = (0..self.places.len()).filter(|at| self.places[*at].owner.is_overdue(now));
        overdue.min_by_key(|at| (self.places[*at].owner.deadline, &self.places[*at].address))
    }

    fn remove(&mut self, at: usize) -> Place {
        self.warned = false;
        self.places.remove(at)
    }
}

impl Place {
    fn was_owned_by(&self, id: &str) -> bool {
        self.former.as_ref().is_some_and(|former| former.id == id)
    }

    /// Whether the former owner was heard after the owner was, and is still to be believed.
    fn has_better_former(&self, now: Duration) -> bool {
        let is_later = |former: &Tenant| former.last_up.0 > self.owner.last_up.0;
        let former = self.former.as_ref();
        former.is_some_and(|former| is_later(former) && !former.left && !former.is_overdue(now))
    }

    /// What is said when it has another owner, if anything is.
    fn pass_to(&mut self, owner: Tenant) -> Option<String> {
        let former = std::mem::replace(&mut self.owner, owner);
        let (from, to, at) = (&former.id, &self.owner.id, text(&self.address));
        let said = self.active.then(|| format!("{from}>{to}@{at}"));
        self.former = Some(former);
        said
    }
}

impl Tenant {
    fn is_overdue(&self, now: Duration) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now)
    }
}

fn ignored(reason: IgnoreReason) -> Told {
    (Outcome::Ignored(reason), vec![])
}

/// `None` if there is no such instant.
fn later(now: Duration, steps: &[Duration], end: Duration) -> Option<Duration> {
    let at = steps.iter().try_fold(now, |at, step| at.checked_add(*step));
    at.filter(|at| *at <= end)
}

fn text((host, port): &Address) -> String {
    format!("{host}:{port}")
}
