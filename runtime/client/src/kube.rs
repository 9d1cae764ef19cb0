//! The only place that builds a client and turns its errors into one line with a remedy.

use std::error::Error as _;
use std::time::Duration;

use kube::client::ClientBuilder;
use kube::config::{InferConfigError, KubeConfigOptions, KubeconfigError};
use kube::core::{Status, request};
use kube::{Client, Config};

use crate::requests::Counting;

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(5);
/// How long sending a request may take.
const SEND: Duration = Duration::from_secs(15);

/// Reason why no client is available.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Neither a kubeconfig nor the in-cluster environment names an API server.
    #[error(
        "cannot find out which API server to use: set KUBECONFIG to a kubeconfig, or run in a Pod with a service account"
    )]
    Infer(#[source] Box<InferConfigError>),
    /// The kubeconfig cannot be used.
    #[error("cannot use the kubeconfig `{path}`: correct it, or set KUBECONFIG to another one")]
    Kubeconfig {
        /// As KUBECONFIG names it.
        path: String,
        /// Error in the kubeconfig.
        #[source]
        source: Box<KubeconfigError>,
    },
    /// The certificate authority contains no certificates, so that no server could be trusted.
    #[error(
        "no certificate in the certificate authority for {url}: correct `certificate-authority` or `certificate-authority-data` in the kubeconfig"
    )]
    Authority {
        /// The API server.
        url: String,
    },
    /// The context cannot be used.
    #[error(
        "cannot use the context `{context}` of the kubeconfig: see `kubectl config get-contexts`"
    )]
    Context {
        /// Name of the context as requested.
        context: String,
        /// Error in the context.
        #[source]
        source: Box<KubeconfigError>,
    },
    /// The configuration does not give a client.
    #[error("cannot make a client for {url}: correct the kubeconfig")]
    Build {
        /// The API server.
        url: String,
        /// Error in the configuration.
        #[source]
        source: Box<kube::Error>,
    },
}

/// Finds the configuration: KUBECONFIG, `~/.kube/config`, or the service account of a Pod.
///
/// # Errors
/// Returns an error if no configuration exists, or if it is unusable.
pub async fn infer() -> Result<Config, Error> {
    // If a requested kubeconfig is unusable, it must not be skipped silently.
    if let Ok(path) = std::env::var("KUBECONFIG") {
        let read = Config::from_kubeconfig(&KubeConfigOptions::default()).await;
        return read.map_err(|source| Error::Kubeconfig {
            path,
            source: Box::new(source),
        });
    }
    Config::infer()
        .await
        .map_err(|source| Error::Infer(Box::new(source)))
}

/// A client for the API server that `infer` finds.
///
/// # Errors
/// As `infer` and `client`.
pub async fn connect() -> Result<Client, Error> {
    client(infer().await?)
}

/// API server that a user selects on the command line.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    /// Context of the kubeconfig. If absent, the configuration that `infer` finds is used.
    pub context: Option<String>,
    /// The user to ask as.
    pub impersonated: Option<String>,
}

/// Returns a client for the chosen API server, and the default namespace for objects that name
/// none.
///
/// # Errors
/// Returns the errors of `infer` and `client`, or an error if the context does not exist.
pub async fn connect_to(chosen: &Chosen) -> Result<(Client, String), Error> {
    let mut config = match &chosen.context {
        None => infer().await?,
        Some(context) => {
            let options = KubeConfigOptions {
                context: Some(context.clone()),
                ..KubeConfigOptions::default()
            };
            let config = Config::from_kubeconfig(&options).await;
            config.map_err(|source| Error::Context {
                context: context.clone(),
                source: Box::new(source),
            })?
        }
    };
    if chosen.impersonated.is_some() {
        let impersonated = &chosen.impersonated;
        config.auth_info.impersonate.clone_from(impersonated);
    }
    let namespace = config.default_namespace.clone();
    Ok((client(config)?, namespace))
}

/// Returns a client for a configuration and counts its requests. Sends nothing yet.
///
/// # Guarantees
/// It never repeats a request by itself: who sends one decides that, with a back-off that can be replayed.
///
/// # Errors
/// The configuration names certificates or a proxy that cannot be used.
pub fn client(mut config: Config) -> Result<Client, Error> {
    let url = config.cluster_url.to_string();
    if config.root_cert.as_ref().is_some_and(Vec::is_empty) {
        return Err(Error::Authority { url });
    }
    config.default_retry = false;
    config.connect_timeout = Some(CONNECT);
    config.write_timeout = Some(SEND);
    let built = ClientBuilder::try_from(config).map_err(|source| Error::Build {
        url,
        source: Box::new(source),
    })?;
    Ok(built.with_layer(&Counting).build())
}

