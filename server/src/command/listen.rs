//! Connections of the server: accept, speak HTTP/1, stop when told.
//!
//! Leaves every decision to the router. Invariant: a client that is slow with its headers holds a place for at most
//! `HEADER_TIMEOUT`, and after a stop nobody holds the process for longer than `GRACE`.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use ascertain::http::live;
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tower::ServiceExt;

const CONNECTIONS_LIMIT: usize = 1024;
const HEADER_TIMEOUT: Duration = Duration::from_secs(15);
/// For answers that are being written; live pages are ended at once.
const GRACE: Duration = Duration::from_secs(2);
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

pub async fn accept(listener: TcpListener, router: Router, stop: impl Future<Output = ()>) {
    let (tell, told) = watch::channel(false);
    let places = Arc::new(Semaphore::new(CONNECTIONS_LIMIT));
    let mut connections = JoinSet::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let place = tokio::select! {
            () = &mut stop => break,
            place = places.clone().acquire_owned() => place,
        };
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => accepted,
        };
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((stream, peer)) => {
                let (router, told) = (router.clone(), told.clone());
                connections.spawn(async move {
                    speak(stream, peer, router, told).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    // Receivers live in the connections; if all are gone there is nobody to tell.
    let _ = tell.send(true);
    live::end_all();
    let finished = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(GRACE, finished).await.is_err() {
        connections.shutdown().await;
    }
}

async fn speak(stream: TcpStream, peer: SocketAddr, router: Router, mut told: watch::Receiver<bool>) {
    // Without it answers are only slower.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        router.clone().oneshot(request)
    });
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    let mut stopping = *told.borrow();
    if stopping {
        Pin::new(&mut connection).graceful_shutdown();
    }
    loop {
        tokio::select! {
            ended = &mut connection => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "a connection ended early");
                }
                return;
            }
            _ = told.changed(), if !stopping => {
                stopping = true;
                Pin::new(&mut connection).graceful_shutdown();
            }
        }
    }
}
