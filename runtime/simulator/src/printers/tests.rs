//! The rows of built-in kinds and of columns that a definition declares, on a clock that stands still.

use serde_json::{Value, json};

use super::*;

const NOW: &str = "2024-01-01T01:00:00Z";

#[track_caller]
fn check(group: &str, kind: &str, object: &Value, expected: &[(&str, Value)]) {
    let printer = Printer::builtin(group, kind);
    let columns = printer.columns();
    let cells = printer.cells(object, NOW.parse().unwrap());
    assert_eq!(
        columns.len(),
        cells.len(),
        "a cell for each column of {kind}"
    );
    for (name, expected) in expected {
        let at = columns.iter().position(|column| column["name"] == *name);
        let at = at.unwrap_or_else(|| panic!("{kind} has no column {name}"));
        assert_eq!(&cells[at], expected, "{kind}: {name}");
    }
}

fn metadata() -> Value {
    json!({ "name": "a", "creationTimestamp": "2024-01-01T00:58:00Z" })
}

#[test]
fn every_kind_has_a_cell_for_each_of_its_columns() {
    let lists = [
        workloads::PRINTERS,
        network::PRINTERS,
        storage::PRINTERS,
        cluster::PRINTERS,
    ];
    for (group, kind, ..) in lists.into_iter().flatten() {
        check(group, kind, &json!({}), &[]);
        check(group, kind, &json!({ "metadata": metadata() }), &[]);
    }
}

#[test]
fn a_service_says_how_it_is_reached() {
    let mut service = json!({
        "metadata": metadata(),
        "spec": {
            "type": "LoadBalancer",
            "clusterIPs": ["10.96.0.7"],
            "selector": { "b": "2", "a": "1" },
            "ports": [{ "port": 80, "protocol": "TCP", "nodePort": 30080 }, { "port": 53, "protocol": "UDP" }],
        },
        "status": { "loadBalancer": { "ingress": [{ "ip": "192.0.2.2" }, { "hostname": "a.example" }] } },
    });
    let expected = [
        ("Cluster-IP", json!("10.96.0.7")),
        ("External-IP", json!("192.0.2.2,a.example")),
        ("Port(s)", json!("80:30080/TCP,53/UDP")),
        ("Age", json!("2m")),
        ("Selector", json!("a=1,b=2")),
    ];
    check("", "Service", &service, &expected);
    service["status"] = json!({});
    check(
        "",
        "Service",
        &service,
        &[("External-IP", json!("<pending>"))],
    );
    service["spec"] = json!({ "type": "ClusterIP", "clusterIPs": ["None"] });
    let headless = [
        ("Cluster-IP", json!("None")),
        ("External-IP", json!("<none>")),
        ("Port(s)", json!("<none>")),
    ];
    check("", "Service", &service, &headless);
}

#[track_caller]
fn check_pod(spec: &Value, status: &Value, ready: &str, said: &str, restarts: &str) {
    let pod = json!({ "metadata": metadata(), "spec": spec, "status": status });
    check(
        "",
        "Pod",
        &pod,
        &[
            ("Ready", json!(ready)),
            ("Status", json!(said)),
            ("Restarts", json!(restarts)),
        ],
    );
}

#[test]
fn a_pod_is_summed_up_from_its_containers() {
    let two = json!({ "containers": [{ "name": "a" }, { "name": "b" }] });
    check_pod(&two, &json!({ "phase": "Pending" }), "0/2", "Pending", "0");
    let running = json!({ "phase": "Running", "containerStatuses": [
        { "name": "a", "ready": true, "restartCount": 2, "state": { "running": {} },
          "lastState": { "terminated": { "finishedAt": "2024-01-01T00:59:30Z" } } },
        { "name": "b", "ready": false, "restartCount": 0, "state": { "waiting": { "reason": "CrashLoopBackOff" } } },
    ] });
    check_pod(&two, &running, "1/2", "CrashLoopBackOff", "2 (30s ago)");
    let failed = json!({ "phase": "Failed", "containerStatuses": [
        { "name": "a", "state": { "terminated": { "exitCode": 0, "reason": "Completed" } } },
        { "name": "b", "state": { "terminated": { "exitCode": 3 } } },
    ] });
    check_pod(&two, &failed, "0/2", "ExitCode:3", "0");
    let gated = json!({ "phase": "Pending", "conditions": [{ "type": "PodScheduled", "reason": "SchedulingGated" }] });
    check_pod(&two, &gated, "0/2", "SchedulingGated", "0");
}

