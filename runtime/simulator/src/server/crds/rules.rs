//! Requirements on a definition: its names, versions, columns, subresources and conversion.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::schema::Schema;
use crate::schema::junctors::ROOT;
use crate::server::failure::Cause;
use crate::server::immutable::same;
use crate::server::names;
use crate::server::object::{list, name, text};

const APPROVAL: &str = "api-approved.kubernetes.io";
const COLUMNS: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
const FORMATS: [&str; 8] = [
    "byte",
    "date",
    "date-time",
    "double",
    "float",
    "int32",
    "int64",
    "password",
];

/// Returns the errors of a definition.
pub(crate) fn validate(definition: &Value) -> Vec<Cause> {
    let spec = &definition["spec"];
    let mut causes = Vec::new();
    let (plural, group) = (text(&spec["names"], "plural"), text(spec, "group"));
    if name(definition) != format!("{plural}.{group}") {
        let detail = "must be spec.names.plural+\".\"+spec.group";
        let own = name(definition).into();
        causes.push(Cause::invalid("metadata.name", &own, detail));
    }
    let wrong = names::subdomain(group);
    if group.is_empty() {
        causes.push(Cause::required("spec.group", ""));
    } else if !wrong.is_empty() {
        let detail = wrong.join(",");
        causes.push(Cause::invalid("spec.group", &group.into(), &detail));
    } else if !group.contains('.') {
        let detail = "should be a domain with at least one dot";
        causes.push(Cause::invalid("spec.group", &group.into(), detail));
    }
    let scopes = ["Cluster", "Namespaced"];
    if !scopes.contains(&text(spec, "scope")) {
        causes.push(Cause::unsupported("spec.scope", &spec["scope"], &scopes));
    }
    causes.extend(of_versions(spec));
    causes.extend(of_names(&spec["names"]));
    causes.extend(unstructural(list(spec, "versions")));
    causes.extend(of_conversion(&spec["conversion"]));
    if spec["preserveUnknownFields"] == true {
        let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        let path = "spec.preserveUnknownFields";
        causes.push(Cause::invalid(path, &true.into(), detail));
    }
    causes.extend(of_stored(definition));
    causes
}

/// Returns the errors of a new definition of a group that belongs to Kubernetes itself.
pub(crate) fn unapproved(definition: &Value) -> Option<Cause> {
    let group = text(&definition["spec"], "group");
    let is_protected = ["k8s.io", "kubernetes.io"].iter().any(|own| {
        let stem = group.strip_suffix(own);
        stem.is_some_and(|stem| stem.is_empty() || stem.ends_with('.'))
    });
    let notes = &definition["metadata"]["annotations"];
    (is_protected && text(notes, APPROVAL).is_empty()).then(|| {
        let detail = format!(
            "protected groups must have approval annotation {APPROVAL:?}, see https://github.com/kubernetes/enhancements/pull/1111"
        );
        Cause::required(format!("metadata.annotations[{APPROVAL}]"), &detail)
    })
}

/// Returns the errors of a change to a definition. Objects are stored by its names and its scope.
pub(crate) fn validate_changed(old: &Value, new: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    if super::accepted::is_established(old) {
        causes.extend(same(old, new, &["spec", "scope"]));
        causes.extend(same(old, new, &["spec", "names", "kind"]));
    }
    causes.extend(same(old, new, &["spec", "group"]));
    causes.extend(same(old, new, &["spec", "names", "plural"]));
    causes
}

fn of_versions(spec: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let versions = list(spec, "versions");
    let shares = |field: &str| {
        let mut all = versions.iter().map(|version| version.get(field));
        all.all(|value| value == versions[0].get(field))
    };
    for (index, version) in versions.iter().enumerate() {
        let at = format!("spec.versions[{index}]");
        let label = text(version, "name");
        let wrong = names::old_label(label);
        if !wrong.is_empty() {
            let path = format!("{at}.name");
            causes.push(Cause::invalid(path, &label.into(), &wrong.join(",")));
        }
        if !version["schema"]["openAPIV3Schema"].is_object() {
            let path = format!("{at}.schema.openAPIV3Schema");
            causes.push(Cause::required(path, "schemas are required"));
        }
        // The errors of fields that all versions share count as those of the definition.
        if !shares("subresources") {
            let path = format!("{at}.subresources");
            causes.extend(of_subresources(&version["subresources"], &path));
        }
        if !shares("additionalPrinterColumns") {
            causes.extend(of_columns(version, &at));
        }
    }
    let all: BTreeSet<&str> = versions.iter().map(|one| text(one, "name")).collect();
    let shown = Value::from(versions);
    if all.len() != versions.len() {
        let detail = "must contain unique version names";
        causes.push(Cause::invalid("spec.versions", &shown, detail));
    }
    let stored = versions.iter().filter(|version| version["storage"] == true);
    if stored.count() != 1 {
        let detail = "must have exactly one version marked as storage version";
        causes.push(Cause::invalid("spec.versions", &shown, detail));
    }
    if let Some(first) = versions.first() {
        if shares("subresources") {
            causes.extend(of_subresources(&first["subresources"], "spec.subresources"));
        }
        if shares("additionalPrinterColumns") {
            causes.extend(of_columns(first, "spec"));
        }
    }
    causes
}

