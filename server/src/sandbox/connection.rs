//! Connections: accept, speak HTTP/1, and end one without an answer where a fault says so.
//!
//! Leaves every decision to the router; a cut arrives as an extension of its response. Invariant: a reset leaves by
//! TCP reset (linger zero), a close by an orderly end, both without a byte of an answer.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::HeaderValue;
use axum::response::Response;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tower::ServiceExt;

use super::distortion::Cut;
use super::exchange::Origin;
use super::ids;

const CONNECTIONS_LIMIT: usize = 512;
const HEADER_TIMEOUT: Duration = Duration::from_secs(60);
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

pub async fn accept(listener: TcpListener, router: Router, shutdown: impl Future<Output = ()> + Send + 'static) {
    let (stop, stopped) = watch::channel(false);
    let places = Arc::new(Semaphore::new(CONNECTIONS_LIMIT));
    let mut connections = JoinSet::new();
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let place = tokio::select! {
            () = &mut shutdown => break,
            place = places.clone().acquire_owned() => place,
        };
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            accepted = listener.accept() => accepted,
        };
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((stream, peer)) => {
                let (router, stopped) = (router.clone(), stopped.clone());
                connections.spawn(async move {
                    speak(stream, peer, router, stopped).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "the sandbox could not accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    let _ = stop.send(true);
    let finished = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(SHUTDOWN_GRACE, finished).await;
    connections.shutdown().await;
}

async fn speak(stream: TcpStream, peer: SocketAddr, router: Router, mut stopped: watch::Receiver<bool>) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| answer(router.clone(), request, peer));
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    let mut stopping = *stopped.borrow();
    if stopping {
        Pin::new(&mut connection).graceful_shutdown();
    }
    let ended = loop {
        tokio::select! {
            ended = &mut connection => break ended,
            _ = stopped.changed(), if !stopping => {
                stopping = true;
                Pin::new(&mut connection).graceful_shutdown();
            }
        }
    };
    if ended.is_err_and(|error| is_reset(&error)) {
        let _ = connection.into_parts().io.into_inner().set_zero_linger();
    }
}

fn is_reset(error: &hyper::Error) -> bool {
    let cause = std::error::Error::source(error).and_then(|cause| cause.downcast_ref::<Cut>());
    cause == Some(&Cut::Reset)
}

/// Runs in a task of its own, so that a caller who leaves does not stop what it asked for.
async fn answer(router: Router, request: Request<Incoming>, peer: SocketAddr) -> Result<Response, Cut> {
    let request_id = ids::make("req");
    let mut request = request.map(Body::new);
    request.extensions_mut().insert(Origin { peer, request_id: request_id.clone() });
    let answered = tokio::spawn(router.oneshot(request)).await;
    let mut response = match answered {
        Ok(Ok(response)) => response,
        Ok(Err(never)) => match never {},
        Err(_) => return Err(Cut::Close),
    };
    if let Some(cut) = response.extensions().get::<Cut>() {
        return Err(*cut);
    }
    if !response.headers().contains_key("x-request-id")
        && let Ok(value) = HeaderValue::from_str(&request_id)
    {
        response.headers_mut().insert("x-request-id", value);
    }
    Ok(response)
}
