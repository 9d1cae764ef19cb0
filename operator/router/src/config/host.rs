//! A host of an entry: an address, or a name that is resolved whenever it is needed.

use std::fmt::{self, Display, Formatter};
use std::io;
use std::net::{IpAddr, SocketAddr};

use super::attributes::Wrong;

/// An address or a DNS name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// An IP address.
    Address(IpAddr),
    /// A name.
    Name(String),
}

impl Host {
    /// Parses an address, or a name as defined by RFC 1123. Underscores are accepted, because some
    /// resolvers know such names.
    ///
    /// # Errors
    /// It is neither.
    pub fn parse(text: String) -> Result<Self, Wrong> {
        if let Ok(address) = text.parse() {
            return Ok(Self::Address(address));
        }
        let name = text.strip_suffix('.').unwrap_or(&text);
        let label = |label: &str| {
            let inside = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
            (1..=63).contains(&label.len())
                && label.bytes().all(inside)
                && !label.starts_with('-')
                && !label.ends_with('-')
        };
        // A text of digits and dots is a mistyped address, which must not be sent to a resolver.
        let is_number = name
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
        if name.len() <= 253 && !is_number && name.split('.').all(label) {
            Ok(Self::Name(text))
        } else {
            Err(Wrong::Host(text))
        }
    }

    /// The addresses of the host with a port, at least one.
    ///
    /// # Errors
    /// The name does not resolve.
    pub async fn resolve(&self, port: u16) -> io::Result<Vec<SocketAddr>> {
        let name = match self {
            Self::Address(address) => return Ok(vec![SocketAddr::new(*address, port)]),
            Self::Name(name) => name,
        };
        let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), port))
            .await?
            .collect();
        if found.is_empty() {
            return Err(io::Error::other("the name has no address"));
        }
        Ok(found)
    }
}

impl Display for Host {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}
