//! Metrics of a process that a test has started, as Prometheus reads them.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use anyhow::Result;

use crate::eventually::eventually;

const SOON: Duration = Duration::from_secs(60);
/// Time limit for an answer, after which the process is queried again.
const PATIENCE: Duration = Duration::from_secs(5);

/// An address of this machine at which nothing listens, for a process that is about to start.
///
/// # Errors
/// No port is free.
pub fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

/// The metrics at this address, once a line begins with each of these texts.
///
/// # Errors
/// They are not there in time.
pub async fn with_lines(at: SocketAddr, begins: &[&str]) -> Result<String> {
    let what = format!("metrics at {at} with {begins:?}");
    eventually(&what, SOON, async || {
        let scraped = tokio::task::spawn_blocking(move || scrape(at)).await?;
        let has = |text: &String| {
            let begins_so = |begin: &&str| text.lines().any(|line| line.starts_with(begin));
            begins.iter().all(begins_so)
        };
        Ok(scraped.filter(has))
    })
    .await
}

/// Returns one answer, if there is one in the form that Prometheus requires.
fn scrape(at: SocketAddr) -> Option<String> {
    let mut stream = TcpStream::connect(at).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    let request = "GET /metrics HTTP/1.1\r\nHost: prometheus\r\nConnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, text) = answer.split_once("\r\n\r\n")?;
    let is_metrics = head.starts_with("HTTP/1.1 200") && head.contains("text/plain; version=0.0.4");
    is_metrics.then(|| text.to_owned())
}