#[test]
fn a_pod_that_initializes_says_how_far_it_is() {
    let spec = json!({
        "initContainers": [{ "name": "i" }, { "name": "s", "restartPolicy": "Always" }],
        "containers": [{ "name": "a" }],
    });
    let first = json!({ "phase": "Pending", "initContainerStatuses": [{ "name": "i", "state": { "running": {} } }] });
    check_pod(&spec, &first, "0/2", "Init:0/2", "0");
    let failed = json!({ "phase": "Pending", "initContainerStatuses": [
        { "name": "i", "restartCount": 1, "state": { "terminated": { "exitCode": 1, "reason": "Error" } } },
    ] });
    check_pod(&spec, &failed, "0/2", "Init:Error", "1");
    let done = json!({ "phase": "Running",
        "initContainerStatuses": [
            { "name": "i", "restartCount": 4, "state": { "terminated": { "exitCode": 0 } } },
            { "name": "s", "started": true, "ready": true, "state": { "running": {} } },
        ],
        "containerStatuses": [{ "name": "a", "ready": true, "state": { "running": {} } }],
    });
    check_pod(&spec, &done, "2/2", "Running", "0");
}

#[test]
fn a_pod_that_goes_away_says_so_and_one_that_ended_is_marked() {
    let mut pod = json!({ "kind": "Pod", "metadata": metadata(), "spec": {}, "status": { "phase": "Running" } });
    assert_eq!(Printer::conditions(&pod), None);
    pod["metadata"]["deletionTimestamp"] = json!(NOW);
    check("", "Pod", &pod, &[("Status", json!("Terminating"))]);
    pod["status"]["phase"] = json!("Succeeded");
    check("", "Pod", &pod, &[("Status", json!("Succeeded"))]);
    assert_eq!(Printer::conditions(&pod).unwrap()[0]["reason"], "Succeeded");
}

#[test]
fn a_node_says_whether_it_is_ready_and_where() {
    let node = json!({
        "metadata": { "name": "n", "labels": { "node-role.kubernetes.io/b": "", "kubernetes.io/role": "a" } },
        "spec": { "unschedulable": true },
        "status": {
            "conditions": [{ "type": "Ready", "status": "False" }],
            "addresses": [{ "type": "InternalIP", "address": "10.0.0.1" }],
            "nodeInfo": { "kubeletVersion": "v1.36.3", "architecture": "amd64" },
        },
    });
    let expected = [
        ("Status", json!("NotReady,SchedulingDisabled")),
        ("Roles", json!("a,b")),
        ("Age", json!("<unknown>")),
        ("Internal-IP", json!("10.0.0.1")),
        ("External-IP", json!("<none>")),
        ("Kernel-Version", json!("<unknown> (amd64)")),
    ];
    check("", "Node", &node, &expected);
}

#[test]
fn events_of_both_groups_are_printed_alike() {
    let core = json!({
        "metadata": { "name": "a.1" },
        "involvedObject": { "kind": "Listener", "name": "a" },
        "eventTime": "2024-01-01T00:59:00.000000Z",
        "reportingComponent": "c", "reportingInstance": "i",
        "type": "Normal", "reason": "Ready", "message": " well \n",
    });
    let new = json!({
        "metadata": { "name": "a.1" },
        "regarding": { "kind": "Listener", "name": "a" },
        "eventTime": "2024-01-01T00:59:00.000000Z",
        "reportingController": "c", "reportingInstance": "i",
        "type": "Normal", "reason": "Ready", "note": " well \n",
    });
    let expected = [
        ("Last Seen", json!("60s")),
        ("Object", json!("listener/a")),
        ("Source", json!("c, i")),
        ("Message", json!("well")),
        ("Count", json!(1)),
    ];
    check("", "Event", &core, &expected);
    check("events.k8s.io", "Event", &new, &expected);
}

