//! The configuration of a Site's router, beside the one that the existing controller writes for the same objects, as `tests/upstream` has it recorded.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::tests::sites;
use super::*;

/// Entries by entity and name.
type Entries = BTreeMap<String, Map<String, Value>>;

/// Entries by which the existing router receives changes, and by which programs of the namespace
/// query it.
const OF_EXISTING: [&str; 2] = ["listener/amqp", "listener/amqps"];

/// On a Secret: the numbers of its contents.
const CONTEXT: &str = "internal.skupper.io/tls-profile-context";

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/upstream"))
}

pub(super) fn case(name: &str) -> Value {
    let text = fs::read_to_string(folder().join(format!("{name}.yaml"))).expect("it can be read");
    serde_saphyr::from_str(&text).expect("it is YAML")
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The entries that the existing controller wrote for the first router.
fn recorded(case: &Value) -> Entries {
    let mut entries = match case["beside"].as_str() {
        Some(beside) => recorded(&self::case(beside)),
        None => Entries::new(),
    };
    for gone in list(&case["output"]["missing_entries"][ROUTER]) {
        entries.remove(&key(gone));
    }
    let is_missing = |object: &Value| object.as_str() == Some("ConfigMap skupper-router");
    if list(&case["output"]["missing"]).iter().any(is_missing) {
        entries.clear();
    }
    for entry in list(&case["output"]["entries"][ROUTER]) {
        let attributes = entry[1].as_object().expect("it has attributes").clone();
        entries.insert(key(entry), attributes);
    }
    entries
}

fn key(entry: &Value) -> String {
    let text = |value: &Value| value.as_str().expect("it is a text").to_owned();
    let names = ["name", "prefix", "id", "module"].map(|attribute| &entry[1][attribute]);
    let name = names.into_iter().find(|name| !name.is_null());
    let name = name.expect("it has a name");
    format!("{}/{}", text(&entry[0]), text(name))
}

/// The objects of a namespace, by kind and name.
#[derive(Default)]
struct World {
    plane: DataPlane,
    /// Secrets that the controller made, and those that it numbered.
    secrets: Vec<Secret>,
    objects: Vec<Value>,
    config: Option<ConfigMap>,
}

impl World {
    fn take(&mut self, input: &Value) {
        if let Some(named) = input.get("delete") {
            self.objects.retain(|object| !is(object, named));
            return;
        }
        let mut object = input.clone();
        let kind = object["kind"].as_str().expect("it has a kind").to_owned();
        let name = object["metadata"]["name"]
            .as_str()
            .expect("it has a name")
            .to_owned();
        let second = self.objects.len() % 60;
        let said =
            json!({ "kind": kind, "name": name, "namespace": input["metadata"]["namespace"] });
        let there = self.objects.iter_mut().find(|object| is(object, &said));
        let created = match &there {
            Some(there) => there["metadata"]["creationTimestamp"].clone(),
            None => json!(format!("2026-01-01T00:00:{second:02}Z")),
        };
        object["metadata"]["uid"] = json!(format!("<uid of {kind} {name}>"));
        object["metadata"]["creationTimestamp"] = created;
        if kind == "Site" && object["spec"].is_null() {
            object["spec"] = json!({});
        }
        if object["metadata"]["namespace"].is_null() {
            object["metadata"]["namespace"] = json!("west");
        }
        match there {
            Some(there) => *there = object,
            None => self.objects.push(object),
        }
    }

    fn all<K: DeserializeOwned>(&self, kind: &str) -> Vec<Readable<K>>
    where
        Readable<K>: From<K>,
    {
        let of_kind = self
            .objects
            .iter()
            .filter(|object| object["kind"] == kind && object["metadata"]["namespace"] == "west");
        let read = of_kind.filter_map(|object| serde_json::from_value::<K>(object.clone()).ok());
        read.map(Readable::from).collect()
    }

    /// The configuration after that of before.
    fn plan(&mut self) {
        let all: Vec<Readable<Site>> = self.all("Site");
        let Some(first) = all.first().and_then(|site| site.known()) else {
            self.config = None;
            return;
        };
        let (sites, this) = (sites(), This::new(first));
        let listeners: Vec<Readable<Listener>> = self.all("Listener");
        let several: Vec<Readable<MultiKeyListener>> = self.all("MultiKeyListener");
        let connectors: Vec<Readable<Connector>> = self.all("Connector");
        let links: Vec<Readable<Link>> = self.all("Link");
        let accesses: Vec<Readable<RouterAccess>> = self.all("RouterAccess");
        let pods: Vec<Pod> = self.pods();
        let connectors: Vec<_> = connectors.iter().collect();
        let workloads = workloads(&connectors, (&[], &[]), &pods.iter().collect::<Vec<_>>());
        let own = sites.own_access(this);
        let accesses: Vec<_> = accesses.iter().collect();
        let accesses = served(this, own.as_ref(), &kept::known(&accesses));
        let before = router_config::before(self.config.as_ref(), &[]);
        let (listeners, several, links): (Vec<_>, Vec<_>, Vec<_>) = (
            listeners.iter().collect(),
            several.iter().collect(),
            links.iter().collect(),
        );
        let secrets = self.secrets();
        let secrets: Vec<&Secret> = secrets.iter().collect();
        let revisions = Revisions::new(&secrets, self.config.as_ref());
        let identity = SiteIdentity {
            plane: self.plane,
            ..SiteIdentity::of_this(this)
        };
        let planned = plan::router_config(
            (&identity, &revisions),
            (&before, &RetainedConfig::default()),
            (&kept::known(&listeners), &kept::known(&several)),
            (&workloads, &kept::known(&links), &accesses),
        );
        let planned = serde_json::from_value(planned.as_json().clone());
        self.config = Some(planned.expect("it is a ConfigMap"));
    }

    /// Returns the Secrets of its input, with unchanged content, and those that the controller has
    /// created.
    fn secrets(&self) -> Vec<Secret> {
        let own = self.objects.iter().filter(|object| is_secret(object));
        let own = own.map(|object| {
            let name = object["metadata"]["name"].as_str();
            let mut secret = unchanged(name.expect("it has a name"));
            // As the API server stores them.
            let texts = object["stringData"].as_object().into_iter().flatten();
            let bytes = texts.map(|(key, text)| {
                let text = text.as_str().expect("it is a text");
                (key.clone(), ByteString(text.as_bytes().to_vec()))
            });
            secret.data = Some(bytes.collect());
            secret
        });
        own.chain(self.secrets.iter().cloned()).collect()
    }

    fn pods(&self) -> Vec<Pod> {
        let pods = self.objects.iter().filter(|object| object["kind"] == "Pod");
        let read = pods.map(|pod| serde_json::from_value(pod.clone()).expect("it is a Pod"));
        read.collect()
    }
}

fn is(object: &Value, named: &Value) -> bool {
    let same_place = match named["namespace"].as_str() {
        Some(namespace) => object["metadata"]["namespace"] == namespace,
        None => object["metadata"]["namespace"] == "west",
    };
    same_place && object["kind"] == named["kind"] && object["metadata"]["name"] == named["name"]
}

fn is_secret(object: &Value) -> bool {
    object["kind"] == "Secret"
}

/// Returns a Secret with unchanged content, for both of its possible profiles.
fn unchanged(name: &str) -> Secret {
    let element = |profile: String| json!({ "profileName": profile, "ordinal": 0 });
    let context = json!([element(name.to_owned()), element(format!("{name}-profile"))]);
    let annotations = json!({ CONTEXT: context.to_string() });
    let secret = json!({ "metadata": { "name": name, "annotations": annotations } });
    serde_json::from_value(secret).expect("it is a Secret")
}

/// A Secret of the existing controller, as it was recorded.
fn made_secret(object: &Value) -> Secret {
    let metadata = &object["metadata"];
    match metadata["annotations"][CONTEXT].is_string() {
        true => serde_json::from_value(json!({ "metadata": metadata })).expect("it is a Secret"),
        false => unchanged(metadata["name"].as_str().expect("it has a name")),
    }
}

/// Our entries for a case, where these Secrets are there as well as those of its input.
fn ours(case: &Value, plane: DataPlane) -> Entries {
    let made = list(&case["output"]["objects"]).iter();
    let made = made.filter(|object| is_secret(object));
    let mut world = World {
        plane,
        secrets: made.map(made_secret).collect(),
        ..World::default()
    };
    let later = list(&case["then"]).iter().map(list);
    for step in [list(&case["input"])].into_iter().chain(later) {
        step.iter().for_each(|input| world.take(input));
        world.plan();
    }
    let entries = world.config.as_ref().map(router_config::entries);
    let entries = entries.into_iter().flatten().map(|(entity, attributes)| {
        let entry = json!([entity, attributes]);
        (key(&entry), attributes)
    });
    entries.collect()
}

/// A difference in words: an entry that one of the two alone has, or the attributes that differ.
fn difference(key: &str, theirs: &Entries, ours: &Entries) -> Option<String> {
    match (theirs.get(key), ours.get(key)) {
        (Some(theirs), Some(ours)) => {
            let names: BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
            let other = names
                .into_iter()
                // In `metadata` this operator reports more of its site.
                .filter(|name| *name != "metadata")
                .filter(|name| theirs.get(*name) != ours.get(*name));
            let other: Vec<&str> = other.map(String::as_str).collect();
            (!other.is_empty()).then(|| format!("{key}: {}", other.join(", ")))
        }
        (Some(_), None) => Some(format!("{key}: only theirs")),
        (None, _) => Some(format!("{key}: only ours")),
    }
}

/// The names of all cases, sorted.
pub(super) fn cases() -> BTreeSet<String> {
    let files = fs::read_dir(folder()).expect("it can be read");
    let names = files.filter_map(|file| {
        let path = file.expect("it can be read").path();
        let is_case = path.extension().is_some_and(|ending| ending == "yaml");
        is_case.then(|| path.file_stem()?.to_str().map(str::to_owned))?
    });
    names.collect()
}

/// By case.
fn differences(plane: DataPlane) -> BTreeMap<String, Vec<String>> {
    let compared = cases().into_iter().map(|name| {
        let case = case(&name);
        let (theirs, ours) = (recorded(&case), ours(&case, plane));
        let keys: BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
        let keys = keys
            .into_iter()
            .filter(|key| plane != DataPlane::Embedded || !OF_EXISTING.contains(&key.as_str()));
        let told = keys
            .filter_map(|key| difference(key, &theirs, &ours))
            .collect();
        (name, told)
    });
    compared.collect()
}

/// Cases with their differences.
type Cases = &'static [(&'static str, &'static [&'static str])];

