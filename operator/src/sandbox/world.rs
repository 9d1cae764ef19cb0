//! When the sandbox is prepared: the operators have installed their kinds and classes.

use std::time::Duration;

use anyhow::bail;
use kube::{Api, Client};
use lifecycle_specs_listener::listener_class::ListenerClass;

use lifecycle_listener::args::Preset;
use lifecycle_listener::controller::KINDS;
use lifecycle_listener::presets;
use lifecycle_runtime::crds;

const AGAIN: Duration = Duration::from_millis(20);
/// The operator needs a fraction of a second.
const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until the operator has installed its kinds and classes.
///
/// # Errors
/// The operator is not done in time.
pub async fn prepare(client: &Client, preset: Preset) -> anyhow::Result<()> {
    let waited = tokio::time::timeout(PATIENCE, async {
        while !is_prepared(client, preset).await || !serves_sites(client).await {
            tokio::time::sleep(AGAIN).await;
        }
    });
    if waited.await.is_err() {
        bail!(
            "the operator did not install its kinds and classes within {} s",
            PATIENCE.as_secs()
        );
    }
    Ok(())
}

async fn is_prepared(client: &Client, preset: Preset) -> bool {
    let classes: Api<ListenerClass> = Api::all(client.clone());
    // Classes are created in order, so the existence of the last implies all.
    match presets::classes(preset)
        .last()
        .and_then(|class| class.metadata.name.clone())
    {
        Some(last) => matches!(classes.get_opt(&last).await, Ok(Some(_))),
        None => matches!(crds::served(client, &KINDS).await, Ok(true)),
    }
}

async fn serves_sites(client: &Client) -> bool {
    matches!(
        crds::served(client, &lifecycle_skupper::controller::KINDS).await,
        Ok(true)
    )
}
