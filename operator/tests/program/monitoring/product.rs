//! Product as Prometheus sees it: the jobs of its processes, its lifecycles, and the series of a
//! healthy run.

use std::collections::BTreeMap;

use lifecycle_generate::Program;
use lifecycle_operator::parts::program;
use lifecycle_runtime::counters::Latency;
use lifecycle_runtime::machine::ir::{Lifecycle, Phase};

/// States that every lifecycle has without declaring them.
const IMPLICIT: [&str; 3] = ["Deleting", "Refused", "Unclear"];

/// Error states without an alert, each with the reason.
pub(super) const QUIET: [(&str, &str, &str); 1] =
    [("AccessGrant", "Expired", "every grant ends there by itself")];

/// Values of a series that is 0 for two hours.
pub(super) const ZERO: &str = "0+0x120";

/// A product of this repository.
pub(super) struct Product {
    /// The name of its chart and of its files.
    pub(super) name: &'static str,
    /// Beginning of the names of its alerts.
    pub(super) prefix: &'static str,
    /// Job of its controller.
    pub(super) controller: &'static str,
    /// Lease of the processes of that job.
    pub(super) lease: &'static str,
    /// Job of its processes on nodes, if it has any.
    pub(super) node: Option<&'static str>,
    lifecycles: Vec<&'static Lifecycle>,
}

/// A series of a test, and its values, a minute each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Series {
    /// Metric and labels.
    pub(super) name: String,
    /// In the notation of promtool.
    pub(super) values: String,
}

/// Labels of a series or of an alert.
pub(super) type Labels = BTreeMap<&'static str, String>;

