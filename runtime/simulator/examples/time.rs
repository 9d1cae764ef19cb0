//! Simulates a day in a moment: the example moves the server's clock. The server answers for
//! expired objects as a real one does. A copy of the cluster takes another course.

use std::pin::pin;
use std::time::Duration;

use futures::TryStreamExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, PostParams, WatchEvent, WatchParams};
use lifecycle_client::clock::Clock as _;
use lifecycle_simulator::{Server, User};
use serde_json::{from_value, json};

fn maps(server: &Server) -> Api<ConfigMap> {
    Api::default_namespaced(server.client(&User::admin()))
}

/// How much older the first of two objects is, in seconds, and in how many of two clusters the second one is.
pub(crate) async fn a_day_later() -> anyhow::Result<(i64, usize)> {
    let server = Server::new(1);
    let make = async |server: &Server, name: &str| {
        let map = from_value(json!({ "metadata": { "name": name } }))?;
        let made = maps(server).create(&PostParams::default(), &map).await?;
        let created = made.metadata.creation_timestamp;
        anyhow::Ok(created.map(|at| at.0).unwrap_or_default())
    };
    let first = make(&server, "first").await?;
    let before = server.now();
    server.advance(Duration::from_secs(24 * 60 * 60));
    anyhow::ensure!(server.now() > before);
    // From here on each goes its own way.
    let copy = server.copy();
    let second = make(&server, "second").await?;
    let mut there = 0;
    for cluster in [&server, &copy] {
        there += usize::from(maps(cluster).get_opt("second").await?.is_some());
        anyhow::ensure!(maps(cluster).get_opt("first").await?.is_some());
    }
    Ok((second.as_second() - first.as_second(), there))
}

/// Returns the code that a client receives when it resumes a watch after the server has forgotten
/// the events since. Each client must handle that.
pub(crate) async fn forgotten() -> anyhow::Result<u16> {
    let server = Server::new(1);
    let version = server.revision().to_string();
    for name in ["a", "b"] {
        let map = from_value(json!({ "metadata": { "name": name } }))?;
        maps(&server).create(&PostParams::default(), &map).await?;
    }
    server.compact();
    let params = WatchParams::default();
    let changes = maps(&server).watch(&params, &version).await;
    let first = match changes {
        Ok(changes) => pin!(changes).try_next().await,
        Err(error) => Err(error),
    };
    match first {
        Ok(Some(WatchEvent::Error(status))) => Ok(status.code),
        Err(kube::Error::Api(status)) => Ok(status.code),
        other => anyhow::bail!("the server remembers: {other:?}"),
    }
}
