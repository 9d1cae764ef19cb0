//! The network status in a ConfigMap, and the Lease that decides which of several adaptors of a
//! site writes it and announces the site. Both use the names and the times of the existing
//! implementation, so that an adaptor of that implementation and this one never work at once.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, OwnerReference};
use k8s_openapi::jiff::Timestamp;
use kube::api::{ObjectMeta, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::{NetworkStatus, WriteError};
use crate::boxed::BoxFuture;
use crate::recurring::Recurring;

/// The ConfigMap and its key.
const CONFIG_MAP: &str = "skupper-network-status";
const KEY: &str = "NetworkStatus";

/// The Lease.
const LEASE: &str = "skupper-site-leader";

/// Time after which an unchanged Lease has no holder.
const DURATION: Duration = Duration::from_secs(15);

/// Time after which a leader that cannot renew the Lease stops being the leader.
const DEADLINE: Duration = Duration::from_secs(10);

/// The pause between two attempts.
const RETRY: Duration = Duration::from_secs(2);

/// A namespace for the status, and the name of this process in it.
#[derive(Clone)]
pub struct StatusConfigMap {
    client: Client,
    namespace: String,
    holder: String,
    owner: Option<OwnerReference>,
}

impl StatusConfigMap {
    /// With this API server. The holder is the name of the Pod.
    pub fn new(client: Client, namespace: &str, holder: &str) -> Self {
        Self {
            client,
            namespace: namespace.to_owned(),
            holder: holder.to_owned(),
            owner: None,
        }
    }

    /// The ConfigMap goes with this Site. One that exists keeps its owners.
    #[must_use]
    pub fn owned_by_site(self, name: &str, uid: &str) -> Self {
        let owner = OwnerReference {
            api_version: "skupper.io/v2alpha1".to_owned(),
            kind: "Site".to_owned(),
            name: name.to_owned(),
            uid: uid.to_owned(),
            ..OwnerReference::default()
        };
        Self {
            owner: Some(owner),
            ..self
        }
    }

    async fn apply(&self, document: &str) -> Result<(), kube::Error> {
        let api: Api<ConfigMap> = Api::namespaced(self.client.clone(), &self.namespace);
        let (data, how) = (json!({"data": {KEY: document}}), PatchParams::default());
        match api.patch(CONFIG_MAP, &how, &Patch::Merge(&data)).await {
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            Ok(_) => return Ok(()),
            Err(error) => return Err(error),
        }
        let created = ConfigMap {
            metadata: ObjectMeta {
                owner_references: self.owner.clone().map(|owner| vec![owner]),
                ..named(CONFIG_MAP)
            },
            data: Some([(KEY.to_owned(), document.to_owned())].into()),
            ..ConfigMap::default()
        };
        api.create(&PostParams::default(), &created).await.map(drop)
    }

    /// Holds the Lease whenever that is possible, without end.
    async fn lead(&self, leads: watch::Sender<bool>) {
        let mut election = Election {
            api: Api::namespaced(self.client.clone(), &self.namespace),
            holder: self.holder.clone(),
            seen: None,
        };
        let mut trouble = Recurring::default();
        let mut renewed: Option<Instant> = None;
        loop {
            let began = Instant::now();
            let why = match timeout(DEADLINE, election.attempt()).await {
                Ok(Ok(true)) => {
                    renewed = Some(began);
                    None
                }
                Ok(Ok(false)) => {
                    renewed = None;
                    None
                }
                Ok(Err(error)) => Some(crate::cause::chain(&error)),
                Err(_) => Some(format!("no answer in {DEADLINE:?}")),
            };
            match why {
                None if trouble.worked() => tracing::info!("Lease `{LEASE}` can be used again"),
                Some(why) if trouble.failed(&why) => {
                    let why = crate::plain::plain(&why);
                    tracing::warn!(
                        "cannot use Lease `{LEASE}`, without which the network status is not written: {why}"
                    );
                }
                None | Some(_) => {}
            }
            let is_leader = renewed.is_some_and(|renewed| renewed.elapsed() < DEADLINE);
            leads.send_if_modified(|leads| {
                let differs = *leads != is_leader;
                *leads = is_leader;
                if differs {
                    tracing::info!(is_leader, "the leader of the site has changed");
                }
                differs
            });
            sleep(RETRY).await;
        }
    }
}

impl NetworkStatus for StatusConfigMap {
    fn write<'a>(&'a self, document: &'a str) -> BoxFuture<'a, Result<(), WriteError>> {
        Box::pin(async move {
            let written = self.apply(document).await;
            written.map_err(|source| WriteError::ConfigMap {
                namespace: self.namespace.clone(),
                name: CONFIG_MAP,
                source: Box::new(source),
            })
        })
    }

    fn elect(&self, leads: watch::Sender<bool>) -> BoxFuture<'_, ()> {
        Box::pin(self.lead(leads))
    }
}

/// The attempts to hold the Lease.
struct Election {
    api: Api<Lease>,
    holder: String,
    /// The Lease of another holder, and since when it is unchanged by the clock of this process.
    seen: Option<(LeaseSpec, Instant)>,
}

impl Election {
    /// Takes or renews the Lease; true if this process holds it now.
    async fn attempt(&mut self) -> Result<bool, kube::Error> {
        let now = Instant::now();
        let Some(lease) = self.api.get_opt(LEASE).await? else {
            let lease = Lease {
                metadata: named(LEASE),
                spec: Some(taken(&LeaseSpec::default(), &self.holder, Timestamp::now())),
            };
            return is_ours(self.api.create(&PostParams::default(), &lease).await);
        };
        let spec = lease.spec.clone().unwrap_or_default();
        let since = match &self.seen {
            Some((seen, since)) if *seen == spec => *since,
            Some(_) | None => now,
        };
        self.seen = Some((spec.clone(), since));
        let Some(next) = next(&spec, &self.holder, now - since, Timestamp::now()) else {
            return Ok(false);
        };
        let lease = Lease {
            spec: Some(next),
            ..lease
        };
        // It has the resource version that was read, so that of several only one takes it.
        is_ours(
            self.api
                .replace(LEASE, &PostParams::default(), &lease)
                .await,
        )
    }
}

