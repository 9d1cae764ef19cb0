//! Routers in Pods. The embedded router is queried over HTTPS, where both sides present the
//! Certificate of their namespace that is used inside the cluster. The adaptor of this project
//! beside the existing router is queried in the same way. For the existing adaptor, the ConfigMaps
//! of its namespace contain the state.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use kube::{Api, Client, ResourceExt};
use lifecycle_router::state::client::{Credentials, fetch_state};
use lifecycle_runtime::lifecycle::CallError;
use lifecycle_specs_skupper::router::{LOCAL_SERVER, RouterState, SITE};
use tokio::time::{Instant, sleep};

use super::network_status;
use super::objects::STATE_PORT;
use super::state::{Routers, reported};
use crate::certificate::{AUTHORITY, CHAIN, KEY, text};
use crate::namespace::pods::is_ready;
use lifecycle_runtime::cause;

const NOBODY: &str = "no Pod of the router has an address yet";

/// Maximum age of an answer that serves several lifecycles with equal queries.
const FRESH: Duration = Duration::from_millis(300);

/// Time after which the next Pod is queried as well. A router answers within milliseconds; a Pod
/// that only bears its label never answers.
const LONG: Duration = Duration::from_millis(500);

/// Upper bound on the queried Pods of a router.
const MOST: usize = 8;

/// How long an answer is kept at most; the next question comes long before.
const LONGEST_KEPT: Duration = Duration::from_secs(60);

/// Minimum time between two reads of one Secret: a router that does not answer is queried every few
/// seconds, mostly for another reason.
const READ_AGAIN: Duration = Duration::from_secs(2);

/// Client that queries the routers of Pods.
pub struct Https {
    client: Client,
    /// Last answers, by namespace and Site. A concurrent query waits for the answer.
    answers: Mutex<BTreeMap<Seat, Arc<tokio::sync::Mutex<Option<Answer>>>>>,
}

/// Namespace of the Pods of a router, and the Site that the Pods claim: any Pod may bear the label.
type Seat = (String, String);

/// A Secret, as it was read.
#[derive(Debug)]
struct CachedCredentials {
    at: Instant,
    credentials: Credentials,
}

#[derive(Debug)]
struct Answer {
    at: Instant,
    state: Result<RouterState, CallError>,
    shown: Option<CachedCredentials>,
}

impl Https {
    /// Reads Secrets by this client.
    pub fn new(client: Client) -> Self {
        let answers = Mutex::default();
        Self { client, answers }
    }

    /// Queries again after this answer. The Secret is read again only if it may be the cause of the
    /// failure.
    async fn ask_anew(
        &self,
        namespace: &str,
        addresses: &[SocketAddr],
        last: Option<CachedCredentials>,
    ) -> Answer {
        if let Some(shown) = last {
            let state = ask_all(addresses, &shown.credentials).await;
            if state.is_ok() || shown.at.elapsed() < READ_AGAIN {
                return Answer::now(state, Some(shown));
            }
        }
        match self.read(namespace).await {
            Ok(shown) => {
                let state = ask_all(addresses, &shown.credentials).await;
                Answer::now(state, Some(shown))
            }
            Err(why) => Answer::now(Err(CallError::Failed(why)), None),
        }
    }

    async fn read(&self, namespace: &str) -> Result<CachedCredentials, String> {
        let api: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
        let named = format!("Secret `{namespace}/{LOCAL_SERVER}`");
        let read = api.get_opt(LOCAL_SERVER).await;
        let read = read
            .map_err(|error| format!("{named} cannot be read: {}", cause::in_one_line(&error)))?;
        let credentials = read.as_ref().and_then(credentials);
        Ok(CachedCredentials {
            at: Instant::now(),
            credentials: credentials.ok_or_else(|| {
                format!("{named} is not complete: check the Certificate with its name")
            })?,
        })
    }

    fn answer_of(&self, seat: &Seat) -> Arc<tokio::sync::Mutex<Option<Answer>>> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        // Answers of Sites that no lifecycle queries any more are dropped. An answer in use is
        // locked.
        let is_young = |answer: &Answer| answer.at.elapsed() < LONGEST_KEPT;
        answers.retain(|_, answer| match answer.try_lock() {
            Ok(answer) => answer.as_ref().is_some_and(is_young),
            Err(_) => true,
        });
        Arc::clone(answers.entry(seat.clone()).or_default())
    }
}

impl Routers for Https {
    /// Queries the Pods that are labelled with their Site. Pods of the existing adaptor are not;
    /// their state is in ConfigMaps.
    async fn fetch_state(
        &self,
        pods: Vec<&Pod>,
        documents: Vec<&ConfigMap>,
    ) -> Result<RouterState, CallError> {
        // After a change of the adaptor there are Pods with either for a while.
        let pods = by_precedence(&pods);
        if pods
            .first()
            .is_some_and(|pod| !pod.labels().contains_key(SITE))
        {
            return network_status::of_documents(&documents).map_err(CallError::Failed);
        }
        let doors = doors(&pods);
        let Some((seat, _)) = doors.first().cloned() else {
            return Err(CallError::Failed(NOBODY.to_owned()));
        };
        let answer = self.answer_of(&seat);
        let mut answer = answer.lock().await;
        if let Some(answer) = &*answer
            && answer.at.elapsed() < FRESH
        {
            return answer.state.clone();
        }
        let addresses: Vec<_> = doors.into_iter().map(|(_, address)| address).collect();
        let last = answer.take().and_then(|answer| answer.shown);
        let new = self.ask_anew(&seat.0, &addresses, last).await;
        answer.insert(new).state.clone()
    }
}

