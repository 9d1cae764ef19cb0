//! Kubelet work for the volumes of drivers. It has them staged and published before a Pod runs, and
//! published again while it runs. It has them unpublished and unstaged when the Pod goes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use lifecycle_proto::csi;
use serde_json::{Value, json};

use super::cache::Change;
use super::calls::{About, Call, Job, MountedVolume, NextStep, Verb};
use super::claims;
use super::kinds::{Kind, ObjectKey};
use super::object::{is_leaving, list, text, uid};
use super::operation::Operation;
use super::provisioner::capability;
use super::view::View;

/// Interval of repeated publish calls for a driver that wants them.
const AGAIN: Duration = Duration::from_secs(60);
const CONTEXT: &str = "csi.storage.k8s.io/";

/// How far the volumes of a Pod are.
#[derive(Debug, Default)]
pub(super) struct Mounting {
    /// Something is not there yet.
    pub(super) waits: bool,
    pub(super) operations: Vec<Operation>,
}

/// A volume of a driver that a Pod is to have.
struct RequestedVolume<'a> {
    name: String,
    driver: String,
    volume: &'a Value,
}

/// Returns the operations that the claims of a Pod need until it may run, and while it runs.
pub(super) fn toward(view: &View<'_>, key: &ObjectKey, pod: &Value, node: &str) -> Mounting {
    let mut mounting = Mounting::default();
    let Some(volumes) = &view.world.volumes else {
        return mounting;
    };
    for (claim, is_own) in claims::of_pod(pod) {
        let at = key.sibling("PersistentVolumeClaim", &claim);
        let Some(claim) = view.cache.get(&at) else {
            mounting.waits = true;
            continue;
        };
        let driver = claims::driver(view, claim);
        let volume = claims::volume(view.cache, claim).filter(|_| claims::is_bound(claim));
        let of_volume = volume.as_ref();
        let of_volume = of_volume.and_then(|(_, volume)| text(volume, "/spec/csi/driver"));
        let driver = of_volume.or(driver).filter(|d| volumes.knows(d));
        let Some(driver) = driver else {
            // A volume without a known driver is mounted as soon as it exists.
            continue;
        };
        let is_right = !is_own || claims::is_made_for(claim, pod);
        let Some((volume_key, volume)) = volume.filter(|_| is_right) else {
            mounting.waits = true;
            continue;
        };
        let name = volume_key.name;
        let wanted = RequestedVolume {
            name,
            driver,
            volume,
        };
        mount_volume(view, (key, pod, node), &wanted, &mut mounting);
    }
    mounting
}

fn mount_volume(
    view: &View<'_>,
    (key, pod, node): (&ObjectKey, &Value, &str),
    wanted: &RequestedVolume<'_>,
    mounting: &mut Mounting,
) {
    let (Some(volumes), Some(plugin)) =
        (&view.world.volumes, view.calls.plugin(node, &wanted.driver))
    else {
        mounting.waits = true;
        return;
    };
    let staging = volumes.staging(node, &wanted.name).display().to_string();
    let spec = &wanted.volume["spec"];
    let mode = list(spec, "/accessModes").first().and_then(Value::as_str);
    let used = capability(
        mode.unwrap_or_default(),
        text(spec, "/volumeMode"),
        plugin.tells_writers_apart,
    );
    let handle = text(spec, "/csi/volumeHandle").unwrap_or_default();
    let mut context = strings(&spec["csi"]["volumeAttributes"]);
    if plugin.stages {
        let about = About::Staged {
            node: node.to_owned(),
            volume: wanted.name.clone(),
        };
        let job = || {
            Job::Stage(csi::NodeStageVolumeRequest {
                volume_id: handle.clone(),
                staging_target_path: staging.clone(),
                volume_capability: Some(used.clone()),
                volume_context: context.clone(),
                ..csi::NodeStageVolumeRequest::default()
            })
        };
        if view.calls.reply(&about, Verb::Stage).is_none() || view.calls.is_busy(&about) {
            mounting.waits = true;
            mounting.push(view, about, &wanted.driver, Verb::Stage, job);
            return;
        }
    }
    let driver = ObjectKey::new(Kind::from_name("CSIDriver"), None, &wanted.driver);
    let driver = view.cache.get(&driver).map(|driver| &driver["spec"]);
    let says = |field: &str| driver.is_some_and(|driver| driver[field] == true);
    if says("podInfoOnMount") {
        context.extend(info(key, pod));
    }
    let about = About::Published {
        node: node.to_owned(),
        volume: wanted.name.clone(),
        pod: uid(pod),
    };
    let request = || csi::NodePublishVolumeRequest {
        volume_id: handle.clone(),
        staging_target_path: if plugin.stages {
            staging.clone()
        } else {
            String::new()
        },
        target_path: volumes
            .target(node, &uid(pod), &wanted.name)
            .display()
            .to_string(),
        volume_capability: Some(used.clone()),
        volume_context: context.clone(),
        ..csi::NodePublishVolumeRequest::default()
    };
    mounting.waits |= view.calls.reply(&about, Verb::Publish).is_none();
    match view.calls.toward(&about, Verb::Publish, view.at) {
        NextStep::Done(_) if !says("requiresRepublish") => {}
        NextStep::Done(since) if since < AGAIN => {
            mounting.operations.push(Operation::Again(AGAIN - since))
        }
        NextStep::Done(_) => {
            let job = Job::Publish(request(), key.clone());
            let driver = wanted.driver.clone();
            let call = Call { about, driver, job };
            mounting.operations.push(Operation::Call(Box::new(call)));
        }
        NextStep::Busy | NextStep::Later(_) | NextStep::Go => {
            let job = || Job::Publish(request(), key.clone());
            mounting.push(view, about, &wanted.driver, Verb::Publish, job);
        }
    }
}

