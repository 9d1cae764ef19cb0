//! Rows of Deployments, DaemonSets and Leases.

use lifecycle_listener::args::Preset;
use serde_json::{Value, json};

use super::{Cluster, DAEMON_SET, DEPLOYMENT, chosen, class, lease, object_findings, only};
use crate::takeover::finding::{Chosen, Severity};

#[test]
fn a_running_controller_of_the_replaced_operator_blocks_until_it_is_gone() {
    let mut cluster = Cluster::replaced();
    cluster.add_object(class(
        "external-stable",
        &json!({ "serviceType": "LoadBalancer" }),
    ));
    let running = cluster.judged(&chosen());
    let all = object_findings(&running, DEPLOYMENT);
    assert_eq!(all[0].0, Severity::Blocks);
    assert!(all[0].1.contains("1 replica: it knows no Lease"), "{all:?}");
    assert!(
        all[0]
            .1
            .contains("--namespace stackable-operators scale deployment"),
        "{all:?}"
    );
    // A Deployment without the field has one replica.
    cluster.deployment()["spec"]["replicas"] = Value::Null;
    assert_eq!(object_findings(&cluster.judged(&chosen()), DEPLOYMENT), all);
    cluster.deployment()["spec"]["replicas"] = json!(0);
    cluster.deployment()["status"] = json!({ "replicas": 2 });
    let ending = object_findings(&cluster.judged(&chosen()), DEPLOYMENT);
    assert!(ending[0].1.contains("2 Pods still there"), "{ending:?}");
    assert_eq!(ending[0].0, Severity::Blocks);
    cluster.deployment()["status"] = json!({});
    let gone = object_findings(&cluster.judged(&chosen()), DEPLOYMENT);
    assert_eq!((gone.len(), gone[0].0), (2, Severity::Note), "{gone:?}");
}

#[test]
fn a_controller_is_found_by_its_command_line_or_its_role() {
    let found = |edit: fn(&mut Value)| {
        let mut cluster = Cluster::replaced();
        edit(cluster.deployment());
        !object_findings(&cluster.judged(&chosen()), DEPLOYMENT).is_empty()
    };
    fn container(deployment: &mut Value) -> &mut Value {
        &mut deployment["spec"]["template"]["spec"]["containers"][0]
    }
    fn without_role(deployment: &mut Value) {
        deployment["metadata"]["labels"] = Value::Null;
        deployment["spec"]["template"]["metadata"]["labels"] = json!({ "app": "any" });
    }
    assert!(found(without_role));
    assert!(found(|one| {
        without_role(one);
        container(one)["args"] = json!(["run", "--eos-disabled", "controller"]);
    }));
    assert!(found(|one| {
        without_role(one);
        container(one)["command"] = json!(["sh", "-c", "exec listener-operator run controller"]);
        container(one)["args"] = Value::Null;
    }));
    assert!(found(|one| container(one)["args"] = json!(["start"])));
    assert!(!found(|one| {
        without_role(one);
        container(one)["args"] = json!(["start"]);
    }));
    assert!(!found(|one| container(one)["name"] = json!("sidecar")));
}

#[test]
fn parts_of_a_release_before_25_11_have_to_end_before_an_upgrade() {
    let mut cluster = Cluster::replaced();
    let old = |workload: &mut Value, name: &str, role: &str| {
        workload["metadata"]["name"] = json!(name);
        let labels = json!({ "app.kubernetes.io/name": "listener-operator", "app.kubernetes.io/role": role });
        workload["metadata"]["labels"] = labels.clone();
        workload["spec"]["template"]["metadata"]["labels"] = labels;
        workload["spec"]["template"]["spec"]["containers"][0]["name"] = json!("listener-operator");
    };
    old(
        cluster.deployment(),
        "listener-operator-deployment",
        "controller",
    );
    old(
        cluster.daemon_set(),
        "listener-operator-node-daemonset",
        "node",
    );
    let there = Chosen {
        namespace: "stackable-operators".to_owned(),
        ..chosen()
    };
    let findings = cluster.judged(&there);
    for (object, todo) in [
        (
            "Deployment stackable-operators/listener-operator-deployment",
            "scale it to zero first",
        ),
        (
            "DaemonSet stackable-operators/listener-operator-node-daemonset",
            "delete it before our driver starts",
        ),
    ] {
        let all = object_findings(&findings, object);
        let blocks = all
            .iter()
            .find(|(severity, ..)| *severity == Severity::Blocks);
        let said = blocks.unwrap_or_else(|| panic!("{object}: {findings:#?}"));
        assert!(
            said.1.contains(todo) && said.1.contains("too late"),
            "{said:?}"
        );
    }
}

