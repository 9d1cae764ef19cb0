//! One owned object: made, kept, given up, and never taken from another controller or user.

use anyhow::{Context, Result, ensure};
use kube::ResourceExt;
use kube::api::{DeleteParams, Patch, PatchParams};
use lifecycle_tests::harness::{Case, case, eventually};
use serde_json::json;

use super::BINARIES;
use super::world::{SETTLED, SOON, World, condition};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "an_object_becomes_ready_with_two_writes",
            BINARIES,
            becomes_ready,
        ),
        case(
            "a_missing_input_is_an_error_that_heals",
            BINARIES,
            missing_input,
        ),
        case("drift_heals_within_two_seconds", BINARIES, drift),
        case("a_foreign_object_stays_as_it_is", BINARIES, foreign),
        case("a_restart_writes_nothing", BINARIES, restart),
        case("a_deleted_object_is_left_alone", BINARIES, deleted),
        case(
            "a_change_of_nobodys_input_makes_no_pass",
            BINARIES,
            unrelated,
        ),
        case(
            "fields_of_a_replaced_operator_are_taken_over",
            BINARIES,
            taken_over,
        ),
    ]
}

async fn becomes_ready() -> Result<()> {
    let mut world = World::start().await?;
    world.palette("warm", "red").await?;
    world.widget("a", "warm").await?;
    let widget = world.reason("a", "Ready").await?;
    let ready = condition(&widget, "Ready").context("a condition")?;
    ensure!(ready.observed_generation == Some(1), "{ready:?}");
    let status = widget.status.context("a status")?;
    ensure!(status.phase.as_deref() == Some("Ready") && status.made.as_deref() == Some("a"));
    let made = world.colour("a", "red", SOON).await?;
    let owner = made.owner_references().first().context("an owner")?;
    ensure!(owner.controller == Some(true) && owner.kind == "Widget" && owner.name == "a");
    world.is_quiet().await?;
    let log = world.operator_requests().await?;
    let counts = log.counts();
    ensure!((counts.writes, counts.reads) == (2, 0), "{}", log.lines());
    // A newly defined kind is served only a moment later: the server answers 429 until then.
    let answered = log.only(|entry| entry.code == 200).counts().watches;
    ensure!(answered == 2, "{}", log.lines());
    ensure!(world.events("a").await?.is_empty());
    world.stop().await
}

async fn missing_input() -> Result<()> {
    let world = World::start().await?;
    world.widget("a", "warm").await?;
    let widget = world.reason("a", "NoPalette").await?;
    let accepted = condition(&widget, "Accepted").context("a condition")?;
    ensure!(
        accepted.message == "ConfigMap `default/warm` does not exist",
        "{accepted:?}"
    );
    ensure!(world.maps().get_opt("a").await?.is_none());
    world.palette("warm", "red").await?;
    world.reason("a", "Ready").await?;
    world
        .maps()
        .delete("warm", &DeleteParams::default())
        .await?;
    let widget = world.reason("a", "NoPalette").await?;
    let kept = widget.status.and_then(|s| s.made);
    ensure!(kept.as_deref() == Some("a"), "the field is kept: {kept:?}");
    ensure!(
        world.maps().get_opt("a").await?.is_some(),
        "what runs stays"
    );
    let told = eventually("the event", SOON, async || {
        let told = world.events("a").await?;
        Ok((told.len() >= 3).then_some(told))
    })
    .await?;
    let mut kinds: Vec<_> = told.iter().map(|(t, r, _)| format!("{t} {r}")).collect();
    kinds.sort();
    ensure!(
        kinds == ["Normal Ready", "Warning GetPalette", "Warning GetPalette"],
        "{told:?}"
    );
    Ok(())
}

async fn drift() -> Result<()> {
    let world = World::start().await?;
    world.palette("warm", "red").await?;
    world.widget("a", "warm").await?;
    world.reason("a", "Ready").await?;
    for round in 0..3 {
        let edit =
            Patch::Merge(json!({ "data": { "colour": format!("blue{round}"), "mine": "1" } }));
        world
            .maps()
            .patch("a", &PatchParams::default(), &edit)
            .await?;
        let healed = world.colour("a", "red", SOON).await?;
        let data = healed.data.context("data")?;
        ensure!(
            data.get("mine").map(String::as_str) == Some("1"),
            "what is not ours stays"
        );
        world.maps().delete("a", &DeleteParams::default()).await?;
        world.colour("a", "red", SOON).await?;
    }
    world.palette("warm", "pink").await?;
    let made = world.colour("a", "pink", SOON).await?;
    ensure!(made.labels().get("colour").map(String::as_str) == Some("pink"));
    world.map("warm", &[("other", "x")]).await?;
    eventually("a dropped field goes", SOON, async || {
        let made = world.maps().get("a").await?;
        let gone = !made.data.clone().unwrap_or_default().contains_key("colour");
        Ok((gone && made.labels().is_empty()).then_some(()))
    })
    .await?;
    world.is_quiet().await
}

