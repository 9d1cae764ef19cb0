//! The node side: staging notes how a volume is used, publishing puts a link to its directory where the Pod looks.

use std::future::ready;
use std::io::ErrorKind;
use std::sync::Arc;

use lifecycle_runtime::lifecycle::call::Outcome;
use lifecycle_runtime::lifecycle::request::Capability;
use lifecycle_runtime::lifecycle::{CallError, Once, Request};
use lifecycle_runtime::{Because, lifecycle};

use super::disk::{Disk, Use};
use super::provisioning::{failed, fits};

/// Existence of the directory of a volume.
#[derive(Debug, PartialEq)]
pub struct Backing(bool);

/// How a volume is staged, and where it is published.
#[derive(Debug, PartialEq)]
pub struct Staging {
    staged: Option<Use>,
    published: Vec<Use>,
}

/// Volume that is published at a target.
#[derive(Debug, PartialEq)]
pub struct Link(Option<Use>);

lifecycle! {
    /// The node side of a plain directory volume with staging.
    volume DirectoryMount;

    observe {
        backing: probe Backing by request.volume_id;
        staging: probe Staging by request.volume_id;
        link:    probe Link    by request.target_path;
    }
    facts {
        asked:    { Mount, Unfit }     from request.capabilities;
        writes:   { Yes, No }          from request.readonly;
        found:    bool                 from backing;
        held staged:    bool           from staging;
        held published: bool           from link;
        same:     { Yes, No }          from request, staging given staged else Yes;
    }
    states {
        Published when published;
        Staged    when staged;
        Idle      when !staged;
    }
    effects {
        stage:     call staging when found  sets { staged = true }     undo unstage   key request.volume_id;
        publish:   call link    when staged sets { published = true }  undo unpublish key request.target_path;
        unpublish: call link                sets { published = false } key request.target_path;
        unstage:   call staging             sets { staged = false }    key request.volume_id;
    }
    rpc {
        unfit    when asked == Unfit;
        unknown  when !found;
        elsewhere never "a directory may be published at many targets";
        unstaged when !staged;
        differs  when same == No;

        NodeStageVolume     -> staged     by stage     { refused(stage)     => INTERNAL; }
        NodeUnstageVolume   -> !staged    by unstage   { refused(unstage)   => INTERNAL; }
        NodePublishVolume   -> published  by publish   {
            writes == No     => INVALID_ARGUMENT "a link to a directory cannot be read-only";
            refused(publish) => INTERNAL;
        }
        NodeUnpublishVolume -> !published by unpublish { refused(unpublish) => INTERNAL; }
    }
}

/// Stages and publishes volumes of a disk.
#[derive(Clone, Debug)]
pub struct Mounter(pub Arc<Disk>);

fn capability(request: Request<'_>) -> String {
    format!("{:?}", request.capabilities())
}

fn use_at(request: Request<'_>, path: Option<&str>) -> Use {
    Use {
        volume: request.volume_id().unwrap_or_default().to_owned(),
        path: path.unwrap_or_default().to_owned(),
        capability: capability(request),
    }
}

