//! How a Site is reconciled: the configuration of its router, and the router itself.

mod network;

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
    CREDENTIALS, LISTENER, ROUTER, RouterState, SITE, SITE_CA, SITE_SERVER, STATE_CA,
};
use lifecycle_specs_skupper::router_access::RouterAccess;
use lifecycle_specs_skupper::site::{
    ApplyAccess, ApplyAccount, ApplyAuthority, ApplyIdentities, ApplyRole, ApplyRoleBinding,
    ApplyRouter, Controller, Endpoint, Plan, Revise, Running, Site, SiteLogic, SiteRecord,
    SiteSpec, Validity,
};
use serde_json::{Value, json};

use crate::attached;
use crate::config::document::{SiteIdentity, named};
use crate::config::kept::{self, Kept, Unknown};
use crate::config::plan::{self, Workload};
use crate::config::router_config::{self, RouterConfig};
use crate::config::service::CONTROLLED;
use crate::config::validity::{self, LOGGING, setting};
use crate::namespace::controller_id::ControllerId;
use crate::namespace::sizing::{self, Sizing};
use crate::namespace::templates::{self, Templates};
use crate::namespace::{active_site, pods};
use crate::platform::Platform;
use crate::router::objects::{self, RouterPods};
use crate::router::state::Routers;

/// The message where an address is waited for and nothing is wrong, as the replaced implementation has it.
const PENDING: &str = "Pending";

/// Reconciles Sites.
#[derive(Clone, Debug)]
pub struct Sites<R> {
    /// This controller.
    pub controller_id: ControllerId,
    /// What manages them, as their statuses say.
    pub controller: Controller,
    /// What the sites run on.
    pub platform: Platform,
    /// The image of routers.
    pub image: String,
    /// Where their routers are asked.
    pub routers: Arc<R>,
}

impl<R> Sites<R> {
    /// Whether others are to link to a Site.
    fn is_linked(&self, this: This<'_, Site>) -> bool {
        validity::is_linked(self.platform, this.spec)
    }

    /// The RouterAccess of a Site, if others are to link to it.
    fn own_access(&self, this: This<'_, Site>) -> Option<RouterAccess> {
        let own = self.is_linked(this).then(|| own_access(this))?;
        serde_json::from_value(own).ok()
    }

    /// What the router of a Site gets of a node.
    fn sizing(&self, spec: &SiteSpec, sizes: &[&ConfigMap]) -> Sizing {
        let wanted = setting(spec, sizing::SETTING).filter(|_| !self.platform.binds_host());
        sizing::of(sizes, wanted, &self.controller_id)
    }

    /// An object as the templates that concern it want it.
    fn labelled<K>(&self, templates: &[&ConfigMap], object: Desired<K>) -> Desired<K>
    where
        K: Resource<DynamicType = ()>,
    {
        Templates::of(templates, &self.controller_id).on(object)
    }
}

fn named_in<K: Resource<DynamicType = ()>>(this: This<'_, Site>, name: &str) -> Option<ObjectRef> {
    Some(ObjectRef::of::<K>(this.meta.namespace.as_deref(), name))
}

/// Name of the Secret with the authority that signs for a Site unless said otherwise.
pub fn issuer(spec: &SiteSpec) -> &str {
    named(spec.default_issuer.as_ref()).unwrap_or(SITE_CA)
}

/// The RouterAccess of a Site that others are to link to.
fn own_access(this: This<'_, Site>) -> Value {
    let spec = this.spec;
    let mut wanted = json!({
        "roles": [{ "name": "inter-router", "port": 55671 }, { "name": "edge", "port": 45671 }],
        "tlsCredentials": SITE_SERVER, "generateTlsCredentials": true, "issuer": issuer(spec),
    });
    if let Some(access_type) = validity::access(spec).filter(|access| *access != "default") {
        wanted["accessType"] = access_type.into();
    }
    json!({
        "metadata": { "name": ROUTER, "annotations": { CONTROLLED: "true" } },
        "spec": wanted,
    })
}

/// The RouterAccesses that the router serves: those of others as they are, and its own as it is meant. So writing that one changes no configuration.
fn served<'a>(
    this: This<'_, Site>,
    own: Option<&'a RouterAccess>,
    known: &[&'a RouterAccess],
) -> Vec<&'a RouterAccess> {
    let owned = |access: &RouterAccess| {
        let mut owners = access.owner_references().iter();
        owners.any(|owner| owner.uid == uid(this))
    };
    let others = known.iter().copied().filter(|access| !owned(access));
    let mut all: Vec<&RouterAccess> = others.collect();
    let is_free = all.iter().all(|access| access.name_any() != ROUTER);
    all.extend(own.filter(|_| is_free));
    all
}

fn uid<'a>(this: This<'a, Site>) -> &'a str {
    this.meta.uid.as_deref().unwrap_or_default()
}

/// What the namespace offers: its Connectors, and what its bindings accept from others. Of what cannot be read, as it was last.
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

