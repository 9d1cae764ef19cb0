//! Rows of Pods, and of the kinds that create them.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::PrinterRow;
use super::age::{human, since};
use super::cells::{
    age, given, is_deleting, items, joined_field, labels, name, number, selector, text, text_or,
    time, truth,
};

pub(super) const PRINTERS: &[PrinterRow] = &[
    (
        "",
        "Pod",
        "Name|Ready|Status|Restarts|Age|+IP|+Node|+Nominated Node|+Readiness Gates",
        pod,
    ),
    (
        "",
        "PodTemplate",
        "Name|Containers|Images|Pod Labels",
        pod_template,
    ),
    (
        "apps",
        "Deployment",
        "Name|Ready|Up-to-date|Available|Age|+Containers|+Images|+Selector",
        deployment,
    ),
    (
        "apps",
        "ReplicaSet",
        "Name|Desired:integer|Current:integer|Ready:integer|Age|+Containers|+Images|+Selector",
        replica_set,
    ),
    (
        "apps",
        "StatefulSet",
        "Name|Ready|Age|+Containers|+Images",
        stateful_set,
    ),
    (
        "apps",
        "DaemonSet",
        "Name|Desired:integer|Current:integer|Ready:integer|Up-to-date:integer|Available:integer|Node Selector|Age|+Containers|+Images|+Selector",
        daemon_set,
    ),
    (
        "batch",
        "Job",
        "Name|Status|Completions|Duration|Age|+Containers|+Images|+Selector",
        job,
    ),
    (
        "policy",
        "PodDisruptionBudget",
        "Name|Min Available|Max Unavailable|Allowed Disruptions:integer|Age",
        disruption_budget,
    ),
    (
        "scheduling.k8s.io",
        "PriorityClass",
        "Name|Value:integer|Global-Default:boolean|Age|PreemptionPolicy",
        priority_class,
    ),
];

const CONTAINERS: &str = "/spec/template/spec/containers";

/// Summary of the containers of a Pod, as its status shows it.
#[derive(Default)]
struct ContainerSummary {
    reason: String,
    ready: usize,
    restarts: i64,
    last_restart: Option<Timestamp>,
}

impl ContainerSummary {
    fn restarted(&mut self, container: &Value) {
        self.restarts += number(container, "/restartCount");
        self.last_restart = self
            .last_restart
            .max(time(container, "/lastState/terminated/finishedAt"));
    }
}

fn pod(object: &Value, now: Timestamp) -> Vec<Value> {
    let helpers = items(object, "/spec/initContainers")
        .iter()
        .filter(|container| is_helper(container));
    let total = items(object, "/spec/containers").len() + helpers.count();
    let mut seen = ContainerSummary {
        reason: text_or(object, "/status/reason", text(object, "/status/phase")).to_owned(),
        ..ContainerSummary::default()
    };
    let gated = |condition: &&Value| {
        condition["type"] == "PodScheduled" && condition["reason"] == "SchedulingGated"
    };
    if items(object, "/status/conditions")
        .iter()
        .any(|condition| gated(&condition))
    {
        "SchedulingGated".clone_into(&mut seen.reason);
    }
    let mut of_helpers = ContainerSummary::default();
    let initializing = initialize(object, &mut seen, &mut of_helpers);
    if !initializing || has_condition(object, "Initialized") {
        (seen.restarts, seen.last_restart) = (of_helpers.restarts, of_helpers.last_restart);
        run(object, &mut seen);
    }
    let ended = matches!(text(object, "/status/phase"), "Succeeded" | "Failed");
    if is_deleting(object) && text(object, "/status/reason") == "NodeLost" {
        "Unknown".clone_into(&mut seen.reason);
    } else if is_deleting(object) && !ended {
        "Terminating".clone_into(&mut seen.reason);
    }
    let restarts = match seen.last_restart {
        Some(last) if seen.restarts != 0 => {
            format!("{} ({} ago)", seen.restarts, since(Some(last), now))
        }
        Some(_) | None => seen.restarts.to_string(),
    };
    let none = "<none>";
    vec![
        name(object),
        format!("{}/{total}", seen.ready).into(),
        seen.reason.into(),
        restarts.into(),
        age(object, now),
        text_or(object, "/status/podIPs/0/ip", none).into(),
        text_or(object, "/spec/nodeName", none).into(),
        text_or(object, "/status/nominatedNodeName", none).into(),
        readiness_gates(object).into(),
    ]
}

