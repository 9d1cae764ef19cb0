//! How a token is redeemed: one request over TLS 1.3 to a server that the authority of the token verifies, bounded in time and size; where it is led elsewhere
//! it does not go.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::HOST;
use http::uri::Authority;
use http::{HeaderValue, Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use lifecycle_runtime::cause;
use lifecycle_specs_skupper::access_token::{AccessTokenSpec, Given};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::version::TLS13;
use rustls::{ClientConfig, RootCertStore};
use thiserror::Error;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::answer;

/// How long it may take, from the connection to the last byte of the answer.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// Upper bound on the displayed part of a server's message.
const SHOWN: usize = 200;
/// The port of a URL that names none.
const HTTPS: u16 = 443;

/// Why a token is not redeemed.
#[derive(Debug, Error)]
pub enum Error {
    /// The address cannot be used.
    #[error("spec.url is no https://HOST:PORT/ID: copy the url of the AccessGrant's status")]
    Url,
    /// Nothing verifies the server.
    #[error(
        "spec.ca has no certificate of an authority: copy the ca of the AccessGrant's status, or get another token"
    )]
    Authority,
    /// The name of the token, or the uid of the Site, cannot be sent in a header.
    #[error("its name cannot be sent")]
    Name,
    /// No process accepts the connection.
    #[error("cannot connect to {0}: look whether the grant server is reached there")]
    Connect(String, #[source] io::Error),
    /// It is another one, or does not speak TLS 1.3.
    #[error(
        "{0} is not who it should be, or does not speak TLS 1.3: the token may be older than the certificate of the grant server, so get another one"
    )]
    Handshake(String, #[source] io::Error),
    /// The conversation ended too soon.
    #[error("{0} did not answer")]
    Answer(String, #[source] hyper::Error),
    /// It took too long.
    #[error("{} did not answer within {} s", .0, PATIENCE.as_secs())]
    Late(String),
    /// It refuses for now.
    #[error("{0}")]
    Status(String),
    /// It refuses, and will not answer the same request differently later.
    #[error("{0}")]
    Refused(String),
    /// Its answer exceeds the size limit.
    #[error("{} answered with more than {} bytes", .0, answer::LARGEST)]
    Size(String),
    /// The content that it gives makes no Link.
    #[error("the content from {0} cannot be used")]
    Meaning(String, #[source] answer::Wrong),
}

/// Address at which a token is redeemed.
#[derive(Clone, Debug)]
pub struct TokenEndpoint {
    uri: Uri,
    authority: Authority,
    host: String,
    port: u16,
}

impl TokenEndpoint {
    /// Of a URL.
    pub fn read(url: &str) -> Option<Self> {
        let uri: Uri = url.parse().ok()?;
        let authority = uri.authority()?.clone();
        let plain = uri.scheme_str() == Some("https");
        let host = authority
            .host()
            .trim_start_matches('[')
            .trim_end_matches(']')
            .to_owned();
        let port = match authority.as_str().strip_prefix(authority.host())? {
            "" => HTTPS,
            port => port.strip_prefix(':')?.parse().ok()?,
        };
        let named = ServerName::try_from(host.as_str()).is_ok();
        (plain && named && port > 0).then(|| Self {
            host,
            port,
            authority,
            uri,
        })
    }
}

/// Returns the certificates that verify the server of a token.
pub fn roots(ca: &str) -> Option<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(ca.as_bytes()) {
        roots.add(certificate.ok()?).ok()?;
    }
    (!roots.is_empty()).then_some(roots)
}

/// Redeems a token for a site.
///
/// # Errors
/// Nothing is given.
pub async fn redeem_token(spec: &AccessTokenSpec, name: &str, site: &str) -> Result<Given, Error> {
    let door = TokenEndpoint::read(&spec.url).ok_or(Error::Url)?;
    let roots = roots(&spec.ca).ok_or(Error::Authority)?;
    let at = door.authority.to_string();
    let asking = post_redemption(&door, roots, (spec, name, site));
    let text = timeout(PATIENCE, asking).await;
    let text = text.unwrap_or_else(|_| Err(Error::Late(at.clone())))?;
    answer::read(&text, name).map_err(|wrong| Error::Meaning(at, wrong))
}

async fn post_redemption(
    door: &TokenEndpoint,
    roots: RootCertStore,
    (spec, name, site): (&AccessTokenSpec, &str, &str),
) -> Result<String, Error> {
    let at = || door.authority.to_string();
    let text = |text: &str| HeaderValue::from_str(text).map_err(|_| Error::Name);
    let path = door.uri.path_and_query().map_or("/", |path| path.as_str());
    let request = Request::post(path)
        .header(HOST, text(door.authority.as_str())?)
        .header("name", text(name)?)
        .header("subject", text(site)?)
        .body(Full::new(Bytes::from(spec.code.clone())))
        .map_err(|_| Error::Url)?;
    let config = ClientConfig::builder_with_protocol_versions(&[&TLS13])
        .with_root_certificates(roots)
        .with_no_client_auth();
    let server = ServerName::try_from(door.host.clone()).map_err(|_| Error::Url)?;
    let stream = TcpStream::connect((door.host.as_str(), door.port)).await;
    let stream = stream.map_err(|error| Error::Connect(at(), error))?;
    let stream = TlsConnector::from(Arc::new(config)).connect(server, stream);
    let stream = stream
        .await
        .map_err(|error| Error::Handshake(at(), error))?;
    let broken = |error| Error::Answer(at(), error);
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(broken)?;
    let talking = async {
        let response = sender.send_request(request).await.map_err(broken)?;
        let status = response.status();
        let body = Limited::new(response.into_body(), answer::LARGEST)
            .collect()
            .await;
        let body = body.map_err(|_| Error::Size(at()))?.to_bytes();
        let said = String::from_utf8_lossy(&body).into_owned();
        match status {
            StatusCode::OK => Ok(said),
            status if is_final(status) => Err(Error::Refused(refusal(&at(), status, &said))),
            status => Err(Error::Status(refusal(&at(), status, &said))),
        }
    };
    tokio::select! {
        answer = talking => answer,
        // The connection is driven until the answer arrives.
        Err(error) = connection => Err(broken(error)),
    }
}

impl Error {
    /// True if it does not help to ask again.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Refused(_))
    }
}

