//! Requests of the wire as lifecycles read them, and validation of a single request. Secrets are
//! counted and dropped.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use lifecycle_proto::csi;
use lifecycle_proto::csi::volume_capability::AccessType;
use lifecycle_proto::csi::volume_capability::access_mode::Mode;

use crate::code::RpcError;
use lifecycle_runtime::lifecycle::request::{Access, AccessMode, Capability, Requested, Segments};
use lifecycle_runtime::machine::answer::Misfit;
use lifecycle_runtime::machine::ir::Call;

/// How many bytes a file system's name and the options of `mount` may have.
const MAX_FS_TYPE_BYTES: usize = 128;
const MAX_MOUNT_FLAGS_BYTES: usize = 4096;

/// A request of the wire.
pub(crate) struct CallRequest {
    pub(crate) requested: Requested,
    /// How many bytes each field has; a message counts as one.
    sizes: BTreeMap<&'static str, usize>,
    /// The first thing that is wrong inside a field.
    invalid: Option<String>,
}

impl CallRequest {
    fn new(requested: Requested) -> Self {
        let texts = [
            ("name", &requested.name),
            ("volume_id", &requested.volume_id),
            ("staging_target_path", &requested.staging_target_path),
            ("target_path", &requested.target_path),
        ];
        let maps = [
            ("parameters", &requested.parameters),
            ("volume_context", &requested.volume_context),
        ];
        let texts = texts.map(|(field, text)| (field, text.len()));
        let maps = maps.map(|(field, map)| (field, bytes_of(map)));
        let sizes = texts.into_iter().chain(maps).collect();
        let invalid = invalid_text(&requested);
        Self {
            requested,
            sizes,
            invalid,
        }
    }

    fn sized(mut self, field: &'static str, size: usize) -> Self {
        self.sizes.insert(field, size);
        self
    }

    fn capabilities(mut self, field: &'static str, all: &[csi::VolumeCapability]) -> Self {
        for one in all {
            match capability(one) {
                Ok(one) => self.requested.capabilities.push(one),
                Err(why) => self.record_invalid(why),
            }
        }
        self.sized(field, all.len())
    }

    fn record_invalid(&mut self, why: String) {
        self.invalid.get_or_insert(why);
    }

    fn note_if(mut self, holds: bool, why: &str) -> Self {
        if holds {
            self.record_invalid(why.to_owned());
        }
        self
    }

    /// Checks the request on its own.
    ///
    /// # Errors
    /// A field is missing, too long, or no good.
    pub(crate) fn check(&self, call: &Call) -> Result<(), RpcError> {
        let size = |field: &str| self.sizes.get(field).copied().unwrap_or_default();
        let message = match call.misfit(size) {
            Some(Misfit::Missing(field)) => format!("`{field}` is missing"),
            Some(Misfit::TooLong { field, limit }) => {
                format!("`{field}` has more than {limit} bytes")
            }
            None => match &self.invalid {
                Some(why) => why.clone(),
                None => return Ok(()),
            },
        };
        Err(RpcError::invalid(message))
    }

    /// Returns the fields by which calls exclude each other.
    pub(crate) fn key(&self, call: &Call) -> Vec<String> {
        let request = lifecycle_runtime::lifecycle::Request::new(&self.requested);
        let fields = call.key.iter();
        let text = |field: &&str| request.text(field).unwrap_or_default().to_owned();
        fields.map(text).collect()
    }
}

fn bytes_of(map: &BTreeMap<String, String>) -> usize {
    map.iter().map(|(key, value)| key.len() + value.len()).sum()
}

/// Paths become paths, and names file names: nothing in them may lead elsewhere.
fn invalid_text(requested: &Requested) -> Option<String> {
    let paths = [
        ("staging_target_path", &requested.staging_target_path),
        ("target_path", &requested.target_path),
    ];
    let paths = paths.into_iter().filter(|(_, path)| !path.is_empty());
    let invalid_path = |(field, path): (&str, &String)| invalid_path(field, path);
    if let Some(why) = paths.filter_map(invalid_path).next() {
        return Some(why);
    }
    let names = [
        ("name", &requested.name),
        ("volume_id", &requested.volume_id),
    ];
    let mut names = names.into_iter();
    let control = names.find(|(_, text)| text.chars().any(char::is_control));
    control.map(|(field, _)| format!("`{field}` has a control character"))
}

/// Returns the error in a path, or `None` if the path is valid. A path must be absolute and must
/// not lead back up.
pub(crate) fn invalid_path(field: &str, path: &str) -> Option<String> {
    if path.contains('\0') {
        return Some(format!("`{field}` has a NUL"));
    }
    if !path.starts_with('/') {
        return Some(format!("`{field}` is not absolute"));
    }
    let up = Path::new(path)
        .components()
        .any(|c| c == Component::ParentDir);
    up.then(|| format!("`{field}` leads back up by `..`"))
}

