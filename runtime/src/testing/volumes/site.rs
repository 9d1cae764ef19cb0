//! Where one schedule plays: a copy of a cluster that was prepared once, and a folder that is the same for all, since paths lead into names of files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use kube::Client;
use kube::api::{Api, DynamicObject, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use lifecycle_proto::csi;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use super::process::{Done, Processes};
use super::snapshot::{self, Objects, Tree};
use super::{Fixture, Start};
use crate::csi::direct::Ask;
use crate::lifecycle::{CreatedVolume, Kind, Machine};
use crate::operator::Operator;
use crate::testing::faults::{Faults, Plan};
use crate::testing::{Server, User};

const STAGING: &str = "staging";

/// A step of a volume's life; Pods are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Create,
    Stage,
    Publish(usize),
    Unpublish(usize),
    Unstage,
    Delete,
    /// No part of a volume's life.
    Validate,
}

/// What all schedules of a fixture begin with.
pub(super) struct Ground<'a> {
    pub(super) fixture: &'a Fixture,
    start: &'a Start,
    server: Server,
    folder: Folder,
    /// The kinds that the driver looks at.
    kinds: Vec<Kind>,
}

/// A folder that is removed with its ground.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is left to the system.
        let _left = fs::remove_dir_all(&self.0);
    }
}

/// One schedule's cluster, folder and processes.
pub(super) struct Site<'a> {
    pub(super) ground: &'a Ground<'a>,
    pub(super) admin: Client,
    pub(super) faults: Faults,
    pub(super) done: Done,
    pub(super) processes: Processes<'a>,
}

/// Paused time for one schedule, with which all that it left behind ends.
pub(super) fn paused() -> Result<Runtime, String> {
    let made = Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build();
    made.map_err(|error| format!("no runtime: {error}"))
}

impl<'a> Ground<'a> {
    pub(super) fn new(fixture: &'a Fixture, start: &'a Start) -> Result<Self, String> {
        let folder = made_folder()?;
        let mut kinds: Vec<Kind> = Vec::new();
        for machine in machines(start, &folder.0) {
            for kind in (0..machine.ir().inputs.len()).filter_map(|input| machine.kind(input)) {
                if !kinds.iter().any(|known| known.shares_cache(&kind)) {
                    kinds.push(kind);
                }
            }
        }
        let ground = Self {
            fixture,
            start,
            server: Server::new(1),
            folder,
            kinds,
        };
        paused()?.block_on(async {
            let client = ground.server.client(&User::admin());
            for object in [&fixture.stays, &fixture.others, &fixture.goes]
                .into_iter()
                .flatten()
            {
                apply(&client, object).await?;
            }
            Ok::<_, String>(())
        })?;
        Ok(ground)
    }

    /// All lifecycles of the driver.
    pub(super) fn machines(&self) -> impl Iterator<Item = Arc<dyn Machine>> {
        machines(self.start, self.folder())
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder.0
    }

    /// A fresh site; asks for a runtime around it.
    pub(super) fn site(&'a self, plan: Plan) -> Result<Site<'a>, String> {
        let folder = self.folder();
        let emptied = fs::remove_dir_all(folder).and_then(|()| fs::create_dir_all(folder));
        let files = emptied.and_then(|()| {
            fs::create_dir_all(folder.join(STAGING))?;
            for pod in 0..self.fixture.pods.len() {
                fs::create_dir_all(self.parent(pod))?;
            }
            for (path, text) in &self.fixture.files {
                let path = folder.join(path);
                fs::create_dir_all(path.parent().unwrap_or(folder))?;
                fs::write(path, text)?;
            }
            Ok(())
        });
        files.map_err(|error| format!("{}: {error}", folder.display()))?;
        let server = self.server.copy();
        let admin = server.client(&User::admin());
        let faults = Faults::new(plan, jiff::Timestamp::UNIX_EPOCH);
        let done: Done = Arc::new(Mutex::new(Vec::new()));
        let at = (self.start, folder);
        let processes = Processes::new(at, admin.clone(), faults.clone(), Arc::clone(&done))?;
        Ok(Site {
            ground: self,
            admin,
            faults,
            done,
            processes,
        })
    }

    fn parent(&self, pod: usize) -> PathBuf {
        self.folder().join(format!("pods/{pod}/volume"))
    }

    /// Where a Pod looks.
    pub(super) fn target(&self, pod: usize) -> PathBuf {
        self.parent(pod).join("mount")
    }

    /// Steps until all Pods have the volume.
    pub(super) fn up(&self) -> Vec<Step> {
        let pods = (0..self.fixture.pods.len()).map(Step::Publish);
        [Step::Create, Step::Stage]
            .into_iter()
            .chain(pods)
            .collect()
    }

    /// Steps until nothing of it is left.
    pub(super) fn down(&self) -> Vec<Step> {
        let pods = (0..self.fixture.pods.len()).map(Step::Unpublish);
        pods.chain([Step::Unstage, Step::Delete]).collect()
    }

    /// The request of a step about the volume that was made.
    pub(super) fn ask(&self, step: Step, made: &CreatedVolume) -> Ask {
        let volume_id = made.volume_id.clone();
        let staging = self.folder().join(STAGING).display().to_string();
        let target = |pod| self.target(pod).display().to_string();
        let capability = self.fixture.create.volume_capabilities.first().cloned();
        let mut context = made.context.clone();
        match step {
            Step::Create => Ask::Create(self.fixture.create.clone()),
            Step::Delete => Ask::Delete(csi::DeleteVolumeRequest {
                volume_id,
                ..Default::default()
            }),
            Step::Validate => Ask::Validate(csi::ValidateVolumeCapabilitiesRequest {
                volume_id,
                volume_context: context,
                volume_capabilities: capability.into_iter().collect(),
                ..Default::default()
            }),
            Step::Stage => Ask::Stage(csi::NodeStageVolumeRequest {
                volume_id,
                staging_target_path: staging,
                volume_capability: capability,
                volume_context: context,
                ..Default::default()
            }),
            Step::Unstage => Ask::Unstage(csi::NodeUnstageVolumeRequest {
                volume_id,
                staging_target_path: staging,
            }),
            Step::Publish(pod) => {
                context.extend(self.fixture.pods[pod].clone());
                Ask::Publish(csi::NodePublishVolumeRequest {
                    volume_id,
                    staging_target_path: staging,
                    target_path: target(pod),
                    volume_capability: capability,
                    volume_context: context,
                    ..Default::default()
                })
            }
            Step::Unpublish(pod) => Ask::Unpublish(csi::NodeUnpublishVolumeRequest {
                volume_id,
                target_path: target(pod),
            }),
        }
    }
}

fn machines(start: &Start, folder: &Path) -> impl Iterator<Item = Arc<dyn Machine>> {
    let offered = start(folder).into_iter().flat_map(Operator::into_offered);
    offered.map(|(machine, _, _)| machine)
}

/// A folder with a short name that nobody else has.
fn made_folder() -> Result<Folder, String> {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let name = format!("volumes-{}-{number}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let made = fs::create_dir(&path);
    made.map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Folder(path))
}

impl Site<'_> {
    /// Writes down what was made, as external-provisioner does.
    pub(super) async fn write_down(&self, made: &CreatedVolume) -> Result<(), String> {
        for object in (self.ground.fixture.written)(made) {
            apply(&self.admin, &object).await?;
        }
        Ok(())
    }