/// Returns true if the answer depends on the request itself, and not on its time.
fn is_final(status: StatusCode) -> bool {
    let passing = [
        StatusCode::REQUEST_TIMEOUT,
        StatusCode::CONFLICT,
        StatusCode::TOO_EARLY,
        StatusCode::TOO_MANY_REQUESTS,
    ];
    status.is_client_error() && !passing.contains(&status)
}

/// Returns the message for a refusal by a server, with advice.
fn refusal(at: &str, status: StatusCode, said: &str) -> String {
    let line = said.lines().next().unwrap_or_default().trim();
    let line: String = line
        .chars()
        .filter(|c| !c.is_control())
        .take(SHOWN)
        .collect();
    let helps = match status {
        StatusCode::NOT_FOUND => {
            "; the grant is not there any more, has expired, or was redeemed as often as it may be: get another token"
        }
        StatusCode::FORBIDDEN => {
            "; spec.code is not that of the grant: copy the code of the AccessGrant's status, or get another token"
        }
        status if status.is_redirection() => {
            "; a grant server leads nowhere else: spec.url is another one's"
        }
        _ => "",
    };
    format!("{at} answered {}: {line}{helps}", status.as_u16())
}

/// Why a token is not redeemed, in one line.
pub fn error_message(error: &Error) -> String {
    cause::in_one_line(error)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    #[test]
    fn only_https_with_a_host_is_asked() {
        let door = |url: &str| TokenEndpoint::read(url).map(|door| (door.host, door.port));
        let at = |host: &str, port: u16| Some((host.to_owned(), port));
        assert_eq!(
            door("https://grants.example.com:8443/uid"),
            at("grants.example.com", 8443)
        );
        assert_eq!(door("https://10.0.0.1/uid"), at("10.0.0.1", 443));
        assert_eq!(door("https://[fd00::1]:9/uid"), at("fd00::1", 9));
        for url in [
            "http://a/b",
            "a/b",
            "/b",
            "",
            "https://",
            "https://:1/",
            "https://a:0/b",
            "https://a:99999/",
            "https://u:p@a/b",
            "https://a b/",
            "file:///etc/passwd",
        ] {
            assert!(TokenEndpoint::read(url).is_none(), "{url}");
        }
    }

    #[test]
    fn what_helps_is_said() {
        let said = refusal("a:1", StatusCode::NOT_FOUND, "No such claim\nmore\n");
        assert!(
            said.starts_with("a:1 answered 404: No such claim; the grant"),
            "{said}"
        );
        let long = refusal("a:1", StatusCode::BAD_GATEWAY, &"x\u{7}".repeat(9000));
        assert_eq!(long, format!("a:1 answered 502: {}", "x".repeat(SHOWN)));
    }

    #[test]
    fn an_answer_about_the_token_is_final_and_one_about_the_server_is_not() {
        let of = |code: u16| is_final(StatusCode::from_u16(code).unwrap());
        assert_eq!([400, 403, 404, 405, 413].map(of), [true; 5]);
        assert_eq!([301, 408, 409, 425, 429, 500, 502, 503].map(of), [false; 8]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(12), ..ProptestConfig::default() })]

        #[test]
        fn no_url_and_no_certificate_make_it_panic(url in "\\PC{0,60}", ca in "\\PC{0,60}") {
            let _door = TokenEndpoint::read(&url);
            let _door = TokenEndpoint::read(&format!("https://{url}"));
            let _roots = roots(&ca);
            let _roots = roots(&format!("-----BEGIN CERTIFICATE-----\n{ca}\n-----END CERTIFICATE-----"));
        }
    }
}
