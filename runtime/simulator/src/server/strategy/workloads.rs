//! Validation of the kinds that make Pods from a template, beyond metadata and schema.

use serde_json::{Value, json};

use super::cron;
use crate::server::failure::Cause;
use crate::server::object::{list, name, text};
use crate::server::{pods, selectors};

const TEMPLATE: &str = "spec.template";

/// Returns the errors of an object that makes Pods, by the plural of its kind.
pub(crate) fn validate(plural: &str, object: &Value) -> Vec<Cause> {
    let spec = &object["spec"];
    match plural {
        "deployments" => deployment(spec),
        "replicasets" => replica_set(spec),
        "statefulsets" => stateful_set(spec),
        "daemonsets" => daemon_set(spec),
        "replicationcontrollers" => controller(spec),
        "jobs" => job(spec, "spec"),
        "cronjobs" => cron_job(spec),
        _ => Vec::new(),
    }
}

fn deployment(spec: &Value) -> Vec<Cause> {
    let mut causes = not_negative(spec, "spec", &["replicas"]);
    causes.extend(of_selector(spec, "deployment"));
    causes.extend(of_set(spec, "ReplicaSet"));
    let strategy = &spec["strategy"];
    let known = ["Recreate", "RollingUpdate"];
    let kind = text(strategy, "type");
    if kind == "Recreate" && strategy["rollingUpdate"].is_object() {
        let detail = "may not be specified when strategy `type` is 'Recreate'";
        causes.push(Cause::forbidden("spec.strategy.rollingUpdate", detail));
    }
    if !known.contains(&kind) {
        let shown = format!("{{\"Type\":{kind:?},\"RollingUpdate\":null}}");
        causes.push(Cause::unsupported_text("spec.strategy", &shown, &known));
    }
    causes.extend(not_negative(
        spec,
        "spec",
        &[
            "minReadySeconds",
            "revisionHistoryLimit",
            "progressDeadlineSeconds",
        ],
    ));
    let ready = spec["minReadySeconds"].as_i64().unwrap_or(0);
    let deadline = &spec["progressDeadlineSeconds"];
    if deadline.as_i64().is_some_and(|seconds| seconds <= ready) {
        let detail = "must be greater than minReadySeconds";
        causes.push(Cause::invalid(
            "spec.progressDeadlineSeconds",
            deadline,
            detail,
        ));
    }
    causes
}

fn replica_set(spec: &Value) -> Vec<Cause> {
    let mut causes = not_negative(spec, "spec", &["replicas", "minReadySeconds"]);
    causes.extend(of_selector(spec, "deployment"));
    causes.extend(of_set(spec, "ReplicaSet"));
    causes
}

fn stateful_set(spec: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let policy = text(spec, "podManagementPolicy");
    if !["OrderedReady", "Parallel"].contains(&policy) {
        let detail = "must be 'OrderedReady' or 'Parallel'";
        let path = "spec.podManagementPolicy";
        causes.push(Cause::invalid(path, &policy.into(), detail));
    }
    let strategy = &spec["updateStrategy"];
    match text(strategy, "type") {
        "OnDelete" if strategy["rollingUpdate"].is_object() => {
            let shown = format!(
                "{{\"Partition\":{},\"MaxUnavailable\":{}}}",
                strategy["rollingUpdate"]["partition"], strategy["rollingUpdate"]["maxUnavailable"]
            );
            let detail = "only allowed for updateStrategy 'RollingUpdate'";
            let path = "spec.updateStrategy.rollingUpdate";
            causes.push(Cause::invalid_text(path, &shown, detail));
        }
        "RollingUpdate" => {
            let path = "spec.updateStrategy.rollingUpdate";
            causes.extend(not_negative(
                &strategy["rollingUpdate"],
                path,
                &["partition"],
            ));
        }
        "OnDelete" => {}
        kind => {
            let shown = format!("{{\"Type\":{kind:?},\"RollingUpdate\":null}}");
            let detail = "must be 'RollingUpdate' or 'OnDelete'";
            causes.push(Cause::invalid_text("spec.updateStrategy", &shown, detail));
        }
    }
    causes.extend(not_negative(spec, "spec", &["replicas", "minReadySeconds"]));
    causes.extend(not_negative(&spec["ordinals"], "spec.ordinals", &["start"]));
    causes.extend(of_selector(spec, "statefulset"));
    causes.extend(matching(spec));
    causes.extend(pods::of_template(&with_claims(spec), TEMPLATE));
    causes.extend(runs_for_ever(spec, "StatefulSet"));
    causes
}

