//! Access check: it admits programs of this machine that know the token, and no page in a browser.
//! Pure.

use std::net::SocketAddr;
use std::sync::Arc;

use http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN};
use http::{HeaderMap, HeaderValue};
use lifecycle_http::Secure;
use rustls::ServerConfig;
use thiserror::Error;

/// Protocol and credentials for clients. The default is plain HTTP for any client.
#[derive(Clone, Default)]
pub struct AccessOptions {
    token: Option<String>,
    tls: Option<Arc<ServerConfig>>,
}

/// Why a request is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(super) enum Refused {
    /// The request names another host, whose name was made to resolve to this machine.
    #[error("the simulated API server answers only to 127.0.0.1 and localhost with its own port")]
    Host,
    /// The request comes from a page of another origin.
    #[error("the simulated API server answers no web page")]
    Origin,
    /// Its sender does not know the token.
    #[error(
        "the token is missing or is another one: use the kubeconfig of this simulated API server"
    )]
    Token,
}

impl Refused {
    pub(super) fn code(self) -> u16 {
        match self {
            Self::Host | Self::Origin => 403,
            Self::Token => 401,
        }
    }

    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Host | Self::Origin => "Forbidden",
            Self::Token => "Unauthorized",
        }
    }
}

impl AccessOptions {
    /// Returns a door for clients with the token, over TLS. kubectl sends a token only to a server
    /// that it can verify.
    pub fn locked(token: String, tls: Arc<ServerConfig>) -> Self {
        Self {
            token: Some(token),
            tls: Some(tls),
        }
    }

    /// Returns the TLS configuration for handshakes.
    pub(super) fn secure(&self) -> Option<Secure> {
        let tls = self.tls.clone()?;
        Some(Arc::new(move || {
            Box::pin(std::future::ready(Some(tls.clone())))
        }))
    }

    /// Admits a request to a server at this address.
    pub(super) fn admit(&self, at: SocketAddr, headers: &HeaderMap) -> Result<(), Refused> {
        if !is_only(headers, HOST, |host| self.is_own(at, host)) {
            return Err(Refused::Host);
        }
        let (scheme, _) = self.scheme();
        let is_ours = |origin: &str| {
            let host = origin.strip_prefix(scheme);
            host.is_some_and(|host| self.is_own(at, host))
        };
        if headers.contains_key(ORIGIN) && !is_only(headers, ORIGIN, is_ours) {
            return Err(Refused::Origin);
        }
        let Some(token) = &self.token else {
            return Ok(());
        };
        let is_known = |told: &str| {
            let told = told.strip_prefix("Bearer ").unwrap_or_default();
            is_same(told.trim().as_bytes(), token.as_bytes())
        };
        match is_only(headers, AUTHORIZATION, is_known) {
            true => Ok(()),
            false => Err(Refused::Token),
        }
    }

    fn is_own(&self, at: SocketAddr, host: &str) -> bool {
        let (_, usual_port) = self.scheme();
        ["127.0.0.1", "localhost"].iter().any(|name| {
            let is_usual = at.port() == usual_port && host.eq_ignore_ascii_case(name);
            is_usual || host.eq_ignore_ascii_case(&format!("{name}:{}", at.port()))
        })
    }

    fn scheme(&self) -> (&'static str, u16) {
        match self.tls {
            Some(_) => ("https://", 443),
            None => ("http://", 80),
        }
    }
}

/// Returns true if exactly one such header exists, and its value is as wanted.
fn is_only(headers: &HeaderMap, name: HeaderName, is_wanted: impl Fn(&str) -> bool) -> bool {
    let mut all = headers.get_all(name).iter();
    let only = all.next().filter(|_| all.next().is_none());
    let only = only.map(HeaderValue::to_str);
    matches!(only, Some(Ok(text)) if is_wanted(text))
}

/// Compares in constant time.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other).fold(0, |sum, (a, b)| sum | (a ^ b));
    one.len() == other.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const AT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 7000);

    fn headers(all: &[(HeaderName, &'static str)]) -> HeaderMap {
        let all = all.iter();
        all.map(|(name, value)| (name.clone(), HeaderValue::from_static(value)))
            .collect()
    }

    #[track_caller]
    fn check(door: &AccessOptions, all: &[(HeaderName, &'static str)], expected: Option<Refused>) {
        assert_eq!(door.admit(AT, &headers(all)).err(), expected, "{all:?}");
    }

    #[test]
    fn the_host_is_compared_whole() {
        let open = AccessOptions::default();
        for own in ["127.0.0.1:7000", "localhost:7000", "LocalHost:7000"] {
            check(&open, &[(HOST, own)], None);
        }
        for other in [
            "evil.example",
            "localhost:evil.com",
            "localhost",
            "localhost:7001",
            "localhost:7000:80",
            "localhost.evil.com:7000",
            "127.0.0.1.evil.com:7000",
            "evil@localhost:7000",
            "",
        ] {
            check(&open, &[(HOST, other)], Some(Refused::Host));
        }
        check(&open, &[], Some(Refused::Host));
        let usual = SocketAddr::new(AT.ip(), 80);
        assert_eq!(open.admit(usual, &headers(&[(HOST, "localhost")])), Ok(()));
    }

    #[test]
    fn pages_of_others_are_not_answered() {
        let open = AccessOptions::default();
        let host = (HOST, "localhost:7000");
        check(
            &open,
            &[host.clone(), (ORIGIN, "http://localhost:7000")],
            None,
        );
        for other in [
            "null",
            "http://evil.com",
            "http://localhost:7001",
            "https://localhost:7000",
            "",
        ] {
            check(
                &open,
                &[host.clone(), (ORIGIN, other)],
                Some(Refused::Origin),
            );
        }
    }

    #[test]
    fn who_does_not_know_the_token_is_nobody() {
        let locked = AccessOptions {
            token: Some("secret".to_owned()),
            tls: None,
        };
        let host = (HOST, "localhost:7000");
        check(
            &locked,
            &[host.clone(), (AUTHORIZATION, "Bearer secret")],
            None,
        );
        check(&locked, std::slice::from_ref(&host), Some(Refused::Token));
        for told in [
            "Bearer ",
            "Bearer secre",
            "Bearer secrets",
            "Basic secret",
            "secret",
        ] {
            check(
                &locked,
                &[host.clone(), (AUTHORIZATION, told)],
                Some(Refused::Token),
            );
        }
    }
}