/// The only differences on either data plane, by why they are.
const DIFFERENT: [(&str, Cases); 7] = [
    (
        "a Site with an Error serves all that it can",
        &[
            (
                "site-edge-ha",
                &[
                    "address/mc: only ours",
                    "listener/@9090: only ours",
                    "router/west-${HOSTNAME}: only ours",
                    "sslProfile/skupper-local-server: only ours",
                ],
            ),
            (
                "site-link-access-unsupported",
                &[
                    "address/mc: only ours",
                    "listener/@9090: only ours",
                    "router/west-${HOSTNAME}: only ours",
                    "sslProfile/skupper-local-server: only ours",
                ],
            ),
        ],
    ),
    (
        "nothing collected garbage where it was recorded",
        &[(
            "site-deleted",
            &[
                "address/mc: only theirs",
                "connector/east: only theirs",
                "listener/@9090: only theirs",
                "router/west-${HOSTNAME}: only theirs",
                "sslProfile/east-profile: only theirs",
                "sslProfile/skupper-local-server: only theirs",
                "tcpConnector/connector/shop@shop.example.com: only theirs",
                "tcpListener/listener/shop: only theirs",
            ],
        )],
    ),
    (
        "what cannot be served is an Error of its object, and no entry",
        &[
            (
                "connector-odd",
                &["tcpConnector/connector/port@c.example.com: only theirs"],
            ),
            (
                "link-no-tls",
                &[
                    "connector/east: only theirs",
                    "sslProfile/-profile: only theirs",
                ],
            ),
            (
                "listener-odd",
                &[
                    "tcpListener/listener/a.b: port",
                    "tcpListener/listener/host: only theirs",
                    "tcpListener/listener/port: only theirs",
                    "tcpListener/listener/tcp: port",
                ],
            ),
            (
                "multi-key-host-of-listener",
                &[
                    "listenerAddress/both/db-far: only theirs",
                    "listenerAddress/both/db-near: only theirs",
                    "tcpListener/multiAddress/both: only theirs",
                ],
            ),
            (
                "site-edge-link-access",
                &[
                    "listener/skupper-router-edge: only theirs",
                    "listener/skupper-router-inter-router: only theirs",
                    "sslProfile/skupper-site-server: only theirs",
                ],
            ),
        ],
    ),
    (
        "what is taken back goes",
        &[(
            "site-link-access-removed",
            &[
                "listener/skupper-router-edge: only theirs",
                "listener/skupper-router-inter-router: only theirs",
                "sslProfile/skupper-site-server: only theirs",
            ],
        )],
    ),
    (
        "the host and port of a Listener are its own before its Service is looked at",
        &[(
            "listener-foreign-service",
            &["tcpListener/listener/shop: only ours"],
        )],
    ),
    (
        "the setting counts where the field says nothing",
        &[("listener-observer", &["tcpListener/listener/b: observer"])],
    ),
    (
        "it comes from statuses of other objects, which are not part of this",
        &[
            (
                "attached",
                &[
                    "tcpConnector/connector/shop@10.0.0.1: only theirs",
                    "tcpConnector/connector/shop@pod-a: only theirs",
                ],
            ),
            (
                "attached-tls",
                &[
                    "sslProfile/shop-tls: only theirs",
                    "tcpConnector/connector/shop@10.0.0.1: only theirs",
                ],
            ),
            (
                "listener-expose-pods",
                &[
                    "tcpListener/listener/shop@pod-a: only theirs",
                    "tcpListener/listener/shop@pod-b: only theirs",
                ],
            ),
            (
                "listener-expose-pods-gone",
                &[
                    "tcpListener/listener/shop@pod-a: only theirs",
                    "tcpListener/listener/shop@pod-b: only theirs",
                ],
            ),
        ],
    ),
];

