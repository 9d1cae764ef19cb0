//! Alerts of a product: the expression, the remedy, and the series in which each alert fires.

use super::product::{Labels, Product, Series, ZERO, errors, labels};

/// Page sections that alerts name.
const PAGE: &str = "docs/deploy.md#alerts";
const EXPLAIN: &str = "docs/explain.md#an-object-in-trouble";
const FAILURES: &str = "docs/install.md#what-happens-when-something-goes-wrong";

/// One rule, and the proof that it fires.
pub(super) struct Alert {
    /// Without the name of the product.
    pub(super) name: &'static str,
    pub(super) severity: &'static str,
    /// For how many minutes the condition holds before the alert fires.
    pub(super) minutes: u32,
    pub(super) expr: String,
    pub(super) summary: &'static str,
    pub(super) description: &'static str,
    /// Page and section.
    pub(super) runbook: &'static str,
    /// Takes the place of series of the healthy run, or comes beside them.
    pub(super) bad: Vec<Series>,
    /// Labels of each alert that fires then, without name and severity.
    pub(super) fires: Vec<Labels>,
}

/// All alerts of a product.
pub(super) fn all(product: &Product) -> Vec<Alert> {
    let mut all = vec![
        down(product),
        no_leader(product),
        several_leaders(product),
        not_ready(product),
        api_server_silent(product),
        contradiction(product),
        objects_in_error(product),
        objects_overdue(product),
        writes_refused(product),
        writes_failing(product),
        queue_slow(product),
    ];
    if !product.calls().is_empty() {
        all.push(volume_calls_failing(product));
    }
    all
}

