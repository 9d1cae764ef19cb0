//! Each row of the judgement of Skupper sites, on objects as the existing controller leaves them.

mod controllers;
mod sites;

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::Secret;
use kube::api::DynamicObject;
use lifecycle_runtime::yaml;
use lifecycle_skupper::controller::KINDS;
use lifecycle_skupper::data_plane::{Adaptor, DataPlane};
use lifecycle_skupper::router::plane::{Images, RouterOptions};
use lifecycle_skupper::secured_access::AccessDefaults;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::chosen::Chosen;
use super::credentials;
use super::found::{ClusterObjects, Credentials, kinds};
use super::judge::judge;
use crate::takeover::finding::{Finding, Severity};
use crate::takeover::read::Read;
use crate::takeover::tests::{blocking, object_findings, only};

const REPLACED: &str = include_str!("replaced.yaml");
const CONTROLLER: &str = "Deployment skupper/skupper-controller";

/// A cluster as a list of objects, which a test edits.
struct Cluster(Vec<Value>);

impl Cluster {
    fn replaced() -> Self {
        let mut all: Vec<Value> = yaml::all(REPLACED).unwrap();
        let definitions = (KINDS.definitions)().into_iter();
        all.extend(definitions.map(|one| serde_json::to_value(one).unwrap()));
        Self(all)
    }

    /// Returns a cluster without obstacles for the plain Site.
    fn cleared() -> Self {
        let mut cluster = Self::replaced();
        cluster
            .0
            .retain(|one| one["metadata"]["namespace"] != "east");
        cluster.object("Deployment", "skupper", "skupper-controller")["spec"]["replicas"] =
            json!(0);
        cluster
    }

    fn add_object(&mut self, object: Value) -> &mut Self {
        self.0.push(object);
        self
    }

    fn object(&mut self, kind: &str, namespace: &str, name: &str) -> &mut Value {
        let mut all = self.0.iter_mut();
        let found = all.find(|one| {
            one["kind"] == kind
                && one["metadata"]["namespace"] == namespace
                && one["metadata"]["name"] == name
        });
        found.unwrap()
    }

    fn definition(&mut self, name: &str) -> &mut Value {
        let mut all = self.0.iter_mut();
        let found = all.find(|one| {
            one["kind"] == "CustomResourceDefinition" && one["metadata"]["name"] == name
        });
        found.unwrap()
    }

    fn controller(&mut self) -> &mut Value {
        self.object("Deployment", "skupper", "skupper-controller")
    }

    fn router(&mut self) -> &mut Value {
        self.object("Deployment", "west", "skupper-router")
    }

    fn objects_of_kind<K: DeserializeOwned>(&self, kind: &str) -> Vec<K> {
        let all = self.0.iter().filter(|one| one["kind"] == kind);
        all.map(|one| serde_json::from_value(one.clone()).unwrap())
            .collect()
    }

    /// The ConfigMaps, Services or the like of one name, as a field selector finds them.
    fn named<K: DeserializeOwned>(&self, kind: &str, name: &str) -> Read<K> {
        let named = self.0.iter().filter(|one| one["metadata"]["name"] == name);
        Ok(Self(named.cloned().collect()).objects_of_kind(kind))
    }

    fn found(&self, chosen: &Chosen) -> ClusterObjects {
        let objects = kinds().map(|kind| (kind.kind.clone(), Ok(self.objects_of_kind(&kind.kind))));
        let mut found = ClusterObjects {
            deployments: Ok(self.objects_of_kind("Deployment")),
            configs: self.named("ConfigMap", "skupper"),
            documents: self.named("ConfigMap", "skupper-router"),
            services: self.named("Service", "skupper-grant-server"),
            definitions: Ok(self.objects_of_kind::<DynamicObject>("CustomResourceDefinition")),
            objects: objects.into(),
            credentials: Ok(Vec::new()),
        };
        let needed = credentials::needed(&found, chosen);
        let secrets = self.0.iter().filter(|one| one["kind"] == "Secret");
        let secrets = secrets.map(|one| {
            let mut one = one.clone();
            one["data"] = one["stringData"].take();
            serde_json::from_value::<Secret>(one).unwrap()
        });
        let read = secrets.map(|secret| Credentials::from_secret(&secret));
        let read =
            read.filter(|one| needed.contains_key(&(one.namespace.clone(), one.name.clone())));
        found.credentials = Ok(read.collect());
        found
    }

    fn judged(&self, chosen: &Chosen) -> Vec<Finding> {
        judge(&self.found(chosen), chosen)
    }
}

/// In the place of the existing controller.
fn in_place() -> Chosen {
    Chosen {
        namespace: "skupper".to_owned(),
        name: "skupper-controller".to_owned(),
        watched: BTreeSet::new(),
        maintain_crds: true,
        routers: RouterOptions {
            data_plane: DataPlane::Embedded,
            adaptor: Adaptor::KubeAdaptor,
            images: Images {
                embedded: "lifecycle-router".to_owned(),
                ..Images::default()
            },
        },
        access: AccessDefaults::default(),
    }
}

/// Under a name of its own, beside it.
fn under_new_name() -> Chosen {
    Chosen {
        name: "new".to_owned(),
        ..in_place()
    }
}

fn config(namespace: &str, data: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": "skupper", "namespace": namespace }, "data": data,
    })
}