/// Those of the router of this project.
const OF_EMBEDDED: [(&str, Cases); 4] = [
    (
        "our router takes a renewed certificate without being told its number",
        &[
            (
                "site-ha-link-access",
                &["sslProfile/skupper-site-server: ordinal"],
            ),
            (
                "site-link-access-default",
                &["sslProfile/skupper-site-server: ordinal"],
            ),
        ],
    ),
    (
        "our router waits for a Secret by itself, and says so of this entry alone",
        &[
            (
                "connector-tls-missing",
                &[
                    "sslProfile/shop-tls-profile: only ours",
                    "tcpConnector/connector/shop@shop.example.com: only ours",
                ],
            ),
            (
                "link-secret-missing",
                &[
                    "connector/east: only ours",
                    "sslProfile/east-profile: only ours",
                ],
            ),
            (
                "listener-tls-late",
                &[
                    "sslProfile/shop-tls: only ours",
                    "tcpListener/listener/shop: only ours",
                ],
            ),
            (
                "listener-tls-missing",
                &[
                    "sslProfile/shop-tls: only ours",
                    "tcpListener/listener/shop: only ours",
                ],
            ),
            (
                "router-access-secret-missing",
                &["listener/in-edge: only ours", "sslProfile/own: only ours"],
            ),
        ],
    ),
    (
        "our router dials without a proxy, and the Link says so",
        &[(
            "link-proxy",
            &[
                "connector/east: only theirs",
                "proxyProfile/proxy: only theirs",
                "sslProfile/east-profile: only theirs",
            ],
        )],
    ),
    (
        "our router has one connection for each link, and the Site says that the setting has no effect",
        &[
            (
                "site-settings",
                &["router/west-${HOSTNAME}: dataConnectionCount"],
            ),
            (
                "site-settings-edited",
                &["router/west-${HOSTNAME}: dataConnectionCount"],
            ),
        ],
    ),
];

