//! Queries of the namespace and of the Site's router that several kinds share.

use std::collections::BTreeSet;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use lifecycle_runtime::lifecycle::{CallError, Subject};
use lifecycle_runtime::{Because, ObjectRef, Readable, This};
use lifecycle_specs_skupper::attached_binding::AttachedConnectorBinding;
use lifecycle_specs_skupper::connector::Connector;
use lifecycle_specs_skupper::fragments::{Managed, Overseen, SiteRoom};
use lifecycle_specs_skupper::link::Link;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_specs_skupper::multi_key_listener::MultiKeyListener;
use lifecycle_specs_skupper::router::{EntryState, RouterState};
use lifecycle_specs_skupper::site::Site;

use crate::config::{router_config, validity};
use crate::namespace::active_site;
use crate::namespace::controller_id::{self, ControllerId};
use crate::router::state::{self, Routers, documents};
use crate::router::view;

impl<K: Subject> Managed<K> for ControllerId {
    fn controller_config(&self, this: This<'_, K>) -> Option<ObjectRef> {
        controller_id::controller_config(this.meta)
    }

    fn managed_by_other(&self, _: This<'_, K>, config: Option<&ConfigMap>) -> Because<bool> {
        ControllerId::managed_by_other(self, config)
    }
}

impl<K: Subject> Overseen<K> for ControllerId {
    fn controller_config(&self, this: This<'_, K>) -> Option<ObjectRef> {
        controller_id::controller_config(this.meta)
    }

    fn managed_by_other(&self, _: This<'_, K>, config: Option<&ConfigMap>) -> Because<bool> {
        ControllerId::managed_by_other(self, config)
    }
}

/// Kind that has a counterpart on the other side of the network.
pub(crate) trait Matched: Subject + Sized {
    /// Returns true if the other side has a counterpart.
    fn is_matched(this: This<'_, Self>, report: &RouterState) -> bool;
}

impl Matched for Listener {
    fn is_matched(this: This<'_, Self>, report: &RouterState) -> bool {
        report.has_connector(&this.spec.routing_key)
    }
}

impl Matched for MultiKeyListener {
    fn is_matched(this: This<'_, Self>, report: &RouterState) -> bool {
        let mut keys = this.spec.strategy.keys();
        keys.any(|key| report.has_connector(key))
    }
}

impl Matched for Connector {
    fn is_matched(this: This<'_, Self>, report: &RouterState) -> bool {
        report.has_listener(&this.spec.routing_key)
    }
}

impl Matched for AttachedConnectorBinding {
    fn is_matched(this: This<'_, Self>, report: &RouterState) -> bool {
        report.has_listener(&this.spec.routing_key)
    }
}

impl Matched for Link {
    fn is_matched(this: This<'_, Self>, report: &RouterState) -> bool {
        let name = this.meta.name.as_deref().unwrap_or_default();
        view::of_link(name, report).is_some_and(|entry| entry.state == EntryState::Up)
    }
}

/// Access to the routers of Sites.
#[derive(Debug)]
pub(crate) struct Room<R>(pub(crate) Arc<R>);

impl<K: Matched, R: Routers> SiteRoom<K> for Room<R> {
    fn router_config(&self, this: This<'_, K>) -> Option<ObjectRef> {
        Some(router_config::reference(this.meta))
    }

    fn site(
        &self,
        _: This<'_, K>,
        sites: &[&Readable<Site>],
        router_config: Option<&ConfigMap>,
    ) -> Option<ObjectRef> {
        active_site::reference(sites, router_config)
    }

    fn documents(&self, this: This<'_, K>, _: &[&Readable<Site>]) -> BTreeSet<ObjectRef> {
        documents(this.meta)
    }

    async fn poll_report(
        &self,
        _: This<'_, K>,
        routers: Vec<&Pod>,
        documents: Vec<&ConfigMap>,
    ) -> Result<RouterState, CallError> {
        self.0.fetch_state(routers, documents).await
    }

    fn running(&self, _: This<'_, K>, routers: &[&Pod]) -> Because<bool> {
        state::running(routers)
    }

    fn blocked(&self, _: This<'_, K>, site: &Site) -> Because<bool> {
        validity::blocked(site)
    }

    fn matched(&self, this: This<'_, K>, report: &RouterState) -> Because<bool> {
        Because::plain(K::is_matched(this, report))
    }
}
