//! An object that belongs to another one and is built by several lifecycles, with a list whose
//! elements are all ours.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Service;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, CustomResourceExt, ResourceExt};
use lifecycle_runtime::Operator;
use lifecycle_tests::harness::{Case, case, eventually};
use serde_json::{Value, json};

use super::BINARIES;
use super::door::{self, Carpenter, Door, DoorSpec};
use super::world::{SOON, World};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "several_objects_build_one_that_another_owns",
            BINARIES,
            several,
        ),
        case(
            "what_the_other_owner_does_not_control_is_left_alone",
            BINARIES,
            foreign,
        ),
        case(
            "elements_that_others_put_into_our_list_go",
            BINARIES,
            elements,
        ),
    ]
}

async fn doors() -> Result<World> {
    let mut world = World::without_operator().await?;
    world.define(&Door::crd()).await?;
    let operator = Operator::new("tests.lifecycle")
        .run(door::machine(Carpenter))
        .seed(1);
    world.run_this(operator).await?;
    Ok(world)
}

fn services(world: &World) -> Api<Service> {
    Api::default_namespaced(world.client.clone())
}

async fn door(world: &World, name: &str) -> Result<()> {
    let api: Api<Door> = Api::default_namespaced(world.client.clone());
    let spec = DoorSpec {
        house: "house".to_owned(),
    };
    api.create(&PostParams::default(), &Door::new(name, spec))
        .await?;
    Ok(())
}

/// Returns the conditions of a door in order, once it reports this status and message.
async fn wait_status(
    world: &World,
    name: &str,
    status: &str,
    message: &str,
) -> Result<Vec<String>> {
    let api: Api<Door> = Api::default_namespaced(world.client.clone());
    eventually(
        &format!("{name} says {status}: {message}"),
        SOON,
        async || {
            let Some(said) = api.get(name).await?.status else {
                return Ok(None);
            };
            let is_it =
                said.status.as_deref() == Some(status) && said.message.as_deref() == Some(message);
            let rows = said.conditions.iter();
            let rows = rows.map(|c| format!("{}={}/{}/{}", c.type_, c.status, c.reason, c.message));
            Ok(is_it.then(|| rows.collect()))
        },
    )
    .await
}

/// The Service, once it has exactly these ports.
async fn has(world: &World, ports: &[(&str, i32)]) -> Result<Service> {
    let api = services(world);
    let expected: Vec<_> = ports
        .iter()
        .map(|(name, port)| ((*name).to_owned(), *port, format!("{}", 1024 + port)))
        .collect();
    let last = async || api.get_opt("house").await;
    let found = eventually(&format!("the ports are {ports:?}"), SOON, async || {
        let Some(service) = last().await? else {
            return Ok(None);
        };
        let spec = service.spec.clone().unwrap_or_default();
        let mut is: Vec<_> = spec
            .ports
            .into_iter()
            .flatten()
            .map(|port| {
                let target = port.target_port.map(|target| match target {
                    k8s_openapi::apimachinery::pkg::util::intstr::IntOrString::Int(n) => {
                        n.to_string()
                    }
                    k8s_openapi::apimachinery::pkg::util::intstr::IntOrString::String(s) => s,
                });
                (
                    port.name.unwrap_or_default(),
                    port.port,
                    target.unwrap_or_default(),
                )
            })
            .collect();
        is.sort();
        Ok((is == expected).then_some(service))
    })
    .await;
    match found {
        Ok(service) => Ok(service),
        Err(error) => Err(error.context(format!("it is {:?}", last().await?))),
    }
}

async fn edit(world: &World, manager: &str, patch: &Value) -> Result<()> {
    let params = PatchParams {
        field_manager: Some(manager.to_owned()),
        ..PatchParams::default()
    };
    services(world)
        .patch("house", &params, &Patch::Merge(patch))
        .await?;
    Ok(())
}

