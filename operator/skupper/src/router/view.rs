//! What a router makes of the entries of one object. Pure.

use lifecycle_router::config;
use lifecycle_specs_skupper::router::{EntryState, RouterState};

use crate::config::document::{self, ConfigEntry};

/// What a router makes of the entries of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouterView {
    /// It has applied others.
    Behind,
    /// All wait, rightly.
    Idle,
    /// All do what they should.
    Up,
    /// One cannot, because of this.
    Failed(String),
}

impl RouterView {
    /// What a router makes of these entries.
    pub fn of(entries: &[ConfigEntry], report: &RouterState) -> Self {
        let mut view = Self::Up;
        for entry in entries {
            let told = report.entries.get(&document::key(entry));
            let Some(told) = told.filter(|told| told.hash == config::hash(&entry.1)) else {
                return Self::Behind;
            };
            match (&told.state, &view) {
                (EntryState::Failed(why), Self::Idle | Self::Up | Self::Behind) => {
                    view = Self::Failed(why.clone());
                }
                (EntryState::Idle, Self::Up) => view = Self::Idle,
                (EntryState::Failed(_) | EntryState::Idle | EntryState::Up, _) => {}
            }
        }
        view
    }
}

/// Why a router has applied something else.
pub fn behind(report: &RouterState) -> String {
    match &report.error {
        Some(error) => format!("the router cannot read its configuration: {error}"),
        None => "the router has not read its newest configuration yet".to_owned(),
    }
}