    /// The volume was deleted: what was written down of it goes.
    pub(super) async fn strike_out(&self, made: &CreatedVolume) -> Result<(), String> {
        for object in (self.ground.fixture.written)(made) {
            delete(&self.admin, &object).await?;
        }
        Ok(())
    }

    /// The claim and the Pods go.
    pub(super) async fn clear(&self) -> Result<(), String> {
        for object in self.ground.fixture.goes.iter().rev() {
            delete(&self.admin, object).await?;
        }
        Ok(())
    }

    pub(super) async fn objects(&self) -> Result<Objects, String> {
        snapshot::objects(&self.admin, &self.ground.kinds).await
    }

    pub(super) fn tree(&self) -> Result<Tree, String> {
        snapshot::tree(self.ground.folder())
    }
}

fn api(client: &Client, object: &Value) -> Result<(Api<DynamicObject>, DynamicObject), String> {
    let parsed: DynamicObject = serde_json::from_value(object.clone())
        .map_err(|error| format!("{object} is no object: {error}"))?;
    let types = parsed.types.clone().unwrap_or_default();
    let (group, version) = match types.api_version.split_once('/') {
        Some((group, version)) => (group, version),
        None => ("", types.api_version.as_str()),
    };
    let of = GroupVersionKind::gvk(group, version, &types.kind);
    let plural = match types.kind.as_str() {
        "PodListeners" => "podlisteners".to_owned(),
        _ => ApiResource::from_gvk(&of).plural,
    };
    let resource = ApiResource::from_gvk_with_plural(&of, &plural);
    let api = match &parsed.metadata.namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    };
    Ok((api, parsed))
}

async fn apply(client: &Client, object: &Value) -> Result<(), String> {
    let (api, parsed) = api(client, object)?;
    let name = parsed.metadata.name.clone().unwrap_or_default();
    let params = PatchParams::apply("world").force();
    let applied = api.patch(&name, &params, &Patch::Apply(&parsed)).await;
    let applied = applied.map_err(|error| format!("{name} cannot be applied: {error}"))?;
    // A status is written on its own.
    if let Some(status) = object.get("status")
        && applied.data["status"] != *status
    {
        let status = json!({ "status": status });
        let written = api
            .patch_status(&name, &PatchParams::default(), &Patch::Merge(&status))
            .await;
        written.map_err(|error| format!("the status of {name} cannot be written: {error}"))?;
    }
    Ok(())
}

/// Deletes an object at once, whatever protects it.
async fn delete(client: &Client, object: &Value) -> Result<(), String> {
    let (api, parsed) = api(client, object)?;
    let name = parsed.metadata.name.unwrap_or_default();
    let free = json!({ "metadata": { "finalizers": null } });
    let freed = api
        .patch(&name, &PatchParams::default(), &Patch::Merge(&free))
        .await;
    let at_once = kube::api::DeleteParams::default().grace_period(0);
    let deleted = match freed {
        Ok(_) => api.delete(&name, &at_once).await.map(drop),
        Err(error) => Err(error),
    };
    match deleted {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        deleted => deleted.map_err(|error| format!("{name} cannot be deleted: {error}")),
    }
}
