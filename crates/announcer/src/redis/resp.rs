//! The part of the Redis protocol (RESP2) that the sidecar speaks: commands, and replies to them.

use std::io::Write;

use thiserror::Error;

/// No reply that is asked for comes near it; whatever is longer comes from something else than a
/// Redis.
pub(crate) const MAX_REPLY: usize = 256 * 1024;

/// How deeply lists stand in lists: `ROLE` has a list of replicas, and KeyDB one of such lists.
const MAX_DEPTH: usize = 4;

/// What a Redis replied.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Reply {
    /// A status or a string.
    Text(String),
    /// It refuses, and begins with a word that says why: `NOAUTH`, `LOADING`.
    Error(String),
    Integer(i64),
    Nil,
    List(Vec<Self>),
}

/// What came in is no reply of a Redis.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("what answers there is no Redis")]
pub(crate) struct ProtocolError;

/// A command with its arguments, ready to send.
pub(crate) fn command(words: &[&str]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        write!(bytes, "${}\r\n{word}\r\n", word.len()).expect("a vector takes all that is written");
    }
    bytes
}

/// The first reply in `bytes`, and how many of them it takes up. `None` while it is not complete.
pub(crate) fn decode(bytes: &[u8]) -> Result<Option<(Reply, usize)>, ProtocolError> {
    let mut reader = Reader { bytes, read: 0 };
    match reader.reply(0)? {
        Some(reply) => Ok(Some((reply, reader.read))),
        None if bytes.len() < MAX_REPLY => Ok(None),
        None => Err(ProtocolError),
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    read: usize,
}

impl Reader<'_> {
    fn reply(&mut self, depth: usize) -> Result<Option<Reply>, ProtocolError> {
        let Some(line) = self.line()? else {
            return Ok(None);
        };
        let (kind, text) = line.split_at_checked(1).ok_or(ProtocolError)?;
        match kind {
            "+" => Ok(Some(Reply::Text(text.to_owned()))),
            "-" => Ok(Some(Reply::Error(text.to_owned()))),
            ":" => number(text).map(|number| Some(Reply::Integer(number))),
            "$" => self.string(number(text)?),
            "*" if depth < MAX_DEPTH => self.list(number(text)?, depth),
            _ => Err(ProtocolError),
        }
    }

    fn list(&mut self, length: i64, depth: usize) -> Result<Option<Reply>, ProtocolError> {
        // Nothing is set aside for elements that were only promised.
        let mut list = Vec::new();
        match length {
            -1 => return Ok(Some(Reply::Nil)),
            0.. => {}
            _ => return Err(ProtocolError),
        }
        for _ in 0..length {
            match self.reply(depth + 1)? {
                Some(reply) => list.push(reply),
                None => return Ok(None),
            }
        }
        Ok(Some(Reply::List(list)))
    }

    fn string(&mut self, length: i64) -> Result<Option<Reply>, ProtocolError> {
        if length == -1 {
            return Ok(Some(Reply::Nil));
        }
        let length = usize::try_from(length).map_err(|_| ProtocolError)?;
        if length > MAX_REPLY {
            return Err(ProtocolError);
        }
        let rest = &self.bytes[self.read..];
        let Some(text) = rest.get(..length) else {
            return Ok(None);
        };
        match rest.get(length..length + 2) {
            Some(b"\r\n") => {}
            Some(_) => return Err(ProtocolError),
            None => return Ok(None),
        }
        self.read += length + 2;
        Ok(Some(Reply::Text(
            String::from_utf8_lossy(text).into_owned(),
        )))
    }

    /// The next line, without its end.
    fn line(&mut self) -> Result<Option<String>, ProtocolError> {
        let rest = &self.bytes[self.read..];
        let Some(end) = rest.windows(2).position(|pair| pair == b"\r\n") else {
            // What speaks another protocol may never send one.
            let known = rest.first().is_none_or(|kind| b"+-:$*".contains(kind));
            return if known { Ok(None) } else { Err(ProtocolError) };
        };
        self.read += end + 2;
        Ok(Some(String::from_utf8_lossy(&rest[..end]).into_owned()))
    }
}

fn number(text: &str) -> Result<i64, ProtocolError> {
    text.parse().map_err(|_| ProtocolError)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Reply {
        Reply::Text(text.to_owned())
    }

    #[test]
    fn commands_tell_the_length_of_each_word() {
        let bytes = command(&["AUTH", "pass word", "é"]);
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            "*3\r\n$4\r\nAUTH\r\n$9\r\npass word\r\n$2\r\né\r\n"
        );
    }

    #[test]
    fn reads_every_kind_of_reply() {
        let replies = [
            ("+PONG\r\n", text("PONG")),
            (
                "-NOAUTH needed\r\n",
                Reply::Error("NOAUTH needed".to_owned()),
            ),
            (":-7\r\n", Reply::Integer(-7)),
            ("$6\r\nab\r\ncd\r\n", text("ab\r\ncd")),
            ("$0\r\n\r\n", text("")),
            ("$-1\r\n", Reply::Nil),
            ("*-1\r\n", Reply::Nil),
            ("*0\r\n", Reply::List(Vec::new())),
            (
                "*3\r\n$6\r\nmaster\r\n:5\r\n*1\r\n*1\r\n+x\r\n",
                Reply::List(vec![
                    text("master"),
                    Reply::Integer(5),
                    Reply::List(vec![Reply::List(vec![text("x")])]),
                ]),
            ),
        ];
        for (bytes, reply) in replies {
            let followed = format!("{bytes}+more\r\n");
            assert_eq!(decode(followed.as_bytes()), Ok(Some((reply, bytes.len()))));
        }
    }

    #[test]
    fn waits_for_what_is_missing() {
        let whole = b"*2\r\n$6\r\nmaster\r\n:5\r\n";
        for length in 0..whole.len() {
            assert_eq!(decode(&whole[..length]), Ok(None), "{length}");
        }
    }

    #[test]
    fn refuses_what_is_no_redis() {
        let deep = "*1\r\n".repeat(MAX_DEPTH + 1);
        let endless = format!("+{}", "x".repeat(MAX_REPLY));
        for bytes in [
            "HTTP/1.1 400 Bad Request\r\n",
            "HTTP",
            "\r\n",
            ":x\r\n",
            "$-2\r\n",
            "*-2\r\n",
            "$999999999999\r\n",
            "$1\r\nabc",
            &deep,
            &endless,
        ] {
            assert_eq!(decode(bytes.as_bytes()), Err(ProtocolError), "{bytes:.40}");
        }
    }

    #[test]
    fn sets_nothing_aside_for_what_is_only_promised() {
        assert_eq!(decode(b"*9223372036854775807\r\n:1\r\n"), Ok(None));
    }
}
