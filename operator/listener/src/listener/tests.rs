//! The logic behind the generated trait: the queries, and the presence of every answer.

use lifecycle_runtime::Machine;
use lifecycle_runtime::machine::ir::Lifecycle;
use lifecycle_runtime::machine::policy::Decision;
use lifecycle_runtime::machine::project::{MessageParts, Projected};
use lifecycle_runtime::machine::world::World;
use lifecycle_specs_listener::crds;
use lifecycle_specs_listener::listener::{
    BackingNode, IR, ListenerSpec, NodeReachability, machine,
};
use lifecycle_specs_listener::listener_class::{ListenerClassSpec, ServiceType};
use serde_json::Value;

use super::*;

fn exposure() -> Exposure {
    Exposure {
        cluster_domain: "cluster.local".into(),
    }
}

fn listener(spec: Value) -> Listener {
    let mut listener = Listener::new("web", serde_json::from_value::<ListenerSpec>(spec).unwrap());
    listener.metadata.namespace = Some("apps".into());
    listener.metadata.uid = Some("u-1".into());
    listener
}

#[test]
fn the_logic_gives_a_machine_for_listeners() {
    let machine = machine(exposure());
    assert_eq!(machine.ir().name, "Listener");
    assert_eq!(machine.subject().unwrap().plural, "listeners");
}

#[test]
fn a_service_is_named_and_its_node_ports_are_told_only_for_node_port() {
    let listener = listener(json!({}));
    let service = |service_type: &str| -> Service {
        let service = json!({
            "metadata": { "name": "web" },
            "spec": { "type": service_type, "ports": [{ "name": "http", "port": 80, "nodePort": 30080 }] },
        });
        serde_json::from_value(service).unwrap()
    };
    let this = This::new(&listener);
    assert_eq!(exposure().service_name(this, &service("NodePort")), "web");
    assert_eq!(
        exposure().node_ports(this, &service("NodePort")),
        Some([("http".to_owned(), 30080)].into())
    );
    assert_eq!(exposure().node_ports(this, &service("ClusterIP")), None);
}

#[test]
fn every_column_of_the_lifecycle_is_printed_by_the_definition() {
    let definitions = serde_json::to_value(crds()).unwrap();
    let printed = &definitions[1]["spec"]["versions"][0]["additionalPrinterColumns"];
    for column in IR.columns {
        let found = printed
            .as_array()
            .unwrap()
            .iter()
            .find(|p| p["name"] == column.name);
        let path = column.json_path.unwrap();
        assert_eq!(found.unwrap()["jsonPath"], path, "{}", column.name);
    }
}

#[test]
fn every_validity_that_is_not_fine_says_what_to_do() {
    let class = ListenerClass::new("c", ListenerClassSpec::new(ServiceType::ClusterIP));
    for (spec, expected) in [
        (json!({}), Validity::NoPorts),
        (
            json!({ "ports": [{ "name": "a", "port": 0 }] }),
            Validity::BadPort,
        ),
        (
            json!({ "ports": [{ "name": "a", "port": 1 }, { "name": "a", "port": 2 }] }),
            Validity::PortClash,
        ),
        (
            json!({ "ports": [{ "name": "A", "port": 1 }] }),
            Validity::BadName,
        ),
        (
            json!({ "ports": [{ "name": "a", "port": 1 }], "objectOverrides": [
                { "apiVersion": "v1", "kind": "Service", "metadata": { "name": "web", "namespace": "apps", "uid": "x" } },
            ] }),
            Validity::BadOverride,
        ),
    ] {
        let listener = listener(spec);
        let because = exposure().validity(This::new(&listener), &class);
        assert_eq!(because.value, expected);
        assert!(because.sentence.contains("; "), "{}", because.sentence);
    }
}