fn of_names(names_of: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    for field in ["plural", "singular", "kind", "listKind"] {
        if text(names_of, field).is_empty() {
            causes.push(Cause::required(format!("spec.names.{field}"), ""));
        }
    }
    for field in ["plural", "singular", "kind", "listKind"] {
        let found = text(names_of, field);
        let (shape, before) = match field {
            "kind" | "listKind" => (
                found.to_lowercase(),
                "may have mixed case, but should otherwise match: ",
            ),
            _ => (found.to_owned(), ""),
        };
        let wrong = names::old_label(&shape);
        if !wrong.is_empty() && !found.is_empty() {
            let path = format!("spec.names.{field}");
            let detail = format!("{before}{}", wrong.join(","));
            causes.push(Cause::invalid(path, &found.into(), &detail));
        }
    }
    for field in ["shortNames", "categories"] {
        for (index, one) in list(names_of, field).iter().enumerate() {
            let wrong = names::old_label(one.as_str().unwrap_or_default());
            if !wrong.is_empty() {
                let path = format!("spec.names.{field}[{index}]");
                causes.push(Cause::invalid(path, one, &wrong.join(",")));
            }
        }
    }
    let kind = text(names_of, "kind");
    if !kind.is_empty() && kind == text(names_of, "listKind") {
        let detail = "kind and listKind may not be the same";
        causes.push(Cause::invalid("spec.names.listKind", &kind.into(), detail));
    }
    causes
}

fn of_columns(version: &Value, at: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let columns = list(version, "additionalPrinterColumns");
    for (index, column) in columns.iter().enumerate() {
        let at = format!("{at}.additionalPrinterColumns[{index}]");
        if text(column, "name").is_empty() {
            causes.push(Cause::required(format!("{at}.name"), ""));
        }
        let kind = text(column, "type");
        let detail = format!("must be one of [{}]", COLUMNS.join(" "));
        let path = format!("{at}.type");
        if kind.is_empty() {
            causes.push(Cause::required(path, &detail));
        } else if !COLUMNS.contains(&kind) {
            causes.push(Cause::invalid(path, &kind.into(), &detail));
        }
        let format = text(column, "format");
        if !format.is_empty() && !FORMATS.contains(&format) {
            let detail = format!("must be one of [{}]", FORMATS.join(" "));
            let path = format!("{at}.format");
            causes.push(Cause::invalid(path, &format.into(), &detail));
        }
        let path = format!("{at}.JSONPath");
        match text(column, "jsonPath") {
            "" => causes.push(Cause::required(path, "")),
            found => causes.extend(of_path(found, path)),
        }
    }
    causes
}

fn of_path(found: &str, at: String) -> Option<Cause> {
    let detail = "must be a simple json path starting with .";
    (!found.starts_with('.')).then(|| Cause::invalid(at, &found.into(), detail))
}

fn of_subresources(subresources: &Value, at: &str) -> Vec<Cause> {
    let scale = &subresources["scale"];
    let mut causes = Vec::new();
    if !scale.is_object() {
        return causes;
    }
    for (field, allowed, detail) in [
        (
            "specReplicasPath",
            &[".spec."][..],
            "should be a json path under .spec",
        ),
        (
            "statusReplicasPath",
            &[".status."],
            "should be a json path under .status",
        ),
        (
            "labelSelectorPath",
            &[".spec.", ".status."],
            "should be a json path under either .spec or .status",
        ),
    ] {
        let found = text(scale, field);
        let path = format!("{at}.scale.{field}");
        if found.is_empty() {
            if field != "labelSelectorPath" {
                causes.push(Cause::required(path, ""));
            }
        } else if let Some(cause) = of_path(found, path.clone()) {
            causes.push(cause);
        } else if !allowed.iter().any(|start| found.starts_with(start)) {
            causes.push(Cause::invalid(path, &found.into(), detail));
        }
    }
    causes
}

fn of_conversion(conversion: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let (path, known) = ("spec.conversion", ["None", "Webhook"]);
    causes.extend(Cause::not_among(conversion, path, "strategy", &known));
    if text(conversion, "strategy") == "Webhook"
        && !conversion["webhook"]["clientConfig"].is_object()
    {
        let detail = "required when strategy is set to Webhook";
        let path = "spec.conversion.webhookClientConfig";
        causes.push(Cause::required(path, detail));
    }
    causes
}

/// Every version that was ever stored is still declared.
fn of_stored(definition: &Value) -> Vec<Cause> {
    let path = "status.storedVersions";
    let stored = list(&definition["status"], "storedVersions");
    let versions = list(&definition["spec"], "versions");
    let mut causes = Vec::new();
    if stored.is_empty() {
        let detail = "must have at least one stored version";
        let shown = &definition["status"]["storedVersions"];
        causes.push(Cause::invalid(path, shown, detail));
    }
    let missing = stored.iter().enumerate().filter(|(_, name)| {
        let mut declared = versions.iter().map(|version| &version["name"]);
        !declared.any(|declared| declared == *name)
    });
    causes.extend(missing.map(|(index, name)| {
        Cause::invalid(
            format!("{path}[{index}]"),
            name,
            "missing from spec.versions",
        )
    }));
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
            cause.message = cause.message.replace(ROOT, &path);
            Cause::from(cause)
        }));
    }
    causes
}
