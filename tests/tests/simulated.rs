//! Many Listeners on the simulated server: what they cost is counted. Prints figures; `LISTENERS` says how many.

use std::time::{Duration, Instant};

use kube::Client;
use kube::api::{ListParams, PostParams};
use kube::{Api, ResourceExt};
use lifecycle_operator::listener::Exposure;
use lifecycle_runtime::Operator;
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_runtime::testing::faults::{At, Faults, Plan};
use lifecycle_runtime::testing::server::{Server, User};
use lifecycle_specs::listener::{Listener, ListenerPort, ListenerSpec};
use lifecycle_specs::listener_class::{ListenerClass, ListenerClassSpec, ServiceType};
use lifecycle_specs::{crds, listener};

/// Kinds that a Listener looks at, itself included.
const WATCHED: usize = 6;
/// Longer than an operator waits for anything when all is well.
const QUIET: Duration = Duration::from_secs(5);

#[test]
fn every_listener_costs_two_writes_and_no_read() {
    let many = std::env::var("LISTENERS").ok();
    let many = many.and_then(|n| n.parse().ok()).unwrap_or(200);
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build();
    runtime.expect("a runtime starts").block_on(settle(many));
}

async fn settle(many: usize) {
    let server = Server::new(1);
    let admin = server.client(&User::admin());
    for definition in crds::listeners() {
        let all = Api::all(admin.clone());
        all.create(&PostParams::default(), &definition)
            .await
            .expect("the simulated server takes it");
    }
    let class = ListenerClass::new("inside", ListenerClassSpec::new(ServiceType::ClusterIP));
    let classes = Api::all(admin.clone());
    classes
        .create(&PostParams::default(), &class)
        .await
        .expect("the simulated server takes it");
    let before = Used::now();
    for number in 0..many {
        create(&admin, number).await;
    }
    let created = Used::now();
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
    let settled = Used::now();
    running.abort();
    let ready = ready(&admin).await;
    let is_read = |at: &At| matches!(at, At::Request(_));
    let sent = faults.sent();
    // One for each kind that is watched, however many Listeners there are.
    let questions = sent.iter().filter(|s| is_read(&s.at)).count();
    let reads = questions.saturating_sub(WATCHED);
    eprintln!(
        "{many} Listeners on the simulated server: created with {}, settled with {}; {:.2} writes and {:.2} reads each",
        created.since(&before),
        settled.since(&created),
        writes as f64 / many as f64,
        reads as f64 / many as f64,
    );
    assert_eq!(ready, many, "all are Ready");
    assert_eq!(writes, 2 * many, "two writes each");
    assert_eq!(questions, WATCHED, "watches, and no read");
}

async fn create(admin: &Client, number: usize) {
    let namespaced: Api<Listener> = Api::namespaced(admin.clone(), "default");
    let spec = ListenerSpec {
        class_name: Some("inside".to_owned()),
        ports: Some(vec![ListenerPort {
            name: "http".to_owned(),
            port: 80,
            protocol: None,
        }]),
        ..ListenerSpec::default()
    };
    let listener = Listener::new(&format!("web-{number:05}"), spec);
    namespaced
        .create(&PostParams::default(), &listener)
        .await
        .expect("the simulated server takes it");
}

async fn ready(admin: &Client) -> usize {
    let all: Api<Listener> = Api::all(admin.clone());
    let all = all
        .list(&ListParams::default())
        .await
        .expect("the simulated server takes it");
    let is_ready = |listener: &&Listener| {
        let status = listener.status.as_ref();
        let conditions = status.and_then(|s| s.conditions.as_ref());
        let mut conditions = conditions.into_iter().flatten();
        conditions.any(|c| c.type_ == "Ready" && c.status == "True")
            && !listener.name_any().is_empty()
    };
    all.items.iter().filter(is_ready).count()
}

/// What this process has used so far.
struct Used {
    wall: Instant,
    /// Seconds.
    cpu: f64,
    /// The most memory so far, in MiB.
    memory: u64,
}

impl Used {
    fn now() -> Self {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        let fields: Vec<&str> = after_name.split_whitespace().collect();
        let ticks = |n: usize| {
            fields
                .get(n)
                .and_then(|f| f.parse::<f64>().ok())
                .unwrap_or_default()
        };
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let most = most.and_then(|kb| kb.trim().trim_end_matches(" kB").parse::<u64>().ok());
        Self {
            wall: Instant::now(),
            cpu: (ticks(11) + ticks(12)) / 100.0,
            memory: most.unwrap_or_default() / 1024,
        }
    }

    fn since(&self, before: &Self) -> String {
        let (cpu, wall) = (self.cpu - before.cpu, self.wall - before.wall);
        let more = self.memory - before.memory;
        format!(
            "{cpu:.1} s of CPU, {:.1} s, {more} MiB more memory",
            wall.as_secs_f64()
        )
    }
}
