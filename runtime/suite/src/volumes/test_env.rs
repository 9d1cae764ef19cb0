//! Common start of all schedules of a fixture: a cluster that is prepared once and copied, and a
//! folder. The folder is the same for all schedules, since names of files depend on paths.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lifecycle_proto::csi;
use tokio::runtime::{Builder, Runtime};

use super::apply::apply;
use super::beside::Members;
use super::fixture::{Fixture, Start};
use super::step::Step;
use lifecycle_csi::Volumes;
use lifecycle_csi::in_process::CsiRequest;
use lifecycle_runtime::lifecycle::{CreatedVolume, Kind, Machine};
use lifecycle_simulator::{Server, User};

const STAGING: &str = "staging";

/// Common start of all schedules of a fixture.
pub(super) struct TestEnv<'a> {
    pub(super) fixture: &'a Fixture,
    pub(super) start: &'a Start,
    /// Lifecycles that run beside the driver.
    pub(super) members: &'a Members,
    pub(super) server: Server,
    folder: Folder,
    /// The kinds that the driver observes, and those that are written beside it.
    pub(super) kinds: Vec<Kind>,
}

/// A folder that is removed with its environment.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // Files that cannot be removed are left to the system.
        let _left = fs::remove_dir_all(&self.0);
    }
}

/// Returns a runtime with paused time for one schedule. Its remaining tasks end with it.
pub(super) fn paused() -> Result<Runtime, String> {
    let made = Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build();
    made.map_err(|error| format!("no runtime: {error}"))
}

impl<'a> TestEnv<'a> {
    pub(super) fn new(
        fixture: &'a Fixture,
        start: &'a Start,
        members: &'a Members,
    ) -> Result<Self, String> {
        let folder = made_folder()?;
        let mut kinds: Vec<Kind> = Vec::new();
        let observed = machines(start, &folder.0).flat_map(|machine| {
            let inputs = 0..machine.ir().inputs.len();
            inputs
                .filter_map(|input| machine.kind(input))
                .collect::<Vec<_>>()
        });
        for kind in observed.chain(members.written()) {
            if !kinds.iter().any(|known| known.shares_cache(&kind)) {
                kinds.push(kind);
            }
        }
        let env = Self {
            fixture,
            start,
            members,
            server: Server::new(1),
            folder,
            kinds,
        };
        paused()?.block_on(async {
            let client = env.server.client(&User::admin());
            for object in [&fixture.stays, &fixture.others, &fixture.goes]
                .into_iter()
                .flatten()
            {
                apply(&client, object).await?;
            }
            Ok::<_, String>(())
        })?;
        Ok(env)
    }

    /// All lifecycles of the driver.
    pub(super) fn machines(&self) -> impl Iterator<Item = Arc<dyn Machine>> {
        machines(self.start, self.folder())
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder.0
    }

    /// The folder as every schedule finds it, with nothing of the one before.
    pub(super) fn reset_folder(&self) -> Result<(), String> {
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
        files.map_err(|error| format!("{}: {error}", folder.display()))
    }

    fn parent(&self, pod: usize) -> PathBuf {
        self.folder().join(format!("pods/{pod}/volume"))
    }

    /// Returns the path at which a Pod finds the volume.
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
    pub(super) fn request(&self, step: Step, made: &CreatedVolume) -> CsiRequest {
        let volume_id = made.volume_id.clone();
        let staging = self.folder().join(STAGING).display().to_string();
        let target = |pod| self.target(pod).display().to_string();
        let capability = self.fixture.create.volume_capabilities.first().cloned();
        let mut context = made.context.clone();
        match step {
            Step::Create => CsiRequest::Create(self.fixture.create.clone()),
            Step::Delete => CsiRequest::Delete(csi::DeleteVolumeRequest {
                volume_id,
                ..Default::default()
            }),
            Step::Validate => CsiRequest::Validate(csi::ValidateVolumeCapabilitiesRequest {
                volume_id,
                volume_context: context,
                volume_capabilities: capability.into_iter().collect(),
                ..Default::default()
            }),
            Step::Stage => CsiRequest::Stage(csi::NodeStageVolumeRequest {
                volume_id,
                staging_target_path: staging,
                volume_capability: capability,
                volume_context: context,
                ..Default::default()
            }),
            Step::Unstage => CsiRequest::Unstage(csi::NodeUnstageVolumeRequest {
                volume_id,
                staging_target_path: staging,
            }),
            Step::Publish(pod) => {
                context.extend(self.fixture.pods[pod].clone());
                CsiRequest::Publish(csi::NodePublishVolumeRequest {
                    volume_id,
                    staging_target_path: staging,
                    target_path: target(pod),
                    volume_capability: capability,
                    volume_context: context,
                    ..Default::default()
                })
            }
            Step::Unpublish(pod) => CsiRequest::Unpublish(csi::NodeUnpublishVolumeRequest {
                volume_id,
                target_path: target(pod),
            }),
        }
    }
}

fn machines(start: &Start, folder: &Path) -> impl Iterator<Item = Arc<dyn Machine>> {
    let volumes = start(folder).into_iter().flat_map(Volumes::into_served);
    volumes.map(|volume| volume.machine)
}

/// A folder with a short and unique name.
fn made_folder() -> Result<Folder, String> {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let name = format!("volumes-{}-{number}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let made = fs::create_dir(&path);
    made.map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Folder(path))
}
