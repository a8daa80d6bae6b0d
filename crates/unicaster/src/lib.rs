//! The Redis module `unicaster`: announces the Redis that loads it to the pods of a Kubernetes
//! namespace, each by itself, where the network delivers no broadcasts.
//!
//! A Redis that ends waits until all pods were told so. A thousand pods and fewer are told three times,
//! more of them once, and again as long as that ends within 50 ms.
//!
//! Settings are those of [`imqueue_redis_module`], and these:
//!
//! | variable | default | |
//! | --- | --- | --- |
//! | `DEPLOYMENT_ENV` | that of the own pod | the namespace |
//! | `REDIS_BROADCAST_PODS_REFRESH` | 5 | seconds between lists of pods, where watching is not allowed |
//! | `REDIS_BROADCAST_PODS_TIMEOUT` | 5 | seconds that a request may take |
//! | `REDIS_BROADCAST_PODS_MAX_AGE` | 0 | seconds after which the last list is given up while Kubernetes does not answer; 0 never |

#![cfg(unix)]

use std::error::Error;
use std::ffi::CStr;

use imqueue_kubernetes::{Pods, PodsEvent, PodsOptions};
use imqueue_redis_module::{Audience, Options, Recipe, Voice};

/// Tells the pods that Kubernetes names.
#[derive(Debug)]
struct Unicaster {
    /// Follows them until it is dropped.
    _pods: Pods,
}

impl Recipe for Unicaster {
    const NAME: &'static CStr = c"unicaster";
    const AUDIENCE: Audience = Audience::Hosts;

    fn start(options: &mut Options, voice: Voice) -> Result<Self, Box<dyn Error>> {
        let pods = Pods::watch(read(options), move |event| match event {
            PodsEvent::Changed(addresses) => voice.redirect(addresses),
            PodsEvent::Notice { level, message } => voice.log(level, message),
        })?;
        Ok(Self { _pods: pods })
    }
}

fn read(options: &mut Options) -> PodsOptions {
    let namespace = options.read(
        "DEPLOYMENT_ENV",
        "the name of a Kubernetes namespace",
        "the pod's own",
        |text| is_namespace(text).then(|| text.to_owned()),
    );
    let max_age = options.seconds("REDIS_BROADCAST_PODS_MAX_AGE", 0, 0);
    PodsOptions {
        namespace,
        refresh: options.seconds("REDIS_BROADCAST_PODS_REFRESH", 1, 5),
        timeout: options.seconds("REDIS_BROADCAST_PODS_TIMEOUT", 1, 5),
        max_age: (!max_age.is_zero()).then_some(max_age),
        ..PodsOptions::default()
    }
}

/// Whether it is a label as RFC 1123 has it.
fn is_namespace(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=63).contains(&text.len())
        && text.bytes().all(allowed)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

imqueue_redis_module::export!(Unicaster);

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn reads_what_the_original_reads() {
        let mut options = Options::new(&[], |name| {
            let value = match name {
                "DEPLOYMENT_ENV" => "production",
                "REDIS_BROADCAST_PODS_REFRESH" => "7",
                "REDIS_BROADCAST_PODS_TIMEOUT" => "2",
                "REDIS_BROADCAST_PODS_MAX_AGE" => "60",
                _ => return None,
            };
            Some(value.to_owned())
        });
        let pods = read(&mut options);
        assert_eq!(pods.namespace.as_deref(), Some("production"));
        assert_eq!((pods.refresh.as_secs(), pods.timeout.as_secs()), (7, 2));
        assert_eq!(pods.max_age, Some(Duration::from_secs(60)));
    }

    #[test]
    fn defaults_are_those_of_the_original() {
        let pods = read(&mut Options::new(&[], |_| None));
        assert_eq!((pods.namespace, pods.max_age), (None, None));
        assert_eq!((pods.refresh.as_secs(), pods.timeout.as_secs()), (5, 5));
    }

    #[test]
    fn knows_a_namespace() {
        for text in ["default", "a", "kube-system", "0"] {
            assert!(is_namespace(text), "{text}");
        }
        for text in ["", "-a", "a-", "A", "a.b", "a/b", &"a".repeat(64)] {
            assert!(!is_namespace(text), "{text}");
        }
    }
}
