//! The grant server. It issues a certificate and Links to each client with the code of an
//! AccessGrant, as often as the grant allows. The recipient is recorded on the grant before
//! anything is issued. Every replica of the controller serves. The version of the grant ensures
//! that no two replicas issue the last one twice.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::select_all;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::Full;
use hyper::body::Incoming;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use kube::Client;
use kube::api::{Api, ListParams, Patch, PatchParams, PostParams};
use kube::core::PartialObjectMeta;
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, watcher};
use lifecycle_http::{Limits, Secure, Server, Turn as Place};
use lifecycle_router::link::announcement::SiteId;
use lifecycle_runtime::retry::Retry;
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_runtime::{cause, names};
use lifecycle_specs_skupper::access_grant::AccessGrant;
use lifecycle_specs_skupper::router::{CONTROLLER_CONFIG, ROUTER};
use lifecycle_specs_skupper::site::Site;
use ring::digest;
use ring::hmac;
use ring::rand::SystemRandom;
use rustls::ServerConfig;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::known::{Known, Named};
use super::redemptions::{REDEMPTIONS, Redemptions, Turn};
use super::refusal::{Refusal, respond};
use super::refused::Refused;
use super::service::{AUTHORITY, CERTIFICATE, KEY, SERVICE, hosts};
use super::{answer, signing, terms};
use crate::namespace::active_site;
use crate::namespace::controller_id::ControllerId;
use crate::pki::credentials::Credentials;
use crate::pki::issue::Authority;

/// How long a request may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Connections at once.
const CONNECTIONS: usize = 256;
/// How often a redemption is tried that others come before.
const TRIES: usize = 8;
/// Redemptions of one grant go one after the other, and so do those of some others.
const LANES: usize = 64;
/// Interval of the checks of its Service and its authority.
const LOOK: Duration = Duration::from_secs(10);
/// Time before the expiry of its authority at which the authority is renewed.
const SPARE: SignedDuration = SignedDuration::from_hours(90 * 24);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Field manager of the grant server.
const MANAGER: &str = "skupper.io/grants";

/// Waits until all earlier writes to the API server outlive this process.
#[derive(Clone)]
pub struct Durable(pub Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>);

impl fmt::Debug for Durable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Durable")
    }
}

/// A grant server; clones are the same.
#[derive(Clone)]
pub struct GrantServer {
    inner: Arc<Inner>,
    durable: Option<Durable>,
}

struct Inner {
    client: Client,
    /// Namespaces whose grants it serves; all if empty.
    namespaces: BTreeSet<String>,
    controller_id: ControllerId,
    /// The grants that there are.
    known: Known,
    lanes: Vec<tokio::sync::Mutex<()>>,
    identity: watch::Sender<Option<Arc<ServerConfig>>>,
    refused: Mutex<Refused>,
    /// Random key of this process, with which codes are compared in constant time.
    compares: hmac::Key,
}

/// Serves grants at an address until shutdown.
pub async fn run(server: GrantServer, listen: SocketAddr, mut shutdown: Shutdown) {
    tokio::select! {
        biased;
        () = shutdown.wait() => {}
        () = server.work(listen) => {}
    }
}

impl GrantServer {
    /// Of the grants that this controller manages.
    ///
    /// # Panics
    /// The system has no random numbers.
    pub fn new(client: Client, controller_id: ControllerId) -> Self {
        Self::for_namespaces(client, controller_id, BTreeSet::new())
    }

