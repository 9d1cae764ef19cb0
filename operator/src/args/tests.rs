//! Old command lines keep their meaning.

use std::path::Path;

use clap::{CommandFactory, Parser};

use lifecycle_cli::process::args::{Format, Rotation};

use super::*;

fn run(words: &str) -> Run<Mode> {
    match Arguments::try_parse_from(words.split_whitespace())
        .unwrap()
        .command
    {
        Command::Run(run) => *run,
        other @ (Command::Sandbox(_)
        | Command::Cluster(_)
        | Command::New(_)
        | Command::Crd { product: _ }
        | Command::Check(_)
        | Command::Lock(_)
        | Command::Network(_)
        | Command::Token(_)
        | Command::Explain(_)
        | Command::Generate(_)
        | Command::Plan(_)
        | Command::Takeover(_)
        | Command::Replay(_)) => {
            panic!("{other:?}")
        }
    }
}

fn refused(words: &str) -> String {
    Arguments::try_parse_from(words.split_whitespace())
        .unwrap_err()
        .to_string()
}

#[test]
fn the_command_line_is_consistent() {
    Arguments::command().debug_assert();
}

#[test]
fn a_controller_needs_no_option() {
    let run = run("lifecycle-operator run controller");
    let Mode::Controller(controller) = run.mode else {
        panic!("a controller was asked for")
    };
    assert_eq!(controller.listener_class_preset, Preset::StableNodes);
    assert_eq!(run.telemetry.console_log_format, Format::Plain);
    assert_eq!(run.telemetry.file_log_rotation_period, Rotation::Never);
    assert!(!run.cluster.disable_crd_maintenance && !run.cluster.disable_leader_election);
}

#[test]
fn m31_every_option_of_the_replaced_operator_is_accepted() {
    let run = run(
        "lifecycle-operator run --csi-endpoint /csi/csi.sock --kubernetes-node-name n1 --operator-namespace ns \
         --operator-service-name svc --image-repository example.org/images --kubernetes-cluster-domain Example.org. \
         --disable-crd-maintenance --eos-check-mode offline --eos-interval 1d --eos-disabled --console-log-disabled \
         --console-log-format json --file-log-directory /logs --file-log-rotation-period hourly --file-log-max-files 6 \
         --otel-log-exporter-enabled --otel-trace-exporter-enabled controller --listener-class-preset ephemeral-nodes",
    );
    assert_eq!(run.csi_endpoint.as_deref(), Some("/csi/csi.sock"));
    assert_eq!(run.kubernetes_node_name.as_deref(), Some("n1"));
    assert_eq!(run.cluster.operator_namespace.as_deref(), Some("ns"));
    assert_eq!(
        run.cluster.kubernetes_cluster_domain.unwrap().to_string(),
        "Example.org."
    );
    assert!(run.cluster.disable_crd_maintenance && run.retired.eos_disabled);
    assert!(run.telemetry.console_log_disabled);
    assert_eq!(run.telemetry.console_log_format, Format::Json);
    assert_eq!(run.telemetry.file_log_directory, Some("/logs".into()));
    assert_eq!(run.telemetry.file_log_rotation_period, Rotation::Hourly);
    assert_eq!(run.telemetry.file_log_max_files, Some(6));
    assert!(run.telemetry.otel_log_exporter_enabled && run.telemetry.otel_trace_exporter_enabled);
    let Mode::Controller(controller) = run.mode else {
        panic!("a controller was asked for")
    };
    assert_eq!(controller.listener_class_preset, Preset::EphemeralNodes);
}

/// The chart of the replaced operator sets this preset, so an upgrade from it must find the same `external-stable`.
#[test]
fn the_manifests_name_the_preset_of_the_replaced_chart() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/install/controller.yaml");
    let manifest = std::fs::read_to_string(path).unwrap();
    let line = manifest.lines().find(|line| line.contains("args: [run,"));
    let words = line.unwrap().trim().trim_start_matches("args: [");
    let words = words.trim_end_matches(']').replace(',', "");
    let Mode::Controller(controller) = run(&format!("lifecycle-operator {words}")).mode else {
        panic!("the Deployment runs the controller")
    };
    assert!(words.contains("--listener-class-preset"), "{words}");
    assert_eq!(controller.listener_class_preset, Preset::StableNodes);
}

#[test]
fn a_node_takes_the_same_options() {
    let run =
        run("lifecycle-operator run --csi-endpoint /csi/csi.sock --kubernetes-node-name n1 node");
    let Mode::Node(node) = run.mode else {
        panic!("a node was asked for")
    };
    assert!(!node.disable_plugin_registration && !node.remove_startup_taint);
    assert_eq!(node.plugin_registration_path, Path::new("/registration"));
}

#[test]
fn each_option_has_the_environment_variable_of_its_name() {
    let mut command = Arguments::command();
    command.build();
    let run = command.find_subcommand("run").unwrap();
    let controller = run.find_subcommand("controller").unwrap();
    let node = run.find_subcommand("node").unwrap();
    let options = run.get_arguments().chain(controller.get_arguments());
    let options = options.chain(node.get_arguments());
    let options = options.filter(|option| option.get_long().is_some_and(|long| long != "help"));
    let mut count = 0;
    for option in options {
        let expected = option.get_long().unwrap().to_uppercase().replace('-', "_");
        assert_eq!(
            option.get_env().and_then(|env| env.to_str()),
            Some(&*expected)
        );
        count += 1;
    }
    assert_eq!(count, 28);
}

#[test]
fn wrong_values_are_refused_with_those_that_are_possible() {
    let preset = refused("lifecycle-operator run controller --listener-class-preset stable");
    for possible in ["none", "stable-nodes", "ephemeral-nodes"] {
        assert!(preset.contains(possible), "{preset}");
    }
    assert!(
        refused("lifecycle-operator run --console-log-format xml node").contains("plain, json")
    );
    assert!(
        refused("lifecycle-operator run --kubernetes-cluster-domain a..b node")
            .contains("is not a DNS domain")
    );
    assert!(refused("lifecycle-operator check").contains("<PATH>"));
}

#[test]
fn options_of_run_come_before_the_word() {
    assert!(
        refused("lifecycle-operator run controller --disable-crd-maintenance")
            .contains("unexpected argument")
    );
}
