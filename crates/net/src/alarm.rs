//! The timer that ends the hub thread's waiting.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use tokio::time::{self, Sleep};

/// A timer that is set anew as seldom as possible.
///
/// Each heartbeat puts off what there is to wait for, and setting a timer costs more than reading a
/// heartbeat. So one that is set too early is left to ring: whoever waits looks at the clock, finds
/// nothing due, and waits on.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    sleep: Option<Pin<Box<Sleep>>>,
    /// When it will ring; `None` if it has.
    set: Option<Instant>,
}

impl Alarm {
    /// Ready at `timeout`, or earlier. Has to be called within a runtime.
    pub(crate) fn poll(&mut self, timeout: Option<Instant>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(timeout) = timeout else {
            return Poll::Pending;
        };
        let sleep = self
            .sleep
            .get_or_insert_with(|| Box::pin(time::sleep_until(timeout.into())));
        if self.set.is_none_or(|at| timeout < at) {
            sleep.as_mut().reset(timeout.into());
            self.set = Some(timeout);
        }
        ready!(sleep.as_mut().poll(cx));
        self.set = None;
        Poll::Ready(())
    }
}

#[cfg(test)]
mod tests {
    use std::future;
    use std::time::Duration;

    use tokio::runtime::{Builder, Runtime};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// In which time passes as soon as everybody waits.
    fn runtime() -> Runtime {
        let mut builder = Builder::new_current_thread();
        builder.enable_time().start_paused(true).build().unwrap()
    }

    /// How long it is until the alarm rings.
    async fn wait(alarm: &mut Alarm, timeout: Instant) -> Duration {
        let start = time::Instant::now();
        future::poll_fn(|cx| alarm.poll(Some(timeout), cx)).await;
        start.elapsed()
    }

    #[test]
    fn rings_at_the_latest_when_it_is_asked_to() {
        runtime().block_on(async {
            let (mut alarm, start) = (Alarm::default(), time::Instant::now().into_std());
            assert_eq!(wait(&mut alarm, start + SECOND).await, SECOND);
            assert_eq!(wait(&mut alarm, start + 3 * SECOND).await, 2 * SECOND);
        });
    }

    #[test]
    fn is_set_anew_for_what_is_earlier_only() {
        runtime().block_on(async {
            let (mut alarm, start) = (Alarm::default(), time::Instant::now().into_std());
            for seconds in [2, 5, 1, 9] {
                let timeout = Some(start + seconds * SECOND);
                future::poll_fn(|cx| {
                    assert!(alarm.poll(timeout, cx).is_pending());
                    Poll::Ready(())
                })
                .await;
            }
            assert_eq!(wait(&mut alarm, start + 9 * SECOND).await, SECOND);
            assert_eq!(wait(&mut alarm, start + 9 * SECOND).await, 8 * SECOND);
        });
    }
}
