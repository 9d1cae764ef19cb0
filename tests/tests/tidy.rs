//! Applies the house rules to this repository. What each of them finds is shown beside it, in `src/tidy/`.

use std::path::Path;
use std::process::Command;

use lifecycle_tests::tidy::layers::{Ban, forbidden_edges, forbidden_packages, forbidden_words};
use lifecycle_tests::tidy::{Tree, acceptance, documents, files, modules, rules};
use serde_json::Value;

/// Sources that may be longer than 600 lines, each with the reason.
const LONG: [(&str, &str); 0] = [];

/// Files beside the rules that are none.
const RULE_HELPERS: [&str; 0] = [];

/// Which member may depend on which: down only.
const LAYERS: [(&str, &[&str]); 8] = [
    ("lifecycle-macros-core", &[]),
    ("lifecycle-macros", &["lifecycle-macros-core"]),
    ("lifecycle-proto", &[]),
    (
        "lifecycle-runtime",
        &["lifecycle-macros", "lifecycle-proto"],
    ),
    ("lifecycle-router", &[]),
    ("lifecycle-specs", &["lifecycle-runtime"]),
    (
        "lifecycle-operator",
        &[
            "lifecycle-router",
            "lifecycle-specs",
            "lifecycle-runtime",
            "lifecycle-macros-core",
        ],
    ),
    (
        "lifecycle-tests",
        &[
            "lifecycle-operator",
            "lifecycle-router",
            "lifecycle-specs",
            "lifecycle-runtime",
            "lifecycle-macros",
            "lifecycle-macros-core",
            "lifecycle-proto",
        ],
    ),
];

#[test]
fn every_source_file_is_compiled() {
    none(modules::unreached(&tree(), &roots()));
}

#[test]
fn no_file_is_named_mod() {
    none(modules::mod_files(&tree()));
}

#[test]
fn every_file_says_what_it_owns() {
    none(files::headers(&tree()));
}

#[test]
fn no_file_is_too_long() {
    none(files::sizes(&tree(), &LONG));
}

/// `BLESS=1` writes it.
#[test]
fn the_table_of_rows_names_every_test_of_them() {
    let Some(wanted) = acceptance::outdated(&tree()) else {
        return;
    };
    let document = Path::new(root()).join("docs/skupper.md");
    if std::env::var_os("BLESS").is_some() {
        return std::fs::write(document, wanted).expect("the document can be written");
    }
    panic!("the table of docs/skupper.md is not up to date: run this test once with BLESS=1");
}

#[test]
fn every_rule_has_its_fixtures_and_every_fixture_its_rule() {
    none(rules::findings(&tree(), &RULE_HELPERS));
}

#[test]
fn documents_name_only_paths_that_exist() {
    none(documents::missing_paths(&tree()));
}

#[test]
fn the_list_of_conformance_names_cases_that_exist() {
    let tree = tree();
    let list = tree.text("docs/conformance.md").expect("the list");
    let rows = list.lines().filter(|line| line.starts_with("| "));
    let words = rows.flat_map(|row| row.split('`').skip(1).step_by(2));
    let cases: Vec<&str> = words.filter(|word| word.matches('_').count() > 2).collect();
    assert!(cases.len() > 20, "the list was not read");
    let exists = |case: &str| {
        // Suites with a harness of ours name their cases in texts.
        let names = [format!("fn {case}("), format!("\"{case}\"")];
        let mut sources = tree.sources();
        sources.any(|(_, text)| names.iter().any(|name| text.contains(name)))
    };
    let missing = cases.into_iter().filter(|case| !exists(case));
    none(
        missing
            .map(|case| format!("docs/conformance.md: no case {case}"))
            .collect(),
    );
}

#[test]
fn the_machine_is_pure() {
    none(forbidden_words(
        &tree(),
        &Ban {
            layer: &["runtime/src/machine"],
            words: &[
                "async",
                "await",
                "tokio",
                "tonic",
                "Instant",
                "SystemTime",
                "Client",
            ],
            except: &[],
            control: "runtime/src/controller",
            control_words: &["async", "await", "tokio", "Client"],
        },
    ));
}

#[test]
fn passes_and_calls_know_nothing_of_each_other() {
    let layers = [
        ("runtime/src/controller", "crate::csi"),
        ("runtime/src/csi", "crate::controller"),
        ("runtime/src/cluster", "crate::csi"),
        ("runtime/src/cluster", "crate::controller"),
    ];
    for (layer, word) in layers {
        none(forbidden_words(
            &tree(),
            &Ban {
                layer: &[layer],
                words: &[word],
                except: &[],
                control: "runtime/src/operator.rs",
                control_words: &[word],
            },
        ));
    }
}

