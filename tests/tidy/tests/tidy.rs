//! Applies the house rules to this repository. Tests beside each rule, in `src/`, show the findings of that rule.

#[path = "tidy/rows.rs"]
mod rows;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use lifecycle_tidy::circles::Graph;
use lifecycle_tidy::layers::{Ban, forbidden_words};
use lifecycle_tidy::members::Member;
use lifecycle_tidy::origins::Package;
use lifecycle_tidy::pulled::{self, Pulled};
use lifecycle_tidy::{
    Tree, circles, clock, documents, files, members, modules, origins, rules, words,
};
use serde_json::Value;

/// Sources that may be longer than 600 lines, each with the reason.
const LONG: [(&str, &str); 0] = [];

/// Files beside the rules that are none.
const RULE_HELPERS: [&str; 0] = [];

/// Files that may name each other in a circle, by a prefix of their paths, each with the reason.
const CIRCLES: [(&str, &str); 1] = [(
    "specs/skupper/src/",
    "a kind stands beside its lifecycle, and a Site watches those that watch the Site",
)];

/// Number of crates that each package pulls in, itself not counted. Every user who builds the package compiles them.
const PULLED: [(&str, usize); 26] = [
    ("lifecycle-book", 101),
    ("lifecycle-cli", 233),
    ("lifecycle-client", 153),
    ("lifecycle-csi", 188),
    ("lifecycle-generate", 181),
    ("lifecycle-http", 45),
    ("lifecycle-inspect", 179),
    ("lifecycle-listener", 239),
    ("lifecycle-macros", 6),
    ("lifecycle-macros-core", 5),
    ("lifecycle-operator", 332),
    ("lifecycle-oracle", 11),
    ("lifecycle-proto", 65),
    ("lifecycle-random", 236),
    ("lifecycle-router", 238),
    ("lifecycle-runtime", 164),
    ("lifecycle-simulator", 226),
    ("lifecycle-skupper", 324),
    ("lifecycle-specs-listener", 165),
    ("lifecycle-specs-skupper", 165),
    ("lifecycle-suite", 237),
    ("lifecycle-tests", 293),
    ("lifecycle-tidy", 7),
    ("lifecycle-ui", 165),
    ("shop-operator", 284),
    ("website-operator", 284),
];

/// Allowed licences of third-party code. They permit an Apache-2.0 program to include the code and be redistributed, with a notice at most.
const LICENCES: [&str; 9] = [
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    // Data: the certificate authorities that browsers trust.
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Zlib",
];

/// Packages and features that a shipped operator and the image of a node do not need.
const SIMULATION: [&str; 6] = [
    "antlr4rust",
    "cel",
    "kube-cel",
    "lifecycle-simulator",
    "lifecycle-suite",
    TEST_CLOCK,
];

/// The paused time of tests.
const TEST_CLOCK: &str = "tokio/test-util";

static TREE: LazyLock<Tree> = LazyLock::new(|| {
    let tree = Tree::read(root()).expect("the repository can be read");
    assert!(tree.sources().count() > 10, "the repository was not found");
    tree
});

static MEMBERS: LazyLock<Vec<Member>> = LazyLock::new(|| {
    let text = cargo(&["metadata", "--no-deps", "--format-version=1"]);
    let metadata: Value = serde_json::from_str(&text).expect("cargo metadata is JSON");
    members::read(&metadata).expect("the members can be read")
});

/// Packages that each member pulls in.
static ALL_PULLED: LazyLock<BTreeMap<&str, Pulled>> = LazyLock::new(|| {
    let names = MEMBERS.iter().map(|member| member.name.as_str());
    names.map(|name| (name, pulled_with(name, &[]))).collect()
});

static GRAPH: LazyLock<Graph> = LazyLock::new(|| {
    let graph = graph(&TREE);
    let (files, ties) = graph.size();
    assert!(files > 300 && ties > 1000, "{files} files, {ties} ties");
    graph
});

#[test]
fn every_source_file_is_compiled() {
    none(modules::unreached(&TREE, &roots(|_| true)));
}

#[test]
fn every_file_of_tests_is_part_of_a_suite_that_runs() {
    let suites = MEMBERS.iter().flat_map(|member| &member.crates);
    let suites = suites.filter(|root| root.is_suite).count();
    assert!(suites > 10, "{suites} suites were found");
    none(modules::outside_suites(&TREE, &MEMBERS));
}

#[test]
fn every_test_runs() {
    none(modules::tests_that_never_run(&TREE, &MEMBERS));
}

