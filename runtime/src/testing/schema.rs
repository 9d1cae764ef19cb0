//! What the API server knows of an object's structure: which fields there are, how they merge, who owns them.
//! Pure functions over JSON; knows no store, no request and no clock.

mod builtin;
mod entries;
mod field_set;
mod load;
pub mod managed;
mod merging;
mod node;
mod paths;
mod typed;

use std::sync::Arc;

use serde_json::Value;

use load::Loader;
use node::{Arena, Id};

/// The schema of one kind in one version.
#[derive(Clone, Debug)]
pub struct Schema {
    arena: Arc<Arena>,
    root: Id,
    custom: Option<Arc<Value>>,
}

/// One thing that is wrong with an object, as in `details.causes` of a `Status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Such as `FieldValueInvalid`.
    pub reason: String,
    /// What is wrong, without the field.
    pub message: String,
    /// The path of the field.
    pub field: String,
}

/// A request that is refused, with what its `Status` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP status.
    pub code: u16,
    /// Such as `Conflict`; empty where the real server gives none.
    pub reason: &'static str,
    /// The message.
    pub message: String,
    /// `details.causes`.
    pub causes: Vec<Cause>,
}

impl Refusal {
    fn bad_request(message: impl Into<String>) -> Self {
        Self {
            code: 400,
            reason: "BadRequest",
            message: message.into(),
            causes: Vec::new(),
        }
    }

    fn internal(message: impl Into<String>) -> Self {
        Self {
            code: 500,
            reason: "",
            message: message.into(),
            causes: Vec::new(),
        }
    }
}

impl Schema {
    /// The schema of a built-in kind; the core group is the empty string.
    pub fn builtin(group: &str, version: &str, kind: &str) -> Option<&'static Self> {
        builtin::schema(group, version, kind)
    }

    /// The schema of a custom resource from `openAPIV3Schema` of its definition.
    ///
    /// # Errors
    /// It is not structural.
    pub fn of_crd(schema: &Value) -> Result<Self, Vec<String>> {
        let mut loader = Loader::new(builtin::definitions());
        let root = loader.schema(&load::with_object_fields(schema, true), false);
        Ok(Self {
            arena: Arc::new(loader.finish()),
            root,
            custom: Some(Arc::new(schema.clone())),
        })
    }
}