/// An init container that goes on running beside the others.
fn is_helper(container: &Value) -> bool {
    container["restartPolicy"] == "Always"
}

/// Evaluates the init containers. Returns true if one of them still blocks the Pod.
fn initialize(
    object: &Value,
    seen: &mut ContainerSummary,
    of_helpers: &mut ContainerSummary,
) -> bool {
    let declared = items(object, "/spec/initContainers");
    for (index, container) in items(object, "/status/initContainerStatuses")
        .iter()
        .enumerate()
    {
        let helper = declared
            .iter()
            .any(|other| other["name"] == container["name"] && is_helper(other));
        seen.restarted(container);
        if helper {
            of_helpers.restarted(container);
        }
        let terminated = container
            .pointer("/state/terminated")
            .filter(|state| state.is_object());
        if terminated.is_some_and(|state| number(state, "/exitCode") == 0) {
            continue;
        }
        if helper && truth(container, "/started", false) {
            seen.ready += usize::from(truth(container, "/ready", false));
            continue;
        }
        let waiting = text(container, "/state/waiting/reason");
        seen.reason = match terminated {
            Some(state) => format!("Init:{}", terminated_reason(state)),
            None if !waiting.is_empty() && waiting != "PodInitializing" => {
                format!("Init:{waiting}")
            }
            None => format!("Init:{index}/{}", declared.len()),
        };
        return true;
    }
    false
}

/// Evaluates the containers from last to first, so that the first one determines the result.
fn run(object: &Value, seen: &mut ContainerSummary) {
    let (mut has_running, mut error) = (false, None);
    for container in items(object, "/status/containerStatuses").iter().rev() {
        seen.restarted(container);
        let waiting = text(container, "/state/waiting/reason");
        if !waiting.is_empty() {
            waiting.clone_into(&mut seen.reason);
        } else if let Some(state) = container
            .pointer("/state/terminated")
            .filter(|state| state.is_object())
        {
            seen.reason = terminated_reason(state);
            if number(state, "/exitCode") != 0 {
                error = Some(seen.reason.clone());
            }
        } else if truth(container, "/ready", false) && container.pointer("/state/running").is_some()
        {
            has_running = true;
            seen.ready += 1;
        }
    }
    if seen.reason == "Completed" {
        if has_running && has_condition(object, "Ready") {
            "Running".clone_into(&mut seen.reason);
        } else if let Some(error) = error {
            seen.reason = error;
        } else if has_running {
            "NotReady".clone_into(&mut seen.reason);
        }
    }
}

