//! Client of the state API: requests the state of a router, as a controller does. It uses one
//! connection per request, bounded in time and in the size of the answer. The caller supplies the
//! trusted authority and the presented certificate.

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

/// Name in the certificate of every router, wherever it runs.
pub const SERVER_NAME: &str = "skupper-router";

/// How long a question may take, from the connection to the last byte of the answer.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// The largest answer.
pub const LARGEST: usize = 16 << 20;

/// The most that is shown of an answer that is no state.
const SHOWN: usize = 200;

/// Credentials that a client trusts and presents, as PEM.
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

/// Reason why no answer is available.
#[derive(Debug, Error)]
pub enum Error {
    /// The credentials to trust or to present are unusable.
    #[error("the credentials cannot be used")]
    Credentials(#[source] tls::Error),
    /// No process accepts the connection.
    #[error("cannot connect to {address}")]
    Connect {
        /// Address of the router.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// It is another one than it should be, or does not let us in.
    #[error("the TLS handshake with {address} failed")]
    Handshake {
        /// Address of the router.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The conversation ended too soon.
    #[error("{address} did not answer")]
    Answer {
        /// Address of the router.
        address: SocketAddr,
        /// Why.
        source: hyper::Error,
    },
    /// It took too long.
    #[error("{address} did not answer within {} s", PATIENCE.as_secs())]
    Late {
        /// Address of the router.
        address: SocketAddr,
    },
    /// It answers something else than 200.
    #[error("{address} answered {status}: {text}")]
    Status {
        /// Address of the router.
        address: SocketAddr,
        /// Status code of the answer.
        status: StatusCode,
        /// Beginning of the answer.
        text: String,
    },
    /// The answer exceeds the size limit.
    #[error("{address} answered with more than {LARGEST} bytes")]
    Size {
        /// Address of the router.
        address: SocketAddr,
    },
    /// The answer is not a state.
    #[error("{address} answered with something else than a state")]
    Meaning {
        /// Address of the router.
        address: SocketAddr,
        /// Why.
        source: serde_json::Error,
    },
}

/// Requests the current state of a router.
///
/// # Errors
/// Returns an error if no answer arrives within [`PATIENCE`] from a router with a certificate of
/// the authority for [`SERVER_NAME`].
pub fn fetch_state(
    address: SocketAddr,
    credentials: &Credentials,
) -> BoxFuture<'_, Result<State, Error>> {
    Box::pin(async move {
        let asking = timeout(PATIENCE, request_state(address, credentials));
        asking.await.unwrap_or(Err(Error::Late { address }))
    })
}

async fn request_state(address: SocketAddr, credentials: &Credentials) -> Result<State, Error> {
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
    Ok((status, read_body(address, response.into_body()).await?))
}

async fn read_body(address: SocketAddr, mut body: Incoming) -> Result<Bytes, Error> {
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
