//! What the API says, as far as it matters here.

use std::net::{IpAddr, Ipv4Addr};

use kube::core::WatchEvent;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::failure::Failure;

/// What becomes of a pod.
#[derive(Debug, PartialEq)]
pub(crate) enum Change {
    /// It is as it says.
    Is(Pod),
    /// The pod with that name is gone.
    Gone(Box<str>),
}

/// A pod, and where it can be reached.
#[derive(Debug, PartialEq)]
pub(crate) struct Pod {
    pub(crate) name: Box<str>,
    /// None for a pod that has no address yet, or that no announcement is meant for any more.
    pub(crate) addresses: Vec<IpAddr>,
}

/// A part of a list.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) pods: Vec<Pod>,
    pub(crate) version: String,
    /// With which to ask for the next part.
    pub(crate) next: Option<String>,
}

/// A line of a watch.
#[derive(Debug, PartialEq)]
pub(crate) struct Event {
    /// From which the watch can be resumed.
    pub(crate) version: String,
    pub(crate) change: Option<Change>,
}

pub(crate) fn page(body: &[u8]) -> Result<Page, Failure> {
    let list: PodList = serde_json::from_slice(body).map_err(|error| nonsense(body, &error))?;
    if list.kind != "PodList" {
        return Err(Failure::Nonsense(format!(
            "a {} is no list of pods",
            list.kind
        )));
    }
    let items = list.items.unwrap_or_default();
    Ok(Page {
        pods: items.into_iter().map(Pod::from).collect(),
        version: list.metadata.resource_version,
        next: list.metadata.next.filter(|token| !token.is_empty()),
    })
}

pub(crate) fn event(line: &[u8]) -> Result<Event, Failure> {
    match serde_json::from_slice(line).map_err(|error| nonsense(line, &error))? {
        WatchEvent::Added(pod) | WatchEvent::Modified(pod) => changed(pod, Change::Is),
        WatchEvent::Deleted(pod) => changed(pod, |pod| Change::Gone(pod.name)),
        WatchEvent::Bookmark(bookmark) => Ok(Event {
            version: bookmark.metadata.resource_version,
            change: None,
        }),
        WatchEvent::Error(status) => Err(Failure::status(status.code, status.message, None)),
    }
}

fn changed(item: Item, change: impl FnOnce(Pod) -> Change) -> Result<Event, Failure> {
    match (&item.kind, &item.metadata.resource_version) {
        (Some(kind), _) if kind != "Pod" => Err(Failure::Nonsense(format!("a {kind} is no pod"))),
        (_, Some(version)) => Ok(Event {
            version: version.clone(),
            change: Some(change(item.into())),
        }),
        (_, None) => Err(Failure::Nonsense("a pod without a version".into())),
    }
}

/// Names what came instead of what was expected, for whoever has to find the proxy it came from.
fn nonsense(text: &[u8], error: &serde_json::Error) -> Failure {
    const SHOWN: usize = 60;
    let start: String = String::from_utf8_lossy(text).chars().take(SHOWN).collect();
    Failure::Nonsense(format!("{error}, in {start:?}"))
}