    /// The same of these namespaces alone, or of all if there are none.
    ///
    /// # Panics
    /// As `new`.
    pub fn for_namespaces(
        client: Client,
        controller_id: ControllerId,
        namespaces: BTreeSet<String>,
    ) -> Self {
        let compares = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new());
        let known = Known::new(namespaces.len().max(1));
        let inner = Inner {
            client,
            namespaces,
            controller_id,
            known,
            lanes: (0..LANES).map(|_| tokio::sync::Mutex::default()).collect(),
            identity: watch::Sender::new(None),
            refused: Mutex::default(),
            compares: compares.expect("the system has random numbers"),
        };
        Self {
            inner: Arc::new(inner),
            durable: None,
        }
    }

    /// Returns the server with a wait for durability, for writes that would otherwise be lost with
    /// this process.
    #[must_use]
    pub fn durable(self, durable: Option<Durable>) -> Self {
        Self { durable, ..self }
    }

    async fn work(&self, listen: SocketAddr) {
        let serving = async {
            let socket = bind(listen).await;
            match self.serve(socket).await {}
        };
        tokio::join!(self.follow(), self.prove(), serving);
    }

    /// Answers at a socket, without end.
    pub async fn serve(&self, socket: TcpListener) -> Infallible {
        let limits = Limits {
            connections: CONNECTIONS,
            body: terms::LONGEST,
            patience: PATIENCE,
            ..Limits::default()
        };
        let identity = self.inner.identity.subscribe();
        let secure: Secure = Arc::new(move || {
            let config = identity.borrow().clone();
            Box::pin(async move { config })
        });
        let server = self.clone();
        let answer = move |request: Request<Incoming>, place: Arc<Place>| {
            let (server, from) = (server.clone(), place.client());
            async move { server.answer(request, from, &limits).await }
        };
        Server::new(limits)
            .serve(socket, Some(secure), answer)
            .await
    }

    /// Knows which grants there are, without end.
    pub async fn follow(&self) {
        let client = &self.inner.client;
        let apis: Vec<Api<PartialObjectMeta<AccessGrant>>> = match &self.inner.namespaces {
            all if all.is_empty() => vec![Api::all(client.clone())],
            some => {
                let namespaced = |name: &String| Api::namespaced(client.clone(), name);
                some.iter().map(namespaced).collect()
            }
        };
        let watches = apis.into_iter().enumerate().map(|(part, api)| {
            let changes = watcher(api, watcher::Config::default()).default_backoff();
            changes.map(move |change| (part, change)).boxed()
        });
        let mut listed = vec![None; watches.len()];
        let mut changes = select_all(watches);
        while let Some((part, change)) = changes.next().await {
            match change {
                Ok(event) => self.inner.known.learn(event, part, &mut listed[part]),
                Err(error) => tracing::warn!("grants: {}", cause::in_one_line(&error)),
            }
        }
    }

    /// Keeps a certificate for all hosts of the grant server. Never returns.
    pub async fn prove(&self) {
        let mut retry = Retry::new(LONGEST_PAUSE);
        let mut due: Option<(Vec<String>, Vec<u8>, Timestamp)> = None;
        loop {
            match self.identity(&mut due).await {
                Ok(()) => {
                    retry = Retry::new(LONGEST_PAUSE);
                    sleep(LOOK).await;
                }
                Err(why) => {
                    if retry.is_new(&why) {
                        tracing::warn!("the grant server has no certificate: {why}; trying again");
                    }
                    retry.pause().await;
                }
            }
        }
    }

    /// Issues a certificate unless a valid one exists for all hosts for a while.
    async fn identity(
        &self,
        due: &mut Option<(Vec<String>, Vec<u8>, Timestamp)>,
    ) -> Result<(), String> {
        let home = self.inner.controller_id.namespace();
        let failed = |error: kube::Error| cause::in_one_line(&error);
        let services: Api<Service> = Api::namespaced(self.inner.client.clone(), home);
        let service = services.get_opt(SERVICE).await.map_err(failed)?;
        let hosts: Vec<String> = hosts(service.as_ref()).into_iter().collect();
        let (certificate, key) = self.authority().await?;
        let now = Timestamp::now();
        if let Some((of, by, until)) = due
            && *of == hosts
            && *by == certificate
            && now < *until
        {
            return Ok(());
        }
        let signed = signing::for_server(&hosts, (&certificate, &key), now);
        let signed = signed.map_err(|why| format!("Secret {AUTHORITY}: {why}"))?;
        let (config, renewal) = signed;
        self.inner.identity.send_replace(Some(Arc::new(config)));
        *due = Some((hosts, certificate, renewal));
        Ok(())
    }

    /// Returns the certificate and the key of its authority. It creates the authority if it is
    /// missing, and renews it when it ends. If several replicas start at once, all get the same
    /// authority.
    async fn authority(&self) -> Result<(Vec<u8>, Vec<u8>), String> {
        let home = self.inner.controller_id.namespace();
        let api: Api<Secret> = Api::namespaced(self.inner.client.clone(), home);
        let failed = |error: kube::Error| cause::in_one_line(&error);
        let there = api.get_opt(AUTHORITY).await.map_err(failed)?;
        let now = Timestamp::now();
        let soon = now.saturating_add(SPARE).unwrap_or(now);
        if let Some(there) = &there
            && let Some(pair) = pair(there)
        {
            let read = Authority::read(&pair.0, &pair.1);
            // An unreadable authority belongs to a user, who is notified.
            let ends = read.is_ok_and(|authority| authority.expired_at(soon).is_some());
            if !ends {
                return Ok(pair);
            }
        }
        let made = Credentials::of_authority(SERVICE, now);
        let made = made.map_err(|error| cause::in_one_line(&error))?;
        let data = [(CERTIFICATE, made.certificate), (KEY, made.key)];
        let data = data.map(|(name, text)| (name.to_owned(), ByteString(text.into_bytes())));
        let mut secret = there.unwrap_or_default();
        secret.metadata.name = Some(AUTHORITY.to_owned());
        secret.metadata.managed_fields = None;
        secret.data = Some(data.into());
        let params = PostParams {
            field_manager: Some(MANAGER.to_owned()),
            ..PostParams::default()
        };
        // Exactly the version that was read, if there was one.
        let written = match secret.metadata.resource_version.is_some() {
            true => api.replace(AUTHORITY, &params, &secret).await,
            false => api.create(&params, &secret).await,
        };
        let written = match written {
            Err(kube::Error::Api(status)) if status.code == 409 => api.get(AUTHORITY).await,
            written => written,
        };
        let written = written.map_err(failed)?;
        pair(&written).ok_or_else(|| {
            format!("Secret {AUTHORITY} has no {CERTIFICATE} or no {KEY}: delete it, and it is made anew")
        })
    }

    async fn answer<B>(
        &self,
        request: Request<B>,
        from: Option<IpAddr>,
        limits: &Limits,
    ) -> Response<Full<Bytes>>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let late = || {
            Err(Refusal::Unavailable(
                "It takes too long: try again".to_owned(),
            ))
        };
        let path = request.uri().path().to_owned();
        let answer = timeout(PATIENCE, self.read(request, limits)).await;
        match answer.unwrap_or_else(|_| late()) {
            Ok(text) => respond(StatusCode::OK, "application/yaml", text),
            Err(refusal) => {
                self.log(&path, from, &refusal);
                refusal.response()
            }
        }
    }

    /// Logs a refusal, unless too many occur.
    fn log(&self, path: &str, from: Option<IpAddr>, refusal: &Refusal) {
        let refused = self.inner.refused.lock();
        let mut refused = refused.unwrap_or_else(PoisonError::into_inner);
        let Some(left_out) = refused.record(from, Instant::now()) else {
            return;
        };
        let place = self.find_grant(path.trim_matches('/')).ok().flatten();
        let grant = place.map(|(namespace, name)| format!("{namespace}/{name}"));
        let grant = grant.as_deref().unwrap_or("unknown");
        let from = from.map(|from| from.to_string());
        let from = from.as_deref().unwrap_or("unknown");
        let reason = refusal.reason();
        tracing::warn!(grant, from, left_out, "a redemption was refused: {reason}");
    }

    async fn read<B>(&self, request: Request<B>, limits: &Limits) -> Result<String, Refusal>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        if request.method() != Method::POST {
            return Err(Refusal::Method);
        }
        let (head, body) = request.into_parts();
        let code = limits.read(body).await.map_err(Refusal::Unread)?;
        let uid = head.uri.path().trim_matches('/');
        let place = self.find_grant(uid)?.ok_or(Refusal::Unknown)?;
        let who = Redeemer::from_headers(&head.headers, &place.1)?;
        let lane = digest::digest(&digest::SHA256, uid.as_bytes());
        let lane = usize::from(lane.as_ref()[0]) % LANES;
        let _turn = self.inner.lanes[lane].lock().await;
        self.redeem(uid, &place, &code, &who).await
    }

    /// The grant of a uid.
    fn find_grant(&self, uid: &str) -> Result<Option<Named>, Refusal> {
        // A client that receives "not found" does not retry.
        let unread = || Refusal::Unavailable("Grants are being read: try again".to_owned());
        self.inner.known.find_grant(uid).ok_or_else(unread)
    }

    async fn redeem(
        &self,
        uid: &str,
        (namespace, name): &Named,
        code: &[u8],
        who: &Redeemer,
    ) -> Result<String, Refusal> {
        let api: Api<AccessGrant> = Api::namespaced(self.inner.client.clone(), namespace);
        for _ in 0..TRIES {
            let grant = api.get_opt(name).await?.ok_or(Refusal::Unknown)?;
            if grant.metadata.uid.as_deref() != Some(uid) {
                return Err(Refusal::Unknown);
            }
            let turn = self.judge(&grant, code, who, Timestamp::now())?;
            // A redemption that cannot be answered is not counted.
            let given = self.given(&grant, namespace, who).await?;
            let Turn::New(next) = turn else {
                self.until_durable().await;
                tracing::info!(grant = %format!("{namespace}/{name}"), site = %who.site, token = %who.token, "a redemption was answered again");
                return Ok(given);
            };
            let patch = json!({ "metadata": {
                "resourceVersion": grant.metadata.resource_version,
                "annotations": { REDEMPTIONS: next.text() },
            } });
            let params = PatchParams {
                field_manager: Some(MANAGER.to_owned()),
                ..PatchParams::default()
            };
            match api
                .patch_metadata(name, &params, &Patch::Merge(patch))
                .await
            {
                Ok(_) => {
                    self.until_durable().await;
                    tracing::info!(grant = %format!("{namespace}/{name}"), site = %who.site, token = %who.token, "a grant was redeemed");
                    return Ok(given);
                }
                Err(kube::Error::Api(status)) if status.code == 409 => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Refusal::Unavailable(
            "Too many redeem it at once: try again".to_owned(),
        ))
    }

    /// Waits until the record of the redemption is durable. Nothing is issued before.
    async fn until_durable(&self) {
        if let Some(Durable(wait)) = &self.durable {
            wait().await;
        }
    }

    /// Decides if the holder of this code may redeem a grant.
    fn judge(
        &self,
        grant: &AccessGrant,
        code: &[u8],
        who: &Redeemer,
        now: Timestamp,
    ) -> Result<Turn, Refusal> {
        let (meta, spec) = (&grant.metadata, &grant.spec);
        let open = terms::expires(meta, spec).is_some_and(|until| now < until);
        if meta.deletion_timestamp.is_some() || !open {
            return Err(Refusal::Unknown);
        }
        let redemptions =
            Redemptions::from_grant(meta, grant.status.as_ref()).ok_or(Refusal::Forgotten)?;
        let allowed = terms::allowed(spec);
        let expected = code_of(grant).ok_or(Refusal::Unknown)?;
        let tag = hmac::sign(&self.inner.compares, expected.as_bytes());
        if hmac::verify(&self.inner.compares, code, tag.as_ref()).is_err() {
            let is_used = redemptions.count >= allowed;
            return Err(if is_used {
                Refusal::Used
            } else {
                Refusal::Code
            });
        }
        match redemptions.turn(allowed, (&who.site, &who.token)) {
            Turn::Used => Err(Refusal::Used),
            turn @ (Turn::Again | Turn::New(_)) => Ok(turn),
        }
    }

    /// Returns the content given for a grant of a namespace.
    async fn given(
        &self,
        grant: &AccessGrant,
        namespace: &str,
        who: &Redeemer,
    ) -> Result<String, Refusal> {
        let no = |why: String| Refusal::Unavailable(why);
        let configs: Api<ConfigMap> = Api::namespaced(self.inner.client.clone(), namespace);
        let controller = configs.get_opt(CONTROLLER_CONFIG).await?;
        if self
            .inner
            .controller_id
            .other(controller.as_ref())
            .is_some()
        {
            return Err(Refusal::Unknown);
        }
        let config = configs.get_opt(ROUTER).await?;
        let sites: Api<Site> = Api::namespaced(self.inner.client.clone(), namespace);
        let sites = sites.list(&ListParams::default()).await?.items;
        let site = active_site::find(&sites.iter().collect::<Vec<_>>(), config.as_ref());
        let site = site.ok_or_else(|| no("No active site in namespace".to_owned()))?;
        if site.spec.edge == Some(true) {
            let why = "Edge sites cannot accept incoming links from remote sites";
            return Err(no(why.to_owned()));
        }
        if site.metadata.uid.as_deref() == Some(&who.site) {
            return Err(Refusal::Request("A site does not link to itself"));
        }
        let endpoints = site.status.as_ref().and_then(|s| s.endpoints.as_deref());
        let groups = answer::groups(endpoints.unwrap_or_default());
        if groups.is_empty() {
            return Err(no("No valid endpoints found for site".to_owned()));
        }
        let secrets: Api<Secret> = Api::namespaced(self.inner.client.clone(), namespace);
        let issuer = secrets.get_opt(terms::issuer(&grant.spec, site)).await?;
        let issuer = issuer.as_ref().and_then(pair);
        let unsigned = || no("Could not get issuer for requested certificate".to_owned());
        let (certificate, key) = issuer.ok_or_else(unsigned)?;
        let now = Timestamp::now();
        let made = signing::for_site(&who.site, (&certificate, &key), now).map_err(|why| {
            tracing::warn!(%namespace, "a grant cannot be redeemed: {why}");
            unsigned()
        })?;
        Ok(answer::write(&who.token, &made, &groups))
    }
}

