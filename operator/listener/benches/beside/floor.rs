//! Indispensable requests: for each Listener one write of its Service and one of its status. The
//! client looks at nothing that it wrote and heals nothing. It is notified only of a new Listener
//! and of a changed class.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use futures::channel::mpsc::unbounded;
use futures::stream::select;
use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::Service;
use kube::api::{Patch, PatchParams};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, Resource, ResourceExt};
use lifecycle_specs_listener::listener::Listener;
use lifecycle_specs_listener::listener_class::ListenerClass;
use serde_json::json;

use super::plain::{service, status};

const MANAGER: &str = "floor";
/// Number of concurrent writes, which equals ours.
const AT_ONCE: usize = 16;

/// Event of one of the watches.
#[allow(
    clippy::large_enum_variant,
    reason = "a box would be an allocation that is not the watch's"
)]
enum WatchedEvent {
    Class(Event<ListenerClass>),
    Listener(Event<Listener>),
}

/// Writes until an error; it tries no write again.
///
/// # Errors
/// A write fails.
pub(crate) async fn run(client: Client, cluster_domain: String) -> Result<()> {
    let config = || watcher::Config::default().streaming_lists();
    let classes = watcher(Api::all(client.clone()), config()).default_backoff();
    let listeners = watcher(Api::all(client.clone()), config()).default_backoff();
    let classes = classes.map_ok(WatchedEvent::Class).boxed();
    let mut told = select(classes, listeners.map_ok(WatchedEvent::Listener).boxed());
    let (asks, asked) = unbounded();
    let look = async {
        let mut known = Known::default();
        while let Some(told) = told.next().await {
            // A kind that was just installed may not be served yet.
            let Ok(told) = told else {
                continue;
            };
            for due in known.take(told) {
                asks.unbounded_send(due).context("the writer has ended")?;
            }
        }
        bail!("the watches ended")
    };
    let write = asked.map(Ok);
    let write = write.try_for_each_concurrent(AT_ONCE, |(listener, class)| {
        write_both(&client, listener, class, &cluster_domain)
    });
    futures::future::try_join(look, write)
        .await
        .map(|(never, ())| never)
}

/// Objects that are known.
#[derive(Default)]
struct Known {
    classes: BTreeMap<String, ListenerClass>,
    listeners: BTreeMap<(String, String), Listener>,
    /// True once the list of classes was complete. The next field is the flag for Listeners.
    has_classes: bool,
    has_listeners: bool,
}

impl Known {
    /// Returns the objects to write now.
    fn take(&mut self, told: WatchedEvent) -> Vec<(Listener, ListenerClass)> {
        match told {
            WatchedEvent::Class(Event::InitDone) => {
                self.has_classes = true;
                self.unserved()
            }
            WatchedEvent::Listener(Event::InitDone) => {
                self.has_listeners = true;
                self.unserved()
            }
            WatchedEvent::Class(Event::InitApply(class) | Event::Apply(class)) => {
                let name = class.name_any();
                self.classes.insert(name.clone(), class);
                self.matching_listeners(|listener| listener.spec.class_name.as_ref() == Some(&name))
            }
            WatchedEvent::Listener(Event::InitApply(listener) | Event::Apply(listener)) => {
                let key = (
                    listener.namespace().unwrap_or_default(),
                    listener.name_any(),
                );
                let due = self.with_class(&listener).filter(|_| self.has_all());
                let known = self.listeners.insert(key, listener);
                due.filter(|_| known.is_none()).into_iter().collect()
            }
            WatchedEvent::Class(Event::Init | Event::Delete(_))
            | WatchedEvent::Listener(Event::Init | Event::Delete(_)) => Vec::new(),
        }
    }

    fn has_all(&self) -> bool {
        self.has_classes && self.has_listeners
    }

    /// Returns the Listeners without a Service. The API server gives a new Listener an initial
    /// status, which reports nothing.
    fn unserved(&self) -> Vec<(Listener, ListenerClass)> {
        self.matching_listeners(|listener| {
            let status = listener.status.as_ref();
            status.is_none_or(|status| status.service_name.is_none())
        })
    }

    fn matching_listeners(
        &self,
        concerned: impl Fn(&Listener) -> bool,
    ) -> Vec<(Listener, ListenerClass)> {
        if !self.has_all() {
            return Vec::new();
        }
        let all = self.listeners.values().filter(|one| concerned(one));
        all.filter_map(|one| self.with_class(one)).collect()
    }

    fn with_class(&self, listener: &Listener) -> Option<(Listener, ListenerClass)> {
        let class = self.classes.get(listener.spec.class_name.as_ref()?)?;
        Some((listener.clone(), class.clone()))
    }
}

async fn write_both(
    client: &Client,
    listener: Listener,
    class: ListenerClass,
    cluster_domain: &str,
) -> Result<()> {
    let (name, params) = (listener.name_any(), PatchParams::apply(MANAGER).force());
    let namespace = listener.namespace().context("it has no namespace")?;
    let services: Api<Service> = Api::namespaced(client.clone(), &namespace);
    let wanted = Patch::Apply(service(&listener, &class)?);
    let applied = services.patch(&name, &params, &wanted).await?;
    let listeners: Api<Listener> = Api::namespaced(client.clone(), &namespace);
    let status = Patch::Apply(json!({
        "apiVersion": Listener::api_version(&()), "kind": Listener::kind(&()),
        "status": status(&class, &applied, &[], cluster_domain),
    }));
    listeners.patch_status(&name, &params, &status).await?;
    Ok(())
}