/// Tests that only changes of addresses make a status outdated. A mount depends on it.
#[test]
fn of_a_class_only_what_decides_addresses_is_noted() {
    let class = |spec: Value| -> ListenerClass {
        let object = json!({
            "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "ListenerClass",
            "metadata": { "name": "c", "uid": "u", "generation": 7 }, "spec": spec,
        });
        serde_json::from_value(object).unwrap()
    };
    let plain = observed(&class(json!({ "serviceType": "NodePort" })));
    let noted = json!({ "uid": "u", "serviceType": "NodePort", "addressType": "IP" });
    assert_eq!(serde_json::to_value(&plain).unwrap(), noted);
    for same in [
        json!({ "serviceType": "NodePort", "serviceAnnotations": { "a": "b" } }),
        json!({ "serviceType": "NodePort", "preferredAddressType": "IP" }),
    ] {
        assert_eq!(observed(&class(same)), plain);
    }
    for other in [
        json!({ "serviceType": "ClusterIP" }),
        json!({ "serviceType": "NodePort", "preferredAddressType": "Hostname" }),
        json!({ "serviceType": "NodePort", "serviceOverrides": { "spec": { "type": "ClusterIP" } } }),
        json!({ "serviceType": "NodePort", "allowedExternalNameSuffixes": ["example.org"] }),
        json!({ "serviceType": "NodePort", "additionalNodeAddressTypes": ["InternalDNS"] }),
    ] {
        assert_ne!(observed(&class(other)), plain);
    }
    assert_eq!(
        observed(&ListenerClass::new(
            "c",
            ListenerClassSpec::new(ServiceType::ClusterIP)
        )),
        None
    );
}

/// Returns every combination of answers; a fact that is not evaluated has none.
fn worlds(ir: &Lifecycle) -> Vec<World> {
    let mut worlds = vec![World::first(ir)];
    for (var, declared) in ir.vars.iter().enumerate() {
        let answered = |world: &World| -> Vec<World> {
            let values = (0..).take(declared.values.len());
            let with = |value: u8| {
                let mut world = world.clone();
                world.set(var, value);
                world
            };
            values.map(with).collect()
        };
        worlds = worlds.iter().flat_map(answered).collect();
    }
    worlds.retain(|world| {
        let mut vars = ir.vars.iter().enumerate();
        vars.all(|(var, declared)| {
            let asked = || declared.given.iter().all(|guard| world.holds(&guard.pred));
            world.get(var) == 0 || asked()
        })
    });
    worlds
}

/// The conditions of the status in a world.
fn conditions(ir: &Lifecycle, world: &World) -> Vec<Projected> {
    let sentences = vec![None; ir.vars.len()];
    let parts = MessageParts {
        sentences: &sentences,
        texts: &[],
    };
    ir.conditions(world, parts)
}

fn condition(all: &[Projected], name: &str) -> Option<Projected> {
    all.iter().find(|one| one.name == name).cloned()
}

#[test]
fn applying_is_said_exactly_where_the_service_is_about_to_be_written() {
    let ir = machine(exposure()).ir();
    for world in worlds(ir) {
        let said = condition(&conditions(ir, &world), "Programmed");
        let said = said.expect("it is always said").reason;
        let writes = matches!(ir.next(&world, false), Decision::Effect(_));
        assert_eq!(said == "Applying", writes, "{said}: {}", world.describe(ir));
    }
}

/// Checks that, in any world, this answer to a fact adds this condition and changes no other.
fn adds_only(fact: &str, condition: &str, reason: &str) {
    let ir = machine(exposure()).ir();
    let position = ir.vars.iter().position(|var| var.name == fact);
    let position = position.expect("the fact is declared");
    let all: BTreeSet<World> = worlds(ir).into_iter().collect();
    for well in all.iter().filter(|world| world.get(position) == 0) {
        let mut wrong = well.clone();
        wrong.set(position, 1);
        if !all.contains(&wrong) {
            continue;
        }
        let before = conditions(ir, well);
        let (said, others): (Vec<_>, Vec<_>) = conditions(ir, &wrong)
            .into_iter()
            .partition(|one| one.name == condition);
        assert_eq!(others, before, "{}", well.describe(ir));
        assert_eq!(said.len(), 1);
        assert_eq!(said[0].reason, reason);
    }
}

#[test]
fn an_override_without_effect_is_said_and_no_other_condition_depends_on_it() {
    adds_only("overrides", "OverridesMatched", "OverrideNotMatched");
}

#[test]
fn an_external_name_that_is_not_allowed_is_said_and_no_other_condition_depends_on_it() {
    adds_only(
        "external_names",
        "ExternalNamesAllowed",
        "ExternalNameNotAllowed",
    );
}