#[test]
fn only_one_file_names_the_codes_of_grpc() {
    none(forbidden_words(
        &tree(),
        &Ban {
            layer: &[
                "runtime/src/csi",
                "runtime/src/cluster",
                "runtime/src/controller",
            ],
            words: &[
                "Wire",
                "tonic::Code",
                "Status::new",
                "Status::internal",
                "Status::unavailable",
                "Status::not_found",
                "Status::invalid_argument",
                "Status::failed_precondition",
            ],
            except: &["runtime/src/csi/code.rs"],
            control: "runtime/src/csi/code.rs",
            control_words: &["Wire"],
        },
    ));
}

#[test]
fn order_never_comes_from_a_hash() {
    none(forbidden_words(
        &tree(),
        &Ban {
            layer: &["macros/src/", "macros/core/src/", "runtime/src/machine"],
            words: &["HashMap", "HashSet"],
            except: &[],
            // The words have no other place in this workspace but the list above.
            control: "tests/tests/tidy.rs",
            control_words: &["HashMap", "HashSet"],
        },
    ));
}

#[test]
fn only_one_file_builds_a_client() {
    let words = [
        "Client::try_from",
        "Client::try_default",
        "Client::new",
        "ClientBuilder",
    ];
    none(forbidden_words(
        &tree(),
        &Ban {
            layer: &["macros/", "operator/", "proto/", "runtime/", "specs/"],
            words: &words,
            except: &[
                "runtime/src/kube.rs",
                // The router uses nothing of the runtime.
                "operator/router/src/source/kubernetes/client.rs",
                // These make clients of servers that are not real, for tests.
                "runtime/src/testing",
                "runtime/src/scripted.rs",
                "runtime/tests/",
                "operator/src/scripted.rs",
                "operator/tests/",
            ],
            control: "runtime/src/kube.rs",
            control_words: &["Client::try_from"],
        },
    ));
}

#[test]
fn the_router_knows_kubernetes_in_one_source_alone() {
    none(forbidden_words(
        &tree(),
        &Ban {
            layer: &["operator/router/src"],
            words: &["kube", "k8s_openapi"],
            except: &["operator/router/src/source/kubernetes"],
            control: "operator/router/src/source/kubernetes",
            control_words: &["kube", "k8s_openapi"],
        },
    ));
}

#[test]
fn the_router_can_do_without_kubernetes() {
    let package = "lifecycle-router";
    let forbidden = ["kube", "kube-client", "kube-core", "k8s-openapi"];
    let normal = ["tree", "--edges=normal", "--prefix=none", "--package"];
    let with = cargo(&[&normal[..], &[package]].concat());
    let found = forbidden_packages(&with, package, &forbidden);
    assert!(!found.is_empty(), "the search proves nothing");
    let without = [package, "--no-default-features"];
    let without = cargo(&[&normal[..], &without].concat());
    none(forbidden_packages(&without, package, &forbidden));
}

#[test]
fn the_checker_knows_no_kubernetes() {
    let package = "lifecycle-macros-core";
    let tree = cargo(&[
        "tree",
        "--edges=normal",
        "--prefix=none",
        "--package",
        package,
    ]);
    let forbidden = [
        "kube",
        "kube-core",
        "kube-client",
        "k8s-openapi",
        "tokio",
        "tonic",
    ];
    none(forbidden_packages(&tree, package, &forbidden));
}

#[test]
fn members_depend_downwards_only() {
    let edges = edges();
    assert!(!edges.is_empty(), "the members do not depend on each other");
    none(forbidden_edges(&edges, &LAYERS));
}

/// The files that Cargo compiles as crates.
fn roots() -> Vec<String> {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    let targets = packages
        .iter()
        .flat_map(|package| package["targets"].as_array().expect("targets"));
    targets
        .map(|target| {
            let path = target["src_path"].as_str().expect("a path");
            let inside = Path::new(path).strip_prefix(root());
            inside.expect("in the repository").display().to_string()
        })
        .collect()
}

/// Normal and build dependencies between members.
fn edges() -> Vec<(String, String)> {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    let mut edges = Vec::new();
    for package in packages {
        let from = package["name"].as_str().expect("a name");
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let to = dependency["name"].as_str().expect("a name");
            if !dependency["path"].is_null() && dependency["kind"] != "dev" {
                edges.push((from.to_owned(), to.to_owned()));
            }
        }
    }
    edges
}

fn metadata() -> Value {
    let text = cargo(&["metadata", "--no-deps", "--format-version=1"]);
    serde_json::from_str(&text).expect("cargo metadata is JSON")
}

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .args(["--offline", "--locked"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {arguments:?}: {error}");
    String::from_utf8(output.stdout).expect("cargo prints text")
}

fn root() -> &'static Path {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests
        .parent()
        .expect("this crate is in a folder of the repository")
}

fn tree() -> Tree {
    let tree = Tree::read(root()).expect("the repository can be read");
    assert!(tree.sources().count() > 10, "the repository was not found");
    tree
}

#[track_caller]
fn none(findings: Vec<String>) {
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}
