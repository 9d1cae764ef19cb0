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
use lifecycle_specs_skupper::connector::Connector;
use lifecycle_specs_skupper::fragments::Managed;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_specs_skupper::router::{CREDENTIALS, LISTENER, ROUTER, RouterState, SITE};
use lifecycle_specs_skupper::site::{
    ApplyAccount, ApplyCredentials, ApplyRole, ApplyRoleBinding, ApplyRouter, Controller, Endpoint,
    Plan, Revise, Running, Site, SiteLogic, SiteRecord, Validity,
};

use crate::attached;
use crate::config::document::{SiteIdentity, named};
use crate::config::kept::{self, Kept, Unknown};
use crate::config::plan::{self, Workload};
use crate::config::router_config::{self, RouterConfig};
use crate::config::service::CONTROLLED;
use crate::config::validity;
use crate::namespace::controller_id::ControllerId;
use crate::namespace::templates::{self, Templates};
use crate::namespace::{active_site, pods};
use crate::platform::Platform;
use crate::router::credentials::{Root, Side};
use crate::router::objects::{self, RouterPods};
use crate::router::state::Routers;

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
    /// What the certificates between controller and routers follow from.
    pub root: Root,
    /// Where their routers are asked.
    pub routers: Arc<R>,
}

impl<R> Sites<R> {
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
        validity::site(this.spec)
    }

    fn managed_account(&self, this: This<'_, Site>, _: &[&Readable<Site>]) -> Because<bool> {
        Because::plain(named(this.spec.service_account.as_ref()).is_none())
    }

    fn linked(&self, this: This<'_, Site>, _: &[&Readable<Site>]) -> Because<bool> {
        Because::plain(validity::access(this.spec).is_some())
    }

    fn broken_templates(&self, _: This<'_, Site>, templates: &[&ConfigMap]) -> Because<bool> {
        templates::broken(templates)
    }

    fn unread(
        &self,
        _: This<'_, Site>,
        sites: &[&Readable<Site>],
        listeners: &[&Readable<Listener>],
        connectors: &[&Readable<Connector>],
        bindings: &[&Readable<AttachedConnectorBinding>],
        attached: &[&Readable<AttachedConnector>],
    ) -> Because<bool> {
        let all = [
            kept::flaws(sites),
            kept::flaws(listeners),
            kept::flaws(connectors),
            kept::flaws(bindings),
            kept::flaws(attached),
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
        let unknown = Unknown::of(&at.listeners, &at.connectors, bound);
        let kept = Kept::of(Some(at.router_config), &unknown);
        let listeners = kept::known(&at.listeners);
        let config = plan::router_config(site, (&before, &kept), &listeners, &workloads);
        self.labelled(&at.templates, config)
    }

    fn plan(&self, at: Plan<'_>) -> Desired<ConfigMap> {
        let bound = (&at.bindings[..], &at.attached[..]);
        let workloads = workloads(&at.connectors, bound, &at.pods);
        let site = (&SiteIdentity::of_this(at.this), self.platform);
        let before = router_config::before(None, &at.services);
        let listeners = kept::known(&at.listeners);
        let config = plan::router_config(site, (&before, &Kept::default()), &listeners, &workloads);
        self.labelled(&at.templates, config)
    }

    fn apply_credentials(&self, at: ApplyCredentials<'_>) -> Desired<Secret> {
        let made = self.root.credentials(uid(at.this), Side::Router);
        let made = made.expect("names and times are fixed and can be encoded");
        self.labelled(&at.templates, objects::secret(&made))
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
        let settings = spec.settings.as_ref();
        let router = objects::deployment(&RouterPods {
            namespace: meta.namespace.as_deref().unwrap_or_default(),
            site: uid(at.this),
            image: &self.image,
            account: named(spec.service_account.as_ref()).unwrap_or(ROUTER),
            logging: settings
                .and_then(|all| all.get("router-logging"))
                .map(String::as_str),
        });
        self.labelled(&at.templates, router)
    }

    fn endpoints(&self, _: This<'_, Site>, _: &[&Readable<Site>]) -> Option<Vec<Endpoint>> {
        None
    }

    fn default_issuer(&self, _: This<'_, Site>, _: &[&Readable<Site>]) -> Option<String> {
        None
    }

    fn sites_in_network(&self, _: This<'_, Site>, running: Running) -> Option<i32> {
        (running == Running::Ready).then_some(1)
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
        vec![own]
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
mod tests;