/// Site and token that redeem a grant.
#[derive(Clone, Debug)]
struct Redeemer {
    /// The uid of the Site.
    site: String,
    /// Name of the token, and of the issued objects.
    token: String,
}

impl Redeemer {
    /// Parses the redeemer from the headers. A missing name defaults to that of the grant, and a
    /// missing site defaults to that name.
    fn from_headers(headers: &HeaderMap, grant: &str) -> Result<Self, Refusal> {
        let said = |name: &str| {
            let value = headers.get(name).map(HeaderValue::to_str);
            let value = value
                .transpose()
                .map_err(|_| Refusal::Request("A header is no text"))?;
            Ok::<_, Refusal>(value.filter(|value| !value.is_empty()).map(str::to_owned))
        };
        let token = said("name")?.unwrap_or_else(|| grant.to_owned());
        let site = said("subject")?.unwrap_or_else(|| token.clone());
        if names::of_object("", "Secret", &token).is_err() {
            return Err(Refusal::Request("Header name is no name of an object"));
        }
        let plain = site.bytes().all(|byte| byte.is_ascii_graphic());
        if !plain || SiteId::new(&site).is_none() {
            return Err(Refusal::Request("Header subject is no uid of a site"));
        }
        Ok(Self { site, token })
    }
}

/// Returns the code of a grant: the one that its author set, or the generated one.
pub fn code_of(grant: &AccessGrant) -> Option<String> {
    let said = terms::declared_code(&grant.spec).map(str::to_owned);
    said.or_else(|| {
        let annotations = grant.metadata.annotations.as_ref()?;
        serde_json::from_str(annotations.get(KEPT)?).ok()
    })
}

/// On an AccessGrant: the code that was made for it.
pub const KEPT: &str = "skupper.io/accessgrant.kept";

/// The certificate and the key in a Secret.
pub fn pair(secret: &Secret) -> Option<(Vec<u8>, Vec<u8>)> {
    let data = secret.data.as_ref()?;
    Some((data.get(CERTIFICATE)?.0.clone(), data.get(KEY)?.0.clone()))
}

async fn bind(listen: SocketAddr) -> TcpListener {
    let mut retry = Retry::new(LONGEST_PAUSE);
    loop {
        match TcpListener::bind(listen).await {
            Ok(socket) => return socket,
            Err(error) => {
                let why = format!("the grant server cannot listen at {listen}: {error}");
                if retry.is_new(&why) {
                    tracing::warn!("{why}; trying again");
                }
            }
        }
        retry.pause().await;
    }
}
