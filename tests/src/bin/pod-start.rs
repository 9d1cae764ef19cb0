//! `pod-start`: how long Pods take from their creation to Running, side by side on one real cluster: with an `emptyDir`, with a Listener volume
//! whose claim is new, and with one whose claim was mounted before. Says what the process on the node needs of memory, too.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use kube::ResourceExt;
use kube::api::DeleteParams;
use kube::runtime::watcher::{Config, Event, watcher};
use lifecycle_tests::cluster::WORKLOAD;
use lifecycle_tests::installed::Installed;
use serde_json::{Value, json};

/// Pods of each kind.
const TIMES: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    EmptyDir,
    NewClaim,
    KnownClaim,
}

impl Kind {
    const ALL: [Self; 3] = [Self::EmptyDir, Self::NewClaim, Self::KnownClaim];

    fn claim(self, round: usize) -> Option<String> {
        match self {
            Self::EmptyDir => None,
            Self::NewClaim => Some(format!("new-{round}")),
            Self::KnownClaim => Some("known".to_owned()),
        }
    }

    fn volume(self, round: usize) -> Value {
        match self.claim(round) {
            None => json!({ "name": "data", "emptyDir": {} }),
            Some(claim) => {
                json!({ "name": "data", "persistentVolumeClaim": { "claimName": claim } })
            }
        }
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let operator = env::current_exe()?.with_file_name("operator-under-test");
    let site = Installed::start(1, &operator).await?;
    claim(&site, "known").await?;
    // Whoever is first waits for what everybody needs.
    for kind in Kind::ALL {
        if kind == Kind::NewClaim {
            claim(&site, "new-0").await?;
        }
        start(&site, kind, 0).await?;
    }
    let mut took: BTreeMap<Kind, Vec<Duration>> = BTreeMap::new();
    for round in 1..=TIMES {
        claim(&site, &format!("new-{round}")).await?;
        for kind in Kind::ALL {
            let time = start(&site, kind, round).await?;
            took.entry(kind).or_default().push(time);
        }
    }
    for (kind, mut times) in took {
        times.sort();
        let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
        eprintln!("{kind:?}: {median:.2?} at the median, {worst:.2?} at most, {TIMES} Pods");
    }
    for part in ["node", "controller"] {
        let kib = resident(part)?;
        eprintln!("`run {part}`: {kib} KiB resident");
    }
    site.cluster.stop()
}

async fn claim(site: &Installed, name: &str) -> Result<()> {
    let class = json!({ "listeners.stackable.tech/listener-class": "cluster-internal" });
    let claim = site.create::<PersistentVolumeClaim>(json!({
        "metadata": { "name": name, "annotations": class },
        "spec": {
            "accessModes": ["ReadWriteMany"], "storageClassName": "listeners.stackable.tech",
            "resources": { "requests": { "storage": "1" } },
        },
    }));
    claim.await.map(drop)
}

/// From the creation of a Pod until it is said to run; it is gone afterwards.
async fn start(site: &Installed, kind: Kind, round: usize) -> Result<Duration> {
    let name = format!("{kind:?}-{round}").to_lowercase();
    let mount = json!({ "name": "data", "mountPath": "/data" });
    let container = json!({
        "name": "serve", "image": WORKLOAD, "imagePullPolicy": "Never", "args": ["serve", "8080"],
        "ports": [{ "name": "http", "containerPort": 8080 }], "volumeMounts": [mount],
    });
    let pods = site.api::<Pod>();
    let began = Instant::now();
    let pod = site.create::<Pod>(json!({
        "metadata": { "name": name },
        "spec": {
            "terminationGracePeriodSeconds": 0, "containers": [container],
            "volumes": [kind.volume(round)],
        },
    }));
    let name = pod.await?.name_any();
    let running = |pod: &Option<Pod>| {
        let status = pod.as_ref().and_then(|pod| pod.status.as_ref());
        status.and_then(|status| status.phase.as_deref()) == Some("Running")
    };
    let config = Config::default();
    let config = config.fields(&format!("metadata.name={name}"));
    let mut seen = watcher(pods.clone(), config).boxed();
    let within = Duration::from_secs(120);
    let wait = async {
        while let Some(event) = seen.try_next().await? {
            let pod = match event {
                Event::Apply(pod) | Event::InitApply(pod) => Some(pod),
                Event::Delete(_) | Event::Init | Event::InitDone => None,
            };
            if running(&pod) {
                return anyhow::Ok(began.elapsed());
            }
        }
        bail!("the watch ended")
    };
    let took = tokio::time::timeout(within, wait).await;
    let took = took.with_context(|| format!("{name} does not run"))??;
    pods.delete(&name, &DeleteParams::default()).await?;
    while pods.get_opt(&name).await?.is_some() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(took)
}

/// Resident memory of the operator's process that runs this part, in KiB.
fn resident(part: &str) -> Result<u64> {
    for process in fs::read_dir("/proc")?.flatten() {
        let command = fs::read_to_string(process.path().join("cmdline")).unwrap_or_default();
        if command == format!("/lifecycle-operator\0run\0{part}\0") {
            let status = fs::read_to_string(process.path().join("status"))?;
            let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
            let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
            return Ok(kib.context("no VmRSS")?.parse()?);
        }
    }
    bail!("`run {part}` does not run")
}
