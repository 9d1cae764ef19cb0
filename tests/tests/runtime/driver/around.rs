//! Changes by an administrator around an operator: rights, quotas, webhooks, namespaces, old API
//! servers. Each failure is reported, bounded, and heals.

use anyhow::{Result, ensure};
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, ResourceQuota};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use kube::api::{DeleteParams, PostParams};
use kube::{Api, CustomResourceExt};
use lifecycle_tests::api_server::Options;
use lifecycle_tests::harness::{Case, case, eventually};
use serde_json::json;

use super::BINARIES;
use super::widget::{Widget, WidgetSpec};
use super::world::{Running, SETTLED, SOON, World, condition};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("missing_rights_are_waited_for", BINARIES, rights),
        case("an_exhausted_quota_is_waited_for", BINARIES, quota),
        case("a_webhook_that_is_down_is_waited_for", BINARIES, webhook),
        case(
            "a_namespace_that_goes_gets_nothing_new",
            BINARIES,
            namespace,
        ),
        case(
            "a_server_without_streamed_lists_is_listed_in_pages",
            BINARIES,
            pages,
        ),
    ]
}

/// How often the operator tried to write ConfigMaps.
async fn tries(world: &World, user: &str) -> Result<usize> {
    let log = world.server.audit().await?.of_user(user);
    Ok(log.of_resource("configmaps").counts().writes)
}

async fn rights() -> Result<()> {
    let world = World::without_operator().await?;
    world.define(&Widget::crd()).await?;
    let role = |verbs: &[&str]| {
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": { "name": "limited" },
            "rules": [
                { "apiGroups": ["tests.lifecycle"], "resources": ["*"], "verbs": ["*"] },
                { "apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create"] },
                { "apiGroups": [""], "resources": ["configmaps"], "verbs": verbs },
            ],
        })
    };
    let roles: Api<ClusterRole> = Api::all(world.client.clone());
    world.apply(roles.clone(), role(&["list", "watch"])).await?;
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": { "name": "limited" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "limited" },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "limited" }],
    });
    let bindings: Api<ClusterRoleBinding> = Api::all(world.client.clone());
    world.apply(bindings, binding).await?;
    let client = world.server.client_for("limited", &[]).await?;
    let running = Running::start(World::operator(), client);
    world.palette("warm", "red").await?;
    world.widget("a", "warm").await?;
    world
        .message("a", "rights are missing: grant them to our service account")
        .await?;
    let tried = tries(&world, "limited").await?;
    ensure!(tried <= 4, "{tried} tries");
    world
        .apply(roles, role(&["list", "watch", "patch", "create"]))
        .await?;
    world.reason("a", "Ready").await?;
    running.stop().await
}

async fn quota() -> Result<()> {
    let world = World::start().await?;
    let quotas: Api<ResourceQuota> = Api::default_namespaced(world.client.clone());
    let quota = json!({
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": { "name": "none" },
        "spec": { "hard": { "count/configmaps": "1" } },
    });
    world.palette("warm", "red").await?;
    world.apply(quotas.clone(), quota).await?;
    let used = json!({ "status": { "hard": { "count/configmaps": "1" }, "used": { "count/configmaps": "1" } } });
    let patch = kube::api::Patch::Merge(used);
    quotas
        .patch_status("none", &Default::default(), &patch)
        .await?;
    world.widget("a", "warm").await?;
    world
        .message("a", "a quota is used up: raise it or remove something")
        .await?;
    let tried = tries(&world, "operator").await?;
    ensure!(tried <= 4, "{tried} tries");
    quotas.delete("none", &DeleteParams::default()).await?;
    world.reason("a", "Ready").await.map(drop)
}

async fn webhook() -> Result<()> {
    let world = World::start().await?;
    world.palette("warm", "red").await?;
    let hooks: Api<ValidatingWebhookConfiguration> = Api::all(world.client.clone());
    let hook = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": { "name": "down" },
        "webhooks": [{
            "name": "down.tests.lifecycle", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "failurePolicy": "Fail", "timeoutSeconds": 1,
            "clientConfig": { "url": "https://127.0.0.1:1/" },
            "rules": [{ "apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"] }],
        }],
    });
    world.apply(hooks.clone(), hook).await?;
    // It takes effect a moment after it is made.
    eventually("the webhook is asked", SOON, async || {
        Ok(world.map("probe", &[]).await.err())
    })
    .await?;
    world.widget("a", "warm").await?;
    world
        .message(
            "a",
            "an admission webhook does not answer: repair or remove it",
        )
        .await?;
    let tried = tries(&world, "operator").await?;
    ensure!(tried <= 4, "{tried} tries");
    hooks.delete("down", &DeleteParams::default()).await?;
    world.reason("a", "Ready").await.map(drop)
}

async fn namespace() -> Result<()> {
    let world = World::start().await?;
    let namespaces: Api<Namespace> = Api::all(world.client.clone());
    let going = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "going" } });
    world.apply(namespaces.clone(), going).await?;
    let maps: Api<ConfigMap> = Api::namespaced(world.client.clone(), "going");
    let widgets: Api<Widget> = Api::namespaced(world.client.clone(), "going");
    let spec = WidgetSpec {
        palette: Some("warm".to_owned()),
        size: 1,
    };
    widgets
        .create(&PostParams::default(), &Widget::new("a", spec))
        .await?;
    eventually("it waits for its palette", SOON, async || {
        let widget = widgets.get("a").await?;
        let ready = condition(&widget, "Ready");
        Ok(ready.is_some_and(|c| c.reason == "NoPalette").then_some(()))
    })
    .await?;
    let palette = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "warm" }, "data": { "colour": "red" } });
    let before = tries(&world, "operator").await?;
    // Without its controller the namespace stays in its last state: nothing new may be made in it.
    world.apply(maps.clone(), palette.clone()).await?;
    eventually("it is made", SOON, async || Ok(maps.get_opt("a").await?)).await?;
    namespaces.delete("going", &DeleteParams::default()).await?;
    maps.delete("a", &DeleteParams::default()).await?;
    eventually("it says why", SOON, async || {
        let widget = widgets.get("a").await?;
        let ready = condition(&widget, "Ready");
        Ok(ready
            .is_some_and(|c| c.message.contains("the namespace is being deleted"))
            .then_some(()))
    })
    .await?;
    tokio::time::sleep(SETTLED).await;
    let tried = tries(&world, "operator").await? - before;
    ensure!(tried <= 6, "{tried} tries");
    Ok(())
}

async fn pages() -> Result<()> {
    const MANY: usize = 520;
    let options = Options::default().flag("--feature-gates=WatchList=false");
    let mut world = World::with_options(options).await?;
    world.define(&Widget::crd()).await?;
    world.palette("warm", "red").await?;
    for n in 0..MANY {
        world.widget(&format!("w{n:03}"), "warm").await?;
    }
    world.run().await?;
    world.reason("w000", "Ready").await?;
    world.reason(&format!("w{}", MANY - 1), "Ready").await?;
    let log = world.operator_requests().await?;
    let lists = log.of_resource("widgets").counts().reads;
    ensure!(lists == 2, "{lists} pages");
    world.palette("warm", "pink").await?;
    world.colour("w000", "pink", SOON).await.map(drop)
}
