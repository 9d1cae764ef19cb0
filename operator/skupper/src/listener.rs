//! How a Listener is reconciled.

use std::collections::BTreeSet;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Service};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::ResourceExt;
use lifecycle_runtime::{Because, Desired, ObjectRef, Readable, This};
use lifecycle_specs_skupper::fragments::{Managed, SiteRoom};
use lifecycle_specs_skupper::listener::{
    self as lifecycle, Allocation, ApplyPods, ApplyService, Health, Listener, ListenerLogic,
    PodNames, Validity,
};
use lifecycle_specs_skupper::router::RouterState;
use lifecycle_specs_skupper::site::Site;

use crate::config::document::{self, DeclaredListener, DeclaredSpec, SiteIdentity};
use crate::config::ports::Holder;
use crate::config::router_config::{Given, RouterConfig, RouterConfigs, held_by};
use crate::config::validity;
use crate::namespace::controller_id::ControllerId;
use crate::namespace::templates::{self, Templates};
use crate::platform::Platform;
use crate::router::state::Routers;
use crate::router::view::{self, RouterView};
use crate::shared::Room;

/// Reconciles Listeners.
#[derive(Debug)]
pub struct Listeners<R> {
    controller_id: ControllerId,
    room: Room<R>,
    platform: Platform,
    configs: RouterConfigs,
}

impl<R> Listeners<R> {
    /// With these routers, on this platform.
    pub fn new(controller_id: ControllerId, routers: Arc<R>, platform: Platform) -> Self {
        Self {
            controller_id,
            room: Room(routers),
            platform,
            configs: RouterConfigs::default(),
        }
    }
}

impl<R> Listeners<R> {
    fn view(
        &self,
        this: This<'_, Listener>,
        site: &Site,
        router_config: &ConfigMap,
        report: &RouterState,
    ) -> RouterView {
        let config = self.configs.read(router_config);
        view(this, (site, self.platform), &config, report)
    }
}

fn uid<'a>(this: This<'a, Listener>) -> &'a str {
    this.meta.uid.as_deref().unwrap_or_default()
}

impl<R: Routers> ListenerLogic for Listeners<R> {
    fn managed(&self) -> &impl Managed<Listener> {
        &self.controller_id
    }

    fn site_room(&self) -> &impl SiteRoom<Listener> {
        &self.room
    }

    fn templates(&self, this: This<'_, Listener>, _: Option<&ConfigMap>) -> BTreeSet<ObjectRef> {
        templates::concerning(this.meta, &self.controller_id)
    }

    /// Returns Services with the names of its Pods, including those of other owners: an `owned`
    /// fact shows objects to their owner only.
    fn pod_services(
        &self,
        this: This<'_, Listener>,
        router_config: Option<&ConfigMap>,
    ) -> BTreeSet<ObjectRef> {
        let config = router_config.map(|map| self.configs.read(map));
        let pods = config.iter().flat_map(|config| config.pods_of(uid(this)));
        let namespace = this.meta.namespace.as_deref();
        pods.map(|allocation| ObjectRef::new::<Service>(namespace, &allocation.host))
            .collect()
    }

    fn pods(
        &self,
        this: This<'_, Listener>,
        router_config: Option<&ConfigMap>,
    ) -> BTreeSet<String> {
        let config = router_config.map(|map| self.configs.read(map));
        let pods = config.iter().flat_map(|config| config.pods_of(uid(this)));
        pods.map(|allocation| allocation.host.clone()).collect()
    }

    fn binds_host(&self, _: This<'_, Listener>, _: &[&Readable<Site>]) -> Because<bool> {
        Because::plain(self.platform.binds_host())
    }

    fn validity(&self, this: This<'_, Listener>, _: &[&Readable<Site>]) -> Because<Validity> {
        validity::listener(this.spec, self.platform)
    }

    fn allocation(
        &self,
        this: This<'_, Listener>,
        router_config: &ConfigMap,
    ) -> Because<Allocation> {
        let (config, spec) = (self.configs.read(router_config), this.spec);
        let given = config.given((Holder::Listener, uid(this)), (&spec.host, spec.port));
        given.map(|given| match given {
            Given::Nothing => Allocation::None,
            Given::Lost => Allocation::Lost,
            Given::Full => Allocation::Full,
            Given::Held => Allocation::Held,
        })
    }

    fn pod_names(
        &self,
        this: This<'_, Listener>,
        site: &Site,
        router_config: &ConfigMap,
        pod_services: &[&Service],
    ) -> Because<PodNames> {
        pod_names(this, site, &self.configs.read(router_config), pod_services)
    }

