//! Structure of objects as the API server knows it: which fields exist, how they merge, and who
//! owns them. Pure functions over JSON; knows no store, no request and no clock.

pub(crate) mod builtin;
mod decoding;
mod entries;
mod expressions;
mod field_set;
mod formats;
mod invariants;
pub(crate) mod junctors;
mod load;
pub mod managed;
mod merging;
mod node;
mod paths;
mod problem;
mod pruning;
mod quantity;
mod scalars;
mod strategic;
mod structural;
mod typed;
mod validation;

use std::sync::Arc;

use serde_json::Value;

use load::Loader;
use node::{Arena, Id};
use problem::Problem;
use pruning::Removed;
pub use strategic::strategic_merge;
use validation::Custom;

/// The schema of one kind in one version.
#[derive(Clone, Debug)]
pub struct Schema {
    arena: Arc<Arena>,
    root: Id,
    custom: Option<Arc<Custom>>,
}

/// One thing that is wrong with an object, as in `details.causes` of a `Status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Such as `FieldValueInvalid`.
    pub reason: String,
    /// Description of the error, without the field.
    pub message: String,
    /// The path of the field.
    pub field: String,
}

/// Refused request, with the content of its `Status`.
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
    /// It is not structural, or a default or a rule in it does not hold. Fields of causes are paths below the schema,
    /// such as `.properties[spec].type`.
    pub fn of_crd(schema: &Value) -> Result<Self, Vec<Cause>> {
        let custom = Custom::from_schema(schema);
        let problems = structural::problems(&custom);
        if !problems.is_empty() {
            return Err(problems.into_iter().map(Problem::cause).collect());
        }
        let mut loader = Loader::new(builtin::definitions(), builtin::go_types());
        let root = loader.schema(&load::with_object_fields(schema, true), false);
        Ok(Self {
            arena: Arc::new(loader.finish()),
            root,
            custom: Some(Arc::new(custom)),
        })
    }

    /// Removes undeclared fields and nulls that are not allowed and have no default. For built-in
    /// kinds, it also removes fields that their Go types do not write, and adds fields that they
    /// always write. Runs on a decoded request, before `default`. Does not run on the result of an
    /// apply, whose unknown fields are refused.
    ///
    /// Returns the paths of the unknown fields, such as `spec.items[0].nonsense`, for `fieldValidation`.
    pub fn prune(&self, object: &mut Value) -> Vec<String> {
        let mut removed = Removed::default();
        match &self.custom {
            Some(custom) => {
                pruning::prune_metadata(&self.arena, self.root, object, &mut removed);
                pruning::prune(Some(&custom.schema), object, true, &mut removed);
                pruning::prune_nulls(Some(&custom.schema), object);
            }
            None => {
                pruning::prune_typed(&self.arena, self.root, object, &mut removed);
                pruning::as_written(&self.arena, self.root, object);
            }
        }
        removed.sorted()
    }

    /// Fills in the defaults of a custom resource, and brings numbers into the form that Go writes.
    /// The schemas of built-in kinds do not contain their defaults.
    pub fn default(&self, object: &mut Value) {
        pruning::whole_numbers(object);
        if let Some(custom) = &self.custom {
            pruning::default(&custom.schema, object);
        }
    }

    /// Why an object cannot be decoded into the Go type of a built-in kind, in Go's words.
    pub fn mismatch(&self, object: &Value) -> Option<String> {
        let is_builtin = self.custom.is_none();
        is_builtin.then(|| decoding::mismatch(&self.arena, self.root, object))?
    }

    /// As `mismatch`, in the words for objects that were no JSON in between.
    pub fn unrestorable(&self, object: &Value) -> Option<String> {
        let is_builtin = self.custom.is_none();
        is_builtin.then(|| decoding::unrestorable(&self.arena, self.root, object))?
    }

    /// Returns the errors of a custom resource. `old` is the object before an update; its errors
    /// are not reported again.
    pub fn validate(&self, old: Option<&Value>, new: &Value) -> Vec<Cause> {
        let Some(custom) = &self.custom else {
            return Vec::new();
        };
        let problems = custom.problems(old, new);
        problems.into_iter().map(Problem::cause).collect()
    }
}

/// Returns the fields and messages of the errors of a definition with one property, `p`.
#[cfg(test)]
fn errors_of(property: Value) -> Vec<(String, String)> {
    let schema = serde_json::json!({"type": "object", "properties": {"p": property}});
    let causes = Schema::of_crd(&schema).err().unwrap_or_default();
    let pair = |cause: Cause| (cause.field, cause.message);
    causes.into_iter().map(pair).collect()
}
