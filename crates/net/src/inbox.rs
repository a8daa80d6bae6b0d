//! Where the hub leaves what a user has to know, and how it calls the user to fetch it.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use imqueue_udp_core::Throttle;

/// Called on the hub thread when there is something to take, once for any number of news.
///
/// It must not block, nor call anything of this crate. It may take a lock, provided that nobody
/// drops a [`Listener`](crate::Listener) or an [`Announcer`](crate::Announcer) while holding that
/// lock: the drop waits for a running call to end.
pub type Waker = Arc<dyn Fn() + Send + Sync>;

/// News of the kind `M` for one user, shared between the user and the hub.
pub(crate) struct Inbox<M> {
    mail: Mutex<Mail<M>>,
    /// Empty once the user is gone. Held during the call, so that none runs after that.
    waker: Mutex<Option<Waker>>,
}

struct Mail<M> {
    news: M,
    /// The user has been called and has not come yet.
    called: bool,
}

impl<M: Default> Inbox<M> {
    pub(crate) fn new(waker: Waker) -> Self {
        let mail = Mail {
            news: M::default(),
            called: false,
        };
        Self {
            mail: Mutex::new(mail),
            waker: Mutex::new(Some(waker)),
        }
    }

    /// Lets `write` add news, and calls the user if it says that there are some.
    pub(crate) fn post(&self, write: impl FnOnce(&mut M) -> bool) {
        let call = {
            let mut mail = lock(&self.mail);
            write(&mut mail.news) && !std::mem::replace(&mut mail.called, true)
        };
        if call {
            self.call();
        }
    }

    /// Lets `write` add news that somebody will [`call`](Self::call) the user for.
    pub(crate) fn post_quietly(&self, write: impl FnOnce(&mut M)) {
        write(&mut lock(&self.mail).news);
    }

    /// Calls the user, even one who has been called: that call may have been cut short.
    pub(crate) fn call(&self) {
        if let Some(waker) = &*lock(&self.waker) {
            waker();
        }
    }

    /// Takes the news out; from now on the user is called again.
    pub(crate) fn take<T>(&self, read: impl FnOnce(&mut M) -> T) -> T {
        let mut mail = lock(&self.mail);
        mail.called = false;
        read(&mut mail.news)
    }

    /// The user is gone: after this the waker is neither called nor kept.
    pub(crate) fn close(&self) {
        let waker = lock(&self.waker).take();
        drop(waker);
    }
}

impl<M> fmt::Debug for Inbox<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox").finish_non_exhaustive()
    }
}

/// A message that can come again and again.
pub(crate) trait Repeating {
    /// What makes two messages the same.
    fn code(&self) -> &'static str;

    /// Counts the messages that this one stands for beside itself. A message without such a counter
    /// tells of a new state and is never held back.
    fn held_back(&mut self) -> Option<&mut u64>;
}

/// Messages to an operator that wait to be taken: at most one of each code, and of those that repeat
/// no more than one a minute.
#[derive(Debug)]
pub(crate) struct Messages<T> {
    waiting: Vec<T>,
    throttle: Throttle<&'static str>,
}

impl<T: Repeating> Messages<T> {
    /// Says whether the message waits to be taken now, or was held back.
    pub(crate) fn push(&mut self, now: Instant, mut message: T) -> bool {
        let code = message.code();
        if let Some(held_back) = message.held_back() {
            let Some(count) = self.throttle.admit(now, code) else {
                return false;
            };
            *held_back = count;
        }
        if let Some(place) = self
            .waiting
            .iter()
            .position(|waiting| waiting.code() == code)
        {
            let mut former = self.waiting.remove(place);
            if let (Some(held_back), Some(more)) = (message.held_back(), former.held_back()) {
                *held_back += *more + 1;
            }
        }
        self.waiting.push(message);
        true
    }

    pub(crate) fn take(&mut self) -> Vec<T> {
        std::mem::take(&mut self.waiting)
    }
}

impl<T> Default for Messages<T> {
    fn default() -> Self {
        Self {
            waiting: Vec::new(),
            throttle: Throttle::new(),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    fn counted() -> (Inbox<Vec<u8>>, Arc<AtomicUsize>) {
        let calls = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&calls);
        let waker: Waker = Arc::new(move || {
            counter.fetch_add(1, Ordering::Relaxed);
        });
        (Inbox::new(waker), calls)
    }

    fn post(inbox: &Inbox<Vec<u8>>, news: u8) {
        inbox.post(|mail| {
            mail.push(news);
            true
        });
    }

    #[test]
    fn calls_once_until_the_news_are_taken() {
        let (inbox, calls) = counted();
        post(&inbox, 1);
        post(&inbox, 2);
        assert_eq!(calls.load(Ordering::Relaxed), 1);
        assert_eq!(inbox.take(std::mem::take), [1, 2]);

        post(&inbox, 3);
        assert_eq!(calls.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn does_not_call_without_news() {
        let (inbox, calls) = counted();
        inbox.post(|_| false);
        assert_eq!(calls.load(Ordering::Relaxed), 0);
        post(&inbox, 1);
        assert_eq!(calls.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_closed_inbox_keeps_no_waker() {
        let (inbox, calls) = counted();
        inbox.close();
        post(&inbox, 1);
        inbox.call();
        assert_eq!(calls.load(Ordering::Relaxed), 0);
        assert_eq!(Arc::strong_count(&calls), 1);
    }

    #[derive(Debug, PartialEq)]
    enum Message {
        Failed(u64),
        State(u8),
    }

    impl Repeating for Message {
        fn code(&self) -> &'static str {
            match self {
                Self::Failed(_) => "failed",
                Self::State(_) => "state",
            }
        }

        fn held_back(&mut self) -> Option<&mut u64> {
            match self {
                Self::Failed(held_back) => Some(held_back),
                Self::State(_) => None,
            }
        }
    }

    #[test]
    fn what_repeats_is_said_once_a_minute_with_a_count() {
        let mut messages = Messages::default();
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);

        assert!(messages.push(at(0), Message::Failed(0)));
        assert_eq!(messages.take(), [Message::Failed(0)]);
        assert!(!messages.push(at(1), Message::Failed(0)));
        assert!(!messages.push(at(59), Message::Failed(0)));
        assert!(messages.push(at(60), Message::Failed(0)));
        // Not taken for another minute: one message stands for all.
        assert!(messages.push(at(120), Message::Failed(0)));
        assert_eq!(messages.take(), [Message::Failed(3)]);
    }

    #[test]
    fn the_latest_state_is_always_told() {
        let mut messages = Messages::default();
        let now = Instant::now();
        messages.push(now, Message::State(1));
        messages.push(now, Message::Failed(0));
        messages.push(now, Message::State(2));
        assert_eq!(messages.take(), [Message::Failed(0), Message::State(2)]);
    }
}
