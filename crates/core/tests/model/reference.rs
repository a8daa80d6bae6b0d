//! The fleet rules, written down as plainly as possible: one list, searched from end to end. Times
//! are milliseconds since the start; events are text.

use std::collections::BTreeMap;

use imqueue_udp_core::{IgnoreReason, Outcome};

const DAY: u64 = 24 * 60 * 60 * 1_000;

pub(crate) struct Reference {
    /// `None` is without alive check.
    correction: Option<u64>,
    limit: usize,
    places: Vec<Place>,
    /// Who left where and when, oldest first.
    left: Vec<(u64, String, String)>,
    /// How many `up`s there were.
    ups: u64,
    last_input: u64,
    paused: bool,
    warned: bool,
}

struct Place {
    address: String,
    owner: String,
    former: Option<String>,
    active: bool,
    interval: u64,
    last_up: u64,
    deadline: Option<u64>,
}

impl Reference {
    pub(crate) fn new(correction: Option<u64>, limit: usize) -> Self {
        Self {
            correction,
            limit,
            places: Vec::new(),
            left: Vec::new(),
            ups: 0,
            last_input: 0,
            paused: false,
            warned: false,
        }
    }

    pub(crate) fn up(
        &mut self,
        now: u64,
        id: &str,
        address: &str,
        interval: u64,
    ) -> (Outcome, Vec<String>) {
        self.input(now);
        self.ups += 1;
        let interval = interval.min(DAY);
        let deadline = self
            .correction
            .map(|correction| now + interval + correction + 1);
        let known = self
            .places
            .iter()
            .position(|place| place.address == address);
        let owns = known.is_some_and(|at| self.places[at].owner == id);

        // Rule 8.
        if !owns && self.left_lately(now, id, address) {
            return (Outcome::Ignored(IgnoreReason::LateUp), vec![]);
        }
        let mut said = vec![];
        let mut outcome = Outcome::Refreshed;
        let at = match known {
            // Rule 2.
            Some(at) if owns => at,
            // Rule 3.
            Some(at) => {
                let place = &mut self.places[at];
                if place.former.as_deref() == Some(id) {
                    return (Outcome::Ignored(IgnoreReason::FormerOwner), vec![]);
                }
                if place.active {
                    said.push(format!("{}>{id}@{address}", place.owner));
                }
                place.former = Some(std::mem::replace(&mut place.owner, id.to_owned()));
                outcome = Outcome::Changed;
                at
            }
            // Rule 10.
            None if self.places.len() >= self.limit => {
                if !self.warned {
                    said.push(format!("full at {}", self.limit));
                }
                self.warned = true;
                return (Outcome::Ignored(IgnoreReason::FleetFull), said);
            }
            None => {
                self.places.push(Place {
                    address: address.to_owned(),
                    owner: id.to_owned(),
                    former: None,
                    active: false,
                    interval,
                    last_up: 0,
                    deadline: None,
                });
                outcome = Outcome::Standby;
                self.places.len() - 1
            }
        };
        let alone = !self.is_active(id);
        let place = &mut self.places[at];
        (place.interval, place.last_up, place.deadline) = (interval, self.ups, deadline);
        // Rules 1, 4 and 9.
        if !place.active && alone {
            place.active = true;
            said.push(format!("+{id}@{address}"));
            outcome = Outcome::Changed;
        }
        (outcome, said)
    }

    pub(crate) fn down(&mut self, now: u64, id: &str, address: &str) -> (Outcome, Vec<String>) {
        self.input(now);
        // Rule 7.
        let Some(at) = self
            .places
            .iter()
            .position(|place| place.address == address)
        else {
            return (Outcome::Ignored(IgnoreReason::EndpointUnknown), vec![]);
        };
        if self.places[at].owner != id {
            let former = self.places[at].former.as_deref() == Some(id);
            let why = if former {
                IgnoreReason::FormerOwner
            } else {
                IgnoreReason::NotOwner
            };
            return (Outcome::Ignored(why), vec![]);
        }
        // Rule 6.
        let place = self.remove(at);
        self.left.retain(|(when, ..)| now - when < 1_000);
        self.left.push((now, id.to_owned(), address.to_owned()));
        if self.left.len() > self.limit {
            self.left.remove(0);
        }
        let said = if place.active {
            vec![format!("-{id}@{address} down")]
        } else {
            vec![]
        };
        (Outcome::Changed, said)
    }

    pub(crate) fn timeout(&mut self, now: u64) -> Vec<String> {
        self.input(now);
        // Rule 12.
        if std::mem::take(&mut self.paused) {
            for place in &mut self.places {
                let grace = now + place.interval + 1;
                place.deadline = place.deadline.map(|deadline| deadline.max(grace));
            }
        }
        // Rule 5.
        let mut said = vec![];
        while let Some(at) = self.most_overdue(now) {
            let gone = self.remove(at);
            if !gone.active {
                continue;
            }
            said.push(format!("-{}@{} expired", gone.owner, gone.address));
            if self.is_active(&gone.owner) {
                continue;
            }
            let heir = self
                .places
                .iter_mut()
                .filter(|place| place.owner == gone.owner && !is_overdue(place, now))
                .max_by_key(|place| place.last_up);
            if let Some(heir) = heir {
                heir.active = true;
                said.push(format!("+{}@{}", heir.owner, heir.address));
            }
        }
        said
    }

    pub(crate) fn active(&self) -> BTreeMap<String, String> {
        let active = self.places.iter().filter(|place| place.active);
        active
            .map(|place| (place.address.clone(), place.owner.clone()))
            .collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn nobody_is_overdue(&self, now: u64) -> bool {
        !self.places.iter().any(|place| is_overdue(place, now))
    }

    fn input(&mut self, now: u64) {
        if !self.places.is_empty() && now - self.last_input > 1_000 {
            self.paused = true;
        }
        self.last_input = now;
    }

    fn is_active(&self, id: &str) -> bool {
        self.places
            .iter()
            .any(|place| place.active && place.owner == id)
    }

    fn left_lately(&self, now: u64, id: &str, address: &str) -> bool {
        let mut left = self.left.iter();
        left.any(|(when, who, place)| now - when < 1_000 && who == id && place == address)
    }

    fn most_overdue(&self, now: u64) -> Option<usize> {
        let overdue = (0..self.places.len()).filter(|at| is_overdue(&self.places[*at], now));
        overdue.min_by_key(|at| (self.places[*at].deadline, &self.places[*at].address))
    }

    fn remove(&mut self, at: usize) -> Place {
        self.warned = false;
        self.places.remove(at)
    }
}

fn is_overdue(place: &Place, now: u64) -> bool {
    place.deadline.is_some_and(|deadline| deadline <= now)
}
