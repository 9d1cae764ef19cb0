//! Operations by hand on objects of the lifecycles beside a driver, on objects that they have
//! written, and on objects that they observe.

use std::fmt;

use kube::Client;
use serde_json::Value;

use super::apply;
use super::snapshot::key;
use crate::resources::site;

/// One such thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ManualOperation {
    /// The object at a path is deleted.
    Delete(String),
    /// Its status is emptied.
    Smudge(String),
    /// An object that they observe is absent for a while, and comes back.
    Away(Value),
}

impl fmt::Display for ManualOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Delete(path) => write!(f, "{path} is deleted"),
            Self::Smudge(path) => write!(f, "the status of {path} is emptied"),
            Self::Away(object) => write!(f, "{} is away for a while", key(object)),
        }
    }
}

impl ManualOperation {
    /// Does it; nothing where the object is not there.
    pub(super) async fn perform(&self, admin: &Client) -> Result<(), String> {
        let done = match self {
            Self::Delete(path) => site::delete(admin, path).await.map(drop),
            Self::Smudge(path) => smudge(admin, path).await,
            Self::Away(object) => return apply::delete(admin, object).await,
        };
        done.map_err(|error| format!("{self:?} cannot be done: {error}"))
    }

    /// Restores an absent object. Returns true if there was one.
    pub(super) async fn undone(&self, admin: &Client) -> Result<bool, String> {
        match self {
            Self::Away(object) => apply::apply(admin, object).await.map(|()| true),
            Self::Delete(_) | Self::Smudge(_) => Ok(false),
        }
    }
}

async fn smudge(admin: &Client, path: &str) -> kube::Result<()> {
    let Some(mut live) = site::get(admin, path).await? else {
        return Ok(());
    };
    live["status"] = serde_json::json!({});
    site::put(admin, &format!("{path}/status"), &live)
        .await
        .map(drop)
}
