//! `docs/listener.md`: its tables have each field of the definitions with its default, and its manifests are applied in the sandbox and work there.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use serde_json::Value;

use super::cluster::PROGRAM;

const PAGE: &str = include_str!("../../../docs/listener.md");

/// Paths of fields, each with its default.
type Fields = BTreeMap<String, String>;

/// The text below a heading, up to the next one.
fn section(heading: &str) -> &'static str {
    let start = format!("\n## {heading}\n");
    let (_, rest) = PAGE
        .split_once(start.as_str())
        .unwrap_or_else(|| panic!("the page has no heading `{heading}`"));
    rest.split("\n## ").next().unwrap()
}

/// The rows about fields, each by the path of its field, with the second column.
fn rows(heading: &str) -> Fields {
    let lines = section(heading).lines();
    let rows = lines.filter(|line| line.starts_with("| `"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        assert!(cells.len() > 3, "{line}");
        (cells[1].replace('`', ""), cells[2].replace('`', ""))
    };
    rows.map(row).collect()
}

/// Collects each field below a schema, by its path, with its default as the page writes it.
fn collect(schema: &Value, path: &str, fields: &mut Fields) {
    // A condition is one of Kubernetes, which need not be explained here.
    if path == "status.conditions" {
        return;
    }
    if schema["items"].is_object() {
        collect(&schema["items"], &format!("{path}[]"), fields);
        return;
    }
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        let is_required = required.iter().any(|one| one == name.as_str());
        let default = match (field.get("default"), is_required) {
            (Some(Value::String(word)), _) => word.clone(),
            (Some(value), _) => value.to_string(),
            (None, true) => "required".to_owned(),
            (None, false) => "none".to_owned(),
        };
        fields.insert(path.clone(), default);
        collect(field, &path, fields);
    }
}

/// The fields of a part of a kind, as its definition has them.
fn fields(kind: &str, part: &str) -> Fields {
    let definitions = lifecycle_specs_listener::crds();
    let mut of_kind = definitions
        .iter()
        .filter(|definition| definition.spec.names.kind == kind);
    let definition = serde_json::to_value(of_kind.next().unwrap()).unwrap();
    let schema = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let mut fields = Fields::new();
    collect(&schema["properties"][part], part, &mut fields);
    assert!(fields.len() > 5, "{kind} {part}: {fields:?}");
    fields
}

#[test]
fn each_field_of_a_listener_has_its_row_and_its_default() {
    let rows = rows("Fields of a Listener");
    let (status, spec): (Fields, Fields) = rows
        .into_iter()
        .partition(|(path, _)| path.starts_with("status."));
    assert_eq!(spec, fields("Listener", "spec"));
    let listed: Vec<&String> = status.keys().collect();
    let declared = fields("Listener", "status");
    assert_eq!(listed, declared.keys().collect::<Vec<_>>());
}

#[test]
fn each_field_of_a_listener_class_has_its_row_and_its_default() {
    let rows = rows("Fields of a ListenerClass");
    assert_eq!(rows, fields("ListenerClass", "spec"));
}

#[test]
fn each_annotation_of_a_claim_has_its_row() {
    let claim = include_str!("../../listener/src/volume/claim.rs");
    let names = claim.split('"').filter(|text| {
        let rest = text.strip_prefix("listeners.stackable.tech/");
        rest.is_some_and(|rest| !rest.contains(' '))
    });
    let names: Vec<&str> = names.collect();
    assert_eq!(names.len(), 2, "{names:?}");
    for name in names {
        let row = format!("| a claim | `{name}` |");
        assert!(PAGE.contains(&row), "the page has no row `{row}`");
    }
}

/// Applies all manifests in their order, strictly, with the operator and its driver at work, until each Listener is Ready and the Pod runs.
#[test]
fn the_manifests_of_the_page_come_to_ready_in_the_sandbox() {
    let rest = PAGE.split("```yaml\n").skip(1);
    let manifests: Vec<&str> = rest.map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(manifests.len() > 5, "{} manifests", manifests.len());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.yaml");
    fs::write(&file, manifests.join("---\n")).unwrap();
    let output = Command::new(PROGRAM)
        .args(["sandbox", "--once", "--timeout", "120"])
        .arg(&file)
        .env_remove("CONSOLE_LOG_LEVEL")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let failed = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}{failed}");
    let address =
        "listener/default-address: address=hello-listener.default.svc.cluster.local http=80, in /";
    assert!(said.contains(address), "{said}");
    for listener in ["shop", "web"] {
        let is_ready = |line: &str| line.contains(&format!("default/{listener}  Ready "));
        assert!(said.lines().any(is_ready), "{listener}: {said}");
    }
}
