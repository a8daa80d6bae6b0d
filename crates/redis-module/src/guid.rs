//! How a broker is told from all others.

use std::fs::File;
use std::io::{self, Read};

/// A random UUID (version 4).
///
/// # Errors
///
/// The system has no randomness to give.
pub(crate) fn guid() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format(u128::from_be_bytes(bytes)))
}

fn format(random: u128) -> String {
    let marked = random & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let hex = format!("{marked:032x}");
    let parts = [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ];
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_a_uuid_of_version_4() {
        assert_eq!(format(0), "00000000-0000-4000-8000-000000000000");
        assert_eq!(format(u128::MAX), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    }

    #[test]
    fn no_two_are_the_same() {
        assert_ne!(guid().unwrap(), guid().unwrap());
    }
}
