//! Bytes that come in pieces, as lines.

/// Puts lines together.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    bytes: Vec<u8>,
    /// How much of it has been given out.
    taken: usize,
}

/// No line of a watch is longer: etcd stores no object of over 1.5 MiB.
const MAX_LINE: usize = 4 << 20;

impl Lines {
    /// Adds what came.
    pub(crate) fn push(&mut self, piece: &[u8]) {
        self.bytes.drain(..self.taken);
        self.taken = 0;
        self.bytes.extend_from_slice(piece);
    }

    /// The next whole line that is not blank, without its end.
    pub(crate) fn next(&mut self) -> Option<&[u8]> {
        loop {
            let start = self.taken;
            let length = self.bytes[start..].iter().position(|&byte| byte == b'\n')?;
            let end = start + length;
            self.taken = end + 1;
            if !self.bytes[start..end].trim_ascii().is_empty() {
                return Some(&self.bytes[start..end]);
            }
        }
    }

    /// Whether the line that has no end yet is longer than any can be.
    pub(crate) const fn is_too_long(&self) -> bool {
        self.bytes.len() - self.taken > MAX_LINE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_whole_whatever_the_pieces() {
        let text = b"one\n\ntwo\r\n \nthree\nfour";
        for size in 1..=text.len() {
            let mut lines = Lines::default();
            let mut found = Vec::new();
            for piece in text.chunks(size) {
                lines.push(piece);
                while let Some(line) = lines.next() {
                    found.push(line.trim_ascii().to_vec());
                }
            }
            assert_eq!(found, [&b"one"[..], b"two", b"three"], "pieces of {size}");
        }
    }

    #[test]
    fn a_line_without_end_is_noticed() {
        let mut lines = Lines::default();
        lines.push(b"one\n");
        assert_eq!(lines.next(), Some(&b"one"[..]));
        lines.push(&vec![b'x'; MAX_LINE]);
        assert_eq!(lines.next(), None);
        assert!(!lines.is_too_long());
        lines.push(b"x");
        assert_eq!(lines.next(), None);
        assert!(lines.is_too_long());
    }
}
