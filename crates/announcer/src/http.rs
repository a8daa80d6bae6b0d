//! Answers probes and Prometheus: `/healthz`, `/readyz` and `/metrics`.
//!
//! Nobody is trusted here. A connection answers one request and has a few seconds for it; of too many
//! at a time the oldest is closed, so that whoever asks properly is answered at once; requests have
//! no body and short headers.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

use crate::metrics;
use crate::status::Status;

/// Probes are few. More at a time come from somebody who means no good.
const MAX_CONNECTIONS: usize = 64;

/// How long one may take, also if it only dawdles.
const CONNECTION_LIMIT: Duration = Duration::from_secs(5);

/// The smallest that hyper allows, and plenty for what is asked here.
const MAX_HEADERS: usize = 8192;

/// How long it waits when the system has no connection to give, such as for want of descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Asks for the status: whoever answers is alive.
pub(crate) type Questions = mpsc::Sender<oneshot::Sender<Status>>;

/// Takes the address; of a host without IPv6 its IPv4 address for the unspecified one.
///
/// # Errors
///
/// Somebody else has it, or this host does not.
pub(crate) fn bind(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    let bound = std::net::TcpListener::bind(address).or_else(|error| {
        if address.ip().is_unspecified() && error.kind() != io::ErrorKind::AddrInUse {
            return std::net::TcpListener::bind((Ipv4Addr::UNSPECIFIED, address.port()));
        }
        Err(error)
    });
    let listener = bound?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Answers for ever.
pub(crate) async fn serve(listener: TcpListener, questions: Questions) {
    let mut connections = VecDeque::<AbortHandle>::with_capacity(MAX_CONNECTIONS);
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        connections.retain(|connection| !connection.is_finished());
        if connections.len() == MAX_CONNECTIONS
            && let Some(oldest) = connections.pop_front()
        {
            oldest.abort();
        }
        let connection = timeout(CONNECTION_LIMIT, converse(stream, questions.clone()));
        connections.push_back(tokio::spawn(connection).abort_handle());
    }
}

async fn converse(stream: TcpStream, questions: Questions) -> hyper::Result<()> {
    let service = service_fn(|request| {
        let questions = questions.clone();
        async move { Ok::<_, Infallible>(respond(&request, &questions).await) }
    });
    http1::Builder::new()
        .keep_alive(false)
        .max_buf_size(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), service)
        .await
}

async fn respond(request: &Request<Incoming>, questions: &Questions) -> Response<Full<Bytes>> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return text(
            StatusCode::METHOD_NOT_ALLOWED,
            "only GET and HEAD\n".to_owned(),
        );
    }
    let (answer, status) = oneshot::channel();
    // Without an answer the rest of the program is gone, or too busy; the connection's time limit
    // ends waiting then.
    if questions.send(answer).await.is_err() {
        return text(StatusCode::SERVICE_UNAVAILABLE, "ending\n".to_owned());
    }
    match status.await {
        Ok(status) => page(request.uri().path(), &status),
        Err(_) => text(StatusCode::SERVICE_UNAVAILABLE, "ending\n".to_owned()),
    }
}

fn page(path: &str, status: &Status) -> Response<Full<Bytes>> {
    match path {
        "/healthz" => text(StatusCode::OK, "alive\n".to_owned()),
        "/readyz" if status.announced.is_empty() => {
            let obstacle = status.obstacle.as_deref().unwrap_or("not yet");
            text(
                StatusCode::SERVICE_UNAVAILABLE,
                format!("not announcing: {obstacle}\n"),
            )
        }
        "/readyz" => text(
            StatusCode::OK,
            format!("announcing {}\n", status.announced.join(", ")),
        ),
        "/metrics" => {
            let mut response = text(StatusCode::OK, metrics::render(status));
            let kind = hyper::header::HeaderValue::from_static("text/plain; version=0.0.4");
            response.headers_mut().insert(CONTENT_TYPE, kind);
            response
        }
        _ => text(
            StatusCode::NOT_FOUND,
            "there are /healthz, /readyz and /metrics\n".to_owned(),
        ),
    }
}

fn text(status: StatusCode, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let kind = hyper::header::HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
