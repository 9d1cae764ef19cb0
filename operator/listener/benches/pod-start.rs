//! `pod-start`: measures the time of Pods from their creation to Running, side by side on one real
//! cluster. It compares an `emptyDir`, a plain directory of the test driver, a Listener volume with
//! a claim that was mounted before, and one with a new claim. It also prints the memory of the
//! processes. With `--operator PROGRAM` it measures this program, such as one of a release build.
//! With `--timeline` it also prints the requests to the API server during the start of the last Pod
//! of each kind.

#[path = "../tests/e2e/installed.rs"]
#[allow(dead_code, reason = "end-to-end tests ask more of it")]
mod installed;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use futures::{StreamExt, TryStreamExt};
use installed::{Installed, PATIENCE};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim, Pod};
use k8s_openapi::api::storage::v1::CSIDriver;
use kube::api::{DeleteParams, PostParams};
use kube::runtime::watcher::{Config, Event, watcher};
use kube::{Api, ResourceExt};
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_tests::cluster::WORKLOAD;
use lifecycle_tests::harness::eventually;
use lifecycle_tests::volumes::disk::{Disk, Volume, id_of};
use lifecycle_tests::volumes::{self, Places};
use serde_json::{Value, json};

/// Pods of each kind.
const TIMES: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    EmptyDir,
    Directory,
    KnownClaim,
    NewClaim,
}

impl Kind {
    const ALL: [Self; 4] = [
        Self::EmptyDir,
        Self::Directory,
        Self::KnownClaim,
        Self::NewClaim,
    ];

    fn claim(self, round: usize) -> Option<String> {
        match self {
            Self::EmptyDir => None,
            Self::Directory => Some("directory".to_owned()),
            Self::KnownClaim => Some("known".to_owned()),
            Self::NewClaim => Some(format!("new-{round}")),
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
    // Cargo adds a word of its own.
    let words: Vec<String> = env::args().skip(1).filter(|w| w != "--bench").collect();
    if let [first, kubelet] = &words[..]
        && first == "directory"
    {
        return serve_directories(Path::new(kubelet)).await;
    }
    let mut operator = Path::new(env!("CARGO_BIN_EXE_listener-operator")).to_owned();
    let mut timeline = false;
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--operator" => operator = words.next().context("--operator needs a program")?.into(),
            "--timeline" => timeline = true,
            _ => bail!("`{word}` is not known; usage: pod-start [--operator PROGRAM] [--timeline]"),
        }
    }
    compare(&operator, timeline).await
}

async fn compare(operator: &Path, timeline: bool) -> Result<()> {
    let site = Installed::start(1, operator).await?;
    claim(&site, "known").await?;
    let mut driver = install_directories(&site).await?;
    // The first Pod waits for the shared setup.
    claim(&site, "new-0").await?;
    for kind in Kind::ALL {
        start(&site, kind, 0).await?;
    }
    let mut took: BTreeMap<Kind, Vec<Duration>> = BTreeMap::new();
    for round in 1..=TIMES {
        claim(&site, &format!("new-{round}")).await?;
        for kind in Kind::ALL {
            let began = Timestamp::now();
            let time = start(&site, kind, round).await?;
            took.entry(kind).or_default().push(time);
            if timeline && round == TIMES {
                print_requests(&site, kind, began, time).await?;
            }
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
    driver.kill()?;
    driver.wait()?;
    site.cluster.stop()
}

/// Serves the directory driver on a node, as this program is started there.
async fn serve_directories(kubelet: &Path) -> Result<()> {
    let root = kubelet.join("plugins").join(volumes::NAME);
    let places = Places {
        registrations: Some(kubelet.join("plugins_registry")),
        ..Places::inside(&root)
    };
    let volume = Volume {
        name: "directory".to_owned(),
        capacity: 0,
        parameters: BTreeMap::new(),
    };
    Disk::new(places.disk.clone()).make(&volume)?;
    Ok(volumes::serve(places, Shutdown::on_signals()?).await?)
}

/// The directory driver runs on the node beside the operator, and a claim has its one volume.
async fn install_directories(site: &Installed) -> Result<Child> {
    let client = site.cluster.client();
    let driver: CSIDriver = serde_json::from_value(json!({
        "metadata": { "name": volumes::NAME },
        "spec": { "attachRequired": false },
    }))?;
    let volume: PersistentVolume = serde_json::from_value(json!({
        "metadata": { "name": "directory" },
        "spec": {
            "accessModes": ["ReadWriteMany"], "capacity": { "storage": "1" },
            "claimRef": { "namespace": "default", "name": "directory" },
            "csi": { "driver": volumes::NAME, "volumeHandle": id_of("directory") },
        },
    }))?;
    let how = PostParams::default();
    Api::all(client.clone()).create(&how, &driver).await?;
    Api::all(client).create(&how, &volume).await?;
    let claim = site.create::<PersistentVolumeClaim>(json!({
        "metadata": { "name": "directory" },
        "spec": {
            "accessModes": ["ReadWriteMany"], "storageClassName": "", "volumeName": "directory",
            "resources": { "requests": { "storage": "1" } },
        },
    }));
    claim.await?;
    let node = &site.cluster.nodes()[0];
    let mut serve = node.command(env::current_exe()?);
    let serve = serve.args(["directory", "/var/lib/kubelet"]);
    let serve = serve.stdin(Stdio::null()).spawn()?;
    let claims = site.api::<PersistentVolumeClaim>();
    eventually("the claim `directory` is bound", PATIENCE, async || {
        let claim = claims.get("directory").await?;
        let phase = claim.status.and_then(|status| status.phase);
        Ok((phase.as_deref() == Some("Bound")).then_some(()))
    })
    .await?;
    Ok(serve)
}

/// Prints the requests to the API server while a Pod started, in milliseconds since its creation.
async fn print_requests(
    site: &Installed,
    kind: Kind,
    began: Timestamp,
    took: Duration,
) -> Result<()> {
    let until = began.checked_add(jiff::SignedDuration::try_from(took)?)?;
    eprintln!("{kind:?}: {took:.2?}");
    for entry in site.cluster.audit().await?.iter() {
        let is_of_it = entry.received >= began && entry.received <= until;
        if is_of_it && entry.resource != "leases" {
            let at = entry.received.duration_since(began).as_millis();
            let answered = entry.answered.duration_since(began).as_millis();
            eprintln!("  {at:>5} to {answered:>5} {}", entry.line());
        }
    }
    Ok(())
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

/// Returns the time from the creation of a Pod until it is reported as running. The Pod is deleted
/// afterwards.
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
        if command == format!("/listener-operator\0run\0{part}\0") {
            let status = fs::read_to_string(process.path().join("status"))?;
            let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
            let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
            return Ok(kib.context("no VmRSS")?.parse()?);
        }
    }
    bail!("`run {part}` does not run")
}
