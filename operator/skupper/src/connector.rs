//! How a Connector is reconciled.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use lifecycle_runtime::lifecycle::CallError;
use lifecycle_runtime::{Because, ObjectRef, Readable, This};
use lifecycle_specs_skupper::SelectedPod;
use lifecycle_specs_skupper::connector::{
    self as lifecycle, Chosen, Connector, ConnectorLogic, Health, Validity,
};
use lifecycle_specs_skupper::router::RouterState;
use lifecycle_specs_skupper::site::Site;

use crate::config::document::{self, DeclaredConnector, SiteIdentity, named};
use crate::config::plan::selected;
use crate::config::{router_config, validity};
use crate::namespace::active_site;
use crate::namespace::controller_id::{self, ControllerId};
use crate::router::state::{self, Routers};
use crate::router::view::{self, RouterView};

/// Reconciles Connectors.
#[derive(Debug)]
pub struct Connectors<R> {
    controller_id: ControllerId,
    routers: Arc<R>,
}

impl<R> Connectors<R> {
    /// With these routers.
    pub fn new(controller_id: ControllerId, routers: Arc<R>) -> Self {
        Self {
            controller_id,
            routers,
        }
    }
}

impl<R: Routers> ConnectorLogic for Connectors<R> {
    fn controller_config(&self, this: This<'_, Connector>) -> Option<ObjectRef> {
        controller_id::controller_config(this.meta)
    }

    fn managed_by_other(
        &self,
        _: This<'_, Connector>,
        controller_config: Option<&ConfigMap>,
    ) -> Because<bool> {
        Because::plain(self.controller_id.is_other(controller_config))
    }

    fn router_config(&self, this: This<'_, Connector>) -> Option<ObjectRef> {
        Some(router_config::reference(this.meta))
    }

    fn site(
        &self,
        _: This<'_, Connector>,
        sites: &[&Readable<Site>],
        router_config: Option<&ConfigMap>,
    ) -> Option<ObjectRef> {
        active_site::reference(sites, router_config)
    }

    async fn poll_report(
        &self,
        _: This<'_, Connector>,
        routers: Vec<&Pod>,
    ) -> Result<RouterState, CallError> {
        self.routers.ask(routers).await
    }

    fn running(&self, _: This<'_, Connector>, routers: &[&Pod]) -> Because<bool> {
        state::running(routers)
    }

    fn blocked(&self, _: This<'_, Connector>, site: &Site) -> Because<bool> {
        validity::blocked(site)
    }

    fn validity(&self, this: This<'_, Connector>, _: &[&Readable<Site>]) -> Because<Validity> {
        validity::connector(this.spec)
    }

    fn chosen(&self, this: This<'_, Connector>, pods: &[&Pod]) -> Because<Chosen> {
        if named(this.spec.host.as_ref()).is_some() {
            return Because::plain(Chosen::Host);
        }
        match selected(this.spec, pods).is_empty() {
            true => Because::new(Chosen::None, "No matches for selector"),
            false => Because::plain(Chosen::Some),
        }
    }

    fn sync(
        &self,
        this: This<'_, Connector>,
        site: &Site,
        pods: &[&Pod],
        report: &RouterState,
    ) -> Because<lifecycle::Sync> {
        match view(this, site, pods, report) {
            RouterView::Behind => Because::new(lifecycle::Sync::Behind, view::behind(report)),
            RouterView::Idle | RouterView::Up | RouterView::Failed(_) => {
                Because::plain(lifecycle::Sync::Current)
            }
        }
    }

    fn health(
        &self,
        this: This<'_, Connector>,
        site: &Site,
        pods: &[&Pod],
        report: &RouterState,
    ) -> Because<Health> {
        match view(this, site, pods, report) {
            RouterView::Failed(why) => Because::new(Health::Failed, why),
            RouterView::Behind | RouterView::Idle | RouterView::Up => Because::plain(Health::Up),
        }
    }

    fn matched(&self, this: This<'_, Connector>, report: &RouterState) -> Because<bool> {
        Because::plain(report.has_listener(&this.spec.routing_key))
    }

    fn has_matching_listener(
        &self,
        this: This<'_, Connector>,
        report: &RouterState,
    ) -> Option<bool> {
        report.has_listener(&this.spec.routing_key).then_some(true)
    }

    fn selected_pods(&self, this: This<'_, Connector>, pods: &[&Pod]) -> Option<Vec<SelectedPod>> {
        let pods: Vec<SelectedPod> = selected(this.spec, pods)
            .into_iter()
            .map(|(pod, _)| pod)
            .collect();
        (!pods.is_empty()).then_some(pods)
    }
}

fn view(this: This<'_, Connector>, site: &Site, pods: &[&Pod], report: &RouterState) -> RouterView {
    let declared = DeclaredConnector {
        name: this.meta.name.as_deref().unwrap_or_default(),
        spec: this.spec,
        pods: &selected(this.spec, pods),
    };
    let entries = document::connector_entries(&SiteIdentity::of(site), declared);
    RouterView::of(&entries, report)
}

#[cfg(test)]
mod tests;
