//! The objects of a site in an API server inside the process, kept in line with the files. A
//! refusal is reported, and the previous object stays.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Context;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use kube::api::{ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams};
use kube::{Api, Client, Resource, ResourceExt};
use lifecycle_router::plain::plain;
use lifecycle_simulator::{Server, User};
use lifecycle_specs_skupper::access_grant::AccessGrant;
use lifecycle_specs_skupper::access_token::AccessToken;
use lifecycle_specs_skupper::certificate::Certificate;
use lifecycle_specs_skupper::connector::Connector;
use lifecycle_specs_skupper::link::Link;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_specs_skupper::multi_key_listener::MultiKeyListener;
use lifecycle_specs_skupper::router::ROUTER;
use lifecycle_specs_skupper::router_access::RouterAccess;
use lifecycle_specs_skupper::secured_access::SecuredAccess;
use lifecycle_specs_skupper::site::Site;
use serde_json::{Map, Value, json};
use tokio::sync::watch;

use super::documents::{ObjectKey, is_secret};
use super::input::{Fault, RequestedObject};
use super::memory::{Known, Object};
use super::token;
use crate::config::ports::{Holder, PortAllocation};
use crate::config::router_config::{CLAIMS, DOCUMENT};
use crate::grants::redemptions::{FORGOTTEN, REDEMPTIONS};
use crate::grants::server::{Durable, KEPT as CODE};
use crate::grants::service::{ADDRESS, SERVICE};
use crate::namespace::active_site;
use lifecycle_runtime::{cause, names};

/// Field manager for objects that files ask for.
const MANAGER: &str = "files";
/// Kinds whose statuses are written.
const SHOWN: [&str; 10] = [
    "AccessGrant",
    "AccessToken",
    "Certificate",
    "Connector",
    "Link",
    "Listener",
    "MultiKeyListener",
    "RouterAccess",
    "SecuredAccess",
    "Site",
];
/// Kinds with confidential values.
const SECRET: [&str; 3] = ["AccessGrant", "AccessToken", "Secret"];
/// How often an object may have come and gone in one life of the process, for its uid to be found again.
const MOST_UIDS: usize = 1000;

/// The simulated API server, and the objects applied to it.
pub(super) struct Store {
    server: Server,
    client: Client,
    namespace: String,
    pub(super) applied: BTreeMap<ObjectKey, Value>,
    /// Objects that were refused in their present form, with the reasons.
    refused: BTreeMap<ObjectKey, (Value, String)>,
}

impl Store {
    /// With the kinds of sites still to be installed.
    pub(super) fn new(seed: u64, namespace: &str) -> Self {
        let server = Server::new(seed);
        server.set_clock(Timestamp::now());
        Self {
            client: server.client(&User::admin()),
            server,
            namespace: namespace.to_owned(),
            applied: BTreeMap::new(),
            refused: BTreeMap::new(),
        }
    }

    /// A client that may do everything.
    pub(super) fn client(&self) -> Client {
        self.client.clone()
    }

    /// Changes whenever anything does.
    pub(super) fn revision(&self) -> u64 {
        self.server.revision()
    }

    /// Makes the namespace, if it is none that every API server has.
    ///
    /// # Errors
    /// No namespace can have the name, or the API server refuses it.
    pub(super) async fn make_namespace(&self) -> anyhow::Result<()> {
        names::of_namespace(&self.namespace)?;
        let namespaces: Api<DynamicObject> = Api::all_with(
            self.client(),
            &resource::<k8s_openapi::api::core::v1::Namespace>(),
        );
        let object = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": self.namespace } });
        let params = PatchParams::apply(MANAGER);
        namespaces
            .patch(&self.namespace, &params, &Patch::Apply(object))
            .await?;
        Ok(())
    }

    /// Follows the clock of this machine, which may have slept.
    pub(super) fn tick(&self) {
        self.server.set_clock(Timestamp::now());
    }

    /// Returns a function that waits until everything written by then is saved. `kept` has the
    /// newest saved revision.
    pub(super) fn durable(&self, kept: watch::Receiver<u64>) -> Durable {
        let server = self.server.clone();
        Durable(Arc::new(move || {
            let (until, mut kept) = (server.revision(), kept.clone());
            Box::pin(async move {
                // Without a sender the process ends.
                let _ended = kept.wait_for(|kept| *kept >= until).await;
            })
        }))
    }

