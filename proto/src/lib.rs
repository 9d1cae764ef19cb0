//! Wire types of the Container Storage Interface and of kubelet's plugin registration, generated from the `.proto` files beside this crate.
//! The generated code is committed; `tests/generated.rs` keeps it current and writes it.

/// The Container Storage Interface 1.12.
pub mod csi {
    #![allow(clippy::all, reason = "generated")]
    include!("generated/csi.v1.rs");
}

/// How a plugin makes itself known to kubelet.
pub mod registration {
    #![allow(clippy::all, reason = "generated")]
    include!("generated/pluginregistration.rs");
}

/// Both as an encoded `FileDescriptorSet`, for reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!("generated/descriptors.bin");

/// The version of the specification in `csi.proto`.
pub const CSI_VERSION: &str = "1.12.0";
