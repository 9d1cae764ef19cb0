//! The plain directory volume with staging, on a disk that is a set in memory.

use std::collections::BTreeSet;
use std::future::ready;
use std::sync::Mutex;

use lifecycle_runtime::lifecycle::call::Outcome;
use lifecycle_runtime::lifecycle::request::Access;
use lifecycle_runtime::lifecycle::{CallError, Once, Request};
use lifecycle_runtime::{Because, lifecycle};

/// True if the directory of a volume exists.
#[derive(PartialEq)]
pub(crate) struct Directory(bool);

/// Places at which a volume is mounted.
#[derive(PartialEq)]
pub(crate) struct MountTable {
    staged: bool,
    published: bool,
}

include!("../../../macros/core/tests/lifecycles/scratch.txt");

/// Volumes that are there, `staged` and `published` ones by their id.
#[derive(Default)]
pub(crate) struct Disk {
    pub(crate) volumes: BTreeSet<String>,
    pub(crate) mounts: Mutex<BTreeSet<(String, bool)>>,
}

impl Disk {
    fn is(&self, volume: &str, published: bool) -> bool {
        let mounts = self.mounts.lock().expect("no test panics with it");
        mounts.contains(&(volume.to_owned(), published))
    }

    fn set(&self, request: Request<'_>, published: bool, there: bool) {
        let mount = (
            request.volume_id().unwrap_or_default().to_owned(),
            published,
        );
        let mut mounts = self.mounts.lock().expect("no test panics with it");
        if there {
            mounts.insert(mount);
        } else {
            mounts.remove(&mount);
        }
    }
}

impl ScratchMountLogic for Disk {
    fn probe_backing(
        &self,
        volume_id: &str,
    ) -> impl Future<Output = Result<Directory, CallError>> + Send {
        ready(Ok(Directory(self.volumes.contains(volume_id))))
    }
    fn probe_mounts(
        &self,
        volume_id: &str,
    ) -> impl Future<Output = Result<MountTable, CallError>> + Send {
        ready(Ok(MountTable {
            staged: self.is(volume_id, false),
            published: self.is(volume_id, true),
        }))
    }
    fn asked(&self, request: Request<'_>) -> Because<Asked> {
        let block =
            |one: &lifecycle_runtime::lifecycle::request::Capability| one.access == Access::Block;
        let block = request.capabilities().iter().any(block);
        Because::plain(if block { Asked::Block } else { Asked::Mount })
    }
    fn found(&self, backing: Option<&Directory>) -> Because<bool> {
        Because::plain(backing.is_some_and(|backing| backing.0))
    }
    fn staged(&self, mounts: Option<&MountTable>) -> Because<bool> {
        Because::plain(mounts.is_some_and(|mounts| mounts.staged))
    }
    fn published(&self, mounts: Option<&MountTable>) -> Because<bool> {
        Because::plain(mounts.is_some_and(|mounts| mounts.published))
    }
    fn same(&self, request: Request<'_>, _: Option<&MountTable>) -> Because<Same> {
        Because::plain(if request.is_readonly() {
            Same::No
        } else {
            Same::Yes
        })
    }
    fn stage(
        &self,
        at: Stage<'_>,
        once: Once<'_>,
    ) -> impl Future<Output = Outcome<StageResult>> + Send {
        self.set(at.request, false, true);
        once.spend(ready(Ok(StageResult::Staged)))
    }
    fn publish(
        &self,
        at: Publish<'_>,
        once: Once<'_>,
    ) -> impl Future<Output = Outcome<PublishResult>> + Send {
        self.set(at.request, true, true);
        once.spend(ready(Ok(PublishResult::Published)))
    }
    fn unpublish(
        &self,
        at: Unpublish<'_>,
        once: Once<'_>,
    ) -> impl Future<Output = Outcome<UnpublishResult>> + Send {
        self.set(at.request, true, false);
        once.spend(ready(Ok(UnpublishResult::NotPublished)))
    }
    fn unstage(
        &self,
        at: Unstage<'_>,
        once: Once<'_>,
    ) -> impl Future<Output = Outcome<UnstageResult>> + Send {
        self.set(at.request, false, false);
        once.spend(ready(Ok(UnstageResult::NotStaged)))
    }
}
