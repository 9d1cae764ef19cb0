//! Single objects by name: fetched once, or followed from a version on. Never lists.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{BoxStream, StreamExt};
use futures::{Stream, stream};
use kube::Client;
use kube::api::{WatchEvent, WatchParams};
use kube::core::Request as Path;
use kube::core::params::GetParams;
use tokio::time::{sleep, timeout};

use super::caller::Trouble;
use crate::cluster::store::{Name, Raw};
use crate::kube::one_line;
use crate::lifecycle::{Kind, Stored};

/// How long a read may take.
const LONGEST_READ: Duration = Duration::from_secs(10);
/// How long a server that knows how to tell of an object's absence takes to do so.
const LONGEST_SILENCE: Duration = Duration::from_secs(2);
/// After this a watch that ended is begun anew.
const PAUSE: Duration = Duration::from_secs(1);
/// Marks the bookmark at which all that there was has been told.
const TOLD: &str = "k8s.io/initial-events-end";

/// An object by the number of its kind and its name.
pub(super) type At = (usize, Name);

/// What a watch saw.
pub(super) enum News {
    There(Box<Raw>),
    Gone,
    /// Nobody knows any more.
    Lost,
}

pub(super) type Watching = Pin<Box<dyn Stream<Item = (At, News)> + Send>>;

type Events = BoxStream<'static, kube::Result<WatchEvent<Raw>>>;

/// Fetches one object.
///
/// # Errors
/// The API server does not answer, or does not let us.
pub(super) async fn get(
    client: &Client,
    kind: &Kind,
    name: &Name,
) -> Result<Option<Arc<Stored>>, Trouble> {
    let path = Path::new(kind.path(name.namespace.as_deref()));
    let request = path.get(&name.name, &GetParams::default());
    // A name that makes no path is the name of nothing.
    let Ok(request) = request else {
        return Ok(None);
    };
    match timeout(LONGEST_READ, client.request::<Raw>(request)).await {
        Ok(Ok(raw)) => Ok(Some(Arc::new(raw.stored(kind, true)))),
        Ok(Err(kube::Error::Api(status))) if status.code == 404 => Ok(None),
        Ok(Err(error)) => Err(unreadable(kind, name, &one_line(&error))),
        Err(_) => Err(unreadable(kind, name, "the API server does not answer")),
    }
}

fn unreadable(kind: &Kind, name: &Name, why: &str) -> Trouble {
    let object = name.of_kind(kind);
    Trouble::Later(format!("{object} cannot be read: {why}"), None)
}

/// Reads one object and goes on to follow it, by one request; `None` if this server does not tell of absence by a watch.
///
/// # Errors
/// The API server does not answer, or does not let us.
pub(super) async fn follow(
    client: &Client,
    kind: &Kind,
    at: &At,
) -> Result<Option<(Option<Arc<Stored>>, Watching)>, Trouble> {
    let (_, name) = at;
    let only = only(name).initial_events();
    let opening = timeout(LONGEST_READ, open(client, kind, name, &only, "")).await;
    let mut events = match opening {
        Ok(Ok(events)) => events,
        Ok(Err(kube::Error::Api(status))) if matches!(status.code, 400 | 422) => return Ok(None),
        Ok(Err(error)) => return Err(unreadable(kind, name, &one_line(&error))),
        Err(_) => return Err(unreadable(kind, name, "the API server does not answer")),
    };
    let mut found = None;
    loop {
        match timeout(LONGEST_SILENCE, events.next()).await {
            Ok(Some(Ok(WatchEvent::Added(raw) | WatchEvent::Modified(raw)))) => {
                found = Some(Arc::new(raw.stored(kind, true)));
            }
            Ok(Some(Ok(WatchEvent::Deleted(_)))) => found = None,
            Ok(Some(Ok(WatchEvent::Bookmark(mark))))
                if mark.metadata.annotations.contains_key(TOLD) =>
            {
                return Ok(Some((found, told(events, at.clone()))));
            }
            Ok(Some(Ok(WatchEvent::Bookmark(_)))) => {}
            Ok(Some(Ok(WatchEvent::Error(_)) | Err(_)) | None) | Err(_) => return Ok(None),
        }
    }
}

/// Follows one object from a version on, or from nothing.
pub(super) fn watch(client: Client, kind: Kind, at: At, version: String) -> Watching {
    let from = at.clone();
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
    told(events.flatten().boxed(), at)
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
    let path = Path::new(kind.path(name.namespace.as_deref()));
    let request = path
        .watch(only, version)
        .map_err(kube::Error::BuildRequest)?;
    Ok(client.request_events::<Raw>(request).await?.boxed())
}

/// What events say of an object, and at their end that nobody knows any more.
fn told(events: Events, at: At) -> Watching {
    let lost = at.clone();
    let lost = stream::once(async move {
        sleep(PAUSE).await;
        (lost, News::Lost)
    });
    events
        .take_while(|event| std::future::ready(!is_end(event)))
        .filter_map(move |event| std::future::ready(news(event)))
        .map(move |news| (at.clone(), news))
        .chain(lost)
        .boxed()
}

fn is_end(event: &kube::Result<WatchEvent<Raw>>) -> bool {
    matches!(event, Err(_) | Ok(WatchEvent::Error(_)))
}

fn news(event: kube::Result<WatchEvent<Raw>>) -> Option<News> {
    match event {
        Ok(WatchEvent::Added(raw) | WatchEvent::Modified(raw)) => Some(News::There(Box::new(raw))),
        Ok(WatchEvent::Deleted(_)) => Some(News::Gone),
        Ok(WatchEvent::Bookmark(_) | WatchEvent::Error(_)) | Err(_) => None,
    }
}
