//! Failures that occur meanwhile, one after another: a process, the API server, the Lease, the
//! space of etcd.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use lifecycle_tests::process::Process;
use rustix::process::Signal;
use serde_json::json;

use super::insist;
use crate::listeners::Cluster;

/// The two operators, and the users as which they work.
pub(super) const NAMES: [&str; 2] = ["first", "second"];

const LEASE: &str = "listeners.stackable.tech-controller";
/// Between two faults.
const PAUSE: Duration = Duration::from_secs(2);
/// Long enough to be noticed, and short enough for all to happen.
const AWAY: Duration = Duration::from_secs(4);

/// How much of a log an error shows.
const LINES: usize = 60;

/// Two operators, with one leader.
pub(super) struct Operators {
    running: [Process; 2],
    /// The most memory of those that have ended, in KiB.
    memory: u64,
}

impl Operators {
    pub(super) fn start(cluster: &Cluster) -> Result<Self> {
        let start = |name| cluster.replica(name, name, &[]);
        Ok(Self {
            running: [start(NAMES[0])?, start(NAMES[1])?],
            memory: 0,
        })
    }

    /// Checks that both run. They must not end except through the injected faults.
    pub(super) fn both(&mut self) -> Result<()> {
        self.running.iter_mut().try_for_each(Process::check_alive)
    }

    /// The most memory that one of them had, in KiB.
    pub(super) fn memory(&self) -> Result<u64> {
        let [first, second] = [peak(&self.running[0])?, peak(&self.running[1])?];
        Ok(first.max(second).max(self.memory))
    }

    /// Returns the log lines about the first Listener that an error names, or the last lines.
    pub(super) fn relevant_logs(&self, error: &str) -> String {
        let name = error
            .split('"')
            .nth(1)
            .and_then(|said| said.split(' ').next());
        let about = name.map(|name| format!("default/{name}`"));
        let said = self.running.iter().map(|one| {
            let log = one.log();
            let is_about = |line: &&str| about.as_ref().is_none_or(|about| line.contains(about));
            let lines: Vec<&str> = log.lines().filter(is_about).collect();
            lines[lines.len().saturating_sub(LINES)..].join("\n")
        });
        said.collect::<Vec<_>>().join("\n\n")
    }
}

fn peak(process: &Process) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", process.pid()))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.context("no peak of memory")?.parse()?)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    KillLeader,
    FillStorage,
    FreezeServer,
    DeleteLease,
    KillServer,
    StealLease,
    SuspendLeader,
}

impl Fault {
    const ALL: [Self; 7] = [
        Self::KillLeader,
        Self::FillStorage,
        Self::FreezeServer,
        Self::DeleteLease,
        Self::KillServer,
        Self::StealLease,
        Self::SuspendLeader,
    ];
}

/// Everything that fails, and how often it did.
pub(super) struct Faults {
    pub(super) cluster: Cluster,
    pub(super) operators: Operators,
    happened: BTreeMap<Fault, usize>,
}

impl Faults {
    pub(super) fn new(cluster: Cluster, operators: Operators) -> Self {
        Self {
            cluster,
            operators,
            happened: BTreeMap::new(),
        }
    }

    pub(super) fn counts(&self) -> String {
        format!("faults {:?}", self.happened)
    }

    pub(super) fn each_happened(&self) -> bool {
        self.happened.len() == Fault::ALL.len()
    }

    /// One fault after another, and each at least once.
    pub(super) async fn go_on(&mut self, over: impl Fn() -> bool) -> Result<()> {
        for fault in Fault::ALL.into_iter().cycle() {
            if over() && self.each_happened() {
                break;
            }
            tokio::time::sleep(PAUSE).await;
            let happened = self.happen(fault).await;
            happened.with_context(|| format!("{fault:?}"))?;
            *self.happened.entry(fault).or_default() += 1;
        }
        Ok(())
    }