impl Mounting {
    fn push(
        &mut self,
        view: &View<'_>,
        about: About,
        driver: &str,
        verb: Verb,
        job: impl FnOnce() -> Job,
    ) {
        match view.calls.toward(&about, verb, view.at) {
            NextStep::Done(_) | NextStep::Busy => {}
            NextStep::Later(time) => self.operations.push(Operation::Again(time)),
            NextStep::Go => {
                let call = Call {
                    about,
                    driver: driver.to_owned(),
                    job: job(),
                };
                self.operations.push(Operation::Call(Box::new(call)));
            }
        }
    }
}

fn strings(map: &Value) -> BTreeMap<String, String> {
    let all = map.as_object().into_iter().flatten();
    let text = |(k, v): (&String, &Value)| Some((k.clone(), v.as_str()?.to_owned()));
    all.filter_map(text).collect()
}

/// Returns the attributes of the Pod that a driver receives.
fn info(key: &ObjectKey, pod: &Value) -> [(String, String); 5] {
    let account = text(pod, "/spec/serviceAccountName").unwrap_or_else(|| "default".to_owned());
    let all = [
        ("pod.name", key.name.clone()),
        ("pod.namespace", key.namespace.clone().unwrap_or_default()),
        ("pod.uid", uid(pod)),
        ("serviceAccount.name", account),
        ("ephemeral", "false".to_owned()),
    ];
    all.map(|(name, value)| (format!("{CONTEXT}{name}"), value))
}

/// Returns the operations that take back the volumes of Pods by this name that are over or gone.
/// `over` is the uid of the current Pod if it has ended. Nothing is left when there are no
/// operations and `is_held` is false.
pub(super) fn away(view: &View<'_>, key: &ObjectKey, over: Option<&str>) -> Vec<Operation> {
    let there = view.cache.get(key).map(uid);
    let mut mounting = Mounting::default();
    for (about, held) in view.calls.on_nodes() {
        match about {
            About::Published { pod, .. } => {
                let is_over = there.as_ref() != Some(pod) || over == Some(pod);
                if held.pod.as_ref() == Some(key) && is_over {
                    taken(view, about, held, &mut mounting);
                }
            }
            About::Staged { node, volume } if is_idle(view, node, volume) => {
                taken(view, about, held, &mut mounting);
            }
            About::Staged { .. } | About::Plugin { .. } | About::Volume { .. } => {}
        }
    }
    mounting.operations
}

fn taken(view: &View<'_>, about: &About, held: &MountedVolume, mounting: &mut Mounting) {
    if !held.may_be && !view.calls.is_busy(about) {
        mounting.operations.push(Operation::Forget(about.clone()));
        return;
    }
    let path = held.path.display().to_string();
    let volume_id = held.handle.clone();
    let (verb, job) = match about {
        About::Published { .. } => (
            Verb::Unpublish,
            Job::Unpublish(csi::NodeUnpublishVolumeRequest {
                volume_id,
                target_path: path,
            }),
        ),
        About::Staged { .. } | About::Plugin { .. } | About::Volume { .. } => (
            Verb::Unstage,
            Job::Unstage(csi::NodeUnstageVolumeRequest {
                volume_id,
                staging_target_path: path,
            }),
        ),
    };
    mounting.push(view, about.clone(), &held.driver, verb, || job);
}

