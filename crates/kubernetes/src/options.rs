//! What to watch, and how.

use std::path::PathBuf;
use std::time::Duration;

use crate::error::StartError;

/// What to watch, and how patiently.
#[derive(Clone, Debug)]
pub struct PodsOptions {
    /// The namespace of the pods. `None`: that of the pod's own service account, or `default` if
    /// [`server`](Self::server) is given. One that does not exist has no pods, which is said.
    pub namespace: Option<String>,
    /// A label selector, as `kubectl get pods -l` takes it. `None`: all pods. One that matches the
    /// wrong pods leaves services without brokers.
    pub selector: Option<String>,
    /// The pause between two lists where only `list` is granted. Default: 5 s, and at least
    /// 0.1 s. A new pod waits for its brokers for so long.
    pub refresh: Duration,
    /// How long the API may take to answer a request. Default: 5 s. A large list comes in pages,
    /// which have that long each.
    pub timeout: Duration,
    /// How long the last list is used while the API does not confirm it; then all of it is given
    /// up, and told as [`Changed`](crate::PodsEvent::Changed) without an address. Default: `None`,
    /// for ever. With a time shorter than the API's absences, every absence disconnects the fleet.
    pub max_age: Option<Duration>,
    /// How long one watch request lasts, in whole seconds, at least one. Default: 30 s. A connection
    /// that went mute is noticed [`timeout`](Self::timeout) after that. Where `max_age` is shorter,
    /// it counts.
    pub watch: Duration,
    /// Where the API is. `None`: where the environment and the service account of the pod say.
    pub server: Option<ApiServer>,
}

impl Default for PodsOptions {
    fn default() -> Self {
        Self {
            namespace: None,
            selector: None,
            refresh: Duration::from_secs(5),
            timeout: Duration::from_secs(5),
            max_age: None,
            watch: Duration::from_secs(30),
            server: None,
        }
    }
}

/// An API server that is not where a pod would look for it.
#[derive(Clone, Debug)]
pub struct ApiServer {
    /// Its address, like `https://10.0.0.1:6443`.
    pub url: String,
    /// A file with the certificates, in PEM, that its own must be signed with. `None`: those of the
    /// system.
    pub ca_file: Option<PathBuf>,
    /// A file with a bearer token, read anew for every request. `None`: requests without one.
    pub token_file: Option<PathBuf>,
}

impl PodsOptions {
    /// Whether [`Pods::watch`](crate::Pods::watch) would take them.
    ///
    /// # Errors
    ///
    /// What can never work, whatever the API answers.
    pub fn check(&self) -> Result<(), StartError> {
        if let Some(namespace) = &self.namespace
            && !is_label(namespace)
        {
            return Err(StartError::Namespace(namespace.as_str().into()));
        }
        if let Some(server) = &self.server {
            let url = server.url.parse::<http::Uri>();
            if !url.is_ok_and(|url| url.scheme().is_some() && url.host().is_some()) {
                return Err(StartError::Url(server.url.as_str().into()));
            }
        }
        Ok(())
    }

    /// How long one watch request lasts.
    pub(crate) fn watch_seconds(&self) -> u32 {
        let watch = self.max_age.map_or(self.watch, |age| age.min(self.watch));
        u32::try_from(watch.as_secs()).unwrap_or(u32::MAX).max(1)
    }
}

/// Whether it is a name for a namespace, and so safe in a URL: an RFC 1123 label.
pub(crate) fn is_label(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=63).contains(&text.len())
        && text.bytes().all(allowed)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_namespaces() {
        for good in ["prod", "a", "team-1", &"x".repeat(63)] {
            assert!(is_label(good), "{good}");
        }
        for bad in ["", "-a", "a-", "A", "a.b", "../x", "a/b", &"x".repeat(64)] {
            assert!(!is_label(bad), "{bad}");
        }
    }

    #[test]
    fn what_can_never_work_is_no_start() {
        let namespace = PodsOptions {
            namespace: Some("a/../b".into()),
            ..PodsOptions::default()
        };
        let error = namespace.check().unwrap_err().to_string();
        assert!(error.contains(r#""a/../b""#), "{error}");

        for url in ["", "10.0.0.1:6443", "https://", "https://a b"] {
            let server = ApiServer {
                url: url.into(),
                ca_file: None,
                token_file: None,
            };
            let options = PodsOptions {
                server: Some(server),
                ..PodsOptions::default()
            };
            assert!(matches!(options.check(), Err(StartError::Url(_))), "{url}");
        }
        assert!(PodsOptions::default().check().is_ok());
    }

    #[test]
    fn a_watch_lasts_no_longer_than_the_list_may_age() {
        let seconds = |watch, max_age: Option<u64>| {
            let options = PodsOptions {
                watch: Duration::from_millis(watch),
                max_age: max_age.map(Duration::from_millis),
                ..PodsOptions::default()
            };
            options.watch_seconds()
        };
        assert_eq!(seconds(30_000, None), 30);
        assert_eq!(seconds(30_000, Some(12_000)), 12);
        assert_eq!(seconds(30_000, Some(60_000)), 30);
        assert_eq!(seconds(300, Some(0)), 1);
    }
}
