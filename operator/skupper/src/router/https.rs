//! Routers in Pods: asked over HTTPS, where both sides show certificates that follow from the key of the controller.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use lifecycle_router::state::client::{Credentials, ask};
use lifecycle_runtime::lifecycle::CallError;
use lifecycle_specs_skupper::router::{RouterState, SITE};
use tokio::time::Instant;

use super::credentials::{Root, Side};
use super::objects::STATE_PORT;
use super::state::{Routers, reported};
use crate::namespace::pods::is_ready;
use lifecycle_runtime::cause;

/// Several lifecycles ask for the same; what is younger than this answers them all.
const FRESH: Duration = Duration::from_millis(300);

/// How long an answer is kept at most; the next question comes long before.
const LONGEST_KEPT: Duration = Duration::from_secs(60);

/// Asks the routers of Pods.
#[derive(Debug)]
pub struct Https {
    root: Root,
    /// What was answered last, by Site: who asks meanwhile waits for it.
    answers: Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<Option<Answer>>>>>,
}

#[derive(Debug)]
struct Answer {
    at: Instant,
    state: Result<RouterState, CallError>,
}

impl Https {
    /// With the key of the controller.
    pub fn new(root: Root) -> Self {
        let answers = Mutex::default();
        Self { root, answers }
    }

    async fn ask_anew(&self, doors: Vec<(String, SocketAddr)>) -> Result<RouterState, CallError> {
        let mut why = "no Pod of the router has an address yet".to_owned();
        for (site, address) in doors {
            match ask(address, &self.credentials(&site)?).await {
                Ok(state) => return Ok(reported(&state)),
                Err(error) => why = cause::in_one_line(&error),
            }
        }
        Err(CallError::Failed(why))
    }

    fn answer_of(&self, site: &str) -> Arc<tokio::sync::Mutex<Option<Answer>>> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        // Answers of Sites that no lifecycle asks for any more are dropped; one that is asked for now is locked.
        let is_young = |answer: &Answer| answer.at.elapsed() < LONGEST_KEPT;
        answers.retain(|_, answer| match answer.try_lock() {
            Ok(answer) => answer.as_ref().is_some_and(is_young),
            Err(_) => true,
        });
        Arc::clone(answers.entry(site.to_owned()).or_default())
    }

    fn credentials(&self, site: &str) -> Result<Credentials, CallError> {
        let made = self.root.credentials(site, Side::Controller);
        let made = made.map_err(|error| CallError::Failed(cause::in_one_line(&error)))?;
        Ok(Credentials {
            authority: made.authority.into_bytes(),
            certificate: made.certificate.into_bytes(),
            key: made.key.into_bytes(),
        })
    }
}

impl Routers for Https {
    async fn ask(&self, pods: Vec<&Pod>) -> Result<RouterState, CallError> {
        let doors = doors(&pods);
        let Some((site, _)) = doors.first() else {
            return self.ask_anew(doors).await;
        };
        let answer = self.answer_of(site);
        let mut answer = answer.lock().await;
        if let Some(answer) = &*answer
            && answer.at.elapsed() < FRESH
        {
            return answer.state.clone();
        }
        let state = self.ask_anew(doors).await;
        *answer = Some(Answer {
            at: Instant::now(),
            state: state.clone(),
        });
        state
    }
}

/// Where the routers of these Pods can be asked, and of which Site they are: those that are ready first, of these the newest.
fn doors(pods: &[&Pod]) -> Vec<(String, SocketAddr)> {
    let mut pods: Vec<&Pod> = pods.to_vec();
    let going = |pod: &Pod| pod.metadata.deletion_timestamp.is_some();
    pods.sort_by_key(|pod| {
        let created = pod.metadata.creation_timestamp.as_ref().map(|at| at.0);
        (going(pod), !is_ready(pod), std::cmp::Reverse(created))
    });
    let door = |pod: &Pod| {
        let address: IpAddr = pod.status.as_ref()?.pod_ip.as_ref()?.parse().ok()?;
        let site = pod.labels().get(SITE)?.clone();
        Some((site, SocketAddr::new(address, STATE_PORT)))
    };
    pods.into_iter().filter_map(door).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn pod(created: &str, ip: Value, ready: &str) -> Pod {
        let pod = json!({
            "metadata": { "creationTimestamp": created, "labels": { "internal.skupper.io/site": "uid" } },
            "status": { "podIP": ip, "conditions": [{ "type": "Ready", "status": ready }] },
        });
        serde_json::from_value(pod).expect("it is a Pod")
    }

    #[test]
    fn the_newest_router_that_is_ready_is_asked_first() {
        let all = [
            pod("2026-01-03T00:00:00Z", json!("10.0.0.3"), "False"),
            pod("2026-01-01T00:00:00Z", json!("10.0.0.1"), "True"),
            pod("2026-01-02T00:00:00Z", json!("fd00::2"), "True"),
            pod("2026-01-04T00:00:00Z", json!(null), "False"),
        ];
        let doors = doors(&all.iter().collect::<Vec<_>>());
        let addresses: Vec<String> = doors.iter().map(|(_, at)| at.to_string()).collect();
        assert_eq!(
            addresses,
            ["[fd00::2]:9443", "10.0.0.1:9443", "10.0.0.3:9443"]
        );
        assert_eq!(doors[0].0, "uid");
    }

    #[tokio::test]
    async fn without_an_address_there_is_nobody_to_ask() {
        let routers = Https::new(Root::new(&[1; 32]));
        let answer = routers.ask(vec![]).await;
        let said = "no Pod of the router has an address yet".to_owned();
        assert_eq!(answer, Err(CallError::Failed(said)));
    }
}