/// Returns true if a volume of a Pod is, or may be, published.
pub(super) fn is_held(view: &View<'_>, pod: &str) -> bool {
    let mut all = view.calls.on_nodes();
    all.any(|(about, _)| matches!(about, About::Published { pod: of, .. } if of == pod))
}

/// Returns true if no Pod on the node has the volume, and none is about to have it.
fn is_idle(view: &View<'_>, node: &str, volume: &str) -> bool {
    let published = view.calls.on_nodes().any(|(about, _)| {
        matches!(about, About::Published { node: n, volume: v, .. } if n == node && v == volume)
    });
    let at = ObjectKey::new(Kind::from_name("PersistentVolume"), None, volume);
    let claim = view.cache.get(&at).and_then(|volume| {
        let namespace = text(volume, "/spec/claimRef/namespace")?;
        let name = text(volume, "/spec/claimRef/name")?;
        let kind = Kind::from_name("PersistentVolumeClaim");
        Some(ObjectKey::new(kind, Some(&namespace), &name))
    });
    let users = claim.map(|claim| claims::users(view.cache, &claim));
    let is_user = |(_, pod): (&ObjectKey, &Value)| {
        text(pod, "/spec/nodeName").as_deref() == Some(node)
            && !is_leaving(pod)
            && !super::pods::is_over(pod)
    };
    !published && !users.into_iter().flatten().any(is_user)
}

/// Returns the node whose drivers have changed: that of a changed Node or CSINode.
pub(super) fn concerned(change: &Change) -> BTreeSet<ObjectKey> {
    let is_one = change.key.is("Node") || change.key.is("CSINode");
    let node = is_one.then(|| change.key.sibling("Node", &change.key.name));
    node.into_iter().collect()
}

/// Returns the operations that publish the self-description of the drivers on a node: its labels,
/// and the content of its CSINode.
pub(super) fn registered(view: &View<'_>, key: &ObjectKey) -> Vec<Operation> {
    let (Some(node), Some(volumes)) = (view.cache.get(key), &view.world.volumes) else {
        return Vec::new();
    };
    let mut operations = Vec::new();
    let mut drivers = Vec::new();
    let mut labels = json!({});
    for driver in volumes.on(&key.name) {
        let Some(plugin) = view.calls.plugin(&key.name, driver) else {
            let about = About::Plugin {
                node: key.name.clone(),
                driver: driver.to_owned(),
            };
            let mut mounting = Mounting::default();
            mounting.push(view, about, driver, Verb::Look, || Job::Look);
            operations.extend(mounting.operations);
            continue;
        };
        let keys: Vec<&String> = plugin.segments.keys().collect();
        let mut known = json!({ "name": driver, "nodeID": plugin.id });
        if !keys.is_empty() {
            known["topologyKeys"] = json!(keys);
        }
        drivers.push(known);
        for (name, value) in &plugin.segments {
            let is_there = node["metadata"]["labels"].get(name) == Some(&json!(value));
            if !is_there {
                labels[name] = json!(value);
            }
        }
    }
    if labels != json!({}) {
        let labels = json!({ "metadata": { "labels": labels } });
        operations.push(Operation::Patch(key.clone(), None, labels));
    }
    let at = key.sibling("CSINode", &key.name);
    match view.cache.get(&at) {
        None if !drivers.is_empty() => {
            let mut made = at.kind.object(&at);
            made["metadata"]["ownerReferences"] = json!([{
                "apiVersion": "v1", "kind": "Node", "name": key.name, "uid": uid(node),
            }]);
            made["spec"] = json!({ "drivers": drivers });
            operations.push(Operation::Create(at, made));
        }
        Some(known)
            if list(known, "/spec/drivers") != drivers.as_slice() && !drivers.is_empty() =>
        {
            let drivers = json!({ "spec": { "drivers": drivers } });
            operations.push(Operation::Patch(at, None, drivers));
        }
        Some(_) | None => {}
    }
    operations
}