#[derive(Deserialize)]
struct PodList {
    kind: String,
    metadata: ListMetadata,
    items: Option<Vec<Item>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListMetadata {
    resource_version: String,
    #[serde(rename = "continue")]
    next: Option<String>,
}

#[derive(Deserialize)]
struct Item {
    kind: Option<String>,
    metadata: Metadata,
    #[serde(default)]
    status: Status,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    name: Box<str>,
    resource_version: Option<String>,
    deletion_timestamp: Option<IgnoredAny>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Status {
    phase: Option<String>,
    #[serde(rename = "podIP")]
    pod_ip: Option<String>,
    #[serde(rename = "podIPs")]
    pod_ips: Option<Vec<PodIp>>,
}

#[derive(Deserialize)]
struct PodIp {
    ip: Option<String>,
}

impl From<Item> for Pod {
    fn from(item: Item) -> Self {
        let finished = matches!(item.status.phase.as_deref(), Some("Succeeded" | "Failed"));
        // The address of a pod that has finished may be another's by now.
        let unwanted = finished || item.metadata.deletion_timestamp.is_some();
        Self {
            name: item.metadata.name,
            addresses: if unwanted {
                Vec::new()
            } else {
                item.status.addresses()
            },
        }
    }
}

impl Status {
    fn addresses(self) -> Vec<IpAddr> {
        let further = self.pod_ips.unwrap_or_default().into_iter();
        let texts = self
            .pod_ip
            .into_iter()
            .chain(further.filter_map(|entry| entry.ip));
        let mut addresses: Vec<_> = texts
            .filter_map(|text| text.parse::<IpAddr>().ok())
            .map(|address| address.to_canonical())
            .filter(is_of_one_host)
            .collect();
        addresses.sort_unstable();
        addresses.dedup();
        addresses
    }
}

/// A pod has no other address; but what the API says must not make anybody broadcast.
fn is_of_one_host(address: &IpAddr) -> bool {
    let broadcast = *address == Ipv4Addr::BROADCAST;
    !(address.is_unspecified() || address.is_multicast() || broadcast)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn pod(status: Value) -> Pod {
        pod_with(json!({ "name": "web-1", "resourceVersion": "7" }), status)
    }

    fn pod_with(metadata: Value, status: Value) -> Pod {
        let list = json!({
            "kind": "PodList",
            "metadata": { "resourceVersion": "9" },
            "items": [{ "metadata": metadata, "status": status }],
        });
        let mut page = page(list.to_string().as_bytes()).unwrap();
        page.pods.remove(0)
    }

    fn addresses(status: Value) -> Vec<String> {
        let pod = pod(status);
        pod.addresses.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_pod_has_its_addresses_each_once() {
        let status = json!({
            "phase": "Running",
            "podIP": "10.1.2.3",
            "podIPs": [{ "ip": "10.1.2.3" }, { "ip": "fd00::3" }, {}],
        });
        assert_eq!(addresses(status), ["10.1.2.3", "fd00::3"]);
        assert_eq!(addresses(json!({ "podIP": "10.1.2.3" })), ["10.1.2.3"]);
        assert_eq!(
            addresses(json!({ "podIPs": [{ "ip": "fd00::3" }] })),
            ["fd00::3"]
        );
        assert_eq!(
            addresses(json!({ "podIP": "::ffff:10.1.2.3" })),
            ["10.1.2.3"]
        );
    }

    #[test]
    fn a_pod_without_an_address_has_none() {
        let mut nothing = vec![json!({}), json!({ "phase": "Pending", "podIPs": null })];
        let senseless = [
            "",
            "10.1.2",
            "web-1",
            "0.0.0.0",
            "::",
            "255.255.255.255",
            "224.0.0.1",
        ];
        nothing.extend(senseless.map(|text| json!({ "phase": "Running", "podIP": text })));
        for status in nothing {
            assert!(addresses(status.clone()).is_empty(), "{status}");
        }
    }

    #[test]
    fn only_pods_that_have_not_ended_count() {
        for (phase, counts) in [
            ("Pending", true),
            ("Running", true),
            ("Unknown", true),
            ("Succeeded", false),
            ("Failed", false),
        ] {
            let pod = pod(json!({ "phase": phase, "podIP": "10.1.2.3" }));
            assert_eq!(pod.addresses.len(), usize::from(counts), "{phase}");
        }
        let terminating = json!({ "name": "web-1", "deletionTimestamp": "2026-11-29T12:00:00Z" });
        let status = json!({ "phase": "Running", "podIP": "10.1.2.3" });
        assert!(pod_with(terminating, status).addresses.is_empty());
    }

    #[test]
    fn a_list_comes_in_pages() {
        let page = |next: Value| {
            let metadata = json!({ "resourceVersion": "9", "continue": next });
            let list = json!({ "kind": "PodList", "metadata": metadata, "items": null });
            page(list.to_string().as_bytes()).unwrap()
        };
        assert_eq!(page(json!("abc")).next.as_deref(), Some("abc"));
        assert_eq!(page(json!("")).next, None);
        assert_eq!(page(json!(null)).next, None);
        assert_eq!(page(json!(null)).version, "9");
    }

    #[test]
    fn lines_of_a_watch() {
        let line = |kind: &str, object: Value| {
            event(
                json!({ "type": kind, "object": object })
                    .to_string()
                    .as_bytes(),
            )
        };
        let pod = json!({
            "kind": "Pod",
            "metadata": { "name": "web-1", "resourceVersion": "8" },
            "status": { "podIP": "10.1.2.3" },
        });
        let changes = ["ADDED", "MODIFIED", "DELETED"].map(|kind| {
            let event = line(kind, pod.clone()).unwrap();
            assert_eq!(event.version, "8");
            event.change.unwrap()
        });
        assert!(matches!(&changes[0], Change::Is(pod) if pod.addresses.len() == 1));
        assert_eq!(changes[0], changes[1]);
        assert_eq!(changes[2], Change::Gone("web-1".into()));

        let bookmark = json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": { "resourceVersion": "12", "creationTimestamp": null },
        });
        let bookmark = line("BOOKMARK", bookmark).unwrap();
        assert_eq!((&*bookmark.version, bookmark.change), ("12", None));

        let expired = json!({ "kind": "Status", "code": 410, "message": "too old" });
        assert!(matches!(line("ERROR", expired), Err(Failure::Expired(_))));
    }

    #[test]
    fn nonsense_is_told_from_pods() {
        let service = json!({ "kind": "ServiceList", "metadata": { "resourceVersion": "1" } });
        for body in [
            "",
            "null",
            "{}",
            "[]",
            "<html>",
            "{\"kind\": \"PodList\"",
            &service.to_string(),
        ] {
            let failure = page(body.as_bytes()).unwrap_err();
            assert!(
                matches!(failure, Failure::Nonsense(_)),
                "{body}: {failure:?}"
            );
        }
        let metadata = json!({ "name": "a", "resourceVersion": "1" });
        let service = json!({ "kind": "Service", "metadata": metadata });
        let no_version = json!({ "kind": "Pod", "metadata": { "name": "a" } });
        for object in [service, no_version, json!({}), json!(null)] {
            let line = json!({ "type": "ADDED", "object": object }).to_string();
            assert!(
                matches!(event(line.as_bytes()), Err(Failure::Nonsense(_))),
                "{line}"
            );
        }
        let unheard_of = json!({ "type": "MOVED", "object": {} }).to_string();
        assert!(matches!(
            event(unheard_of.as_bytes()),
            Err(Failure::Nonsense(_))
        ));
    }
}
