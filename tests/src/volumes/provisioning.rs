//! The controller side: makes directories and takes them away.

use std::future::ready;
use std::io;
use std::sync::Arc;

use lifecycle_runtime::lifecycle::call::Outcome;
use lifecycle_runtime::lifecycle::request::{Access, AccessMode, Capability, Segments};
use lifecycle_runtime::lifecycle::{CallError, CreatedVolume, Once, Request};
use lifecycle_runtime::{Because, lifecycle};

use super::disk::{Disk, Volume, id_of};

/// The volume of a name, if it was made.
#[derive(Debug, PartialEq)]
pub struct NamedVolume(Option<Volume>);

/// Existence and use of a volume.
#[derive(Debug, PartialEq)]
pub struct Existence {
    there: bool,
    used: bool,
}

/// A terabyte is more than any disk that this driver is for.
const MOST_BYTES: u64 = 1 << 40;

lifecycle! {
    /// The controller side of a plain directory volume.
    volume DirectoryProvisioning;

    observe {
        made: poll NamedVolume of disk by request.name every 1s;
        kept: poll Existence of disk by request.volume_id every 1s;
    }
    facts {
        asked:   { Mount, Unfit }      from request.capabilities;
        size:    { Fine, TooLarge }    from request.capacity_range;
        place:   { Here, Elsewhere }   from request.requisite;
        created: { No, Same, Other }   from request, made given made == Known else No;
        stored:  { No, Idle, Used }    from kept given kept == Known;
    }
    states {
        Clash when created == Other;
        Made  when created == Same;
        Used  when stored == Used;
        Idle  when stored == Idle;
        Gone  when stored == No;
    }
    effects {
        create: call made when created == No && size == Fine && place == Here sets { created = Same } key request.name;
        remove: call kept when stored == Idle sets { stored = No } key request.volume_id;
    }
    rpc {
        unfit   when asked == Unfit;
        unknown when kept == Known && stored == No;
        differs when created == Other;
        in_use  when stored == Used;

        CreateVolume -> created == Same by create within 3s else UNAVAILABLE {
            size == TooLarge   => OUT_OF_RANGE       "the disk is not that large";
            place == Elsewhere => RESOURCE_EXHAUSTED "the directory can only be on this driver's own node";
            refused(create)    => INTERNAL;
        }
        DeleteVolume -> kept == Known && stored == No by remove within 3s else UNAVAILABLE {
            refused(remove)    => INTERNAL;
        }
        ValidateVolumeCapabilities;
    }
}

/// Makes volumes on a disk.
#[derive(Clone, Debug)]
pub struct Provisioner(pub Arc<Disk>);

/// Returns true if a directory supports the requested capability.
pub(super) fn fits(capability: &Capability) -> bool {
    let access = match &capability.access {
        Access::Mount { flags, .. } => flags.is_empty(),
        Access::Block => false,
    };
    let mode = match capability.mode {
        AccessMode::SingleNodeWriter | AccessMode::MultiNodeMultiWriter => true,
        AccessMode::Unknown
        | AccessMode::SingleNodeReaderOnly
        | AccessMode::MultiNodeReaderOnly
        | AccessMode::MultiNodeSingleWriter
        | AccessMode::SingleNodeSingleWriter
        | AccessMode::SingleNodeMultiWriter => false,
    };
    access && mode
}

pub(super) fn failed(error: &io::Error) -> CallError {
    CallError::Failed(format!("the disk fails: {error}"))
}

/// Returns the part of a volume that follows from a request.
fn requested_volume(request: Request<'_>) -> Volume {
    let (required, limit) = request.bytes();
    let name = request.name().unwrap_or_default().to_owned();
    Volume {
        name,
        capacity: if required == 0 { limit } else { required },
        parameters: request.parameters().clone(),
    }
}

/// Returns true if an existing volume satisfies a request.
fn serves(volume: &Volume, request: Request<'_>) -> bool {
    let (required, limit) = request.bytes();
    let wanted = requested_volume(request);
    let large = volume.capacity >= required && (limit == 0 || volume.capacity <= limit);
    large && volume.name == wanted.name && volume.parameters == wanted.parameters
}

impl DirectoryProvisioningLogic for Provisioner {
    fn poll_made(&self, name: &str) -> impl Future<Output = Result<NamedVolume, CallError>> + Send {
        let volume = self.0.volume(&id_of(name));
        ready(volume.map(NamedVolume).map_err(|error| failed(&error)))
    }
    fn poll_kept(
        &self,
        volume_id: &str,
    ) -> impl Future<Output = Result<Existence, CallError>> + Send {
        let kept = self.0.volume(volume_id).and_then(|volume| {
            Ok(Existence {
                there: volume.is_some(),
                used: self.0.staged(volume_id)?.is_some() || !self.0.uses(volume_id)?.is_empty(),
            })
        });
        ready(kept.map_err(|error| failed(&error)))
    }
    fn asked(&self, capabilities: &[Capability]) -> Because<Asked> {
        if capabilities.iter().all(fits) {
            return Because::plain(Asked::Mount);
        }
        let said =
            "a directory is mounted without flags, for one node or many, and never a block device";
        Because::new(Asked::Unfit, said)
    }
    fn size(&self, (required, _): (u64, u64)) -> Because<Size> {
        let too_large = required > MOST_BYTES;
        Because::plain(if too_large {
            Size::TooLarge
        } else {
            Size::Fine
        })
    }
    fn place(&self, requisite: &[Segments]) -> Because<Place> {
        let here = requisite.is_empty() || requisite.contains(&super::here());
        Because::plain(if here { Place::Here } else { Place::Elsewhere })
    }
    fn created(&self, request: Request<'_>, made: &NamedVolume) -> Because<Created> {
        match &made.0 {
            None => Because::plain(Created::No),
            Some(volume) if serves(volume, request) => Because::plain(Created::Same),
            Some(_) => {
                let said =
                    "a volume of this name is there with another capacity or other parameters";
                Because::new(Created::Other, said)
            }
        }
    }
    fn stored(&self, kept: &Existence) -> Because<Stored> {
        match kept {
            Existence { there: false, .. } => Because::new(Stored::No, "there is no such volume"),
            Existence { used: true, .. } => {
                Because::new(Stored::Used, "the volume is staged or published")
            }
            Existence { .. } => Because::plain(Stored::Idle),
        }
    }
    fn create(
        &self,
        at: Create<'_>,
        once: Once<'_>,
    ) -> impl Future<Output = Outcome<CreateResult>> + Send {
        let made = self.0.make(&requested_volume(at.request));
        let made = made.map(|()| CreateResult::Same).map_err(|e| failed(&e));
        once.spend(ready(made))
    }
    fn remove(
        &self,
        at: Remove<'_>,
        once: Once<'_>,
    ) -> impl Future<Output = Outcome<RemoveResult>> + Send {
        let removed = self.0.remove(at.request.volume_id().unwrap_or_default());
        let removed = removed.map(|()| RemoveResult::No).map_err(|e| failed(&e));
        once.spend(ready(removed))
    }
    fn created_volume(&self, seen: &Seen<'_>) -> CreatedVolume {
        let volume = seen.made.and_then(|made| made.0.as_ref());
        CreatedVolume {
            capacity_bytes: volume.map(|volume| volume.capacity).unwrap_or_default(),
            ..CreatedVolume::new(id_of(seen.request.name().unwrap_or_default()))
        }
        .accessible_from(super::here())
    }
}
