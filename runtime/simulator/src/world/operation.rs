//! Operation that a controller of the world decides on; `send` applies it.

use std::time::Duration;

use serde_json::Value;

use super::calls::{About, Call};
use super::kinds::ObjectKey;

/// One thing to do.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operation {
    /// Creates an object.
    Create(ObjectKey, Value),
    /// Replaces an object in the version that was seen.
    Replace(ObjectKey, Value),
    /// Changes an object or a subresource by a merge patch.
    Patch(ObjectKey, Option<&'static str>, Value),
    /// Gives a Pod a node.
    Bind(ObjectKey, String, Value),
    /// Deletes an object with this uid.
    Delete(ObjectKey, Removal),
    /// Runs an operation if none of these objects exists, which only the server knows for sure.
    IfGone(Vec<(ObjectKey, String)>, Box<Operation>),
    /// Lets a namespace end if nothing is left in it, which only the server knows for sure.
    EndNamespace(ObjectKey, Value),
    /// Look again after this time.
    Later(Duration),
    /// The same, without counting as waiting.
    Again(Duration),
    /// Has a driver do something, behind the back of everybody else.
    Call(Box<Call>),
    /// Forgets state that is no longer held.
    Forget(About),
}

/// How an object is deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Removal {
    pub(super) uid: String,
    pub(super) policy: &'static str,
    /// True if the deletion does not wait for anyone.
    pub(super) at_once: bool,
}

impl Removal {
    pub(super) fn background(uid: String) -> Self {
        Self {
            uid,
            policy: "Background",
            at_once: false,
        }
    }

    /// Returns the options as in a request.
    pub(super) fn options(&self) -> Value {
        let mut options = serde_json::json!({
            "kind": "DeleteOptions", "apiVersion": "v1",
            "preconditions": { "uid": self.uid }, "propagationPolicy": self.policy,
        });
        if self.at_once {
            options["gracePeriodSeconds"] = Value::from(0);
        }
        options
    }
}
