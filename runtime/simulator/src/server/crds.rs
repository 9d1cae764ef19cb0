//! CustomResourceDefinitions: installed by a write, served from then on, gone with their objects.

use std::sync::Arc;

use serde_json::{Value, json};

use super::failure::Cause;
use super::kinds::{Kind, Names, Traits, Version};
use super::names;
use super::object::{self, fill, list, map, metadata, name, text};
use super::state::State;
use super::store::StoreKey;
use crate::schema::Schema;

const FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Fills in the fields of a new definition that the server decides.
pub(crate) fn prepare_new(definition: &mut Value) {
    complete_names(definition);
    let stored = list(&definition["spec"], "versions")
        .iter()
        .find(|version| version["storage"] == true)
        .map_or(Value::Null, |version| version["name"].clone());
    definition["status"] = json!({
        "storedVersions": [stored], "conditions": [],
        "acceptedNames": {"kind": "", "plural": ""},
    });
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

/// Returns the errors of a definition, except those of its schemas.
pub(crate) fn validate(definition: &Value) -> Vec<Cause> {
    let spec = &definition["spec"];
    let mut causes = Vec::new();
    let (plural, group) = (text(&spec["names"], "plural"), text(spec, "group"));
    let wanted = format!("{plural}.{group}");
    if name(definition) != wanted {
        let detail = "must be spec.names.plural+\".\"+spec.group";
        causes.push(Cause::invalid(
            "metadata.name",
            &name(definition).into(),
            detail,
        ));
    }
    if group.is_empty() {
        causes.push(Cause::required("spec.group", ""));
    } else if !group.contains('.') {
        let detail = "should be a domain with at least one dot";
        causes.push(Cause::invalid("spec.group", &group.into(), detail));
    }
    for why in names::label(plural) {
        causes.push(Cause::invalid("spec.names.plural", &plural.into(), &why));
    }
    if text(&spec["names"], "kind").is_empty() {
        causes.push(Cause::required("spec.names.kind", ""));
    }
    if !["Cluster", "Namespaced"].contains(&text(spec, "scope")) {
        let known = ["Cluster", "Namespaced"];
        causes.push(Cause::unsupported("spec.scope", &spec["scope"], &known));
    }
    let versions = list(spec, "versions");
    let stored = versions
        .iter()
        .filter(|version| version["storage"] == true)
        .count();
    if stored != 1 {
        let detail = "must have exactly one version marked as storage version";
        causes.push(Cause::invalid("spec.versions", &versions.into(), detail));
    }
    for (index, version) in versions.iter().enumerate() {
        if !version["schema"]["openAPIV3Schema"].is_object() {
            let path = format!("spec.versions[{index}].schema.openAPIV3Schema");
            causes.push(Cause::required(path, "schemas are required"));
        }
    }
    causes.extend(unstructural(versions));
    causes
}

/// Returns the errors of the schemas. An error that all versions share counts as that of the
/// definition.
fn unstructural(versions: &[Value]) -> Vec<Cause> {
    let schema = |version: &Value| version["schema"]["openAPIV3Schema"].clone();
    let shared = versions
        .iter()
        .all(|version| schema(version) == schema(&versions[0]));
    let judged = if shared {
        &versions[..versions.len().min(1)]
    } else {
        versions
    };
    let mut causes = Vec::new();
    for (index, version) in judged
        .iter()
        .enumerate()
        .filter(|(_, version)| schema(version).is_object())
    {
        let path = match shared {
            true => "spec.validation.openAPIV3Schema".to_owned(),
            false => format!("spec.versions[{index}].schema.openAPIV3Schema"),
        };
        let found = Schema::of_crd(&schema(version)).err().unwrap_or_default();
        causes.extend(found.into_iter().map(|mut cause| {
            cause.field = format!("{path}{}", cause.field);
            Cause::from(cause)
        }));
    }
    causes
}

/// The kind that a definition defines.
fn kind(definition: &Value) -> Kind {
    let spec = &definition["spec"];
    let names = &spec["names"];
    let words = |field: &str| {
        let words = list(names, field).iter();
        words
            .filter_map(|word| word.as_str().map(str::to_owned))
            .collect()
    };
    let mut versions: Vec<&Value> = list(spec, "versions").iter().collect();
    versions.sort_by_key(|version| std::cmp::Reverse(precedence(text(version, "name"))));
    let (plural, group) = (text(names, "plural"), text(spec, "group"));
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

/// Serves the kind of a definition after the definition was written.
pub(crate) fn changed(state: &mut State, definition: &Value) {
    let kind = kind(definition);
    state.store.open(&kind.store);
    state.kinds.insert(kind);
    let accepted = &definition["status"]["acceptedNames"];
    if accepted == &definition["spec"]["names"]
        && !list(&definition["status"], "conditions").is_empty()
    {
        return;
    }
    let mut established = definition.clone();
    let names = established["spec"]["names"].clone();
    let now = state.now();
    let status = map(&mut established, "status");
    status.insert("acceptedNames".to_owned(), names);
    if status
        .get("conditions")
        .and_then(Value::as_array)
        .is_none_or(Vec::is_empty)
    {
        let conditions = json!([
            {"type": "NamesAccepted", "status": "True", "reason": "NoConflicts",
             "message": "no conflicts found", "lastTransitionTime": now},
            {"type": "Established", "status": "True", "reason": "InitialNamesAccepted",
             "message": "the initial names have been accepted", "lastTransitionTime": now},
        ]);
        status.insert("conditions".to_owned(), conditions);
    }
    let definitions = state.kind("apiextensions.k8s.io", "customresourcedefinitions");
    let key = StoreKey::new("", name(definition));
    state.store.put(&definitions.store, key, established, &[]);
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
}