/// Makes labels of pairs.
pub(super) fn labels(pairs: &[(&'static str, &str)]) -> Labels {
    let owned = pairs
        .iter()
        .map(|(name, value)| (*name, (*value).to_owned()));
    owned.collect()
}

impl Series {
    pub(super) fn new(metric: &str, labels: &Labels, values: &str) -> Self {
        let pairs = labels
            .iter()
            .map(|(name, value)| format!("{name}=\"{value}\""));
        let pairs = pairs.collect::<Vec<_>>().join(",");
        Self {
            name: format!("{metric}{{{pairs}}}"),
            values: values.to_owned(),
        }
    }
}

impl Product {
    /// Both products.
    pub(super) fn all() -> [Self; 2] {
        [
            Self {
                name: "listener-operator",
                prefix: "ListenerOperator",
                controller: "listener-operator-controller",
                lease: "listeners.stackable.tech-controller",
                node: Some("listener-operator-node"),
                lifecycles: lifecycles("listener-operator"),
            },
            Self {
                name: "skupper",
                prefix: "Skupper",
                controller: "skupper-controller",
                lease: "skupper.io-skupper-controller",
                node: None,
                lifecycles: lifecycles("skupper"),
            },
        ]
    }

    /// Lifecycles of resources, which alone are counted by state.
    pub(super) fn resources(&self) -> impl Iterator<Item = &'static Lifecycle> {
        let all = self.lifecycles.iter().copied();
        all.filter(|lifecycle| !lifecycle.volume)
    }

    /// Jobs of all its processes.
    pub(super) fn jobs(&self) -> Vec<&'static str> {
        [Some(self.controller), self.node]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Matcher of the job of its controller.
    pub(super) fn of_controller(&self) -> String {
        format!("job=\"{}\"", self.controller)
    }

    /// Matcher of all jobs.
    pub(super) fn of_all(&self) -> String {
        match self.node {
            Some(node) => format!("job=~\"{}|{node}\"", self.controller),
            None => self.of_controller(),
        }
    }

    /// Kinds with a state that may be overdue.
    pub(super) fn overdue_kinds(&self) -> Vec<&'static str> {
        let may = |lifecycle: &&Lifecycle| {
            let mut states = lifecycle.states.iter();
            states.any(|state| state.phase == Phase::Pending && state.wakes.is_none())
        };
        self.resources().filter(may).map(|one| one.name).collect()
    }

    /// Calls of volumes: the job that answers each, and its method.
    pub(super) fn calls(&self) -> Vec<(&'static str, String)> {
        let volumes = self.lifecycles.iter().filter(|one| one.volume);
        let methods = volumes.flat_map(|one| one.calls);
        let methods = methods.map(|call| {
            let method = format!("{:?}", call.rpc);
            let is_of_node = method.starts_with("Node");
            let job = self.node.filter(|_| is_of_node);
            (job.unwrap_or(self.controller), method)
        });
        methods.collect()
    }

    /// Labels of a process: the first of its job, or the second.
    pub(super) fn process(&self, job: &'static str, pod: &str) -> Labels {
        let pod = format!("{job}-{pod}");
        labels(&[("job", job), ("namespace", self.name), ("pod", &pod)])
    }

    /// Returns the series that reports whether a process of the controller holds a Lease.
    pub(super) fn leader(&self, pod: &str, lease: &str, values: &str) -> Series {
        let mut process = self.process(self.controller, pod);
        process.extend(labels(&[("lease", lease)]));
        Series::new("lifecycle_leader", &process, values)
    }

    /// A series of the first process of a job.
    pub(super) fn series(
        &self,
        metric: &str,
        job: &'static str,
        own: &[(&'static str, &str)],
        values: &str,
    ) -> Series {
        let mut all = self.process(job, "a");
        all.extend(labels(own));
        Series::new(metric, &all, values)
    }

    /// Returns the series of two hours without a lasting failure. Another process becomes leader
    /// after an hour and a half, and an object is in an Error state for ten minutes. A controller
    /// with its own Lease leads beside them.
    pub(super) fn healthy(&self) -> Vec<Series> {
        let mut all = Vec::new();
        for job in self.jobs() {
            for pod in ["a", "b"] {
                let process = self.process(job, pod);
                all.push(Series::new("up", &process, "1+0x120"));
                all.push(Series::new("lifecycle_ready", &process, "1+0x120"));
                all.push(Series::new("lifecycle_contradictions", &process, ZERO));
            }
        }
        let leads = [("a", "1+0x89 0+0x30"), ("b", "0+0x90 1+0x29")];
        for (pod, values) in leads {
            all.push(self.leader(pod, self.lease, values));
        }
        all.push(self.leader("other", "other", "1+0x120"));
        for lifecycle in self.resources() {
            self.add_objects(&mut all, lifecycle);
        }
        for (job, method) in self.calls() {
            for (code, values) in [("OK", "0+5x120"), ("Unavailable", "0+1x120")] {
                let own = [("method", method.as_str()), ("code", code)];
                all.push(self.series("lifecycle_csi_calls_total", job, &own, values));
            }
        }
        for bound in Latency::BOUNDS {
            let values = if bound < 0.1 { ZERO } else { "0+60x120" };
            all.push(self.bucket(&bound.to_string(), values));
        }
        all.push(self.bucket("+Inf", "0+60x120"));
        all
    }

    /// A bucket of the queue.
    pub(super) fn bucket(&self, le: &str, values: &str) -> Series {
        let metric = "lifecycle_queue_latency_seconds_bucket";
        self.series(metric, self.controller, &[("le", le)], values)
    }

    fn add_objects(&self, all: &mut Vec<Series>, lifecycle: &Lifecycle) {
        let mut add = |metric: &str, own: &[(&'static str, &str)], values: &str| {
            all.push(self.series(metric, self.controller, own, values));
        };
        let kind = ("kind", lifecycle.name);
        let brief = errors(lifecycle).first().copied();
        let declared = lifecycle
            .states
            .iter()
            .map(|state| (state.name, state.phase));
        for (state, phase) in declared.chain(IMPLICIT.map(|state| (state, Phase::Error))) {
            let values = match (phase == Phase::Ready, Some(state) == brief) {
                (true, _) => "5+0x120",
                (false, true) => "1+0x9 0+0x110",
                (false, false) => ZERO,
            };
            add("lifecycle_objects", &[kind, ("state", state)], values);
        }
        add("lifecycle_overdue", &[kind], "1+0x4 0+0x115");
        add("lifecycle_watch_age_seconds", &[kind], "30+0x120");
        let writes = [
            ("done", "0+20x120"),
            ("again", "0+1x120"),
            ("later", "0+1x120"),
            ("refused", "0+1x3 3+0x116"),
        ];
        for (ended, values) in writes {
            let own = [kind, ("what", "status"), ("ended", ended)];
            add("lifecycle_writes_total", &own, values);
        }
    }
}

/// Returns the states of a lifecycle that require someone to act.
pub(super) fn errors(lifecycle: &Lifecycle) -> Vec<&'static str> {
    let declared = lifecycle.states.iter();
    let declared = declared.filter(|state| state.phase == Phase::Error);
    let named = declared
        .map(|state| state.name)
        .chain(["Refused", "Unclear"]);
    let is_quiet = |state: &str| {
        let mut quiet = QUIET.iter();
        quiet.any(|(kind, one, _)| (*kind, *one) == (lifecycle.name, state))
    };
    named.filter(|state| !is_quiet(state)).collect()
}

/// Returns the lifecycles of a product, selected by the namespace in which its manifests install
/// it.
fn lifecycles(namespace: &str) -> Vec<&'static Lifecycle> {
    let program = program();
    let parts = program.parts().iter();
    let own = parts.filter(|part| part.account.namespace == namespace);
    let own = own.fold(Program::new(), |all, part| all.part(part.clone()));
    own.lifecycles()
}
