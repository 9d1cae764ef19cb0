//! CustomResourceDefinitions: installed by a write, served from then on, gone with their objects.

mod accepted;
mod rules;

use std::sync::Arc;

use serde_json::{Value, json};

use super::kinds::{Kind, Traits, Version};
use super::names::Names;
use super::object::{self, fill, list, map, metadata, name, text};
use super::state::State;
use super::store::StoreKey;
use crate::schema::Schema;

pub(crate) use rules::{unapproved, validate, validate_changed};

const FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Fills in the fields of a new definition that the server decides.
pub(crate) fn prepare_new(definition: &mut Value) {
    complete_names(definition);
    definition["status"] = json!({
        "storedVersions": [], "conditions": [], "acceptedNames": {"kind": "", "plural": ""},
    });
    note_stored(definition);
}

/// Fills in the fields of a changed definition that the server decides.
pub(crate) fn prepare_changed(definition: &mut Value) {
    complete_names(definition);
    note_stored(definition);
}

/// A version that is stored once stays in the status until somebody takes it out.
fn note_stored(definition: &mut Value) {
    let versions = list(&definition["spec"], "versions");
    let stored = versions.iter().find(|version| version["storage"] == true);
    let Some(name) = stored.map(|version| version["name"].clone()) else {
        return;
    };
    let noted = map(definition, "status")
        .entry("storedVersions")
        .or_insert_with(|| json!([]));
    if let Some(noted) = noted.as_array_mut().filter(|noted| !noted.contains(&name)) {
        noted.push(name);
    }
}

/// Fills in the names that can be derived from the others, and the default conversion.
fn complete_names(definition: &mut Value) {
    let spec = map(definition, "spec");
    fill(spec, "conversion", json!({"strategy": "None"}));
    let Some(names) = spec.get_mut("names").and_then(Value::as_object_mut) else {
        return;
    };
    let kind = names
        .get("kind")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    fill(names, "singular", kind.to_lowercase());
    fill(names, "listKind", format!("{kind}List"));
}

/// The kind that a definition defines, under the names that are accepted.
fn kind(definition: &Value) -> Kind {
    let spec = &definition["spec"];
    let names = &definition["status"]["acceptedNames"];
    let words = |field: &str| {
        let words = list(names, field).iter();
        words
            .filter_map(|word| word.as_str().map(str::to_owned))
            .collect()
    };
    let mut versions: Vec<&Value> = list(spec, "versions").iter().collect();
    versions.sort_by_key(|version| std::cmp::Reverse(precedence(text(version, "name"))));
    let (plural, group) = (text(&spec["names"], "plural"), text(spec, "group"));
    Kind {
        store: Arc::from(format!("{plural}.{group}")),
        group: group.to_owned(),
        plural: plural.to_owned(),
        singular: text(names, "singular").to_owned(),
        kind: text(names, "kind").to_owned(),
        list_kind: text(names, "listKind").to_owned(),
        short_names: words("shortNames"),
        categories: words("categories"),
        namespaced: spec["scope"] == "Namespaced",
        custom: true,
        virtual_only: false,
        versions: versions.into_iter().map(version).collect(),
        traits: Traits {
            generation: true,
            names: Names::Subdomain,
            ..Traits::default()
        },
    }
}

fn version(declared: &Value) -> Version {
    let has = |name: &str| declared["subresources"][name].is_object();
    let subresources = ["status", "scale"].into_iter().filter(|name| has(name));
    Version {
        name: text(declared, "name").to_owned(),
        served: declared["served"] == true,
        subresources: subresources.map(str::to_owned).collect(),
        // Definitions are validated before they get here.
        schema: Schema::of_crd(&declared["schema"]["openAPIV3Schema"])
            .ok()
            .map(Arc::new),
        declared: Some(Arc::new(declared.clone())),
    }
}