/// Returns a client for a service in this process, such as a simulated server. The client never
/// retries a request by itself.
pub fn client_of<S, B>(service: S) -> Client
where
    S: tower::Service<http::Request<kube::client::Body>, Response = http::Response<B>>
        + Send
        + 'static,
    S::Future: Send + 'static,
    S::Error: Into<tower::BoxError>,
    B: http_body::Body<Data = bytes::Bytes> + Send + 'static,
    B::Error: Into<tower::BoxError>,
{
    Client::new(service, "default")
}

/// Returns an error of the client as one line, with a remedy if one exists.
pub fn one_line(error: &kube::Error) -> String {
    if let kube::Error::Api(status) = error {
        return of_status(status);
    }
    if let kube::Error::BuildRequest(request::Error::Validation(said)) = error {
        return said.clone();
    }
    let said = chain(error);
    if matches!(error, kube::Error::Auth(_)) {
        return format!(
            "cannot log in at the API server: renew the credentials of the kubeconfig: {said}"
        );
    }
    if matches!(error, kube::Error::HyperError(_) | kube::Error::Service(_)) {
        return of_connection(&said);
    }
    said
}

fn of_status(status: &Status) -> String {
    let said = collapse_whitespace(&status.message);
    let terminating = status
        .details
        .iter()
        .flat_map(|d| &d.causes)
        .any(|c| c.reason == "NamespaceTerminating");
    match status.code {
        401 => "the API server does not know us: renew the token or certificate of the kubeconfig"
            .to_owned(),
        403 if terminating => {
            format!("the namespace is being deleted, nothing new can be made in it: {said}")
        }
        403 if said.contains("exceeded quota") => {
            format!("a quota is used up: raise it or remove something: {said}")
        }
        403 if said.contains(" cannot ") => {
            format!("rights are missing: grant them to our service account: {said}")
        }
        404 if said.contains("page not found") => {
            "the API server does not serve this kind: install its CustomResourceDefinition"
                .to_owned()
        }
        _ if said.contains("database space exceeded") => {
            format!("the API server's storage is full: compact etcd, or raise its quota: {said}")
        }
        500 if said.contains("failed calling webhook") => {
            format!("an admission webhook does not answer: repair or remove it: {said}")
        }
        code if said.is_empty() => format!("the API server answered {code}"),
        _ => said,
    }
}

fn of_connection(said: &str) -> String {
    let lower = said.to_lowercase();
    if lower.contains("certificate") {
        return format!(
            "the API server's certificate is not trusted: correct the kubeconfig: {said}"
        );
    }
    if lower.contains("dns") || lower.contains("lookup") {
        return format!("the API server's name is not known: correct the kubeconfig: {said}");
    }
    format!("the API server cannot be reached: is it running, and is the kubeconfig right? {said}")
}

/// Returns an error and its causes, without text that a cause repeats.
fn chain(error: &kube::Error) -> String {
    let mut line = collapse_whitespace(&error.to_string());
    let mut source = error.source();
    while let Some(cause) = source {
        let said = collapse_whitespace(&cause.to_string());
        if !line.contains(&said) {
            line = format!("{line}: {said}");
        }
        source = cause.source();
    }
    line
}

fn collapse_whitespace(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: u16, message: &str, expected: &str) {
        let status = Status::failure(message, "").with_code(code);
        let line = one_line(&kube::Error::Api(Box::new(status)));
        assert!(line.contains(expected), "{line}");
        assert!(!line.contains('\n'));
    }

    #[test]
    fn errors_are_one_line_that_says_what_to_do() {
        check(401, "Unauthorized", "renew the token");
        check(
            403,
            "services is forbidden: User \"u\" cannot list resource\n\"services\"",
            "grant them",
        );
        check(
            403,
            "services \"a\" is forbidden: exceeded quota: q",
            "raise it",
        );
        check(
            404,
            "404 page not found\n",
            "install its CustomResourceDefinition",
        );
        check(500, "failed calling webhook \"w\"", "repair or remove it");
        check(503, "", "answered 503");
    }

    #[tokio::test]
    async fn a_client_never_repeats_a_request_by_itself() {
        let mut config = Config::new("http://127.0.0.1:1".parse().expect("a constant URL"));
        config.default_retry = true;
        let client = client(config).expect("plain HTTP needs nothing");
        let error = client
            .apiserver_version()
            .await
            .expect_err("nothing listens there");
        assert!(
            one_line(&error).contains("cannot be reached"),
            "{}",
            one_line(&error)
        );
    }
}
