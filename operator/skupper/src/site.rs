//! How a Site is reconciled: the configuration of its router, and the router itself.

mod access;
mod network;
mod running;

use std::collections::BTreeSet;
use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret, Service, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::{Resource, ResourceExt};
use lifecycle_runtime::lifecycle::CallError;
use lifecycle_runtime::{Because, Desired, ObjectRef, Readable, This};
use lifecycle_specs_skupper::attached::AttachedConnector;
use lifecycle_specs_skupper::attached_binding::AttachedConnectorBinding;
use lifecycle_specs_skupper::certificate::Certificate;
use lifecycle_specs_skupper::connector::Connector;
use lifecycle_specs_skupper::fragments::Managed;
use lifecycle_specs_skupper::link::Link;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_specs_skupper::multi_key_listener::MultiKeyListener;
use lifecycle_specs_skupper::router::{
    LISTENER, LOCAL_CA, LOCAL_SERVER, ROUTER, RouterState, SITE_CA,
};
use lifecycle_specs_skupper::router_access::RouterAccess;
use lifecycle_specs_skupper::site::{
    ApplyAccess, ApplyIdentities, ApplyRights, ApplyRouter, Controller, Endpoint, Plan, Revise,
    Running, Site, SiteLogic, SiteRecord, SiteSpec, Validity,
};
use serde_json::json;

use crate::attached;
use crate::config::document::SiteIdentity;
use crate::config::kept::{self, RetainedConfig, Unknown};
use crate::config::plan::{self, Workload};
use crate::config::revisions::Revisions;
use crate::config::router_config::{self, RouterConfig};
use crate::config::service::CONTROLLED;
use crate::config::validity;
use crate::data_plane::{Adaptor, DataPlane};
use crate::namespace::active_site;
use crate::namespace::controller_id::ControllerId;
use crate::namespace::sizing::{self, Sizing};
use crate::namespace::templates::{self, Templates};
use crate::platform::Platform;
use crate::router::adaptor;
use crate::router::existing::{self, ExistingPods};
use crate::router::objects::{self, RouterPods};
use crate::router::plane::{Existing, ObservedRouter, RouterOptions};
use crate::router::state::{Routers, documents};
use crate::settings::{LOGGING, named, setting};
pub use access::issuer;
use access::{own_access, served, site_authority, uid};
use running::running;

/// The message where an address is waited for and nothing is wrong, as the replaced implementation has it.
const PENDING: &str = "Pending";

/// Reconciles Sites.
#[derive(Clone, Debug)]
pub struct Sites<R> {
    /// This controller.
    pub controller_id: ControllerId,
    /// Controller that manages the Sites, as their statuses report it.
    pub controller: Controller,
    /// Platform on which the sites run.
    pub platform: Platform,
    /// The choice of routers.
    pub router_options: RouterOptions,
    /// Source of the states of their routers.
    pub routers: Arc<R>,
}

impl<R> Sites<R> {
    /// Returns true if other sites are expected to link to this Site.
    fn is_linked(&self, this: This<'_, Site>) -> bool {
        validity::is_linked(self.platform, this.spec)
    }

    /// The RouterAccess of a Site, if others are to link to it.
    fn own_access(&self, this: This<'_, Site>) -> Option<RouterAccess> {
        let own = self.is_linked(this).then(|| own_access(this))?;
        serde_json::from_value(own).ok()
    }

    /// Returns the data plane of a Site. Without Kubernetes only one exists.
    fn plane(&self, this: This<'_, Site>, there: ObservedRouter<'_>) -> DataPlane {
        match self.platform.binds_host() {
            true => DataPlane::Embedded,
            false => there.plane_of(this.spec, self.router_options.data_plane),
        }
    }

    /// The adaptor of a Site on the existing router.
    fn adaptor(&self, this: This<'_, Site>, there: ObservedRouter<'_>) -> Adaptor {
        there.adaptor_of(this.spec, self.router_options.adaptor)
    }

