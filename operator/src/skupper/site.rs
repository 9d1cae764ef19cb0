//! How a Site is carried out: the configuration of its router, and the router itself.

use std::collections::BTreeSet;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret, Service, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::{Resource, ResourceExt};
use lifecycle_runtime::{Because, Desired, ObjectRef, This};
use lifecycle_specs::skupper::attached::AttachedConnector;
use lifecycle_specs::skupper::attached_binding::AttachedConnectorBinding;
use lifecycle_specs::skupper::router::{CREDENTIALS, LISTENER, ROUTER, SITE};
use lifecycle_specs::skupper::site::{
    ApplyAccount, ApplyCredentials, ApplyGrant, ApplyRole, ApplyRouter, Controller, Plan, Rank,
    Revise, Running, Shape, Site, SiteLogic, SiteRecord,
};

use super::credentials::{Root, Side};
use super::document::named;
use super::keeper::{self, Keeper};
use super::plan::{self, served};
use super::platform::Platform;
use super::service::CONTROLLED;
use super::table::{self, Table};
use super::templates::{self, Templates, Told};
use super::{attached, home, objects, pods, shape};

/// Carries out Sites.
#[derive(Clone, Debug)]
pub struct Sites {
    /// This controller.
    pub keeper: Keeper,
    /// Who looks after them, as their statuses say.
    pub controller: Controller,
    /// What the sites run on.
    pub platform: Platform,
    /// The image of routers.
    pub image: String,
    /// What the certificates between controller and routers follow from.
    pub root: Root,
    /// What was told of label templates.
    pub told: Told,
}

impl Sites {
    /// An object as the templates that concern it want it.
    fn labelled<K>(&self, templates: &[&ConfigMap], object: Desired<K>) -> Desired<K>
    where
        K: Resource<DynamicType = ()>,
    {
        Templates::of(templates, &self.keeper).on(object)
    }
}

fn named_in<K: Resource<DynamicType = ()>>(this: This<'_, Site>, name: &str) -> Option<ObjectRef> {
    Some(ObjectRef::of::<K>(this.meta.namespace.as_deref(), name))
}

fn uid<'a>(this: This<'a, Site>) -> &'a str {
    this.meta.uid.as_deref().unwrap_or_default()
}

/// What the bindings of the namespace accept from others.
fn bound(
    bindings: &[&AttachedConnectorBinding],
    attached: &[&AttachedConnector],
) -> Vec<plan::Served> {
    let going = |b: &&&AttachedConnectorBinding| b.metadata.deletion_timestamp.is_none();
    let bindings = bindings.iter().filter(going);
    let all = bindings.flat_map(|b| attached.iter().filter_map(|a| attached::served(b, a)));
    all.collect()
}

impl SiteLogic for Sites {
    fn guard(&self, this: This<'_, Site>) -> Option<ObjectRef> {
        keeper::guard(this.meta)
    }

    fn elsewhere(&self, _: This<'_, Site>, guard: Option<&ConfigMap>) -> Because<bool> {
        Because::plain(self.keeper.is_other(guard))
    }

    fn templates(&self, this: This<'_, Site>, _: Option<&ConfigMap>) -> BTreeSet<ObjectRef> {
        templates::concerning(this.meta, &self.keeper)
    }

    fn attached(
        &self,
        _: This<'_, Site>,
        bindings: &[&AttachedConnectorBinding],
    ) -> BTreeSet<ObjectRef> {
        let offered = |b: &&AttachedConnectorBinding| attached::offered(&b.name_any(), &b.spec);
        bindings.iter().map(offered).collect()
    }

    /// The table, whosever it is: what is `owned` is seen by its owner alone.
    fn begun(&self, this: This<'_, Site>, _: &[&Site]) -> BTreeSet<ObjectRef> {
        BTreeSet::from([home::table(this.meta)])
    }

    fn table(&self, this: This<'_, Site>) -> Option<ObjectRef> {
        Some(home::table(this.meta))
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

    fn grant(&self, this: This<'_, Site>) -> Option<ObjectRef> {
        named_in::<RoleBinding>(this, ROUTER)
    }

    fn router(&self, this: This<'_, Site>) -> Option<ObjectRef> {
        named_in::<Deployment>(this, ROUTER)
    }

    fn unused(
        &self,
        this: This<'_, Site>,
        services: &[&Service],
        table: &ConfigMap,
    ) -> BTreeSet<String> {
        let table = Table::of(table);
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
            .filter(|name| table.of_host(name).is_empty())
            .collect()
    }

    fn rank(&self, this: This<'_, Site>, sites: &[&Site], begun: &[&ConfigMap]) -> Because<Rank> {
        match home::active(sites, begun.first().copied()) {
            Some(other) if other.metadata.uid != this.meta.uid => Because::new(
                Rank::Later,
                format!(
                    "An active site already exists in the namespace ({})",
                    other.name_any()
                ),
            ),
            Some(_) | None => Because::plain(Rank::First),
        }
    }

    fn shape(&self, this: This<'_, Site>, _: &[&Site]) -> Because<Shape> {
        shape::site(this.spec)
    }

    fn own(&self, this: This<'_, Site>, _: &[&Site]) -> Because<bool> {
        Because::plain(named(this.spec.service_account.as_ref()).is_none())
    }

    fn linked(&self, this: This<'_, Site>, _: &[&Site]) -> Because<bool> {
        Because::plain(shape::access(this.spec).is_some())
    }

    fn running(&self, this: This<'_, Site>, pods: &[&Pod]) -> Because<Running> {
        running(uid(this), pods)
    }

    fn revise(&self, at: Revise<'_>) -> Desired<ConfigMap> {
        let mut served = served(&at.connectors, &at.pods);
        served.extend(bound(&at.bindings, &at.attached));
        let site = home::identity_of(at.this);
        let before = table::before(Some(at.table), &at.services);
        let table = plan::table((&site, self.platform), &before, &at.listeners, &served);
        self.labelled(&at.templates, table)
    }

    fn plan(&self, at: Plan<'_>) -> Desired<ConfigMap> {
        let mut served = served(&at.connectors, &at.pods);
        served.extend(bound(&at.bindings, &at.attached));
        let site = home::identity_of(at.this);
        let before = table::before(None, &at.services);
        let table = plan::table((&site, self.platform), &before, &at.listeners, &served);
        self.labelled(&at.templates, table)
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
        self.labelled(&at.templates, objects::role(&plan::secrets(at.table)))
    }

    fn apply_grant(&self, at: ApplyGrant<'_>) -> Desired<RoleBinding> {
        self.labelled(&at.templates, objects::binding())
    }

    fn apply_router(&self, at: ApplyRouter<'_>) -> Desired<Deployment> {
        let (meta, spec) = (at.this.meta, at.this.spec);
        let settings = spec.settings.as_ref();
        let concerning = templates::concerning(meta, &self.keeper);
        self.told.tell(&at.templates, &concerning);
        let router = objects::deployment(&objects::Running {
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

    fn sites_in_network(&self, _: This<'_, Site>, running: Running) -> Option<i32> {
        (running == Running::Ready).then_some(1)
    }

    fn network(&self, this: This<'_, Site>, running: Running) -> Option<Vec<SiteRecord>> {
        let own = SiteRecord {
            id: this.meta.uid.clone(),
            name: this.meta.name.clone(),
            namespace: this.meta.namespace.clone(),
            platform: Some(self.platform.name().to_owned()),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            ..SiteRecord::default()
        };
        (running == Running::Ready).then(|| vec![own])
    }

    fn controller(&self, _: This<'_, Site>, _: &[&Site]) -> Controller {
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
