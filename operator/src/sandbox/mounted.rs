//! The files that the Pods of the sandbox find at their mounts, read as a container would read
//! them.

use std::fs;
use std::path::{Path, PathBuf};

use k8s_openapi::api::core::v1::{Event, PersistentVolumeClaim, Pod, Volume};
use kube::{Api, Client, ResourceExt};
use lifecycle_runtime::names;
use lifecycle_simulator::world::Volumes;

/// Annotations that identify a claim of this operator.
const ANNOTATIONS: [&str; 2] = [
    "listeners.stackable.tech/listener-class",
    "listeners.stackable.tech/listener-name",
];

/// One mount of a Pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mounted {
    /// Name of the volume in the Pod.
    volume: String,
    folder: PathBuf,
}

/// The mounts of Listeners of a Pod that runs.
pub(super) async fn of_pod(client: &Client, volumes: &Volumes, pod: &Pod) -> Vec<Mounted> {
    let namespace = pod.namespace().unwrap_or_default();
    let claims: Api<PersistentVolumeClaim> = Api::namespaced(client.clone(), &namespace);
    let spec = pod.spec.clone().unwrap_or_default();
    let node = spec.node_name.unwrap_or_default();
    let uid = pod.uid().unwrap_or_default();
    let mut all = Vec::new();
    for volume in spec.volumes.into_iter().flatten() {
        let claim = claim_of(pod, &volume);
        let is_name = |claim: &String| names::of_object("", "PersistentVolumeClaim", claim).is_ok();
        let Some(claim) = claim.filter(is_name) else {
            continue;
        };
        // A claim that is gone by now is not reported.
        let Ok(Some(claim)) = claims.get_opt(&claim).await else {
            continue;
        };
        let is_ours = ANNOTATIONS
            .iter()
            .any(|key| claim.annotations().contains_key(*key));
        let bound = claim.spec.and_then(|spec| spec.volume_name);
        if let Some(bound) = bound.filter(|_| is_ours) {
            all.push(Mounted {
                folder: volumes.target(&node, &uid, &bound),
                volume: volume.name,
            });
        }
    }
    all
}

fn claim_of(pod: &Pod, volume: &Volume) -> Option<String> {
    let named = volume.persistent_volume_claim.as_ref();
    let named = named.map(|source| source.claim_name.clone());
    let made = || format!("{}-{}", pod.name_any(), volume.name);
    named.or_else(|| volume.ephemeral.is_some().then(made))
}

impl Mounted {
    /// Returns the contents of `default-address` and its path, in one line.
    pub(super) fn line(&self) -> String {
        let (volume, folder) = (&self.volume, self.folder.display());
        match default_address(&self.folder) {
            Some(said) => format!("{volume}/default-address: {said}, in {folder}"),
            None => format!("{volume}: no default-address, in {folder}"),
        }
    }
}

fn default_address(folder: &Path) -> Option<String> {
    let folder = folder.join("default-address");
    let address = fs::read_to_string(folder.join("address")).ok()?;
    let ports = fs::read_dir(folder.join("ports")).ok()?;
    let port = |file: fs::DirEntry| {
        let number = fs::read_to_string(file.path()).ok()?;
        Some(format!("{}={number}", file.file_name().to_string_lossy()))
    };
    let mut ports: Vec<String> = ports.flatten().filter_map(port).collect();
    ports.sort();
    Some(
        [vec![format!("address={address}")], ports]
            .concat()
            .join(" "),
    )
}

/// Returns the obstacle to a Pod or a claim, if the event reports one: the object, and a sentence.
pub(super) fn complaint(event: &Event) -> Option<(String, String, String)> {
    let about = &event.involved_object;
    let (kind, reason) = (about.kind.as_deref()?, event.reason.as_deref()?);
    if !["FailedMount", "ProvisioningFailed"].contains(&reason) {
        return None;
    }
    let said = event.message.as_deref().unwrap_or_default();
    let name = about.name.clone()?;
    let what = match kind {
        "PersistentVolumeClaim" => format!("claim {name}: "),
        _ => String::new(),
    };
    let namespace = about.namespace.clone().unwrap_or_default();
    Some((namespace, name, format!("{reason:<12}  {what}{said}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_default_address_says_is_read_from_the_files() {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Mounted {
            volume: "listener".to_owned(),
            folder: folder.path().to_owned(),
        };
        assert!(
            mounted
                .line()
                .starts_with("listener: no default-address, in /")
        );
        let address = folder.path().join("default-address");
        fs::create_dir_all(address.join("ports")).unwrap();
        fs::write(address.join("address"), "web.svc").unwrap();
        fs::write(address.join("ports/https"), "443").unwrap();
        fs::write(address.join("ports/http"), "80").unwrap();
        let said = mounted.line();
        assert!(
            said.starts_with("listener/default-address: address=web.svc http=80 https=443, in /"),
            "{said}"
        );
    }
}
