//! The wire against raw TCP partners on loopback, misbehaving in every way a report tells apart.
//!
//! No test waits for a time to pass, except those in which the deadline is what ends the attempt.

#![allow(clippy::unwrap_used, reason = "the whole file is a test; clippy.toml reaches only its test functions")]

#[path = "wire/partner.rs"]
mod partner;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use app::ledger::wire::{Broken, NotSent, Phase, WireEnd, WireReport};
use ascertain::connector::{BODY_LIMIT, BootClock, HttpWire, Origin, Outgoing, TlsClient, Wire, boot_now};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpListener;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;

use partner::{Act, Partner, say};

/// Long enough for a loaded machine; reached only by a test that fails.
const PATIENCE: Duration = Duration::from_secs(20);
/// For tests in which the deadline is meant to pass.
const SHORT: Duration = Duration::from_secs(1);

const BODY: &str = r#"{"amount":"12.00"}"#;
const RECEIPT: &str = r#"{"id":"tx_1","status":"succeeded","ref":"op-1"}"#;

fn a_post(origin: &Origin) -> Outgoing<'_> {
    Outgoing {
        method: "POST",
        origin,
        path_and_query: "/v1/refunds?note=a%20b",
        headers: vec![
            ("Content-Type".into(), "application/json".into()),
            ("Authorization".into(), "Bearer sk_live_secret".into()),
        ],
        body: Some(BODY.into()),
        request_id_header: "X-Request-ID",
        deadline: Instant::now() + PATIENCE,
        send_by: boot_now().plus(PATIENCE),
    }
}

fn wire() -> HttpWire {
    HttpWire::new(TlsClient::with_public_roots().unwrap(), BootClock::of_this_machine())
}

/// One POST to a partner that does this; exactly one connection may come of it.
async fn posted(act: Act) -> WireReport {
    let mut partner = Partner::doing(act).await;
    let origin = partner.origin();
    let report = wire().send(a_post(&origin)).await;
    assert_eq!(partner.count().await, 1);
    report
}

fn broken(report: &WireReport) -> Broken {
    match report.end {
        WireEnd::Broken { why, .. } if report.byte_left => why,
        _ => panic!("{report:?}"),
    }
}

fn not_sent(report: &WireReport) -> NotSent {
    match report.end {
        WireEnd::NotSent { why, .. } if !report.byte_left => why,
        _ => panic!("{report:?}"),
    }
}

/// Status, body, complete, too large.
fn answer(report: &WireReport) -> (u16, String, bool, bool) {
    match &report.end {
        WireEnd::Answer { status, body, complete, too_large, .. }
            if report.byte_left && report.phase == Phase::Body =>
        {
            (*status, String::from_utf8(body.clone()).unwrap(), *complete, *too_large)
        }
        _ => panic!("{report:?}"),
    }
}

fn created(length: usize) -> String {
    format!("HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{RECEIPT}")
}

#[tokio::test]
async fn a_request_says_what_it_was_given_and_that_it_is_the_last() {
    let mut partner = Partner::doing(say(created(RECEIPT.len()))).await;
    let origin = partner.origin();
    let report = wire().send(a_post(&origin)).await;
    assert_eq!(answer(&report), (201, RECEIPT.into(), true, false));
    let expected = format!(
        "POST /v1/refunds?note=a%20b HTTP/1.1\r\nhost: {}\r\nconnection: close\r\naccept-encoding: identity\r\n\
         content-type: application/json\r\nauthorization: Bearer sk_live_secret\r\ncontent-length: {}\r\n\r\n{BODY}",
        partner.address,
        BODY.len()
    );
    assert_eq!(partner.request().await, expected);
    let times = report.timings;
    let order = [times.connected_us, times.first_byte_out_us, times.last_byte_out_us, times.first_byte_in_us];
    assert!(order.iter().all(Option::is_some) && order.is_sorted() && times.first_byte_in_us <= times.end_us);
}

