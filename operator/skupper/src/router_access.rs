//! How a RouterAccess is reconciled.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use lifecycle_runtime::lifecycle::CallError;
use lifecycle_runtime::{Because, Desired, ObjectRef, Readable, This};
use lifecycle_specs_skupper::fragments::Managed;
use lifecycle_specs_skupper::router::{ROUTER, RouterState};
use lifecycle_specs_skupper::router_access::{
    ApplyAccess, Health, RouterAccess, RouterAccessLogic, RouterAccessSpec, Sync, Validity,
};
use lifecycle_specs_skupper::secured_access::SecuredAccess;
use lifecycle_specs_skupper::site::{Endpoint, Site};
use serde_json::{Value, json};

use crate::config::document::{self, DeclaredAccess};
use crate::config::router_config;
use crate::config::service::{CONTROLLED, LINKED};
use crate::config::validity;
use crate::namespace::active_site;
use crate::namespace::controller_id::ControllerId;
use crate::namespace::templates::{self, Templates};
use crate::router::plane::ObservedRouter;
use crate::router::state::{self, Routers, documents};
use crate::router::view::{self, RouterView};
use crate::secured_access::NAMES;
use crate::settings::named;
use crate::site::issuer;

/// On a SecuredAccess: the RouterAccess that it is of.
const OF_ROUTER_ACCESS: &str = "internal.skupper.io/routeraccess";

/// Reconciles RouterAccesses.
#[derive(Debug)]
pub struct RouterAccesses<R> {
    /// This controller.
    pub controller_id: ControllerId,
    /// Source of the router states.
    pub routers: Arc<R>,
}

fn generated(spec: &RouterAccessSpec) -> bool {
    spec.generate_tls_credentials == Some(true)
}

fn view(this: This<'_, RouterAccess>, report: &RouterState) -> RouterView {
    let name = this.meta.name.as_deref().unwrap_or_default();
    let declared = DeclaredAccess {
        name,
        spec: this.spec,
    };
    RouterView::from_report(&document::access_entries(declared), report)
}

impl<R: Routers> RouterAccessLogic for RouterAccesses<R> {
    fn managed(&self) -> &impl Managed<RouterAccess> {
        &self.controller_id
    }

    fn templates(
        &self,
        this: This<'_, RouterAccess>,
        _: Option<&ConfigMap>,
    ) -> BTreeSet<ObjectRef> {
        templates::concerning(this.meta, &self.controller_id)
    }

    fn router_config(&self, this: This<'_, RouterAccess>) -> Option<ObjectRef> {
        Some(router_config::reference(this.meta))
    }

    fn site(
        &self,
        _: This<'_, RouterAccess>,
        sites: &[&Readable<Site>],
        router_config: Option<&ConfigMap>,
    ) -> Option<ObjectRef> {
        active_site::reference(sites, router_config)
    }

    fn documents(
        &self,
        this: This<'_, RouterAccess>,
        _: &[&Readable<Site>],
    ) -> BTreeSet<ObjectRef> {
        documents(this.meta)
    }

    async fn poll_report(
        &self,
        _: This<'_, RouterAccess>,
        routers: Vec<&Pod>,
        documents: Vec<&ConfigMap>,
    ) -> Result<RouterState, CallError> {
        self.routers.fetch_state(routers, documents).await
    }

    fn validity(
        &self,
        this: This<'_, RouterAccess>,
        site: &Site,
        documents: &[&ConfigMap],
    ) -> Because<Validity> {
        validity::router_access(this.spec, site, ObservedRouter::plane_by(documents, site))
    }

    fn generated(&self, this: This<'_, RouterAccess>) -> Because<bool> {
        Because::plain(generated(this.spec))
    }

    fn running(&self, _: This<'_, RouterAccess>, routers: &[&Pod]) -> Because<bool> {
        state::running(routers)
    }

    fn sync(&self, this: This<'_, RouterAccess>, report: &RouterState) -> Because<Sync> {
        match view(this, report) {
            RouterView::Behind => Because::new(Sync::Behind, view::behind(report)),
            RouterView::Idle | RouterView::Up | RouterView::Failed(_) => {
                Because::plain(Sync::Current)
            }
        }
    }

    fn health(&self, this: This<'_, RouterAccess>, report: &RouterState) -> Because<Health> {
        match view(this, report) {
            RouterView::Failed(why) => Because::new(Health::Failed, why),
            RouterView::Behind | RouterView::Idle | RouterView::Up => Because::plain(Health::Up),
        }
    }

    fn resolved(&self, _: This<'_, RouterAccess>, access: &SecuredAccess) -> Because<bool> {
        match endpoints(access).is_some() {
            true => Because::plain(true),
            false => {
                let status = access.status.as_ref();
                let said = status.and_then(|status| status.common.message.clone());
                let said = said.filter(|said| !said.is_empty() && said != "OK");
                let unsaid = || "it is not known yet where it is reached".to_owned();
                Because::new(false, said.unwrap_or_else(unsaid))
            }
        }
    }

    fn apply_access(&self, at: ApplyAccess<'_>) -> Desired<SecuredAccess> {
        let (meta, spec) = (at.this.meta, at.this.spec);
        let selector: BTreeMap<_, _> = LINKED.into();
        let ports: Vec<Value> = document::roles(spec)
            .map(|(name, port)| {
                json!({ "name": name, "port": port, "targetPort": port, "protocol": "TCP" })
            })
            .collect();
        let issuer = generated(spec).then(|| {
            let own = named(spec.issuer.as_ref());
            own.unwrap_or_else(|| issuer(&at.site.spec)).to_owned()
        });
        let mut settings = spec.settings.clone().unwrap_or_default();
        let names = spec.subject_alternative_names.clone().unwrap_or_default();
        if !names.is_empty() {
            settings.insert(NAMES.to_owned(), names.join(","));
        }
        let mut wanted = json!({
            "selector": selector, "ports": ports, "certificate": spec.tls_credentials,
        });
        let said = [
            ("issuer", json!(issuer)),
            ("accessType", json!(named(spec.access_type.as_ref()))),
            (
                "settings",
                json!(Some(settings).filter(|all| !all.is_empty())),
            ),
        ];
        for (name, value) in said.into_iter().filter(|(_, value)| !value.is_null()) {
            wanted[name] = value;
        }
        let access = Desired::from_json(json!({
            "metadata": {
                "name": meta.name,
                "annotations": { CONTROLLED: "true", OF_ROUTER_ACCESS: meta.name },
            },
            "spec": wanted,
        }));
        Templates::from_config_maps(&at.templates, &self.controller_id).on(access)
    }

    fn endpoints(
        &self,
        _: This<'_, RouterAccess>,
        access: &SecuredAccess,
    ) -> Option<Vec<Endpoint>> {
        endpoints(access)
    }
}

/// Returns the endpoints of the SecuredAccess. All of them lead to the one router of the site.
fn endpoints(access: &SecuredAccess) -> Option<Vec<Endpoint>> {
    let all = access.status.as_ref()?.endpoints.clone()?;
    let of_router = |endpoint| Endpoint {
        group: Some(ROUTER.to_owned()),
        ..endpoint
    };
    let all: Vec<Endpoint> = all.into_iter().map(of_router).collect();
    (!all.is_empty()).then_some(all)
}

#[cfg(test)]
mod tests;
