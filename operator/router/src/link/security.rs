//! Identity of the other end of a connection. The connection uses TLS 1.3 with a certificate of
//! both sides, and a protocol of its own. The certificate of the other side names its site.
//! Independent of addresses.

mod subject;

use std::io;
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, ServerName};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::{TlsAcceptor, TlsConnector, client, server};
use webpki::EndEntityCert;

use super::announcement::SiteId;
use crate::tls::Slot;

/// The name of the protocol in the handshake.
pub const PROTOCOL: &[u8] = b"lifecycle-link/1";
/// Prefix of the site in a certificate name that is a URI.
pub const SITE_URI: &str = "urn:skupper:site:";

/// Why a connection is not secure.
#[derive(Debug, Error)]
pub enum Error {
    /// The profile has no certificate or no authority, or no good files.
    #[error("its profile has no certificate and authority")]
    Profile,
    /// The handshake failed.
    #[error("the TLS handshake failed")]
    Handshake(#[source] io::Error),
    /// The other side speaks TLS, but is no router.
    #[error("it is no router: it does not speak the protocol of links")]
    Protocol,
    /// Nothing in the certificate is the name of a site.
    #[error("its certificate names no site")]
    Nameless,
}

/// Secures a connection that was dialled. The site is known if the certificate of the other side names one as a URI: a router's
/// certificate is for the name that it is reached by.
///
/// # Errors
/// It is not secure.
pub async fn dial<T: AsyncRead + AsyncWrite + Unpin>(
    io: T,
    name: ServerName<'static>,
    profile: &Slot,
    verify_hostname: bool,
) -> Result<(client::TlsStream<T>, Option<SiteId>), Error> {
    let now = profile.now().ok_or(Error::Profile)?;
    let config = now.link_client(verify_hostname, PROTOCOL);
    let connector = TlsConnector::from(Arc::new(config.ok_or(Error::Profile)?));
    let stream = connector.connect(name, io).await;
    let stream = stream.map_err(Error::Handshake)?;
    let (_, session) = stream.get_ref();
    let site = site(session.alpn_protocol(), session.peer_certificates(), false)?;
    Ok((stream, site))
}

/// Secures a connection that was accepted. The certificate of the other side names its site, as a
/// URI or else by its common name. Only a certificate whose common name is a list of hosts is valid
/// for any site. `skupper link generate` requests such certificates, because it does not know the
/// site that will link.
///
/// # Errors
/// It is not secure.
pub async fn accept<T: AsyncRead + AsyncWrite + Unpin>(
    io: T,
    profile: &Slot,
) -> Result<(server::TlsStream<T>, Option<SiteId>), Error> {
    let now = profile.now().ok_or(Error::Profile)?;
    let config = now.link_server(PROTOCOL).ok_or(Error::Profile)?;
    let stream = TlsAcceptor::from(Arc::new(config)).accept(io).await;
    let stream = stream.map_err(Error::Handshake)?;
    let (_, session) = stream.get_ref();
    let site = site(session.alpn_protocol(), session.peer_certificates(), true)?;
    Ok((stream, site))
}

fn site(
    protocol: Option<&[u8]>,
    certificates: Option<&[CertificateDer<'_>]>,
    by_common_name: bool,
) -> Result<Option<SiteId>, Error> {
    if protocol != Some(PROTOCOL) {
        return Err(Error::Protocol);
    }
    let certificate = certificates.and_then(<[_]>::first);
    let certificate = certificate.ok_or(Error::Nameless)?;
    let certificate = EndEntityCert::try_from(certificate).map_err(|_| Error::Nameless)?;
    let uri = certificate
        .valid_uri_names()
        .find_map(|uri| SiteId::new(uri.strip_prefix(SITE_URI)?));
    if uri.is_some() || !by_common_name {
        return Ok(uri);
    }
    let name = subject::common_name(certificate.subject()).ok_or(Error::Nameless)?;
    if is_list_of_hosts(name) {
        return Ok(None);
    }
    Ok(Some(SiteId::new(name).ok_or(Error::Nameless)?))
}

/// True for two hosts and more, with commas between them: each site is linked to by two ports at least, for routers and for edge sites.
fn is_list_of_hosts(name: &str) -> bool {
    name.contains(',') && name.split(',').all(|host| !host.is_empty())
}
