//! Failures around an operator: bad objects, refusals, missing definitions, servers that stop, and
//! other replicas.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{Patch, PatchParams};
use kube::{Api, CustomResourceExt};
use lifecycle_runtime::lease::Leadership;
use lifecycle_tests::eventually::{all, eventually_or_stuck};
use lifecycle_tests::harness::{Case, case, eventually, run_within};
use serde_json::json;

use super::BINARIES;
use super::widget::Widget;
use super::world::{Running, SETTLED, SOON, World, condition};

/// Within this much core time an operator stops.
const STOPPED: Duration = Duration::from_secs(5);

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "an_undecodable_object_stops_no_other",
            BINARIES,
            undecodable,
        ),
        case(
            "a_refused_write_is_shown_and_not_repeated",
            BINARIES,
            refused,
        ),
        case("definitions_may_come_late", BINARIES, late_definitions),
        case(
            "a_restarted_api_server_is_listed_again",
            BINARIES,
            server_restart,
        ),
        case("many_objects_are_written_few_at_a_time", BINARIES, burst),
        case(
            "it_stops_although_the_api_server_is_frozen",
            BINARIES,
            frozen,
        ),
        case(
            "of_two_replicas_one_writes_and_the_other_takes_over",
            BINARIES,
            replicas,
        ),
    ]
}

