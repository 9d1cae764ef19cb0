//! Validation of PodDisruptionBudgets, HorizontalPodAutoscalers and configurations of webhooks.

use serde_json::Value;

use crate::server::failure::Cause;
use crate::server::names;
use crate::server::object::{list, text};
use crate::server::selectors;

/// Returns the errors of a PodDisruptionBudget.
pub(crate) fn budget(object: &Value) -> Vec<Cause> {
    let spec = &object["spec"];
    let (least, most) = (&spec["minAvailable"], &spec["maxUnavailable"]);
    let mut causes = Vec::new();
    if !least.is_null() && !most.is_null() {
        let shown = format!(
            "{{\"MinAvailable\":{least},\"Selector\":{},\"MaxUnavailable\":{most},\"UnhealthyPodEvictionPolicy\":{}}}",
            spec["selector"], spec["unhealthyPodEvictionPolicy"]
        );
        let detail = "minAvailable and maxUnavailable cannot be both set";
        causes.push(Cause::invalid_text("spec", &shown, detail));
    }
    for field in ["minAvailable", "maxUnavailable"] {
        let number = &spec[field];
        if number.as_i64().is_some_and(|number| number < 0) {
            let detail = "must be greater than or equal to 0";
            causes.push(Cause::invalid(format!("spec.{field}"), number, detail));
        }
        if let Some(part) = number.as_str() {
            causes.extend(of_percentage(part, &format!("spec.{field}")));
        }
    }
    causes.extend(selectors::validate(&spec["selector"], "spec.selector"));
    causes
}

fn of_percentage(part: &str, path: &str) -> Option<Cause> {
    let digits = part.strip_suffix('%').filter(|digits| !digits.is_empty());
    let number = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let detail = match number.map(str::parse::<u64>) {
        Some(Ok(0..=100)) => return None,
        Some(_) => "must not be greater than 100%",
        None => {
            "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for \
             validation is '[0-9]+%')"
        }
    };
    Some(Cause::invalid(path, &part.into(), detail))
}

/// Returns the errors of a HorizontalPodAutoscaler.
pub(crate) fn autoscaler(object: &Value) -> Vec<Cause> {
    let spec = &object["spec"];
    let mut causes = Vec::new();
    let most = spec["maxReplicas"].as_i64().unwrap_or(0);
    let path = "spec.maxReplicas";
    if most < 1 {
        causes.push(Cause::invalid(path, &most.into(), "must be greater than 0"));
    }
    if spec["minReplicas"]
        .as_i64()
        .is_some_and(|least| most < least)
    {
        let detail = "must be greater than or equal to `minReplicas`";
        causes.push(Cause::invalid(path, &most.into(), detail));
    }
    for field in ["kind", "name"] {
        if text(&spec["scaleTargetRef"], field).is_empty() {
            let path = format!("spec.scaleTargetRef.{field}");
            causes.push(Cause::required(path, ""));
        }
    }
    let version = &spec["scaleTargetRef"]["apiVersion"];
    if !version
        .as_str()
        .is_some_and(|version| version.contains('/'))
    {
        let path = "spec.scaleTargetRef.apiVersion";
        let shown = version.as_str().unwrap_or_default();
        let detail = "apiVersion must specify API group";
        causes.push(Cause::invalid(path, &shown.into(), detail));
    }
    causes
}

/// Returns the errors of a configuration of webhooks.
pub(crate) fn webhooks(object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut known: Vec<&str> = Vec::new();
    for (index, hook) in list(object, "webhooks").iter().enumerate() {
        let at = format!("webhooks[{index}]");
        let name = text(hook, "name");
        if !name.is_empty() && known.contains(&name) {
            causes.push(Cause::duplicate(format!("{at}.name"), &name.into()));
        }
        known.push(name);
        causes.extend(of_webhook(hook, &at));
        if list(hook, "admissionReviewVersions").is_empty() {
            let path = format!("{at}.admissionReviewVersions");
            causes.push(Cause::required(path, "must specify one of v1, v1beta1"));
        }
    }
    causes
}

fn of_webhook(hook: &Value, at: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let name = text(hook, "name");
    let path = format!("{at}.name");
    let wrong = names::subdomain(name);
    if name.is_empty() {
        causes.push(Cause::required(path, ""));
    } else if !wrong.is_empty() {
        causes.extend(Cause::all_invalid(path, &name.into(), wrong));
    } else if name.split('.').count() < 3 {
        let detail = "should be a domain with at least three segments separated by dots";
        causes.push(Cause::invalid(path, &name.into(), detail));
    }
    let known = ["None", "NoneOnDryRun"];
    let effects = &hook["sideEffects"];
    let path = format!("{at}.sideEffects");
    if effects.is_null() {
        let detail = "must specify one of None, NoneOnDryRun";
        causes.push(Cause::required(path, detail));
    } else if !known.iter().any(|known| effects == known) {
        causes.push(Cause::unsupported(path, effects, &known));
    }
    let seconds = &hook["timeoutSeconds"];
    if seconds
        .as_i64()
        .is_some_and(|seconds| !(1..=30).contains(&seconds))
    {
        let detail = "the timeout value must be between 1 and 30 seconds";
        let path = format!("{at}.timeoutSeconds");
        causes.push(Cause::invalid(path, seconds, detail));
    }
    let client = &hook["clientConfig"];
    if client["url"].is_null() == client["service"].is_null() {
        let detail = "exactly one of url or service is required";
        causes.push(Cause::required(format!("{at}.clientConfig"), detail));
    }
    causes
}