    async fn happen(&mut self, fault: Fault) -> Result<()> {
        match fault {
            Fault::KillLeader => self.kill_leader().await,
            Fault::FillStorage => self.fill_storage().await,
            Fault::FreezeServer => {
                self.cluster.server.freeze()?;
                tokio::time::sleep(AWAY).await;
                self.cluster.server.thaw()
            }
            Fault::DeleteLease => {
                let (leases, params) = (self.leases(), DeleteParams::default());
                let deleted = insist("delete the Lease", async || {
                    leases.delete(LEASE, &params).await.map(drop)
                });
                deleted.await?.or_else(is_gone)
            }
            Fault::KillServer => {
                self.cluster.server.kill_api_server()?;
                tokio::time::sleep(AWAY).await;
                self.cluster.server.start_api_server().await
            }
            Fault::StealLease => self.steal_lease().await,
            Fault::SuspendLeader => {
                let leader = self.leader().await?;
                let leader = &self.operators.running[leader];
                leader.signal(Signal::STOP)?;
                tokio::time::sleep(AWAY).await;
                leader.signal(Signal::CONT)
            }
        }
    }

    fn leases(&self) -> Api<Lease> {
        self.cluster.namespaced()
    }

    /// Returns the index of the operator that leads, or led last.
    async fn leader(&self) -> Result<usize> {
        let leases = self.leases();
        let lease = insist("read the Lease", async || leases.get_opt(LEASE).await).await??;
        let holder = lease.and_then(|lease| lease.spec?.holder_identity);
        let is_second = holder.is_some_and(|holder| holder.starts_with(NAMES[1]));
        Ok(usize::from(is_second))
    }

    async fn kill_leader(&mut self) -> Result<()> {
        let leader = self.leader().await?;
        let running = &mut self.operators.running[leader];
        self.operators.memory = self.operators.memory.max(peak(running)?);
        running.kill()?;
        *running = self.cluster.replica(NAMES[leader], NAMES[leader], &[])?;
        Ok(())
    }

    /// Gives the Lease to another holder for a while, and then releases it.
    async fn steal_lease(&self) -> Result<()> {
        let leases = self.leases();
        let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.6fZ");
        let thief = json!({ "spec": { "holderIdentity": "thief", "renewTime": now.to_string() } });
        let back = json!({ "spec": { "holderIdentity": null } });
        let params = PatchParams::default();
        for (spec, pause) in [(thief, AWAY), (back, Duration::ZERO)] {
            let patch = Patch::Merge(spec);
            let patched = insist("steal the Lease", async || {
                leases.patch(LEASE, &params, &patch).await.map(drop)
            });
            patched.await?.or_else(is_gone)?;
            tokio::time::sleep(pause).await;
        }
        Ok(())
    }

    /// Fills the storage, so that no write succeeds until the fillers are deleted.
    async fn fill_storage(&self) -> Result<()> {
        let fillers: Api<ConfigMap> = Api::namespaced(self.cluster.client.clone(), "kube-public");
        let params = PostParams::default();
        let mut number = 0;
        loop {
            let filler = json!({
                "metadata": { "generateName": "filler-", "labels": { "filler": "yes" } },
                "data": { "x": "x".repeat(900_000) },
            });
            let filler: ConfigMap = serde_json::from_value(filler)?;
            match fillers.create(&params, &filler).await {
                Ok(_) => number += 1,
                Err(error) if error.to_string().contains("database space exceeded") => break,
                Err(error) => bail!("it cannot be filled: {error}"),
            }
            ensure!(number < 2_000, "there is no end of space");
        }
        tokio::time::sleep(AWAY).await;
        let all = ListParams::default().labels("filler=yes");
        let params = DeleteParams::default();
        insist("delete what fills it", async || {
            let deleted = fillers.delete_collection(&params, &all);
            deleted.await.map(drop)
        })
        .await??;
        self.cluster.server.free_storage().await
    }
}

fn is_gone(error: kube::Error) -> Result<()> {
    if matches!(&error, kube::Error::Api(status) if status.code == 404) {
        return Ok(());
    }
    Err(error.into())
}
