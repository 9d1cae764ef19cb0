//! Many Listeners on the simulated server, settled by the own code of the operator in the same
//! process, with their cost. Reports the counts, and checks nothing.

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use kube::Api;
use kube::api::PostParams;
use lifecycle_listener::listener::Exposure;
use lifecycle_runtime::Operator;
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_simulator::server::{Server, User};
use lifecycle_specs_listener::listener::{Listener, ListenerPort, ListenerSpec};
use lifecycle_specs_listener::listener_class::{ListenerClass, ListenerClassSpec, ServiceType};
use lifecycle_specs_listener::{crds, listener};
use lifecycle_suite::faults::{FaultPoint, Faults, Plan};

/// Number of kinds that a Listener reads, itself included. Each has one watch, regardless of the
/// number of Listeners.
pub(crate) const WATCHED: usize = 6;
/// Longer than an operator waits for anything when all is well.
const QUIET: Duration = Duration::from_secs(5);

/// Cost of the Listeners.
#[derive(Debug)]
pub(crate) struct Settled {
    /// How many there are.
    pub(crate) many: usize,
    /// How many are Ready.
    pub(crate) ready: usize,
    /// Writes of the operator.
    pub(crate) writes: usize,
    /// All its other requests, watches included.
    pub(crate) questions: usize,
    /// Usage of their creation.
    pub(crate) created: Used,
    /// Usage of the operator and the server until nothing more was written.
    pub(crate) settled: Used,
}

/// Makes that many Listeners, and runs the operator until it writes nothing any more. Time should be paused: it is moved.
///
/// # Errors
/// If the server refuses the objects of the test.
pub(crate) async fn settle(many: usize) -> Result<Settled> {
    let server = Server::new(1);
    let admin = server.client(&User::admin());
    let params = PostParams::default();
    for definition in crds() {
        Api::all(admin.clone()).create(&params, &definition).await?;
    }
    let class = ListenerClass::new("inside", ListenerClassSpec::new(ServiceType::ClusterIP));
    Api::all(admin.clone()).create(&params, &class).await?;
    let before = Used::now()?;
    let listeners: Api<Listener> = Api::namespaced(admin.clone(), "default");
    for number in 0..many {
        listeners.create(&params, &build_listener(number)).await?;
    }
    let created = Used::now()?;
    let faults = Faults::new(Plan::default(), jiff::Timestamp::UNIX_EPOCH);
    faults.without_journal();
    let client = faults.line(true).client(&admin);
    let exposure = Exposure {
        cluster_domain: "cluster.local".to_owned(),
    };
    let operator = Operator::new("listeners.stackable.tech")
        .run(listener::machine(exposure))
        .seed(1)
        .clock(server.clone());
    let (_trigger, shutdown) = Shutdown::pair();
    let running = tokio::spawn(operator.start(client, shutdown));
    let mut writes = usize::MAX;
    while writes != faults.writes() {
        writes = faults.writes();
        tokio::time::sleep(QUIET).await;
    }
    let settled = Used::now()?;
    running.abort();
    let sent = faults.sent();
    let questions = sent
        .iter()
        .filter(|sent| matches!(sent.at, FaultPoint::Request(_)));
    let all = listeners.list(&Default::default()).await?.items;
    Ok(Settled {
        many,
        ready: all.iter().filter(|listener| is_ready(listener)).count(),
        writes,
        questions: questions.count(),
        settled: settled.since(&created),
        created: created.since(&before),
    })
}

fn build_listener(number: usize) -> Listener {
    let spec = ListenerSpec {
        class_name: Some("inside".to_owned()),
        ports: Some(vec![ListenerPort {
            name: "http".to_owned(),
            port: 80,
            protocol: None,
        }]),
        ..ListenerSpec::default()
    };
    Listener::new(&format!("web-{number:05}"), spec)
}

fn is_ready(listener: &Listener) -> bool {
    let status = listener.status.as_ref();
    let conditions = status.and_then(|status| status.conditions.as_ref());
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|one| one.type_ == "Ready" && one.status == "True")
}

impl fmt::Display for Settled {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[allow(clippy::cast_precision_loss, reason = "far below 2^52")]
        let each = |count: usize| count as f64 / self.many as f64;
        write!(
            formatter,
            "{} Listeners on the simulated server: created with {}, settled with {}; {} are Ready; {:.2} writes and {:.2} reads each, \
             beside {} watches",
            self.many,
            self.created,
            self.settled,
            self.ready,
            each(self.writes),
            each(self.questions.saturating_sub(WATCHED)),
            self.questions.min(WATCHED),
        )
    }
}

/// Usage of this process.
#[derive(Debug)]
pub(crate) struct Used {
    at: Instant,
    wall: Duration,
    /// Seconds of processor time.
    cpu: f64,
    /// The most memory so far, in MiB.
    memory: u64,
}

impl Used {
    fn now() -> Result<Self> {
        let stat = std::fs::read_to_string("/proc/self/stat")?;
        let (_, fields) = stat
            .rsplit_once(')')
            .context("/proc/self/stat has no name")?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let ticks = |n: usize| -> Result<f64> {
            let field = fields
                .get(n)
                .context("/proc/self/stat has too few fields")?;
            Ok(field.parse()?)
        };
        let status = std::fs::read_to_string("/proc/self/status")?;
        let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let most = most.and_then(|most| most.trim().strip_suffix(" kB"));
        let most: u64 = most.context("/proc/self/status has no VmHWM")?.parse()?;
        Ok(Self {
            at: Instant::now(),
            wall: Duration::ZERO,
            // A tick is a hundredth of a second.
            cpu: (ticks(11)? + ticks(12)?) / 100.0,
            memory: most / 1024,
        })
    }

    fn since(&self, before: &Self) -> Self {
        Self {
            at: self.at,
            wall: self.at - before.at,
            cpu: self.cpu - before.cpu,
            memory: self.memory - before.memory,
        }
    }
}

impl fmt::Display for Used {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (cpu, wall, memory) = (self.cpu, self.wall.as_secs_f64(), self.memory);
        write!(
            formatter,
            "{cpu:.1} s of CPU, {wall:.1} s, {memory} MiB more memory"
        )
    }
}
