//! The way to the API server: addresses, files, headers, and what its answers mean.

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use http::header::{AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use kube::client::Body;
use kube::core::response::Status;
use kube::{Client, Config};
use tokio::time::timeout;

use crate::account;
use crate::failure::{Failure, Verb, excerpt};
use crate::options::{ApiServer, PodsOptions, is_label};

/// An API server that can be asked, once connected.
pub(crate) struct Connection {
    client: Client,
    namespace: String,
    timeout: Duration,
    token_file: Option<PathBuf>,
}

/// No error has more to say.
const MAX_ERROR_BODY: usize = 64 << 10;

/// How many characters are shown of an answer that explains nothing.
const MAX_EXCERPT: usize = 120;

/// Who asks for a longer pause is asked again after this one: nobody has reserved the API for long.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

impl Connection {
    /// Reads the files of the service account. Nothing is sent.
    pub(crate) fn open(options: &PodsOptions) -> Result<Self, Failure> {
        let (mut config, token_file) = match &options.server {
            None => in_cluster()?,
            Some(server) => (elsewhere(server)?, server.token_file.clone()),
        };
        let own = config.default_namespace.trim();
        let namespace = options.namespace.as_deref().unwrap_or(own).to_owned();
        if !is_label(&namespace) {
            let named = format!("its namespace is named {namespace:?}");
            return Err(Failure::Account(named));
        }
        // Whoever is throttled tries again for an hour, in silence, if the client may.
        config.default_retry = false;
        config.connect_timeout = Some(options.timeout);
        let client = Client::try_from(config).map_err(|error| Failure::Account(chain(&error)))?;
        Ok(Self {
            client,
            namespace,
            timeout: options.timeout,
            token_file,
        })
    }

    pub(crate) fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Sends a request, and resolves with its answer once that has begun and is none of failure.
    pub(crate) async fn get(
        &self,
        verb: Verb,
        mut request: Request<Vec<u8>>,
    ) -> Result<Response<Body>, Failure> {
        let token = self.token()?;
        if let Some(token) = &token {
            let header = HeaderValue::try_from(format!("Bearer {token}"));
            let mut header = header.map_err(|_| Failure::Account("its token is no text".into()))?;
            header.set_sensitive(true);
            request.headers_mut().insert(AUTHORIZATION, header);
        }
        let answer = self.within(async {
            let sent = self.client.send(request.map(Body::from)).await;
            sent.map_err(|error| match error {
                // What kube adds says nothing.
                kube::Error::Service(cause) => unreachable(&*cause),
                other => unreachable(&other),
            })
        });
        let answer = answer.await?;
        if answer.status() == StatusCode::OK {
            Ok(answer)
        } else {
            Err(self.refusal(verb, answer, token.as_deref()).await)
        }
    }

    /// The whole body of an answer, of which there may be only so much.
    pub(crate) async fn body(
        &self,
        answer: Response<Body>,
        most: usize,
    ) -> Result<Vec<u8>, Failure> {
        self.within(async {
            let body = Limited::new(answer.into_body(), most).collect().await;
            body.map(|body| body.to_bytes().to_vec())
                .map_err(|error| unreachable(&*error))
        })
        .await
    }

    async fn within<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let result = timeout(self.timeout, work).await;
        result.unwrap_or(Err(Failure::TimedOut(self.timeout)))
    }

    fn token(&self) -> Result<Option<String>, Failure> {
        let Some(file) = &self.token_file else {
            return Ok(None);
        };
        let unreadable = |error| Failure::Account(format!("{}: {error}", file.display()));
        account::token(file).map(Some).map_err(unreadable)
    }

    /// What an answer means that is not the one asked for.
    async fn refusal(&self, verb: Verb, answer: Response<Body>, token: Option<&str>) -> Failure {
        let code = answer.status();
        let header = retry_after(answer.headers());
        let body = match self.body(answer, MAX_ERROR_BODY).await {
            Ok(body) => String::from_utf8_lossy(&body).into_owned(),
            Err(failure) => failure.to_string(),
        };
        let status = serde_json::from_str::<Status>(&body).ok();
        let message = match &status {
            Some(status) if !status.message.is_empty() => status.message.clone(),
            _ => excerpt(body.trim_end_matches(['.', '\n']), MAX_EXCERPT),
        };
        match code {
            StatusCode::UNAUTHORIZED => Failure::Unauthorized {
                account: account::title(&message, token),
                message,
            },
            StatusCode::FORBIDDEN => Failure::Forbidden {
                verb,
                account: account::title(&message, token),
                namespace: self.namespace.clone(),
                message,
            },
            _ => {
                let details = status.and_then(|status| status.details);
                let seconds = details.map_or(0, |details| details.retry_after_seconds);
                let in_body = (seconds > 0).then(|| Duration::from_secs(seconds.into()));
                let pause = header.or(in_body).map(|pause| pause.min(MAX_RETRY_AFTER));
                Failure::status(code.as_u16(), message, pause)
            }
        }
    }
}

/// The API server of the cluster that this is in, and the file with the token for it.
fn in_cluster() -> Result<(Config, Option<PathBuf>), Failure> {
    let mut config = Config::incluster().map_err(|error| Failure::Account(chain(&error)))?;
    // kube would keep a token for up to a minute after it was replaced.
    let token_file = config.auth_info.token_file.take();
    Ok((config, token_file.map(PathBuf::from)))
}

fn elsewhere(server: &ApiServer) -> Result<Config, Failure> {
    let url = server.url.parse();
    let mut config = Config::new(url.map_err(|error| Failure::Account(chain(&error)))?);
    config.root_cert_file.clone_from(&server.ca_file);
    Ok(config)
}

/// How long a pause is asked for, in seconds. The other form, a date, is not one of Kubernetes.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

pub(crate) fn unreachable(error: &(dyn Error + 'static)) -> Failure {
    Failure::Unreachable(chain(error))
}

/// An error with its causes, each of which is told once.
fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let further = error.to_string();
        if !text.contains(&further) {
            text = format!("{text}: {further}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_asked_for_in_seconds() {
        let pause = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_str(text).unwrap());
            retry_after(&headers)
        };
        assert_eq!(pause("7"), Some(Duration::from_secs(7)));
        for senseless in ["", "-1", "soon", "Wed, 21 Oct 2026 07:28:00 GMT"] {
            assert_eq!(pause(senseless), None, "{senseless}");
        }
    }
}
