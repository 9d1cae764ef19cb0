//! The data plane of a Site: the router of this project, or the existing skupper-router with an adaptor beside it.

use clap::ValueEnum;

/// The setting of a Site that names its data plane.
pub const SETTING: &str = "data-plane";

/// The setting of a Site that names the adaptor beside the existing router.
pub const ADAPTOR_SETTING: &str = "router-adaptor";

/// A data plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DataPlane {
    /// The router of this project.
    #[default]
    Embedded,
    /// The existing skupper-router, with an adaptor beside it.
    SkupperRouter,
}

impl DataPlane {
    /// Both, as they are named.
    pub const NAMES: [(&str, Self); 2] = [
        ("embedded", Self::Embedded),
        ("skupper-router", Self::SkupperRouter),
    ];

    /// As the setting names it.
    pub fn named(name: &str) -> Option<Self> {
        find(Self::NAMES, name)
    }
}

/// A program that configures the existing router, beside it in its Pod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Adaptor {
    /// The existing one.
    #[default]
    KubeAdaptor,
    /// That of this project, in the image of its router.
    LifecycleRouter,
}

impl Adaptor {
    /// Both, as they are named.
    pub const NAMES: [(&str, Self); 2] = [
        ("kube-adaptor", Self::KubeAdaptor),
        ("lifecycle-router", Self::LifecycleRouter),
    ];

    /// As the setting names it.
    pub fn named(name: &str) -> Option<Self> {
        find(Self::NAMES, name)
    }
}

fn find<T>(all: [(&str, T); 2], name: &str) -> Option<T> {
    let found = all.into_iter().find(|(known, _)| *known == name);
    found.map(|(_, found)| found)
}
