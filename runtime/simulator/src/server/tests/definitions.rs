//! Definitions that a real API server refuses or does not serve, and subresources of what they
//! define.

use serde_json::{Value, json};

use super::super::{Server, User};
use super::refused::send;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

fn version(name: &str, is_stored: bool) -> Value {
    let free = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let properties = json!({"spec": free, "status": free});
    json!({"name": name, "served": true, "storage": is_stored, "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}}})
}

fn definition(names: Value, versions: Value) -> Value {
    let plural = names["plural"].as_str().unwrap().to_owned();
    json!({
        "metadata": {"name": format!("{plural}.trial.test")},
        "spec": {"group": "trial.test", "scope": "Namespaced", "names": names, "versions": versions},
    })
}

fn boats(versions: Value) -> Value {
    definition(
        json!({"plural": "boats", "singular": "boat", "kind": "Boat"}),
        versions,
    )
}

fn condition(definition: &Value, kind: &str) -> (String, String, String) {
    let all = definition["status"]["conditions"].as_array().unwrap();
    let found = all.iter().find(|one| one["type"] == kind).unwrap();
    let text = |field: &str| found[field].as_str().unwrap().to_owned();
    (text("status"), text("reason"), text("message"))
}

#[tokio::test(start_paused = true)]
async fn a_version_that_was_ever_stored_stays_until_it_is_taken_out_of_the_status() {
    let server = Server::new(1);
    let (old, new) = (version("v1", true), version("v2", false));
    let (code, made) = send(&server, "POST", DEFINITIONS, &boats(json!([old, new])));
    assert_eq!(code, 201, "{made}");
    assert_eq!(made["status"]["storedVersions"], json!(["v1"]));
    let at = format!("{DEFINITIONS}/boats.trial.test");
    let change = |versions: Value| {
        send(
            &server,
            "PATCH",
            &at,
            &json!({"spec": {"versions": versions}}),
        )
    };
    let (code, changed) = change(json!([version("v1", false), version("v2", true)]));
    assert_eq!(code, 200, "{changed}");
    assert_eq!(changed["status"]["storedVersions"], json!(["v1", "v2"]));
    let (code, refused) = change(json!([version("v2", true)]));
    let message = "status.storedVersions[0]: Invalid value: \"v1\": missing from spec.versions";
    assert!(
        code == 422 && refused["message"].as_str().unwrap().contains(message),
        "{refused}"
    );
    let status = json!({"status": {"storedVersions": ["v2"]}});
    let (code, _) = send(&server, "PATCH", &format!("{at}/status"), &status);
    assert_eq!(code, 200);
    let (code, changed) = change(json!([version("v2", true)]));
    assert_eq!(code, 200, "{changed}");
    assert_eq!(changed["status"]["storedVersions"], json!(["v2"]));
}

#[tokio::test(start_paused = true)]
async fn of_two_definitions_with_one_name_the_first_is_served() {
    let server = Server::new(1);
    let names = |plural: &str, kind: &str, short: &str| json!({"plural": plural, "singular": plural.trim_end_matches('s'), "kind": kind, "shortNames": [short]});
    let one = |names: Value| definition(names, json!([version("v1", true)]));
    let read = |name: &str| {
        send(
            &server,
            "GET",
            &format!("{DEFINITIONS}/{name}.trial.test"),
            &Value::Null,
        )
        .1
    };
    for (names, reason, message) in [
        (
            names("ships", "Boat", "s"),
            "ListKindConflict",
            "\"BoatList\" is already in use",
        ),
        (
            names("rafts", "Raft", "b"),
            "ShortNamesConflict",
            "\"b\" is already in use",
        ),
        (
            json!({"plural": "canoes", "singular": "boat", "kind": "Canoe"}),
            "SingularConflict",
            "\"boat\" is already in use",
        ),
    ] {
        let server = Server::new(1);
        let first = self::names_of_boats();
        assert_eq!(send(&server, "POST", DEFINITIONS, &one(first)).0, 201);
        let plural = names["plural"].as_str().unwrap().to_owned();
        assert_eq!(send(&server, "POST", DEFINITIONS, &one(names)).0, 201);
        let path = format!("{DEFINITIONS}/{plural}.trial.test");
        let second = send(&server, "GET", &path, &Value::Null).1;
        let refused = ("False".to_owned(), reason.to_owned(), message.to_owned());
        assert_eq!(condition(&second, "NamesAccepted"), refused);
        assert_eq!(condition(&second, "Established").1, "NotAccepted");
        let objects = format!("/apis/trial.test/v1/{plural}");
        assert_eq!(send(&server, "GET", &objects, &Value::Null).0, 404);
        // The name is free when the first definition is gone.
        let first = format!("{DEFINITIONS}/boats.trial.test");
        assert_eq!(send(&server, "DELETE", &first, &Value::Null).0, 200);
        let second = send(&server, "GET", &path, &Value::Null).1;
        assert_eq!(condition(&second, "Established").0, "True");
        assert_eq!(send(&server, "GET", &objects, &Value::Null).0, 200);
    }
    // Names are only shared within a group.
    assert_eq!(
        send(&server, "POST", DEFINITIONS, &one(names_of_boats())).0,
        201
    );
    let mut other = one(names_of_boats());
    other["metadata"]["name"] = "boats.other.test".into();
    other["spec"]["group"] = "other.test".into();
    assert_eq!(send(&server, "POST", DEFINITIONS, &other).0, 201);
    assert_eq!(condition(&read("boats"), "NamesAccepted").0, "True");
}

fn names_of_boats() -> Value {
    json!({"plural": "boats", "singular": "boat", "kind": "Boat", "shortNames": ["b"]})
}

fn with(more: Value) -> Value {
    let mut version = version("v1", true);
    json_patch::merge(&mut version, &more);
    boats(json!([version]))
}

fn column(more: Value) -> Value {
    let mut column = json!({"name": "Size", "type": "integer", "jsonPath": ".spec.size"});
    json_patch::merge(&mut column, &more);
    with(json!({"additionalPrinterColumns": [column]}))
}

fn scale(more: Value) -> Value {
    let mut scale = json!({"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"});
    json_patch::merge(&mut scale, &more);
    with(json!({"subresources": {"scale": scale}}))
}

fn named(more: Value) -> Value {
    let mut definition = boats(json!([version("v1", true)]));
    json_patch::merge(&mut definition["spec"], &more);
    definition
}

fn power(one: Value) -> Value {
    let volts = json!({"volts": {"type": "integer"}});
    let power = json!({"type": "object", "properties": volts, "oneOf": [one]});
    let spec = json!({"type": "object", "properties": {"power": power}});
    with(json!({"schema": {"openAPIV3Schema": {"properties": {"spec": spec}}}}))
}

/// A definition that is refused for one reason, a similar one that is accepted, and the reason.
fn refused_definitions() -> Vec<(Value, Value, String)> {
    let root = "spec.validation.openAPIV3Schema.properties[spec]";
    vec![
        (
            power(json!({"type": "object", "required": ["volts"]})),
            power(json!({"required": ["volts"]})),
            format!("{root}.properties[power].oneOf[0].type: Forbidden: must be empty to be structural"),
        ),
        (
            column(json!({"type": "float"})),
            column(json!({"format": "int32"})),
            "spec.additionalPrinterColumns[0].type: Invalid value: \"float\": must be one of [boolean date integer number string]".to_owned(),
        ),
        (
            column(json!({"jsonPath": "spec.size"})),
            column(json!({})),
            "spec.additionalPrinterColumns[0].JSONPath: Invalid value: \"spec.size\": must be a simple json path starting with .".to_owned(),
        ),
        (
            scale(json!({"specReplicasPath": ".status.size"})),
            scale(json!({"labelSelectorPath": ".status.selector"})),
            "spec.subresources.scale.specReplicasPath: Invalid value: \".status.size\": should be a json path under .spec".to_owned(),
        ),
        (
            named(json!({"names": {"kind": "9Boats"}})),
            named(json!({"names": {"kind": "Boats9"}})),
            "spec.names.kind: Invalid value: \"9Boats\": may have mixed case, but should otherwise match: a DNS-1035 label".to_owned(),
        ),
        (
            named(json!({"names": {"listKind": "Boat"}})),
            named(json!({"names": {"listKind": "Boats"}})),
            "spec.names.listKind: Invalid value: \"Boat\": kind and listKind may not be the same".to_owned(),
        ),
        (
            named(json!({"preserveUnknownFields": true})),
            named(json!({"preserveUnknownFields": false})),
            "spec.preserveUnknownFields: Invalid value: true: cannot set to true".to_owned(),
        ),
        (
            named(json!({"conversion": {"strategy": "Webhook"}})),
            named(json!({"conversion": {"strategy": "None"}})),
            "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook".to_owned(),
        ),
    ]
}

#[tokio::test(start_paused = true)]
async fn definitions_are_refused_in_the_words_of_the_real_server() {
    for (wrong, right, message) in refused_definitions() {
        let server = Server::new(1);
        let (code, answer) = send(&server, "POST", DEFINITIONS, &wrong);
        let found = answer["message"].as_str().unwrap_or_default();
        assert!(
            code == 422 && found.contains(&message),
            "{message}: {answer}"
        );
        let (code, answer) = send(&server, "POST", DEFINITIONS, &right);
        assert_eq!(code, 201, "{message}: {answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_scale_of_a_custom_object_has_its_selector_and_takes_every_patch() {
    let server = Server::new(1);
    let mut one = version("v1", true);
    one["subresources"]["scale"] = json!({"specReplicasPath": ".spec.size",
        "statusReplicasPath": ".status.size", "labelSelectorPath": ".status.selector"});
    assert_eq!(
        send(&server, "POST", DEFINITIONS, &boats(json!([one]))).0,
        201
    );
    let path = "/apis/trial.test/v1/namespaces/default/boats";
    let boat = json!({"apiVersion": "trial.test/v1", "kind": "Boat", "metadata": {"name": "b"}, "spec": {"size": 2}});
    assert_eq!(send(&server, "POST", path, &boat).0, 201);
    let status = json!({"status": {"size": 2, "selector": "app=p,tier in (a,b)"}});
    assert_eq!(
        send(&server, "PATCH", &format!("{path}/b/status"), &status).0,
        200
    );
    let at = format!("{path}/b/scale");
    let (_, scale) = send(&server, "GET", &at, &Value::Null);
    let wanted = json!({"replicas": 2, "selector": "app=p,tier in (a,b)"});
    assert_eq!(scale["status"], wanted);
    for (kind, patch, replicas) in [
        (
            "json-patch+json",
            json!([{"op": "replace", "path": "/spec/replicas", "value": 4}]),
            4,
        ),
        ("merge-patch+json", json!({"spec": {"replicas": 5}}), 5),
        (
            "apply-patch+yaml",
            json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "b"}, "spec": {"replicas": 6}}),
            6,
        ),
    ] {
        let request = http::Request::patch(format!("{at}?fieldManager=m"))
            .header("content-type", format!("application/{kind}"))
            .body(patch.to_string().into_bytes());
        let reply = server.serve(&User::admin(), &request.unwrap());
        assert_eq!(reply.status, 200, "{kind}");
        let (_, boat) = send(&server, "GET", &format!("{path}/b"), &Value::Null);
        assert_eq!(boat["spec"]["size"], replicas);
    }
}

#[tokio::test(start_paused = true)]
async fn a_custom_object_that_no_storage_takes_is_refused() {
    let server = Server::new(1);
    assert_eq!(
        send(
            &server,
            "POST",
            DEFINITIONS,
            &boats(json!([version("v1", true)]))
        )
        .0,
        201
    );
    let path = "/apis/trial.test/v1/namespaces/default/boats";
    let boat = |size: usize| json!({"apiVersion": "trial.test/v1", "kind": "Boat", "metadata": {"name": "b"}, "spec": {"big": "x".repeat(size)}});
    let (code, answer) = send(&server, "POST", path, &boat(1536 * 1024));
    assert_eq!(
        (code, &answer["message"]),
        (500, &json!("etcdserver: request is too large"))
    );
    assert_eq!(send(&server, "POST", path, &boat(1024 * 1024)).0, 201);
    let more = json!({"spec": {"more": "x".repeat(512 * 1024)}});
    assert_eq!(send(&server, "PATCH", &format!("{path}/b"), &more).0, 500);
}

#[tokio::test(start_paused = true)]
async fn the_scale_of_a_deployment_has_its_whole_selector() {
    let server = Server::new(1);
    let template = json!({"metadata": {"labels": {"a": "b", "c": "d"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let expressions = json!([{"key": "c", "operator": "In", "values": ["e", "d"]}]);
    let selector = json!({"matchLabels": {"a": "b"}, "matchExpressions": expressions});
    let deployment =
        json!({"metadata": {"name": "d"}, "spec": {"selector": selector, "template": template}});
    let path = "/apis/apps/v1/namespaces/default/deployments";
    assert_eq!(send(&server, "POST", path, &deployment).0, 201);
    let (_, scale) = send(&server, "GET", &format!("{path}/d/scale"), &Value::Null);
    assert_eq!(scale["status"]["selector"], "a=b,c in (d,e)");
}