#[tokio::test]
async fn a_request_without_a_body_says_so_where_the_method_has_one() {
    for (method, length) in [("POST", Some("content-length: 0\r\n")), ("GET", None), ("DELETE", None)] {
        let mut partner = Partner::doing(say(created(RECEIPT.len()))).await;
        let origin = partner.origin();
        let report = wire().send(Outgoing { method, body: None, ..a_post(&origin) }).await;
        assert_eq!(answer(&report).0, 201);
        let request = partner.request().await;
        assert!(request.ends_with("\r\n\r\n"), "{request}");
        assert_eq!(request.matches("content-length").count(), usize::from(length.is_some()), "{request}");
        assert!(length.is_none_or(|length| request.contains(length)), "{request}");
    }
}

#[tokio::test]
async fn a_partner_that_accepts_and_drops_is_connected_to_once() {
    let report = posted(Act::Drop).await;
    match report.byte_left {
        true => assert!(matches!(broken(&report), Broken::Closed | Broken::Reset), "{report:?}"),
        false => assert_eq!(not_sent(&report), NotSent::Connect),
    }
}

#[tokio::test]
async fn a_partner_that_offers_to_keep_the_connection_gets_a_new_one_each_time() {
    let kept = created(RECEIPT.len()).replace("201 Created\r\n", "201 Created\r\nConnection: keep-alive\r\n");
    let mut partner = Partner::doing(Act::SayThenHold(kept.into())).await;
    let origin = partner.origin();
    let wire = wire();
    for _ in 0..3 {
        assert_eq!(answer(&wire.send(a_post(&origin)).await), (201, RECEIPT.into(), true, false));
        assert!(!partner.read.recv().await.unwrap().reset, "a finished exchange closes in peace");
    }
    assert_eq!(partner.count().await, 3);
}

/// DUP-04
#[tokio::test]
async fn a_partner_that_ends_without_an_answer_may_have_acted() {
    let closed = posted(Act::Say(vec![])).await;
    assert_eq!((broken(&closed), closed.phase), (Broken::Closed, Phase::Sent));

    let reset = posted(Act::Reset).await;
    assert_eq!((broken(&reset), reset.phase), (Broken::Reset, Phase::Sent));

    let half = posted(say("HTTP/1.1 201 Created\r\nContent-Type: applica")).await;
    assert_eq!((broken(&half), half.phase), (Broken::Closed, Phase::Headers));
}

/// DUP-05
#[tokio::test]
async fn a_refused_connection_is_not_sent() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let origin = Origin::parse(&format!("http://{closed}")).unwrap();
    let report = wire().send(a_post(&origin)).await;
    assert_eq!((not_sent(&report), report.phase), (NotSent::Connect, Phase::Connect));
    assert_eq!(report.timings.connected_us, None);
}

/// DUP-05. A resolver that can't be reached and one that knows no such name are both "no address".
#[tokio::test]
async fn a_name_without_an_address_is_not_sent() {
    let origin = Origin::parse("https://does-not-exist.invalid").unwrap();
    let report = wire().send(Outgoing { deadline: Instant::now() + 4 * SHORT, ..a_post(&origin) }).await;
    assert_eq!((not_sent(&report), report.phase), (NotSent::Dns, Phase::Resolve));
}

/// DUP-05
#[tokio::test]
async fn a_request_that_cannot_be_written_opens_nothing() {
    let mut partner = Partner::doing(Act::Drop).await;
    let origin = partner.origin();
    let header = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    for unwritable in [
        Outgoing { method: "post", ..a_post(&origin) },
        Outgoing { method: "CONNECT", ..a_post(&origin) },
        Outgoing { path_and_query: "v1", ..a_post(&origin) },
        Outgoing { path_and_query: "http://elsewhere.example/", ..a_post(&origin) },
        Outgoing { path_and_query: "/a b", ..a_post(&origin) },
        Outgoing { path_and_query: "/a#b", ..a_post(&origin) },
        Outgoing { headers: header("X-Note", "a\r\nX-Other: b"), ..a_post(&origin) },
        Outgoing { headers: header("X Note", "a"), ..a_post(&origin) },
        Outgoing { headers: header("Host", "elsewhere.example"), ..a_post(&origin) },
        Outgoing { headers: header("content-length", "3"), ..a_post(&origin) },
        Outgoing { headers: header("Expect", "100-continue"), ..a_post(&origin) },
    ] {
        let shown = format!("{unwritable:?}");
        let report = wire().send(unwritable).await;
        assert_eq!((not_sent(&report), report.phase), (NotSent::Local, Phase::Resolve), "{shown}");
    }
    assert_eq!(partner.count().await, 0);
}

