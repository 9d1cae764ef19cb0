//! One object, followed by its name. Needs the rights to list and watch that one object, and
//! reports their absence until it has them.

use std::fmt::Debug;
use std::pin::pin;
use std::time::Duration;

use futures::{Stream, StreamExt as _};
use kube::runtime::watcher::{self, Config, Event, watcher};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::cause;

/// The pause after a failure: the first, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(5));

/// Pauses after the first refusals, which are not reported: the author of the document writes the
/// rights right after it.
const EARLY: [Duration; 3] = [
    Duration::from_millis(100),
    Duration::from_millis(200),
    Duration::from_millis(400),
];

/// Status code of the API server for a client that lacks a right.
const FORBIDDEN: u16 = 403;

/// How long the first look may take.
const LOOK: Duration = Duration::from_secs(15);

/// Duration of one watch request, in seconds. Each new request shows that the API server is still
/// there.
const WATCH: u32 = 120;

/// Status code of the API server for a watch from a resource version that it has forgotten.
const EXPIRED: u16 = 410;

/// Knowledge about an object.
#[derive(Debug)]
pub(super) enum Watched<K> {
    /// The object exists.
    There(K),
    /// The object does not exist.
    Absent,
    /// The object cannot be read, for this reason.
    Unknown(String),
}

/// A watch; it ends when it is dropped.
#[derive(Debug)]
pub(super) struct Watch(JoinHandle<()>);

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Watch {
    /// Reports the object at first, and then after every change.
    pub(super) fn start<K>(
        api: Api<K>,
        name: &str,
        say: impl Fn(Watched<K>) + Send + 'static,
    ) -> Self
    where
        K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
        K::DynamicType: Default,
    {
        let config = Config::default().fields(&format!("metadata.name={name}"));
        let config = config.timeout(WATCH);
        let of = format!("{} {name}", K::kind(&K::DynamicType::default()));
        let mut told = None;
        let say = move |watched: Watched<K>| {
            let why = match &watched {
                Watched::Unknown(why) => Some(why.clone()),
                Watched::There(_) | Watched::Absent => None,
            };
            // Once, and not at every try.
            if let Some(why) = why.as_ref().filter(|_| told != why) {
                tracing::warn!("cannot watch {of}: {why}");
            }
            told = why;
            say(watched);
        };
        Self(tokio::spawn(async move {
            let mut say = say;
            loop {
                follow(watcher(api.clone(), config.clone()), &mut say).await;
                sleep(PAUSES.0).await;
            }
        }))
    }
}

/// Until the stream ends, or does not begin in time.
async fn follow<K>(
    stream: impl Stream<Item = watcher::Result<Event<K>>>,
    say: &mut (impl FnMut(Watched<K>) + Send),
) {
    let mut stream = pin!(stream);
    let (mut listed, mut is_listing, mut pause) = (None, true, PAUSES.0);
    let mut early = EARLY.into_iter();
    loop {
        let next = if is_listing {
            let Ok(next) = timeout(LOOK, stream.next()).await else {
                let limit = LOOK.as_secs();
                return say(Watched::Unknown(format!("no answer within {limit} s")));
            };
            next
        } else {
            stream.next().await
        };
        match next {
            None => return,
            Some(Ok(event)) => {
                pause = PAUSES.0;
                match event {
                    Event::Init => (listed, is_listing) = (None, true),
                    Event::InitApply(object) => listed = Some(object),
                    Event::InitDone => {
                        is_listing = false;
                        // Rights that are taken away later are missed at once.
                        early.by_ref().for_each(drop);
                        say(listed.take().map_or(Watched::Absent, Watched::There));
                    }
                    Event::Apply(object) => say(Watched::There(object)),
                    Event::Delete(_) => say(Watched::Absent),
                }
            }
            // The next request is a list, so this is not an error.
            Some(Err(watcher::Error::WatchError(status))) if status.code == EXPIRED => {
                sleep(PAUSES.0).await;
            }
            Some(Err(error)) => {
                if is_forbidden(&error)
                    && let Some(pause) = early.next()
                {
                    sleep(pause).await;
                    continue;
                }
                let why = reason(&error);
                say(Watched::Unknown(why));
                sleep(pause).await;
                pause = (pause * 2).min(PAUSES.1);
            }
        }
    }
}