    /// The images of a Site on the existing router, or which of them are not known.
    fn existing<'a>(
        &'a self,
        this: This<'_, Site>,
        there: ObservedRouter<'a>,
    ) -> Result<Existing<'a>, String> {
        let adaptor = self.adaptor(this, there);
        self.router_options.images.existing(there, adaptor)
    }

    /// How a Site is named in the configuration of its router.
    fn identity<'a>(&self, this: This<'a, Site>, there: ObservedRouter<'_>) -> SiteIdentity<'a> {
        SiteIdentity {
            platform: self.platform,
            plane: self.plane(this, there),
            adaptor: self.adaptor(this, there),
            ..SiteIdentity::of_this(this)
        }
    }

    /// Returns the compute resources of the router of a Site.
    fn sizing(&self, spec: &SiteSpec, sizes: &[&ConfigMap]) -> Sizing {
        let wanted = setting(spec, sizing::SETTING).filter(|_| !self.platform.binds_host());
        sizing::resolve_sizing(sizes, wanted, &self.controller_id)
    }

    /// An object as the templates that concern it want it.
    fn labelled<K>(&self, templates: &[&ConfigMap], object: Desired<K>) -> Desired<K>
    where
        K: Resource<DynamicType = ()>,
    {
        Templates::from_config_maps(templates, &self.controller_id).on(object)
    }
}

fn named_in<K: Resource<DynamicType = ()>>(this: This<'_, Site>, name: &str) -> Option<ObjectRef> {
    Some(ObjectRef::new::<K>(this.meta.namespace.as_deref(), name))
}

/// Returns the workloads that the namespace offers: its Connectors, and those that its bindings
/// accept from other namespaces. An unreadable object counts with its last readable version.
fn workloads(
    connectors: &[&Readable<Connector>],
    (bindings, attached): (
        &[&Readable<AttachedConnectorBinding>],
        &[&Readable<AttachedConnector>],
    ),
    pods: &[&Pod],
) -> Vec<Workload> {
    let mut all = plan::workloads(&kept::known(connectors), pods);
    all.extend(bound(&kept::known(bindings), &kept::known(attached)));
    all
}

/// Returns the workloads of other namespaces that the bindings of this namespace accept.
fn bound(bindings: &[&AttachedConnectorBinding], attached: &[&AttachedConnector]) -> Vec<Workload> {
    let all = bindings.iter();
    let all = all.flat_map(|b| attached.iter().filter_map(|a| attached::workload(b, a)));
    all.collect()
}

impl<R: Routers> SiteLogic for Sites<R> {
    fn managed(&self) -> &impl Managed<Site> {
        &self.controller_id
    }

    fn templates(&self, this: This<'_, Site>, _: Option<&ConfigMap>) -> BTreeSet<ObjectRef> {
        templates::concerning(this.meta, &self.controller_id)
    }

    fn attached(
        &self,
        _: This<'_, Site>,
        bindings: &[&Readable<AttachedConnectorBinding>],
    ) -> BTreeSet<ObjectRef> {
        let known = bindings.iter().filter_map(|b| b.known());
        let offered = |b: &AttachedConnectorBinding| attached::offered(&b.name_any(), &b.spec);
        known.map(offered).collect()
    }

    /// Returns the configuration, including one of another owner: an `owned` fact shows objects to their owner only.
    fn existing_config(&self, this: This<'_, Site>, _: &[&Readable<Site>]) -> BTreeSet<ObjectRef> {
        BTreeSet::from([router_config::reference(this.meta)])
    }

    fn router_config(&self, this: This<'_, Site>) -> Option<ObjectRef> {
        Some(router_config::reference(this.meta))
    }

    /// Returns the Deployment, including one of another owner: it shows the existing data plane.
    fn existing_router(&self, this: This<'_, Site>, _: &[&Readable<Site>]) -> BTreeSet<ObjectRef> {
        named_in::<Deployment>(this, ROUTER).into_iter().collect()
    }