fn identity() -> (CertificateDer<'static>, TlsAcceptor) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    (certificate, TlsAcceptor::from(Arc::new(config)))
}

fn wire_trusting(root: &CertificateDer<'_>) -> HttpWire {
    HttpWire::new(TlsClient::with_extra_roots(std::slice::from_ref(root)).unwrap(), BootClock::of_this_machine())
}

/// DUP-05
#[tokio::test]
async fn a_certificate_nobody_vouches_for_is_not_sent() {
    let (_, acceptor) = identity();
    let mut partner = Partner::over_tls(say(created(RECEIPT.len())), acceptor).await;
    let origin = partner.https_origin();
    let report = wire().send(a_post(&origin)).await;
    assert_eq!((not_sent(&report), report.phase), (NotSent::Tls, Phase::Handshake));
    assert_eq!(partner.count().await, 1);
}

#[tokio::test]
async fn a_partner_that_never_agrees_on_tls_is_not_sent() {
    let partner = Partner::doing(Act::Silence).await;
    let origin = partner.https_origin();
    let report = wire().send(Outgoing { deadline: Instant::now() + SHORT, ..a_post(&origin) }).await;
    assert_eq!((not_sent(&report), report.phase), (NotSent::Tls, Phase::Handshake));
}

#[tokio::test]
async fn an_added_root_vouches_for_its_own_names() {
    let (root, acceptor) = identity();
    let mut partner = Partner::over_tls(say(created(RECEIPT.len())), acceptor).await;
    let by_name = Origin::parse(&format!("https://localhost:{}", partner.address.port())).unwrap();
    for origin in [partner.https_origin(), by_name] {
        let report = wire_trusting(&root).send(a_post(&origin)).await;
        assert_eq!(answer(&report), (201, RECEIPT.into(), true, false));
        assert!(partner.request().await.ends_with(BODY));
    }
    assert_eq!(partner.count().await, 2);

    let (another_root, _) = identity();
    let origin = partner.https_origin();
    assert_eq!(not_sent(&wire_trusting(&another_root).send(a_post(&origin)).await), NotSent::Tls);
}

/// UPS-04. Without a length, only TLS's own farewell tells a whole body from a cut one.
#[tokio::test]
async fn a_body_that_ends_with_the_tls_connection_needs_its_farewell() {
    let (root, acceptor) = identity();
    let partner = Partner::over_tls(say(format!("HTTP/1.1 200 OK\r\n\r\n{RECEIPT}")), acceptor).await;
    let origin = partner.https_origin();
    let report = wire_trusting(&root).send(a_post(&origin)).await;
    assert_eq!(answer(&report), (200, RECEIPT.into(), false, false));
}

#[tokio::test]
async fn past_send_by_nothing_is_written() {
    let (root, acceptor) = identity();
    let plain = Partner::doing(Act::Silence).await;
    let tls = Partner::over_tls(Act::Silence, acceptor).await;
    let origins = [plain.origin(), tls.https_origin()];
    for (mut partner, origin) in [plain, tls].into_iter().zip(origins) {
        let late = Outgoing { send_by: boot_now().minus(Duration::from_millis(1)), ..a_post(&origin) };
        let report = wire_trusting(&root).send(late).await;
        assert_eq!((not_sent(&report), report.phase), (NotSent::SendByMissed, Phase::Handshake));
        assert_eq!(report.timings.first_byte_out_us, None);
        assert!(partner.read.recv().await.unwrap().bytes.is_empty());
        assert_eq!(partner.count().await, 1);
    }
}

#[tokio::test]
async fn a_machine_that_slept_before_the_first_byte_writes_nothing() {
    let readings = AtomicUsize::new(0);
    let clock = BootClock::showing(move || match readings.fetch_add(1, Ordering::Relaxed) {
        0 => boot_now(),
        _ => boot_now().plus(Duration::from_secs(3600)),
    });
    let mut partner = Partner::doing(Act::Silence).await;
    let origin = partner.origin();
    let wire = HttpWire::new(TlsClient::with_public_roots().unwrap(), clock);
    assert_eq!(not_sent(&wire.send(a_post(&origin)).await), NotSent::SendByMissed);
    assert!(partner.read.recv().await.unwrap().bytes.is_empty());
}

