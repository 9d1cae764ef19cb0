//! How a Connector is reconciled.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod;
use lifecycle_runtime::{Because, Readable, This};
use lifecycle_specs_skupper::SelectedPod;
use lifecycle_specs_skupper::connector::{
    self as lifecycle, Chosen, Connector, ConnectorLogic, Health, Validity,
};
use lifecycle_specs_skupper::fragments::{Managed, SiteRoom};
use lifecycle_specs_skupper::router::RouterState;
use lifecycle_specs_skupper::site::Site;

use crate::config::document::{self, DeclaredConnector, SiteIdentity};
use crate::config::plan::{selected, unselected};
use crate::config::validity;
use crate::namespace::controller_id::ControllerId;
use crate::router::state::Routers;
use crate::router::view::{self, RouterView};
use crate::settings::named;
use crate::shared::Room;

/// Reconciles Connectors.
#[derive(Debug)]
pub struct Connectors<R> {
    controller_id: ControllerId,
    room: Room<R>,
}

impl<R> Connectors<R> {
    /// With these routers.
    pub fn new(controller_id: ControllerId, routers: Arc<R>) -> Self {
        Self {
            controller_id,
            room: Room(routers),
        }
    }
}

impl<R: Routers> ConnectorLogic for Connectors<R> {
    fn managed(&self) -> &impl Managed<Connector> {
        &self.controller_id
    }

    fn site_room(&self) -> &impl SiteRoom<Connector> {
        &self.room
    }

    fn validity(&self, this: This<'_, Connector>, _: &[&Readable<Site>]) -> Because<Validity> {
        validity::connector(this.spec)
    }

    fn chosen(&self, this: This<'_, Connector>, pods: &[&Pod]) -> Because<Chosen> {
        if named(this.spec.host.as_ref()).is_some() {
            return Because::plain(Chosen::Host);
        }
        match selected(this.spec, pods).is_empty() {
            true => {
                let namespace = this.meta.namespace.as_deref().unwrap_or_default();
                Because::new(Chosen::None, unselected(this.spec, namespace))
            }
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
    let entries = document::connector_entries(&SiteIdentity::from_site(site), declared);
    RouterView::from_report(&entries, report)
}

#[cfg(test)]
mod tests;
