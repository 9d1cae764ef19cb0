//! Silent watches on paused time: a quiet one is kept, a dead one is restarted, and health is
//! reported.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::stream;
use http::{Request, Response};
use http_body_util::StreamBody;
use http_body_util::combinators::BoxBody;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::client::Body;
use lifecycle_client::kube::client_of;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::*;

/// Messages of a server on one watch: after each pause a line; then nothing more, for ever.
type WatchScript = Vec<(Duration, Value)>;

fn map(name: &str) -> Value {
    let meta = json!({ "name": name, "namespace": "ns", "uid": name, "resourceVersion": "5" });
    json!({ "type": "ADDED", "object": { "apiVersion": "v1", "kind": "ConfigMap", "metadata": meta } })
}

fn bookmark(is_end: bool) -> Value {
    let ends = json!({ "k8s.io/initial-events-end": "true" });
    let notes = if is_end { ends } else { json!({}) };
    let meta = json!({ "resourceVersion": "5", "annotations": notes });
    json!({ "type": "BOOKMARK", "object": { "apiVersion": "v1", "kind": "ConfigMap", "metadata": meta } })
}

/// Returns a server with these events, one list per watch. Further watches get no response.
fn server(watches: Vec<WatchScript>) -> (Client, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let watches = Arc::new(Mutex::new(VecDeque::from(watches)));
    let log = Arc::clone(&asked);
    let client = client_of(tower::service_fn(move |request: Request<Body>| {
        let uri = request.uri().to_string();
        log.lock().unwrap_or_else(PoisonError::into_inner).push(uri);
        let said = watches
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front();
        async move {
            let Some(said) = said else {
                return std::future::pending().await;
            };
            let lines = stream::iter(said).then(async |(pause, line)| {
                sleep(pause).await;
                let line = Bytes::from(format!("{line}\n"));
                Ok::<_, std::convert::Infallible>(http_body::Frame::data(line))
            });
            let body = StreamBody::new(lines.chain(stream::pending()));
            Ok::<_, kube::Error>(Response::new(BoxBody::new(body)))
        }
    }));
    (client, asked)
}

fn of_maps(client: &Client) -> (Watch, Store) {
    let kind = Kind::for_type::<ConfigMap>();
    (
        Watch::new(client, kind.clone(), None, ("", "")),
        Store::new(kind),
    )
}

/// Handles the events within this time.
async fn listen(watch: &mut Watch, store: &mut Store, limit: Duration) {
    let end = Instant::now() + limit;
    loop {
        let next = poll_fn(|cx| watch.poll(cx, &mut || 0));
        let left = end.saturating_duration_since(Instant::now());
        let Ok(events) = timeout(left, next).await else {
            return;
        };
        events.into_iter().for_each(|event| drop(store.take(event)));
    }
}

fn names(store: &Store) -> Vec<String> {
    store.names().map(|name| name.name.clone()).collect()
}

const AT_ONCE: Duration = Duration::ZERO;

#[tokio::test(start_paused = true)]
async fn a_watch_that_has_died_is_begun_anew_within_45_seconds() {
    let (client, asked) = server(vec![
        vec![(AT_ONCE, map("a")), (AT_ONCE, bookmark(true))],
        vec![
            (AT_ONCE, map("a")),
            (AT_ONCE, map("missed")),
            (AT_ONCE, bookmark(true)),
        ],
    ]);
    let (mut watch, mut store) = of_maps(&client);
    listen(&mut watch, &mut store, Duration::from_secs(30)).await;
    assert_eq!(names(&store), ["a"]);
    listen(&mut watch, &mut store, Duration::from_secs(15)).await;
    let asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(names(&store), ["a", "missed"], "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_watch_of_one_namespace_asks_for_no_other_also_when_it_is_begun_anew() {
    let (client, asked) = server(vec![vec![(AT_ONCE, bookmark(true))]]);
    let kind = Kind::for_type::<ConfigMap>();
    let (mut watch, mut store) = (
        Watch::new(&client, kind.clone(), Some("west"), ("", "")),
        Store::new(kind),
    );
    listen(&mut watch, &mut store, Duration::from_secs(60)).await;
    let asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
    let is_within = |uri: &String| uri.starts_with("/api/v1/namespaces/west/configmaps?");
    assert!(asked.len() > 1 && asked.iter().all(is_within), "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_quiet_watch_is_left_alone_and_its_cache_is_well() {
    let often = |_| (Duration::from_secs(29), bookmark(false));
    let quiet = [(AT_ONCE, map("a")), (AT_ONCE, bookmark(true))];
    let quiet = quiet.into_iter().chain((0..20).map(often)).collect();
    let (client, asked) = server(vec![quiet]);
    let ((mut watch, mut store), health) = (of_maps(&client), Health::default());
    health.started();
    for _ in 0..57 {
        listen(&mut watch, &mut store, Duration::from_secs(10)).await;
        watch.show_health((&store, 0), &health, Instant::now());
        assert_eq!(health.missing(), []);
    }
    let asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(asked.len(), 1, "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_more_is_told_of_after_45_seconds_until_it_is_heard() {
    let (client, asked) = server(vec![vec![(AT_ONCE, bookmark(true))]]);
    let ((mut watch, mut store), health) = (of_maps(&client), Health::default());
    health.started();
    let told = |watch: &Watch, store: &Store| {
        watch.show_health((store, 0), &health, Instant::now());
        health.missing()
    };
    listen(&mut watch, &mut store, Duration::from_secs(44)).await;
    assert_eq!(told(&watch, &store), []);
    listen(&mut watch, &mut store, Duration::from_secs(2)).await;
    let why = "nothing was heard of the API server for 45 s".to_owned();
    assert_eq!(
        told(&watch, &store),
        [("cache of configmaps".to_owned(), why)]
    );
    // The watch keeps sending requests.
    listen(&mut watch, &mut store, Duration::from_secs(300)).await;
    assert!(asked.lock().unwrap_or_else(PoisonError::into_inner).len() > 5);
}
