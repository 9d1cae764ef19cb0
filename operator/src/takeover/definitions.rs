//! CustomResourceDefinitions of a product: their condition when its operator starts.

use kube::ResourceExt;
use kube::api::DynamicObject;
use lifecycle_runtime::crds::{self, Kinds};
use serde_json::{Value, json};

use super::finding::Finding;

/// The definitions of these kinds, one after the other; `maintained` if the operator installs and updates them.
pub(crate) fn definitions(live: &[DynamicObject], kinds: &Kinds, maintained: bool) -> Vec<Finding> {
    let version = kinds.group_version.rsplit('/').next();
    let version = version.unwrap_or(kinds.group_version);
    let mut findings = Vec::new();
    for wanted in (kinds.definitions)() {
        let name = wanted.name_any();
        let object = format!("CustomResourceDefinition {name}");
        let Some(live) = live.iter().find(|one| one.name_any() == name) else {
            findings.extend((!maintained).then(|| {
                let todo = format!("apply what `{}` prints", kinds.printed_by);
                Finding::blocks(&object, "it is missing, and would not be installed", todo)
            }));
            continue;
        };
        findings.extend(conversion(live, &object, maintained));
        findings.extend(versions(live, &object, version));
    }
    findings
}

/// A conversion webhook that would stay.
fn conversion(live: &DynamicObject, object: &str, maintained: bool) -> Option<Finding> {
    let command = crds::leftover_conversion(live)?;
    Some(match maintained {
        true => Finding::note(
            object,
            "it names the conversion webhook of the replaced operator; the controller sets `None` when it starts",
            "",
        ),
        false => Finding::blocks(
            object,
            "it names the conversion webhook of the replaced operator: once its Service is gone, objects can neither be read nor written",
            format!("run `{command}`"),
        ),
    })
}

/// Versions that the operator does not know: of stored objects, and those that clients may use.
fn versions(live: &DynamicObject, object: &str, version: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let stored = &live.data["status"]["storedVersions"];
    if !stored.is_null() && *stored != json!([version]) {
        findings.push(Finding::blocks(
            object,
            format!("objects are stored in versions {stored}, and this operator knows only {version}"),
            format!("write each object anew with {version} as the storage version, and take the others out of `status.storedVersions`"),
        ));
    }
    let all = live.data["spec"]["versions"].as_array();
    let served = all
        .into_iter()
        .flatten()
        .filter(|one| one["served"] == true);
    let names = served.filter_map(|one| one["name"].as_str());
    let others: Vec<&str> = names.filter(|name| *name != version).collect();
    if !others.is_empty() {
        findings.push(Finding::blocks(
            object,
            format!("it serves {} as well, and the definition of this operator has {version} alone", Value::from(others)),
            format!("change all writers of such objects to {version}, and set `served` of the other versions to false"),
        ));
    }
    findings
}
