//! Webhook server for conversions: HTTPS on one address, to which an API server sends objects that
//! it needs in another version of their API. Independent of any kind.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceConversion, CustomResourceDefinition, WebhookClientConfig, WebhookConversion,
};
use lifecycle_http::{Limits, Secure, Server};
use lifecycle_runtime::conversion::Conversion;
use lifecycle_runtime::shutdown::Shutdown;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpListener;
use tower::ServiceExt as _;

/// Upper bound on the time that an API server waits for an answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// A list of objects that an API server sends at once; etcd takes 1.5 MiB of each.
const LARGEST: usize = 64 * 1024 * 1024;

/// Returns the path of the endpoint of a conversion, a separate one for each kind.
pub fn path(conversion: &Conversion) -> String {
    format!("/convert/{}", conversion.kind().to_lowercase())
}

/// Returns a definition whose objects are converted by a webhook. `client` locates the webhook and
/// contains the path of the kind.
#[must_use]
pub fn converted(
    mut definition: CustomResourceDefinition,
    client: WebhookClientConfig,
) -> CustomResourceDefinition {
    definition.spec.conversion = Some(CustomResourceConversion {
        strategy: "Webhook".to_owned(),
        webhook: Some(WebhookConversion {
            client_config: Some(client),
            conversion_review_versions: vec!["v1".to_owned()],
        }),
    });
    definition
}

/// Returns the identity for handshakes: a certificate with those that lead to its authority, and
/// its key, as PEM.
///
/// # Errors
/// One of them is none, or they do not belong together.
pub fn identity(certificates: &[u8], key: &[u8]) -> anyhow::Result<Arc<ServerConfig>> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificates).collect();
    let chain = chain.context("the certificate of the webhook is no PEM")?;
    let key = PrivateKeyDer::from_pem_slice(key).context("the key of the webhook is no PEM")?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .context("the webhook can speak no version of TLS")?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .context("the certificate of the webhook does not fit its key")?;
    Ok(Arc::new(config))
}

/// One identity for all handshakes, for a process that is restarted when its certificate is renewed.
pub fn always(identity: Arc<ServerConfig>) -> Secure {
    Arc::new(move || {
        let identity = Arc::clone(&identity);
        Box::pin(std::future::ready(Some(identity)))
    })
}

/// Answers requests until shutdown. Queries the identity before each handshake, so that a renewed
/// certificate counts from the next connection on.
pub async fn serve(
    listener: TcpListener,
    secure: Secure,
    conversions: Vec<Conversion>,
    mut shutdown: Shutdown,
) {
    let mut routes = Router::new();
    for conversion in conversions {
        let path = path(&conversion);
        let asked = post(handle_conversion).with_state(Arc::new(conversion));
        routes = routes.route(&path, asked);
    }
    let routes = routes.layer(DefaultBodyLimit::max(LARGEST));
    let limited = Server::new(Limits {
        body: LARGEST,
        patience: PATIENCE,
        ..Limits::default()
    });
    let served = limited.serve(listener, Some(secure), move |request, _| {
        let answered = routes.clone().oneshot(request);
        async move { answered.await.unwrap_or_else(|never| match never {}) }
    });
    tokio::select! {
        never = served => match never {},
        () = shutdown.wait() => {}
    }
}

async fn handle_conversion(State(conversion): State<Arc<Conversion>>, body: Bytes) -> Response {
    // A list may be long, and other connections are not to wait for it.
    let answer = tokio::task::spawn_blocking(move || conversion.review(&body)).await;
    match answer {
        Ok(Ok(review)) => {
            ([(CONTENT_TYPE, "application/json")], review.to_string()).into_response()
        }
        Ok(Err(unanswered)) => (StatusCode::BAD_REQUEST, format!("{unanswered}\n")).into_response(),
        Err(_) => (
            StatusCode::INTERNAL_SERVER_ERROR,
            "the conversion was cut off\n",
        )
            .into_response(),
    }
}