    /// As it is, whosever it is.
    fn authorities(&self, this: This<'_, Site>, _: &[&Readable<Site>]) -> BTreeSet<ObjectRef> {
        named_in::<Certificate>(this, SITE_CA).into_iter().collect()
    }

    /// Those that the existing adaptor waits for, and those of proxies. The router of this project waits itself, and knows no proxy.
    fn needed(
        &self,
        this: This<'_, Site>,
        existing_config: &[&ConfigMap],
        existing_router: &[&Deployment],
        listeners: &[&Readable<Listener>],
        multi_key_listeners: &[&Readable<MultiKeyListener>],
        connectors: &[&Readable<Connector>],
        links: &[&Readable<Link>],
        attached: &[&Readable<AttachedConnector>],
        accesses: &[&Readable<RouterAccess>],
    ) -> BTreeSet<ObjectRef> {
        let there = ObservedRouter::find(existing_router, existing_config);
        if self.plane(this, there) == DataPlane::Embedded {
            return BTreeSet::new();
        }
        let own = self.own_access(this);
        let accesses = served(this, own.as_ref(), &kept::known(accesses));
        let names = plan::needed(
            (&kept::known(listeners), &kept::known(multi_key_listeners)),
            (&kept::known(connectors), &kept::known(attached)),
            (&kept::known(links), &accesses),
        );
        let local = LOCAL_SERVER.to_owned();
        let all = names.iter().chain([&local]);
        let all = all.filter_map(|name| named_in::<Secret>(this, name));
        all.collect()
    }

    fn local_authority(&self, this: This<'_, Site>) -> Option<ObjectRef> {
        named_in::<Certificate>(this, LOCAL_CA)
    }

    fn local_certificate(&self, this: This<'_, Site>) -> Option<ObjectRef> {
        named_in::<Certificate>(this, LOCAL_SERVER)
    }

    fn local_service(&self, this: This<'_, Site>) -> Option<ObjectRef> {
        named_in::<Service>(this, existing::SERVICE)
    }

    fn account(&self, this: This<'_, Site>) -> Option<ObjectRef> {
        named_in::<ServiceAccount>(this, ROUTER)
    }

    fn role(&self, this: This<'_, Site>) -> Option<ObjectRef> {
        named_in::<Role>(this, ROUTER)
    }

    fn role_binding(&self, this: This<'_, Site>) -> Option<ObjectRef> {
        named_in::<RoleBinding>(this, ROUTER)
    }

    fn router(&self, this: This<'_, Site>) -> Option<ObjectRef> {
        named_in::<Deployment>(this, ROUTER)
    }

    fn authority(&self, this: This<'_, Site>) -> Option<ObjectRef> {
        named_in::<Certificate>(this, SITE_CA)
    }

    fn access(&self, this: This<'_, Site>) -> Option<ObjectRef> {
        named_in::<RouterAccess>(this, ROUTER)
    }

    fn unused(
        &self,
        this: This<'_, Site>,
        services: &[&Service],
        router_config: &ConfigMap,
    ) -> BTreeSet<String> {
        let config = RouterConfig::from_config_map(router_config);
        let of_site = |service: &&&Service| {
            let labelled = service.labels().contains_key(LISTENER);
            let controlled = service.annotations().contains_key(CONTROLLED);
            let owned = service
                .owner_references()
                .iter()
                .any(|o| o.uid == uid(this));
            labelled && controlled && owned
        };
        let names = services
            .iter()
            .filter(of_site)
            .map(|service| service.name_any());
        names
            .filter(|name| config.of_host(name).is_empty())
            .collect()
    }

    fn active(
        &self,
        this: This<'_, Site>,
        sites: &[&Readable<Site>],
        existing_config: &[&ConfigMap],
    ) -> Because<bool> {
        match active_site::find(sites, existing_config.first().copied()) {
            Some(other) if other.meta().uid != this.meta.uid => Because::new(
                false,
                format!(
                    "An active site already exists in the namespace ({})",
                    other.name_any()
                ),
            ),
            Some(_) | None => Because::plain(true),
        }
    }

