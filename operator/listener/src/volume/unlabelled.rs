//! PersistentVolumes that the replaced operator mounted before its release 24.11, which did not label them yet. Without labels no Listener finds the node
//! that is reserved for it, and its address is gone while no Pod runs there. Each gets its labels at the start, without waiting for a mount.

use k8s_openapi::api::core::v1::PersistentVolume;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{Api, ListParams, Patch, PatchParams};
use kube::{Client, Resource, ResourceExt};
use lifecycle_specs_listener::listener::{LISTENER_NAME, LISTENER_NAMESPACE, Listener};
use serde_json::{Value, json};
use thiserror::Error;

use super::NAME;
use super::claim::{self, Selector};

/// The name under which mounts write the same labels.
const FIELD_MANAGER: &str = "listeners.stackable.tech/volume";

/// Why volumes could not be labelled.
#[derive(Debug, Error)]
pub(crate) enum Error {
    /// The volumes without labels.
    #[error("PersistentVolumes cannot be listed; grant list on them")]
    List(#[source] kube::Error),
    /// The Listener of a volume.
    #[error("the Listener of PersistentVolume `{name}` cannot be read; grant get on Listeners")]
    Get {
        /// Name of the volume.
        name: String,
        /// The request that was refused.
        source: kube::Error,
    },
    /// A volume.
    #[error("PersistentVolume `{name}` cannot be labelled; grant patch on PersistentVolumes")]
    Label {
        /// Its name.
        name: String,
        /// The request that was refused.
        source: kube::Error,
    },
}

/// Labels each volume of the driver that has no labels and has an existing Listener.
///
/// # Errors
/// The API server refuses something. It may be called again at any time.
pub(crate) async fn label(client: &Client) -> Result<(), Error> {
    let volumes: Api<PersistentVolume> = Api::all(client.clone());
    let unlabelled = ListParams::default().labels(&format!("!{LISTENER_NAME}"));
    for volume in volumes.list(&unlabelled).await.map_err(Error::List)? {
        let Some(aim) = aim(&volume) else {
            continue;
        };
        let name = volume.name_any();
        let listeners: Api<Listener> = Api::namespaced(client.clone(), aim.namespace);
        let found = listeners.get_metadata_opt(aim.name).await;
        let found = found.map_err(|source| Error::Get {
            name: name.clone(),
            source,
        })?;
        if !found.is_some_and(|listener| aim.is_for(listener.owner_references(), &volume)) {
            continue;
        }
        let params = PatchParams::apply(FIELD_MANAGER).force();
        match volumes
            .patch(&name, &params, &Patch::Apply(&aim.labels(&volume)))
            .await
        {
            Ok(_) => {
                tracing::info!(volume = %name, "labelled the PersistentVolume with its Listener");
            }
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409 | 422) => {}
            Err(source) => return Err(Error::Label { name, source }),
        }
    }
    Ok(())
}

/// Returns true if a volume of the driver has no labels yet and gets them, if its Listener exists.
#[must_use]
pub fn is_unlabelled(volume: &PersistentVolume) -> bool {
    !volume.labels().contains_key(LISTENER_NAME) && aim(volume).is_some()
}

/// The Listener that a volume is for.
#[derive(Debug, PartialEq, Eq)]
struct Aim<'a> {
    namespace: &'a str,
    name: &'a str,
    /// The Listener was made for the claim, so that the volume owns it.
    owned: bool,
}

impl Aim<'_> {
    /// Returns true if the Listener of this name belongs to the volume, and does not only have the
    /// name by coincidence.
    fn is_for(&self, owners: &[OwnerReference], volume: &PersistentVolume) -> bool {
        let uid = volume.metadata.uid.as_deref();
        !self.owned || owners.iter().any(|owner| Some(&*owner.uid) == uid)
    }

    /// The uid keeps a volume that is gone meanwhile from being created.
    fn labels(&self, volume: &PersistentVolume) -> Value {
        json!({
            "apiVersion": PersistentVolume::api_version(&()),
            "kind": PersistentVolume::kind(&()),
            "metadata": {
                "name": volume.metadata.name,
                "uid": volume.metadata.uid,
                "labels": { LISTENER_NAMESPACE: self.namespace, LISTENER_NAME: self.name },
            },
        })
    }
}

/// Reads the Listener off the attributes and the claim of a volume; `None` if the volume is of another driver, is going away, or names none.
fn aim(volume: &PersistentVolume) -> Option<Aim<'_>> {
    let spec = volume.spec.as_ref()?;
    let csi = spec.csi.as_ref().filter(|csi| csi.driver == NAME)?;
    if volume.metadata.deletion_timestamp.is_some() {
        return None;
    }
    let of_claim = spec.claim_ref.as_ref()?;
    let attributes = csi.volume_attributes.as_ref()?;
    let (name, owned) = match claim::promised(|key| attributes.get(key).map(String::as_str)) {
        Ok(Selector::Class(_)) => (of_claim.name.as_deref()?, true),
        Ok(Selector::Name(name)) => (name, false),
        Err(_) => return None,
    };
    let namespace = of_claim.namespace.as_deref()?;
    Some(Aim {
        namespace,
        name,
        owned,
    })
}