#[test]
fn workloads_of_another_driver_are_left_out() {
    let findings = Cluster::replaced().judged(&chosen());
    let others = findings
        .iter()
        .filter(|one| one.object.contains("secret-operator"));
    assert_eq!(others.count(), 0, "{findings:#?}");
}

#[test]
fn a_controller_of_ours_is_known_by_its_probes_or_its_lease() {
    let mut cluster = Cluster::replaced();
    let container = |cluster: &mut Cluster, name: &str, value: Value| {
        cluster.deployment()["spec"]["template"]["spec"]["containers"][0][name] = value;
    };
    let probes = json!([{ "name": "HEALTH_PROBE_BIND_ADDRESS", "value": "[::]:8081" }]);
    container(&mut cluster, "env", probes);
    // It belongs to this operator and runs elsewhere, so it may be configured to need no Lease.
    let here = cluster.judged(&chosen());
    only(
        &here,
        DEPLOYMENT,
        Severity::Blocks,
        &["a controller of this operator in another namespace"],
    );
    let there = Chosen {
        namespace: "stackable-operators".to_owned(),
        ..chosen()
    };
    assert!(object_findings(&cluster.judged(&there), DEPLOYMENT).is_empty());
    container(&mut cluster, "env", Value::Null);
    assert_eq!(
        object_findings(&cluster.judged(&there), DEPLOYMENT).len(),
        2
    );
    let name = "listener-operator-csi-provisioner-5c9-x7k2p-1";
    cluster.add_object(lease(
        "stackable-operators",
        name,
        "2026-11-01T12:00:00.000000Z",
    ));
    assert!(object_findings(&cluster.judged(&there), DEPLOYMENT).is_empty());
    // Its Lease reports it once.
    let here = cluster.judged(&chosen());
    assert!(object_findings(&here, DEPLOYMENT).is_empty(), "{here:#?}");
    let object = "Lease stackable-operators/listeners.stackable.tech-controller";
    only(
        &here,
        object,
        Severity::Blocks,
        &[name, "--namespace stackable-operators"],
    );
    // The Lease of a controller that died long ago does not identify a controller as this
    // operator's.
    cluster.object("Lease", "listeners")["spec"]["renewTime"] =
        json!("2026-11-01T11:59:55.000000Z");
    let expired = cluster.judged(&chosen());
    assert!(
        object_findings(&expired, object).is_empty()
            && object_findings(&expired, DEPLOYMENT).len() == 2
    );
}

#[test]
fn another_preset_blocks_only_if_a_class_is_missing_that_would_get_another_type() {
    let mut cluster = Cluster::replaced();
    let missing = object_findings(&cluster.judged(&chosen()), DEPLOYMENT);
    let (severity, text) = &missing[1];
    assert_eq!(*severity, Severity::Blocks);
    let said =
        "`external-stable` is missing and would be created as NodePort instead of LoadBalancer";
    assert!(text.contains(said), "{text}");
    assert!(
        text.contains("the chart (preset=ephemeral-nodes)"),
        "{text}"
    );
    // The check was configured with the preset that existed.
    let same = Chosen {
        preset: Preset::EphemeralNodes,
        ..chosen()
    };
    assert_eq!(object_findings(&cluster.judged(&same), DEPLOYMENT).len(), 1);
    cluster.add_object(class(
        "external-stable",
        &json!({ "serviceType": "LoadBalancer" }),
    ));
    let there = object_findings(&cluster.judged(&chosen()), DEPLOYMENT);
    assert_eq!(there[1].0, Severity::Note, "{there:?}");
}

