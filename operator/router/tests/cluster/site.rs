//! A namespace of a real API server with the objects of a site, and a router process with exactly the rights that it needs.

use std::net::{IpAddr, SocketAddr};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt};
use lifecycle_router::cause;
use lifecycle_router::state::client::{Credentials, SERVER_NAME, fetch_state};
use lifecycle_router::state::{State, Status};
use lifecycle_tests::api_server::ApiServer;
use lifecycle_tests::harness::eventually;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use crate::authority::{Authority, Pair, profile, server_name};
use crate::support::{LIMIT, Server, address, ping, with_timeout};

const NAMESPACE: &str = "site";
const NAME: &str = "skupper-router";
const USER: &str = "router";

/// The profile of the state.
pub(crate) const STATE: &str = "skupper-local-server";

/// Port that serves the state, on the address of the site: port and host are its own.
const STATE_PORT: u16 = 9443;

pub(crate) struct Site {
    pub(crate) server: ApiServer,
    pub(crate) address: IpAddr,
    pub(crate) authority: Authority,
    pub(crate) echo: Server,
    client: Client,
    cache: TempDir,
    controller: Credentials,
    router: Option<Child>,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.kill_router();
    }
}

impl Site {
    /// With the Secret of the state, rights to the ConfigMap and to these Secrets besides, and nothing that runs.
    pub(crate) async fn new(secrets: &[&str]) -> Result<Self> {
        let server = ApiServer::start().await?;
        let authority = Authority::edwards("site");
        let own = authority.issue_edwards("controller");
        let controller = Credentials {
            authority: authority.pem().into_bytes(),
            certificate: own.chain.clone().into_bytes(),
            key: own.key.clone().into_bytes(),
        };
        let site = Self {
            client: server.client(),
            server,
            address: address(),
            authority,
            echo: Server::echo().await,
            cache: tempfile::tempdir()?,
            controller,
            router: None,
        };
        let namespace = json!({ "metadata": { "name": NAMESPACE } });
        Api::<Namespace>::all(site.client.clone())
            .create(&PostParams::default(), &serde_json::from_value(namespace)?)
            .await?;
        site.allow(secrets).await?;
        let binding: RoleBinding = serde_json::from_value(json!({
            "metadata": { "name": NAME },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": NAME },
            "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": USER }],
        }))?;
        site.api().create(&PostParams::default(), &binding).await?;
        let state = site.authority.issue_edwards(SERVER_NAME);
        site.secret(STATE, &state).await?;
        Ok(site)
    }

    fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope>,
        K::DynamicType: Default,
    {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    /// Gives the router its rights: these objects by their names, and nothing else.
    pub(crate) async fn allow(&self, secrets: &[&str]) -> Result<()> {
        let names = [&[STATE], secrets].concat();
        let rule = |resource: &str, names: &[&str]| {
            json!({ "apiGroups": [""], "resources": [resource], "resourceNames": names,
                "verbs": ["get", "list", "watch"] })
        };
        let role = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
            "metadata": { "name": NAME },
            "rules": [rule("configmaps", &[NAME]), rule("secrets", &names)],
        });
        self.apply::<Role>(NAME, &role).await
    }

    async fn apply<K>(&self, name: &str, object: &Value) -> Result<()>
    where
        K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope>
            + Clone
            + std::fmt::Debug
            + serde::de::DeserializeOwned,
        K::DynamicType: Default,
    {
        let how = PatchParams::apply("tests").force();
        let (api, patch) = (self.api::<K>(), Patch::Apply(object));
        let applied = api.patch(name, &how, &patch).await?;
        ensure!(applied.name_any() == name, "another object");
        Ok(())
    }

    /// Writes the document, with the profile of the state.
    pub(crate) async fn document(&self, elements: &[Value]) -> Result<()> {
        let mut all = vec![profile(STATE)];
        all.extend_from_slice(elements);
        self.text(&Value::Array(all).to_string()).await
    }

    /// Writes a text that may be an invalid document.
    pub(crate) async fn text(&self, text: &str) -> Result<()> {
        self.data(&json!({ "skrouterd.json": text })).await
    }

    pub(crate) async fn data(&self, data: &Value) -> Result<()> {
        let map = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": NAME },
            "data": data });
        self.apply::<ConfigMap>(NAME, &map).await
    }

    pub(crate) async fn delete_document(&self) -> Result<()> {
        let maps = self.api::<ConfigMap>();
        maps.delete(NAME, &DeleteParams::default()).await?;
        Ok(())
    }

    /// Writes a Secret with this pair and our authority.
    pub(crate) async fn secret(&self, name: &str, pair: &Pair) -> Result<()> {
        let authority = self.authority.pem();
        let texts = json!({ "ca.crt": authority, "tls.crt": pair.chain, "tls.key": pair.key });
        self.secret_of(name, &texts).await
    }

    pub(crate) async fn secret_of(&self, name: &str, texts: &Value) -> Result<()> {
        let secret = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": name },
            "stringData": texts });
        self.apply::<Secret>(name, &secret).await
    }

    pub(crate) async fn delete_secret(&self, name: &str) -> Result<()> {
        let secrets = self.api::<Secret>();
        secrets.delete(name, &DeleteParams::default()).await?;
        Ok(())
    }

    /// Starts the router, as its Deployment does.
    pub(crate) fn start_router(&mut self) -> Result<()> {
        let router = Command::new(env!("CARGO_BIN_EXE_lifecycle-router"))
            .args(["--kubernetes", &format!("{NAMESPACE}/{NAME}")])
            .arg("--cache")
            .arg(self.cache.path())
            .args(["--state", &self.state_address().to_string()])
            .args(["--state-profile", STATE])
            .args(["--bind-address", &self.address.to_string()])
            .env("KUBECONFIG", self.server.kubeconfig(USER, &[])?)
            .stderr(Stdio::inherit())
            .spawn()
            .context("the router does not start")?;
        self.router = Some(router);
        Ok(())
    }

    /// Ends it as a crash does.
    pub(crate) fn kill_router(&mut self) {
        if let Some(mut router) = self.router.take() {
            router.kill().ok();
            router.wait().ok();
        }
    }

    /// A line of /proc/PID/status in KiB.
    pub(crate) fn memory(&self, line: &str) -> Result<u64> {
        let router = self.router.as_ref().context("there is no router")?;
        let text = std::fs::read_to_string(format!("/proc/{}/status", router.id()))?;
        let line = text.lines().find(|found| found.starts_with(line));
        let number = line.and_then(|line| line.split_whitespace().nth(1));
        Ok(number.context("no such line")?.parse()?)
    }

    pub(crate) fn cache(&self) -> &std::path::Path {
        self.cache.path()
    }

    fn state_address(&self) -> SocketAddr {
        SocketAddr::new(self.address, STATE_PORT)
    }

    /// Waits until the state fulfils the condition, and returns the state as a controller receives
    /// it.
    pub(crate) async fn until(&self, what: &str, is_so: impl Fn(&State) -> bool) -> Result<State> {
        let last = std::sync::Mutex::new(String::new());
        let found = eventually(what, LIMIT, async || {
            let (said, found) = match fetch_state(self.state_address(), &self.controller).await {
                Ok(state) if is_so(&state) => (String::new(), Some(state)),
                Ok(state) => (format!("{state:#?}"), None),
                Err(error) => (cause::chain(&error), None),
            };
            *last.lock().expect("nobody panics") = said;
            Ok(found)
        });
        let found = found.await;
        found.with_context(|| last.lock().expect("nobody panics").clone())
    }

    /// The state once a listener is up.
    pub(crate) async fn up(&self, name: &str) -> Result<State> {
        let what = format!("the listener {name} is up");
        self.until(&what, |state| status(state, name) == Some(&Status::Up))
            .await
    }

    /// Waits until a listener reports a failure, and returns the message.
    pub(crate) async fn failed(&self, name: &str) -> Result<String> {
        let what = format!("the listener {name} fails");
        let failed = |state: &State| matches!(status(state, name), Some(Status::Failed(_)));
        let state = self.until(&what, failed).await?;
        match status(&state, name) {
            Some(Status::Failed(message)) => Ok(message.clone()),
            Some(Status::Idle | Status::Up) | None => bail!("it does not fail"),
        }
    }

    pub(crate) async fn connect(&self, port: u16) -> Result<TcpStream> {
        let connected = TcpStream::connect((self.address, port)).await;
        connected.with_context(|| format!("cannot connect to port {port}"))
    }

    /// A connection that trusts the authority, over which bytes have come back already.
    pub(crate) async fn connect_tls(&self, port: u16) -> Result<TlsStream<TcpStream>> {
        let stream = self.connect(port).await?;
        let connector = self.authority.client(None);
        let mut stream = with_timeout(connector.connect(server_name(self.address), stream)).await?;
        ping(&mut stream, u64::from(port)).await;
        Ok(stream)
    }

    /// Connects until a server shows this certificate.
    pub(crate) async fn shows(&self, port: u16, pair: &Pair) -> Result<TlsStream<TcpStream>> {
        eventually("the next handshake shows it", LIMIT, async || {
            let stream = self.connect_tls(port).await?;
            let shown = stream.get_ref().1.peer_certificates();
            let is_it = shown.is_some_and(|shown| shown[0] == pair.certificates()[0]);
            Ok(is_it.then_some(stream))
        })
        .await
    }

    /// A certificate for the address of the site.
    pub(crate) fn pair(&self) -> Pair {
        self.authority.issue(&self.address.to_string())
    }

    /// Checks that its requests to the API server only read its objects, each by its name.
    pub(crate) async fn asked_for_nothing_else(&self, secrets: &[&str]) -> Result<()> {
        let log = self.server.audit().await?.of_user(USER);
        ensure!(!log.is_empty(), "it asked for nothing");
        let fields = |name: &str| format!("fieldSelector=metadata.name%3D{name}");
        let secrets: Vec<String> = secrets
            .iter()
            .chain([&STATE])
            .map(|name| fields(name))
            .collect();
        let other = log.only(|entry| {
            let uri = format!("{}&", entry.uri);
            let names = |field: &String| uri.contains(&format!("{field}&"));
            let is_named = match entry.resource.as_str() {
                "configmaps" => names(&fields(NAME)),
                "secrets" => secrets.iter().any(names),
                _ => false,
            };
            !is_named || !["list", "watch"].contains(&entry.verb.as_str())
        });
        ensure!(other.is_empty(), "{}", other.lines());
        Ok(())
    }
}

/// Returns the status of a listener.
pub(crate) fn status<'a>(state: &'a State, name: &str) -> Option<&'a Status> {
    state.entry("tcpListener", name).map(|entry| &entry.status)
}

/// Returns the status of a profile.
pub(crate) fn profile_status<'a>(state: &'a State, name: &str) -> Option<&'a Status> {
    state.entry("sslProfile", name).map(|entry| &entry.status)
}
