//! A connection to a Redis: TCP or a Unix socket, with TLS or without, logged in.
//!
//! Why not a client library: what matters here is to notice at once that an idle connection was
//! closed. The `redis` crate tells that by a push message, which needs RESP3, that is, a server and
//! whatever stands before it that know `HELLO 3`. It would also bring some thirty crates to a
//! program that sends four commands, and read replies of any size.

use std::io;
use std::path::Path;

use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

use super::answer::{self, Answer, Role};
use super::resp::{self, Reply};
use super::{Login, Place, Target};

/// Whatever carries bytes both ways.
trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// A connection on which a Redis has answered.
pub(crate) struct Connection {
    stream: Box<dyn Stream>,
    received: Vec<u8>,
    run_id: Option<String>,
    ask: Ask,
}

/// Why there is no connection.
#[derive(Debug, Error)]
pub(crate) enum OpenError {
    /// Nobody answers there, or something that is no Redis.
    #[error(transparent)]
    Unreachable(#[from] io::Error),
    /// It does not let us in; its own words.
    #[error("{0}")]
    Refused(String),
}

/// How the role is asked for: by the first command that is allowed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Ask {
    Role,
    Info,
    Nothing,
}

impl Connection {
    /// Connects, logs in, and asks which run of the Redis this is.
    ///
    /// # Errors
    ///
    /// Nobody answers there, or something that is no Redis, or one that does not let us in.
    pub(crate) async fn open(target: &Target) -> Result<Self, OpenError> {
        let stream = match &target.place {
            Place::Host(host, port) => {
                let stream = TcpStream::connect((host.as_str(), *port)).await?;
                // Questions are short, and each waits for its answer.
                stream.set_nodelay(true)?;
                match &target.tls {
                    None => Box::new(stream) as Box<dyn Stream>,
                    Some(tls) => Box::new(tls.connect(stream).await?),
                }
            }
            Place::Socket(path) => connect_socket(path).await?,
        };
        Self::greet(stream, &target.login).await
    }

    async fn greet(stream: Box<dyn Stream>, login: &Login) -> Result<Self, OpenError> {
        let mut connection = Self {
            stream,
            received: Vec::new(),
            run_id: None,
            ask: Ask::Role,
        };
        connection.log_in(login).await?;
        let info = connection.ask(&["INFO", "server"]).await?;
        match &info {
            // It is closed right after this: there are too many clients, or it is protected.
            Reply::Error(words) if !answer::is_not_allowed(&info) => {
                Err(OpenError::Refused(words.clone()))
            }
            _ => {
                connection.run_id = answer::run_id(&info).map(ToOwned::to_owned);
                Ok(connection)
            }
        }
    }

    async fn log_in(&mut self, login: &Login) -> Result<(), OpenError> {
        let Some(password) = &login.password else {
            return Ok(());
        };
        let password = password.read()?;
        let mut words = vec!["AUTH"];
        words.extend(login.user.as_deref());
        words.push(&password);
        match self.ask(&words).await? {
            Reply::Error(words) => Err(OpenError::Refused(words)),
            _ => Ok(()),
        }
    }

    /// Which run of the Redis it is. `None`: it does not tell.
    pub(crate) fn run_id(&self) -> Option<&str> {
        self.run_id.as_deref()
    }

    /// Whether the Redis tells if it is a master; known once it was probed.
    pub(crate) fn tells_role(&self) -> bool {
        self.ask != Ask::Nothing
    }

    /// Asks the Redis how it is.
    ///
    /// # Errors
    ///
    /// The connection is gone.
    pub(crate) async fn probe(&mut self) -> io::Result<Answer> {
        let ping = self.ask(&["PING"]).await?;
        let role = self.role().await?;
        Ok(answer::judge(&ping, role))
    }

    /// Waits until the connection is gone, and returns why.
    pub(crate) async fn closed(&mut self) -> io::Error {
        match self.receive().await {
            Ok(()) => invalid("it says what it was not asked"),
            Err(error) => error,
        }
    }

    async fn role(&mut self) -> io::Result<Role> {
        if self.ask == Ask::Role {
            let reply = self.ask(&["ROLE"]).await?;
            if !answer::is_not_allowed(&reply) {
                return Ok(answer::role(&reply));
            }
            self.ask = Ask::Info;
        }
        if self.ask == Ask::Info {
            let reply = self.ask(&["INFO", "replication"]).await?;
            if !answer::is_not_allowed(&reply) {
                return Ok(answer::role_in_info(&reply));
            }
            self.ask = Ask::Nothing;
        }
        Ok(Role::Unknown)
    }