impl DirectoryMountLogic for Mounter {
    fn probe_backing(
        &self,
        volume_id: &str,
    ) -> impl Future<Output = Result<Backing, CallError>> + Send {
        let volume = self.0.volume(volume_id);
        ready(volume.map(|v| Backing(v.is_some())).map_err(|e| failed(&e)))
    }
    fn probe_staging(
        &self,
        volume_id: &str,
    ) -> impl Future<Output = Result<Staging, CallError>> + Send {
        let staging = self.0.staged(volume_id).and_then(|staged| {
            let published = self.0.uses(volume_id)?;
            Ok(Staging { staged, published })
        });
        ready(staging.map_err(|e| failed(&e)))
    }
    fn probe_link(
        &self,
        target_path: &str,
    ) -> impl Future<Output = Result<Link, CallError>> + Send {
        ready(
            self.0
                .published(target_path)
                .map(Link)
                .map_err(|e| failed(&e)),
        )
    }
    fn asked(&self, capabilities: &[Capability]) -> Because<Asked> {
        if capabilities.iter().all(fits) {
            return Because::plain(Asked::Mount);
        }
        let said =
            "a directory is mounted without flags, for one node or many, and never a block device";
        Because::new(Asked::Unfit, said)
    }
    fn writes(&self, readonly: bool) -> Because<Writes> {
        Because::plain(if readonly { Writes::No } else { Writes::Yes })
    }
    fn found(&self, backing: Option<&Backing>) -> Because<bool> {
        match backing {
            Some(Backing(true)) => Because::plain(true),
            Some(Backing(false)) | None => Because::new(false, "there is no such volume"),
        }
    }
    fn staged(&self, staging: Option<&Staging>) -> Because<bool> {
        match staging.and_then(|staging| staging.staged.as_ref()) {
            Some(_) => Because::plain(true),
            None => Because::new(false, "the volume is not staged"),
        }
    }
    fn published(&self, link: Option<&Link>) -> Because<bool> {
        Because::plain(link.is_some_and(|link| link.0.is_some()))
    }
    fn same(&self, request: Request<'_>, staging: Option<&Staging>) -> Because<Same> {
        // A request that asks only for the location of the volume does not name its use.
        let (Some(staging), [_, ..]) = (staging, request.capabilities()) else {
            return Because::plain(Same::Yes);
        };
        let path = request.staging_target_path();
        let restaged = staging
            .staged
            .as_ref()
            .is_some_and(|s| *s != use_at(request, path));
        let target = request.target_path();
        let mut published = staging.published.iter();
        let there = published.find(|one| Some(one.path.as_str()) == target);
        let republished = there.is_some_and(|one| *one != use_at(request, target));
        if restaged {
            let said = "the volume is staged at another path or with another capability";
            return Because::new(Same::No, said);
        }
        if republished {
            let said = "the volume is published there with another capability";
            return Because::new(Same::No, said);
        }
        Because::plain(Same::Yes)
    }
    fn stage(
        &self,
        at: Stage<'_>,
        once: Once<'_>,
    ) -> impl Future<Output = Outcome<StageResult>> + Send {
        let path = at.request.staging_target_path();
        let staged = self.0.stage(&use_at(at.request, path));
        let staged = staged.map(|()| StageResult::Staged);
        once.spend(ready(staged.map_err(|e| failed(&e))))
    }
    fn publish(
        &self,
        at: Publish<'_>,
        once: Once<'_>,
    ) -> impl Future<Output = Outcome<PublishResult>> + Send {
        let path = at.request.target_path();
        let published = self.0.publish(&use_at(at.request, path));
        let published = published.map(|()| PublishResult::Published);
        once.spend(ready(published.map_err(|error| {
            let is = |kind: ErrorKind| error.kind() == kind;
            if is(ErrorKind::AlreadyExists) || is(ErrorKind::DirectoryNotEmpty) {
                let said = "something else is at the target: remove it";
                return CallError::Refused(said.to_owned());
            }
            if is(ErrorKind::NotFound) {
                let said = "the folder of the target does not exist";
                return CallError::Refused(said.to_owned());
            }
            failed(&error)
        })))
    }
    fn unpublish(
        &self,
        at: Unpublish<'_>,
        once: Once<'_>,
    ) -> impl Future<Output = Outcome<UnpublishResult>> + Send {
        let target = at.request.target_path().unwrap_or_default();
        let theirs = |of: &Use| Some(of.volume.as_str()) != at.request.volume_id();
        let done = match self.0.published(target) {
            Ok(Some(other)) if theirs(&other) => {
                let said = "another volume is published at this target";
                Err(CallError::Refused(said.to_owned()))
            }
            Ok(Some(ours)) => self.0.unpublish(&ours).map_err(|e| failed(&e)),
            Ok(None) => Ok(()),
            Err(error) => Err(failed(&error)),
        };
        once.spend(ready(done.map(|()| UnpublishResult::NotPublished)))
    }
    fn unstage(
        &self,
        at: Unstage<'_>,
        once: Once<'_>,
    ) -> impl Future<Output = Outcome<UnstageResult>> + Send {
        let volume = at.request.volume_id().unwrap_or_default();
        let unstaged = self.0.unstage(volume);
        let unstaged = unstaged.map(|()| UnstageResult::NotStaged);
        once.spend(ready(unstaged.map_err(|e| failed(&e))))
    }
}
