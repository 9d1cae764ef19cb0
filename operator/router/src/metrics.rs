//! Counters by listener, and their text for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::link::node::Node;
use crate::link::node::counts::LinkTraffic;
use crate::relay::Traffic;

/// Counters of one listener.
#[derive(Debug, Default)]
pub struct Counts {
    /// Connections that were let in.
    pub opened: AtomicU64,
    /// Connections that ended, in peace or not.
    pub closed: AtomicU64,
    /// Connections that were refused because too many were open.
    pub refused: AtomicU64,
    /// Connections whose TLS handshake failed.
    pub handshakes_failed: AtomicU64,
    /// Connections that no server took.
    pub unserved: AtomicU64,
    /// Bytes.
    pub traffic: Traffic,
}

/// Adds one.
pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// The counters of all listeners.
#[derive(Debug, Default)]
pub struct Metrics {
    listeners: Mutex<BTreeMap<String, Arc<Counts>>>,
    /// When the certificate of each profile ends, in seconds since 1970.
    certificates: Mutex<BTreeMap<String, i64>>,
    /// Connections of other routers that were not taken in.
    pub(crate) links_refused: Arc<AtomicU64>,
}

/// Name and description of a counter, and its field.
type Row = (&'static str, &'static str, fn(&Counts) -> &AtomicU64);

const ROWS: [Row; 7] = [
    (
        "connections_opened",
        "Accepted connections of clients",
        |counts| &counts.opened,
    ),
    (
        "connections_closed",
        "Connections of clients that ended",
        |counts| &counts.closed,
    ),
    (
        "connections_refused",
        "Connections refused because too many were open",
        |counts| &counts.refused,
    ),
    (
        "handshakes_failed",
        "Failed TLS handshakes of clients",
        |counts| &counts.handshakes_failed,
    ),
    (
        "connections_unserved",
        "Connections that no server accepted",
        |counts| &counts.unserved,
    ),
    ("sent_bytes", "Bytes from clients to servers", |counts| {
        &counts.traffic.sent
    }),
    (
        "received_bytes",
        "Bytes from servers to clients",
        |counts| &counts.traffic.received,
    ),
];

/// Name, kind and description of a link counter, and its field.
type LinkRow = (
    &'static str,
    &'static str,
    &'static str,
    fn(&LinkTraffic) -> u64,
);

const LINK_ROWS: [LinkRow; 4] = [
    (
        "link_streams_open",
        "gauge",
        "Open streams over a link",
        |traffic| traffic.open,
    ),
    (
        "link_streams_opened_total",
        "counter",
        "Streams opened over a link, from either end",
        |traffic| traffic.opened,
    ),
    (
        "link_sent_bytes_total",
        "counter",
        "Bytes sent over a link",
        |traffic| traffic.sent,
    ),
    (
        "link_received_bytes_total",
        "counter",
        "Bytes received over a link",
        |traffic| traffic.received,
    ),
];

