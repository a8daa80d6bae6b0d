//! Which pods there are, and which addresses were told.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use tokio::time::Instant;

use crate::pod::{Change, Pod};

/// The pods as the API last described them, and what was told of it. Without any pods, what was
/// told before stays.
#[derive(Debug)]
pub(crate) struct Roster {
    /// The addresses of each pod that has any, by its name.
    pods: BTreeMap<Box<str>, Vec<IpAddr>>,
    told: Vec<IpAddr>,
    /// Whether the pods may differ from what was told.
    changed: bool,
    /// Whether it is unknown if what was told was heard.
    unheard: bool,
    /// When the next change may be told.
    next_turn: Option<Instant>,
    /// When the API last said that the pods are these.
    confirmed: Option<Instant>,
    max_age: Option<Duration>,
}

/// How long changes are gathered after one was told: a rollout changes hundreds of pods at a time.
const GATHER: Duration = Duration::from_millis(50);

impl Roster {
    pub(crate) const fn new(max_age: Option<Duration>) -> Self {
        Self {
            pods: BTreeMap::new(),
            told: Vec::new(),
            changed: false,
            unheard: false,
            next_turn: None,
            confirmed: None,
            max_age,
        }
    }

    /// These are all pods that there are.
    pub(crate) fn replace(&mut self, pods: Vec<Pod>) {
        self.pods.clear();
        for pod in pods {
            self.apply(Change::Is(pod));
        }
        self.changed = true;
    }

    pub(crate) fn apply(&mut self, change: Change) {
        match change {
            Change::Is(pod) if !pod.addresses.is_empty() => {
                self.pods.insert(pod.name, pod.addresses);
            }
            Change::Is(Pod { name, .. }) | Change::Gone(name) => {
                self.pods.remove(&name);
            }
        }
        self.changed = true;
    }

    /// The API says that the pods are these; nobody believes it that there are none.
    pub(crate) fn confirm(&mut self, now: Instant) {
        if !self.pods.is_empty() {
            self.confirmed = Some(now);
            // What was given up is told again.
            self.changed |= self.told.is_empty();
        }
    }

    /// Tells all again, when the pods are known again.
    pub(crate) const fn repeat(&mut self) {
        self.unheard = true;
    }

    /// How many pods have an address.
    pub(crate) fn len(&self) -> usize {
        self.pods.len()
    }

    /// How many addresses were told.
    pub(crate) const fn told(&self) -> usize {
        self.told.len()
    }

    pub(crate) const fn confirmed(&self) -> Option<Instant> {
        self.confirmed
    }

    /// When to call [`tell`](Self::tell) next, if nothing happens before.
    pub(crate) fn due(&self, now: Instant, current: bool) -> Option<Instant> {
        let change = self.changed.then(|| self.next_turn.unwrap_or(now));
        [change, self.expiry(current)].into_iter().flatten().min()
    }

    /// The addresses to tell, if they differ from those that were told: sorted, each once. None at
    /// all if they are too old; `current` tells that the API would have said what has changed.
    pub(crate) fn tell(&mut self, now: Instant, current: bool) -> Option<Vec<IpAddr>> {
        if self.changed && self.next_turn.is_none_or(|turn| turn <= now) {
            self.changed = false;
            let addresses = self.addresses();
            if !addresses.is_empty() && (addresses != self.told || self.unheard) {
                self.unheard = false;
                self.next_turn = Some(now + GATHER);
                self.told.clone_from(&addresses);
                return Some(addresses);
            }
        }
        if self.expiry(current).is_some_and(|expiry| expiry <= now) {
            self.told.clear();
            return Some(Vec::new());
        }
        None
    }

    fn expiry(&self, current: bool) -> Option<Instant> {
        let nothing_to_expire = self.told.is_empty() || (current && !self.pods.is_empty());
        match (self.confirmed, self.max_age) {
            (Some(confirmed), Some(max_age)) if !nothing_to_expire => {
                confirmed.checked_add(max_age)
            }
            _ => None,
        }
    }