    fn validity(&self, this: This<'_, Site>, _: &[&Readable<Site>]) -> Because<Validity> {
        validity::site_on(self.platform, this.spec)
    }

    /// Evaluated when the Deployment must be written.
    fn has_image(
        &self,
        this: This<'_, Site>,
        _: &[&Readable<Site>],
        existing_config: &[&ConfigMap],
        existing_router: &[&Deployment],
    ) -> Because<bool> {
        let there = ObservedRouter::find(existing_router, existing_config);
        match (self.plane(this, there), self.existing(this, there)) {
            (DataPlane::Embedded, _) | (_, Ok(_)) => Because::plain(true),
            (DataPlane::SkupperRouter, Err(why)) => Because::new(false, why),
        }
    }

    fn managed_account(&self, this: This<'_, Site>, _: &[&Readable<Site>]) -> Because<bool> {
        Because::plain(named(this.spec.service_account.as_ref()).is_none())
    }

    fn linked(&self, this: This<'_, Site>, _: &[&Readable<Site>]) -> Because<bool> {
        Because::plain(self.is_linked(this))
    }

    fn resolved(&self, _: This<'_, Site>, accesses: &[&Readable<RouterAccess>]) -> Because<bool> {
        if !network::endpoints(accesses).is_empty() {
            return Because::plain(true);
        }
        let known = kept::known(accesses);
        let said = known.iter().find_map(|access| {
            let message = access.status.as_ref()?.common.message.as_ref()?;
            let told = !["", "OK", PENDING].contains(&message.as_str());
            told.then(|| format!("RouterAccess {}: {message}", access.name_any()))
        });
        let unsaid = || PENDING.to_owned();
        Because::new(false, said.unwrap_or_else(unsaid))
    }

    fn sizes(&self, this: This<'_, Site>, _: Option<&ConfigMap>) -> BTreeSet<ObjectRef> {
        sizing::concerning(this.meta, &self.controller_id)
    }

    fn unapplied(
        &self,
        this: This<'_, Site>,
        _: &[&Readable<Site>],
        existing_config: &[&ConfigMap],
        existing_router: &[&Deployment],
        templates: &[&ConfigMap],
        sizes: &[&ConfigMap],
    ) -> Because<bool> {
        let there = ObservedRouter::find(existing_router, existing_config);
        let plane = self.plane(this, there);
        let mut lines = validity::unapplied(self.platform, plane, this.spec);
        lines.extend(templates::broken(templates));
        lines.extend(self.sizing(this.spec, sizes).lacks);
        Because::new(!lines.is_empty(), lines.join("\n"))
    }

    fn unread(
        &self,
        _: This<'_, Site>,
        sites: &[&Readable<Site>],
        listeners: &[&Readable<Listener>],
        multi_key_listeners: &[&Readable<MultiKeyListener>],
        connectors: &[&Readable<Connector>],
        links: &[&Readable<Link>],
        bindings: &[&Readable<AttachedConnectorBinding>],
        attached: &[&Readable<AttachedConnector>],
        accesses: &[&Readable<RouterAccess>],
    ) -> Because<bool> {
        let all = [
            kept::flaws(sites),
            kept::flaws(listeners),
            kept::flaws(multi_key_listeners),
            kept::flaws(connectors),
            kept::flaws(links),
            kept::flaws(bindings),
            kept::flaws(attached),
            kept::flaws(accesses),
        ];
        kept::has_flaws(all.concat())
    }

    fn documents(&self, this: This<'_, Site>, _: &[&Readable<Site>]) -> BTreeSet<ObjectRef> {
        documents(this.meta)
    }

    async fn poll_report(
        &self,
        _: This<'_, Site>,
        routers: Vec<&Pod>,
        documents: Vec<&ConfigMap>,
    ) -> Result<RouterState, CallError> {
        self.routers.fetch_state(routers, documents).await
    }

    fn running(&self, this: This<'_, Site>, pods: &[&Pod]) -> Because<Running> {
        running(uid(this), pods)
    }

