//! Sets, shares, parts, and resources held outside Kubernetes.

use std::fmt::Debug;
use std::time::Duration;

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::core::NamespaceResourceScope;
use kube::{Api, CustomResourceExt, Resource, ResourceExt};
use lifecycle_runtime::Operator;
use lifecycle_tests::harness::{Case, case, eventually};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::BINARIES;
use super::fan::{self, Fan, FanSpec, Maker};
use super::tag::{self, Tag, TagSpec, Tagger};
use super::tap::{self, Plumber, Tanks, Tap, TapSpec};
use super::world::{SETTLED, SOON, World};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("a_set_follows_what_is_wanted", BINARIES, set),
        case("a_taken_name_stops_no_other_member", BINARIES, taken_name),
        case(
            "several_objects_share_one_and_label_another",
            BINARIES,
            shared,
        ),
        case(
            "what_only_a_deleted_contributor_wanted_goes",
            BINARIES,
            contributor_that_goes,
        ),
        case(
            "what_is_held_is_given_back_before_the_object_goes",
            BINARIES,
            held_resource,
        ),
        case(
            "a_provider_that_fails_is_asked_again",
            BINARIES,
            failing_provider,
        ),
        case("two_lifecycles_share_a_cache", BINARIES, two_lifecycles),
    ]
}

/// Common interface of the tests' statuses.
trait Conditions:
    Resource<DynamicType = (), Scope = NamespaceResourceScope>
    + Clone
    + Debug
    + DeserializeOwned
    + Serialize
{
    fn conditions(&self) -> &[Condition];
}

macro_rules! conditions {
    ($($kind:ident),*) => { $(impl Conditions for $kind {
        fn conditions(&self) -> &[Condition] {
            self.status.as_ref().map_or(&[], |s| &s.conditions)
        }
    })* };
}
conditions!(Fan, Tag, Tap);

async fn reason<K: Conditions>(world: &World, name: &str, reason: &str) -> Result<K> {
    let api: Api<K> = Api::default_namespaced(world.client.clone());
    let found = eventually(&format!("{name} is {reason}"), SOON, async || {
        let object = api.get(name).await?;
        let mut ready = object.conditions().iter().filter(|c| c.type_ == "Ready");
        let is_it = ready.any(|c| c.reason == reason);
        Ok(is_it.then_some(object))
    })
    .await;
    match found {
        Ok(object) => Ok(object),
        Err(error) => Err(error.context(format!("it is {:?}", api.get(name).await?))),
    }
}

async fn create<K: Conditions>(world: &World, object: K) -> Result<K> {
    let api: Api<K> = Api::default_namespaced(world.client.clone());
    Ok(api.create(&PostParams::default(), &object).await?)
}

fn fan(name: &str, blades: &[&str]) -> Fan {
    let blades = blades.iter().map(|b| (*b).to_owned()).collect();
    Fan::new(
        name,
        FanSpec {
            blades,
            colour: "red".to_owned(),
        },
    )
}

async fn fans() -> Result<World> {
    let mut world = World::without_operator().await?;
    world.define(&Fan::crd()).await?;
    let operator = Operator::new("tests.lifecycle")
        .run(fan::machine(Maker))
        .seed(1);
    world.run_this(operator).await?;
    Ok(world)
}

async fn set() -> Result<()> {
    let world = fans().await?;
    let before = world.map("look-alike", &[("colour", "black")]).await?;
    let label = Patch::Merge(json!({ "metadata": { "labels": { "tests.lifecycle/fan": "f" } } }));
    let look_alike = world
        .maps()
        .patch("look-alike", &PatchParams::default(), &label)
        .await?;
    ensure!(before.uid() == look_alike.uid());
    create(&world, fan("f", &["a", "b", "c"])).await?;
    reason::<Fan>(&world, "f", "Ready").await?;
    ensure!(
        world.operator_requests().await?.counts().writes == 4,
        "{}",
        world.operator_requests().await?.lines()
    );
    let fans: Api<Fan> = Api::default_namespaced(world.client.clone());
    let fewer = Patch::Merge(json!({ "spec": { "blades": ["b", "d"], "colour": "blue" } }));
    fans.patch("f", &PatchParams::default(), &fewer).await?;
    world.colour("f-b", "blue", SOON).await?;
    world.colour("f-d", "blue", SOON).await?;
    eventually("the others go", SOON, async || {
        let (a, c) = (
            world.maps().get_opt("f-a").await?,
            world.maps().get_opt("f-c").await?,
        );
        Ok((a.is_none() && c.is_none()).then_some(()))
    })
    .await?;
    world.maps().delete("f-b", &DeleteParams::default()).await?;
    world.colour("f-b", "blue", SOON).await?;
    reason::<Fan>(&world, "f", "Ready").await?;
    world.is_quiet().await?;
    ensure!(
        world.maps().get("look-alike").await? == look_alike,
        "a look-alike was touched"
    );
    Ok(())
}

