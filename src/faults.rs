//! Panics at will: tests show with them that one takes neither the process down nor the fleet.

use imqueue_udp_net as net;
use napi_derive::napi;

/// Panics on the hub thread, if there is one.
#[napi(catch_unwind)]
pub(crate) fn panic_in_hub(message: String) {
    net::inject_panic(message);
}

/// Panics right here, on the JavaScript thread.
#[napi(catch_unwind)]
pub(crate) fn panic_in_call(message: String) {
    panic!("{message}");
}