    fn addresses(&self) -> Vec<IpAddr> {
        let mut addresses: Vec<_> = self.pods.values().flatten().copied().collect();
        addresses.sort_unstable();
        addresses.dedup();
        addresses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(name: &str, addresses: &[&str]) -> Pod {
        Pod {
            name: name.into(),
            addresses: addresses.iter().map(|text| text.parse().unwrap()).collect(),
        }
    }

    fn texts(addresses: Option<Vec<IpAddr>>) -> Option<Vec<String>> {
        addresses.map(|addresses| addresses.iter().map(ToString::to_string).collect())
    }

    fn told<const N: usize>(addresses: [&str; N]) -> Option<Vec<String>> {
        Some(addresses.map(String::from).to_vec())
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn addresses_are_told_sorted_and_once() {
        let (mut roster, now) = (Roster::new(None), Instant::now());
        roster.replace(vec![
            pod("c", &["fd00::1", "10.0.0.3"]),
            pod("b", &["10.0.0.2"]),
            pod("a", &["10.0.0.2"]),
            pod("pending", &[]),
        ]);
        let addresses = texts(roster.tell(now, true));
        assert_eq!(addresses, told(["10.0.0.2", "10.0.0.3", "fd00::1"]));

        // The address is still that of the other pod.
        roster.apply(Change::Gone("a".into()));
        assert_eq!(roster.tell(now + SECOND, true), None);
        roster.apply(Change::Is(pod("b", &[])));
        let addresses = texts(roster.tell(now + SECOND, true));
        assert_eq!(addresses, told(["10.0.0.3", "fd00::1"]));
        assert_eq!(roster.told(), 2);
    }

    #[test]
    fn no_pods_never_replace_some() {
        let (mut roster, now) = (Roster::new(None), Instant::now());
        roster.replace(vec![pod("a", &["10.0.0.1"])]);
        assert!(roster.tell(now, true).is_some());

        roster.replace(vec![]);
        assert_eq!(roster.tell(now + SECOND, true), None);
        assert_eq!((roster.told(), roster.len()), (1, 0));
        // Who comes then replaces those who went.
        roster.apply(Change::Is(pod("b", &["10.0.0.2"])));
        assert_eq!(texts(roster.tell(now + SECOND, true)), told(["10.0.0.2"]));

        roster.apply(Change::Gone("b".into()));
        assert_eq!(roster.tell(now + SECOND * 2, true), None);
    }

    #[test]
    fn changes_are_gathered_after_the_first() {
        let (mut roster, now) = (Roster::new(None), Instant::now());
        assert_eq!(roster.due(now, true), None);
        roster.apply(Change::Is(pod("a", &["10.0.0.1"])));
        assert_eq!(roster.due(now, true), Some(now));
        assert!(roster.tell(now, true).is_some());
        assert_eq!(roster.due(now, true), None);

        roster.apply(Change::Is(pod("b", &["10.0.0.2"])));
        roster.apply(Change::Is(pod("c", &["10.0.0.3"])));
        assert_eq!(roster.due(now, true), Some(now + GATHER));
        assert_eq!(roster.tell(now + GATHER / 2, true), None);
        assert_eq!(
            roster.tell(now + GATHER, true).map(|all| all.len()),
            Some(3)
        );
    }

    #[test]
    fn what_nobody_may_have_heard_is_repeated() {
        let (mut roster, now) = (Roster::new(None), Instant::now());
        roster.replace(vec![pod("a", &["10.0.0.1"])]);
        assert!(roster.tell(now, true).is_some());
        roster.repeat();
        assert_eq!(roster.tell(now + SECOND, true), None);
        roster.replace(vec![pod("a", &["10.0.0.1"])]);
        assert_eq!(texts(roster.tell(now + SECOND, true)), told(["10.0.0.1"]));
        roster.replace(vec![pod("a", &["10.0.0.1"])]);
        assert_eq!(roster.tell(now + SECOND * 2, true), None);
    }

    #[test]
    fn old_addresses_are_given_up_and_told_again() {
        let (mut roster, now) = (Roster::new(Some(SECOND * 10)), Instant::now());
        roster.replace(vec![pod("a", &["10.0.0.1"])]);
        roster.confirm(now);
        assert!(roster.tell(now, true).is_some());

        // Not while the API would say what has changed.
        assert_eq!(roster.due(now, true), None);
        assert_eq!(roster.tell(now + SECOND * 60, true), None);
        assert_eq!(roster.due(now, false), Some(now + SECOND * 10));
        assert_eq!(roster.tell(now + SECOND * 9, false), None);
        assert_eq!(roster.tell(now + SECOND * 10, false), Some(vec![]));
        assert_eq!((roster.due(now, false), roster.told()), (None, 0));

        roster.confirm(now + SECOND * 60);
        assert_eq!(
            texts(roster.tell(now + SECOND * 60, true)),
            told(["10.0.0.1"])
        );
    }

    #[test]
    fn that_there_are_none_is_no_confirmation() {
        let (mut roster, now) = (Roster::new(Some(SECOND * 10)), Instant::now());
        roster.replace(vec![pod("a", &["10.0.0.1"])]);
        roster.confirm(now);
        assert!(roster.tell(now, true).is_some());

        roster.replace(vec![]);
        roster.confirm(now + SECOND * 5);
        assert_eq!(roster.tell(now + SECOND * 9, true), None);
        assert_eq!(roster.tell(now + SECOND * 10, true), Some(vec![]));
    }
}
