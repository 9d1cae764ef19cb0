//! A demonstration of recovery, without user interaction. The sandbox removes a Connector to the
//! echo server, or the Link to its site, and puts it back, so that the effects are visible.

use std::net::SocketAddr;
use std::time::Duration;

use kube::Client;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, ObjectMeta, PostParams};
use lifecycle_specs_skupper::connector::Connector;
use lifecycle_specs_skupper::link::Link;
use lifecycle_specs_skupper::listener::Listener;
use tokio::time::{sleep, timeout};

use super::followed::{Followed, followed_object, is_of_site};
use super::sites::{Sites, is_refused};
use super::subjects::OfProducts;
use lifecycle_cli::cluster::manifests::{self, Manifest};
use lifecycle_cli::cluster::{complain, print_line};
use lifecycle_cli::follow::Follow;
use lifecycle_cli::updates::Verdict;

const LOOK: Duration = Duration::from_millis(50);

/// Demonstration of the sandbox: the object that is removed and restored, and the Listeners that
/// lead nowhere without it.
#[derive(Clone, Debug)]
pub(super) struct Tour<'a> {
    goes: TourSubject<'a>,
    listeners: Vec<&'a Manifest>,
}

/// Object that is removed and restored.
#[derive(Clone, Copy, Debug)]
enum TourSubject<'a> {
    /// The only Connector of its key in its namespace.
    Connector(&'a Manifest),
    /// The only Link: this manifest, or of the token that this manifest is.
    Link(&'a Manifest),
}

impl TourSubject<'_> {
    fn manifest(&self) -> &Manifest {
        match self {
            Self::Connector(manifest) | Self::Link(manifest) => manifest,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Connector(_) => "connector",
            Self::Link(_) => "link",
        }
    }

    fn api(&self, client: &Client) -> Api<DynamicObject> {
        let kind = match self {
            Self::Connector(_) => ApiResource::erase::<Connector>(&()),
            Self::Link(_) => ApiResource::erase::<Link>(&()),
        };
        Api::namespaced_with(client.clone(), &self.manifest().namespace(), &kind)
    }
}

fn key_of(manifest: &Manifest) -> Option<String> {
    let key = manifest.spec()["routingKey"].as_str();
    key.map(str::to_owned)
}

fn all_of<'a>(manifests: &'a [Manifest], kind: &'a str) -> impl Iterator<Item = &'a Manifest> {
    manifests.iter().filter(move |m| is_of_site(m, kind))
}

impl<'a> Tour<'a> {
    /// Of these manifests; absent if none of them leads to the server that echoes.
    pub(super) fn from_manifests(manifests: &'a [Manifest], sites: &Sites) -> Option<Self> {
        Self::of_link(manifests, sites).or_else(|| Self::of_connector(manifests, sites))
    }

    fn of_connector(manifests: &'a [Manifest], sites: &Sites) -> Option<Self> {
        let key = |manifest: &Manifest| (manifest.namespace(), key_of(manifest));
        let of = |kind| all_of(manifests, kind);
        of("Connector").find_map(|connector| {
            let key_of = key(connector);
            let is_alone = of("Connector").filter(|other| key(other) == key_of).count() == 1;
            let listener = of("Listener").find(|listener| key(listener) == key_of)?;
            (is_alone && leads_to_echo(connector, sites)).then(|| Self {
                goes: TourSubject::Connector(connector),
                listeners: vec![listener],
            })
        })
    }

    /// Returns a tour if a single Link leads from Listeners to the site of their Connectors.
    fn of_link(manifests: &'a [Manifest], sites: &Sites) -> Option<Self> {
        let mut links = all_of(manifests, "Link").chain(all_of(manifests, "AccessToken"));
        let link = links.next().filter(|_| links.next().is_none())?;
        let is_led = |listener: &&Manifest| {
            let key = key_of(listener);
            let mut connectors = all_of(manifests, "Connector")
                .filter(|connector| key_of(connector) == key)
                .peekable();
            connectors.peek().is_some()
                && connectors.all(|connector| {
                    connector.namespace() != listener.namespace() && leads_to_echo(connector, sites)
                })
        };
        let listeners: Vec<_> = all_of(manifests, "Listener").filter(is_led).collect();
        (!listeners.is_empty()).then_some(Self {
            goes: TourSubject::Link(link),
            listeners,
        })
    }

    /// Shows it.
    pub(super) async fn show(
        self,
        client: &Client,
        follow: &mut Follow<OfProducts>,
        wanted: &[Followed],
        limit: Duration,
    ) -> anyhow::Result<Verdict> {
        let (kind, name) = (self.goes.kind(), self.goes.manifest().name());
        let mut doors = Vec::new();
        for listener in self
            .listeners
            .iter()
            .copied()
            .filter_map(self::followed_object)
        {
            doors.extend(follow.subjects().door(client, &listener).await);
        }
        let all = self.goes.api(client);
        let gone = all.get(&name).await?;
        print_line(&format!(
            "{kind} {name} deleted, to show what follows from that"
        ));
        all.delete(&name, &DeleteParams::background()).await?;
        let unmatched = async {
            for listener in &self.listeners {
                while !is_unmatched(client, listener).await {
                    sleep(LOOK).await;
                }
            }
        };
        let in_time = tokio::select! {
            in_time = timeout(limit, unmatched) => in_time.is_ok(),
            never = follow.forever(client) => match never {},
        };
        follow.catch_up();
        if !in_time {
            let names = self.listeners.iter().map(|listener| listener.name());
            complain(&format!(
                "no report of it from {} within {} s",
                names.collect::<Vec<_>>().join(", "),
                limit.as_secs()
            ));
            return Ok(Verdict::Unready);
        }
        for door in doors {
            tell_refused(door.at).await;
        }
        match self.goes {
            TourSubject::Connector(manifest) => drop(manifests::apply_one(client, manifest).await?),
            TourSubject::Link(_) => drop(all.create(&PostParams::default(), &copy(gone)).await?),
        }
        print_line(&format!("{kind} {name} applied again"));
        follow.until_ready(client, wanted, limit).await
    }
}

/// Returns an object as a user would apply it again from a copy.
fn copy(mut object: DynamicObject) -> DynamicObject {
    object.metadata = ObjectMeta {
        name: object.metadata.name,
        namespace: object.metadata.namespace,
        labels: object.metadata.labels,
        annotations: object.metadata.annotations,
        owner_references: object.metadata.owner_references,
        ..ObjectMeta::default()
    };
    object
        .data
        .as_object_mut()
        .and_then(|data| data.remove("status"));
    object
}

/// Returns true if a Listener reports that nothing serves its key.
async fn is_unmatched(client: &Client, listener: &Manifest) -> bool {
    let listeners: Api<Listener> = Api::namespaced(client.clone(), &listener.namespace());
    let found = listeners.get_opt(&listener.name()).await;
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

async fn tell_refused(at: SocketAddr) {
    let said = if is_refused(at).await {
        "refuses connections"
    } else {
        "still takes connections"
    };
    print_line(&format!("{:14}{at} {said}", ""));
}

fn leads_to_echo(connector: &Manifest, sites: &Sites) -> bool {
    let spec = connector.spec();
    let port = spec["port"].as_i64().unwrap_or_default();
    sites.leads_to_echo(spec["host"].as_str(), port)
}