    async fn ask(&mut self, words: &[&str]) -> io::Result<Reply> {
        self.stream.write_all(&resp::command(words)).await?;
        self.stream.flush().await?;
        loop {
            if let Some((reply, length)) = resp::decode(&self.received).map_err(invalid)? {
                self.received.drain(..length);
                return Ok(reply);
            }
            self.receive().await?;
        }
    }

    async fn receive(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.received).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

#[cfg(unix)]
async fn connect_socket(path: &Path) -> io::Result<Box<dyn Stream>> {
    Ok(Box::new(tokio::net::UnixStream::connect(path).await?))
}

#[cfg(not(unix))]
async fn connect_socket(_: &Path) -> io::Result<Box<dyn Stream>> {
    Err(io::ErrorKind::Unsupported.into())
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests {
    use tokio::io::DuplexStream;

    use super::*;
    use crate::redis::Password;

    const INFO: &str = "$14\r\nrun_id:4711abc\r\n";
    const NOPERM: &str = "-NOPERM no permissions\r\n";

    /// A connection to something that sends these replies, whatever it is asked; and what it was
    /// asked.
    async fn open(login: &Login, replies: &str) -> (Result<Connection, OpenError>, DuplexStream) {
        let (near, mut far) = tokio::io::duplex(4096);
        far.write_all(replies.as_bytes()).await.unwrap();
        (Connection::greet(Box::new(near), login).await, far)
    }

    async fn asked(mut far: DuplexStream, connection: Connection) -> Vec<String> {
        drop(connection);
        let mut text = String::new();
        far.read_to_string(&mut text).await.unwrap();
        let commands = text.split('*').skip(1);
        commands
            .map(|command| {
                let words: Vec<_> = command.lines().skip(2).step_by(2).collect();
                words.join(" ")
            })
            .collect()
    }

    #[tokio::test]
    async fn logs_in_and_asks_for_the_run() {
        let login = Login {
            user: Some("probe".to_owned()),
            password: Some(Password::Text("secret".to_owned())),
        };
        let (connection, far) = open(&login, &format!("+OK\r\n{INFO}")).await;
        let connection = connection.unwrap();
        assert_eq!(connection.run_id(), Some("4711abc"));
        assert_eq!(
            asked(far, connection).await,
            ["AUTH probe secret", "INFO server"]
        );

        let full = "-ERR max number of clients reached\r\n";
        let (refused, _far) = open(&Login::default(), full).await;
        assert!(matches!(refused, Err(OpenError::Refused(words)) if words.starts_with("ERR max")));

        let (refused, _far) = open(&login, "-WRONGPASS invalid username-password pair\r\n").await;
        assert!(refused.err().unwrap().to_string().starts_with("WRONGPASS"));
    }

    #[tokio::test]
    async fn asks_for_the_role_with_what_is_allowed() {
        let replies =
            format!("{INFO}+PONG\r\n{NOPERM}$10\r\nrole:slave\r\n+PONG\r\n$11\r\nrole:master\r\n");
        let (connection, far) = open(&Login::default(), &replies).await;
        let mut connection = connection.unwrap();
        assert_eq!(connection.probe().await.unwrap(), Answer::Replica);
        assert_eq!(connection.probe().await.unwrap(), Answer::Master);
        assert!(connection.tells_role());
        assert_eq!(
            asked(far, connection).await,
            [
                "INFO server",
                "PING",
                "ROLE",
                "INFO replication",
                "PING",
                "INFO replication"
            ]
        );
    }

    #[tokio::test]
    async fn is_content_with_ping() {
        let replies = format!("{NOPERM}+PONG\r\n{NOPERM}{NOPERM}+PONG\r\n");
        let (connection, far) = open(&Login::default(), &replies).await;
        let mut connection = connection.unwrap();
        assert_eq!(connection.run_id(), None);
        assert_eq!(connection.probe().await.unwrap(), Answer::Master);
        assert_eq!(connection.probe().await.unwrap(), Answer::Master);
        assert!(!connection.tells_role());
        assert_eq!(asked(far, connection).await.last().unwrap(), "PING");
    }

    #[tokio::test]
    async fn notices_that_it_is_closed() {
        let (connection, far) = open(&Login::default(), INFO).await;
        let mut connection = connection.unwrap();
        drop(far);
        let error = connection.closed().await;
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        assert!(connection.probe().await.is_err());
    }

    #[tokio::test]
    async fn does_not_listen_to_what_is_no_redis() {
        let (connection, _far) = open(&Login::default(), "HTTP/1.1 400 Bad Request\r\n").await;
        let error = connection.err().unwrap();
        assert_eq!(error.to_string(), "what answers there is no Redis");

        let (connection, mut far) = open(&Login::default(), INFO).await;
        far.write_all(b"+more\r\n").await.unwrap();
        let error = connection.unwrap().closed().await;
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