/// What the bindings of the namespace accept from others.
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

    /// The configuration, whosever it is: what is `owned` is seen by its owner alone.
    fn existing_config(&self, this: This<'_, Site>, _: &[&Readable<Site>]) -> BTreeSet<ObjectRef> {
        BTreeSet::from([router_config::reference(this.meta)])
    }

    fn router_config(&self, this: This<'_, Site>) -> Option<ObjectRef> {
        Some(router_config::reference(this.meta))
    }

    fn state_authority(&self, this: This<'_, Site>) -> Option<ObjectRef> {
        named_in::<Certificate>(this, STATE_CA)
    }

    fn state_certificate(&self, this: This<'_, Site>) -> Option<ObjectRef> {
        named_in::<Certificate>(this, CREDENTIALS)
    }

    /// The Secret of versions that made it themselves.
    fn credentials(&self, this: This<'_, Site>) -> Option<ObjectRef> {
        named_in::<Secret>(this, CREDENTIALS)
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
        let config = RouterConfig::of(router_config);
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
        templates: &[&ConfigMap],
        sizes: &[&ConfigMap],
    ) -> Because<bool> {
        let mut lines = validity::unapplied(self.platform, this.spec);
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
        kept::told(all.concat())
    }

    async fn poll_report(
        &self,
        _: This<'_, Site>,
        routers: Vec<&Pod>,
    ) -> Result<RouterState, CallError> {
        self.routers.ask(routers).await
    }

    fn running(&self, this: This<'_, Site>, pods: &[&Pod]) -> Because<Running> {
        running(uid(this), pods)
    }

    fn revise(&self, at: Revise<'_>) -> Desired<ConfigMap> {
        let bound = (&at.bindings[..], &at.attached[..]);
        let workloads = workloads(&at.connectors, bound, &at.pods);
        let site = (&SiteIdentity::of_this(at.this), self.platform);
        let before = router_config::before(Some(at.router_config), &at.services);
        let offered = (&at.connectors[..], &at.links[..]);
        let unknown = Unknown::of(
            (&at.listeners, &at.multi_key_listeners),
            offered,
            bound,
            &at.accesses,
        );
        let kept = Kept::of(Some(at.router_config), &unknown);
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
        let site = (&SiteIdentity::of_this(at.this), self.platform);
        let before = router_config::before(None, &at.services);
        let listeners = kept::known(&at.listeners);
        let several = kept::known(&at.multi_key_listeners);
        let links = kept::known(&at.links);
        let own = self.own_access(at.this);
        let accesses = served(at.this, own.as_ref(), &kept::known(&at.accesses));
        let asked = (&workloads[..], &links[..], &accesses[..]);
        let config = plan::router_config(
            site,
            (&before, &Kept::default()),
            (&listeners, &several),
            asked,
        );
        self.labelled(&at.templates, config)
    }

    fn apply_identities_state_authority(&self, at: ApplyIdentities<'_>) -> Desired<Certificate> {
        let name = at.this.meta.name.as_deref().unwrap_or_default();
        self.labelled(&at.templates, objects::state_authority(name))
    }

    fn apply_identities_state_certificate(&self, at: ApplyIdentities<'_>) -> Desired<Certificate> {
        self.labelled(&at.templates, objects::state_certificate())
    }

    fn apply_account(&self, at: ApplyAccount<'_>) -> Desired<ServiceAccount> {
        self.labelled(&at.templates, objects::account())
    }

    fn apply_role(&self, at: ApplyRole<'_>) -> Desired<Role> {
        self.labelled(
            &at.templates,
            objects::role(&plan::secrets(at.router_config)),
        )
    }

    fn apply_role_binding(&self, at: ApplyRoleBinding<'_>) -> Desired<RoleBinding> {
        self.labelled(&at.templates, objects::role_binding())
    }

    fn apply_router(&self, at: ApplyRouter<'_>) -> Desired<Deployment> {
        let (meta, spec) = (at.this.meta, at.this.spec);
        let router = objects::deployment(&RouterPods {
            namespace: meta.namespace.as_deref().unwrap_or_default(),
            site: uid(at.this),
            image: &self.image,
            account: named(spec.service_account.as_ref()).unwrap_or(ROUTER),
            resources: self.sizing(spec, &at.sizes).resources,
            logging: setting(spec, LOGGING),
        });
        self.labelled(&at.templates, router)
    }

    fn apply_authority(&self, at: ApplyAuthority<'_>) -> Desired<Certificate> {
        let name = at.this.meta.name.as_deref().unwrap_or_default();
        let certificate = Desired::from_json(json!({
            "metadata": { "name": SITE_CA, "annotations": { CONTROLLED: "true" } },
            "spec": { "ca": SITE_CA, "subject": format!("{name} site CA"), "signing": true },
        }));
        self.labelled(&at.templates, certificate)
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
        let linked = validity::access(this.spec).is_some();
        linked.then(|| issuer(this.spec).to_owned())
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

/// Whether a Pod of the router runs; if none does, what the first of them lacks.
fn running(site: &str, all: &[&Pod]) -> Because<Running> {
    let of_site = |pod: &&&Pod| {
        let labelled = pod.labels().get(SITE).is_some_and(|uid| uid == site);
        labelled && pod.metadata.deletion_timestamp.is_none()
    };
    let routers: Vec<&Pod> = all.iter().copied().filter(|pod| of_site(&pod)).collect();
    let phase = |pod: &Pod| pod.status.as_ref().and_then(|s| s.phase.clone());
    let runs = |pod: &&&Pod| phase(pod).as_deref() == Some("Running") && pods::is_ready(pod);
    if routers.iter().any(|pod| runs(&pod)) {
        return Because::plain(Running::Ready);
    }
    let Some(first) = routers.first() else {
        return Because::plain(Running::None);
    };
    let conditions = first.status.as_ref().and_then(|s| s.conditions.as_ref());
    let unmet = conditions
        .into_iter()
        .flatten()
        .find(|c| c.status == "False");
    let said = unmet
        .and_then(|c| c.message.clone())
        .filter(|said| !said.is_empty());
    Because::new(
        Running::Waiting,
        said.unwrap_or_else(|| "No router pod is ready".to_owned()),
    )
}

#[cfg(test)]
mod recorded;
#[cfg(test)]
mod tests;
