//! A kind in two versions, on a real API server that calls our webhook: fields that one version
//! lacks are restored, and refusals are reported.

use std::net::Ipv4Addr;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use k8s_openapi::ByteString;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, WebhookClientConfig,
};
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client};
use lifecycle_cli::process::webhook;
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_tests::api_server::ApiServer;
use lifecycle_tests::gates::{definition, gates, v1, v1alpha1};
use lifecycle_tests::harness::{Case, Need, eventually};
use lifecycle_tests::named;
use serde_json::json;
use tokio::net::TcpListener;

const BINARIES: &[Need] = &[Need::Binaries];
const SOON: Duration = Duration::from_secs(60);

pub(crate) fn cases() -> Vec<Case> {
    named![case(BINARIES): both_versions_of_a_kind_are_served]
}

async fn both_versions_of_a_kind_are_served() -> Result<()> {
    let server = ApiServer::start().await?;
    let client = server.client();
    let [certificate, key, authority] = server.certificate("conversion")?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let at = listener.local_addr()?;
    let secure = webhook::always(webhook::identity(&certificate, &key)?);
    let (_trigger, shutdown) = Shutdown::pair();
    tokio::spawn(webhook::serve(listener, secure, vec![gates()], shutdown));
    let asked = WebhookClientConfig {
        ca_bundle: Some(ByteString(authority)),
        url: Some(format!("https://{at}{}", webhook::path(&gates()))),
        service: None,
    };
    serve(&client, &webhook::converted(definition(), asked)).await?;
    let old: Api<v1alpha1::Gate> = Api::default_namespaced(client.clone());
    let new: Api<v1::Gate> = Api::default_namespaced(client);

    // An object that is created in the older version is stored in the newer one.
    let spec = v1alpha1::GateSpec {
        width: 3,
        colour: Some("red".to_owned()),
        guards: vec!["ann".to_owned()],
    };
    let params = PostParams::default();
    let made = eventually("the webhook is asked", SOON, async || {
        Ok(old
            .create(&params, &v1alpha1::Gate::new("g", spec.clone()))
            .await
            .ok())
    });
    ensure!(made.await?.spec == spec);
    let now = new.get("g").await?;
    ensure!(now.spec.millimetres == 30, "{now:?}");

    // An edit in the older version keeps the additional details of the newer one.
    let paint = json!({ "colour": "red", "coats": 3 });
    let patch = Patch::Merge(json!({ "spec": { "millimetres": 35, "paint": paint } }));
    new.patch("g", &PatchParams::default(), &patch).await?;
    ensure!(old.get("g").await?.spec.width == 3);
    let patch = Patch::Merge(json!({ "spec": { "guards": ["bea"] } }));
    old.patch("g", &PatchParams::default(), &patch).await?;
    let now = new.get("g").await?;
    let coats = now.spec.paint.as_ref().map(|paint| paint.coats);
    ensure!((now.spec.millimetres, coats) == (35, Some(3)), "{now:?}");
    ensure!(now.spec.guards == ["bea"], "{now:?}");
    ensure!(now.metadata.annotations.is_none(), "{now:?}");

    // The message of a failed conversion is reported, and other objects are not affected.
    let patch = Patch::Merge(json!({ "spec": { "guards": ["nobody"] } }));
    new.patch("g", &PatchParams::default(), &patch).await?;
    let refused = old.get("g").await.err().context("it cannot be said")?;
    let said = refused.to_string();
    ensure!(
        said.contains("an older gate is guarded by somebody"),
        "{said}"
    );
    ensure!(new.get("g").await?.spec.guards == ["nobody"]);
    Ok(())
}

/// Installs the definition, and waits until it is served.
async fn serve(client: &Client, definition: &CustomResourceDefinition) -> Result<()> {
    let all: Api<CustomResourceDefinition> = Api::all(client.clone());
    all.create(&PostParams::default(), definition).await?;
    let name = definition
        .metadata
        .name
        .as_deref()
        .context("it has a name")?;
    eventually("the definition is served", SOON, async || {
        let status = all.get(name).await?.status;
        let conditions = status
            .and_then(|status| status.conditions)
            .unwrap_or_default();
        let mut served = conditions.iter();
        let is_served = served.any(|one| one.type_ == "Established" && one.status == "True");
        Ok(is_served.then_some(()))
    })
    .await
}