async fn taken_name() -> Result<()> {
    let world = fans().await?;
    let taken = world.map("f-a", &[("colour", "black")]).await?;
    create(&world, fan("f", &["a", "b"])).await?;
    reason::<Fan>(&world, "f", "Taken").await?;
    world.colour("f-b", "red", SOON).await?;
    world.is_quiet().await?;
    ensure!(world.maps().get("f-a").await? == taken, "it was touched");
    world.maps().delete("f-a", &DeleteParams::default()).await?;
    reason::<Fan>(&world, "f", "Ready").await.map(drop)
}

fn tag(name: &str, text: &str) -> Tag {
    Tag::new(
        name,
        TagSpec {
            hub: "hub".to_owned(),
            target: "target".to_owned(),
            text: text.to_owned(),
        },
    )
}

async fn shared() -> Result<()> {
    let mut world = World::without_operator().await?;
    world.define(&Tag::crd()).await?;
    let operator = Operator::new("tests.lifecycle")
        .run(tag::machine(Tagger))
        .seed(1);
    world.run_this(operator).await?;
    create(&world, tag("one", "x")).await?;
    reason::<Tag>(&world, "one", "NoTarget").await?;
    ensure!(
        world.maps().get_opt("target").await?.is_none(),
        "a part is never created"
    );
    create(&world, tag("two", "y")).await?;
    world.map("target", &[("theirs", "1")]).await?;
    for name in ["one", "two"] {
        reason::<Tag>(&world, name, "Ready").await?;
    }
    let hub = world.maps().get("hub").await?;
    let lines = hub.data.clone().unwrap_or_default();
    ensure!(
        lines.len() == 2 && lines["one"] == "x" && lines["two"] == "y",
        "{lines:?}"
    );
    ensure!(
        hub.owner_references().len() == 2,
        "{:?}",
        hub.owner_references()
    );
    ensure!(
        hub.owner_references()
            .iter()
            .all(|o| o.controller != Some(true))
    );
    let target = world.maps().get("target").await?;
    ensure!(target.labels()["tag/one"] == "x" && target.labels()["tag/two"] == "y");
    ensure!(target.owner_references().is_empty() && target.data.unwrap_or_default().len() == 1);
    let tags: Api<Tag> = Api::default_namespaced(world.client.clone());
    let change = Patch::Merge(json!({ "spec": { "text": "z" } }));
    tags.patch("one", &PatchParams::default(), &change).await?;
    eventually("only its own line changes", SOON, async || {
        let lines = world.maps().get("hub").await?.data.unwrap_or_default();
        let labels = world
            .maps()
            .get("target")
            .await?
            .metadata
            .labels
            .unwrap_or_default();
        let line = lines["one"] == "z" && lines["two"] == "y";
        Ok((line && labels["tag/one"] == "z" && labels["tag/two"] == "y").then_some(()))
    })
    .await?;
    world.is_quiet().await
}

async fn contributor_that_goes() -> Result<()> {
    let mut world = World::without_operator().await?;
    world.define(&Tag::crd()).await?;
    let operator = Operator::new("tests.lifecycle")
        .run(tag::machine(Tagger))
        .seed(1);
    world.run_this(operator).await?;
    world.map("target", &[]).await?;
    for name in ["one", "two"] {
        create(&world, tag(name, name)).await?;
        reason::<Tag>(&world, name, "Ready").await?;
    }
    let tags: Api<Tag> = Api::default_namespaced(world.client.clone());
    let gone = tags.get("one").await?.uid();
    tags.delete("one", &DeleteParams::default()).await?;
    eventually("its line goes, the other stays", SOON, async || {
        let hub = world.maps().get("hub").await?;
        collect_owner(&world, &hub, gone.as_deref()).await?;
        let lines = hub.data.unwrap_or_default();
        let stays = lines.get("two").is_some_and(|line| line == "two");
        ensure!(stays, "{lines:?}");
        Ok((lines.len() == 1).then_some(()))
    })
    .await?;
    reason::<Tag>(&world, "two", "Ready").await?;
    world.is_quiet().await
}

/// Removes a deleted owner, as the garbage collector does, which an API server alone does not have.
/// An operator that has not seen the deletion yet names it once more.
async fn collect_owner(world: &World, hub: &ConfigMap, gone: Option<&str>) -> Result<()> {
    let mut owners = hub.owner_references().to_vec();
    owners.retain(|owner| Some(owner.uid.as_str()) != gone);
    if owners.len() < hub.owner_references().len() {
        ensure!(owners.len() == 1, "{owners:?}");
        let version = hub.resource_version();
        let left = json!({ "metadata": { "ownerReferences": owners, "resourceVersion": version } });
        let patch = Patch::Merge(left);
        let patched = world
            .maps()
            .patch("hub", &PatchParams::default(), &patch)
            .await;
        match patched {
            Err(kube::Error::Api(status)) if status.is_conflict() => {}
            other => other.map(drop)?,
        }
    }
    Ok(())
}

