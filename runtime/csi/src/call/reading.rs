//! Single objects by name: read once, or watched from a resource version on. Never lists.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{BoxStream, StreamExt};
use futures::{Stream, stream};
use kube::Client;
use kube::api::{WatchEvent, WatchParams};
use kube::core::params::GetParams;
use kube::core::{Request as Path, request};
use tokio::time::{sleep, timeout};

use super::step_error::StepError;
use lifecycle_client::kube::one_line;
use lifecycle_client::names;
use lifecycle_runtime::cluster::store::{Keep, Name, Raw};
use lifecycle_runtime::lifecycle::{Kind, Stored};

/// How long a read may take.
const READ_TIMEOUT: Duration = Duration::from_secs(10);
/// Time within which a server that supports it reports an object's absence.
const INITIAL_EVENTS_TIMEOUT: Duration = Duration::from_secs(2);
/// After this a watch that ended is begun anew.
const WATCH_AGAIN: Duration = Duration::from_secs(1);
/// Annotates the bookmark after the initial events.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// An object by the number of its kind and its name.
pub(super) type ObjectKey = (usize, Name);

/// Event of a watch on an object.
pub(super) enum ObjectEvent {
    Applied(Box<Raw>),
    Deleted,
    /// The watch ended, so the known objects may be stale.
    Ended,
}

pub(super) type ObjectWatch = Pin<Box<dyn Stream<Item = (ObjectKey, ObjectEvent)> + Send>>;

type Events = BoxStream<'static, kube::Result<WatchEvent<Raw>>>;

/// Reads one object.
///
/// # Errors
/// The API server does not answer, or forbids it.
pub(super) async fn get(
    client: &Client,
    kind: &Kind,
    name: &Name,
) -> Result<Option<Arc<Stored>>, StepError> {
    // A name that makes no path is the name of nothing.
    let Some((path, last)) = object_path(kind, name) else {
        return Ok(None);
    };
    let Ok(request) = path.get(&last, &GetParams::default()) else {
        return Ok(None);
    };
    match timeout(READ_TIMEOUT, client.request::<Raw>(request)).await {
        Ok(Ok(raw)) => Ok(Some(Arc::new(raw.stored(kind, Keep::Whole)))),
        Ok(Err(kube::Error::Api(status))) if status.code == 404 => Ok(None),
        Ok(Err(error)) => Err(unreadable(kind, name, &one_line(&error))),
        Err(_) => Err(unreadable(kind, name, "the API server does not answer")),
    }
}

/// Returns the path of an object: the path of its collection, and the last segment. Returns `None`
/// if no object can have the name.
fn object_path(kind: &Kind, name: &Name) -> Option<(Path, String)> {
    let namespace = name.namespace.as_deref().filter(|_| kind.namespaced);
    let namespace = namespace.map(names::of_namespace).transpose().ok()?;
    let last = names::of_object(&kind.group, &kind.kind, &name.name).ok()?;
    Some((Path::new(kind.path(namespace.as_deref())), last))
}

fn unreadable(kind: &Kind, name: &Name, why: &str) -> StepError {
    let object = name.of_kind(kind);
    StepError::Retry(format!("{object} cannot be read: {why}"), None)
}

/// Reads one object and keeps watching it, with one request. Returns `None` if this server does not
/// report absence through a watch.
///
/// # Errors
/// The API server does not answer, or forbids it.
pub(super) async fn get_and_watch(
    client: &Client,
    kind: &Kind,
    key: &ObjectKey,
) -> Result<Option<(Option<Arc<Stored>>, ObjectWatch)>, StepError> {
    let (_, name) = key;
    if object_path(kind, name).is_none() {
        return Ok(Some((None, stream::pending().boxed())));
    }
    let only = only(name).initial_events();
    let opening = timeout(READ_TIMEOUT, open(client, kind, name, &only, "")).await;
    let mut events = match opening {
        Ok(Ok(events)) => events,
        Ok(Err(kube::Error::Api(status))) if matches!(status.code, 400 | 422) => return Ok(None),
        Ok(Err(error)) => return Err(unreadable(kind, name, &one_line(&error))),
        Err(_) => return Err(unreadable(kind, name, "the API server does not answer")),
    };
    let mut found = None;
    loop {
        match timeout(INITIAL_EVENTS_TIMEOUT, events.next()).await {
            Ok(Some(Ok(WatchEvent::Added(raw) | WatchEvent::Modified(raw)))) => {
                found = Some(Arc::new(raw.stored(kind, Keep::Whole)));
            }
            Ok(Some(Ok(WatchEvent::Deleted(_)))) => found = None,
            Ok(Some(Ok(WatchEvent::Bookmark(mark))))
                if mark.metadata.annotations.contains_key(INITIAL_EVENTS_END) =>
            {
                return Ok(Some((found, events_of(events, key.clone()))));
            }
            Ok(Some(Ok(WatchEvent::Bookmark(_)))) => {}
            Ok(Some(Ok(WatchEvent::Error(_)) | Err(_)) | None) | Err(_) => return Ok(None),
        }
    }
}

