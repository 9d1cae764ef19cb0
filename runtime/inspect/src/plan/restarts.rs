//! Changes that end processes. Pure.

use serde_json::Value;

use crate::plan::changes::Written;
use crate::plan::planned::{Action, Change, Restart};

/// Returns the restart that a change causes, if any.
pub(crate) fn restart(change: &Change, written: &Written<'_>) -> Option<Restart> {
    if written
        .writes
        .iter()
        .any(|write| write.subresource == "eviction" && write.code < 400)
    {
        return build_restart(change, "the Pod is evicted".to_owned());
    }
    match (change.group.as_str(), change.kind.as_str()) {
        ("apps", "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet") => {
            of_pods(change, written)
        }
        ("batch", "Job" | "CronJob") if is_removal(change) => {
            build_restart(change, "its Pods end".to_owned())
        }
        ("", "Pod") if is_removal(change) => build_restart(change, "the Pod ends".to_owned()),
        ("", "Pod") if differs(written, &["spec", "containers"]) => build_restart(
            change,
            "containers whose image changes are restarted".to_owned(),
        ),
        ("", "Node") if is_removal(change) => build_restart(change, "its Pods are lost".to_owned()),
        ("", "Namespace") if is_removal(change) => {
            build_restart(change, "all that is in it ends".to_owned())
        }
        _ => None,
    }
}

fn build_restart(change: &Change, what: String) -> Option<Restart> {
    Some(Restart {
        object: change.object(),
        what,
    })
}

fn is_removal(change: &Change) -> bool {
    matches!(change.action, Action::Delete | Action::Release)
}

fn of_pods(change: &Change, written: &Written<'_>) -> Option<Restart> {
    let (before, after) = (written.before()?, written.after());
    let pods = replicas(before);
    let Some(after) = after.filter(|_| !is_removal(change)) else {
        return build_restart(change, format!("{pods} to end"));
    };
    let wanted = |object: &Value| object["spec"]["replicas"].as_i64();
    let fewer = match (wanted(before), wanted(after)) {
        (Some(was), Some(is)) if is < was => was - is,
        _ => 0,
    };
    let ended = format!("{fewer} of {pods} to end");
    if wanted(after) == Some(0) && fewer > 0 {
        return build_restart(change, ended);
    }
    if differs(written, &["spec", "template"]) && change.kind != "ReplicaSet" {
        let how = how_replaced(&change.kind, after);
        return build_restart(
            change,
            match fewer {
                0 => format!("{pods} to replace, {how}"),
                _ => format!("{ended}, the others to replace, {how}"),
            },
        );
    }
    if fewer > 0 {
        return build_restart(change, ended);
    }
    None
}