#[test]
fn an_override_of_another_object_is_named_with_what_it_would_have_to_name() {
    let found = |overrides: Value| {
        let listener = listener(json!({ "objectOverrides": overrides }));
        let because = exposure().overrides(This::new(&listener));
        (because.value, because.sentence)
    };
    let of = |kind: &str, name: &str, namespace: Value| json!({ "apiVersion": "v1", "kind": kind, "metadata": { "name": name, "namespace": namespace } });
    let matching = || of("Service", "web", json!("apps"));
    assert_eq!(found(json!([])).0, Overrides::Matched);
    assert_eq!(found(json!([matching(), matching()])).0, Overrides::Matched);
    let all = "apiVersion `v1`, kind `Service`, name `web`, namespace `apps`";
    for (other, wanted) in [
        (of("Deployment", "web", json!("apps")), "kind `Service`"),
        (of("Service", "wbe", json!("apps")), "name `web`"),
        (of("Service", "web", json!("app")), "namespace `apps`"),
        (of("Service", "web", json!(null)), "namespace `apps`"),
        (
            of("Service", "wbe", json!("app")),
            "name `web`, namespace `apps`",
        ),
        (json!({}), all),
    ] {
        let expected = format!(
            "`spec.objectOverrides[1]` (and 1 more) has no effect, for it is about another object: set {wanted}, or remove it"
        );
        let found = found(json!([matching(), other, {}]));
        assert_eq!(found, (Overrides::Unmatched, expected));
    }
}

/// The replaced operator wrote events of these reasons, and users may look for them. All others are those of the conditions.
#[test]
fn only_the_events_of_the_replaced_operator_have_reasons_of_their_own() {
    let clauses = IR.conditions.iter().flat_map(|one| one.clauses);
    let others = clauses.filter_map(|one| Some((one.reason, one.event?)));
    assert_eq!(
        others.collect::<Vec<_>>(),
        [
            ("ListenerClassNotFound", "GetObject"),
            ("ForeignService", "RefuseToOverwriteForeignService"),
            ("Refused", "ApplyService"),
        ]
    );
}

/// With names as clusters have them: of a Pod of a set, of a node of a cloud, of a volume. In a mount error they stand behind the name of the Listener.
#[test]
fn b53_every_sentence_of_a_condition_is_short() {
    const NODE: &str = "ip-10-0-12-34.eu-central-1.compute.internal";
    const VOLUME: &str = "pvc-c0ffee00-0000-0000-0000-000000000042";
    let of = |spec: Value| {
        let mut listener = listener(spec);
        listener.metadata.name = Some("simple-kafka-broker-default-0-listener".into());
        listener.metadata.namespace = Some("production".into());
        listener
    };
    let class = |spec: Value| -> ListenerClass {
        ListenerClass::new("external-stable", serde_json::from_value(spec).unwrap())
    };
    let for_others = class(json!({ "serviceType": "ClusterIP", "allowedNamespaces": ["team-*"] }));
    let strict = class(json!({ "serviceType": "ClusterIP", "allowedOverrides": [] }));
    let patch = |name: &str| {
        json!({
            "apiVersion": "v1", "kind": "Service", "metadata": { "name": name, "namespace": "production" },
            "spec": { "externalIPs": ["192.0.2.1"], "loadBalancerSourceRanges": ["192.0.2.0/24"], "sessionAffinity": "ClientIP" },
        })
    };
    let plain = of(json!({ "ports": [{ "name": "http", "port": 80 }] }));
    let overriding = |name: &str| {
        let ports = json!([{ "name": "http", "port": 80 }]);
        of(json!({ "ports": ports, "objectOverrides": [patch(name)] }))
    };
    let named = of(json!({ "externalNames": ["simple-kafka-broker-default-0.kafka.example.org"] }));
    let own = overriding("simple-kafka-broker-default-0-listener");
    let other = overriding("simple-kafka-broker-default-1-listener");
    let reached = |service_type: ServiceType, reachability: NodeReachability| {
        let node = BackingNode {
            name: NODE.to_owned(),
            volume: Some(VOLUME.to_owned()),
            reachability,
        };
        let reach = Reach {
            service_type,
            addresses: Vec::new(),
            nodes: vec![node],
        };
        exposure().address(This::new(&plain), &reach).sentence
    };
    let balancer = reached(ServiceType::LoadBalancer, NodeReachability::Published);
    let sentences = [
        exposure()
            .permission(This::new(&plain), &for_others)
            .sentence,
        exposure().permission(This::new(&own), &strict).sentence,
        exposure().overrides(This::new(&other)).sentence,
        exposure()
            .external_names(This::new(&named), &strict)
            .sentence,
        format!("{balancer}\nit has been Provisioning for more than 10 min"),
        reached(ServiceType::NodePort, NodeReachability::Gone),
        reached(ServiceType::NodePort, NodeReachability::Unaddressed),
    ];
    for said in sentences {
        assert!(
            !said.is_empty() && said.len() <= 200,
            "{} {said}",
            said.len()
        );
    }
}
