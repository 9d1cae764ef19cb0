//! The logic of the lifecycle of a MultiKeyListener.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Service};
use lifecycle_runtime::{Because, Desired, ObjectRef, Readable, This};
use lifecycle_specs_skupper::fragments::{Managed, SiteRoom};
use lifecycle_specs_skupper::multi_key_listener::{
    self as lifecycle, Allocation, ApplyService, Health, MultiKeyListener, MultiKeyListenerLogic,
    PriorityStatus, StrategyStatus, Validity, WeightedStatus,
};
use lifecycle_specs_skupper::router::RouterState;
use lifecycle_specs_skupper::site::Site;

use crate::config::document::{self, DeclaredListener, DeclaredSpec, SiteIdentity};
use crate::config::ports::Holder;
use crate::config::router_config::{Given, RouterConfigs};
use crate::config::validity;
use crate::namespace::controller_id::ControllerId;
use crate::namespace::templates::{self, Templates};
use crate::platform::Platform;
use crate::router::state::Routers;
use crate::router::view::{self, RouterView};
use crate::shared::{Matched, Room};

/// Reconciles MultiKeyListeners.
#[derive(Debug)]
pub struct MultiKeyListeners<R> {
    controller_id: ControllerId,
    room: Room<R>,
    platform: Platform,
    configs: RouterConfigs,
}

impl<R> MultiKeyListeners<R> {
    /// With these routers, on this platform.
    pub fn new(controller_id: ControllerId, routers: Arc<R>, platform: Platform) -> Self {
        Self {
            controller_id,
            room: Room(routers),
            platform,
            configs: RouterConfigs::default(),
        }
    }

    /// Compares the entries of a MultiKeyListener with the report of the router. A router in the middle of a change counts as behind.
    /// One reachable key is enough.
    fn view(
        &self,
        this: This<'_, MultiKeyListener>,
        site: &Site,
        router_config: &ConfigMap,
        report: &RouterState,
    ) -> RouterView {
        let config = self.configs.read(router_config);
        let Some(allocation) = config.allocation(uid(this)) else {
            return RouterView::Behind;
        };
        let declared = DeclaredListener {
            allocation,
            spec: DeclaredSpec::Several(this.spec),
            platform: self.platform,
        };
        let entries = document::listener_entries(&SiteIdentity::from_site(site), declared);
        let (listener, keys) = entries.split_at(1);
        let is_matched = MultiKeyListener::is_matched(this, report);
        let (own, beside) = (
            RouterView::from_report(listener, report),
            RouterView::from_report(keys, report),
        );
        RouterView::of_listener(own, beside, is_matched)
    }
}

fn uid<'a>(this: This<'a, MultiKeyListener>) -> &'a str {
    this.meta.uid.as_deref().unwrap_or_default()
}

impl<R: Routers> MultiKeyListenerLogic for MultiKeyListeners<R> {
    fn managed(&self) -> &impl Managed<MultiKeyListener> {
        &self.controller_id
    }

    fn site_room(&self) -> &impl SiteRoom<MultiKeyListener> {
        &self.room
    }

    fn templates(
        &self,
        this: This<'_, MultiKeyListener>,
        _: Option<&ConfigMap>,
    ) -> BTreeSet<ObjectRef> {
        templates::concerning(this.meta, &self.controller_id)
    }

    fn binds_host(&self, _: This<'_, MultiKeyListener>, _: &[&Readable<Site>]) -> Because<bool> {
        Because::plain(self.platform.binds_host())
    }

    fn validity(
        &self,
        this: This<'_, MultiKeyListener>,
        _: &[&Readable<Site>],
    ) -> Because<Validity> {
        validity::multi_key_listener(this.spec, self.platform)
    }

    fn allocation(
        &self,
        this: This<'_, MultiKeyListener>,
        router_config: &ConfigMap,
    ) -> Because<Allocation> {
        let (config, spec) = (self.configs.read(router_config), this.spec);
        let given = config.given(
            (Holder::MultiKeyListener, uid(this)),
            (&spec.host, spec.port),
        );
        given.map(|given| match given {
            Given::Nothing => Allocation::None,
            Given::Lost => Allocation::Lost,
            Given::Full => Allocation::Full,
            Given::Held => Allocation::Held,
        })
    }

    fn sync(
        &self,
        this: This<'_, MultiKeyListener>,
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
        this: This<'_, MultiKeyListener>,
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

    fn socket_unknown(&self, _: This<'_, MultiKeyListener>, report: &RouterState) -> Because<bool> {
        match report.sockets_unknown {
            Some(why) => Because::new(true, why),
            None => Because::plain(false),
        }
    }

    fn has_destination(
        &self,
        this: This<'_, MultiKeyListener>,
        report: &RouterState,
    ) -> Option<bool> {
        MultiKeyListener::is_matched(this, report).then_some(true)
    }

    fn strategy(
        &self,
        this: This<'_, MultiKeyListener>,
        report: &RouterState,
    ) -> Option<StrategyStatus> {
        let strategy = &this.spec.strategy;
        let keys = strategy.keys().filter(|key| report.has_connector(key));
        let keys = keys.map(str::to_owned);
        match (&strategy.priority, &strategy.weighted) {
            (Some(_), None) => Some(StrategyStatus {
                priority: Some(PriorityStatus {
                    routing_keys_reachable: keys.collect(),
                }),
                weighted: None,
            }),
            (None, Some(weighted)) => {
                let weight = |key: String| {
                    let weight = *weighted.routing_keys.get(&key)?;
                    Some((key, weight))
                };
                let reachable: BTreeMap<String, i64> = keys.filter_map(weight).collect();
                // Of the last key that goes server-side apply would leave no map, and the API server refuses the status.
                (!reachable.is_empty()).then_some(StrategyStatus {
                    priority: None,
                    weighted: Some(WeightedStatus {
                        routing_keys_reachable: reachable,
                    }),
                })
            }
            (Some(_), Some(_)) | (None, None) => None,
        }
    }
}

#[cfg(test)]
mod tests;
