//! Comparison of the cluster with the state in the specs: each object, the files in containers, and
//! the disks of the nodes. Everything without a spec is a leftover.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::fs;

use anyhow::Result;
use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim, Pod, Service};
use kube::api::ListParams;
use kube::{Api, Resource, ResourceExt};
use lifecycle_specs_listener::listener::{LISTENER_NAME, LISTENER_NAMESPACE, Listener, TOPOLOGY};
use lifecycle_specs_listener::pod_listeners::{NODE, PodListeners};
use lifecycle_tests::process::output;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::specs::{ClaimRequest, Exposure, Mounting, Specs, VOLUME, mount_label};
use super::work::NODES;
use crate::installed::Installed;

/// A difference, and the name of the object that the history knows.
pub(super) type Difference = (String, String);

/// Objects by name.
type Objects = BTreeMap<String, Value>;

/// Everything in the cluster that a spec may ask for.
struct ClusterSnapshot {
    listeners: Objects,
    services: Objects,
    pods: Objects,
    lists: Objects,
    claims: Objects,
    /// By the name of the claim.
    volumes: Objects,
    /// The addresses of the nodes.
    nodes: Vec<String>,
}

impl ClusterSnapshot {
    async fn read(site: &Installed) -> Result<Self> {
        let nodes = site.cluster.nodes().iter();
        let mut services = all(site.api::<Service>()).await?;
        services.remove("kubernetes");
        let volumes: Api<PersistentVolume> = Api::all(site.cluster.client());
        let volumes = all(volumes).await?.into_iter().map(|(name, volume)| {
            let claim = volume["spec"]["claimRef"]["name"].as_str();
            (claim.map_or(name, str::to_owned), volume.clone())
        });
        Ok(Self {
            listeners: all(site.api::<Listener>()).await?,
            services,
            pods: all(site.api::<Pod>()).await?,
            lists: all(site.api::<PodListeners>()).await?,
            claims: all(site.api::<PersistentVolumeClaim>()).await?,
            volumes: volumes.collect(),
            nodes: nodes.map(|node| node.address()).collect(),
        })
    }
}

async fn all<K>(api: Api<K>) -> Result<Objects>
where
    K: Resource + DeserializeOwned + Serialize + Clone + Debug,
{
    let listed = api.list(&ListParams::default()).await?;
    let objects = listed.items.into_iter();
    objects
        .map(|object| Ok((object.name_any(), serde_json::to_value(&object)?)))
        .collect()
}

/// Everything that differs: first of objects and disks, and only where these are right, of the files in containers.
pub(super) async fn differences(site: &Installed, specs: &Specs) -> Result<Vec<Difference>> {
    let seen = ClusterSnapshot::read(site).await?;
    let exposures = specs.exposures();
    let mut found = Differences::default();
    found.names(&seen, specs, &exposures);
    for (name, exposure) in &exposures {
        if let (Some(listener), Some(service)) = (seen.listeners.get(name), seen.services.get(name))
        {
            found.service(name, exposure, (listener, service));
            found.listener(name, exposure, (listener, service), &seen);
        }
    }
    for (name, mounting) in &specs.pods {
        let listener = mounting.listener(name);
        if let (Some(pod), Some(exposure)) = (seen.pods.get(name), exposures.get(&listener)) {
            found.pod((name, pod), mounting, exposure, &seen);
        }
    }
    let pods: Api<Pod> = Api::all(site.cluster.client());
    let everywhere = pods.list(&ListParams::default()).await?.items;
    found.disks(site, &everywhere, (&seen, specs))?;
    if found.0.is_empty() {
        for (name, mounting) in &specs.pods {
            found.files(site, (name, mounting), &exposures, &seen);
        }
    }
    Ok(found.0)
}

#[derive(Default)]
struct Differences(Vec<Difference>);

impl Differences {
    fn add(&mut self, object: &str, difference: String) {
        self.0.push((object.to_owned(), difference));
    }

    fn expect(&mut self, (kind, name): (&str, &str), field: &str, expected: &Value, found: &Value) {
        if expected != found {
            let difference =
                format!("{kind} `{name}`: expected {field} {expected} and found {found}");
            self.add(name, difference);
        }
    }

    /// Exactly the objects that the specs ask for.
    fn names(
        &mut self,
        seen: &ClusterSnapshot,
        specs: &Specs,
        exposures: &BTreeMap<String, Exposure>,
    ) {
        let listeners: BTreeSet<String> = exposures.keys().cloned().collect();
        let pods: BTreeSet<String> = specs.pods.keys().cloned().collect();
        let claims = specs.pods.iter().map(|(name, pod)| pod.claim(name));
        let claims: BTreeSet<String> = claims.collect();
        let lists = seen.pods.iter().filter(|(name, _)| pods.contains(*name));
        let lists: BTreeSet<String> = lists.map(|(_, pod)| list_of(pod)).collect();
        for (kind, expected, found) in [
            ("Listener", &listeners, &seen.listeners),
            ("Service", &listeners, &seen.services),
            ("Pod", &pods, &seen.pods),
            ("PersistentVolumeClaim", &claims, &seen.claims),
            ("PersistentVolume of claim", &claims, &seen.volumes),
            ("PodListeners", &lists, &seen.lists),
        ] {
            for name in expected.iter().filter(|name| !found.contains_key(*name)) {
                self.add(name, format!("{kind} `{name}`: expected and not found"));
            }
            for name in found.keys().filter(|name| !expected.contains(*name)) {
                self.add(
                    name,
                    format!("{kind} `{name}`: found, and no spec asks for it"),
                );
            }
        }
    }

