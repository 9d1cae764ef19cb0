//! Validation of Deployments and similar kinds, beyond metadata and schema.

use serde_json::Value;

use super::failure::Cause;
use super::object::text;
use super::pods;

/// Returns the errors of a Deployment.
pub(crate) fn deployment(object: &Value) -> Vec<Cause> {
    let spec = &object["spec"];
    let mut causes = Vec::new();
    for field in [
        "replicas",
        "minReadySeconds",
        "revisionHistoryLimit",
        "progressDeadlineSeconds",
    ] {
        if spec[field].as_i64().is_some_and(|number| number < 0) {
            let detail = "must be greater than or equal to 0";
            causes.push(Cause::invalid(
                format!("spec.{field}"),
                &spec[field],
                detail,
            ));
        }
    }
    causes.extend(of_selector(spec));
    let path = "spec.template.spec";
    causes.extend(pods::of_spec(&spec["template"]["spec"], path));
    let policy = &spec["template"]["spec"]["restartPolicy"];
    if policy.as_str().is_some_and(|policy| policy != "Always") {
        causes.push(Cause::unsupported(
            format!("{path}.restartPolicy"),
            policy,
            &["Always"],
        ));
    }
    let strategy = &spec["strategy"];
    if text(strategy, "type") == "Recreate" && strategy["rollingUpdate"].is_object() {
        let detail = "may not be specified when strategy `type` is 'Recreate'";
        causes.push(Cause::forbidden("spec.strategy.rollingUpdate", detail));
    }
    causes
}

/// The Pods of a template are selected by the object that they belong to.
fn of_selector(spec: &Value) -> Vec<Cause> {
    let wanted = &spec["selector"];
    let detail = "`selector` does not match template `labels`";
    let labels = &spec["template"]["metadata"]["labels"];
    let mismatch = Cause::invalid("spec.template.metadata.labels", labels, detail);
    if wanted.is_null() {
        return vec![Cause::required("spec.selector", ""), mismatch];
    }
    if wanted.as_object().is_some_and(serde_json::Map::is_empty) {
        let detail = "empty selector is invalid for deployment";
        return vec![Cause::invalid("spec.selector", wanted, detail)];
    }
    let matches = wanted["matchLabels"].as_object().is_none_or(|all| {
        all.iter()
            .all(|(name, value)| labels.get(name) == Some(value))
    });
    if matches { Vec::new() } else { vec![mismatch] }
}
