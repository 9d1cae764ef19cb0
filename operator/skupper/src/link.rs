//! How a Link is reconciled.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use lifecycle_runtime::{Because, ObjectRef, This};
use lifecycle_specs_skupper::fragments::{Managed, SiteRoom};
use lifecycle_specs_skupper::link::{self as lifecycle, Health, Link, LinkLogic, Validity};
use lifecycle_specs_skupper::router::{EntryState, RemoteSite, RouterEntry, RouterState};
use lifecycle_specs_skupper::site::Site;

use crate::config::document::SiteIdentity;
use crate::config::{links, proxies, validity};
use crate::namespace::controller_id::ControllerId;
use crate::router::plane::ObservedRouter;
use crate::router::state::Routers;
use crate::router::view::{self, RouterView};
use crate::shared::Room;

/// Reconciles Links.
#[derive(Debug)]
pub struct Links<R> {
    controller_id: ControllerId,
    room: Room<R>,
}

impl<R> Links<R> {
    /// With these routers.
    pub fn new(controller_id: ControllerId, routers: Arc<R>) -> Self {
        Self {
            controller_id,
            room: Room(routers),
        }
    }
}

fn reported<'a>(this: This<'_, Link>, report: &'a RouterState) -> Option<&'a RouterEntry> {
    view::of_link(this.meta.name.as_deref()?, report)
}

fn remote<'a>(this: This<'_, Link>, report: &'a RouterState) -> Option<&'a RemoteSite> {
    reported(this, report)?.remote.as_ref()
}

impl<R: Routers> LinkLogic for Links<R> {
    fn managed(&self) -> &impl Managed<Link> {
        &self.controller_id
    }

    fn site_room(&self) -> &impl SiteRoom<Link> {
        &self.room
    }

    fn proxy(&self, this: This<'_, Link>) -> Option<ObjectRef> {
        let proxy = proxies::named_by(this.spec)?;
        Some(ObjectRef::new::<Secret>(
            this.meta.namespace.as_deref(),
            proxy,
        ))
    }

    fn validity(
        &self,
        this: This<'_, Link>,
        site: &Site,
        documents: &[&ConfigMap],
        proxy: Option<&Secret>,
    ) -> Because<Validity> {
        let plane = ObservedRouter::plane_by(documents, site);
        validity::link(this.spec, site.spec.edge == Some(true), plane, proxy)
    }

    fn sync(
        &self,
        this: This<'_, Link>,
        site: &Site,
        report: &RouterState,
    ) -> Because<lifecycle::Sync> {
        match view(this, site, report) {
            RouterView::Behind => Because::new(lifecycle::Sync::Behind, view::behind(report)),
            RouterView::Idle | RouterView::Up | RouterView::Failed(_) => {
                Because::plain(lifecycle::Sync::Current)
            }
        }
    }

    fn health(&self, this: This<'_, Link>, site: &Site, report: &RouterState) -> Because<Health> {
        let entry = reported(this, report);
        if let Some(EntryState::Failed(why)) = entry.map(|entry| &entry.state) {
            return Because::new(Health::Failed, format!("Not operational: {why}"));
        }
        match view(this, site, report) {
            RouterView::Failed(why) => Because::new(Health::Failed, why),
            RouterView::Up => Because::plain(Health::Up),
            RouterView::Behind | RouterView::Idle => Because::plain(Health::Dialling),
        }
    }

    fn remote_site_id(&self, this: This<'_, Link>, report: &RouterState) -> Option<String> {
        remote(this, report).map(|remote| remote.id.clone())
    }

    fn remote_site_name(&self, this: This<'_, Link>, report: &RouterState) -> Option<String> {
        remote(this, report)?.name.clone()
    }
}

fn view(this: This<'_, Link>, site: &Site, report: &RouterState) -> RouterView {
    let name = this.meta.name.as_deref().unwrap_or_default();
    let entry = links::entry(&SiteIdentity::from_site(site), name, this.spec);
    let entries: Vec<_> = entry.into_iter().map(|(entry, _)| entry).collect();
    RouterView::from_report(&entries, report)
}

#[cfg(test)]
mod tests;