    fn revise(&self, at: Revise<'_>) -> Desired<ConfigMap> {
        let bound = (&at.bindings[..], &at.attached[..]);
        let workloads = workloads(&at.connectors, bound, &at.pods);
        let there = ObservedRouter::find(&at.existing_router, &[at.router_config]);
        let revisions = Revisions::new(&at.needed, Some(at.router_config));
        let site = (&self.identity(at.this, there), &revisions);
        let before = router_config::before(Some(at.router_config), &at.services);
        let offered = (&at.connectors[..], &at.links[..]);
        let unknown = Unknown::new(
            (&at.listeners, &at.multi_key_listeners),
            offered,
            bound,
            &at.accesses,
        );
        let kept = RetainedConfig::from_config_map(Some(at.router_config), &unknown);
        let listeners = kept::known(&at.listeners);
        let several = kept::known(&at.multi_key_listeners);
        let links = kept::known(&at.links);
        let own = self.own_access(at.this);
        let accesses = served(at.this, own.as_ref(), &kept::known(&at.accesses));
        let asked = (&workloads[..], &links[..], &accesses[..]);
        let config = plan::router_config(site, (&before, &kept), (&listeners, &several), asked);
        self.labelled(&at.templates, config)
    }

    fn plan(&self, at: Plan<'_>) -> Desired<ConfigMap> {
        let bound = (&at.bindings[..], &at.attached[..]);
        let workloads = workloads(&at.connectors, bound, &at.pods);
        let there = ObservedRouter::find(&at.existing_router, &[]);
        let revisions = Revisions::new(&at.needed, None);
        let site = (&self.identity(at.this, there), &revisions);
        let before = router_config::before(None, &at.services);
        let listeners = kept::known(&at.listeners);
        let several = kept::known(&at.multi_key_listeners);
        let links = kept::known(&at.links);
        let own = self.own_access(at.this);
        let accesses = served(at.this, own.as_ref(), &kept::known(&at.accesses));
        let asked = (&workloads[..], &links[..], &accesses[..]);
        let config = plan::router_config(
            site,
            (&before, &RetainedConfig::default()),
            (&listeners, &several),
            asked,
        );
        self.labelled(&at.templates, config)
    }

    fn apply_identities_local_authority(&self, at: ApplyIdentities<'_>) -> Desired<Certificate> {
        let name = at.this.meta.name.as_deref().unwrap_or_default();
        self.labelled(&at.templates, objects::local_authority(name))
    }

    fn apply_identities_local_certificate(&self, at: ApplyIdentities<'_>) -> Desired<Certificate> {
        let there = ObservedRouter::find(&at.existing_router, &[at.router_config]);
        let certificate = match self.plane(at.this, there) {
            DataPlane::Embedded => objects::local_certificate(),
            DataPlane::SkupperRouter => {
                let namespace = at.this.meta.namespace.as_deref();
                let adaptor = self.adaptor(at.this, there);
                existing::local_certificate(namespace.unwrap_or_default(), adaptor)
            }
        };
        self.labelled(&at.templates, certificate)
    }

    fn apply_identities_local_service(&self, at: ApplyIdentities<'_>) -> Option<Desired<Service>> {
        let there = ObservedRouter::find(&at.existing_router, &[at.router_config]);
        match self.plane(at.this, there) {
            DataPlane::Embedded => None,
            DataPlane::SkupperRouter => {
                Some(self.labelled(&at.templates, existing::local_service()))
            }
        }
    }

    fn apply_rights_account(&self, at: ApplyRights<'_>) -> Desired<ServiceAccount> {
        self.labelled(&at.templates, objects::account())
    }

    fn apply_rights_role(&self, at: ApplyRights<'_>) -> Desired<Role> {
        let there = ObservedRouter::find(&at.existing_router, &[at.router_config]);
        let secrets = plan::secrets(at.router_config);
        let role = match (self.plane(at.this, there), self.adaptor(at.this, there)) {
            (DataPlane::Embedded, _) => objects::role(&secrets),
            (DataPlane::SkupperRouter, Adaptor::KubeAdaptor) => existing::role(),
            (DataPlane::SkupperRouter, Adaptor::LifecycleRouter) => adaptor::role(&secrets),
        };
        self.labelled(&at.templates, role)
    }