#[test]
fn the_preset_is_read_off_option_variable_and_default() {
    let told = |args: Value, env: Value| {
        let mut cluster = Cluster::replaced();
        let container = &mut cluster.deployment()["spec"]["template"]["spec"]["containers"][0];
        (container["args"], container["env"]) = (args, env);
        let all = object_findings(&cluster.judged(&chosen()), DEPLOYMENT);
        all.get(1).map(|(severity, text)| (*severity, text.clone()))
    };
    let stable = json!([{ "name": "LISTENER_CLASS_PRESET", "value": "stable-nodes" }]);
    assert_eq!(told(json!(["run", "controller"]), stable.clone()), None);
    let apart = json!([
        "run",
        "controller",
        "--listener-class-preset",
        "stable-nodes"
    ]);
    assert_eq!(told(apart, Value::Null), None);
    // The option wins, and the program without either takes another one than its chart.
    let option = json!([
        "run",
        "controller",
        "--listener-class-preset=ephemeral-nodes"
    ]);
    for (args, env) in [
        (option, stable),
        (json!(["run", "controller"]), Value::Null),
    ] {
        assert_eq!(told(args, env).unwrap().0, Severity::Blocks);
    }
    let elsewhere = json!([{ "name": "LISTENER_CLASS_PRESET", "valueFrom": { "configMapKeyRef": { "name": "a", "key": "b" } } }]);
    let (severity, text) = told(json!(["run", "controller"]), elsewhere).unwrap();
    assert!(
        severity == Severity::Note && text.contains("helm get values"),
        "{text}"
    );
}

#[test]
fn a_registrar_blocks_beside_ours_and_where_it_would_outlive_the_start_of_ours() {
    let mut cluster = Cluster::replaced();
    only(
        &cluster.judged(&chosen()),
        DAEMON_SET,
        Severity::Blocks,
        &["would run beside our driver", "delete daemonset"],
    );
    let there = Chosen {
        namespace: "stackable-operators".to_owned(),
        ..chosen()
    };
    only(
        &cluster.judged(&there),
        DAEMON_SET,
        Severity::Note,
        &["would leave its side-car"],
    );
    for (surge, blocks) in [
        (json!(1), true),
        (json!("10%"), true),
        (json!(0), false),
        (json!("0%"), false),
    ] {
        let update = json!({ "type": "RollingUpdate", "rollingUpdate": { "maxSurge": surge } });
        cluster.daemon_set()["spec"]["updateStrategy"] = update;
        let all = object_findings(&cluster.judged(&there), DAEMON_SET);
        assert_eq!(all[0].0 == Severity::Blocks, blocks, "{surge}: {all:?}");
        assert_eq!(all[0].1.contains("maxSurge"), blocks, "{surge}: {all:?}");
    }
    cluster.daemon_set()["spec"]["selector"]["matchLabels"]["app.kubernetes.io/instance"] =
        json!("other");
    only(
        &cluster.judged(&there),
        DAEMON_SET,
        Severity::Blocks,
        &["its selector"],
    );
}

#[test]
fn a_node_driver_of_ours_blocks_in_another_namespace_alone() {
    let mut cluster = Cluster::replaced();
    let pods = &mut cluster.daemon_set()["spec"]["template"]["spec"];
    pods["containers"].as_array_mut().unwrap().truncate(1);
    only(
        &cluster.judged(&chosen()),
        DAEMON_SET,
        Severity::Blocks,
        &["the same socket"],
    );
    let there = Chosen {
        namespace: "stackable-operators".to_owned(),
        ..chosen()
    };
    assert!(object_findings(&cluster.judged(&there), DAEMON_SET).is_empty());
}

#[test]
fn another_folder_of_kubelet_blocks_until_it_is_the_one_that_is_checked_with() {
    let mut cluster = Cluster::replaced();
    let there = Chosen {
        namespace: "stackable-operators".to_owned(),
        ..chosen()
    };
    let text = cluster
        .daemon_set()
        .to_string()
        .replace("/var/lib/kubelet", "/var/lib/k0s/kubelet");
    *cluster.daemon_set() = serde_json::from_str(&text).unwrap();
    let findings = cluster.judged(&there);
    let all = object_findings(&findings, DAEMON_SET);
    assert_eq!(all[0].0, Severity::Blocks);
    assert!(
        all[0].1.contains("--kubelet-dir /var/lib/k0s/kubelet"),
        "{all:?}"
    );
    let set = Chosen {
        kubelet: "/var/lib/k0s/kubelet/".to_owned(),
        ..there
    };
    only(
        &cluster.judged(&set),
        DAEMON_SET,
        Severity::Note,
        &["side-car"],
    );
}