/// Returns the template of a StatefulSet with the volumes that its claims become.
fn with_claims(spec: &Value) -> Value {
    let mut template = spec["template"].clone();
    let claims = list(spec, "volumeClaimTemplates").iter().map(|claim| {
        let name = name(claim);
        json!({"name": name, "persistentVolumeClaim": {"claimName": name}})
    });
    let own = list(&template["spec"], "volumes").to_vec();
    let is_claimed = |volume: &Value| claims.clone().any(|claim| claim["name"] == volume["name"]);
    let mut volumes: Vec<Value> = own.into_iter().filter(|one| !is_claimed(one)).collect();
    volumes.extend(claims.clone());
    if !volumes.is_empty() {
        template["spec"]["volumes"] = volumes.into();
    }
    template
}

fn daemon_set(spec: &Value) -> Vec<Cause> {
    let mut causes = selectors::validate(&spec["selector"], "spec.selector");
    causes.extend(mismatch(spec));
    if spec["selector"].is_object() && selectors::is_empty(&spec["selector"]) {
        let detail = "empty selector is invalid for daemonset";
        causes.push(Cause::invalid("spec.selector", &spec["selector"], detail));
    }
    causes.extend(pods::of_template(&spec["template"], TEMPLATE));
    causes.extend(runs_for_ever(spec, "DaemonSet"));
    let fields = ["minReadySeconds", "revisionHistoryLimit"];
    causes.extend(not_negative(spec, "spec", &fields));
    let kind = text(&spec["updateStrategy"], "type");
    let known = ["RollingUpdate", "OnDelete"];
    if !known.contains(&kind) {
        let path = "spec.updateStrategy.type";
        causes.push(Cause::unsupported(path, &kind.into(), &known));
    }
    causes
}

/// An absent selector of a ReplicationController becomes the labels of its template.
fn controller(spec: &Value) -> Vec<Cause> {
    let mut causes = not_negative(spec, "spec", &["minReadySeconds", "replicas"]);
    if spec["template"].is_null() {
        causes.push(Cause::required(TEMPLATE, ""));
        return causes;
    }
    let labels = &spec["template"]["metadata"]["labels"];
    let wanted = spec["selector"].as_object();
    let mut wanted = wanted.into_iter().flatten();
    if !wanted.all(|(key, value)| labels.get(key) == Some(value)) {
        causes.push(unmatched(labels));
    }
    causes.extend(pods::of_template(&spec["template"], TEMPLATE));
    causes.extend(runs_for_ever(spec, "ReplicationController"));
    causes
}

fn job(spec: &Value, at: &str) -> Vec<Cause> {
    let fields = [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
    ];
    let mut causes = not_negative(spec, at, &fields);
    let mode = text(spec, "completionMode");
    if mode == "Indexed" && spec["completions"].is_null() {
        let detail = "when completion mode is Indexed";
        causes.push(Cause::required(format!("{at}.completions"), detail));
    }
    if !["", "NonIndexed", "Indexed"].contains(&mode) {
        let known = ["NonIndexed", "Indexed"];
        let path = format!("{at}.completionMode");
        causes.push(Cause::unsupported(path, &mode.into(), &known));
    }
    causes.extend(pods::of_template(
        &spec["template"],
        &format!("{at}.template"),
    ));
    let path = format!("{at}.template.spec.restartPolicy");
    match text(&spec["template"]["spec"], "restartPolicy") {
        "" | "Always" => {
            let detail = "valid values: \"OnFailure\", \"Never\"";
            causes.push(Cause::required(path, detail));
        }
        "OnFailure" | "Never" => {}
        other => causes.push(Cause::unsupported(
            path,
            &other.into(),
            &["OnFailure", "Never"],
        )),
    }
    let labels = &spec["template"]["metadata"]["labels"];
    if spec["manualSelector"] == true && !selectors::matches(&spec["selector"], labels) {
        causes.push(unmatched(labels));
    }
    causes
}