    fn apply_rights_role_binding(&self, at: ApplyRights<'_>) -> Desired<RoleBinding> {
        self.labelled(&at.templates, objects::role_binding())
    }

    fn apply_router(&self, at: ApplyRouter<'_>) -> Desired<Deployment> {
        let (meta, spec) = (at.this.meta, at.this.spec);
        let there = ObservedRouter::find(&at.existing_router, &[at.router_config]);
        let account = named(spec.service_account.as_ref()).unwrap_or(ROUTER);
        let sizing = self.sizing(spec, &at.sizes);
        let router = match (self.plane(at.this, there), self.existing(at.this, there)) {
            (DataPlane::SkupperRouter, Ok(images)) => existing::deployment(&ExistingPods {
                namespace: meta.namespace.as_deref().unwrap_or_default(),
                name: meta.name.as_deref().unwrap_or_default(),
                site: uid(at.this),
                spec,
                images,
                account,
                router: sizing.router.unwrap_or_else(|| json!({})),
                adaptor: sizing.adaptor.unwrap_or_else(|| json!({})),
            }),
            (DataPlane::Embedded, _) | (DataPlane::SkupperRouter, Err(_)) => {
                objects::deployment(&RouterPods {
                    namespace: meta.namespace.as_deref().unwrap_or_default(),
                    site: uid(at.this),
                    image: &self.router_options.images.embedded,
                    account,
                    resources: sizing.router.unwrap_or_else(sizing::unsaid),
                    logging: setting(spec, LOGGING),
                })
            }
        };
        self.labelled(&at.templates, router)
    }

    /// Returns `None` if the author, or another user or controller, has created an authority, which then signs.
    fn apply_identities_authority(&self, at: ApplyIdentities<'_>) -> Option<Desired<Certificate>> {
        let is_own = |authority: &&Certificate| {
            let mut owners = authority.owner_references().iter();
            owners.any(|owner| owner.uid == uid(at.this))
        };
        let name = at.this.meta.name.as_deref().unwrap_or_default();
        let authority = || self.labelled(&at.templates, site_authority(name));
        at.authorities.iter().all(is_own).then(authority)
    }

    fn apply_access(&self, at: ApplyAccess<'_>) -> Desired<RouterAccess> {
        let access = Desired::from_json(own_access(at.this));
        self.labelled(&at.templates, access)
    }

    fn endpoints(
        &self,
        _: This<'_, Site>,
        accesses: &[&Readable<RouterAccess>],
    ) -> Option<Vec<Endpoint>> {
        let all = network::endpoints(accesses);
        (!all.is_empty()).then_some(all)
    }

    fn default_issuer(&self, this: This<'_, Site>, _: &[&Readable<Site>]) -> Option<String> {
        Some(issuer(this.spec).to_owned())
    }

    fn sites_in_network(
        &self,
        _: This<'_, Site>,
        running: Running,
        report: &RouterState,
    ) -> Option<i32> {
        let count = i32::try_from(report.sites.len()).unwrap_or(i32::MAX).max(1);
        (running == Running::Ready).then_some(count)
    }

    fn network(&self, this: This<'_, Site>, report: &RouterState) -> Vec<SiteRecord> {
        let own = SiteRecord {
            id: this.meta.uid.clone(),
            name: this.meta.name.clone(),
            namespace: this.meta.namespace.clone(),
            platform: Some(self.platform.name().to_owned()),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            services: network::services(report),
            ..SiteRecord::default()
        };
        network::sites(own, report)
    }

    fn controller(&self, _: This<'_, Site>, _: &[&Readable<Site>]) -> Controller {
        self.controller.clone()
    }
}

#[cfg(test)]
mod recorded;
#[cfg(test)]
mod taken_over;
#[cfg(test)]
mod tests;
