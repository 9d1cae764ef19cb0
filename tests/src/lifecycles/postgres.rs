//! A Postgres cluster: instances with a volume each, a primary that is recorded before any
//! promotion, failover, a minted password, and hibernation. Polls query the instances by their
//! names. With a poll by `pods`, each write of a Pod would count as possibly removing the record of
//! the primary. LC023 would then see the two undo each other.
//!
//! Not expressed: a rolling replacement of instances when the image changes. A Pod keeps its image
//! until it is deleted, and the status counts the outdated ones. Each replacement waits for the
//! promise that the new one follows, and the next one begins after it. The checker therefore sees a
//! cycle (LC022): it knows no number that only falls.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod, Secret, Service};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, ResourceExt};
use lifecycle_runtime::lifecycle::{CallError, Random};
use lifecycle_runtime::{Because, Desired, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::provider::{Provider, ProviderState};

/// Desired state of a Cluster.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "postgres.tests",
    version = "v1",
    kind = "Cluster",
    namespaced,
    status = "ClusterStatus"
)]
pub struct ClusterSpec {
    /// How many run.
    #[schemars(range(min = 1))]
    pub instances: u8,
    /// Image that the instances run.
    pub image: String,
    /// How much each stores, in GiB.
    #[schemars(extend("x-kubernetes-validations" = [{ "rule": "self >= oldSelf", "message": "no volume becomes smaller" }]))]
    pub storage: u16,
    /// True if nothing must run for now.
    #[serde(default)]
    pub hibernated: bool,
}

/// Observed state of a Cluster.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterStatus {
    /// Healthy, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
    /// Name of the instance that leads.
    #[serde(default)]
    pub current_primary: Option<String>,
    /// How many there are.
    #[serde(default)]
    pub instances: Option<i32>,
    /// Number of instances that do not run the desired image.
    #[serde(default)]
    pub outdated: Option<i32>,
}

/// The name of the instance that is to lead.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Primary(pub String);

/// State of an instance, as it reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// True if it accepts writes; otherwise it follows the instance that does.
    pub leads: bool,
    /// True if it does not work.
    pub failed: bool,
    /// True if it lacks data of the primary.
    pub lags: bool,
    /// The uid of the Pod that it runs in.
    pub pod: String,
}

/// States that all instances of a Cluster report, by name.
pub type Replication = BTreeMap<String, Instance>;

/// All instances that run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instances(pub Replication);

/// Databases outside the API server.
pub type Databases = Provider<Instances>;

/// On each Pod and claim: the name of the Cluster.
pub const CLUSTER: &str = "postgres.tests/cluster";
/// Label on each Pod with its own name, by which the Service finds the primary.
pub const INSTANCE: &str = "postgres.tests/instance";

include!("../../../macros/core/tests/lifecycles/postgres.txt");

/// Set of desired instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span(BTreeSet<String>);

fn instance(this: This<'_, Cluster>, number: u8) -> String {
    format!("{}-{number}", this.meta.name.as_deref().unwrap_or_default())
}

/// Returns the instance that must lead. The current leader keeps its role as long as it works and
/// is wanted. Otherwise an instance with all existing data takes over.
pub fn heir(
    this: This<'_, Cluster>,
    primary: Option<&Primary>,
    beats: Option<&Replication>,
) -> Primary {
    let recorded = primary.map_or_else(|| instance(this, 1), |p| p.0.clone());
    let Some(beats) = beats.filter(|_| !this.spec.hibernated) else {
        return Primary(recorded);
    };
    let all: Vec<String> = (1..=this.spec.instances)
        .map(|n| instance(this, n))
        .collect();
    let works = |name: &&String| beats.get(*name).is_some_and(|one| !one.failed);
    if works(&&recorded) && all.contains(&recorded) {
        return Primary(recorded);
    }
    let is_able = |name: &&String| works(name) && !beats[*name].lags;
    let mut others = all.iter().filter(|name| **name != recorded);
    let next = others.find(is_able);
    Primary(next.cloned().unwrap_or(recorded))
}

impl Instances {
    /// Makes the designated primary run in its Pod, and makes the others stop leading. Returns true
    /// if anything changed.
    pub fn promote(&mut self, pods: &[(String, String)], primary: &str) -> bool {
        let before = self.clone();
        self.end_without(pods);
        for (name, one) in &mut self.0 {
            one.leads = name == primary;
        }
        self.run(pods, primary, |name| name == primary);
        *self != before
    }

    /// The others run and follow it.
    pub fn join(&mut self, pods: &[(String, String)], primary: &str) -> bool {
        let before = self.clone();
        self.end_without(pods);
        self.run(pods, primary, |name| name != primary);
        *self != before
    }

    fn end_without(&mut self, pods: &[(String, String)]) {
        let runs = |name: &String| pods.iter().any(|(pod, _)| pod == name);
        self.0.retain(|name, _| runs(name));
    }

    fn run(&mut self, pods: &[(String, String)], primary: &str, which: impl Fn(&str) -> bool) {
        for (name, pod) in pods.iter().filter(|(name, _)| which(name)) {
            let one = Instance {
                leads: name == primary,
                failed: false,
                lags: false,
                pod: pod.clone(),
            };
            self.0.insert(name.clone(), one);
        }
    }
}