impl Metrics {
    fn listeners(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Counts>>> {
        self.listeners.lock().expect("no holder panics")
    }

    /// The counters of a listener, which go on when it is made anew.
    pub fn listener_counts(&self, listener: &str) -> Arc<Counts> {
        let mut listeners = self.listeners();
        listeners.entry(listener.to_owned()).or_default().clone()
    }

    /// Forgets listeners that are gone.
    pub(crate) fn keep(&self, is_there: impl Fn(&str) -> bool) {
        self.listeners().retain(|name, _| is_there(name));
    }

    /// Learns when the certificate of each profile ends.
    pub(crate) fn set_certificates(&self, ends: BTreeMap<String, i64>) {
        *self.certificates.lock().expect("no holder panics") = ends;
    }

    /// The exposition text of Prometheus of the links. Its labels are sites that there are links to, which are bounded.
    pub(crate) fn links(&self, node: Option<&Node>) -> String {
        let mut text = String::new();
        let peers = node.map(Node::peers).unwrap_or_default();
        let mut put = |name: &str, kind: &str, help: &str, lines: &[(String, u64)]| {
            write!(
                text,
                "# HELP router_{name} {help}\n# TYPE router_{name} {kind}\n"
            )
            .expect("a String can be written to");
            for (label, value) in lines {
                writeln!(text, "router_{name}{label} {value}").expect("a String can be written to");
            }
        };
        let one = |value: u64| [(String::new(), value)];
        put(
            "links_up",
            "gauge",
            "Links to other sites that are in use",
            &one(peers.len() as u64),
        );
        let refused = self.links_refused.load(Ordering::Relaxed);
        let help = "Connections of other routers that were refused or cut off";
        put("links_refused_total", "counter", help, &one(refused));
        for (name, kind, help, value) in LINK_ROWS {
            let lines: Vec<_> = peers
                .iter()
                .map(|peer| {
                    let label = format!("{{site=\"{}\"}}", escaped(peer.site.as_str()));
                    (label, value(&peer.traffic))
                })
                .collect();
            put(name, kind, help, &lines);
        }
        let Some(node) = node else {
            return text;
        };
        let refusals = node.refusals().all();
        let refusals = refusals.map(|(why, count)| (format!("{{reason=\"{why}\"}}"), count));
        let help = "Streams of other routers that reached no server";
        put("link_streams_refused_total", "counter", help, &refusals);
        let said = node.frame_counts().announcements.load(Ordering::Relaxed);
        let help = "Sent announcements of sites";
        put("link_announcements_total", "counter", help, &one(said));
        text
    }

    /// The exposition text of Prometheus of when the certificate of each profile ends.
    pub(crate) fn certificates(ends: &BTreeMap<String, i64>) -> String {
        let mut text = "# HELP router_certificate_expiry_timestamp_seconds Time at which the certificate of a profile expires\n\
             # TYPE router_certificate_expiry_timestamp_seconds gauge\n"
            .to_owned();
        for (profile, end) in ends {
            let label = escaped(profile);
            writeln!(
                text,
                "router_certificate_expiry_timestamp_seconds{{profile=\"{label}\"}} {end}"
            )
            .expect("a String can be written to");
        }
        text
    }

    /// The exposition text of Prometheus.
    pub fn text(&self, open: usize) -> String {
        let mut text = format!(
            "# HELP router_connections_open Open connections of clients\n\
             # TYPE router_connections_open gauge\nrouter_connections_open {open}\n"
        );
        let ends = self.certificates.lock().expect("no holder panics").clone();
        text.push_str(&Self::certificates(&ends));
        let listeners = self.listeners();
        for (name, help, value) in ROWS {
            let head =
                format!("# HELP router_{name}_total {help}\n# TYPE router_{name}_total counter\n");
            text.push_str(&head);
            for (listener, counts) in &*listeners {
                let value = value(counts).load(Ordering::Relaxed);
                let label = escaped(listener);
                writeln!(text, "router_{name}_total{{listener=\"{label}\"}} {value}")
                    .expect("a String can be written to");
            }
        }
        text
    }
}

/// A label's value as the exposition format has it.
fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listener_has_a_line_of_each_counter() {
        let metrics = Metrics::default();
        count(&metrics.listener_counts("listener/a\"b").opened);
        metrics.listener_counts("gone");
        metrics.keep(|name| name != "gone");
        metrics.set_certificates([("web".to_owned(), 7)].into());
        let text = metrics.text(3);
        assert!(text.contains("\nrouter_connections_open 3\n"), "{text}");
        let line = "\nrouter_connections_opened_total{listener=\"listener/a\\\"b\"} 1\n";
        assert!(text.contains(line), "{text}");
        assert_eq!(text.matches("listener=").count(), ROWS.len());
        let line = "\nrouter_certificate_expiry_timestamp_seconds{profile=\"web\"} 7\n";
        assert!(text.contains(line), "{text}");
    }
}
