//! Request of an API server to a conversion webhook, `ConversionReview` of
//! `apiextensions.k8s.io/v1`, and the response to it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value, json};

use super::Conversion;

/// Why a request gets no answer: it is no review.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is no ConversionReview of apiextensions.k8s.io/v1: {why}")]
pub struct Unanswered {
    /// Reason why it is invalid.
    why: String,
}

const API: &str = "apiextensions.k8s.io/v1";

impl Conversion {
    /// Answers a review. The answer reports each object that cannot be converted, with its name.
    ///
    /// # Errors
    /// It is none.
    pub fn review(&self, body: &[u8]) -> Result<Value, Unanswered> {
        let unanswered = |why: &str| Unanswered {
            why: why.to_owned(),
        };
        let review: Value =
            serde_json::from_slice(body).map_err(|error| unanswered(&error.to_string()))?;
        let request = &review["request"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let uid = text(&request["uid"]).ok_or_else(|| unanswered("its request has no uid"))?;
        let desired = text(&request["desiredAPIVersion"]);
        let desired = desired.ok_or_else(|| unanswered("its request has no desiredAPIVersion"))?;
        let objects = request["objects"].as_array();
        let objects = objects.ok_or_else(|| unanswered("its request has no objects"))?;
        let converted: Result<Vec<Value>, String> = objects
            .iter()
            .map(|object| self.convert_object(object, &desired))
            .collect();
        let mut response = json!({ "uid": uid });
        match converted {
            Ok(objects) => {
                response["result"] = json!({ "status": "Success" });
                response["convertedObjects"] = json!(objects);
            }
            Err(message) => {
                response["result"] = json!({ "status": "Failure", "message": message });
                response["convertedObjects"] = json!([]);
            }
        }
        Ok(json!({ "apiVersion": API, "kind": "ConversionReview", "response": response }))
    }

    /// One object of a request. A function that panics costs the object and not the process.
    fn convert_object(&self, object: &Value, desired: &str) -> Result<Value, String> {
        let text = |key: &str| object["metadata"][key].as_str().unwrap_or_default();
        let name = match text("namespace") {
            "" => text("name").to_owned(),
            namespace => format!("{namespace}/{}", text("name")),
        };
        let (group, version) = desired.split_once('/').unwrap_or(("", desired));
        if group != self.group {
            return Err(format!(
                "{} of {} cannot be converted to `{desired}`, which is of another group",
                self.kind, self.group
            ));
        }
        let converted = catch_unwind(AssertUnwindSafe(|| self.convert(object, version)));
        let said = |why: String| format!("{} {name}: {why}", self.kind);
        match converted {
            Ok(Ok(object)) => Ok(object),
            Ok(Err(error)) => Err(said(error.to_string())),
            Err(_) => Err(said(format!("its conversion to {version} panicked"))),
        }
    }
}
