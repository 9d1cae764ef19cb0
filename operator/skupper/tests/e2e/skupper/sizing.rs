//! Sizes of routers, and settings. Some of the settings have no effect.

use anyhow::{Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ConfigMap;
use lifecycle_specs_skupper::router::SITE;
use lifecycle_specs_skupper::site::Site;
use lifecycle_tests::harness::Case;
use serde_json::{Value, json};

use super::support::shared;
use crate::place::{TestNamespace, has_report};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        shared("a_router_gets_the_size_that_its_site_names", sizes),
        shared("one_router_needs_no_anti_affinity", settings),
    ]
}

async fn sizes(place: TestNamespace) -> Result<()> {
    let map = json!({
        "metadata": { "name": "of-routers", "labels": { "skupper.io/site-sizing": "large" } },
        "data": { "router-cpu-request": "1", "router-memory-limit": "1Gi", "adaptor-cpu-limit": "1" },
    });
    place.make::<ConfigMap>("of-routers", map).await?;
    let spec = json!({ "spec": { "settings": { "size": "large", "tolerations": "all" } } });
    place.make::<Site>("west", spec).await?;
    let large = json!({ "requests": { "cpu": "1" }, "limits": { "memory": "1Gi" } });
    given(&place, &large).await?;
    wait_for_settings(&place, Some("spec.settings.tolerations has no effect")).await?;
    // Edits take effect, and impossible values are reported beside the applied ones.
    let edit = json!({ "data": { "router-cpu-request": "2", "router-cpu-limit": "much" } });
    place.patch::<ConfigMap>("of-routers", edit).await?;
    let larger = json!({ "requests": { "cpu": "2" }, "limits": { "memory": "1Gi" } });
    given(&place, &larger).await?;
    wait_for_settings(&place, Some("router-cpu-limit \"much\" is not a quantity")).await?;
    let bare = json!({ "spec": { "settings": null } });
    place.patch::<Site>("west", bare).await?;
    let unsaid =
        json!({ "requests": { "cpu": "50m", "memory": "32Mi" }, "limits": { "memory": "512Mi" } });
    given(&place, &unsaid).await?;
    wait_for_settings(&place, None).await
}

/// Tests settings of a single router. No anti-affinity applies to it, so that setting is neither
/// needed nor reported. Labels and settings of the Site do not change its Pods.
async fn settings(mut place: TestNamespace) -> Result<()> {
    let settings = json!({ "disable-anti-affinity": "true", "router-logging": "debug" });
    let site = json!({
        "metadata": { "name": "west", "labels": { "team": "a" } }, "spec": { "settings": settings },
    });
    place.make::<Site>("west", site).await?;
    place.run_router().await?;
    let ready = |site: &Site| has_report(site, "Ready", "OK");
    place.until("west", "it is Ready", ready).await?;
    wait_for_settings(&place, None).await?;
    let before = place.deployment().await?;
    let at = |path: &str| json!(before).pointer(path).cloned().unwrap_or_default();
    let pods = at("/spec/template/spec");
    ensure!(
        pods["affinity"].is_null() && pods["tolerations"].is_null(),
        "{pods}"
    );
    let levels = json!({ "name": "CONSOLE_LOG_LEVEL", "value": "debug" });
    let variables = pods["containers"][0]["env"].as_array().cloned();
    ensure!(variables.unwrap_or_default().contains(&levels), "{pods}");
    let mut labels = json!({ "application": "skupper-router", "skupper.io/component": "router" });
    ensure!(at("/metadata/labels") == labels, "{before:?}");
    let uid = place.api::<Site>().get("west").await?.metadata.uid;
    labels[SITE] = json!(uid);
    labels["skupper.io/group"] = json!("skupper-router");
    ensure!(at("/spec/template/metadata/labels") == labels, "{pods}");
    // Without the setting it is the same, so no Pod is replaced.
    let edit = json!({ "spec": { "settings": { "disable-anti-affinity": null } } });
    place.patch::<Site>("west", edit).await?;
    place.until("west", "the edit is seen", ready).await?;
    place.wait_until_idle().await?;
    let after = place.deployment().await?;
    ensure!(after.metadata.generation == before.metadata.generation);
    Ok(())
}

/// Waits until the router gets this.
async fn given(place: &TestNamespace, expected: &Value) -> Result<()> {
    let has = |router: &Deployment| {
        let router = serde_json::to_value(router).unwrap_or_default();
        router.pointer("/spec/template/spec/containers/0/resources") == Some(expected)
    };
    let what = format!("the router gets {expected}");
    let seen = place.until::<Deployment>("skupper-router", &what, has);
    seen.await.map(drop)
}

/// Waits until the Site reports this message about its settings.
async fn wait_for_settings(place: &TestNamespace, expected: Option<&str>) -> Result<()> {
    let says = |site: &Site| {
        let status = serde_json::to_value(&site.status).unwrap_or_default();
        let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
        let of = conditions
            .iter()
            .find(|one| one["type"] == "SettingsApplied");
        let message = of.map(|one| one["message"].as_str().unwrap_or_default());
        match (message, expected) {
            (Some(message), Some(expected)) => message.contains(expected),
            (message, expected) => message.is_none() && expected.is_none(),
        }
    };
    let what = format!("the Site says of its settings: {expected:?}");
    place.until("west", &what, says).await.map(drop)
}
