//! The data plane of a Site: the router of this project, or the existing skupper-router with its adaptor.

use clap::ValueEnum;

/// The setting of a Site that names its data plane.
pub const SETTING: &str = "data-plane";

/// A data plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DataPlane {
    /// The router of this project.
    #[default]
    Embedded,
    /// The existing skupper-router, with its adaptor beside it.
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
        let mut all = Self::NAMES.into_iter();
        all.find_map(|(known, plane)| (known == name).then_some(plane))
    }
}
