//! The requests for pods.

use http::Request;
use http_body_util::BodyExt;
use kube::api::{ListParams, WatchParams};
use kube::client::Body;
use kube::core;

use crate::connection::{self, Connection};
use crate::failure::{Failure, Verb};
use crate::follow::{Events, Listing, Source};
use crate::lines::Lines;
use crate::options::PodsOptions;
use crate::pod::{self, Event, Page};

/// The pods of a namespace, asked for over the network.
pub(crate) struct Api {
    options: PodsOptions,
    /// None after a failure: the next attempt reads all files anew, and connects anew.
    connection: Option<Connection>,
}

/// How many pods are asked for at a time, as by kubectl: some 5 MB of JSON.
const PAGE: u32 = 500;

/// How large a page may be: a hundred times what 500 pods are, where they are large.
const MAX_PAGE_BODY: usize = 64 << 20;

/// A list does not end after so many pages, or it never does: a cluster has at most 150,000 pods.
const MAX_PAGES: usize = 1000;

/// Pods that have finished may be many, and none of them counts.
const NOT_FINISHED: &str = "status.phase!=Succeeded,status.phase!=Failed";

impl Api {
    pub(crate) const fn new(options: PodsOptions) -> Self {
        Self {
            options,
            connection: None,
        }
    }

    /// What to ask, and which way.
    fn connect(&mut self) -> Result<(&Connection, core::Request), Failure> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(Connection::open(&self.options)?),
        };
        let path = format!("/api/v1/namespaces/{}/pods", connection.namespace());
        Ok((connection, core::Request::new(path)))
    }

    async fn page(&mut self, next: Option<String>) -> Result<Page, Failure> {
        let parameters = ListParams {
            label_selector: self.options.selector.clone(),
            field_selector: Some(NOT_FINISHED.into()),
            limit: Some(PAGE),
            continue_token: next,
            ..ListParams::default()
        };
        let (connection, pods) = self.connect()?;
        let request = built(pods.list(&parameters))?;
        let answer = connection.get(Verb::List, request).await?;
        pod::page(&connection.body(answer, MAX_PAGE_BODY).await?)
    }

    async fn pages(&mut self) -> Result<Listing, Failure> {
        let mut pods = Vec::new();
        let mut next = None;
        for _ in 0..MAX_PAGES {
            let page = self.page(next).await?;
            pods.extend(page.pods);
            next = page.next;
            if next.is_none() {
                let version = page.version;
                return Ok(Listing { pods, version });
            }
        }
        Err(Failure::Nonsense(format!(
            "a list of over {MAX_PAGES} pages"
        )))
    }

    async fn open(&mut self, version: &str) -> Result<Watch, Failure> {
        let parameters = WatchParams {
            label_selector: self.options.selector.clone(),
            field_selector: Some(NOT_FINISHED.into()),
            timeout: Some(self.options.watch_seconds()),
            ..WatchParams::default()
        };
        let (connection, pods) = self.connect()?;
        let request = built(pods.watch(&parameters, version))?;
        let answer = connection.get(Verb::Watch, request).await?;
        Ok(Watch {
            body: answer.into_body(),
            lines: Lines::default(),
        })
    }

    /// Forgets the connection if it failed.
    fn settle<T>(&mut self, result: Result<T, Failure>) -> Result<T, Failure> {
        if result.is_err() {
            self.connection = None;
        }
        result
    }
}

impl Source for Api {
    type Watch = Watch;

    async fn list(&mut self) -> Result<Listing, Failure> {
        let result = self.pages().await;
        self.settle(result)
    }

    async fn watch(&mut self, version: &str) -> Result<Watch, Failure> {
        let result = self.open(version).await;
        self.settle(result)
    }

    fn place(&self) -> String {
        let namespace = self.connection.as_ref().map(Connection::namespace);
        let namespace = namespace.or(self.options.namespace.as_deref());
        let place = format!("namespace {}", namespace.unwrap_or("of this pod"));
        match &self.options.selector {
            Some(selector) => format!("{place} with labels {selector}"),
            None => place,
        }
    }
}

/// What the API tells about pods, as it happens.
pub(crate) struct Watch {
    body: Body,
    lines: Lines,
}

impl Events for Watch {
    async fn next(&mut self) -> Result<Option<Event>, Failure> {
        loop {
            if let Some(line) = self.lines.next() {
                return pod::event(line).map(Some);
            }
            if self.lines.is_too_long() {
                return Err(Failure::Nonsense("a line of over 4 MiB".into()));
            }
            match self.body.frame().await {
                Some(Ok(frame)) => self.lines.push(frame.data_ref().map_or(&[], |data| data)),
                // Connections of watches break all the time. Whatever is wrong shows when the next
                // one is opened.
                Some(Err(_)) | None => return Ok(None),
            }
        }
    }
}

fn built(
    request: Result<Request<Vec<u8>>, core::request::Error>,
) -> Result<Request<Vec<u8>>, Failure> {
    request.map_err(|error| connection::unreachable(&error))
}