async fn taps(tanks: &Tanks) -> Result<World> {
    let mut world = World::without_operator().await?;
    world.define(&Tap::crd()).await?;
    world.run_this(plumbing(tanks)).await?;
    Ok(world)
}

fn plumbing(tanks: &Tanks) -> Operator {
    Operator::new("tests.lifecycle")
        .run(tap::machine(Plumber(tanks.clone())))
        .seed(1)
}

fn tap(name: &str) -> Tap {
    Tap::new(
        name,
        TapSpec {
            tank: "big".to_owned(),
        },
    )
}

async fn held_resource() -> Result<()> {
    let tanks = Tanks::default();
    let mut world = taps(&tanks).await?;
    for name in ["a", "b"] {
        create(&world, tap(name)).await?;
    }
    let mut keys = Vec::new();
    for name in ["a", "b"] {
        let ready = reason::<Tap>(&world, name, "Ready").await?;
        ensure!(
            ready.finalizers() == ["tests.lifecycle/tap"],
            "{:?}",
            ready.finalizers()
        );
        keys.push(ready.uid().unwrap_or_default());
    }
    tokio::time::sleep(SETTLED).await;
    let (calls, polls) = tanks.with_state(|t| (t.calls.len(), t.polls));
    ensure!(calls == 2, "each was opened once");
    tokio::time::sleep(Duration::from_secs(2)).await;
    let more = tanks.with_state(|t| t.polls) - polls;
    ensure!(
        (5..=12).contains(&more),
        "both share one question every 200 ms: {more} in 2 s"
    );
    let passes = world.counters()?.read().all_passes();
    tokio::time::sleep(Duration::from_secs(1)).await;
    ensure!(
        world.counters()?.read().all_passes() == passes,
        "an equal answer woke somebody"
    );
    world.kill().await?;
    world.run_this(plumbing(&tanks)).await?;
    tokio::time::sleep(SETTLED).await;
    ensure!(
        tanks.with_state(|t| t.calls.len()) == 2,
        "a restart opened it again"
    );
    let api: Api<Tap> = Api::default_namespaced(world.client.clone());
    api.delete("a", &DeleteParams::default()).await?;
    eventually("it goes", SOON, async || {
        Ok(api.get_opt("a").await?.is_none().then_some(()))
    })
    .await?;
    let calls = tanks.with_state(|t| t.calls.clone());
    ensure!(
        calls.len() == 3 && calls[2] == format!("close {}", keys[0]),
        "{calls:?}"
    );
    let open = tanks.with_state(|t| t.open["big"].clone());
    ensure!(open.len() == 1 && open.contains(&keys[1]), "{open:?}");
    world.is_quiet().await
}

async fn failing_provider() -> Result<()> {
    let tanks = Tanks::default();
    tanks.with_state(|t| t.full = true);
    let world = taps(&tanks).await?;
    create(&world, tap("a")).await?;
    let rejected = reason::<Tap>(&world, "a", "Rejected").await?;
    let said = rejected
        .conditions()
        .iter()
        .any(|c| c.message == "no tap is free: order a bigger tank");
    ensure!(said, "{:?}", rejected.conditions());
    tokio::time::sleep(SETTLED).await;
    ensure!(
        tanks.with_state(|t| t.calls.len()) == 1,
        "a refused call was repeated"
    );
    tanks.with_state(|t| t.down = true);
    reason::<Tap>(&world, "a", "Opening").await?;
    tanks.with_state(|t| (t.down, t.full) = (false, false));
    reason::<Tap>(&world, "a", "Ready").await?;
    tanks.with_state(|t| t.down = true);
    let api: Api<Tap> = Api::default_namespaced(world.client.clone());
    api.delete("a", &DeleteParams::default()).await?;
    tokio::time::sleep(SETTLED).await;
    ensure!(
        api.get_opt("a").await?.is_some(),
        "it went with an open tap"
    );
    tanks.with_state(|t| t.down = false);
    eventually("it goes", SOON, async || {
        Ok(api.get_opt("a").await?.is_none().then_some(()))
    })
    .await?;
    ensure!(tanks.with_state(|t| t.open["big"].is_empty()));
    Ok(())
}

async fn two_lifecycles() -> Result<()> {
    let mut world = World::without_operator().await?;
    world.define(&Fan::crd()).await?;
    world.define(&Tag::crd()).await?;
    let operator = Operator::new("tests.lifecycle")
        .run(fan::machine(Maker))
        .run(tag::machine(Tagger))
        .seed(1);
    world.run_this(operator).await?;
    world.map("target", &[]).await?;
    create(&world, fan("f", &["a"])).await?;
    create(&world, tag("one", "x")).await?;
    reason::<Fan>(&world, "f", "Ready").await?;
    reason::<Tag>(&world, "one", "Ready").await?;
    let log = world.operator_requests().await?;
    let maps = log.of_resource("configmaps");
    let answered = maps.only(|entry| entry.code == 200).counts().watches;
    ensure!(answered == 1, "{}", log.lines());
    Ok(())
}
