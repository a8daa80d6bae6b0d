//! `imq-announcer`: announces a Redis from beside it.
//!
//! For a Redis that may not load a module: a managed one, Valkey, KeyDB, a locked-down image. It
//! asks the Redis how it is (`redis/`), decides whether and at which addresses services are to be
//! told of it (`redis/health.rs`, `advertise.rs`, `listening.rs`), and tells them (`announcing.rs`, on the thread of
//! `imqueue-udp-net`). `app.rs` connects these; all but the sending happens on one thread.

mod advertise;
mod announcing;
mod app;
mod cli;
mod given;
mod http;
mod listening;
mod log;
mod metrics;
mod recipe;
mod redis;
mod settings;
mod signals;
mod status;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::cli::Cli;
use crate::settings::Settings;

/// It could not begin: a setting is wrong, or a port is taken.
const NOT_BEGUN: u8 = 2;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let settings = match Settings::read(&cli) {
        Ok(settings) => settings,
        Err(error) => return fail(&error.to_string()),
    };
    if cli.print_config {
        // Whoever closed standard output does not want to know.
        let _ = write!(io::stdout(), "{settings}");
        return ExitCode::SUCCESS;
    }
    match app::run(settings) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error.to_string()),
    }
}

fn fail(message: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "imq-announcer: error: {message}");
    ExitCode::from(NOT_BEGUN)
}