async fn undecodable() -> Result<()> {
    let mut world = World::without_operator().await?;
    let mut loose = Widget::crd();
    for version in &mut loose.spec.versions {
        let schema = json!({ "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } });
        version.schema = Some(serde_json::from_value(schema)?);
    }
    world.define(&loose).await?;
    let bad = json!({
        "apiVersion": "tests.lifecycle/v1", "kind": "Widget",
        "metadata": { "name": "bad" }, "spec": { "palette": "warm", "size": "huge" },
    });
    let widgets: Api<kube::core::DynamicObject> =
        Api::default_namespaced_with(world.client.clone(), &Widget::api_resource());
    let params = PatchParams::apply("test").force();
    widgets.patch("bad", &params, &Patch::Apply(bad)).await?;
    world.palette("warm", "red").await?;
    world.run().await?;
    world.widget("good", "warm").await?;
    world.reason("good", "Ready").await?;
    let told = eventually("the event", SOON, async || {
        let told = world.events("bad").await?;
        Ok((!told.is_empty()).then_some(told))
    })
    .await?;
    ensure!(
        told.len() == 1 && told[0].1 == "Undecodable" && told[0].2.contains("huge"),
        "{told:?}"
    );
    let ready = eventually("the condition", SOON, async || {
        let bad = widgets.get("bad").await?;
        Ok(bad.data.pointer("/status/conditions/0").cloned())
    })
    .await?;
    ensure!(
        ready["type"] == "Ready" && ready["reason"] == "Undecodable",
        "{ready}"
    );
    ensure!(ready["message"].to_string().contains("huge"), "{ready}");
    world.is_quiet().await?;
    let repaired = Patch::Merge(json!({ "spec": { "size": 1 } }));
    widgets
        .patch("bad", &PatchParams::default(), &repaired)
        .await?;
    world.reason("bad", "Ready").await.map(drop)
}

async fn refused() -> Result<()> {
    let world = World::start().await?;
    world.palette("warm", "no such label!").await?;
    world.widget("a", "warm").await?;
    let widget = world.reason("a", "Refused").await?;
    let ready = condition(&widget, "Ready").context("a condition")?;
    ensure!(ready.message.contains("a valid label must be"), "{ready:?}");
    let status = widget.status.context("a status")?;
    ensure!(status.phase.as_deref() == Some("Error"));
    world.is_quiet().await?;
    let log = world.operator_requests().await?;
    ensure!(
        log.of_resource("configmaps").counts().writes == 1,
        "{}",
        log.lines()
    );
    world.palette("warm", "red").await?;
    world.reason("a", "Ready").await.map(drop)
}

async fn late_definitions() -> Result<()> {
    let mut world = World::without_operator().await?;
    world.run().await?;
    tokio::time::sleep(Duration::from_secs(10)).await;
    let asked = world.operator_requests().await?;
    ensure!(asked.len() < 15, "a storm: {}", asked.lines());
    world.define(&Widget::crd()).await?;
    world.palette("warm", "red").await?;
    world.widget("a", "warm").await?;
    world.reason("a", "Ready").await.map(drop)
}

async fn server_restart() -> Result<()> {
    let mut world = World::start().await?;
    world.palette("warm", "red").await?;
    world.widget("a", "warm").await?;
    world.reason("a", "Ready").await?;
    world.server.restart_api_server().await?;
    world.palette("warm", "pink").await?;
    world.colour("a", "pink", Duration::from_secs(30)).await?;
    world.widget("b", "warm").await?;
    world.reason("b", "Ready").await?;
    // Its caches begin anew: versions from before are too old for it.
    let log = world.operator_requests().await?;
    let lists = |resource: &str| {
        let all = log.of_resource(resource);
        let streamed = all.only(|e| e.code == 200 && e.uri.contains("sendInitialEvents=true"));
        streamed.len()
    };
    ensure!(
        lists("configmaps") == 2 && lists("widgets") == 2,
        "{}",
        log.lines()
    );
    world.is_quiet().await
}

async fn burst() -> Result<()> {
    const MANY: usize = 600;
    let mut world = World::start().await?;
    world.stop().await?;
    world.palette("warm", "red").await?;
    for n in 0..MANY {
        world.widget(&format!("w{n:03}"), "warm").await?;
    }
    let begun = Instant::now();
    world.run().await?;
    let widgets = world.widgets();
    eventually_or_stuck("all are ready", SOON, async || {
        let listed = widgets.list(&Default::default()).await?;
        let is_ready = |w: &&Widget| condition(w, "Ready").is_some_and(|c| c.status == "True");
        Ok(all(listed.iter().filter(is_ready).count(), MANY))
    })
    .await?;
    eprintln!("{MANY} objects to Ready in {:?}", begun.elapsed());
    let log = world.operator_requests().await?;
    let counts = log.counts();
    ensure!(
        counts.writes == 2 * MANY && counts.reads == 0,
        "{} writes",
        counts.writes
    );
    let counts = world.counters()?.read();
    ensure!(counts.most_in_flight <= 16, "{}", counts.most_in_flight);
    world.is_quiet().await
}

async fn frozen() -> Result<()> {
    let mut world = World::without_operator().await?;
    world.define(&Widget::crd()).await?;
    let leadership = Leadership {
        namespace: "default".to_owned(),
        name: "widgets".to_owned(),
        identity: "one".to_owned(),
    };
    world
        .run_this(World::operator().leadership(leadership))
        .await?;
    world.palette("cold", "blue").await?;
    world.widget("first", "cold").await?;
    world.reason("first", "Ready").await?;
    world.palette("warm", "red").await?;
    for n in 0..40 {
        world.widget(&format!("w{n}"), "warm").await?;
    }
    world.server.freeze()?;
    tokio::time::sleep(Duration::from_millis(200)).await;
    let begun = Instant::now();
    let stopped = run_within(STOPPED, world.stop()).await;
    eprintln!(
        "stopped beside a frozen API server in {:?}",
        begun.elapsed()
    );
    world.server.thaw()?;
    stopped.context("it waits for the API server")??;
    Ok(())
}

async fn replicas() -> Result<()> {
    let world = World::without_operator().await?;
    world.define(&Widget::crd()).await?;
    let replica = async |name: &str| -> Result<Running> {
        let leadership = Leadership {
            namespace: "default".to_owned(),
            name: "widgets".to_owned(),
            identity: name.to_owned(),
        };
        let client = world.server.client_for(name, &["system:masters"]).await?;
        Ok(Running::start(
            World::operator().leadership(leadership),
            client,
        ))
    };
    let leases: Api<Lease> = Api::default_namespaced(world.client.clone());
    let holder = async |name: &str| {
        eventually(&format!("{name} leads"), SOON, async || {
            let lease = leases.get_opt("widgets").await?;
            let holder = lease.and_then(|l| l.spec).and_then(|s| s.holder_identity);
            Ok((holder.as_deref() == Some(name)).then_some(()))
        })
        .await
    };
    let first = replica("first").await?;
    holder("first").await?;
    let second = replica("second").await?;
    world.palette("warm", "red").await?;
    world.widget("a", "warm").await?;
    world.reason("a", "Ready").await?;
    tokio::time::sleep(SETTLED).await;
    ensure!(
        second.counters.read().all_passes() == 0,
        "the second wrote or looked"
    );
    let begun = Instant::now();
    first.stop().await?;
    holder("second").await?;
    eprintln!("taken over in {:?}", begun.elapsed());
    world.palette("warm", "pink").await?;
    world.colour("a", "pink", SOON).await?;
    let log = world.server.audit().await?;
    let writes = |user: &str| log.of_user(user).counts().writes;
    ensure!(
        (writes("first"), writes("second")) == (2, 1),
        "{} {}",
        writes("first"),
        writes("second")
    );
    second.stop().await
}
