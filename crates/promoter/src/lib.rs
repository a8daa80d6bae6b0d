//! The Redis module `promoter`: announces the Redis that loads it by broadcast, on every network
//! that Redis listens on.
//!
//! Settings are those of [`imqueue_redis_module`].

#![cfg(unix)]

use std::ffi::CStr;

use imqueue_redis_module::{Audience, Options, Recipe, Voice};

/// Tells everybody on the broker's own networks.
#[derive(Debug)]
struct Promoter;

impl Recipe for Promoter {
    const NAME: &'static CStr = c"promoter";
    const AUDIENCE: Audience = Audience::Networks;

    fn start(_options: &mut Options, _voice: Voice) -> Result<Self, Box<dyn std::error::Error>> {
        Ok(Self)
    }
}

imqueue_redis_module::export!(Promoter);
