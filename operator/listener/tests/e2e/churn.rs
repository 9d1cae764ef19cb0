//! Everything at once: Listeners come, change and go, bad ones among them, while operators, API server, Lease and etcd fail in turn.
//! In the end nothing is lost and nothing is left over. Prints figures.

mod faults;
mod work;

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use futures::future::try_join;
use jiff::Timestamp;
use lifecycle_tests::amount::amount;
use lifecycle_tests::api_server::Options;
use lifecycle_tests::audit::{Cost, Log};
use lifecycle_tests::harness::{Case, Deadline, Need, case_within};

use crate::PROGRAM;
use crate::listeners::{Cluster, SOON};
use faults::{Faults, Operators};
use work::Work;

const NEEDS: &[Need] = &[Need::Binaries, Need::ControllerManager];

/// Longer than a Lease and the last back-off.
const SETTLED_WITHIN: Duration = Duration::from_secs(180);
/// How long nothing may be written in the end.
const QUIET: Duration = Duration::from_secs(5);
/// In KiB: memory of an idle operator, and memory for each Listener in a debug build while its
/// watches restart.
const MEMORY: (u64, u64) = (64 * 1024, 96);

/// `CHURN=1200` sets the duration in seconds, and keeps a thousand Listeners meanwhile.
pub(crate) fn cases() -> Vec<Case> {
    let lasts = Duration::from_secs(amount("CHURN", 40, 1200));
    let limit = lasts + SETTLED_WITHIN + Duration::from_secs(300);
    let run = move || churn(lasts);
    vec![case_within(
        "f15_nothing_is_lost_whatever_fails",
        NEEDS,
        limit,
        run,
    )]
}

async fn churn(lasts: Duration) -> Result<()> {
    let (held, storage) = match lasts > Duration::from_secs(300) {
        true => (1_000, 512 << 20),
        false => (60, 48 << 20),
    };
    let options = Options::default().with_controllers().storage(storage);
    let cluster = Cluster::without_operator(PROGRAM, options).await?;
    let operators = Operators::start(&cluster)?;
    cluster.prepared().await?;
    let mut work = Work::new(&cluster.client);
    work.is_collected().await?;
    work.hold(held).await?;
    let mut faults = Faults::new(cluster, operators);
    let began = Instant::now();
    let over = || began.elapsed() > lasts;
    let outcome = try_join(work.go_on(over), faults.go_on(over)).await;
    let outcome = match outcome {
        Ok(_) => settled(&work, &mut faults, began).await,
        Err(error) => Err(error),
    };
    outcome.map_err(|error| {
        let said = faults.operators.relevant_logs(&format!("{error:#}"));
        error.context(said)
    })
}

async fn settled(work: &Work, faults: &mut Faults, began: Instant) -> Result<()> {
    let churned = began.elapsed();
    faults.operators.both()?;
    let ended = Instant::now();
    work.is_as_wanted(SETTLED_WITHIN).await?;
    let took = ended.elapsed();
    let since = Timestamp::now();
    tokio::time::sleep(QUIET).await;
    let log = faults.cluster.server.audit().await?;
    let late = written(&log.since(since));
    ensure!(late.is_empty(), "written at rest: {}", late.lines());
    let memory = faults.operators.memory()?;
    let figures = Figures {
        churned,
        took,
        memory,
        work,
        faults,
        written: written(&log).len(),
    };
    eprintln!("{figures}");
    let most = MEMORY.0 + MEMORY.1 * work.many();
    ensure!(memory < most, "{memory} KiB of {most}");
    ensure!(
        faults.each_happened(),
        "not every fault: {}",
        faults.counts()
    );
    Ok(())
}

/// Returns the writes of the operators to Listeners and Services.
fn written(log: &Log) -> Log {
    log.only(|entry| {
        let is_ours = faults::NAMES.contains(&entry.user.as_str());
        let is_work = matches!(entry.resource.as_str(), "services" | "listeners");
        is_ours && is_work && entry.cost() == Cost::Write
    })
}

struct Figures<'a> {
    churned: Duration,
    took: Duration,
    /// In KiB.
    memory: u64,
    work: &'a Work,
    faults: &'a Faults,
    written: usize,
}

impl fmt::Display for Figures<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            churned,
            took,
            memory,
            work,
            faults,
            written,
        } = self;
        let counts = faults.counts();
        write!(
            f,
            "{churned:.0?} of churn: {work}; {counts}; {written} writes; as wanted {took:.1?} after it; at most {memory} KiB"
        )
    }
}

/// Retries a request until the API server, which is sometimes down, accepts it.
async fn insist<T>(what: &str, ask: impl AsyncFn() -> kube::Result<T>) -> Result<kube::Result<T>> {
    let mut deadline = Deadline::new(2 * SOON);
    loop {
        let answer = tokio::time::timeout(SOON, ask()).await;
        let error = match answer {
            Ok(Ok(value)) => return Ok(Ok(value)),
            Ok(Err(error)) if is_final(&error) => return Ok(Err(error)),
            Ok(Err(error)) => format!("{error}"),
            Err(_) => "no answer".to_owned(),
        };
        ensure!(!deadline.is_over(), "cannot {what}: {error}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Returns true if the request itself is refused, independent of the injected faults.
fn is_final(error: &kube::Error) -> bool {
    let kube::Error::Api(status) = error else {
        return false;
    };
    (400..500).contains(&status.code) && status.code != 429 && !status.message.contains("etcd")
}