/// How Pods are replaced, by the strategy.
fn how_replaced(kind: &str, after: &Value) -> String {
    let (strategy, usual) = match kind {
        "Deployment" => (&after["spec"]["strategy"], "25%"),
        _ => (&after["spec"]["updateStrategy"], "1"),
    };
    let missing = match &strategy["rollingUpdate"]["maxUnavailable"] {
        Value::String(share) => share.clone(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => usual.to_owned(),
    };
    match strategy["type"].as_str() {
        Some("OnDelete") => "each when a user deletes it (OnDelete)".to_owned(),
        Some("Recreate") => "all at once (Recreate)".to_owned(),
        _ if after["spec"]["paused"] == true => "once it is no longer paused".to_owned(),
        _ if kind == "StatefulSet" && missing == "1" => "one after another".to_owned(),
        _ if matches!(missing.as_str(), "0" | "0%") => {
            "each once its successor is ready (RollingUpdate, maxUnavailable 0)".to_owned()
        }
        _ => format!("a few at a time (RollingUpdate, maxUnavailable {missing})"),
    }
}

/// How many Pods it has.
fn replicas(object: &Value) -> String {
    let status = &object["status"];
    let counted = [
        &status["replicas"],
        &status["currentNumberScheduled"],
        &object["spec"]["replicas"],
    ];
    match counted.into_iter().find_map(Value::as_i64) {
        Some(1) => "1 Pod".to_owned(),
        Some(many) => format!("{many} Pods"),
        None => "Pods".to_owned(),
    }
}

fn differs(written: &Written<'_>, path: &[&str]) -> bool {
    let at = |object: Option<&Value>| {
        let mut value = object.cloned().unwrap_or_default();
        for name in path {
            value = value[*name].take();
        }
        value
    };
    let (before, after) = (at(written.before()), at(written.after()));
    !before.is_null() && !after.is_null() && before != after
}

#[cfg(test)]
mod tests {
    use http::Method;
    use lifecycle_simulator::mirror::Write;
    use serde_json::json;

    use super::*;

    fn write(kind: &str, before: Value, after: Option<Value>) -> Write {
        Write {
            method: Method::PATCH,
            uri: String::new(),
            content_type: String::new(),
            body: Vec::new(),
            group: if kind == "Pod" { "" } else { "apps" }.to_owned(),
            plural: String::new(),
            kind: kind.to_owned(),
            namespace: "ns".to_owned(),
            name: "a".to_owned(),
            subresource: String::new(),
            manager: "m".to_owned(),
            code: 200,
            refusal: None,
            before: Some(before),
            after,
        }
    }

    #[track_caller]
    fn check(kind: &str, before: Value, after: Option<Value>, expected: Option<&str>) {
        let write = write(kind, before, after);
        let written = Written {
            writes: vec![&write],
        };
        let change = written.change().expect("something changes");
        let found = restart(&change, &written).map(|restart| restart.what);
        assert_eq!(found.as_deref(), expected);
    }

    fn workload(image: &str, replicas: u8, strategy: Value) -> Value {
        json!({ "metadata": {}, "status": { "replicas": 3 }, "spec": {
            "replicas": replicas, "template": { "spec": { "image": image } },
            "strategy": strategy.clone(), "updateStrategy": strategy,
        } })
    }

    #[test]
    fn another_template_replaces_pods_as_the_strategy_says() {
        for (kind, strategy, expected) in [
            (
                "Deployment",
                "RollingUpdate",
                "3 Pods to replace, a few at a time (RollingUpdate, maxUnavailable 25%)",
            ),
            (
                "StatefulSet",
                "RollingUpdate",
                "3 Pods to replace, one after another",
            ),
            (
                "Deployment",
                "Recreate",
                "3 Pods to replace, all at once (Recreate)",
            ),
            (
                "DaemonSet",
                "OnDelete",
                "3 Pods to replace, each when a user deletes it (OnDelete)",
            ),
        ] {
            let of = |image| workload(image, 3, json!({ "type": strategy }));
            check(kind, of("a:1"), Some(of("a:2")), Some(expected));
        }
    }

    #[test]
    fn of_fewer_replicas_with_another_template_both_are_told() {
        let of = |image, replicas| workload(image, replicas, json!({ "type": "Recreate" }));
        let both = "2 of 3 Pods to end, the others to replace, all at once (Recreate)";
        check("Deployment", of("a:1", 3), Some(of("a:2", 1)), Some(both));
        let none = Some("3 of 3 Pods to end");
        check("Deployment", of("a:1", 3), Some(of("a:2", 0)), none);
    }

    #[test]
    fn fewer_replicas_end_pods_and_more_end_none() {
        let of = |replicas| workload("a:1", replicas, Value::Null);
        check(
            "StatefulSet",
            of(3),
            Some(of(1)),
            Some("2 of 3 Pods to end"),
        );
        check("StatefulSet", of(1), Some(of(3)), None);
    }

    #[test]
    fn what_is_deleted_ends() {
        let of = workload("a:1", 3, Value::Null);
        check("Deployment", of, None, Some("3 Pods to end"));
        check("Pod", json!({ "metadata": {} }), None, Some("the Pod ends"));
    }

    #[test]
    fn a_label_ends_nothing() {
        let mut labelled = workload("a:1", 3, Value::Null);
        labelled["metadata"]["labels"] = json!({ "a": "b" });
        check(
            "Deployment",
            workload("a:1", 3, Value::Null),
            Some(labelled),
            None,
        );
    }
}