#[tokio::test]
async fn a_machine_that_slept_within_the_request_writes_no_more_of_it() {
    let readings = AtomicUsize::new(0);
    let clock = BootClock::showing(move || match readings.fetch_add(1, Ordering::Relaxed) {
        0 | 1 => boot_now(),
        _ => boot_now().plus(Duration::from_secs(3600)),
    });
    let partner = Partner::doing(Act::Silence).await;
    let origin = partner.origin();
    let wire = HttpWire::new(TlsClient::with_public_roots().unwrap(), clock);
    // More than one write takes.
    let report = wire.send(Outgoing { body: Some(vec![b'x'; 64 << 20]), ..a_post(&origin) }).await;
    assert_eq!((broken(&report), report.phase), (Broken::Timeout, Phase::Sent));
}

#[tokio::test]
async fn no_answer_by_the_deadline_is_unknown_and_the_line_is_reset() {
    let mut partner = Partner::doing(Act::Silence).await;
    let origin = partner.origin();
    let report = wire().send(Outgoing { deadline: Instant::now() + SHORT, ..a_post(&origin) }).await;
    assert_eq!((broken(&report), report.phase), (Broken::Timeout, Phase::Sent));
    assert!(partner.read.recv().await.unwrap().reset, "the kernel must not go on delivering");
    assert_eq!(partner.count().await, 1);
}

#[tokio::test]
async fn a_dropped_send_drops_its_connection() {
    let mut partner = Partner::doing(Act::Silence).await;
    let origin = partner.origin();
    let wire = wire();
    let mut sending = wire.send(a_post(&origin));
    tokio::select! {
        report = &mut sending => panic!("{report:?}"),
        accepted = partner.connections.recv() => assert!(accepted.is_some()),
    }
    drop(sending);
    partner.read.recv().await.unwrap();
}

#[tokio::test]
async fn a_body_slower_than_the_deadline_is_unknown() {
    let partner = Partner::doing(Act::SayThenHold(created(200).into())).await;
    let origin = partner.origin();
    let report = wire().send(Outgoing { deadline: Instant::now() + SHORT, ..a_post(&origin) }).await;
    assert_eq!((broken(&report), report.phase), (Broken::Timeout, Phase::Body));
}

/// UPS-04
#[tokio::test]
async fn a_body_shorter_than_announced_is_a_fragment() {
    assert_eq!(answer(&posted(say(created(200))).await), (201, RECEIPT.into(), false, false));
    let reset = posted(Act::SayThenReset(created(200).into())).await;
    match reset.phase {
        Phase::Body => assert_eq!((answer(&reset).0, answer(&reset).2), (201, false)),
        _ => assert_eq!(broken(&reset), Broken::Reset, "the reset overtook the answer"),
    }
}

#[tokio::test]
async fn chunks_count_only_with_the_last_one() {
    let chunked = |rest: &str| {
        say(format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{RECEIPT}{rest}", RECEIPT.len()))
    };
    assert_eq!(answer(&posted(chunked("\r\n0\r\n\r\n")).await), (200, RECEIPT.into(), true, false));
    for unfinished in ["", "\r\n", "\r\n0\r\n"] {
        assert_eq!(answer(&posted(chunked(unfinished)).await), (200, RECEIPT.into(), false, false), "{unfinished:?}");
    }
    let malformed = posted(chunked("\r\nnot a length\r\n")).await;
    assert_eq!((broken(&malformed), malformed.phase), (Broken::BodyBroken, Phase::Body));
}

#[tokio::test]
async fn without_a_length_the_close_is_the_end() {
    let report = posted(say(format!("HTTP/1.1 200 OK\r\n\r\n{RECEIPT}"))).await;
    assert_eq!(answer(&report), (200, RECEIPT.into(), true, false));
    let empty = posted(say("HTTP/1.1 204 No Content\r\n\r\n")).await;
    assert_eq!(answer(&empty), (204, String::new(), true, false));
}

#[tokio::test]
async fn a_huge_body_is_cut_at_the_limit() {
    let of = |length: usize| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
        Act::Say(vec![head.into_bytes(), vec![b'x'; length]])
    };
    let (_, body, complete, too_large) = answer(&posted(of(BODY_LIMIT)).await);
    assert_eq!((body.len(), complete, too_large), (BODY_LIMIT, true, false));
    let (_, body, complete, too_large) = answer(&posted(of(4 * BODY_LIMIT)).await);
    assert_eq!((body.len(), complete, too_large), (BODY_LIMIT, false, true));
}

