//! Jobs: their Pods run to completion, and the Job reports the result.

use serde_json::{Value, json};

use super::kinds::ObjectKey;
use super::object::{has_condition, is_leaving, letters, number, text};
use super::operation::Operation;
use super::pods;
use super::view::View;
use super::workloads::{controlled, pod, removed, report};

/// Default number of failed Pods that a Job tolerates.
const RETRIES: i64 = 6;

pub(super) fn operations(view: &View<'_>, key: &ObjectKey) -> Vec<Operation> {
    let Some(job) = view.cache.get(key).filter(|j| !is_leaving(j)) else {
        return Vec::new();
    };
    let is_over = has_condition(job, "Complete", "True") || has_condition(job, "Failed", "True");
    let is_suspended = job.pointer("/spec/suspend") == Some(&json!(true));
    if is_over || is_suspended {
        return Vec::new();
    }
    let there = controlled(view.cache, job, "Pod");
    let count = |phase: &str| {
        there
            .iter()
            .filter(|(_, p)| pods::has_phase(p, phase))
            .count()
    };
    let (done, failed) = (count("Succeeded"), count("Failed"));
    let active: Vec<_> = there.iter().filter(|(_, p)| !pods::is_over(p)).collect();
    let wanted = size(job, "/spec/completions", 1);
    let at_once = size(job, "/spec/parallelism", 1);
    let retries = number(job, "/spec/backoffLimit").unwrap_or(RETRIES);
    let start = text(job, "/status/startTime").unwrap_or_else(|| view.now.clone());
    let has_failed = i64::try_from(failed).is_ok_and(|n| n > retries);
    if done >= wanted || has_failed {
        return finish_job(
            view,
            (key, job),
            (&start, done, failed),
            has_failed,
            &active,
        );
    }
    let mut operations = Vec::new();
    let more = (wanted - done).min(at_once).saturating_sub(active.len());
    let name = |n: usize| {
        let all = letters(&format!("{} {n}", super::object::uid(job)));
        format!("{}-{}", key.name, &all[..5])
    };
    for name in (there.len()..there.len() + more).map(name) {
        let (at, made) = pod((key, job), &name, &job["spec"]["template"]);
        operations.push(Operation::Create(at, made));
    }
    let ready = active.iter().filter(|(_, p)| pods::is_ready(p)).count();
    let status = json!({
        "startTime": start, "active": active.len(), "ready": ready, "succeeded": done, "failed": failed,
    });
    operations.extend(report(key, job, status));
    operations
}

fn size(job: &Value, path: &str, otherwise: i64) -> usize {
    let size = number(job, path).unwrap_or(otherwise);
    usize::try_from(size).unwrap_or_default()
}

fn finish_job(
    view: &View<'_>,
    (key, job): (&ObjectKey, &Value),
    (start, done, failed): (&str, usize, usize),
    has_failed: bool,
    active: &[&(&ObjectKey, &Value)],
) -> Vec<Operation> {
    if !active.is_empty() {
        let going = active.iter().filter(|(_, pod)| !is_leaving(pod));
        return going.map(|pod| removed(pod)).collect();
    }
    let condition = |kind: &str, reason: &str| {
        json!({
            "type": kind, "status": "True", "reason": reason, "message": "",
            "lastProbeTime": view.now, "lastTransitionTime": view.now,
        })
    };
    // The target comes before the end, as the API server insists.
    let conditions = match has_failed {
        true => [
            condition("FailureTarget", "BackoffLimitExceeded"),
            condition("Failed", "BackoffLimitExceeded"),
        ],
        false => [
            condition("SuccessCriteriaMet", "CompletionsReached"),
            condition("Complete", "CompletionsReached"),
        ],
    };
    let mut status = json!({
        "startTime": start, "active": 0, "ready": 0, "succeeded": done, "failed": failed,
        "uncountedTerminatedPods": {}, "conditions": conditions,
    });
    if !has_failed {
        status["completionTime"] = json!(view.now);
    }
    report(key, job, status).into_iter().collect()
}
