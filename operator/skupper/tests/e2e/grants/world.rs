//! A simulated API server with a grant server and the controller of grants and tokens, and clients of it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use http::StatusCode;
use k8s_openapi::api::core::v1::{Namespace, Secret, Service};
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt};
use lifecycle_runtime::operator::{Naming, Operator};
use lifecycle_runtime::shutdown::{Shutdown, Trigger};
use lifecycle_runtime::{Machine, crds};
use lifecycle_simulator::{Server, User};
use lifecycle_skupper::access_grant::Grants;
use lifecycle_skupper::access_token::answers::Answers;
use lifecycle_skupper::access_token::{Https, Tokens};
use lifecycle_skupper::controller::{KINDS, NAME};
use lifecycle_skupper::grants::server::GrantServer;
use lifecycle_skupper::grants::service::{ADDRESS, SERVICE};
use lifecycle_skupper::namespace::controller_id::ControllerId;
use lifecycle_skupper::pki::credentials::Credentials;
use lifecycle_skupper::platform::Platform;
use lifecycle_specs_skupper::access_grant::{self, AccessGrant};
use lifecycle_specs_skupper::access_token::{self, AccessToken};
use lifecycle_specs_skupper::site::Site;
use lifecycle_tests::harness::Deadline;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore, version};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::place::has_report;

const SOON: Duration = Duration::from_secs(60);
pub(crate) const HOME: &str = "skupper";

/// A simulated API server with two namespaces, a grant server, and the controller of grants and tokens.
pub(crate) struct World {
    pub(crate) client: Client,
    pub(crate) at: SocketAddr,
    tasks: Vec<JoinHandle<()>>,
    _stops: Trigger,
}

impl Drop for World {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl World {
    pub(crate) async fn start() -> Result<Self> {
        let server = Server::new(7);
        server.set_clock(jiff::Timestamp::now());
        let client = server.client(&User::admin());
        let clock = {
            let server = server.clone();
            tokio::spawn(async move {
                loop {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    server.set_clock(jiff::Timestamp::now());
                }
            })
        };
        crds::prepare(&client, &KINDS, true).await;
        let namespaces: Api<Namespace> = Api::all(client.clone());
        for name in [HOME, "west", "east"] {
            let namespace = json!({ "metadata": { "name": name } });
            let namespace = serde_json::from_value(namespace)?;
            namespaces
                .create(&PostParams::default(), &namespace)
                .await?;
        }
        let socket = TcpListener::bind("127.0.0.1:0").await?;
        let at = socket.local_addr()?;
        let service = json!({
            "metadata": { "name": SERVICE, "annotations": { ADDRESS: at.to_string() } },
            "spec": { "ports": [{ "port": 8443 }] },
        });
        let service: Service = serde_json::from_value(service)?;
        let services: Api<Service> = Api::namespaced(client.clone(), HOME);
        services.create(&PostParams::default(), &service).await?;
        let id = ControllerId::new(HOME, "controller");
        let grants = GrantServer::new(client.clone(), id.clone());
        let granting = Grants {
            controller_id: id.clone(),
            platform: Platform::Kubernetes,
        };
        let redeeming = Tokens {
            controller_id: id,
            redeems: Https,
            answers: Answers::default(),
        };
        let machines: [Arc<dyn Machine>; 2] = [
            Arc::new(access_grant::machine(granting)),
            Arc::new(access_token::machine(redeeming)),
        ];
        let mut operator = Operator::new(NAME);
        for machine in machines {
            let naming = Naming::new(NAME, machine.ir().name);
            operator = operator.run_shared(machine, naming);
        }
        let (trigger, shutdown) = Shutdown::pair();
        let running = operator.start(client.clone(), shutdown);
        let (follow, prove) = (grants.clone(), grants.clone());
        let tasks = vec![
            clock,
            tokio::spawn(async move { running.await.unwrap() }),
            tokio::spawn(async move { follow.follow().await }),
            tokio::spawn(async move { prove.prove().await }),
            tokio::spawn(async move { match grants.serve(socket).await {} }),
        ];
        Ok(Self {
            client,
            at,
            tasks,
            _stops: trigger,
        })
    }