fn capability(of: &csi::VolumeCapability) -> Result<Capability, String> {
    let access = match &of.access_type {
        None => return Err("a capability has neither `mount` nor `block`".to_owned()),
        Some(AccessType::Block(_)) => Access::Block,
        Some(AccessType::Mount(mount)) => {
            let flags: usize = mount.mount_flags.iter().map(String::len).sum();
            if mount.fs_type.len() > MAX_FS_TYPE_BYTES || flags > MAX_MOUNT_FLAGS_BYTES {
                return Err("`fs_type` or `mount_flags` is too long".to_owned());
            }
            Access::Mount {
                fs_type: mount.fs_type.clone(),
                flags: mount.mount_flags.clone(),
            }
        }
    };
    let Some(mode) = &of.access_mode else {
        return Err("a capability has no `access_mode`".to_owned());
    };
    let mode = match Mode::try_from(mode.mode).unwrap_or(Mode::Unknown) {
        Mode::Unknown => AccessMode::Unknown,
        Mode::SingleNodeWriter => AccessMode::SingleNodeWriter,
        Mode::SingleNodeReaderOnly => AccessMode::SingleNodeReaderOnly,
        Mode::MultiNodeReaderOnly => AccessMode::MultiNodeReaderOnly,
        Mode::MultiNodeSingleWriter => AccessMode::MultiNodeSingleWriter,
        Mode::MultiNodeMultiWriter => AccessMode::MultiNodeMultiWriter,
        Mode::SingleNodeSingleWriter => AccessMode::SingleNodeSingleWriter,
        Mode::SingleNodeMultiWriter => AccessMode::SingleNodeMultiWriter,
    };
    Ok(Capability { access, mode })
}

fn segments(all: &[csi::Topology]) -> Vec<Segments> {
    all.iter().map(|one| one.segments.clone()).collect()
}

impl From<csi::CreateVolumeRequest> for CallRequest {
    fn from(of: csi::CreateVolumeRequest) -> Self {
        let range = of.capacity_range.unwrap_or_default();
        let (required, limit) = (range.required_bytes, range.limit_bytes);
        let topology = of.accessibility_requirements.unwrap_or_default();
        let bytes = |bytes: i64| u64::try_from(bytes).unwrap_or_default();
        let requested = Requested {
            name: of.name,
            parameters: of.parameters,
            required_bytes: bytes(required),
            limit_bytes: bytes(limit),
            requisite: segments(&topology.requisite),
            preferred: segments(&topology.preferred),
            ..Requested::default()
        };
        Self::new(requested)
            .capabilities("volume_capabilities", &of.volume_capabilities)
            .sized("capacity_range", usize::from(of.capacity_range.is_some()))
            .sized("secrets", bytes_of(&of.secrets))
            .sized("mutable_parameters", bytes_of(&of.mutable_parameters))
            .note_if(
                required < 0 || limit < 0 || (limit != 0 && limit < required),
                "`capacity_range` is no range",
            )
            .note_if(
                of.volume_content_source.is_some(),
                "`volume_content_source` is not supported",
            )
            .note_if(
                !of.mutable_parameters.is_empty(),
                "`mutable_parameters` are not supported",
            )
    }
}

impl From<csi::DeleteVolumeRequest> for CallRequest {
    fn from(of: csi::DeleteVolumeRequest) -> Self {
        let requested = Requested {
            volume_id: of.volume_id,
            ..Requested::default()
        };
        Self::new(requested).sized("secrets", bytes_of(&of.secrets))
    }
}

impl From<&csi::ValidateVolumeCapabilitiesRequest> for CallRequest {
    fn from(of: &csi::ValidateVolumeCapabilitiesRequest) -> Self {
        let requested = Requested {
            volume_id: of.volume_id.clone(),
            parameters: of.parameters.clone(),
            volume_context: of.volume_context.clone(),
            ..Requested::default()
        };
        Self::new(requested)
            .capabilities("volume_capabilities", &of.volume_capabilities)
            .sized("secrets", bytes_of(&of.secrets))
            .sized("mutable_parameters", bytes_of(&of.mutable_parameters))
    }
}

impl From<csi::NodeStageVolumeRequest> for CallRequest {
    fn from(of: csi::NodeStageVolumeRequest) -> Self {
        let requested = Requested {
            volume_id: of.volume_id,
            staging_target_path: of.staging_target_path,
            volume_context: of.volume_context,
            ..Requested::default()
        };
        Self::new(requested)
            .capabilities("volume_capability", of.volume_capability.as_slice())
            .sized("publish_context", bytes_of(&of.publish_context))
            .sized("secrets", bytes_of(&of.secrets))
    }
}

impl From<csi::NodeUnstageVolumeRequest> for CallRequest {
    fn from(of: csi::NodeUnstageVolumeRequest) -> Self {
        Self::new(Requested {
            volume_id: of.volume_id,
            staging_target_path: of.staging_target_path,
            ..Requested::default()
        })
    }
}

impl From<csi::NodePublishVolumeRequest> for CallRequest {
    fn from(of: csi::NodePublishVolumeRequest) -> Self {
        let requested = Requested {
            volume_id: of.volume_id,
            staging_target_path: of.staging_target_path,
            target_path: of.target_path,
            volume_context: of.volume_context,
            readonly: of.readonly,
            ..Requested::default()
        };
        Self::new(requested)
            .capabilities("volume_capability", of.volume_capability.as_slice())
            .sized("publish_context", bytes_of(&of.publish_context))
            .sized("secrets", bytes_of(&of.secrets))
    }
}

impl From<csi::NodeUnpublishVolumeRequest> for CallRequest {
    fn from(of: csi::NodeUnpublishVolumeRequest) -> Self {
        Self::new(Requested {
            volume_id: of.volume_id,
            target_path: of.target_path,
            ..Requested::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::invalid_path;

    #[test]
    fn a_path_is_absolute_and_leads_nowhere_else() {
        let check = |path: &str, fine: bool| {
            assert_eq!(
                invalid_path("target_path", path).is_none(),
                fine,
                "{path:?}"
            );
        };
        check("/pods/1/volumes/mount", true);
        check("/a..b/...", true);
        check("/pods//1/./mount", true);
        for path in ["", "pods", "/..", "/pods/../etc", "../etc", "/pods/x\0y"] {
            check(path, false);
        }
    }
}
