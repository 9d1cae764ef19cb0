//! Many Listeners, and the cost of one more.

use std::sync::Arc;
use std::time::Instant;

use crate::place::{SOON, TestEnv, TestNamespace, has_report};
use anyhow::{Result, ensure};
use futures::future::try_join_all;
use kube::ResourceExt;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_tests::eventually::{all, eventually_or_stuck};
use lifecycle_tests::harness::{Case, case};
use serde_json::json;

use super::support::{Echo, NEEDS, connect, listen, shared, soon_greeted};

const MANY: usize = 200;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("s69_two_hundred_listeners", NEEDS, many),
        shared("one_more_listener_costs_three_writes", one_more),
    ]
}

/// All are Ready and reachable; how long that took is printed, and bounded only so that a hang is found.
async fn many() -> Result<()> {
    let env = Arc::new(TestEnv::start().await?);
    let mut place = TestNamespace::new(env, "many").await?;
    place.site().await?;
    let echo = Echo::start("one").await?;
    connect(&place, "c", echo.at, json!({})).await?;
    place.wait_until_idle().await?;
    let start = Instant::now();
    let name = |n: usize| format!("l{n}");
    let place = &place;
    try_join_all((0..MANY).map(|n| async move { listen(place, &name(n), json!({})).await }))
        .await?;
    let listeners = place.api::<Listener>();
    eventually_or_stuck("all Listeners are Ready", SOON, async || {
        let listed = listeners.list(&Default::default()).await?.items;
        let ready = listed
            .iter()
            .filter(|l| has_report(*l, "Ready", "OK"))
            .count();
        Ok(all(ready, MANY))
    })
    .await?;
    eprintln!(
        "{MANY} Listeners Ready after {:.1} s",
        start.elapsed().as_secs_f64()
    );
    for n in (0..MANY).step_by(7) {
        let port = place.router_port(&name(n), 8080).await?;
        soon_greeted(place, port, "one").await?;
    }
    let all = listeners.list(&Default::default()).await?.items;
    let largest = all
        .iter()
        .map(|l| serde_json::to_string(&l.status).map_or(0, |text| text.len()))
        .max();
    ensure!(
        largest < Some(2000),
        "a status is small however many there are: {largest:?}"
    );
    Ok(())
}

/// One of the configuration, one of its Service, one of its status; and one of its Site's for all that come at once. On a machine that does much else a status may be written
/// in between; so several are tried, and one must do with three.
async fn one_more(mut place: TestNamespace) -> Result<()> {
    place.site().await?;
    let echo = Echo::start("one").await?;
    connect(&place, "c", echo.at, json!({})).await?;
    listen(&place, "first", json!({})).await?;
    place
        .until("first", "it is Ready", |l: &Listener| {
            has_report(l, "Ready", "OK")
        })
        .await?;
    let mut counts = Vec::new();
    for n in 0..8 {
        let before = place.wait_until_idle().await?.len();
        let listener = listen(&place, &format!("more{n}"), json!({})).await?;
        let ready = |l: &Listener| has_report(l, "Ready", "OK");
        place
            .until(&listener.name_any(), "it is Ready", ready)
            .await?;
        let writes = place.wait_until_idle().await?;
        let of = |resource: &str| {
            let new = writes[before..].iter();
            new.filter(|e| e.resource == resource).count()
        };
        let count = (of("configmaps"), of("services"), of("listeners"));
        ensure!((count.0, count.1) == (1, 1), "{count:?}");
        // The Site reports it, too, once for all recent changes.
        let told = of("sites");
        ensure!(
            told <= 1 && writes.len() - before == 2 + count.2 + told,
            "{:?}",
            &writes[before..]
        );
        counts.push(count.2);
        if count.2 == 1 {
            return Ok(());
        }
    }
    anyhow::bail!("each took more than one write of its status: {counts:?}")
}
