//! The program itself, without a cluster: its exit code and its output.

use std::process::{Command, Output};

/// Runs the program in an environment in which only `environment` can configure an API server.
fn run(words: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lifecycle-operator"));
    command
        .args(words)
        .env_clear()
        .env("KUBECONFIG", "/nowhere");
    command.envs(environment.iter().copied()).output().unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn m3_definitions_are_printed_without_a_cluster() {
    let output = run(&["crd"], &[]);
    assert!(output.status.success());
    let printed = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(
        printed.matches("kind: CustomResourceDefinition\n").count(),
        3
    );
    assert_eq!(errors(&output), "");
}

#[test]
fn a_source_file_is_no_lifecycle_to_draw() {
    let output = run(&["diagram", "src/lifecycle.rs"], &[]);
    assert!(!output.status.success());
    let errors = errors(&output);
    assert!(
        errors.starts_with("error: `src/lifecycle.rs` is a source file, "),
        "{errors}"
    );
    assert!(
        errors.contains("`lifecycle-operator check src/lifecycle.rs` checks one"),
        "{errors}"
    );
    assert_eq!(errors.lines().count(), 1);
}

#[test]
fn a_kubeconfig_that_is_not_there_is_one_line_that_names_it() {
    let output = run(&["run", "controller"], &[]);
    assert_eq!(output.status.code(), Some(1));
    let errors = errors(&output);
    assert!(
        errors.starts_with("error: cannot use the kubeconfig `/nowhere`"),
        "{errors}"
    );
    assert_eq!(errors.lines().count(), 1);
}

#[test]
fn a_bad_level_is_one_line_that_names_the_variable() {
    let output = run(
        &["run", "controller"],
        &[("CONSOLE_LOG_LEVEL", "kube=loud")],
    );
    assert_eq!(output.status.code(), Some(1));
    let errors = errors(&output);
    assert!(
        errors.starts_with("error: environment variable CONSOLE_LOG_LEVEL is `kube=loud`"),
        "{errors}"
    );
    assert_eq!(errors.lines().count(), 1);
}

#[test]
fn b12_a_node_needs_an_endpoint_and_the_name_of_its_node() {
    let named = [("KUBERNETES_NODE_NAME", "n")];
    let old = [("NODE_NAME", "n"), ("CSI_ENDPOINT", "/csi.sock")];
    let without = [
        (run(&["run", "node"], &named), "--csi-endpoint"),
        (
            run(&["run", "--csi-endpoint", "/csi.sock", "node"], &[]),
            "--kubernetes-node-name",
        ),
        // Nothing but the cluster is missing.
        (run(&["run", "node"], &old), "kubeconfig"),
    ];
    for (output, named) in without {
        assert_eq!(output.status.code(), Some(1));
        let errors = errors(&output);
        assert!(
            errors.contains(named) && errors.lines().count() == 1,
            "{errors}"
        );
    }
}

#[test]
fn an_address_for_probes_that_is_not_available_is_one_line_that_names_it() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let words = ["run", "--health-probe-bind-address", &address, "controller"];
    let output = run(&words, &[]);
    assert_eq!(output.status.code(), Some(1));
    let errors = errors(&output);
    assert!(
        errors.contains(&address) && errors.lines().count() == 1,
        "{errors}"
    );
}

#[test]
fn an_endpoint_of_a_collector_that_is_none_is_one_line_that_names_it() {
    for (option, variable) in [
        (
            "--otel-log-exporter-enabled",
            "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
        ),
        (
            "--otel-trace-exporter-enabled",
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        ),
    ] {
        let output = run(&["run", option, "controller"], &[(variable, "http://[")]);
        assert_eq!(output.status.code(), Some(1));
        let errors = errors(&output);
        assert!(
            errors.contains(option) && errors.contains(variable) && errors.lines().count() == 1,
            "{errors}"
        );
    }
}

#[test]
fn m31_switches_are_read_from_the_environment_of_old_manifests() {
    let environment = [
        ("CONSOLE_LOG_FORMAT", "json"),
        ("DISABLE_CRD_MAINTENANCE", "true"),
        ("EOS_DISABLED", "true"),
        ("LISTENER_CLASS_PRESET", "stable-nodes"),
        ("KUBERNETES_CLUSTER_DOMAIN", "Example.org"),
        ("CSI_ENDPOINT", "/csi/csi.sock"),
        ("OPERATOR_IMAGE", "never read"),
    ];
    let output = run(&["run", "controller"], &environment);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(
        printed.lines().all(|line| line.starts_with('{')),
        "{printed}"
    );
    assert!(
        run(&["run", "controller"], &[("LISTENER_CLASS_PRESET", "x")])
            .status
            .code()
            == Some(2)
    );
}

#[test]
fn a_check_ends_with_0_1_or_2() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let specs = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../specs/listener/src/listener.rs"
    );
    let bad = file("bad.rs", "lifecycle! { resource Thing; }");
    assert_eq!(run(&["check", specs], &[]).status.code(), Some(0));
    assert_eq!(run(&["check", specs, &bad], &[]).status.code(), Some(1));
    let missing = directory.path().join("missing.rs");
    let output = run(&["check", missing.to_str().unwrap(), &bad], &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("missing.rs cannot be read"));
}

/// The specs of a product that are checked, without their tests.
const SPECS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/listener/src");

#[test]
fn who_reads_no_further_ends_a_command_without_a_word() {
    let commands: [&[&str]; 7] = [
        &["check", SPECS],
        &["check", "--output", "json", SPECS],
        &["check", "--explain", "LC021"],
        &["lock", "--check", SPECS],
        &["crd", "skupper"],
        &["lifecycles"],
        &["manifests", "all"],
    ];
    for words in commands {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_lifecycle-operator"));
        let output = command.args(words).stdout(writer).output().unwrap();
        assert_eq!(
            (output.status.code(), errors(&output).as_str()),
            (Some(141), ""),
            "{words:?}"
        );
    }
    // The exit code is also 141 if the reader of the error messages is gone.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_lifecycle-operator"));
    let ended = command
        .args(["check", "/nowhere.rs"])
        .stderr(writer)
        .output();
    assert_eq!(ended.unwrap().status.code(), Some(141));
}