    fn sync(
        &self,
        this: This<'_, Listener>,
        site: &Site,
        router_config: &ConfigMap,
        report: &RouterState,
    ) -> Because<lifecycle::Sync> {
        match self.view(this, site, router_config, report) {
            RouterView::Behind => Because::new(lifecycle::Sync::Behind, view::behind(report)),
            RouterView::Idle | RouterView::Up | RouterView::Failed(_) => {
                Because::plain(lifecycle::Sync::Current)
            }
        }
    }

    fn health(
        &self,
        this: This<'_, Listener>,
        site: &Site,
        router_config: &ConfigMap,
        report: &RouterState,
    ) -> Because<Health> {
        match self.view(this, site, router_config, report) {
            RouterView::Failed(why) => Because::new(Health::Failed, why),
            RouterView::Up => Because::plain(Health::Up),
            RouterView::Idle | RouterView::Behind => Because::plain(Health::Idle),
        }
    }

    fn apply_service(&self, at: ApplyService<'_>) -> Desired<Service> {
        let config = self.configs.read(at.router_config);
        let templates = Templates::from_config_maps(&at.templates, &self.controller_id);
        templates.on(config.service(&at.this.spec.host))
    }

    fn apply_pods(&self, at: ApplyPods<'_>) -> Vec<Desired<Service>> {
        let config = self.configs.read(at.router_config);
        let pods = config.pods_of(uid(at.this));
        let templates = Templates::from_config_maps(&at.templates, &self.controller_id);
        pods.map(|allocation| templates.on(config.service(&allocation.host)))
            .collect()
    }

    fn socket_unknown(&self, _: This<'_, Listener>, report: &RouterState) -> Because<bool> {
        match report.sockets_unknown {
            Some(why) => Because::new(true, why),
            None => Because::plain(false),
        }
    }

    fn has_matching_connector(
        &self,
        this: This<'_, Listener>,
        report: &RouterState,
    ) -> Option<bool> {
        report.has_connector(&this.spec.routing_key).then_some(true)
    }
}

/// Reports if the Pods of a Listener can have their names. If not, names the holder of the first
/// one that is taken.
fn pod_names(
    this: This<'_, Listener>,
    site: &Site,
    config: &RouterConfig,
    services: &[&Service],
) -> Because<PodNames> {
    let is_own = |owner: &OwnerReference| Some(&owner.uid) == site.metadata.uid.as_ref();
    // This matches the rule for objects that are owned `without controller`.
    let is_ours = |service: &&&Service| {
        let owners = service.owner_references();
        let mut controllers = owners.iter().filter(|owner| owner.controller == Some(true));
        owners.iter().any(is_own) && controllers.all(is_own)
    };
    let foreign = services.iter().filter(|service| !is_ours(service));
    let mut foreign: Vec<String> = foreign.map(|service| service.name_any()).collect();
    foreign.sort();
    let first = foreign.first();
    let mut lines = Vec::from_iter(first.map(|host| service_exists(host)));
    let lost = config.lost_of(uid(this));
    let holder = lost.and_then(|lost| {
        let mut held = config.of_host(&lost.first).iter();
        held.find(|held| i64::from(held.port) == this.spec.port)
    });
    lines.extend(holder.map(held_by));
    let count = foreign.len() + lost.map_or(0, |lost| lost.count);
    if count > lines.len() {
        lines.push(format!("Pods that are not reached by their names: {count}"));
    }
    match lines.is_empty() {
        true => Because::plain(PodNames::Free),
        false => Because::new(PodNames::Taken, lines.join("\n")),
    }
}

fn service_exists(host: &str) -> String {
    format!("Service {host} already exists in namespace")
}

/// Returns the router's view of a Listener. In the middle of a change of its own, the router counts
/// as not there yet.
fn view(
    this: This<'_, Listener>,
    (site, platform): (&Site, Platform),
    config: &RouterConfig,
    report: &RouterState,
) -> RouterView {
    let (site, spec) = (SiteIdentity::from_site(site), this.spec);
    let entry = |allocation| {
        let declared = DeclaredListener {
            allocation,
            spec: DeclaredSpec::One(spec),
            platform,
        };
        document::listener_entries(&site, declared)
    };
    let Some(whole) = config.allocation(uid(this)) else {
        return RouterView::Behind;
    };
    let pods: Vec<_> = config.pods_of(uid(this)).flat_map(entry).collect();
    let is_matched = report.has_connector(&spec.routing_key);
    let own = RouterView::from_report(&entry(whole), report);
    RouterView::of_listener(own, RouterView::from_report(&pods, report), is_matched)
}

#[cfg(test)]
mod tests;