#[cfg(test)]
mod tests {
    use lifecycle_client::scripted;

    use super::*;

    const VOLUMES: &str = "/api/v1/persistentvolumes";

    fn volume(name: &str, claim: &str, attributes: Value) -> Value {
        json!({
            "apiVersion": "v1", "kind": "PersistentVolume",
            "metadata": { "name": name, "uid": name },
            "spec": {
                "claimRef": { "namespace": "apps", "name": claim },
                "csi": { "driver": NAME, "volumeHandle": name, "volumeAttributes": attributes },
            },
        })
    }

    fn parsed(volume: Value) -> PersistentVolume {
        serde_json::from_value(volume).unwrap()
    }

    #[test]
    fn the_listener_is_read_off_attributes_and_claim() {
        let aim_of = |volume: Value| {
            let volume = parsed(volume);
            aim(&volume).map(|aim| format!("{}/{} {}", aim.namespace, aim.name, aim.owned))
        };
        let class = json!({ claim::CLASS: "c", "other": "annotation" });
        let by_class = volume("pv", "data-0", class);
        assert_eq!(
            aim_of(by_class.clone()).as_deref(),
            Some("apps/data-0 true")
        );
        assert!(is_unlabelled(&parsed(by_class.clone())));
        let mut labelled = by_class.clone();
        labelled["metadata"]["labels"] = json!({ LISTENER_NAME: "data-0" });
        assert!(!is_unlabelled(&parsed(labelled)));
        let by_name = volume("pv", "data-0", json!({ claim::NAME: "web" }));
        assert_eq!(aim_of(by_name).as_deref(), Some("apps/web false"));
        let both = json!({ claim::CLASS: "c", claim::NAME: "web" });
        let both = aim_of(volume("pv", "data-0", both));
        assert_eq!(both.as_deref(), Some("apps/data-0 true"));
        assert_eq!(aim_of(volume("pv", "data-0", json!({}))), None);
        let mut other = by_class.clone();
        other["spec"]["csi"]["driver"] = json!("secrets.stackable.tech");
        let mut unclaimed = by_class.clone();
        unclaimed["spec"]["claimRef"] = Value::Null;
        let mut going = by_class;
        going["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        for volume in [other, unclaimed, going] {
            assert_eq!(aim_of(volume), None);
        }
    }

    /// One listener is the volume's, one bears the name and is another's, one is gone.
    #[tokio::test]
    async fn a_volume_gets_the_labels_of_the_listener_that_is_its_own() {
        let class = json!({ claim::CLASS: "c" });
        let volumes = json!([
            volume("pv-1", "mine", class.clone()),
            volume("pv-2", "foreign", class.clone()),
            volume("pv-3", "gone", class),
            volume("pv-4", "any", json!({ claim::NAME: "shared" })),
        ]);
        let answer = move |line: &str, body: &Value| {
            let listener = |owner: &str| {
                let owner = json!({ "apiVersion": "v1", "kind": "PersistentVolume", "name": owner, "uid": owner });
                json!({
                    "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "Listener",
                    "metadata": { "name": "l", "ownerReferences": [owner] }, "spec": {},
                })
            };
            if line.starts_with("PATCH") {
                return (200, body.clone());
            }
            match line.rsplit('/').next() {
                Some(list) if list.starts_with("persistentvolumes?") => (
                    200,
                    json!({ "apiVersion": "v1", "kind": "PersistentVolumeList", "metadata": {}, "items": volumes }),
                ),
                Some("mine") => (200, listener("pv-1")),
                Some("foreign" | "shared") => (200, listener("another")),
                _ => scripted::failure(404, "NotFound", "not found"),
            }
        };
        let (client, asked) = scripted::recorded(answer);
        label(&client).await.unwrap();
        let asked = asked.lock().unwrap();
        let lists = &asked[0].0;
        assert!(
            lists.starts_with(&format!("GET {VOLUMES}?")) && lists.contains("labelSelector=%21"),
            "{lists}"
        );
        let writes = asked.iter().filter(|(line, _)| !line.starts_with("GET"));
        let writes: Vec<_> = writes
            .map(|(line, body)| (line.as_str(), &body["metadata"]["labels"]))
            .collect();
        let of = |name: &str| {
            format!(
                "PATCH {VOLUMES}/{name}?&force=true&fieldManager=listeners.stackable.tech%2Fvolume"
            )
        };
        let labels = |name: &str| json!({ LISTENER_NAMESPACE: "apps", LISTENER_NAME: name });
        let wanted = [(of("pv-1"), labels("mine")), (of("pv-4"), labels("shared"))];
        let wanted: Vec<_> = wanted
            .iter()
            .map(|(line, labels)| (line.as_str(), labels))
            .collect();
        assert_eq!(writes, wanted);
    }
}