/// Those of the existing router.
const OF_EXISTING_ROUTER: [(&str, Cases); 2] = [
    (
        "a Secret that comes late is taken, and what needs one that goes waits for it again",
        &[
            (
                "listener-tls-late",
                &[
                    "sslProfile/shop-tls: only ours",
                    "tcpListener/listener/shop: only ours",
                ],
            ),
            (
                "listener-tls-lost",
                &[
                    "sslProfile/shop-tls: only theirs",
                    "tcpListener/listener/shop: only theirs",
                ],
            ),
        ],
    ),
    (
        "levels of logging have their effect",
        &[
            ("site-settings", &["log/ROUTER_CORE: only ours"]),
            ("site-settings-edited", &["log/DEFAULT: only ours"]),
        ],
    ),
];

/// The differences of these reasons.
fn known(reasons: &[(&str, Cases)]) -> BTreeMap<String, Vec<String>> {
    let all = reasons.iter().flat_map(|(_, cases)| cases.iter());
    let all = all.map(|(case, told)| {
        let told = told.iter().map(|line| (*line).to_owned()).collect();
        ((*case).to_owned(), told)
    });
    all.collect()
}

/// If only one of the two has all entries of a case, adds the entries of the management to that
/// difference.
fn with_management(told: &mut Vec<String>) {
    let whole = told
        .iter()
        .find_map(|line| line.strip_prefix("listener/@9090: "));
    if let Some(side) = whole.map(str::to_owned) {
        told.extend(OF_EXISTING.map(|name| format!("{name}: {side}")));
        told.sort();
    }
}

fn check(plane: DataPlane, own: &[(&str, Cases)]) {
    let mut found = differences(plane);
    assert_eq!(found.len(), 99, "cases");
    found.retain(|_, told| !told.is_empty());
    let mut expected = known(&DIFFERENT);
    if plane == DataPlane::SkupperRouter {
        expected.values_mut().for_each(with_management);
    }
    expected.extend(known(own));
    assert_eq!(found, expected);
}

#[test]
fn a_router_is_told_what_the_existing_controller_tells_its_router() {
    check(DataPlane::Embedded, &OF_EMBEDDED);
}

#[test]
fn the_existing_router_is_told_what_its_controller_tells_it() {
    check(DataPlane::SkupperRouter, &OF_EXISTING_ROUTER);
}