fn terminated_reason(state: &Value) -> String {
    match (text(state, "/reason"), number(state, "/signal")) {
        ("", 0) => format!("ExitCode:{}", number(state, "/exitCode")),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

fn has_condition(object: &Value, kind: &str) -> bool {
    items(object, "/status/conditions")
        .iter()
        .any(|condition| condition["type"] == kind && condition["status"] == "True")
}

fn readiness_gates(object: &Value) -> String {
    let gates = items(object, "/spec/readinessGates");
    let open = gates
        .iter()
        .filter(|gate| has_condition(object, text(gate, "/conditionType")));
    match gates.len() {
        0 => "<none>".to_owned(),
        all => format!("{}/{all}", open.count()),
    }
}

fn pod_template(object: &Value, _: Timestamp) -> Vec<Value> {
    let containers = items(object, "/template/spec/containers");
    let pod_labels = labels(object, "/template/metadata/labels");
    vec![
        name(object),
        joined_field(containers, "name"),
        joined_field(containers, "image"),
        pod_labels,
    ]
}

fn deployment(object: &Value, now: Timestamp) -> Vec<Value> {
    let [names, images] = containers(object);
    // An empty selector is printed as an empty text, as in the API server's own columns.
    let selector = selector(object, "/spec/selector", "");
    vec![
        name(object),
        ready_of(object),
        number(object, "/status/updatedReplicas").into(),
        number(object, "/status/availableReplicas").into(),
        age(object, now),
        names,
        images,
        selector,
    ]
}

fn replica_set(object: &Value, now: Timestamp) -> Vec<Value> {
    let [names, images] = containers(object);
    vec![
        name(object),
        number(object, "/spec/replicas").into(),
        number(object, "/status/replicas").into(),
        number(object, "/status/readyReplicas").into(),
        age(object, now),
        names,
        images,
        selector(object, "/spec/selector", "<none>"),
    ]
}

fn stateful_set(object: &Value, now: Timestamp) -> Vec<Value> {
    let [names, images] = containers(object);
    vec![
        name(object),
        ready_of(object),
        age(object, now),
        names,
        images,
    ]
}

fn daemon_set(object: &Value, now: Timestamp) -> Vec<Value> {
    let [names, images] = containers(object);
    let counts = [
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    ];
    let counts =
        counts.map(|count| Value::from(object["status"][count].as_i64().unwrap_or_default()));
    let rest = [
        labels(object, "/spec/template/spec/nodeSelector"),
        age(object, now),
        names,
        images,
        selector(object, "/spec/selector", "<none>"),
    ];
    std::iter::once(name(object))
        .chain(counts)
        .chain(rest)
        .collect()
}

fn ready_of(object: &Value) -> Value {
    format!(
        "{}/{}",
        number(object, "/status/readyReplicas"),
        number(object, "/spec/replicas")
    )
    .into()
}

fn containers(object: &Value) -> [Value; 2] {
    let containers = items(object, CONTAINERS);
    [
        joined_field(containers, "name"),
        joined_field(containers, "image"),
    ]
}

fn job(object: &Value, now: Timestamp) -> Vec<Value> {
    let succeeded = number(object, "/status/succeeded");
    let parallelism = number(object, "/spec/parallelism");
    let completions = match object.pointer("/spec/completions").and_then(Value::as_i64) {
        Some(wanted) => format!("{succeeded}/{wanted}"),
        None if parallelism > 1 => format!("{succeeded}/1 of {parallelism}"),
        None => format!("{succeeded}/1"),
    };
    let end = time(object, "/status/completionTime").unwrap_or(now);
    let duration =
        time(object, "/status/startTime").map(|start| human(end.duration_since(start).as_secs()));
    let [names, images] = containers(object);
    vec![
        name(object),
        job_status(object).into(),
        completions.into(),
        duration.unwrap_or_default().into(),
        age(object, now),
        names,
        images,
        selector(object, "/spec/selector", "<none>"),
    ]
}

fn job_status(object: &Value) -> &'static str {
    let ended = [("Complete", "Complete"), ("Failed", "Failed")];
    let under_way = [
        ("Suspended", "Suspended"),
        ("FailureTarget", "FailureTarget"),
        ("SuccessCriteriaMet", "SuccessCriteriaMet"),
    ];
    let of = |list: &[(&str, &'static str)]| {
        list.iter()
            .find(|(kind, _)| has_condition(object, kind))
            .map(|(_, said)| *said)
    };
    let terminating = is_deleting(object).then_some("Terminating");
    of(&ended)
        .or(terminating)
        .or_else(|| of(&under_way))
        .unwrap_or("Running")
}

fn disruption_budget(object: &Value, now: Timestamp) -> Vec<Value> {
    let bound = |field: &str| match given(&object["spec"], field) {
        None => "N/A".into(),
        Some(bound) => Value::from(super::path::printed(bound)),
    };
    let allowed = number(object, "/status/disruptionsAllowed");
    vec![
        name(object),
        bound("minAvailable"),
        bound("maxUnavailable"),
        allowed.into(),
        age(object, now),
    ]
}

fn priority_class(object: &Value, now: Timestamp) -> Vec<Value> {
    let default = json!(truth(object, "/globalDefault", false));
    vec![
        name(object),
        number(object, "/value").into(),
        default,
        age(object, now),
        text(object, "/preemptionPolicy").into(),
    ]
}