async fn foreign() -> Result<()> {
    let world = World::start().await?;
    let before = world.map("a", &[("colour", "black")]).await?;
    world.palette("warm", "red").await?;
    world.widget("a", "warm").await?;
    let widget = world.reason("a", "ForeignConfigMap").await?;
    let made = condition(&widget, "Made").context("a condition")?;
    let sentence = "ConfigMap `default/a` exists and is not controlled by this Widget: rename the Widget or remove that ConfigMap";
    ensure!(made.message == sentence, "{made:?}");
    world.is_quiet().await?;
    ensure!(world.maps().get("a").await? == before, "it was touched");
    let told = world.events("a").await?;
    ensure!(
        told.len() == 1 && told[0].1 == "RefuseToOverwrite",
        "{told:?}"
    );
    world.maps().delete("a", &DeleteParams::default()).await?;
    world.reason("a", "Ready").await?;
    world.colour("a", "red", SOON).await.map(drop)
}

async fn restart() -> Result<()> {
    let mut world = World::start().await?;
    world.palette("warm", "red").await?;
    for n in 0..50 {
        world.widget(&format!("w{n}"), "warm").await?;
    }
    for n in 0..50 {
        world.reason(&format!("w{n}"), "Ready").await?;
    }
    world.is_quiet().await?;
    for kill in [false, true] {
        if kill {
            world.kill().await?;
        } else {
            world.stop().await?;
        }
        let before = world.operator_requests().await?.len();
        world.run().await?;
        tokio::time::sleep(SETTLED).await;
        let log = world.operator_requests().await?;
        let counts = log.counts();
        let new = log.len() - before;
        ensure!(
            new == 2 && counts.writes == 100 && counts.reads == 0,
            "{}",
            log.lines()
        );
        ensure!(world.counters()?.read().all_passes() >= 50);
    }
    Ok(())
}

async fn deleted() -> Result<()> {
    let world = World::start().await?;
    world.palette("warm", "red").await?;
    world.widget("a", "warm").await?;
    world.reason("a", "Ready").await?;
    world
        .widgets()
        .delete("a", &DeleteParams::foreground())
        .await?;
    world.maps().delete("a", &DeleteParams::default()).await?;
    world.is_quiet().await?;
    ensure!(
        world.maps().get_opt("a").await?.is_none(),
        "it was made again"
    );
    ensure!(world.events("a").await?.is_empty());
    Ok(())
}

async fn unrelated() -> Result<()> {
    let world = World::start().await?;
    world.palette("warm", "red").await?;
    world.palette("cold", "blue").await?;
    world.widget("a", "warm").await?;
    world.widget("b", "cold").await?;
    world.reason("a", "Ready").await?;
    world.reason("b", "Ready").await?;
    world.is_quiet().await?;
    let passes = |name: &str| -> Result<u64> {
        let counts = world.counters()?.read();
        let mut all = counts.passes.iter();
        Ok(all
            .find(|(object, _)| object.name == name)
            .map_or(0, |(_, n)| *n))
    };
    let (a, b) = (passes("a")?, passes("b")?);
    world.palette("other", "grey").await?;
    world.palette("cold", "green").await?;
    world.colour("b", "green", SOON).await?;
    tokio::time::sleep(SETTLED).await;
    ensure!(passes("a")? == a, "a change of another palette woke it");
    ensure!(passes("b")? > b);
    // Metadata that only managers see, and a version, are no change.
    let b = passes("b")?;
    let params = PatchParams::apply("somebody").force();
    let same = json!({ "apiVersion": "v1", "kind": "ConfigMap", "data": { "colour": "green" } });
    world
        .maps()
        .patch("cold", &params, &Patch::Apply(same))
        .await?;
    tokio::time::sleep(SETTLED).await;
    ensure!(
        passes("b")? == b,
        "a change of managed fields alone woke it"
    );
    Ok(())
}

async fn taken_over() -> Result<()> {
    use lifecycle_runtime::Operator;
    use lifecycle_runtime::operator::Naming;

    let mut world = World::start().await?;
    world.palette("warm", "red").await?;
    world.widget("a", "warm").await?;
    world.reason("a", "Ready").await?;
    world.stop().await?;
    // The replaced operator uses updates, so its fields are still under its name.
    let old = PatchParams {
        field_manager: Some("old".to_owned()),
        ..PatchParams::default()
    };
    let equal = Patch::Merge(json!({ "metadata": { "annotations": { "old": "1" } } }));
    world.maps().patch("a", &old, &equal).await?;
    let naming = Naming {
        replaced: vec!["old".to_owned()],
        ..Naming::new("tests.lifecycle", "Widget")
    };
    let machine = super::widget::machine(super::widget::Painter);
    let operator = Operator::new("tests.lifecycle")
        .run_as(machine, naming)
        .seed(1);
    world.run_this(operator).await?;
    eventually("the old field goes", SOON, async || {
        let made = world.maps().get("a").await?;
        Ok(made.annotations().is_empty().then_some(()))
    })
    .await?;
    let made = world.maps().get("a").await?;
    let managers: Vec<_> = made
        .managed_fields()
        .iter()
        .filter_map(|m| m.manager.clone())
        .collect();
    ensure!(managers == ["tests.lifecycle/widget"], "{managers:?}");
    world.is_quiet().await
}
