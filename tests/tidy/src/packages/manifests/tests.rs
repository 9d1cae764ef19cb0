//! Each thing that can be wrong with a manifest, on two packages that are made up.

use serde_json::json;

use super::*;

fn metadata() -> Value {
    let dependency = |name: &str, versions: &str, kind: Value, features: &[&str]| {
        let path = name.starts_with('a').then(|| format!("/x/{name}"));
        json!({ "name": name, "req": versions, "kind": kind, "path": path, "features": features })
    };
    let package = |name: &str, publish: Value, kind: &str, needs: Value, documented: Value| {
        json!({
            "name": name, "version": "0.1.0", "manifest_path": format!("/x/{name}/Cargo.toml"), "publish": publish,
            "targets": [{ "kind": [kind] }], "dependencies": needs,
            "categories": ["compilers"], "keywords": ["one", "two"], "description": "It is.", "license": "MIT",
            "readme": "README.md", "rust_version": "1.95",
            "metadata": { "docs": { "rs": { "targets": ["linux"], "features": documented } } },
        })
    };
    let library = [
        dependency("k8s-openapi", "^0.29", Value::Null, &["std"]),
        dependency("a-tests", "*", json!("dev"), &[]),
    ];
    let program = [
        dependency("a-library", "=0.1.0", Value::Null, &[]),
        dependency("k8s-openapi", "^0.29", Value::Null, &["std", "v1_33"]),
    ];
    let packages = [
        package("a-program", Value::Null, "bin", json!(program), Value::Null),
        package(
            "a-library",
            json!(["crates-io"]),
            "lib",
            json!(library),
            json!(["k8s-openapi/v1_33"]),
        ),
        package("a-tests", json!([]), "lib", json!([]), Value::Null),
    ];
    json!({ "workspace_root": "/x", "packages": packages })
}

const PRIVATE: [(&str, &str); 1] = [("a-tests", "they are tests")];

fn packages() -> Vec<Package> {
    read(&metadata()).expect("it looks like what Cargo prints")
}

#[track_caller]
fn check(change: impl FnOnce(&mut Value), expected: &[&str]) {
    let mut metadata = metadata();
    change(&mut metadata["packages"]);
    let packages = read(&metadata).expect("it looks like what Cargo prints");
    assert_eq!(findings(&packages, &PRIVATE), expected);
}

#[test]
fn a_whole_manifest_has_no_findings() {
    check(|_| {}, &[]);
    assert_eq!(read(&json!({})), None);
}

#[test]
fn each_is_published_or_has_a_reason() {
    let packages = packages();
    let unlisted = findings(&packages, &[]);
    assert_eq!(unlisted.len(), 1, "{unlisted:?}");
    assert!(unlisted[0].starts_with("a-tests: is not published, and the list says no reason"));
    let wrong = [
        ("a-tests", "they are"),
        ("a-program", "why not"),
        ("gone", ""),
    ];
    assert_eq!(
        findings(&packages, &wrong),
        [
            "a-program: is published, and is in the list of those that are not",
            "gone: is in the list, and is no package"
        ]
    );
}

#[test]
fn what_a_stranger_looks_for_has_to_be_said() {
    check(
        |all| {
            all[1]["keywords"] = json!([]);
            all[1]["readme"] = Value::Null;
            all[1]["categories"] = json!(["toys"]);
        },
        &[
            "a-library: says no keywords",
            "a-library: says no readme",
            "a-library: `toys` is no category of the list",
        ],
    );
    check(
        |all| all[1]["keywords"] = json!(["a-word-of-many-letters"]),
        &["a-library: crates.io takes 5 keywords of 20 letters"],
    );
}

#[test]
fn what_cargo_could_not_resolve_is_found() {
    check(
        |all| all[0]["dependencies"][0]["req"] = json!("*"),
        &["a-program: asks for a-library *; write `version = \"=0.1.0\"`"],
    );
    check(
        |all| all[1]["dependencies"][1]["kind"] = Value::Null,
        &["a-library: is built of a-tests, which is not published"],
    );
    check(
        |all| all[1]["dependencies"][1]["req"] = json!("^0.1.0"),
        &[
            "a-library: asks for a version of a-tests, which has none on crates.io; leave its path alone",
        ],
    );
}

#[test]
fn programs_choose_a_version_of_kubernetes_and_libraries_do_not() {
    check(
        |all| all[1]["dependencies"][0]["features"] = json!(["v1_33"]),
        &["a-library: is a library, and chooses a version of Kubernetes for all who use it"],
    );
    check(
        |all| all[0]["dependencies"][1]["features"] = json!(["std"]),
        &["a-program: is a program, and chooses no version of Kubernetes"],
    );
    check(
        |all| all[1]["metadata"]["docs"]["rs"]["features"] = Value::Null,
        &["a-library: docs.rs would choose no version of Kubernetes, and fail"],
    );
    check(
        |all| {
            let tests = json!({ "name": "k8s-openapi", "req": "*", "kind": "dev", "path": null, "features": ["v1_34"] });
            all[1]["dependencies"][1] = tests;
        },
        &["several versions of Kubernetes are chosen: {\"v1_33\", \"v1_34\"}"],
    );
}

#[test]
fn each_comes_after_what_it_is_built_of() {
    let packages = packages();
    let order: Vec<&str> = in_order(&packages)
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(order, ["a-library", "a-program"]);
}