impl ProviderState for Instances {
    /// They go with their Pods.
    fn leftovers(&self) -> Vec<String> {
        Vec::new()
    }

    const MEDDLINGS: &[&str] = &["the primary fails", "all fail", "replicas fall behind"];

    fn perturb(&mut self, what: &str) {
        let all = self.0.values_mut();
        match what {
            "the primary fails" => all
                .filter(|one| one.leads)
                .for_each(|one| one.failed = true),
            "all fail" => all.for_each(|one| one.failed = true),
            _ => all.filter(|one| !one.leads).for_each(|one| one.lags = true),
        }
    }

    fn follow(&mut self, deleted: &Value) {
        if deleted["kind"] == "Pod"
            && let Some(name) = deleted["metadata"]["name"].as_str()
        {
            self.0.remove(name);
        }
    }
}

/// The logic of a Cluster: where its databases are.
pub struct InDatabases(pub Databases);

fn labels(this: This<'_, Cluster>) -> BTreeMap<String, String> {
    let name = this.meta.name.clone().unwrap_or_default();
    BTreeMap::from([(CLUSTER.to_owned(), name)])
}

fn image(pod: &Pod) -> Option<&String> {
    pod.spec.as_ref()?.containers.first()?.image.as_ref()
}

/// Returns the report of an instance that runs in the Pod of its name. A recreated instance reports
/// later.
fn in_pod<'a>(name: &str, pods: &[&Pod], beats: &'a Replication) -> Option<&'a Instance> {
    let pod = pods.iter().find(|pod| pod.name_any() == name)?;
    let one = beats.get(name)?;
    (pod.uid().as_ref() == Some(&one.pod)).then_some(one)
}

impl ClusterLogic for InDatabases {
    async fn poll_beats(&self, this: This<'_, Cluster>) -> Result<Replication, CallError> {
        let prefix = format!("{}-", this.meta.name.as_deref().unwrap_or_default());
        let look = |all: &mut Instances| {
            let ours = all.0.iter().filter(|(name, _)| name.starts_with(&prefix));
            Ok(ours.map(|(n, one)| (n.clone(), one.clone())).collect())
        };
        self.0.query(&format!("look at {prefix}*"), look).await
    }

    fn hibernated(&self, this: This<'_, Cluster>) -> Because<bool> {
        Because::new(this.spec.hibernated, "spec.hibernated says so")
    }

    fn doomed(
        &self,
        _: This<'_, Cluster>,
        volumes: &[&PersistentVolumeClaim],
        pods: &[&Pod],
    ) -> Because<bool> {
        let is_used = |name: &str| pods.iter().any(|pod| pod.name_any() == name);
        let mut going = volumes
            .iter()
            .filter(|claim| claim.metadata.deletion_timestamp.is_some());
        match going.find(|claim| is_used(&claim.name_any())) {
            Some(claim) => {
                let name = claim.name_any();
                Because::new(
                    true,
                    format!(
                        "volume {name} is being deleted: delete Pod {name} if it may be made anew"
                    ),
                )
            }
            None => Because::plain(false),
        }
    }

    fn read_password(&self, _: This<'_, Cluster>, secret: &Secret) -> Option<Password> {
        let text = secret.data.as_ref()?.get("password")?;
        (!text.0.is_empty()).then(|| Password(text.0.clone()))
    }

    fn make_password(&self, _: This<'_, Cluster>, random: &mut Random) -> Password {
        Password(
            random
                .text(24, "abcdefghjkmnpqrstuvwxyz23456789")
                .into_bytes(),
        )
    }

    fn heir(
        &self,
        this: This<'_, Cluster>,
        primary: Option<&Primary>,
        beats: Option<&Replication>,
    ) -> Primary {
        heir(this, primary, beats)
    }

    fn span(&self, this: This<'_, Cluster>, primary: Option<&Primary>) -> Span {
        let wanted = (1..=this.spec.instances).map(|n| instance(this, n));
        // The one that leads stays until another one does.
        Span(wanted.chain(primary.map(|p| p.0.clone())).collect())
    }

    fn leader(
        &self,
        this: This<'_, Cluster>,
        primary: &Primary,
        pods: &[&Pod],
        beats: &Replication,
    ) -> Because<Leader> {
        let name = &primary.0;
        match in_pod(name, pods, beats) {
            Some(one) if one.failed => Because::new(Leader::Down, format!("{name} has failed")),
            Some(one) if one.leads => Because::plain(Leader::Up),
            Some(_) => Because::new(Leader::Starting, format!("{name} is to be promoted")),
            None if heir(this, Some(primary), Some(beats)) != *primary => {
                Because::new(Leader::Down, format!("{name} is gone"))
            }
            None => Because::new(Leader::Starting, format!("{name} is starting")),
        }
    }