    fn service(&mut self, name: &str, exposure: &Exposure, (listener, service): (&Value, &Value)) {
        let uid = &listener["metadata"]["uid"];
        let expected = exposure.service(name, uid, &mount_label(uid));
        let (meta, spec) = (&service["metadata"], &service["spec"]);
        let ports = spec["ports"].as_array().into_iter().flatten();
        let ports = ports.map(|port| json!([port["name"], port["protocol"], port["port"]]));
        let found = json!({
            "labels": meta["labels"],
            "annotations": meta["annotations"],
            "ownerReferences": meta["ownerReferences"],
            "type": spec["type"],
            "selector": spec["selector"],
            "ports": ports.collect::<Vec<Value>>(),
            "publishNotReadyAddresses": spec["publishNotReadyAddresses"] == true,
        });
        for (field, expected) in expected.as_object().into_iter().flatten() {
            self.expect(("Service", name), field, expected, &found[field]);
        }
    }

    fn listener(
        &mut self,
        name: &str,
        exposure: &Exposure,
        (listener, service): (&Value, &Value),
        seen: &ClusterSnapshot,
    ) {
        let of = ("Listener", name);
        let labels = or_empty(&listener["metadata"]["labels"]);
        self.expect(of, "labels", &exposure.labels(), &labels);
        for (field, expected) in exposure.spec.as_object().into_iter().flatten() {
            let found = &listener["spec"][field];
            self.expect(of, field, expected, found);
        }
        if !exposure.is_made {
            let volume = seen.volumes.get(name).unwrap_or(&Value::Null);
            let uid = &listener["metadata"]["ownerReferences"][0]["uid"];
            self.expect(of, "owner", &volume["metadata"]["uid"], uid);
        }
        let status = &listener["status"];
        let node_port = &service["spec"]["ports"][0]["nodePort"];
        let addresses = exposure.addresses(name, &seen.nodes, node_port);
        let node_ports = match exposure.class.node_port {
            true => json!({ "http": node_port }),
            false => Value::Null,
        };
        self.expect(
            of,
            "status.serviceName",
            &json!(name),
            &status["serviceName"],
        );
        self.expect(of, "status.nodePorts", &node_ports, &status["nodePorts"]);
        let found = &status["ingressAddresses"];
        self.expect(of, "status.ingressAddresses", &json!(addresses), found);
        let generation = &listener["metadata"]["generation"];
        self.expect(
            of,
            "status.observedGeneration",
            generation,
            &status["observedGeneration"],
        );
        // Behind node ports, no address exists before a Pod mounts it.
        let addressed = match addresses.is_empty() {
            true => "Unknown",
            false => "True",
        };
        for (condition, expected) in [
            ("Accepted", "True"),
            ("Programmed", "True"),
            ("Addressed", addressed),
        ] {
            let found = status_of(status, condition);
            self.expect(of, condition, &json!(expected), found);
        }
        let is_ready = status_of(status, "Ready") == "True";
        let is_addressed = json!(addressed == "True");
        self.expect(of, "Ready", &is_addressed, &json!(is_ready));
    }

    fn pod(
        &mut self,
        (name, pod): (&str, &Value),
        mounting: &Mounting,
        exposure: &Exposure,
        seen: &ClusterSnapshot,
    ) {
        let listener = mounting.listener(name);
        let uid = seen
            .listeners
            .get(&listener)
            .map(|one| &one["metadata"]["uid"]);
        let mut labels = json!({ "app": "served" });
        labels[mount_label(uid.unwrap_or(&Value::Null))] = json!(listener);
        self.expect(("Pod", name), "labels", &labels, &pod["metadata"]["labels"]);
        let ready = status_of(&pod["status"], "Ready");
        self.expect(("Pod", name), "Ready", &json!("True"), ready);
        let node = NODES[mounting.node];
        if let Some(list) = seen.lists.get(&list_of(pod)) {
            let entry = exposure.entry(
                &listener,
                &seen.nodes[mounting.node],
                node_port(seen, &listener),
            );
            let owner = &list["metadata"]["ownerReferences"][0]["uid"];
            for (field, expected, found) in [
                (
                    "listeners",
                    json!({ VOLUME: entry }),
                    &list["spec"]["listeners"],
                ),
                ("labels", json!({ NODE: node }), &list["metadata"]["labels"]),
                ("owner", pod["metadata"]["uid"].clone(), owner),
            ] {
                self.expect(("PodListeners of Pod", name), field, &expected, found);
            }
        }
        let claim = mounting.claim(name);
        if let Some(volume) = seen.volumes.get(&claim) {
            let of = ("PersistentVolume of claim", claim.as_str());
            let labels = json!({ LISTENER_NAMESPACE: "default", LISTENER_NAME: listener });
            self.expect(of, "labels", &labels, &volume["metadata"]["labels"]);
            let is_of_class = matches!(mounting.asks, ClaimRequest::Class(_));
            let pinned = match exposure.class.pinned && is_of_class {
                true => json!([{ "key": TOPOLOGY, "operator": "In", "values": [node] }]),
                false => Value::Null,
            };
            let terms = &volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"];
            self.expect(of, "affinity", &pinned, &terms[0]["matchExpressions"]);
        }
    }