#[test]
fn no_files_name_each_other_in_a_circle() {
    none(circles::findings(&GRAPH.circles(), &CIRCLES));
    let low = "runtime/src/cluster/store.rs";
    let text = TREE.text(low).expect("it is there");
    let upwards = format!("{text}\nuse crate::controller::Controller;\n");
    let circles = graph(&TREE.with_file(low, &upwards)).circles();
    let found = circles
        .iter()
        .any(|circle| circle.files.iter().any(|file| file == low));
    assert!(found, "the search proves nothing");
}

#[test]
fn no_file_is_named_mod() {
    none(modules::mod_files(&TREE));
}

#[test]
fn every_file_says_what_it_owns() {
    none(files::headers(&TREE));
}

#[test]
fn comments_and_names_are_in_plain_english() {
    none(words::findings(&TREE));
}

#[test]
fn no_file_is_too_long() {
    none(files::sizes(&TREE, &LONG));
}

#[test]
fn every_rule_has_its_fixtures_and_every_fixture_its_rule() {
    assert!(
        TREE.under(rules::FOLDER).count() > 20,
        "no rules were found"
    );
    none(rules::findings(&TREE, &RULE_HELPERS));
}

#[test]
fn documents_name_only_paths_that_exist_and_pages_by_links() {
    none(documents::missing_paths(&TREE));
    none(documents::bare_pages(&TREE));
}

#[test]
fn commands_of_documents_say_which_program_they_run() {
    let documents = TREE.under("").filter(|(path, _)| path.ends_with(".md"));
    none(
        documents
            .flat_map(|(path, text)| members::unclear_commands(path, text, &MEMBERS))
            .collect(),
    );
}