    /// Publishes the address of the grant server: `HOST:PORT`.
    ///
    /// # Errors
    /// The API server refuses it.
    pub(super) async fn reach_grants(&self, address: &str, port: u16) -> kube::Result<()> {
        let service = json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": { "name": SERVICE, "annotations": { ADDRESS: address } },
            "spec": { "ports": [{ "port": port }] },
        });
        let services: Api<Service> = Api::namespaced(self.client(), &self.namespace);
        let params = PatchParams::apply(MANAGER);
        services
            .patch(SERVICE, &params, &Patch::Apply(service))
            .await?;
        Ok(())
    }

    /// The tokens of grants that can be redeemed, as YAML by the names of their files.
    ///
    /// # Errors
    /// The API server does not answer.
    pub(super) async fn tokens(&self) -> anyhow::Result<BTreeMap<String, String>> {
        let grants: Vec<AccessGrant> = self.all(&ListParams::default()).await?;
        let texts = grants.iter().filter_map(|grant| {
            let text = serde_saphyr::to_string(&token::from_grant(grant)?);
            Some(text.map(|text| (format!("{}.yaml", grant.name_any()), text)))
        });
        Ok(texts.collect::<Result<_, _>>()?)
    }

    /// Creates the first objects. Objects that were known keep their age, and with it their order.
    /// A refused object is created as it was in `last`.
    ///
    /// # Errors
    /// The API server does not answer.
    pub(super) async fn begin(
        &mut self,
        asked: &BTreeMap<ObjectKey, RequestedObject>,
        known: &Known,
        last: &BTreeMap<ObjectKey, Value>,
    ) -> kube::Result<Vec<Fault>> {
        let created = |key: &ObjectKey| {
            let object = known.objects.get(&key.to_string());
            object.and_then(|object| object.created.parse::<Timestamp>().ok())
        };
        let mut order: Vec<(Timestamp, &ObjectKey)> = asked
            .keys()
            .map(|key| (created(key).unwrap_or(Timestamp::MAX), key))
            .collect();
        order.sort();
        for (at, key) in order {
            let now = Timestamp::now();
            self.server.set_clock(if at > now { now } else { at });
            if let Some(one) = asked.get(key) {
                let known = known.objects.get(&key.to_string());
                let uid = known.map(|object| &object.uid);
                self.create(key, one, uid).await;
                if let Some(refused) = self.refused.get(key).cloned()
                    && let Some(last) = last.get(key)
                {
                    let object = last.clone();
                    let one = RequestedObject {
                        object,
                        ..one.clone()
                    };
                    self.create(key, &one, uid).await;
                    self.refused.insert(key.clone(), refused);
                }
                self.remind(key, known).await?;
            }
        }
        self.server.set_clock(Timestamp::now());
        Ok(self.faults(asked))
    }

    /// Creates an object with the uid that it had: uids of a name come in an order that follows from the seed.
    async fn create(&mut self, key: &ObjectKey, asked: &RequestedObject, uid: Option<&String>) {
        for _ in 0..MOST_UIDS {
            self.apply(key, asked).await;
            if self.refused.contains_key(key) {
                return;
            }
            let Ok(Some(made)) = self.api(key).get_opt(&key.name).await else {
                return;
            };
            if uid.is_none_or(|uid| made.uid().as_ref() == Some(uid)) {
                return;
            }
            self.delete(key).await;
        }
        tracing::warn!("{} has another uid than before", plain(&key.to_string()));
        self.apply(key, asked).await;
    }

    /// Applies the declared objects, and returns the refusals.
    pub(super) async fn settle(
        &mut self,
        asked: &BTreeMap<ObjectKey, RequestedObject>,
    ) -> Vec<Fault> {
        let gone: Vec<ObjectKey> = self
            .applied
            .keys()
            .filter(|key| !asked.contains_key(*key))
            .cloned()
            .collect();
        for key in gone {
            self.delete(&key).await;
        }
        for (key, one) in asked {
            self.apply(key, one).await;
        }
        self.faults(asked)
    }

    /// Restores the annotations in which a lifecycle recorded its operations on an object.
    async fn remind(&self, key: &ObjectKey, known: Option<&Object>) -> kube::Result<()> {
        let known = known.filter(|known| !known.records.is_empty());
        if let Some(known) = known
            && self.applied.contains_key(key)
        {
            let patch = json!({ "metadata": { "annotations": known.records } });
            let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
            self.api(key).patch(&key.name, &params, &patch).await?;
        }
        Ok(())
    }

    /// Prevents redemption of all existing grants, because their redemptions are no longer known.
    /// Returns their names.
    ///
    /// # Errors
    /// The API server does not answer.
    pub(super) async fn forget_redemptions(&self) -> kube::Result<Vec<String>> {
        let grants = self.applied.keys().filter(|key| key.kind == "AccessGrant");
        let grants: Vec<&ObjectKey> = grants.collect();
        let patch = json!({ "metadata": { "annotations": { REDEMPTIONS: FORGOTTEN } } });
        for key in &grants {
            let (params, patch) = (PatchParams::default(), Patch::Merge(&patch));
            self.api(key).patch(&key.name, &params, &patch).await?;
        }
        Ok(grants.iter().map(|key| key.name.clone()).collect())
    }

    async fn delete(&mut self, key: &ObjectKey) {
        let params = DeleteParams::background();
        match self.api(key).delete(&key.name, &params).await {
            Err(error) if !is_absent(&error) => {
                let said = cause::in_one_line(&error);
                let name = plain(&key.to_string());
                tracing::warn!("{name} cannot be removed: {said}; trying again");
            }
            Ok(_) | Err(_) => drop(self.applied.remove(key)),
        }
    }

    async fn apply(&mut self, key: &ObjectKey, asked: &RequestedObject) {
        let object = &asked.object;
        let is_refused = self.refused.get(key).is_some_and(|(of, _)| of == object);
        if is_refused {
            return;
        }
        self.refused.remove(key);
        if self.applied.get(key) == Some(object) {
            return;
        }
        if let Err(error) = key.in_path() {
            let why = error.to_string();
            self.refused.insert(key.clone(), (object.clone(), why));
            return;
        }
        if key.kind == "Secret" && !is_secret(object) {
            let why = "its data is no base64, or a value of it is no text".to_owned();
            self.refused.insert(key.clone(), (object.clone(), why));
            return;
        }
        self.empty(key, object).await;
        let params = PatchParams::apply(MANAGER).force().validation_strict();
        let (api, patch) = (self.api(key), Patch::Apply(object));
        match api.patch(&key.name, &params, &patch).await {
            Ok(_) => drop(self.applied.insert(key.clone(), object.clone())),
            Err(error) => {
                let why = if let kube::Error::Api(status) = &error {
                    status.message.clone()
                } else {
                    cause::in_one_line(&error)
                };
                let why = match SECRET.contains(&key.kind) {
                    true => redacted(&why),
                    false => why,
                };
                self.refused.insert(key.clone(), (object.clone(), why));
            }
        }
    }

    /// Removes the fields of a `spec` that the file no longer sets. An apply alone would leave
    /// `null` in their place, which is refused.
    async fn empty(&self, key: &ObjectKey, wanted: &Value) {
        let before = self.applied.get(key).map(|before| &before["spec"]);
        let fields = before.and_then(Value::as_object);
        let (Some(fields), Some(wanted)) = (fields, wanted["spec"].as_object()) else {
            return;
        };
        if !wanted.is_empty() || fields.is_empty() {
            return;
        }
        let none: Map<String, Value> = fields
            .keys()
            .map(|name| (name.clone(), Value::Null))
            .collect();
        let patch = Patch::Merge(json!({ "spec": none }));
        let params = PatchParams {
            field_manager: Some(MANAGER.to_owned()),
            ..PatchParams::default()
        };
        if let Err(error) = self.api(key).patch(&key.name, &params, &patch).await {
            // The apply that follows is refused, and why is reported.
            tracing::debug!("{key}: {}", cause::in_one_line(&error));
        }
    }

    fn faults(&mut self, asked: &BTreeMap<ObjectKey, RequestedObject>) -> Vec<Fault> {
        self.refused.retain(|key, _| asked.contains_key(key));
        let refused = self.refused.iter();
        let fault = |(key, (_, why)): (&ObjectKey, &(Value, String))| Fault {
            place: asked
                .get(key)
                .map(|asked| asked.place.clone())
                .unwrap_or_default(),
            said: format!("{key} cannot be used: {why}"),
        };
        refused.map(fault).collect()
    }

    /// Restores the allocations of the Site: each holder of a host and port keeps it, and the
    /// active Site is active again.
    ///
    /// # Errors
    /// The API server refuses it.
    pub(super) async fn restore(&self, known: &Known) -> anyhow::Result<()> {
        let all = ListParams::default();
        let sites: Vec<Site> = self.all(&all).await?;
        let is = |site: &&Site| known.site.is_some() && site.uid() == known.site;
        let oldest = || active_site::find(&sites.iter().collect::<Vec<_>>(), None);
        let Some(site) = sites.iter().find(is).or_else(oldest) else {
            return Ok(());
        };
        let listeners: Vec<Listener> = self.all(&all).await?;
        let several: Vec<MultiKeyListener> = self.all(&all).await?;
        let listeners = listeners.iter().map(|l| (Holder::Listener, l.meta()));
        let several = several.iter().map(|l| (Holder::MultiKeyListener, l.meta()));
        let holders: Vec<_> = listeners.chain(several).collect();
        let of = |before: &PortAllocation| {
            let mut holders = holders.iter();
            let (_, meta) = holders.find(|(holder, meta)| {
                *holder == before.holder && meta.name.as_ref() == Some(&before.name)
            })?;
            let uid = meta.uid.clone()?;
            let before = before.clone();
            Some(PortAllocation { uid, ..before })
        };
        let allocations: Vec<PortAllocation> = known.allocations.iter().filter_map(of).collect();
        if allocations.is_empty() && known.site.is_none() {
            return Ok(());
        }
        let owner = site.controller_owner_ref(&()).context("a Site has a uid")?;
        let config = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": ROUTER, "ownerReferences": [owner] },
            "data": { CLAIMS: json!(allocations).to_string(), DOCUMENT: "[]" },
        });
        let maps: Api<ConfigMap> = Api::namespaced(self.client(), &self.namespace);
        let params = PatchParams::apply(MANAGER);
        maps.patch(ROUTER, &params, &Patch::Apply(config)).await?;
        Ok(())
    }

    /// Returns the knowledge to save for the next start. For an absent object, `before` counts if a
    /// fault may be the reason.
    ///
    /// # Errors
    /// The API server does not answer.
    pub(super) async fn known(
        &self,
        before: &Known,
        is_whole: bool,
        asked: &BTreeMap<ObjectKey, RequestedObject>,
    ) -> kube::Result<Known> {
        let (mut objects, mut kept) = match is_whole {
            true => (BTreeMap::new(), Vec::new()),
            false => (before.objects.clone(), before.allocations.clone()),
        };
        for key in self.applied.keys() {
            if let Some(object) = self.api(key).get_opt(&key.name).await?
                && let Some(at) = object.creation_timestamp()
            {
                let known = Object {
                    records: records(&object, asked.get(key)),
                    created: at.0.to_string(),
                    uid: object.uid().unwrap_or_default(),
                    file: asked.get(key).map(|asked| asked.unit.path()),
                };
                objects.insert(key.to_string(), known);
            }
        }
        let maps: Api<ConfigMap> = Api::namespaced(self.client(), &self.namespace);
        let config = maps.get_opt(ROUTER).await?;
        let owner = config.iter().flat_map(|config| config.owner_references());
        let site = owner.map(|owner| owner.uid.clone()).next();
        let text = config.and_then(|config| config.data?.remove(CLAIMS));
        let allocations = text.and_then(|text| serde_json::from_str(&text).ok());
        let allocations: Vec<PortAllocation> = allocations.unwrap_or_default();
        let is_there = |before: &PortAllocation| {
            let mut keys = self.applied.keys();
            keys.any(|key| key.kind == before.holder.kind() && key.name == before.name)
        };
        kept.retain(|before| !is_there(before));
        Ok(Known {
            seed: before.seed,
            objects,
            site: site.or_else(|| before.site.clone()),
            host: before.host.clone(),
            allocations: allocations.into_iter().chain(kept).collect(),
        })
    }

    /// The objects with their statuses, by the names of their files. Secrets stay where they are, and codes of tokens.
    ///
    /// # Errors
    /// The API server does not answer.
    pub(super) async fn output_objects(&self) -> anyhow::Result<BTreeMap<String, Value>> {
        let mut shown = BTreeMap::new();
        for kind in SHOWN {
            let key = ObjectKey {
                kind,
                name: String::new(),
            };
            for object in self.api(&key).list(&ListParams::default()).await? {
                let name = format!("{kind}-{}.yaml", object.name_any());
                let mut value = serde_json::to_value(object)?;
                value["kind"] = kind.into();
                value["apiVersion"] = key.version().into();
                hide(&mut value);
                if let Some(metadata) = value["metadata"].as_object_mut() {
                    metadata.remove("managedFields");
                    metadata.remove("resourceVersion");
                }
                shown.insert(name, value);
            }
        }
        Ok(shown)
    }

    async fn all<K>(&self, params: &ListParams) -> kube::Result<Vec<K>>
    where
        K: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
        K: Clone + std::fmt::Debug + serde::de::DeserializeOwned,
    {
        let api: Api<K> = Api::namespaced(self.client(), &self.namespace);
        Ok(api.list(params).await?.items)
    }

    pub(super) fn api(&self, key: &ObjectKey) -> Api<DynamicObject> {
        Api::namespaced_with(self.client(), &self.namespace, &resource_of(key.kind))
    }
}