/// How `v2`, `v1`, `v1beta1` and other names are ordered, the greatest first.
fn precedence(name: &str) -> Option<(u64, u64, u64)> {
    let rest = name.strip_prefix('v')?;
    let digits = rest.find(|c: char| !c.is_ascii_digit());
    let (major, stage) = rest.split_at(digits.unwrap_or(rest.len()));
    let major = major.parse().ok()?;
    let minor = |text: &str| text.parse::<u64>().ok();
    if stage.is_empty() {
        return Some((2, major, 0));
    }
    match stage.strip_prefix("beta") {
        Some(beta) => Some((1, major, minor(beta)?)),
        None => Some((0, major, minor(stage.strip_prefix("alpha")?)?)),
    }
}

/// Serves the kind of a definition after the definition was written, once its names are accepted.
pub(crate) fn changed(state: &mut State, definition: &Value) {
    let mut judged = definition.clone();
    judged["status"] = accepted::status(state, definition);
    if accepted::is_established(&judged) {
        let kind = kind(&judged);
        state.store.open(&kind.store);
        state.kinds.insert(kind);
    }
    if judged == *definition {
        return;
    }
    let definitions = state.kind("apiextensions.k8s.io", "customresourcedefinitions");
    let key = StoreKey::new("", name(definition));
    let stored = state.store.put(&definitions.store, key, judged, &[]);
    free(state, &stored.value());
}

/// Judges the other definitions of a group again, which may wait for a name.
fn free(state: &mut State, definition: &Value) {
    let others = accepted::of_group(state, text(&definition["spec"], "group"));
    let waiting = others.into_iter().find(|other| {
        name(other) != name(definition)
            && !accepted::is_accepted(other)
            && other["status"] != accepted::status(state, other)
    });
    if let Some(waiting) = waiting {
        changed(state, &waiting);
    }
}

/// A definition that is deleted waits until its objects are gone.
pub(crate) fn prepare_deleting(definition: &mut Value) {
    let mut finalizers = object::finalizers(definition);
    if !finalizers.iter().any(|finalizer| finalizer == FINALIZER) {
        finalizers.push(FINALIZER.to_owned());
        object::set_finalizers(definition, &finalizers);
    }
    let at = definition["metadata"]["deletionTimestamp"].clone();
    let condition = json!({
        "type": "Terminating", "status": "True", "reason": "InstanceDeletionInProgress",
        "message": "CustomResource deletion is in progress", "lastTransitionTime": at,
    });
    let conditions = map(definition, "status")
        .entry("conditions")
        .or_insert_with(|| json!([]));
    if let Some(conditions) = conditions.as_array_mut() {
        conditions.push(condition);
    }
}

/// When no object is left, a definition that waits for that goes.
pub(crate) fn finish(state: &mut State, kind: &Kind) {
    if state.store.len(&kind.store) > 0 {
        return;
    }
    let definitions = state.kind("apiextensions.k8s.io", "customresourcedefinitions");
    let key = StoreKey::new("", &kind.store);
    let Some(live) = state.store.get(&definitions.store, &key).cloned() else {
        return;
    };
    let mut definition = live.value();
    let mut finalizers = object::finalizers(&definition);
    let before = finalizers.len();
    finalizers.retain(|finalizer| finalizer != FINALIZER);
    if !object::is_deleting(&definition) || finalizers.len() == before {
        return;
    }
    object::set_finalizers(&mut definition, &finalizers);
    if finalizers.is_empty() {
        state
            .store
            .remove(&definitions.store, &key, definition.clone(), &[]);
        gone(state, &definition);
    } else {
        metadata(&mut definition);
        state.store.put(&definitions.store, key, definition, &[]);
    }
}

/// After a definition went: its kind is not served any more.
pub(crate) fn gone(state: &mut State, definition: &Value) {
    let spec = &definition["spec"];
    state
        .kinds
        .remove(text(spec, "group"), text(&spec["names"], "plural"));
    free(state, definition);
}