#[test]
fn the_list_of_conformance_names_cases_that_exist() {
    let list = TREE.text("docs/conformance.md").expect("the list");
    let rows = list.lines().filter(|line| line.starts_with("| "));
    let words = rows.flat_map(|row| row.split('`').skip(1).step_by(2));
    let cases: Vec<&str> = words.filter(|word| word.matches('_').count() > 2).collect();
    assert!(cases.len() > 20, "the list was not read");
    let exists = |case: &str| {
        // Suites with our harness name their cases in strings.
        let names = [format!("fn {case}("), format!("\"{case}\"")];
        let mut sources = TREE.sources();
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
        &TREE,
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
    none(forbidden_words(
        &TREE,
        &Ban {
            layer: &["runtime/src/cluster", "runtime/src/controller"],
            words: &["lifecycle_csi", "lifecycle_proto"],
            except: &[],
            control: "runtime/suite/src",
            control_words: &["lifecycle_csi", "lifecycle_proto"],
        },
    ));
    none(forbidden_words(
        &TREE,
        &Ban {
            layer: &["runtime/csi/src", "runtime/inspect/src/explain"],
            words: &["lifecycle_runtime::controller"],
            except: &[],
            control: "operator/",
            control_words: &["lifecycle_runtime::controller"],
        },
    ));
    none(forbidden_words(
        &TREE,
        &Ban {
            layer: &["runtime/src/cluster"],
            words: &["crate::controller"],
            except: &[],
            control: "runtime/src/operator.rs",
            control_words: &["crate::controller"],
        },
    ));
}

#[test]
fn inside_the_runtime_what_is_below_knows_nothing_of_what_is_above() {
    let layers = ["machine", "lifecycle", "cluster", "controller"];
    let folder = |layer: &str| format!("runtime/src/{layer}");
    for (place, below) in layers.iter().enumerate() {
        for above in &layers[place + 1..] {
            none(GRAPH.between(&folder(below), &folder(above)));
        }
    }
    let downwards = GRAPH.between(&folder("controller"), &folder("cluster"));
    assert!(!downwards.is_empty(), "the search proves nothing");
}

#[test]
fn who_explains_writes_nothing() {
    none(forbidden_words(
        &TREE,
        &Ban {
            layer: &["runtime/inspect/src/explain"],
            words: &["PostParams", "PatchParams", "DeleteParams", "cluster::act"],
            except: &[],
            control: "runtime/",
            control_words: &["PostParams", "PatchParams", "DeleteParams"],
        },
    ));
}

#[test]
fn only_one_file_names_the_codes_of_grpc() {
    none(forbidden_words(
        &TREE,
        &Ban {
            layer: &[
                "runtime/csi/src",
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
            except: &["runtime/csi/src/code.rs"],
            control: "runtime/csi/src/code.rs",
            control_words: &["Wire"],
        },
    ));
}

#[test]
fn order_never_comes_from_a_hash() {
    none(forbidden_words(
        &TREE,
        &Ban {
            layer: &["macros/src/", "macros/core/src/", "runtime/src/machine"],
            words: &["HashMap", "HashSet"],
            except: &[],
            // The words have no other place in this workspace but the list above.
            control: "tests/tidy/tests/tidy.rs",
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
        &TREE,
        &Ban {
            layer: &["macros/", "operator/", "proto/", "runtime/", "specs/"],
            words: &words,
            except: &[
                "runtime/client/src/kube.rs",
                // The router uses nothing of the runtime.
                "operator/router/src/source/kubernetes/client.rs",
                // These make clients of servers that are not real, for tests.
                "runtime/client/src/scripted.rs",
                "runtime/suite/src",
                "operator/listener/tests/e2e/waiting.rs",
                // A layer before a real server.
                "operator/listener/tests/e2e/trouble/fire/refusing.rs",
            ],
            control: "runtime/client/src/kube.rs",
            control_words: &["ClientBuilder"],
        },
    ));
}

#[test]
fn only_one_package_serves_http() {
    none(forbidden_words(
        &TREE,
        &Ban {
            layer: &["operator/", "runtime/", "specs/"],
            words: &["serve_connection", "axum::serve"],
            except: &["runtime/http/src"],
            control: "runtime/http/src",
            control_words: &["serve_connection"],
        },
    ));
}

#[test]
fn the_router_knows_kubernetes_in_one_source_and_where_its_adaptor_publishes() {
    let adaptor = "operator/router/src/adaptor/publish";
    none(forbidden_words(
        &TREE,
        &Ban {
            layer: &["operator/router/src"],
            words: &["kube", "k8s_openapi"],
            except: &["operator/router/src/source/kubernetes", adaptor],
            control: "operator/router/src/source/kubernetes",
            control_words: &["kube", "k8s_openapi"],
        },
    ));
}

#[test]
fn the_router_can_do_without_kubernetes() {
    let forbidden = ["kube", "kube-client", "kube-core", "k8s-openapi"];
    let with = pulled("lifecycle-router").forbidden(&forbidden);
    assert!(!with.is_empty(), "the search proves nothing");
    none(pulled_with("lifecycle-router", &["--no-default-features"]).forbidden(&forbidden));
}

#[test]
fn the_checker_knows_no_kubernetes() {
    let forbidden = [
        "kube",
        "kube-core",
        "kube-client",
        "k8s-openapi",
        "tokio",
        "tonic",
    ];
    none(pulled("lifecycle-macros-core").forbidden(&forbidden));
}

#[test]
fn who_ships_an_operator_ships_no_simulator() {
    let suite = pulled("lifecycle-suite");
    let found = suite.forbidden(&SIMULATION).len();
    assert_eq!(found, SIMULATION.len() - 1, "the search proves nothing");
    none(pulled("lifecycle-runtime").forbidden(&SIMULATION));
    none(pulled("lifecycle-listener").forbidden(&SIMULATION));
    none(pulled("lifecycle-csi").forbidden(&SIMULATION));
    none(pulled("lifecycle-cli").forbidden(&SIMULATION));
    let image = pulled_with("website-operator", &["--no-default-features"]);
    none(image.forbidden(&SIMULATION));
    // These two run a cluster in a process, for people and for sites of files.
    for simulates in ["lifecycle-operator", "lifecycle-skupper"] {
        none(pulled(simulates).forbidden(&["lifecycle-suite", TEST_CLOCK]));
    }
}

#[test]
fn the_runtime_alone_speaks_no_grpc_and_carries_no_product() {
    let forbidden = ["prost", "tonic"];
    let csi = pulled("lifecycle-csi").forbidden(&forbidden);
    assert_eq!(csi.len(), 2, "the search proves nothing");
    let runtime = pulled("lifecycle-runtime");
    none(runtime.forbidden(&forbidden));
    none(runtime.other_members(&names(), &of_runtime()));
}

#[test]
fn products_know_nothing_of_each_other() {
    let listener = [
        "lifecycle-listener",
        "lifecycle-specs-listener",
        "lifecycle-csi",
    ];
    let skupper = [
        "lifecycle-skupper",
        "lifecycle-specs-skupper",
        "lifecycle-router",
    ];
    let operator = pulled("lifecycle-operator");
    let both = [listener, skupper].concat();
    assert_eq!(
        operator.forbidden(&both).len(),
        6,
        "the search proves nothing"
    );
    none(pulled("lifecycle-listener").forbidden(&skupper));
    none(pulled("lifecycle-skupper").forbidden(&listener));
    none(pulled("lifecycle-router").other_members(&names(), &["lifecycle-http"]));
}

#[test]
fn the_simulator_stands_on_little_of_ours() {
    let permitted = ["lifecycle-client", "lifecycle-http", "lifecycle-proto"];
    let simulator = pulled("lifecycle-simulator");
    assert_eq!(
        simulator.forbidden(&permitted).len(),
        3,
        "the search proves nothing"
    );
    none(simulator.other_members(&names(), &permitted));
}

#[test]
fn no_package_pulls_in_more_crates_than_before() {
    none(pulled::changed_counts(ALL_PULLED.values(), &PULLED));
}

#[test]
fn members_depend_on_each_other_as_the_architecture_says() {
    let document = TREE.text("ARCHITECTURE.md").expect("the architecture");
    assert!(MEMBERS.len() > 10, "the members were not found");
    none(members::differences(document, &MEMBERS));
}

/// Otherwise neither of the two could be packed first.
#[test]
fn circles_of_dev_dependencies_carry_no_version() {
    let with_tests = MEMBERS.iter().any(|member| !member.tested_with.is_empty());
    assert!(with_tests, "no dev-dependency between members was found");
    none(members::versions_in_circles(&MEMBERS));
}

#[test]
fn every_dependency_comes_from_crates_io_under_a_licence_that_is_allowed() {
    // Packages that no build on this system needs may be missing locally: without `--offline`, Cargo fetches them.
    let text = cargo_online(&["metadata", "--format-version=1"]);
    let metadata: Value = serde_json::from_str(&text).expect("cargo metadata is JSON");
    let mut packages = origins::read(&metadata).expect("the packages can be read");
    assert!(packages.len() > 100, "the packages were not found");
    none(origins::findings(&packages, &LICENCES));
    let mut others = MEMBERS.iter().filter(|one| one.name != "lifecycle-book");
    assert!(others.all(|one| pulled(&one.name).forbidden(&origins::OF_BOOK).is_empty()));
    packages.push(Package {
        name: "made-up 1.0.0".to_owned(),
        source: Some("git+https://example.org/made-up#0".to_owned()),
        licence: Some("MIT AND AGPL-3.0-only".to_owned()),
        is_member: false,
    });
    let found = origins::findings(&packages, &LICENCES);
    assert_eq!(found.len(), 2, "the search proves nothing: {found:?}");
}

#[test]
fn every_dependency_is_pinned_by_a_checksum() {
    let lock = TREE.text("Cargo.lock").expect("the lock file");
    none(origins::unpinned(lock).expect("the lock file can be read"));
    let (number, findings) = origins::go_modules(&TREE);
    assert!(number > 100, "the modules of Go were not found");
    none(findings);
}

#[test]
fn no_test_asserts_how_much_time_passed_by_the_clock() {
    none(clock::findings(&TREE, &clock::PAUSED));
}

/// Returns the packages that make up the runtime.
fn of_runtime() -> [&'static str; 3] {
    [
        "lifecycle-client",
        "lifecycle-macros",
        "lifecycle-macros-core",
    ]
}

fn names() -> Vec<&'static str> {
    ALL_PULLED.keys().copied().collect()
}

fn graph(tree: &Tree) -> Graph {
    Graph::read(tree, &roots(|path| path.contains("src/")))
}

/// The files that Cargo compiles as crates.
fn roots(wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let crates = MEMBERS.iter().flat_map(|member| &member.crates);
    let paths = crates.map(|root| &root.path).filter(|path| wanted(path));
    paths.cloned().collect()
}

/// Returns the packages that a user compiles when building a package.
fn pulled(package: &str) -> &'static Pulled {
    &ALL_PULLED[package]
}

fn pulled_with(package: &str, options: &[&str]) -> Pulled {
    let tree = ["tree", "--edges=normal", "--prefix=none", "--format"];
    let of = [pulled::FORMAT, "--package", package];
    let output = cargo(&[&tree[..], &of, options].concat());
    Pulled::read(package, &output).expect("the tree shows its package")
}

fn cargo(arguments: &[&str]) -> String {
    cargo_online(&[arguments, &["--offline"]].concat())
}

fn cargo_online(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .arg("--locked")
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {arguments:?}: {error}");
    String::from_utf8(output.stdout).expect("cargo prints text")
}

fn root() -> &'static Path {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders.nth(2).expect("this crate is two folders deep")
}

#[track_caller]
fn none(findings: Vec<String>) {
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}
