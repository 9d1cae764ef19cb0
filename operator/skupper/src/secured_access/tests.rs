//! Tests of the endpoints of a SecuredAccess and of the objects that it writes.

use super::*;

fn logic(access_type: &str, cluster_host: Option<&str>) -> SecuredAccesses {
    SecuredAccesses {
        controller_id: ControllerId::new("skupper", "controller"),
        defaults: AccessDefaults {
            access_type: access_type.to_owned(),
            enabled: Vec::new(),
            cluster_host: cluster_host.map(str::to_owned),
            machine: None,
        },
    }
}

fn access(spec: Value) -> SecuredAccess {
    let mut whole = json!({
        "selector": { "skupper.io/component": "router" },
        "ports": [{ "name": "inter-router", "port": 55671 }, { "name": "edge", "port": 45671, "targetPort": 1 }],
    });
    for (key, value) in spec.as_object().into_iter().flatten() {
        whole[key] = value.clone();
    }
    let access = json!({ "metadata": { "name": "door", "namespace": "west" }, "spec": whole });
    serde_json::from_value(access).expect("it is a SecuredAccess")
}

fn service(value: Value) -> Service {
    serde_json::from_value(value).expect("it is a Service")
}

fn reached(logic: &SecuredAccesses, spec: Value, of: Value) -> Vec<String> {
    let access = access(spec);
    let reached = logic.endpoints(This::new(&access), &service(of));
    let told = reached.into_iter().flatten().map(|endpoint| {
        let text = |part: Option<String>| part.unwrap_or_default();
        format!(
            "{} {}:{}",
            text(endpoint.name),
            text(endpoint.host),
            text(endpoint.port)
        )
    });
    told.collect()
}

#[test]
fn each_type_is_reached_in_its_way() {
    let balanced = |to: Value| json!({ "status": { "loadBalancer": { "ingress": [to] } } });
    let logic = logic("loadbalancer", Some("nodes.example"));
    let of = |host: &str| {
        vec![
            format!("inter-router {host}:55671"),
            format!("edge {host}:45671"),
        ]
    };
    assert_eq!(
        reached(&logic, json!({}), balanced(json!({ "ip": "192.0.2.1" }))),
        of("192.0.2.1")
    );
    assert_eq!(
        reached(&logic, json!({}), balanced(json!({ "hostname": "lb" }))),
        of("lb")
    );
    assert!(reached(&logic, json!({}), json!({})).is_empty());
    let local = json!({ "accessType": "local" });
    assert_eq!(reached(&logic, local, json!({})), of("door.west"));
    let ports = json!({ "spec": { "ports": [
        { "name": "inter-router", "port": 55671, "nodePort": 30001 }, { "name": "edge", "port": 45671 },
    ] } });
    let nodeport = json!({ "accessType": "nodeport" });
    let expected = ["inter-router nodes.example:30001"];
    assert_eq!(reached(&logic, nodeport, ports), expected);
}

#[test]
fn what_cannot_be_served_is_told() {
    let check = |spec: Value, expected: Validity, sentence: &str| {
        let access = access(spec);
        let answer = logic("loadbalancer", None).validity(This::new(&access));
        assert_eq!(
            (answer.value, answer.sentence.as_str()),
            (expected, sentence)
        );
    };
    check(json!({}), Validity::Fine, "");
    check(json!({ "accessType": "local" }), Validity::Fine, "");
    let both = "spec.selector is required\nspec.ports is required";
    check(
        json!({ "selector": {}, "ports": [] }),
        Validity::Incomplete,
        both,
    );
    let route = "access type \"route\" is not supported: use local, loadbalancer or nodeport";
    check(json!({ "accessType": "route" }), Validity::BadType, route);
    let nodes = "access type \"nodeport\" needs to know where nodes are reached: start the controller with --cluster-host";
    check(
        json!({ "accessType": "nodeport" }),
        Validity::BadType,
        nodes,
    );
    let ports = |port: Value| json!({ "ports": [port] });
    let number = "port \"a\": 70000 is no port: it must be between 1 and 65535";
    check(
        ports(json!({ "name": "a", "port": 70000 })),
        Validity::BadPort,
        number,
    );
    let target = ports(json!({ "name": "a", "port": 1, "targetPort": -1 }));
    check(
        target,
        Validity::BadPort,
        "port \"a\": -1 is no port: it must be between 1 and 65535",
    );
    let udp = ports(json!({ "name": "a", "port": 1, "protocol": "UDP" }));
    let said = "port \"a\": protocol \"UDP\" is not supported: leave it out, or set it to \"TCP\"";
    check(udp, Validity::BadPort, said);
}

#[test]
fn a_machine_is_reached_itself_and_knows_no_types() {
    let logic = SecuredAccesses {
        controller_id: ControllerId::new("skupper", "controller"),
        defaults: AccessDefaults::of_machine("laptop.example"),
    };
    let expected = [
        "inter-router laptop.example:55671",
        "edge laptop.example:45671",
    ];
    assert_eq!(reached(&logic, json!({}), json!({})), expected);
    let check = |spec: Value, expected: Validity| {
        let access = access(spec);
        let answer = logic.validity(This::new(&access));
        assert_eq!(answer.value, expected, "{}", answer.sentence);
    };
    check(json!({}), Validity::Fine);
    check(json!({ "accessType": "" }), Validity::Fine);
    check(json!({ "accessType": "local" }), Validity::BadType);
}