    pub(crate) fn api<K>(&self, namespace: &str) -> Api<K>
    where
        K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), namespace)
    }

    pub(crate) async fn make<K>(&self, namespace: &str, name: &str, spec: Value) -> Result<K>
    where
        K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
        K: serde::Serialize + serde::de::DeserializeOwned + Clone + std::fmt::Debug,
    {
        let object = json!({ "metadata": { "name": name }, "spec": spec });
        let object: K = serde_json::from_value(object)?;
        Ok(self
            .api::<K>(namespace)
            .create(&PostParams::default(), &object)
            .await?)
    }

    pub(crate) async fn until<K>(
        &self,
        namespace: &str,
        name: &str,
        is: impl Fn(&K) -> bool,
    ) -> Result<K>
    where
        K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
        K: serde::Serialize + serde::de::DeserializeOwned + Clone + std::fmt::Debug,
    {
        let (api, mut deadline) = (self.api::<K>(namespace), Deadline::new(SOON));
        loop {
            let there = api.get_opt(name).await?;
            match there {
                Some(there) if is(&there) => return Ok(there),
                there if deadline.is_over() => {
                    let there = serde_json::to_string_pretty(&there)?;
                    bail!("{} {name} of {namespace} stays {there}", K::kind(&()));
                }
                _ => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }

    /// Creates a Site that is reachable by an otherwise unused name, and its authority.
    pub(crate) async fn reachable(&self) -> Result<Site> {
        self.reachable_at("west.example.com").await
    }

    /// A Site that others can reach at a host, and its authority.
    pub(crate) async fn reachable_at(&self, host: &str) -> Result<Site> {
        let site: Site = self.make("west", "west", json!({})).await?;
        let status = json!({ "status": { "endpoints": [
            { "name": "inter-router", "host": host, "port": "55671", "group": "skupper-router" },
            { "name": "edge", "host": host, "port": "45671", "group": "skupper-router" },
        ] } });
        let params = PatchParams::default();
        self.api::<Site>("west")
            .patch_status("west", &params, &Patch::Merge(status))
            .await?;
        let made = Credentials::of_authority("skupper-site-ca", jiff::Timestamp::now())?;
        let secret = json!({
            "metadata": { "name": "skupper-site-ca" }, "type": "kubernetes.io/tls",
            "stringData": { "tls.crt": made.certificate, "tls.key": made.key },
        });
        let secret: Secret = serde_json::from_value(secret)?;
        self.api::<Secret>("west")
            .create(&PostParams::default(), &secret)
            .await?;
        Ok(site)
    }

    /// A grant that can be redeemed.
    pub(crate) async fn grant(&self, name: &str, spec: Value) -> Result<AccessGrant> {
        self.make::<AccessGrant>("west", name, spec).await?;
        self.until("west", name, |grant| has_report(grant, "Ready", "OK"))
            .await
    }

    /// A token of a grant.
    pub(crate) async fn token(&self, name: &str, grant: &AccessGrant, spec: Value) -> Result<()> {
        let told = grant.status.clone().unwrap_or_default();
        let mut whole = json!({ "url": told.url, "code": told.code, "ca": told.ca });
        for (key, value) in spec.as_object().into_iter().flatten() {
            whole[key] = value.clone();
        }
        self.make::<AccessToken>("east", name, whole)
            .await
            .map(drop)
    }

    /// A connection to the grant server.
    pub(crate) async fn connect(
        &self,
        grant: &AccessGrant,
        versions: &[&'static rustls::SupportedProtocolVersion],
    ) -> Result<TlsStream<TcpStream>> {
        let ca = grant
            .status
            .as_ref()
            .and_then(|s| s.ca.clone())
            .context("no ca")?;
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(ca.as_bytes())?)?;
        let config = ClientConfig::builder_with_protocol_versions(versions)
            .with_root_certificates(roots)
            .with_no_client_auth();
        let stream = TcpStream::connect(self.at).await?;
        let name = ServerName::IpAddress(self.at.ip().into());
        Ok(TlsConnector::from(Arc::new(config))
            .connect(name, stream)
            .await?)
    }

    /// Sends a request as any client may. Returns the status and the body.
    pub(crate) async fn send_request(
        &self,
        grant: &AccessGrant,
        method: &str,
        who: (&str, &str),
        code: &[u8],
    ) -> Result<(StatusCode, String)> {
        let mut stream = self.connect(grant, &[&version::TLS13]).await?;
        let uid = grant.uid().context("no uid")?;
        let (subject, name) = who;
        let head = format!(
            "{method} /{uid} HTTP/1.1\r\nhost: grants\r\nname: {name}\r\nsubject: {subject}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
            code.len()
        );
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(code).await?;
        let mut answer = Vec::new();
        // A server that closes without close_notify has sent everything before.
        let _end = stream.read_to_end(&mut answer).await;
        let answer = String::from_utf8(answer)?;
        let status = answer.split(' ').nth(1).context("no answer")?.parse()?;
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        Ok((status, body.to_owned()))
    }
}

/// Returns the code of a grant, as its status contains it.
pub(crate) fn code(grant: &AccessGrant) -> Vec<u8> {
    let code = grant.status.as_ref().and_then(|s| s.code.clone());
    code.unwrap_or_default().into_bytes()
}