    fn followers(
        &self,
        _: This<'_, Cluster>,
        primary: &Primary,
        span: &Span,
        pods: &[&Pod],
        beats: &Replication,
    ) -> Because<Followers> {
        let follows = |name: &&String| {
            let one = in_pod(name, pods, beats);
            one.is_some_and(|one| !one.failed && !one.lags)
        };
        let mut others = span.0.iter().filter(|name| **name != primary.0);
        match others.find(|name| !follows(name)) {
            Some(name) => Because::new(Followers::Few, format!("{name} does not follow yet")),
            None => Because::plain(Followers::All),
        }
    }

    fn apply_secret(&self, at: ApplySecret<'_>) -> Desired<Secret> {
        let data = [
            ("username", b"postgres".to_vec()),
            ("password", at.password.0.clone()),
        ];
        let data = data.map(|(key, value)| (key.to_owned(), ByteString(value)));
        Desired::from_object(&Secret {
            data: Some(BTreeMap::from(data)),
            ..Secret::default()
        })
    }

    fn apply_volumes(&self, at: ApplyVolumes<'_>) -> Vec<Desired<PersistentVolumeClaim>> {
        let claim = |name: &String| {
            Desired::from_json(json!({
                "metadata": { "name": name, "labels": labels(at.this) },
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": { "requests": { "storage": format!("{}Gi", at.this.spec.storage) } },
                },
            }))
        };
        at.span.0.iter().map(claim).collect()
    }

    fn appoint(&self, at: Appoint<'_>) -> Primary {
        at.heir.clone()
    }

    fn apply_pods(&self, at: ApplyPods<'_>) -> Vec<Desired<Pod>> {
        if at.this.spec.hibernated {
            return Vec::new();
        }
        let pod = |name: &String| {
            // A running instance keeps its image.
            let before = at.pods.iter().find(|pod| pod.name_any() == *name);
            let image = before.and_then(|pod| image(pod));
            let password =
                json!({ "secretKeyRef": { "name": at.secret.name_any(), "key": "password" } });
            let mut labels = labels(at.this);
            labels.insert(INSTANCE.to_owned(), name.clone());
            Desired::from_json(json!({
                "metadata": { "name": name, "labels": labels },
                "spec": {
                    "containers": [{
                        "name": "postgres",
                        "image": image.unwrap_or(&at.this.spec.image),
                        "env": [{ "name": "PGPASSWORD", "valueFrom": password }],
                        "volumeMounts": [{ "name": "data", "mountPath": "/data" }],
                    }],
                    "volumes": [{ "name": "data", "persistentVolumeClaim": { "claimName": name } }],
                },
            }))
        };
        at.span.0.iter().map(pod).collect()
    }

    fn apply_rw(&self, at: ApplyRw<'_>) -> Desired<Service> {
        Desired::from_json(json!({
            "spec": {
                "selector": { INSTANCE: at.primary.0 },
                "ports": [{ "name": "postgres", "port": 5432 }],
            },
        }))
    }

    fn current_primary(&self, _: This<'_, Cluster>, primary: &Primary) -> Option<String> {
        Some(primary.0.clone())
    }

    fn outdated(&self, this: This<'_, Cluster>, pods: &[&Pod]) -> i32 {
        let old = pods
            .iter()
            .filter(|pod| image(pod) != Some(&this.spec.image));
        i32::try_from(old.count()).unwrap_or(i32::MAX)
    }

    fn instances(&self, _: This<'_, Cluster>, pods: &[&Pod]) -> i32 {
        i32::try_from(pods.len()).unwrap_or(i32::MAX)
    }
}

/// Password kept in the Secret; it is never printed.
pub struct Password(Vec<u8>);

#[cfg(test)]
mod tests {
    use super::*;

    fn test_instance(failed: bool, lags: bool) -> Instance {
        Instance {
            leads: false,
            failed,
            lags,
            pod: String::new(),
        }
    }

    #[track_caller]
    fn check(instances: u8, recorded: &str, beats: &[Instance], expected: &str) {
        let spec = ClusterSpec {
            instances,
            ..ClusterSpec::default()
        };
        let cluster = Cluster::new("c", spec);
        let beats = (1..).map(|n| format!("c-{n}")).zip(beats.iter().cloned());
        let (beats, recorded): (Replication, _) = (beats.collect(), Primary(recorded.to_owned()));
        let next = heir(This::new(&cluster), Some(&recorded), Some(&beats));
        assert_eq!(next.0, expected);
    }

    #[test]
    fn another_one_leads_only_if_it_must_and_can() {
        let (works, failed, lags) = (
            test_instance(false, false),
            test_instance(true, false),
            test_instance(false, true),
        );
        let of = |all: &[&Instance]| all.iter().map(|one| (*one).clone()).collect::<Vec<_>>();
        check(2, "c-1", &of(&[&works, &works]), "c-1");
        check(2, "c-1", &of(&[&failed, &works]), "c-2");
        check(2, "c-1", &of(&[&failed, &failed]), "c-1");
        check(3, "c-1", &of(&[&failed, &lags, &works]), "c-3");
        check(2, "c-1", &[], "c-1");
        // Fewer are wanted, and the one that leads is not among them.
        check(1, "c-2", &of(&[&works, &works]), "c-1");
        check(1, "c-2", &of(&[&failed, &works]), "c-2");
    }
}
