//! Skupper sites and their controllers in a cluster.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use kube::{Client, ResourceExt};
use lifecycle_skupper::controller::KINDS;
use lifecycle_specs_skupper::attached::AttachedConnector;
use lifecycle_specs_skupper::connector::Connector;
use lifecycle_specs_skupper::link::Link;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_specs_skupper::multi_key_listener::MultiKeyListener;
use lifecycle_specs_skupper::router::{CONTROLLER_CONFIG, ROUTER};
use lifecycle_specs_skupper::router_access::RouterAccess;
use lifecycle_specs_skupper::secured_access::SecuredAccess;
use lifecycle_specs_skupper::site::Site;

use crate::takeover::read::{self, Read, Scope, got, typed};

/// Name of the Service of a grant server, and of the SecuredAccess by which the existing controller
/// creates it.
pub(crate) const GRANT_SERVER: &str = "skupper-grant-server";

/// Objects that were read of a cluster.
#[derive(Clone, Debug)]
pub(crate) struct ClusterObjects {
    /// Deployments of the examined namespaces.
    pub(crate) deployments: Read<Deployment>,
    /// ConfigMaps that name the controller of a namespace.
    pub(crate) configs: Read<ConfigMap>,
    /// The configurations of routers.
    pub(crate) documents: Read<ConfigMap>,
    /// The Services of grant servers.
    pub(crate) services: Read<Service>,
    /// The definitions of our kinds.
    pub(crate) definitions: Read<DynamicObject>,
    /// Objects of the examined kinds of this operator, as they are stored, by kind.
    pub(crate) objects: BTreeMap<String, Read<DynamicObject>>,
    /// Secrets that the existing adaptor has to be able to read.
    pub(crate) credentials: Read<Credentials>,
}

/// Examined part of a Secret, without any of its values.
#[derive(Clone, Debug)]
pub(crate) struct Credentials {
    /// Its namespace.
    pub(crate) namespace: String,
    /// Its name.
    pub(crate) name: String,
    /// Its type.
    pub(crate) kind: String,
    /// Its keys.
    pub(crate) keys: BTreeSet<String>,
}

impl Credentials {
    /// Of a Secret.
    pub(crate) fn from_secret(secret: &Secret) -> Self {
        let data = secret.data.iter().flatten();
        Self {
            namespace: secret.namespace().unwrap_or_default(),
            name: secret.name_any(),
            kind: secret.type_.clone().unwrap_or_else(|| "Opaque".to_owned()),
            keys: data.map(|(key, _)| key.clone()).collect(),
        }
    }
}

/// Returns the kinds of the examined objects.
pub(crate) fn kinds() -> [ApiResource; 8] {
    [
        ApiResource::erase::<Site>(&()),
        ApiResource::erase::<RouterAccess>(&()),
        ApiResource::erase::<SecuredAccess>(&()),
        ApiResource::erase::<Listener>(&()),
        ApiResource::erase::<MultiKeyListener>(&()),
        ApiResource::erase::<Connector>(&()),
        ApiResource::erase::<AttachedConnector>(&()),
        ApiResource::erase::<Link>(&()),
    ]
}

impl ClusterObjects {
    /// Reads everything except credentials: the relevant ones depend on the rest.
    ///
    /// # Errors
    /// Returns an error if the API server cannot be reached. A refusal is not an error.
    pub(crate) async fn read(client: &Client, scope: &Scope) -> anyhow::Result<Self> {
        let every = ListParams::default();
        let named = |name: &str| every.clone().fields(&format!("metadata.name={name}"));
        let mut objects = BTreeMap::new();
        for kind in kinds() {
            let api = |namespace: Option<&str>| -> Api<DynamicObject> {
                match namespace {
                    Some(namespace) => Api::namespaced_with(client.clone(), namespace, &kind),
                    None => Api::all_with(client.clone(), &kind),
                }
            };
            let read = scope.listed(api, every.clone()).await?;
            objects.insert(kind.kind, read);
        }
        Ok(Self {
            deployments: scope.listed(typed(client), every.clone()).await?,
            configs: scope
                .listed(typed(client), named(CONTROLLER_CONFIG))
                .await?,
            documents: scope.listed(typed(client), named(ROUTER)).await?,
            services: scope.listed(typed(client), named(GRANT_SERVER)).await?,
            definitions: read::definitions(client, &KINDS).await?,
            objects,
            credentials: Ok(Vec::new()),
        })
    }

    /// The objects of a kind; none if they may not be read.
    pub(crate) fn objects_of_kind(&self, kind: &str) -> &[DynamicObject] {
        let all = self.objects.get(kind).and_then(|read| read.as_ref().ok());
        all.map_or(&[], Vec::as_slice)
    }
}

/// The Secrets of these namespaces and names that exist.
///
/// # Errors
/// As `Found::read`.
pub(crate) async fn credentials<'a>(
    client: &Client,
    needed: impl Iterator<Item = &'a (String, String)>,
) -> anyhow::Result<Read<Credentials>> {
    let mut all = Vec::new();
    for (namespace, name) in needed {
        let api: Api<Secret> = Api::namespaced(client.clone(), namespace);
        match got(api, &[name]).await? {
            Ok(secrets) => all.extend(secrets.iter().map(Credentials::from_secret)),
            Err(why) => return Ok(Err(why)),
        }
    }
    Ok(Ok(all))
}
