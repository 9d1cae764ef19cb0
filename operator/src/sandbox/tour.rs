//! The way back, without hands: a Connector to the server that echoes is taken away and put back, so that what follows can be seen.

use std::net::SocketAddr;
use std::time::Duration;

use kube::Client;
use kube::api::{Api, DeleteParams};
use lifecycle_specs_skupper::connector::Connector;
use lifecycle_specs_skupper::listener::Listener;
use tokio::time::{sleep, timeout};

use super::follow::Follow;
use super::followed::{Followed, is_of_site, wanted};
use super::sites::{Sites, is_refused};
use lifecycle_cli::cluster::manifests::{self, Manifest};
use lifecycle_cli::cluster::{complain, say};
use lifecycle_cli::updates::Verdict;

const LOOK: Duration = Duration::from_millis(50);

/// What can be shown: a Connector that is the only one of its key, and the Listeners that then lead nowhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tour<'a> {
    connector: &'a Manifest,
    listener: &'a Manifest,
}

impl<'a> Tour<'a> {
    /// Of these manifests; absent if none of them leads to the server that echoes.
    pub(super) fn of(manifests: &'a [Manifest], sites: &Sites) -> Option<Self> {
        let key = |manifest: &Manifest| {
            let key = manifest.spec()["routingKey"].as_str().map(str::to_owned);
            (manifest.namespace(), key)
        };
        let of = |kind| manifests.iter().filter(move |m| is_of_site(m, kind));
        of("Connector").find_map(|connector| {
            let key_of = key(connector);
            let is_alone = of("Connector").filter(|other| key(other) == key_of).count() == 1;
            let listener = of("Listener").find(|listener| key(listener) == key_of)?;
            (is_alone && leads_to_echo(connector, sites)).then_some(Self {
                connector,
                listener,
            })
        })
    }

    /// Shows it.
    pub(super) async fn show(
        self,
        client: &Client,
        follow: &mut Follow,
        wanted: &[Followed],
        limit: Duration,
    ) -> anyhow::Result<Verdict> {
        let (namespace, name) = (self.connector.namespace(), self.connector.name());
        let listener = self::wanted(self.listener);
        let door = match &listener {
            Some(listener) => follow.door(client, listener).await,
            None => None,
        };
        say(&format!(
            "connector {name} deleted, to show what follows from that"
        ));
        let connectors: Api<Connector> = Api::namespaced(client.clone(), &namespace);
        let params = DeleteParams::background();
        connectors.delete(&name, &params).await?;
        let unmatched = async {
            while !self.is_unmatched(client).await {
                sleep(LOOK).await;
            }
        };
        let in_time = tokio::select! {
            in_time = timeout(limit, unmatched) => in_time.is_ok(),
            never = follow.forever(client) => match never {},
        };
        follow.catch_up();
        if !in_time {
            complain(&format!(
                "{} says nothing of it within {} s",
                self.listener.name(),
                limit.as_secs()
            ));
            return Ok(Verdict::Unready);
        }
        if let Some(door) = door {
            tell_refused(door.at).await;
        }
        manifests::apply_one(client, self.connector).await?;
        say(&format!("connector {name} applied again"));
        follow.until_ready(client, wanted, limit).await
    }

    /// Whether its Listener says that nothing serves its key.
    async fn is_unmatched(&self, client: &Client) -> bool {
        let listeners: Api<Listener> = Api::namespaced(client.clone(), &self.listener.namespace());
        let found = listeners.get_opt(&self.listener.name()).await;
        let Ok(Some(listener)) = found else {
            return false;
        };
        let current = listener.metadata.generation;
        let common = listener
            .status
            .map(|status| status.common)
            .unwrap_or_default();
        let mut conditions = common.conditions.iter().flatten();
        let is_pending = conditions
            .any(|c| c.type_ == "Ready" && c.status == "False" && c.observed_generation == current);
        is_pending && common.status.as_deref() == Some("Pending")
    }
}

async fn tell_refused(at: SocketAddr) {
    let said = if is_refused(at).await {
        "refuses connections"
    } else {
        "still takes connections"
    };
    say(&format!("{:14}{at} {said}", ""));
}

fn leads_to_echo(connector: &Manifest, sites: &Sites) -> bool {
    let spec = connector.spec();
    let port = spec["port"].as_i64().unwrap_or_default();
    sites.leads_to_echo(spec["host"].as_str(), port)
}