impl Answer {
    fn now(state: Result<RouterState, CallError>, shown: Option<CachedCredentials>) -> Self {
        let at = Instant::now();
        Self { at, state, shown }
    }
}

/// The parts of a Secret, if it has all of them.
fn credentials(secret: &Secret) -> Option<Credentials> {
    let part = |key| Some(text(secret, key)?.as_bytes().to_vec());
    Some(Credentials {
        authority: part(AUTHORITY)?,
        certificate: part(CHAIN)?,
        key: part(KEY)?,
    })
}

/// The answer of the first of these routers that gives a good one.
async fn ask_all(
    addresses: &[SocketAddr],
    credentials: &Credentials,
) -> Result<RouterState, CallError> {
    let asked = addresses.iter().copied().map(|address| async move {
        let answer = fetch_state(address, credentials).await;
        let answer = answer.map(|state| reported(&state));
        answer.map_err(|error| CallError::Failed(cause::in_one_line(&error)))
    });
    let answer = first_good(asked).await;
    answer.unwrap_or_else(|| Err(CallError::Failed(NOBODY.to_owned())))
}

/// Returns the first good answer. Each candidate is queried once the previous one has failed, or
/// takes long. Otherwise returns the last failure, or `None` if there are no candidates.
async fn first_good<T, E, F>(asked: impl IntoIterator<Item = F>) -> Option<Result<T, E>>
where
    F: Future<Output = Result<T, E>>,
{
    let mut asked = asked.into_iter().fuse();
    let mut under_way = FuturesUnordered::new();
    let mut failure = None;
    let mut is_over = false;
    loop {
        match asked.next() {
            Some(next) => under_way.push(next),
            None => is_over = true,
        }
        tokio::select! {
            biased;
            answer = under_way.next() => match answer {
                Some(Ok(answer)) => return Some(Ok(answer)),
                Some(Err(why)) => failure = Some(Err(why)),
                None => return failure,
            },
            () = sleep(LONG), if !is_over => {}
        }
    }
}

/// Those that are ready first, of these the newest.
fn by_precedence<'a>(pods: &[&'a Pod]) -> Vec<&'a Pod> {
    let mut pods = pods.to_vec();
    let going = |pod: &Pod| pod.metadata.deletion_timestamp.is_some();
    pods.sort_by_key(|pod| {
        let created = pod.metadata.creation_timestamp.as_ref().map(|at| at.0);
        (going(pod), !is_ready(pod), std::cmp::Reverse(created))
    });
    pods
}

/// Returns the addresses at which the routers of these Pods can be queried, each with its Site.
fn doors(pods: &[&Pod]) -> Vec<(Seat, SocketAddr)> {
    let door = |pod: &Pod| {
        let address: IpAddr = pod.status.as_ref()?.pod_ip.as_ref()?.parse().ok()?;
        let site = pod.labels().get(SITE)?.clone();
        let seat = (pod.namespace().unwrap_or_default(), site);
        Some((seat, SocketAddr::new(address, STATE_PORT)))
    };
    pods.iter().copied().filter_map(door).take(MOST).collect()
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
        let doors = doors(&by_precedence(&all.iter().collect::<Vec<_>>()));
        let addresses: Vec<String> = doors.iter().map(|(_, at)| at.to_string()).collect();
        assert_eq!(
            addresses,
            ["[fd00::2]:9443", "10.0.0.1:9443", "10.0.0.3:9443"]
        );
        assert_eq!(doors[0].0.1, "uid");
    }

    #[tokio::test(start_paused = true)]
    async fn pods_that_never_answer_keep_nobody_from_the_router() {
        let began = Instant::now();
        let asked = (0..6).map(async |number| match number {
            0..3 => std::future::pending().await,
            3 => Err("refused"),
            _ => Ok(number),
        });
        assert_eq!(first_good(asked).await, Some(Ok(4)));
        assert_eq!(began.elapsed(), 3 * LONG);
        let all_fail = ["one", "two"].map(async |why| Err::<u8, _>(why));
        assert_eq!(first_good(all_fail).await, Some(Err("two")));
        let nobody: [std::future::Ready<Result<u8, u8>>; 0] = [];
        assert_eq!(first_good(nobody).await, None);
    }

    #[test]
    fn namespaces_share_no_answer_whatever_their_pods_bear() {
        let of = |namespace: &str| {
            let mut pod = pod("2026-01-01T00:00:00Z", json!("10.0.0.1"), "True");
            pod.metadata.namespace = Some(namespace.to_owned());
            doors(&[&pod]).remove(0).0
        };
        assert_ne!(of("west"), of("east"));
    }
}
