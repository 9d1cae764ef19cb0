//! The other side of the state API: asks a router of itself, as a controller does. One connection a question, bounded in time
//! and in the size of the answer; the caller says whom it trusts and what it shows.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::HOST;
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::State;
use crate::boxed::BoxFuture;
use crate::config::Profile;
use crate::tls::{self, Files, load};

/// The name that the certificate of a router is for, wherever it runs.
pub const SERVER_NAME: &str = "skupper-router";

/// How long a question may take, from the connection to the last byte of the answer.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// The largest answer.
pub const LARGEST: usize = 16 << 20;

/// The most that is shown of an answer that is no state.
const SHOWN: usize = 200;

/// What a client trusts and shows, as PEM.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Credentials {
    /// The certificates of the authority of routers.
    pub authority: Vec<u8>,
    /// The certificate chain of the client.
    pub certificate: Vec<u8>,
    /// Its private key.
    pub key: Vec<u8>,
}

impl Debug for Credentials {
    /// Shows no key.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum Error {
    /// What is to be trusted or shown is no good.
    #[error("the credentials cannot be used")]
    Credentials(#[source] tls::Error),
    /// No process is there.
    #[error("cannot connect to {address}")]
    Connect {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// It is another one than it should be, or does not let us in.
    #[error("the TLS handshake with {address} failed")]
    Handshake {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The conversation ended too soon.
    #[error("{address} did not answer")]
    Answer {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: hyper::Error,
    },
    /// It took too long.
    #[error("{address} did not answer within {} s", PATIENCE.as_secs())]
    Late {
        /// Where.
        address: SocketAddr,
    },
    /// It answers something else than 200.
    #[error("{address} answered {status}: {text}")]
    Status {
        /// Where.
        address: SocketAddr,
        /// With what.
        status: StatusCode,
        /// The beginning of what it said.
        text: String,
    },
    /// It has more to say than it should.
    #[error("{address} answered with more than {LARGEST} bytes")]
    Size {
        /// Where.
        address: SocketAddr,
    },
    /// What it answers is no state.
    #[error("{address} answered with something else than a state")]
    Meaning {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: serde_json::Error,
    },
}

/// Asks a router for its state as it is now.
///
/// # Errors
/// There is no answer within [`PATIENCE`], from a router with a certificate of the authority for [`SERVER_NAME`].
pub fn ask(address: SocketAddr, credentials: &Credentials) -> BoxFuture<'_, Result<State, Error>> {
    Box::pin(async move {
        let asking = timeout(PATIENCE, asked(address, credentials));
        asking.await.unwrap_or(Err(Error::Late { address }))
    })
}

async fn asked(address: SocketAddr, credentials: &Credentials) -> Result<State, Error> {
    let connector = connector(credentials).map_err(Error::Credentials)?;
    let stream = TcpStream::connect(address).await;
    let stream = stream.map_err(|source| Error::Connect { address, source })?;
    let name = ServerName::try_from(SERVER_NAME).expect("it is a DNS name");
    let stream = connector.connect(name, stream).await;
    let stream = stream.map_err(|source| Error::Handshake { address, source })?;
    let (status, body) = exchange(address, stream).await?;
    if status != StatusCode::OK {
        let shown = &body[..body.len().min(SHOWN)];
        return Err(Error::Status {
            address,
            status,
            text: String::from_utf8_lossy(shown).trim().to_owned(),
        });
    }
    serde_json::from_slice(&body).map_err(|source| Error::Meaning { address, source })
}

fn connector(credentials: &Credentials) -> Result<TlsConnector, tls::Error> {
    let path = |name: &str| name.to_owned();
    let files: Files = BTreeMap::from([
        (path("ca.crt"), Ok(credentials.authority.clone())),
        (path("tls.crt"), Ok(credentials.certificate.clone())),
        (path("tls.key"), Ok(credentials.key.clone())),
    ]);
    let profile = Profile {
        ca: Some(path("ca.crt")),
        pair: Some((path("tls.crt"), path("tls.key"))),
    };
    let config = load(&profile, &files)?.client(true);
    Ok(config.expect("the profile has an authority").into())
}

async fn exchange<S>(address: SocketAddr, stream: S) -> Result<(StatusCode, Bytes), Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let failed = |source| Error::Answer { address, source };
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(failed)?;
    // It ends with this question, however that ends.
    let mut conversation = JoinSet::new();
    conversation.spawn(connection);
    let request = Request::get("/v1/state")
        .header(HOST, SERVER_NAME)
        .body(Empty::<Bytes>::new())
        .expect("the request is well formed");
    let response = sender.send_request(request).await.map_err(failed)?;
    let status = response.status();
    Ok((status, whole(address, response.into_body()).await?))
}

async fn whole(address: SocketAddr, mut body: Incoming) -> Result<Bytes, Error> {
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|source| Error::Answer { address, source })?;
        if let Some(data) = frame.data_ref() {
            if bytes.len() + data.len() > LARGEST {
                return Err(Error::Size { address });
            }
            bytes.extend_from_slice(data);
        }
    }
    Ok(bytes.freeze())
}
