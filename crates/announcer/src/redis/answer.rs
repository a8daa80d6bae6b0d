//! What the replies to a probe mean.

use super::resp::Reply;

/// How a Redis is, by its own word.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Answer {
    /// It serves, and takes writes.
    Master,
    /// It serves, and repeats what its master takes.
    Replica,
    /// It is reading its data and serves nobody yet.
    Loading,
    /// A script keeps it from serving. It may be done any moment.
    Busy,
    /// It does not serve, or not us; its own words.
    Refused(String),
}

/// Whether a Redis is a master, as far as we may know.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Role {
    Master,
    Replica,
    /// It watches others, and serves nobody.
    Sentinel,
    /// The reply does not tell, or we may not ask.
    Unknown,
}

/// Puts the reply to `PING` and the role together. One that does not tell its role counts as a
/// master.
pub(crate) fn judge(ping: &Reply, role: Role) -> Answer {
    match ping {
        Reply::Text(_) | Reply::List(_) => match role {
            Role::Master | Role::Unknown => Answer::Master,
            Role::Replica => Answer::Replica,
            Role::Sentinel => Answer::Refused("it is a Sentinel, not the Redis it watches".into()),
        },
        Reply::Error(error) => match first_word(error) {
            "LOADING" => Answer::Loading,
            "BUSY" => Answer::Busy,
            _ => Answer::Refused(error.clone()),
        },
        Reply::Integer(_) | Reply::Nil => Answer::Refused("PING is not answered with PONG".into()),
    }
}

/// Reads the reply to `ROLE`. KeyDB has a role for each master that it follows, and takes writes
/// itself if it is an active replica.
pub(crate) fn role(reply: &Reply) -> Role {
    match reply {
        Reply::List(list) => match list.first() {
            Some(Reply::Text(name)) => named(name),
            Some(nested @ Reply::List(_)) => role(nested),
            _ => Role::Unknown,
        },
        _ => Role::Unknown,
    }
}

/// Reads the reply to `INFO replication`.
pub(crate) fn role_in_info(reply: &Reply) -> Role {
    info_field(reply, "role").map_or(Role::Unknown, named)
}

/// Reads the reply to `INFO server`: what tells one run of a Redis from the next.
pub(crate) fn run_id(reply: &Reply) -> Option<&str> {
    info_field(reply, "run_id").filter(|id| !id.is_empty())
}

/// Whether the Redis lets us in, but not do this: by its ACL, by `rename-command`, or because what
/// stands between does not know it.
pub(crate) fn is_not_allowed(reply: &Reply) -> bool {
    match reply {
        Reply::Error(error) => {
            let unknown = ["unknown command", "unsupported command"];
            let lower = error.to_ascii_lowercase();
            first_word(error) == "NOPERM" || unknown.iter().any(|text| lower.contains(text))
        }
        _ => false,
    }
}

fn named(role: &str) -> Role {
    match role {
        "master" | "active-replica" => Role::Master,
        "slave" | "replica" => Role::Replica,
        "sentinel" => Role::Sentinel,
        _ => Role::Unknown,
    }
}

fn info_field<'a>(reply: &'a Reply, name: &str) -> Option<&'a str> {
    let Reply::Text(info) = reply else {
        return None;
    };
    let mut fields = info.lines().filter_map(|line| line.split_once(':'));
    fields
        .find(|(field, _)| *field == name)
        .map(|(_, value)| value.trim_end())
}

fn first_word(text: &str) -> &str {
    text.split_ascii_whitespace().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Reply {
        Reply::Text(text.to_owned())
    }

    fn error(text: &str) -> Reply {
        Reply::Error(text.to_owned())
    }

    fn list(name: &str) -> Reply {
        Reply::List(vec![text(name), Reply::Integer(0)])
    }

    #[test]
    fn pong_is_not_enough_to_be_a_master() {
        let pong = text("PONG");
        assert_eq!(judge(&pong, Role::Master), Answer::Master);
        assert_eq!(judge(&pong, Role::Replica), Answer::Replica);
        assert_eq!(judge(&pong, Role::Unknown), Answer::Master);
        assert!(matches!(judge(&pong, Role::Sentinel), Answer::Refused(_)));
    }

    #[test]
    fn errors_are_told_apart() {
        let judge = |text| judge(&error(text), Role::Master);
        assert_eq!(
            judge("LOADING Redis is loading the dataset in memory"),
            Answer::Loading
        );
        assert_eq!(judge("BUSY Redis is busy running a script."), Answer::Busy);
        for words in [
            "NOAUTH Authentication required.",
            "MISCONF Redis is configured to save RDB snapshots",
            "MASTERDOWN Link with MASTER is down",
            "",
        ] {
            assert_eq!(judge(words), Answer::Refused(words.to_owned()));
        }
    }

    #[test]
    fn reads_roles() {
        assert_eq!(role(&list("master")), Role::Master);
        assert_eq!(role(&list("slave")), Role::Replica);
        assert_eq!(role(&list("sentinel")), Role::Sentinel);
        assert_eq!(role(&list("arbiter")), Role::Unknown);
        assert_eq!(role(&error("NOPERM")), Role::Unknown);
        // KeyDB: several masters, and active replication.
        assert_eq!(role(&Reply::List(vec![list("slave")])), Role::Replica);
        assert_eq!(role(&list("active-replica")), Role::Master);
    }

    #[test]
    fn reads_what_info_tells() {
        let replication = text("# Replication\r\nrole:slave\r\nmaster_host:10.0.0.1\r\n");
        assert_eq!(role_in_info(&replication), Role::Replica);
        assert_eq!(role_in_info(&error("NOPERM")), Role::Unknown);

        let server = text("# Server\r\nredis_version:7.0.15\r\nrun_id:4711abc\r\ntcp_port:6379");
        assert_eq!(run_id(&server), Some("4711abc"));
        assert_eq!(run_id(&text("run_id:\r\n")), None);
        assert_eq!(run_id(&Reply::Nil), None);
    }

    #[test]
    fn knows_what_it_may_not_ask() {
        assert!(is_not_allowed(&error(
            "NOPERM this user has no permissions to run the 'role' command"
        )));
        assert!(is_not_allowed(&error("ERR unknown command 'INFO'")));
        assert!(!is_not_allowed(&error("NOAUTH Authentication required.")));
        assert!(!is_not_allowed(&error("ERR max number of clients reached")));
        assert!(!is_not_allowed(&list("master")));
    }
}