/// A conflict means that another process was faster.
fn is_ours(done: Result<Lease, kube::Error>) -> Result<bool, kube::Error> {
    match done {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(false),
        Err(error) => Err(error),
    }
}

/// The Lease after this holder has renewed or taken it; none while another one holds it.
fn next(spec: &LeaseSpec, holder: &str, unchanged: Duration, now: Timestamp) -> Option<LeaseSpec> {
    match spec.holder_identity.as_deref() {
        Some(other) if other == holder => Some(LeaseSpec {
            renew_time: Some(MicroTime(now)),
            lease_duration_seconds: seconds(),
            ..spec.clone()
        }),
        Some(other) if !other.is_empty() && unchanged < DURATION => None,
        Some(_) | None => Some(taken(spec, holder, now)),
    }
}

fn taken(spec: &LeaseSpec, holder: &str, now: Timestamp) -> LeaseSpec {
    let transitions = spec
        .lease_transitions
        .map_or(0, |before| before.saturating_add(1));
    LeaseSpec {
        holder_identity: Some(holder.to_owned()),
        acquire_time: Some(MicroTime(now)),
        renew_time: Some(MicroTime(now)),
        lease_duration_seconds: seconds(),
        lease_transitions: Some(transitions),
        ..spec.clone()
    }
}

fn seconds() -> Option<i32> {
    i32::try_from(DURATION.as_secs()).ok()
}

fn named(name: &str) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.to_owned()),
        ..ObjectMeta::default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use lifecycle_client::scripted::{failure, lines, recorded};

    use super::*;

    #[tokio::test]
    async fn a_config_map_is_changed_and_created_where_it_is_missing() {
        for is_there in [true, false] {
            let (client, asked) = recorded(move |line, _| match line.starts_with("PATCH") {
                true if !is_there => failure(404, "NotFound", "it is not there"),
                true | false => (200, json!({"metadata": {"name": CONFIG_MAP}})),
            });
            let status = StatusConfigMap::new(client, "site", "pod").owned_by_site("west", "uid");
            status.write("{}").await.unwrap();
            let asked_of = lines(&asked);
            let maps = "/api/v1/namespaces/site/configmaps";
            assert!(asked_of[0].starts_with(&format!("PATCH {maps}/{CONFIG_MAP}")));
            assert_eq!(asked_of.len(), if is_there { 1 } else { 2 });
            for (_, body) in asked.lock().unwrap().iter() {
                assert_eq!(body["data"], json!({KEY: "{}"}));
            }
            if let Some((_, created)) = asked.lock().unwrap().get(1) {
                let owner = &created["metadata"]["ownerReferences"][0];
                assert_eq!(
                    (&owner["kind"], &owner["uid"]),
                    (&json!("Site"), &json!("uid"))
                );
            }
        }
        let refuse = |_: &str, _: &serde_json::Value| failure(403, "Forbidden", "no");
        let status = StatusConfigMap::new(recorded(refuse).0, "site", "pod");
        let error = status.write("{}").await.unwrap_err().to_string();
        assert!(
            error.contains("ConfigMap `site/skupper-network-status`"),
            "{error}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn one_of_two_leads_and_the_other_follows_when_it_stops() {
        let lease = Arc::new(Mutex::new(None::<serde_json::Value>));
        let server = move |line: &str, body: &serde_json::Value| {
            let mut lease = lease.lock().unwrap();
            if line.starts_with("GET") {
                let absent = || failure(404, "NotFound", "it is not there");
                return lease.clone().map_or_else(absent, |lease| (200, lease));
            }
            *lease = Some(body.clone());
            (200, body.clone())
        };
        let (client, _) = recorded(server);
        let start = |holder: &str| {
            let status = StatusConfigMap::new(client.clone(), "site", holder);
            let (leads, is_leader) = watch::channel(false);
            let electing = tokio::spawn(async move { status.elect(leads).await });
            (electing, is_leader)
        };
        let (first, mut first_leads) = start("a");
        first_leads.wait_for(|leads| *leads).await.unwrap();
        let (_second, mut second_leads) = start("b");
        sleep(DURATION * 4).await;
        assert!(*first_leads.borrow() && !*second_leads.borrow());
        first.abort();
        second_leads.wait_for(|leads| *leads).await.unwrap();
    }

    #[test]
    fn a_lease_is_renewed_or_taken_when_nobody_has_it() {
        let now = Timestamp::UNIX_EPOCH;
        let own = taken(&LeaseSpec::default(), "a", now);
        assert_eq!(own.lease_transitions, Some(0));
        assert_eq!(next(&own, "a", Duration::ZERO, now), Some(own.clone()));
        let almost = DURATION - Duration::from_millis(1);
        assert_eq!(next(&own, "b", almost, now), None);
        let other = next(&own, "b", DURATION, now).unwrap();
        assert_eq!(other.holder_identity.as_deref(), Some("b"));
        assert_eq!(other.lease_transitions, Some(1));
        let free = LeaseSpec {
            holder_identity: Some(String::new()),
            ..own
        };
        assert!(next(&free, "b", Duration::ZERO, now).is_some());
    }
}