async fn several() -> Result<()> {
    let world = doors().await?;
    door(&world, "front").await?;
    let rows = wait_status(
        &world,
        "front",
        "Error",
        "ConfigMap `default/house` does not exist",
    )
    .await?;
    let why = "False/Error/ConfigMap `default/house` does not exist";
    ensure!(
        rows == [format!("Configured={why}"), format!("Ready={why}")],
        "{rows:?}"
    );
    let house = world.map("house", &[("http", "80")]).await?;
    door(&world, "back").await?;
    for name in ["front", "back"] {
        let rows = wait_status(&world, name, "Ready", "OK").await?;
        let fine = ["Configured", "Hung", "Ready"].map(|name| format!("{name}=True/Ready/OK"));
        ensure!(rows == fine, "{rows:?}");
    }
    let made = has(&world, &[("http", 80)]).await?;
    let owner = made.owner_references().first().context("an owner")?;
    ensure!(
        owner.controller == Some(true) && owner.kind == "ConfigMap",
        "{owner:?}"
    );
    ensure!(Some(&owner.uid) == house.uid().as_ref() && made.owner_references().len() == 1);
    let managers = made
        .managed_fields()
        .iter()
        .map(|entry| entry.manager.clone());
    ensure!(
        managers.flatten().eq(["tests.lifecycle/door".to_owned()]),
        "one manager for all"
    );
    let api: Api<Door> = Api::default_namespaced(world.client.clone());
    api.delete("front", &DeleteParams::default()).await?;
    world
        .map("house", &[("http", "80"), ("https", "443")])
        .await?;
    let kept = has(&world, &[("http", 80), ("https", 443)]).await?;
    ensure!(
        kept.uid() == made.uid(),
        "it stays when one of those goes that build it"
    );
    world.is_quiet().await
}

async fn foreign() -> Result<()> {
    let world = doors().await?;
    world.map("house", &[("http", "80")]).await?;
    let theirs: Service = serde_json::from_value(json!({
        "metadata": { "name": "house" }, "spec": { "ports": [{ "name": "theirs", "port": 1 }] },
    }))?;
    let before = services(&world)
        .create(&PostParams::default(), &theirs)
        .await?;
    door(&world, "front").await?;
    let why = "Service `default/house` exists and is not controlled by ConfigMap `default/house`: change `spec.house` of the Door or remove that Service";
    wait_status(&world, "front", "Error", why).await?;
    ensure!(
        services(&world).get("house").await? == before,
        "it is as it was"
    );
    services(&world)
        .delete("house", &DeleteParams::default())
        .await?;
    wait_status(&world, "front", "Ready", "OK").await?;
    has(&world, &[("http", 80)]).await.map(drop)
}

async fn elements() -> Result<()> {
    let world = doors().await?;
    world
        .map("house", &[("http", "80"), ("https", "443")])
        .await?;
    door(&world, "front").await?;
    door(&world, "back").await?;
    let ours = [("http", 80), ("https", 443)];
    let made = has(&world, &ours).await?;
    let port = |name: &str, port: u16| json!({ "name": name, "port": port });
    let edits = [
        json!([port("http", 8080)]),
        json!([port("http", 80), port("https", 443), port("more", 9090)]),
    ];
    for (round, edited) in edits.iter().enumerate() {
        let note = json!({ "metadata": { "annotations": { "note": round.to_string() } }, "spec": { "ports": edited } });
        edit(&world, "hand", &note).await?;
        let healed = has(&world, &ours).await?;
        ensure!(
            healed.uid() == made.uid() && healed.annotations()["note"] == round.to_string(),
            "the rest is theirs"
        );
    }
    let applied = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": { "name": "house", "labels": { "team": "blue" } },
        "spec": { "ports": [{ "name": "more", "port": 9090, "protocol": "TCP" }] },
    });
    let params = PatchParams::apply("another").force();
    services(&world)
        .patch("house", &params, &Patch::Apply(applied))
        .await?;
    let healed = has(&world, &ours).await?;
    ensure!(healed.labels()["team"] == "blue", "their label stays");
    world.is_quiet().await?;
    for name in ["front", "back"] {
        wait_status(&world, name, "Ready", "OK").await?;
    }
    Ok(())
}
