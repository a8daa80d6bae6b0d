//! How close to the kernel's own cost receiving and announcing are, in CPU time of the thread:
//! `cargo bench -p imqueue-udp-net`. With `--json` in one line, for `npm run bench`; with `--quick`
//! in a second or so.
//!
//! All sides take turns, in one process, so that whatever else the machine does meets them alike.
//! What is shown are medians of many turns. With `--wakes` it is instead how long two threads take
//! to be woken one after the other.

#[cfg(target_os = "linux")]
mod announce;
#[cfg(target_os = "linux")]
mod cpu;
#[cfg(target_os = "linux")]
mod incoming;
#[cfg(target_os = "linux")]
mod measure;
#[cfg(target_os = "linux")]
mod receive;
#[cfg(target_os = "linux")]
mod sending;
#[cfg(target_os = "linux")]
mod wakes;

fn main() -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    measure::run()?;
    Ok(())
}
