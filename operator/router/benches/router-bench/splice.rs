//! Baseline for the router: accepts, connects and copies both ways, with TLS towards the client if
//! a certificate exists. Buffers are as large as the router's, and sockets have the same options.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite, copy_bidirectional_with_sizes};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

const SIZE: usize = 16 * 1024;

/// From an address to an address, twice, perhaps with the certificate in a directory.
pub(crate) async fn run(words: &[String]) {
    let acceptor = words.get(4).map(|directory| acceptor(Path::new(directory)));
    tokio::join!(
        serve(&words[0], &words[1], acceptor.clone()),
        serve(&words[2], &words[3], acceptor)
    );
}

async fn serve(from: &str, to: &str, acceptor: Option<TlsAcceptor>) {
    let socket = TcpListener::bind(from).await.unwrap();
    let to: SocketAddr = to.parse().unwrap();
    loop {
        let (client, _) = socket.accept().await.unwrap();
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            client.set_nodelay(true).ok();
            match acceptor {
                None => splice(client, to).await,
                Some(acceptor) => {
                    if let Ok(client) = acceptor.accept(client).await {
                        splice(client, to).await;
                    }
                }
            }
        });
    }
}

async fn splice(mut client: impl AsyncRead + AsyncWrite + Unpin, to: SocketAddr) {
    if let Ok(mut server) = TcpStream::connect(to).await {
        server.set_nodelay(true).ok();
        copy_bidirectional_with_sizes(&mut client, &mut server, SIZE, SIZE)
            .await
            .ok();
    }
}

fn acceptor(directory: &Path) -> TlsAcceptor {
    let chain = CertificateDer::pem_file_iter(directory.join("tls.crt"))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let key = PrivateKeyDer::from_pem_file(directory.join("tls.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}