/// Watches one object from a resource version on, or from nothing.
pub(super) fn watch(client: Client, kind: Kind, key: ObjectKey, version: String) -> ObjectWatch {
    if object_path(&kind, &key.1).is_none() {
        return stream::pending().boxed();
    }
    let from = key.clone();
    let events = stream::once(async move {
        let (_, name) = &from;
        match open(&client, &kind, name, &only(name), &version).await {
            Ok(events) => events,
            Err(error) => {
                tracing::debug!(kind = ?kind, "cannot be watched: {}", one_line(&error));
                stream::empty().boxed()
            }
        }
    });
    events_of(events.flatten().boxed(), key)
}

fn only(name: &Name) -> WatchParams {
    WatchParams::default().fields(&format!("metadata.name={}", name.name))
}

async fn open(
    client: &Client,
    kind: &Kind,
    name: &Name,
    only: &WatchParams,
    version: &str,
) -> kube::Result<Events> {
    let invalid = || request::Error::Validation(format!("no object is named `{name}`"));
    let (path, _) = object_path(kind, name).ok_or_else(|| kube::Error::BuildRequest(invalid()))?;
    let request = path
        .watch(only, version)
        .map_err(kube::Error::BuildRequest)?;
    Ok(client.request_events::<Raw>(request).await?.boxed())
}

/// Returns the events of an object, followed by one that reports the end of the watch.
fn events_of(events: Events, key: ObjectKey) -> ObjectWatch {
    let last = key.clone();
    let ended = stream::once(async move {
        sleep(WATCH_AGAIN).await;
        (last, ObjectEvent::Ended)
    });
    events
        .take_while(|event| std::future::ready(!is_end(event)))
        .filter_map(move |event| std::future::ready(object_event(event)))
        .map(move |event| (key.clone(), event))
        .chain(ended)
        .boxed()
}

fn is_end(event: &kube::Result<WatchEvent<Raw>>) -> bool {
    matches!(event, Err(_) | Ok(WatchEvent::Error(_)))
}

fn object_event(event: kube::Result<WatchEvent<Raw>>) -> Option<ObjectEvent> {
    match event {
        Ok(WatchEvent::Added(raw) | WatchEvent::Modified(raw)) => {
            Some(ObjectEvent::Applied(Box::new(raw)))
        }
        Ok(WatchEvent::Deleted(_)) => Some(ObjectEvent::Deleted),
        Ok(WatchEvent::Bookmark(_) | WatchEvent::Error(_)) | Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use k8s_openapi::api::core::v1::ConfigMap;
    use lifecycle_client::scripted;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn what_no_object_can_be_named_is_absent_and_never_asked_for() {
        let kind = Kind::for_type::<ConfigMap>();
        for (namespace, name) in [
            ("ns", "web?watch=true"),
            ("ns", "web/status"),
            ("ns", "../.."),
            ("ns", "web,metadata.namespace=x"),
            ("../..", "web"),
        ] {
            let (client, asked) = scripted::recorded(|_, _| (200, json!({})));
            let key = (
                0,
                Name {
                    namespace: Some(namespace.to_owned()),
                    name: name.to_owned(),
                },
            );
            let read = get(&client, &kind, &key.1).await;
            assert!(matches!(read, Ok(None)), "{name}");
            let read = get_and_watch(&client, &kind, &key).await;
            let Ok(Some((None, mut watched))) = read else {
                panic!("{name}");
            };
            assert!(watched.next().now_or_never().is_none());
            let mut watched = watch(client, kind.clone(), key, "7".to_owned());
            assert!(watched.next().now_or_never().is_none());
            assert_eq!(scripted::lines(&asked), [""; 0], "{name}");
        }
    }
}