fn cron_job(spec: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let schedule = text(spec, "schedule");
    let path = "spec.schedule";
    if schedule.is_empty() {
        causes.push(Cause::required(path, ""));
    } else {
        let wrong = cron::error(schedule);
        causes.extend(Cause::all_invalid(path, &schedule.into(), wrong));
        if schedule.contains("TZ") {
            let detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
            causes.push(Cause::invalid(path, &schedule.into(), detail));
        }
    }
    causes.extend(not_negative(spec, "spec", &["startingDeadlineSeconds"]));
    if spec["timeZone"] == "" {
        let detail = "timeZone must be nil or non-empty string";
        causes.push(Cause::invalid("spec.timeZone", &"".into(), detail));
    }
    if text(spec, "timeZone").eq_ignore_ascii_case("Local") {
        let detail =
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
        causes.push(Cause::invalid("spec.timeZone", &spec["timeZone"], detail));
    }
    let policy = text(spec, "concurrencyPolicy");
    let known = ["Allow", "Forbid", "Replace"];
    if !known.contains(&policy) {
        let path = "spec.concurrencyPolicy";
        causes.push(Cause::unsupported(path, &policy.into(), &known));
    }
    causes.extend(job(&spec["jobTemplate"]["spec"], "spec.jobTemplate.spec"));
    let limits = ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"];
    causes.extend(not_negative(spec, "spec", &limits));
    causes
}

/// The name of a new CronJob leaves room for what its Jobs have after it.
pub(crate) fn of_new_cron_job(object: &Value) -> Vec<Cause> {
    if name(object).len() <= 52 {
        return Vec::new();
    }
    let detail = "must be no more than 52 characters";
    vec![Cause::invalid(
        "metadata.name",
        &name(object).into(),
        detail,
    )]
}

/// A set has a template that its selector matches, and Pods that run until they are deleted.
fn of_set(spec: &Value, kind: &str) -> Vec<Cause> {
    let mut causes: Vec<Cause> = matching(spec).into_iter().collect();
    causes.extend(pods::of_template(&spec["template"], TEMPLATE));
    causes.extend(runs_for_ever(spec, kind));
    causes
}

/// An empty selector has an error of its own.
fn matching(spec: &Value) -> Option<Cause> {
    let is_empty = !spec["selector"].is_null() && selectors::is_empty(&spec["selector"]);
    mismatch(spec).filter(|_| !is_empty)
}

fn runs_for_ever(spec: &Value, kind: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let inner = &spec["template"]["spec"];
    let policy = &inner["restartPolicy"];
    if policy.as_str().is_some_and(|policy| policy != "Always") {
        let path = "spec.template.spec.restartPolicy";
        causes.push(Cause::unsupported(path, policy, &["Always"]));
    }
    if !inner["activeDeadlineSeconds"].is_null() {
        let path = "spec.template.spec.activeDeadlineSeconds";
        let detail = format!("activeDeadlineSeconds in {kind} is not Supported");
        causes.push(Cause::forbidden(path, &detail));
    }
    causes
}

fn of_selector(spec: &Value, kind: &str) -> Vec<Cause> {
    let wanted = &spec["selector"];
    if wanted.is_null() {
        return vec![Cause::required("spec.selector", "")];
    }
    let mut causes = selectors::validate(wanted, "spec.selector");
    if selectors::is_empty(wanted) {
        let detail = format!("empty selector is invalid for {kind}");
        causes.push(Cause::invalid("spec.selector", wanted, &detail));
    }
    causes
}

/// The Pods of a template are selected by the object that they belong to.
fn mismatch(spec: &Value) -> Option<Cause> {
    let labels = &spec["template"]["metadata"]["labels"];
    (!selectors::matches(&spec["selector"], labels)).then(|| unmatched(labels))
}

fn unmatched(labels: &Value) -> Cause {
    let detail = "`selector` does not match template `labels`";
    Cause::invalid("spec.template.metadata.labels", labels, detail)
}

/// Returns an error for each number below zero.
pub(crate) fn not_negative(spec: &Value, at: &str, fields: &[&str]) -> Vec<Cause> {
    let detail = "must be greater than or equal to 0";
    let wrong = fields
        .iter()
        .filter(|field| spec[**field].as_i64().is_some_and(|number| number < 0));
    wrong
        .map(|field| Cause::invalid(format!("{at}.{field}"), &spec[*field], detail))
        .collect()
}