/// Labels of an alert about a job.
fn alert_labels(product: &Product, job: &str, own: &[(&'static str, &str)]) -> Labels {
    let mut all = labels(&[("job", job), ("namespace", product.name)]);
    all.extend(labels(own));
    all
}

fn down(product: &Product) -> Alert {
    let jobs = product.jobs();
    let absent = jobs.iter();
    let absent = absent.map(|job| format!("absent(up{{job=\"{job}\"}})\nor\n"));
    let absent: String = absent.collect();
    let silent = jobs.iter().copied().flat_map(|job| {
        let processes = ["a", "b"].map(|pod| product.process(job, pod));
        processes.map(|process| Series::new("up", &process, "_x120"))
    });
    Alert {
        name: "Down",
        severity: "critical",
        minutes: 5,
        expr: format!("{absent}sum by (job) (up{{{}}}) == 0", product.of_all()),
        summary: "No process of {{ $labels.job }} answers.",
        description: "Nothing is reconciled or mounted there. Look whether its Pods run, and whether Prometheus finds them: the job needs exactly this name.",
        runbook: PAGE,
        bad: silent.collect(),
        fires: jobs.iter().map(|job| labels(&[("job", *job)])).collect(),
    }
}

fn no_leader(product: &Product) -> Alert {
    let of = product.of_controller();
    let lease = ("lease", product.lease);
    Alert {
        name: "NoLeader",
        severity: "critical",
        minutes: 5,
        expr: format!("sum by (namespace, job, lease) (lifecycle_leader{{{of}}}) == 0"),
        summary: "No process of {{ $labels.job }} in {{ $labels.namespace }} holds the Lease {{ $labels.lease }}.",
        description: "Processes run, but none may write. Look at the Lease in that namespace, at the right to update it, and at the log.",
        runbook: FAILURES,
        bad: vec![product.leader("a", product.lease, ZERO)],
        fires: vec![alert_labels(product, product.controller, &[lease])],
    }
}

fn several_leaders(product: &Product) -> Alert {
    let of = product.of_controller();
    let lease = ("lease", product.lease);
    Alert {
        name: "SeveralLeaders",
        severity: "critical",
        minutes: 2,
        expr: format!("sum by (namespace, job, lease) (lifecycle_leader{{{of}}}) > 1"),
        summary: "More than one process of {{ $labels.job }} in {{ $labels.namespace }} leads by the Lease {{ $labels.lease }}.",
        description: "Two writers disturb each other. Look whether the Lease of all is in one namespace and whether leader election is on, and scale the Deployment to 1 until it is clear.",
        runbook: FAILURES,
        bad: vec![product.leader("b", product.lease, "1+0x120")],
        fires: vec![alert_labels(product, product.controller, &[lease])],
    }
}

fn not_ready(product: &Product) -> Alert {
    let of = product.of_all();
    let last = product.node.unwrap_or(product.controller);
    let process = product.process(last, "b");
    Alert {
        name: "NotReady",
        severity: "warning",
        minutes: 10,
        expr: format!("lifecycle_ready{{{of}}} == 0\nor\nup{{{of}}} == 0"),
        summary: "{{ $labels.namespace }}/{{ $labels.pod }} is not ready.",
        description: "Its `/readyz` names the part that is missing, such as a kind that is not served or may not be watched.",
        runbook: "docs/deploy.md#when-it-does-not-do-what-you-expect",
        bad: vec![Series::new("lifecycle_ready", &process, ZERO)],
        fires: vec![process],
    }
}

fn api_server_silent(product: &Product) -> Alert {
    let of = product.of_all();
    let kind = product.resources().next().map_or("", |one| one.name);
    let metric = "lifecycle_watch_age_seconds";
    let bad = product.series(metric, product.controller, &[("kind", kind)], "0+60x120");
    Alert {
        name: "ApiServerSilent",
        severity: "warning",
        minutes: 5,
        expr: format!("max by (namespace, job, pod) ({metric}{{{of}}}) > 60"),
        summary: "{{ $labels.namespace }}/{{ $labels.pod }} hears nothing of the API server.",
        description: "It decides by what it knew then. Look at the API server, at the network to it, and at the right to watch; `/readyz` names the kinds.",
        runbook: FAILURES,
        bad: vec![bad],
        fires: vec![product.process(product.controller, "a")],
    }
}

fn contradiction(product: &Product) -> Alert {
    let of = product.of_all();
    let metric = "lifecycle_contradictions";
    Alert {
        name: "Contradiction",
        severity: "critical",
        minutes: 0,
        expr: format!("sum by (namespace, job) ({metric}{{{of}}}) > 0"),
        summary: "{{ $labels.job }} in {{ $labels.namespace }} met a world that its lifecycles rule out.",
        description: "A mistake of the program: it leaves the object alone. The log names the object, the fact and the effect. Report it. The alert ends with the object, or when the process starts anew.",
        runbook: "docs/deploy.md#when-it-does-not-do-what-you-expect",
        bad: vec![product.series(metric, product.controller, &[], "0+0x9 1+0x110")],
        fires: vec![alert_labels(product, product.controller, &[])],
    }
}

fn objects_in_error(product: &Product) -> Alert {
    let of = product.of_controller();
    let mut selected = Vec::new();
    let (mut bad, mut fires) = (Vec::new(), Vec::new());
    for lifecycle in product.resources() {
        let kind = lifecycle.name;
        let states = errors(lifecycle);
        let pattern = states.join("|");
        selected.push(format!(
            "  lifecycle_objects{{{of},kind=\"{kind}\",state=~\"{pattern}\"}}"
        ));
        for state in states {
            let own = [("kind", kind), ("state", state)];
            bad.push(product.series("lifecycle_objects", product.controller, &own, "1+0x120"));
            fires.push(alert_labels(product, product.controller, &own));
        }
    }
    let selected = selected.join("\n  or\n");
    Alert {
        name: "ObjectsInError",
        severity: "warning",
        minutes: 15,
        expr: format!("sum by (namespace, job, kind, state) (\n{selected}\n) > 0"),
        summary: "Objects of kind {{ $labels.kind }} are {{ $labels.state }}.",
        description: "Only a change by a person helps. The `Ready` condition of such an object says which, and so does `explain`.",
        runbook: EXPLAIN,
        bad,
        fires,
    }
}

fn objects_overdue(product: &Product) -> Alert {
    let of = product.of_controller();
    let kinds = product.overdue_kinds();
    let pattern = kinds.join("|");
    let metric = "lifecycle_overdue";
    let bad = |kind: &&str| {
        let own = [("kind", *kind)];
        product.series(metric, product.controller, &own, "2+0x120")
    };
    let fires = |kind: &&str| alert_labels(product, product.controller, &[("kind", *kind)]);
    Alert {
        name: "ObjectsOverdue",
        severity: "warning",
        minutes: 10,
        expr: format!("sum by (namespace, job, kind) ({metric}{{{of},kind=~\"{pattern}\"}}) > 0"),
        summary: "Objects of kind {{ $labels.kind }} take longer than their lifecycle expects.",
        description: "Something that should happen by itself does not. `explain` names what such an object waits for.",
        runbook: EXPLAIN,
        bad: kinds.iter().map(bad).collect(),
        fires: kinds.iter().map(fires).collect(),
    }
}

/// A write of the first kind of a product that ended badly, again and again.
fn writes(product: &Product, ended: &str, values: &str) -> Series {
    let kind = product.resources().next().map_or("", |one| one.name);
    let own = [("kind", kind), ("what", "status"), ("ended", ended)];
    product.series("lifecycle_writes_total", product.controller, &own, values)
}

fn writes_refused(product: &Product) -> Alert {
    let of = product.of_controller();
    let kind = product.resources().next().map_or("", |one| one.name);
    let own = [("kind", kind), ("what", "status")];
    let by = "sum by (namespace, job, kind, what)";
    Alert {
        name: "WritesRefused",
        severity: "warning",
        minutes: 5,
        expr: format!(
            "{by} (\n  increase(lifecycle_writes_total{{{of},ended=\"refused\"}}[30m])\n) > 3"
        ),
        summary: "The API server refuses {{ $labels.what }} of {{ $labels.kind }}.",
        description: "More than three such writes were refused within half an hour. The log has the answer of the API server: a right that is missing, a policy, a quota, or a field that it does not know.",
        runbook: PAGE,
        bad: vec![writes(product, "refused", "0+1x120")],
        fires: vec![alert_labels(product, product.controller, &own)],
    }
}

fn writes_failing(product: &Product) -> Alert {
    let of = product.of_controller();
    let by = "sum by (namespace, job)";
    let failed = format!("rate(lifecycle_writes_total{{{of},ended=\"later\"}}[15m])");
    let tried = format!("rate(lifecycle_writes_total{{{of}}}[15m])");
    let kinds = product.resources().count();
    Alert {
        name: "WritesFailing",
        severity: "warning",
        minutes: 15,
        expr: format!("{by} ({failed})\n/\n{by} ({tried})\n> 0.1"),
        summary: "More than a tenth of the writes of {{ $labels.job }} in {{ $labels.namespace }} fail.",
        description: "The program tries them again, and waiting can mend them. Look at the API server, at etcd, and at the webhooks that it calls; the log has each answer.",
        runbook: FAILURES,
        bad: vec![writes(product, "later", &format!("0+{}x120", 20 * kinds))],
        fires: vec![alert_labels(product, product.controller, &[])],
    }
}

fn queue_slow(product: &Product) -> Alert {
    let of = product.of_controller();
    let metric = "lifecycle_queue_latency_seconds_bucket";
    let bounds = ["0.1", "0.5", "1", "5"];
    Alert {
        name: "QueueSlow",
        severity: "warning",
        minutes: 15,
        expr: format!(
            "histogram_quantile(\n  0.99,\n  sum by (namespace, job, le) (rate({metric}{{{of}}}[10m]))\n) > 5"
        ),
        summary: "Objects of {{ $labels.job }} in {{ $labels.namespace }} wait for more than 5 s to be reconciled.",
        description: "One of a hundred does. Look at the CPU of the process and its limit, and at the answers of the API server.",
        runbook: PAGE,
        bad: bounds.iter().map(|le| product.bucket(le, ZERO)).collect(),
        fires: vec![alert_labels(product, product.controller, &[])],
    }
}

fn volume_calls_failing(product: &Product) -> Alert {
    let of = product.of_all();
    let by = "sum by (namespace, job, pod, method)";
    let metric = "lifecycle_csi_calls_total";
    let (mut bad, mut fires) = (Vec::new(), Vec::new());
    for (job, method) in product.calls() {
        let own = [("method", method.as_str()), ("code", "Unavailable")];
        bad.push(product.series(metric, job, &own, "0+9x120"));
        let mut labels = product.process(job, "a");
        labels.insert("method", method);
        fires.push(labels);
    }
    Alert {
        name: "VolumeCallsFailing",
        severity: "warning",
        minutes: 15,
        expr: format!(
            "{by} (rate({metric}{{{of},code!=\"OK\"}}[15m]))\n/\n{by} (rate({metric}{{{of}}}[15m]))\n> 0.5"
        ),
        summary: "Most calls {{ $labels.method }} to {{ $labels.namespace }}/{{ $labels.pod }} fail.",
        description: "Pods that mount such volumes do not start, or do not end. The events of a Pod or of its claim have the answer; the log of this Pod has it, too.",
        runbook: "docs/explain.md#a-claim",
        bad,
        fires,
    }
}
