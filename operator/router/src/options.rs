//! What a router is told besides its document. Knows neither the command line nor where documents come from.

use std::net::IpAddr;
use std::time::Duration;

/// What does not come from the document.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where listeners without a host listen; absent for all addresses.
    pub bind_address: Option<IpAddr>,
    /// How long one server has to answer.
    pub connect_timeout: Duration,
    /// How long a client has for its TLS handshake.
    pub handshake_timeout: Duration,
    /// How many connections of clients may be open.
    pub most_streams: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            bind_address: None,
            connect_timeout: Duration::from_secs(5),
            handshake_timeout: Duration::from_secs(10),
            most_streams: 16_384,
        }
    }
}