/// Returns the API server's message about an object without values. A reader of the faults may not
/// be allowed to see secrets in the files.
fn redacted(message: &str) -> String {
    let mut text = message.to_owned();
    for (before, after) in [(", got ", ""), ("Invalid value: ", ": ")] {
        let mut parts = text.split(before);
        let mut whole = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            whole.push_str(before);
            whole.push_str("..");
            let rest = match after {
                "" => part.find([',', '\n']).map(|at| &part[at..]),
                after => part.rfind(after).map(|at| &part[at..]),
            };
            whole.push_str(rest.unwrap_or_default());
        }
        text = whole;
    }
    text
}

/// Hides codes, because readers of statuses may not be allowed to redeem them.
fn hide(object: &mut Value) {
    for part in ["spec", "status"] {
        if let Some(code) = object[part].get_mut("code") {
            *code = "".into();
        }
    }
    if let Some(annotations) = object["metadata"]["annotations"].as_object_mut() {
        annotations.remove(CODE);
    }
}

/// Returns the annotations of a token or a grant that no file declares: the records of its
/// lifecycle, or of the grant server.
fn records(object: &DynamicObject, asked: Option<&RequestedObject>) -> BTreeMap<String, String> {
    let own = asked.map(|asked| &asked.object["metadata"]["annotations"]);
    let is_own = |name: &str| own.is_some_and(|own| own.get(name).is_some());
    let remembers = |kind: &Value| kind == "AccessToken" || kind == "AccessGrant";
    let remembers = asked.is_some_and(|asked| remembers(&asked.object["kind"]));
    let all = object.annotations().iter().filter(|_| remembers);
    let records = all.filter(|(name, _)| !is_own(name));
    records
        .map(|(name, text)| (name.clone(), text.clone()))
        .collect()
}