#[tokio::test]
async fn a_compressed_body_stays_as_it_came() {
    let report = posted(say("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nGZIP")).await;
    assert_eq!(answer(&report), (200, "GZIP".into(), true, false));
}

/// NET-05
#[tokio::test]
async fn a_redirect_is_an_answer_and_never_followed() {
    let mut elsewhere = Partner::doing(say(created(RECEIPT.len()))).await;
    for status in [301, 302, 303, 307, 308] {
        let to = format!("Location: http://{}/v1/refunds\r\n", elsewhere.address);
        let moved = say(format!("HTTP/1.1 {status} Moved\r\n{to}Content-Length: 0\r\n\r\n"));
        for method in ["POST", "GET"] {
            let mut partner = Partner::doing(moved.clone()).await;
            let origin = partner.origin();
            let report = wire().send(Outgoing { method, ..a_post(&origin) }).await;
            assert_eq!(answer(&report), (status, String::new(), true, false));
            assert_eq!(report.header("location"), Some("present"));
            assert_eq!(partner.count().await, 1);
        }
    }
    assert_eq!(elsewhere.count().await, 0);
}

#[tokio::test]
async fn informational_answers_are_passed_over() {
    for informational in ["100 Continue\r\n\r\n", "103 Early Hints\r\nLink: </x>\r\n\r\n"] {
        let both = format!("HTTP/1.1 {informational}{}", created(RECEIPT.len()));
        assert_eq!(answer(&posted(say(both)).await), (201, RECEIPT.into(), true, false));
        let only = posted(say(format!("HTTP/1.1 {informational}"))).await;
        assert_eq!((broken(&only), only.phase), (Broken::Closed, Phase::Headers));
    }
}

#[tokio::test]
async fn what_is_not_http_is_a_broken_exchange() {
    let switching = "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n".to_owned();
    let endless = format!("HTTP/1.1 200 OK\r\nX-Pad: {}\r\n\r\n", "x".repeat(100_000));
    for text in ["SSH-2.0-OpenSSH_9.6\r\n\r\n".to_owned(), switching, endless] {
        assert_eq!(broken(&posted(say(&text)).await), Broken::Protocol, "{}", &text[..20]);
    }
}

#[tokio::test]
async fn only_a_few_headers_are_kept() {
    let report = posted(say(format!(
        "HTTP/1.1 429 Too Many\r\nServer: x\r\nSet-Cookie: session=1\r\nRetry-After: 120\r\nX-REQUEST-ID: req_1\r\n\
         Content-Type: text/html\r\nDate: Wed, 21 Oct 2026 07:28:00 GMT\r\nX-Request-Id: {}\r\nContent-Length: 0\r\n\r\n",
        "y".repeat(300)
    )))
    .await;
    let WireEnd::Answer { mut headers, .. } = report.end else { panic!("{report:?}") };
    headers.sort();
    let kept = [
        ("content-type", "text/html"),
        ("date", "Wed, 21 Oct 2026 07:28:00 GMT"),
        ("retry-after", "120"),
        ("x-request-id", "req_1"),
    ];
    assert_eq!(headers, kept.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

#[tokio::test]
async fn a_request_shown_for_debugging_keeps_its_secrets() {
    let origin = Origin::parse("https://api.partner.example").unwrap();
    let shown = format!("{:?}", a_post(&origin));
    assert!(shown.contains("/v1/refunds") && shown.contains("Authorization"), "{shown}");
    for secret in ["sk_live_secret", "12.00", "note="] {
        assert!(!shown.contains(secret), "{shown}");
    }
}
