//! Objects as replies show them: alone, in a list, or in an event of a watch, in the requested
//! version.

use std::sync::Arc;

use serde_json::{Value, json};

use super::events;
use super::kinds::Kind;
use super::nulls;
use super::store::Stored;

/// A kind in one version, as requested.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) kind: Arc<Kind>,
    pub(crate) api_version: String,
}

impl View {
    pub(crate) fn new(kind: &Arc<Kind>, version: &str) -> Self {
        Self {
            kind: kind.clone(),
            api_version: kind.api_version(version),
        }
    }

    /// An object with `apiVersion` and `kind`.
    pub(crate) fn object(&self, stored: &Stored) -> Vec<u8> {
        let mut out = Vec::with_capacity(stored.bare().len() + 64);
        self.write(stored, &mut out);
        out
    }

    fn write(&self, stored: &Stored, out: &mut Vec<u8>) {
        if events::is_other_view(&self.kind) {
            let mut object = self.value(stored);
            object["apiVersion"] = self.api_version.as_str().into();
            object["kind"] = self.kind.kind.as_str().into();
            out.extend_from_slice(object.to_string().as_bytes());
        } else {
            stored.write(&self.api_version, &self.kind.kind, out);
        }
    }

    /// The object as JSON, without `apiVersion` and `kind`.
    pub(crate) fn value(&self, stored: &Stored) -> Value {
        let object = stored.value();
        if events::is_other_view(&self.kind) {
            events::to_view(object)
        } else {
            object
        }
    }

    /// A list. Items of built-in kinds carry no `apiVersion` and `kind`.
    pub(crate) fn list(
        &self,
        objects: &[Arc<Stored>],
        revision: u64,
        next: Option<(String, Option<usize>)>,
    ) -> Vec<u8> {
        let mut metadata = json!({"resourceVersion": revision.to_string()});
        if self.kind.custom {
            metadata["continue"] = "".into();
        }
        if let Some((token, remaining)) = next {
            metadata["continue"] = token.into();
            if let Some(remaining) = remaining {
                metadata["remainingItemCount"] = remaining.into();
            }
        }
        let size: usize = objects.iter().map(|stored| stored.bare().len() + 80).sum();
        let mut out = Vec::with_capacity(size + 200);
        let head = format!(
            "{{\"kind\":\"{}\",\"apiVersion\":\"{}\",\"metadata\":{metadata},\"items\":[",
            self.kind.list_kind, self.api_version
        );
        out.extend_from_slice(head.as_bytes());
        for (index, stored) in objects.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            if self.kind.custom {
                self.write(stored, &mut out);
            } else if events::is_other_view(&self.kind) {
                out.extend_from_slice(self.value(stored).to_string().as_bytes());
            } else {
                out.extend_from_slice(stored.bare());
            }
        }
        out.extend_from_slice(b"]}");
        out
    }

    /// An event of a watch, with its line end.
    pub(crate) fn event(&self, what: &str, stored: &Stored, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("{{\"type\":\"{what}\",\"object\":").as_bytes());
        self.write(stored, out);
        out.extend_from_slice(b"}\n");
    }

    /// The event for those who no longer see an object: its last state that they saw, at the version of the change.
    pub(crate) fn left(&self, before: &Stored, revision: u64, out: &mut Vec<u8>) {
        let mut object = self.value(before);
        nulls::show(&self.kind.store, &mut object);
        object["apiVersion"] = self.api_version.as_str().into();
        object["kind"] = self.kind.kind.as_str().into();
        object["metadata"]["resourceVersion"] = revision.to_string().into();
        let event = json!({"type": "DELETED", "object": object});
        out.extend_from_slice(event.to_string().as_bytes());
        out.push(b'\n');
    }

    /// A bookmark, with its line end.
    pub(crate) fn bookmark(&self, revision: u64, ends_initial: bool, out: &mut Vec<u8>) {
        let mut metadata = json!({
            "resourceVersion": revision.to_string(), "creationTimestamp": null,
        });
        if ends_initial {
            metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        let event = json!({"type": "BOOKMARK", "object": {
            "kind": self.kind.kind, "apiVersion": self.api_version, "metadata": metadata,
        }});
        out.extend_from_slice(event.to_string().as_bytes());
        out.push(b'\n');
    }
}