fn is_forbidden(error: &watcher::Error) -> bool {
    let watcher::Error::InitialListFailed(kube::Error::Api(status)) = error else {
        return false;
    };
    status.code == FORBIDDEN
}

/// Returns the message of the API server, or the reason for its absence.
fn reason(error: &watcher::Error) -> String {
    match error {
        watcher::Error::InitialListFailed(error)
        | watcher::Error::WatchStartFailed(error)
        | watcher::Error::WatchFailed(error) => {
            if let kube::Error::Api(status) = error {
                status.message.clone()
            } else {
                cause::chain(error)
            }
        }
        watcher::Error::WatchError(status) => status.message.clone(),
        watcher::Error::NoResourceVersion => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use futures::stream;
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::ResourceExt as _;
    use kube::core::Status;
    use tokio::time::Instant;

    use super::*;

    fn map(name: &str) -> ConfigMap {
        let mut map = ConfigMap::default();
        map.metadata.name = Some(name.to_owned());
        map
    }

    async fn collect_reports(events: Vec<watcher::Result<Event<ConfigMap>>>) -> Vec<String> {
        let heard = Mutex::new(Vec::new());
        let mut say = |watched: Watched<ConfigMap>| {
            heard.lock().unwrap().push(match watched {
                Watched::There(map) => map.name_any(),
                Watched::Absent => "absent".to_owned(),
                Watched::Unknown(why) => why,
            });
        };
        follow(stream::iter(events), &mut say).await;
        heard.into_inner().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn an_object_is_absent_only_once_the_list_is_complete() {
        let events = vec![
            Ok(Event::Init),
            Ok(Event::InitDone),
            Ok(Event::Apply(map("a"))),
            Ok(Event::Init),
            Ok(Event::InitApply(map("b"))),
            Ok(Event::InitDone),
            Ok(Event::Delete(map("b"))),
        ];
        assert_eq!(
            collect_reports(events).await,
            ["absent", "a", "b", "absent"]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn refusals_that_last_are_told_and_tried_again_with_a_pause_that_grows_to_five_seconds() {
        let refused = || {
            let status = Status::failure("secrets is forbidden", "Forbidden").with_code(403);
            let error = kube::Error::Api(Box::new(status));
            Err(watcher::Error::InitialListFailed(error))
        };
        let began = Instant::now();
        let events = (0..8).map(|_| refused()).collect();
        let words = collect_reports(events).await;
        assert!(words.len() == 5 && words.iter().all(|word| word == "secrets is forbidden"));
        let early: Duration = EARLY.iter().sum();
        let pauses = Duration::from_secs(1 + 2 + 4 + 5 + 5);
        assert_eq!(began.elapsed(), early + pauses);
        // Rights that come a moment after the document are not missed.
        let events = vec![
            refused(),
            refused(),
            Ok(Event::Init),
            Ok(Event::InitApply(map("a"))),
            Ok(Event::InitDone),
            refused(),
        ];
        assert_eq!(collect_reports(events).await, ["a", "secrets is forbidden"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_first_look_without_an_answer_ends() {
        let heard = Mutex::new(Vec::new());
        let mut say =
            |watched: Watched<ConfigMap>| heard.lock().unwrap().push(format!("{watched:?}"));
        follow(stream::pending(), &mut say).await;
        let heard = heard.into_inner().unwrap();
        assert!(
            heard.len() == 1 && heard[0].contains("no answer within 15 s"),
            "{heard:?}"
        );
    }
}
