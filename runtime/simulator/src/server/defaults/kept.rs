//! Defaults of kinds that are only stored: admission and autoscalers.

use serde_json::{Map, Value, json};

use super::super::object::{fill, map};
use super::{inner, items};

type Object = Map<String, Value>;

/// Sets the defaults of admission webhooks.
pub(super) fn webhooks(object: &mut Value, mutating: bool) {
    for webhook in items(object, "webhooks") {
        fill(webhook, "failurePolicy", "Fail");
        matched(webhook);
        fill(webhook, "timeoutSeconds", 10);
        if mutating {
            fill(webhook, "reinvocationPolicy", "Never");
        }
        rules(webhook, "rules");
        let service = webhook.get_mut("clientConfig");
        let service = service.and_then(|config| config.get_mut("service"));
        if let Some(service) = service.and_then(Value::as_object_mut) {
            fill(service, "port", 443);
        }
    }
}

/// Sets the defaults of policies and their bindings.
pub(super) fn policy(object: &mut Value, is_bound: bool) {
    let spec = map(object, "spec");
    let matches = if is_bound {
        "matchResources"
    } else {
        fill(spec, "failurePolicy", "Fail");
        "matchConstraints"
    };
    if let Some(resources) = spec.get_mut(matches).and_then(Value::as_object_mut) {
        matched(resources);
        rules(resources, "resourceRules");
        rules(resources, "excludeResourceRules");
    }
}

fn matched(object: &mut Object) {
    fill(object, "matchPolicy", "Equivalent");
    fill(object, "namespaceSelector", json!({}));
    fill(object, "objectSelector", json!({}));
}

fn rules(object: &mut Object, field: &str) {
    for rule in inner(object, field) {
        fill(rule, "scope", "*");
    }
}

/// How much of something runs.
pub(super) fn autoscaler(object: &mut Value) {
    let spec = map(object, "spec");
    fill(spec, "minReplicas", 1);
    if spec
        .get("metrics")
        .and_then(Value::as_array)
        .is_none_or(Vec::is_empty)
    {
        let target = json!({ "type": "Utilization", "averageUtilization": 80 });
        let metric = json!({ "type": "Resource", "resource": { "name": "cpu", "target": target } });
        spec.insert("metrics".to_owned(), json!([metric]));
    }
    if let Some(behavior) = spec.get_mut("behavior") {
        let percent = json!({ "type": "Percent", "value": 100, "periodSeconds": 15 });
        let pods = json!({ "type": "Pods", "value": 4, "periodSeconds": 15 });
        let up = map(behavior, "scaleUp");
        fill(up, "stabilizationWindowSeconds", 0);
        scaling(up, json!([pods, percent]));
        scaling(map(behavior, "scaleDown"), json!([percent]));
    }
}

fn scaling(rules: &mut Object, policies: Value) {
    fill(rules, "selectPolicy", "Max");
    fill(rules, "policies", policies);
}