#[test]
fn slices_claims_and_drivers_are_summed_up() {
    let slice = json!({ "metadata": metadata(), "addressType": "IPv4",
        "ports": [{ "port": 80 }, { "name": "x" }],
        "endpoints": [{ "addresses": ["10.1.0.1", "10.1.0.2"] }, { "addresses": ["10.1.0.3"] }, { "addresses": ["10.1.0.4"] }],
    });
    let expected = [
        ("Ports", json!("80,x")),
        ("Endpoints", json!("10.1.0.1,10.1.0.2,10.1.0.3 + 1 more...")),
    ];
    check("discovery.k8s.io", "EndpointSlice", &slice, &expected);
    check(
        "discovery.k8s.io",
        "EndpointSlice",
        &json!({}),
        &[("Endpoints", json!("<unset>"))],
    );
    let claim = json!({ "metadata": metadata(), "spec": { "volumeName": "v", "volumeMode": "Filesystem" },
        "status": { "phase": "Bound", "accessModes": ["ReadWriteMany", "ReadWriteOnce"], "capacity": { "storage": "1Gi" } } });
    let expected = [
        ("Access Modes", json!("RWO,RWX")),
        ("Capacity", json!("1Gi")),
        ("VolumeAttributesClass", json!("<unset>")),
    ];
    check("", "PersistentVolumeClaim", &claim, &expected);
    let driver =
        json!({ "spec": { "tokenRequests": [{ "audience": "x" }], "attachRequired": false } });
    check(
        "storage.k8s.io",
        "CSIDriver",
        &driver,
        &[("TokenRequests", json!("x")), ("Modes", json!("<none>"))],
    );
}

#[test]
fn kinds_without_columns_say_when_they_were_created() {
    let created = [("Created At", json!("2024-01-01T00:58:00Z"))];
    check(
        "rbac.authorization.k8s.io",
        "Role",
        &json!({ "metadata": metadata() }),
        &created,
    );
}

#[test]
fn a_definition_chooses_columns_by_path_and_type() {
    let columns = [
        json!({ "name": "Class", "type": "string", "jsonPath": ".spec.className" }),
        json!({ "name": "Count", "type": "integer", "jsonPath": ".spec.count", "priority": 1 }),
        json!({ "name": "Seen", "type": "date", "jsonPath": ".status.seen" }),
        json!({ "name": "Wrong", "type": "integer", "jsonPath": ".spec.className" }),
        json!({ "name": "Gone", "type": "string", "jsonPath": ".spec.gone" }),
        json!({ "name": "Object", "type": "string", "jsonPath": ".spec.object" }),
    ];
    let printer = Printer::declared(&columns).unwrap();
    let object = json!({ "metadata": metadata(),
        "spec": { "className": "c", "count": 2.0, "object": { "a": 1 } },
        "status": { "seen": "2024-01-01T00:59:50Z" } });
    let cells = printer.cells(&object, NOW.parse().unwrap());
    assert_eq!(
        Value::from(cells),
        json!(["a", "c", 2, "10s", null, null, r#"{"a":1}"#])
    );
    assert_eq!(printer.columns()[2]["priority"], 1);
    let default = Printer::declared(&[]).unwrap();
    assert_eq!(
        Value::from(default.cells(&object, NOW.parse().unwrap())),
        json!(["a", "2m"])
    );
    assert!(
        Printer::declared(&[json!({ "name": "x", "type": "string", "jsonPath": "x" })]).is_err()
    );
}