    /// No directory and no mount of a Pod that is gone, and of each other Pod exactly its volume.
    fn disks(
        &mut self,
        site: &Installed,
        all: &[Pod],
        (seen, specs): (&ClusterSnapshot, &Specs),
    ) -> Result<()> {
        for node in site.cluster.nodes() {
            let name = node.name();
            let here = all.iter().filter(|pod| {
                let spec = pod.spec.as_ref();
                spec.and_then(|spec| spec.node_name.as_deref()) == Some(name)
            });
            let here: BTreeMap<String, &Pod> = here
                .map(|pod| (pod.uid().unwrap_or_default(), pod))
                .collect();
            let folder = node.folder().join("kubelet/pods");
            for uid in names_in(&folder) {
                let Some(pod) = here.get(&uid) else {
                    self.add(
                        &uid,
                        format!("{name}: found a directory of Pod {uid}, which does not exist"),
                    );
                    continue;
                };
                let pod_name = pod.name_any();
                let is_ours = pod.namespace().as_deref() == Some("default");
                let mounting = specs.pods.get(&pod_name).filter(|_| is_ours);
                let volume = mounting.and_then(|one| seen.volumes.get(&one.claim(&pod_name)));
                let expected: Vec<&str> = volume
                    .and_then(|volume| volume["metadata"]["name"].as_str())
                    .into_iter()
                    .collect();
                let found = names_in(&folder.join(&uid).join("volumes/kubernetes.io~csi"));
                self.expect(
                    ("Pod", &pod_name),
                    "volumes on disk",
                    &json!(expected),
                    &json!(found),
                );
            }
            let mut mounts = node.command("cat");
            for line in output(mounts.arg("/proc/self/mounts"))?.lines() {
                let uid = line.split("/kubelet/pods/").nth(1);
                let uid = uid.and_then(|rest| rest.split('/').next());
                if let Some(uid) = uid.filter(|uid| !here.contains_key(*uid)) {
                    self.add(
                        uid,
                        format!("{name}: found a mount of Pod {uid}, which does not exist: {line}"),
                    );
                }
            }
        }
        Ok(())
    }

    fn files(
        &mut self,
        site: &Installed,
        (name, mounting): (&str, &Mounting),
        exposures: &BTreeMap<String, Exposure>,
        seen: &ClusterSnapshot,
    ) {
        let listener = mounting.listener(name);
        let Some(exposure) = exposures.get(&listener) else {
            return;
        };
        let entry = exposure.entry(
            &listener,
            &seen.nodes[mounting.node],
            node_port(seen, &listener),
        );
        let addresses = entry["ingressAddresses"].as_array().into_iter().flatten();
        let mut names: Vec<&str> = addresses
            .filter_map(|one| one["address"].as_str())
            .collect();
        let first = &entry["ingressAddresses"][0];
        let [address, port] =
            ["address", "ports/http"].map(|file| format!("/{VOLUME}/default-address/{file}"));
        let said = format!(
            "{}{}",
            first["address"].as_str().unwrap_or_default(),
            first["ports"]["http"]
        );
        names.sort_unstable();
        let folder = format!("/{VOLUME}/addresses");
        for (words, expected) in [
            (["cat", address.as_str(), port.as_str()].as_slice(), said),
            (["ls", folder.as_str()].as_slice(), names.join("\n")),
        ] {
            let found = site
                .inside(name, words)
                .unwrap_or_else(|error| format!("{error:#}"));
            self.expect(("Pod", name), words[1], &json!(expected), &json!(found));
        }
    }
}

fn node_port<'a>(seen: &'a ClusterSnapshot, listener: &str) -> &'a Value {
    let service = seen.services.get(listener).unwrap_or(&Value::Null);
    &service["spec"]["ports"][0]["nodePort"]
}

fn list_of(pod: &Value) -> String {
    format!(
        "pod-{}",
        pod["metadata"]["uid"].as_str().unwrap_or_default()
    )
}

/// The status of a condition, null without it.
fn status_of<'a>(status: &'a Value, condition: &str) -> &'a Value {
    let mut conditions = status["conditions"].as_array().into_iter().flatten();
    let found = conditions.find(|found| found["type"] == condition);
    found.map_or(&Value::Null, |found| &found["status"])
}

fn or_empty(labels: &Value) -> Value {
    match labels.is_null() {
        true => Value::Object(Map::new()),
        false => labels.clone(),
    }
}

/// Returns the names in a folder, sorted; empty if the folder is missing.
fn names_in(folder: &std::path::Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}