fn resource<K: Resource<DynamicType = ()>>() -> ApiResource {
    ApiResource::erase::<K>(&())
}

fn resource_of(kind: &str) -> ApiResource {
    match kind {
        "Site" => resource::<Site>(),
        "Listener" => resource::<Listener>(),
        "MultiKeyListener" => resource::<MultiKeyListener>(),
        "Connector" => resource::<Connector>(),
        "Link" => resource::<Link>(),
        "AccessToken" => resource::<AccessToken>(),
        "AccessGrant" => resource::<AccessGrant>(),
        "RouterAccess" => resource::<RouterAccess>(),
        "SecuredAccess" => resource::<SecuredAccess>(),
        "Certificate" => resource::<Certificate>(),
        _ => resource::<Secret>(),
    }
}

/// Returns true if the error reports that an object does not exist.
pub(super) fn is_absent(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 404)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_of_a_secret_is_in_a_message() {
        let typed = "failed to create typed patch object (default/nums; /v1, Kind=Secret): .stringData.tls.key: expected string, got &value.valueUnstructured{Value:4444333322221111}";
        let shown = redacted(typed);
        assert!(
            shown.contains("tls.key: expected string, got .."),
            "{shown}"
        );
        assert!(!shown.contains("4444"), "{shown}");
        let invalid = "AccessToken \"t\" is invalid: spec.code: Invalid value: \"hunter2: x\": spec.code in body must be of type string: \"null\"";
        let shown = redacted(invalid);
        assert!(
            shown.contains("spec.code") && !shown.contains("hunter2"),
            "{shown}"
        );
        assert_eq!(redacted("not found"), "not found");
    }
}