#[test]
fn a_definition_blocks_if_objects_or_clients_have_another_version_and_if_nobody_installs_it() {
    let mut cluster = Cluster::cleared();
    let by_hand = Chosen {
        maintain_crds: false,
        ..in_place()
    };
    let object = "CustomResourceDefinition sites.skupper.io";
    assert!(object_findings(&cluster.judged(&by_hand), object).is_empty());
    cluster.definition("sites.skupper.io")["status"]["storedVersions"] =
        json!(["v1alpha1", "v2alpha1"]);
    let stored = ["[\"v1alpha1\",\"v2alpha1\"]", "knows only v2alpha1"];
    only(
        &cluster.judged(&in_place()),
        object,
        Severity::Blocks,
        &stored,
    );
    cluster.definition("sites.skupper.io")["status"]["storedVersions"] = json!(["v2alpha1"]);
    let versions = &mut cluster.definition("sites.skupper.io")["spec"]["versions"];
    let mut other = versions[0].clone();
    other["name"] = json!("v1alpha1");
    versions.as_array_mut().unwrap().push(other);
    let served = ["serves [\"v1alpha1\"] as well"];
    only(
        &cluster.judged(&in_place()),
        object,
        Severity::Blocks,
        &served,
    );
    cluster.definition("sites.skupper.io")["spec"]["versions"][1]["served"] = json!(false);
    assert!(object_findings(&cluster.judged(&in_place()), object).is_empty());
    cluster
        .0
        .retain(|one| one["metadata"]["name"] != "sites.skupper.io");
    assert!(object_findings(&cluster.judged(&in_place()), object).is_empty());
    let missing = ["it is missing", "`lifecycle-operator crd skupper`"];
    only(
        &cluster.judged(&by_hand),
        object,
        Severity::Blocks,
        &missing,
    );
}

#[test]
fn the_service_of_grants_stays_and_its_owner_is_named_if_that_goes() {
    let mut cluster = Cluster::cleared();
    let service = "Service skupper/skupper-grant-server";
    let owned = [
        "ReplicaSet skupper-controller-5d8f owns it",
        "after 10 changes",
        "patch service skupper-grant-server",
    ];
    only(
        &cluster.judged(&in_place()),
        service,
        Severity::Note,
        &owned,
    );
    cluster.controller()["spec"]["revisionHistoryLimit"] = json!(3);
    only(
        &cluster.judged(&in_place()),
        service,
        Severity::Note,
        &["after 3 changes"],
    );
    let metadata = &mut cluster.object("Service", "skupper", "skupper-grant-server")["metadata"];
    metadata["ownerReferences"] = Value::Null;
    let all = object_findings(&cluster.judged(&in_place()), service);
    assert!(all.len() == 1 && !all[0].1.contains("owns it"), "{all:?}");
    cluster.add_object(json!({
        "apiVersion": "skupper.io/v2alpha1", "kind": "SecuredAccess",
        "metadata": {
            "name": "skupper-grant-server", "namespace": "skupper",
            "ownerReferences": [{ "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "old", "uid": "1" }],
        },
        "spec": { "selector": {}, "ports": [] },
    }));
    let access = "SecuredAccess skupper/skupper-grant-server";
    let owned = ["ReplicaSet old owns it", "patch securedaccess"];
    only(&cluster.judged(&in_place()), access, Severity::Note, &owned);
    // That of another controller is its own.
    let elsewhere = Chosen {
        namespace: "other".to_owned(),
        ..in_place()
    };
    assert!(object_findings(&cluster.judged(&elsewhere), access).is_empty());
}

/// Objects that are reported as unread, the missing right, and the edit that causes it.
type Edit = (&'static str, &'static str, fn(&mut ClusterObjects));

#[test]
fn what_may_not_be_read_of_sites_is_said_with_the_right_that_is_missing() {
    let chosen = in_place();
    let whole = Cluster::replaced().found(&chosen);
    let read = |edit: fn(&mut ClusterObjects)| {
        let mut found = whole.clone();
        edit(&mut found);
        judge(&found, &chosen)
    };
    let edits: [Edit; 7] = [
        ("Deployments", "list deployments.apps", |found| {
            found.deployments = Err("no".to_owned());
        }),
        ("ConfigMaps", "list configmaps", |found| {
            found.configs = Err("no".to_owned());
        }),
        ("ConfigMaps", "list configmaps", |found| {
            found.documents = Err("no".to_owned());
        }),
        ("Services", "list services", |found| {
            found.services = Err("no".to_owned());
        }),
        ("Secrets", "get secrets", |found| {
            found.credentials = Err("no".to_owned());
        }),
        ("Site", "list sites.skupper.io", |found| {
            let none = Err("no".to_owned());
            found.objects.insert("Site".to_owned(), none);
        }),
        (
            "CustomResourceDefinitions",
            "get customresourcedefinitions",
            |found| found.definitions = Err("no".to_owned()),
        ),
    ];
    for (object, right, edit) in edits {
        only(&read(edit), object, Severity::Unread, &[right]);
    }
    // Who manages a namespace is not guessed.
    let found = read(|found| found.configs = Err("no".to_owned()));
    assert!(object_findings(&found, CONTROLLER).is_empty(), "{found:#?}");
    let order: Vec<Severity> = found.iter().map(|one| one.severity).collect();
    assert!(order.is_sorted(), "{order:?}");
}

#[test]
fn nothing_blocks_a_plain_site_once_the_existing_controller_has_ended() {
    let findings = Cluster::cleared().judged(&in_place());
    assert_eq!(blocking(&findings), [""; 0]);
}
