//! The server for the probes of kubelet, and for Prometheus: HTTP on one address, from which no
//! other client can lock kubelet out. Knows only the readiness that the parts of the process
//! report.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use anyhow::Context;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use lifecycle_http::{Limits, Server};
use lifecycle_runtime::health::Health;
use lifecycle_runtime::shutdown::Shutdown;
use tokio::net::TcpListener;
use tower::ServiceExt as _;

use crate::process::metrics;

/// Option with the address on which probes are answered.
pub const PROBES: &str = "--health-probe-bind-address";

/// Binds the address. A process that cannot be probed does not start. `option` is the option that
/// chooses another address.
///
/// # Errors
/// Another process listens there, or it is no address of this machine.
pub async fn bind(address: SocketAddr, option: &str) -> anyhow::Result<TcpListener> {
    let bound = match TcpListener::bind(address).await {
        // Every address of a machine without IPv6.
        Err(error) if is_unsupported(&error) && address.ip().is_unspecified() => {
            TcpListener::bind((Ipv4Addr::UNSPECIFIED, address.port())).await
        }
        bound => bound,
    };
    bound.with_context(|| format!("cannot listen on {address}; choose another {option}"))
}

fn is_unsupported(error: &io::Error) -> bool {
    let unsupported = [
        rustix::io::Errno::AFNOSUPPORT,
        rustix::io::Errno::ADDRNOTAVAIL,
    ];
    let code = error.raw_os_error();
    unsupported
        .iter()
        .any(|known| code == Some(known.raw_os_error()))
}

/// Answers probes and requests for metrics until the shutdown.
pub async fn serve(listener: TcpListener, health: Health, shutdown: Shutdown) {
    let routes = Router::new()
        .route("/livez", get(alive))
        .route("/readyz", get(ready))
        .with_state(health.clone())
        .merge(metrics::routes(health));
    answer(listener, routes, shutdown).await;
}

/// Serves `routes` until the shutdown.
pub async fn answer(listener: TcpListener, routes: Router, mut shutdown: Shutdown) {
    let limited = Server::new(Limits::default());
    let served = limited.serve(listener, None, move |request, _| {
        let answered = routes.clone().oneshot(request);
        async move { answered.await.unwrap_or_else(|never| match never {}) }
    });
    tokio::select! {
        never = served => match never {},
        () = shutdown.wait() => {}
    }
}

async fn alive(State(health): State<Health>) -> (StatusCode, String) {
    let hanging = health.hanging();
    if hanging.is_empty() {
        return (StatusCode::OK, "ok\n".to_owned());
    }
    let lines = hanging
        .iter()
        .map(|part| format!("{part}: the loop hangs\n"));
    (StatusCode::SERVICE_UNAVAILABLE, lines.collect())
}

async fn ready(State(health): State<Health>) -> (StatusCode, String) {
    let missing = health.missing();
    let line = |(part, why): &(String, String)| format!("{part}: {why}\n");
    let lines: String = missing.iter().chain(&health.notes()).map(line).collect();
    match missing.is_empty() {
        true => (StatusCode::OK, format!("ok\n{lines}")),
        false => (StatusCode::SERVICE_UNAVAILABLE, lines),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::time::Duration;

    use super::*;

    fn http_get(address: SocketAddr, path: &str) -> io::Result<String> {
        let mut stream = TcpStream::connect(address)?;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: probe\r\nConnection: close\r\n\r\n"
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_process_lives_and_says_what_keeps_it_from_being_ready() {
        let listener = bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), PROBES);
        let listener = listener.await.expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let (health, (trigger, shutdown)) = (Health::default(), Shutdown::pair());
        let serving = tokio::spawn(serve(listener, health.clone(), shutdown));
        let asked = tokio::task::spawn_blocking(move || {
            let alive = http_get(address, "/livez")?;
            let waits = http_get(address, "/readyz")?;
            health.works("start");
            let ready = http_get(address, "/readyz")?;
            health.set_note("lease", "another replica leads");
            let standby = http_get(address, "/readyz")?;
            let counted = http_get(address, "/metrics")?;
            io::Result::Ok((alive, waits, ready, standby, counted))
        });
        let (alive, waits, ready, standby, counted) =
            asked.await.expect("no panic").expect("it answers");
        assert!(alive.starts_with("HTTP/1.1 200"), "{alive}");
        assert!(waits.starts_with("HTTP/1.1 503"), "{waits}");
        assert!(
            waits.ends_with("\r\n\r\nstart: the operator is starting\n"),
            "{waits}"
        );
        assert!(ready.starts_with("HTTP/1.1 200"), "{ready}");
        assert!(ready.ends_with("\r\n\r\nok\n"), "{ready}");
        assert!(standby.starts_with("HTTP/1.1 200"), "{standby}");
        let lines = "\r\n\r\nok\nlease: another replica leads\n";
        assert!(standby.ends_with(lines), "{standby}");
        assert!(counted.starts_with("HTTP/1.1 200"), "{counted}");
        let form = "content-type: text/plain; version=0.0.4";
        assert!(counted.contains(form), "{counted}");
        assert!(counted.contains("\nlifecycle_ready 1\n"), "{counted}");
        trigger.stop();
        serving.await.expect("no panic");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn who_asks_halves_of_requests_is_cut_off_and_probes_are_answered() {
        let listener = bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), PROBES);
        let listener = listener.await.expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let (health, (_trigger, shutdown)) = (Health::default(), Shutdown::pair());
        let serving = tokio::spawn(serve(listener, health, shutdown));
        let asked = tokio::task::spawn_blocking(move || {
            let mut half = Vec::new();
            for _ in 0..300 {
                let mut stream = TcpStream::connect(address)?;
                stream.write_all(b"GET /livez HTTP/1.1\r\nX: ")?;
                half.push(stream);
            }
            let alive = http_get(address, "/livez")?;
            let is_cut = |stream: &mut TcpStream| {
                stream.set_read_timeout(Some(Duration::from_millis(10)))?;
                let read = stream.read(&mut [0; 1]);
                let waits = [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut];
                io::Result::Ok(!read.is_err_and(|error| waits.contains(&error.kind())))
            };
            let mut cut = 0;
            for stream in &mut half {
                cut += usize::from(is_cut(stream)?);
            }
            io::Result::Ok((alive, cut))
        });
        let (alive, cut) = asked.await.expect("no panic").expect("it answers");
        assert!(alive.starts_with("HTTP/1.1 200"), "{alive}");
        assert!(cut >= 300 - Limits::default().connections, "{cut}");
        serving.abort();
    }
}
