//! What ties native objects to the JavaScript environment that made them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use imqueue_udp_net as net;
use napi::bindgen_prelude::Function;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Result, Status};
use napi_derive::napi;

use crate::cleanup_hook;

/// One loaded copy of the facade in one JavaScript thread.
///
/// Between its constructor and [`close`](Self::close) it holds a handle of the event loop.
#[napi]
#[derive(Debug)]
pub struct Environment {
    id: u32,
}

#[napi]
impl Environment {
    /// Registers `wake`, which is called whenever a listener or an announcer of this environment
    /// has something to drain.
    #[napi(constructor, catch_unwind)]
    pub fn new(env: &Env, wake: Function<'_, (), ()>) -> Result<Self> {
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        let function = wake
            .build_threadsafe_function::<()>()
            .weak::<true>()
            .callee_handled::<false>()
            .build_callback(move |_| {
                begin_draining(id);
                Ok(())
            })?;
        wake_functions().insert(
            id,
            Wake {
                function,
                pending: false,
            },
        );

        // Hooks run last-in first-out: this one, added after the function was made, runs before
        // Node closes the function at the end of a worker thread.
        cleanup_hook::add(env, id).inspect_err(|_| evict(id))?;
        Ok(Self { id })
    }

    /// Keeps the event loop alive until [`unrefer`](Self::unrefer).
    #[napi(catch_unwind)]
    pub fn refer(&self, env: &Env) -> Result<()> {
        wake_functions()
            .get_mut(&self.id)
            .map_or(Ok(()), |wake| wake.keep_alive(env, true))
    }

    /// Lets the event loop end although listeners live.
    #[napi(catch_unwind)]
    pub fn unrefer(&self, env: &Env) -> Result<()> {
        wake_functions()
            .get_mut(&self.id)
            .map_or(Ok(()), |wake| wake.keep_alive(env, false))
    }

    /// Ends every listener and announcer of this environment and gives the handle back. Calling it
    /// again does nothing.
    #[napi(catch_unwind)]
    pub fn close(&self, env: &Env) -> Result<()> {
        evict(self.id);
        cleanup_hook::remove(env, self.id)
    }
}

impl Environment {
    /// What `net` calls on the hub thread when there is something to drain.
    pub(crate) fn waker(&self) -> net::Waker {
        let id = self.id;
        Arc::new(move || {
            if let Some(wake) = wake_functions().get_mut(&id)
                && !wake.pending
            {
                // Refused only while Node closes the function, when nobody is left to drain.
                let status = wake
                    .function
                    .call((), ThreadsafeFunctionCallMode::NonBlocking);
                wake.pending = status == Status::Ok;
            }
        })
    }

    /// Takes in what is to be ended no later than this environment.
    pub(crate) fn house<T: 'static>(&self, native: T) -> Rc<Resident<T>> {
        let resident = Rc::new(Resident(RefCell::new(Some(native))));
        let entry = Rc::downgrade(&resident) as Weak<dyn End>;
        RESIDENTS.with_borrow_mut(|residents| {
            let housed = residents.entry(self.id).or_default();
            housed.retain(|other| other.strong_count() > 0);
            housed.push(entry);
        });
        resident
    }
}

/// A native object that ends with its environment, if JavaScript did not end it before.
#[derive(Debug)]
pub(crate) struct Resident<T>(RefCell<Option<T>>);

impl<T> Resident<T> {
    /// What `read` makes of the native object; nothing once it has ended.
    pub(crate) fn with<R>(&self, read: impl FnOnce(&T) -> R) -> Option<R> {
        self.0.borrow().as_ref().map(read)
    }

    pub(crate) fn end(&self) {
        drop(self.0.take());
    }
}

trait End {
    fn end(&self);
}

impl<T> End for Resident<T> {
    fn end(&self) {
        Self::end(self);
    }
}

/// A weak function: it does not keep the event loop alive by itself.
type WakeFunction = ThreadsafeFunction<(), (), (), Status, false, true, 0>;

struct Wake {
    function: WakeFunction,
    /// A call is on its way to JavaScript, which has not begun to drain yet.
    pending: bool,
}

impl Wake {
    #[expect(
        deprecated,
        reason = "cloning, which napi proposes instead, does not do this"
    )]
    fn keep_alive(&mut self, env: &Env, on: bool) -> Result<()> {
        if on {
            self.function.refer(env)
        } else {
            self.function.unref(env)
        }
    }
}

/// Every live wake function of the process, by environment.
///
/// The one rule that keeps Node from a use-after-free: the hub thread calls a wake function only
/// while it holds this lock, and a wake function is taken out of here and dropped only on its own
/// JavaScript thread. A clone that outlived its environment would release freed memory.
static WAKE_FUNCTIONS: Mutex<BTreeMap<u32, Wake>> = Mutex::new(BTreeMap::new());

static NEXT_ID: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// What lives in the environments of this JavaScript thread.
    static RESIDENTS: RefCell<BTreeMap<u32, Vec<Weak<dyn End>>>> = const { RefCell::new(BTreeMap::new()) };
}

fn wake_functions() -> MutexGuard<'static, BTreeMap<u32, Wake>> {
    WAKE_FUNCTIONS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

/// The wake function of an environment is about to run: news from here on call it again.
fn begin_draining(id: u32) {
    if let Some(wake) = wake_functions().get_mut(&id) {
        wake.pending = false;
    }
}

/// Ends all that an environment houses, and drops its wake function outside of the lock.
pub(crate) fn evict(id: u32) {
    let housed = RESIDENTS
        .with_borrow_mut(|residents| residents.remove(&id))
        .unwrap_or_default();
    for resident in housed.iter().filter_map(Weak::upgrade) {
        resident.end();
    }
    let wake = wake_functions().remove(&id);
    drop(wake);
}
