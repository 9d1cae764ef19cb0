//! Selection of templates for objects, and the precedence among templates.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Service;
use serde_json::json;

use super::*;

fn controller_id() -> ControllerId {
    ControllerId::new("skupper", "controller")
}

fn template(place: &str, labels: Value, data: Value) -> ConfigMap {
    let (namespace, name) = place.split_once('/').expect("it has a namespace");
    let mut map = json!({
        "metadata": {
            "name": name, "namespace": namespace, "labels": labels,
            "annotations": { "note": name, "kubectl.kubernetes.io/last-applied-configuration": "{}" },
        },
        "data": data,
    });
    map["metadata"]["labels"][TEMPLATE] = "true".into();
    serde_json::from_value(map).expect("it is a ConfigMap")
}

fn service() -> Desired<Service> {
    Desired::from_json(json!({
        "metadata": { "name": "backend", "labels": { "internal.skupper.io/listener": "l" } },
        "spec": { "ports": [] },
    }))
}

fn router() -> Desired<Deployment> {
    Desired::from_json(json!({
        "metadata": { "name": "skupper-router", "labels": { "application": "skupper-router" } },
        "spec": { "template": { "metadata": { "labels": { "application": "skupper-router" } } } },
    }))
}

fn laid<K: Resource<DynamicType = ()>>(maps: &[ConfigMap], object: Desired<K>) -> Value {
    let maps: Vec<&ConfigMap> = maps.iter().collect();
    Templates::from_config_maps(&maps, &controller_id())
        .on(object)
        .as_json()
        .clone()
}

/// Returns true if a Service `backend` gets the label `team`.
fn is_labelled(data: Value) -> bool {
    let maps = [template("west/t", json!({ "team": "a" }), data)];
    laid(&maps, service())["metadata"]["labels"]["team"] == "a"
}

#[test]
fn a_template_is_for_what_it_names() {
    assert!(is_labelled(Value::Null));
    assert!(is_labelled(
        json!({ "kind": "", "name": " ", "labelSelector": "", "exclude": "" })
    ));
    assert!(is_labelled(
        json!({ "kind": "Service", "name": "backend\n" })
    ));
    assert!(!is_labelled(json!({ "kind": "Deployment" })));
    assert!(!is_labelled(json!({ "kind": "service" })));
    assert!(!is_labelled(json!({ "kind": "Service", "name": "front" })));
    assert!(is_labelled(
        json!({ "labelSelector": "internal.skupper.io/listener in (k, l)" })
    ));
    assert!(!is_labelled(
        json!({ "labelSelector": "internal.skupper.io/listener!=l" })
    ));
    assert!(
        !is_labelled(json!({ "labelSelector": "a b" })),
        "it cannot be read"
    );
    assert!(!is_labelled(json!({ "exclude": "other, team" })));
    assert!(is_labelled(json!({ "exclude": "te" })));
}

#[test]
fn what_is_laid_on_leaves_alone_what_is_ours() {
    let labels = json!({
        "internal.skupper.io/listener": "stolen", "internal.skupper.io/other": "x", "team": "a",
    });
    let laid_on = laid(&[template("west/t", labels, Value::Null)], service());
    let wanted = json!({
        "metadata": {
            "name": "backend",
            "labels": { "internal.skupper.io/listener": "l", "team": "a" },
            "annotations": { "note": "t" },
        },
        "spec": { "ports": [] },
    });
    assert_eq!(laid_on, wanted);
    assert_eq!(
        laid(&[], service()),
        *service().as_json(),
        "nothing is added"
    );
}

#[test]
fn pods_are_changed_only_where_that_is_asked_for() {
    let labels = json!({ "application": "mine", "team": "a" });
    let check = |data: Value, pods: Value| {
        let laid_on = laid(&[template("west/t", labels.clone(), data)], router());
        let own = json!({ "application": "skupper-router", "team": "a" });
        assert_eq!(laid_on["metadata"]["labels"], own);
        assert_eq!(laid_on["spec"]["template"]["metadata"]["labels"], pods);
    };
    let plain = json!({ "application": "skupper-router" });
    check(Value::Null, plain.clone());
    check(json!({ "includePods": "false" }), plain);
    let both = json!({ "application": "skupper-router", "team": "a" });
    check(json!({ "includePods": "true" }), both);
}

#[test]
fn the_controllers_go_first_and_of_one_namespace_the_last_by_name() {
    let of = |place: &str| {
        template(
            place,
            json!({ "team": place.replace('/', "-") }),
            Value::Null,
        )
    };
    let team = |places: &[&str]| {
        let maps: Vec<ConfigMap> = places.iter().copied().map(of).collect();
        let laid_on = laid(&maps, service());
        laid_on["metadata"]["labels"]["team"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(team(&["west/b", "west/a"]), "west-b");
    assert_eq!(team(&["west/a", "west/b"]), "west-b");
    assert_eq!(team(&["skupper/a", "west/b"]), "skupper-a");
    let namespace = |name: &str| ObjectMeta {
        namespace: Some(name.to_owned()),
        ..ObjectMeta::default()
    };
    assert_eq!(concerning(&namespace("west"), &controller_id()).len(), 2);
    assert_eq!(concerning(&namespace("skupper"), &controller_id()).len(), 1);
}

#[test]
fn what_cannot_be_read_is_told_by_name_and_reason() {
    let of = |place: &str, selector: &str| {
        template(place, json!({}), json!({ "labelSelector": selector }))
    };
    let told = |maps: &[ConfigMap]| broken(&maps.iter().collect::<Vec<_>>());
    let fine = told(&[of("west/t", "a=b"), of("west/u", "")]);
    assert_eq!(fine, [""; 0]);
    let why = |selector: &str| match LabelSelector::parse(selector) {
        Err(why) => why.to_string(),
        Ok(_) => panic!("`{selector}` can be read"),
    };
    let line = |place: &str, selector: &str| {
        let why = why(selector);
        format!(
            "ConfigMap `{place}` is no label template, for its labelSelector cannot be read: {why}"
        )
    };
    let one = told(&[of("west/t", "a b"), of("west/u", "a=b")]);
    assert_eq!(one, [line("west/t", "a b")]);
    let both = [line("skupper/z", "a in"), line("west/t", "a b")];
    for maps in [["skupper/z", "west/t"], ["west/t", "skupper/z"]] {
        let selector = |place: &str| if place == "west/t" { "a b" } else { "a in" };
        let told = told(&maps.map(|place| of(place, selector(place))));
        assert_eq!(told, both);
    }
}
