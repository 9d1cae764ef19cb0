//! How a Listener is carried out.

use std::collections::BTreeSet;
use std::slice;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Service};
use lifecycle_runtime::lifecycle::CallError;
use lifecycle_runtime::{Because, Desired, ObjectRef, This};
use lifecycle_specs::skupper::listener::{
    ApplyPods, ApplyService, Claim, Entry, Listener, ListenerLogic, Reach, Shape,
};
use lifecycle_specs::skupper::router::RouterState;
use lifecycle_specs::skupper::site::Site;

use super::claims;
use super::document::{self, Offer};
use super::home::{self, Carried, carried};
use super::keeper::{self, Keeper};
use super::platform::Platform;
use super::routers::Routers;
use super::shape;
use super::table::{Table, Tables};
use super::templates::{self, Templates};

/// Carries out Listeners.
#[derive(Debug)]
pub struct Listeners<R> {
    keeper: Keeper,
    routers: Arc<R>,
    platform: Platform,
    tables: Tables,
}

impl<R> Listeners<R> {
    /// With these routers, on this platform.
    pub fn new(keeper: Keeper, routers: Arc<R>, platform: Platform) -> Self {
        Self {
            keeper,
            routers,
            platform,
            tables: Tables::default(),
        }
    }
}

impl<R> Listeners<R> {
    fn made(
        &self,
        this: This<'_, Listener>,
        home: &Site,
        table: &ConfigMap,
        report: &RouterState,
    ) -> Carried {
        let table = self.tables.read(table);
        made(this, (home, self.platform), &table, report)
    }
}

fn uid<'a>(this: This<'a, Listener>) -> &'a str {
    this.meta.uid.as_deref().unwrap_or_default()
}

impl<R: Routers> ListenerLogic for Listeners<R> {
    fn guard(&self, this: This<'_, Listener>) -> Option<ObjectRef> {
        keeper::guard(this.meta)
    }

    fn elsewhere(&self, _: This<'_, Listener>, guard: Option<&ConfigMap>) -> Because<bool> {
        Because::plain(self.keeper.is_other(guard))
    }

    fn templates(&self, this: This<'_, Listener>, _: Option<&ConfigMap>) -> BTreeSet<ObjectRef> {
        templates::concerning(this.meta, &self.keeper)
    }

    fn home(
        &self,
        _: This<'_, Listener>,
        sites: &[&Site],
        table: Option<&ConfigMap>,
    ) -> Option<ObjectRef> {
        home::home(sites, table)
    }

    fn table(&self, this: This<'_, Listener>) -> Option<ObjectRef> {
        Some(home::table(this.meta))
    }

    fn pods(&self, this: This<'_, Listener>, table: Option<&ConfigMap>) -> BTreeSet<String> {
        let table = table.map(|table| self.tables.read(table));
        let hosts = table.iter().flat_map(|table| table.pods_of(uid(this)));
        hosts.map(|claim| claim.host.clone()).collect()
    }

    async fn poll_report(
        &self,
        _: This<'_, Listener>,
        routers: Vec<&Pod>,
    ) -> Result<RouterState, CallError> {
        self.routers.ask(routers).await
    }

    fn running(&self, _: This<'_, Listener>, routers: &[&Pod]) -> Because<bool> {
        home::running(routers)
    }

    fn direct(&self, _: This<'_, Listener>, _: &[&Site]) -> Because<bool> {
        Because::plain(self.platform.is_direct())
    }

    fn shape(&self, this: This<'_, Listener>, _: &[&Site]) -> Because<Shape> {
        shape::listener(this.spec, self.platform)
    }

    fn claim(&self, this: This<'_, Listener>, table: &ConfigMap) -> Because<Claim> {
        claim(this, &self.tables.read(table))
    }

    fn entry(
        &self,
        this: This<'_, Listener>,
        home: &Site,
        table: &ConfigMap,
        report: &RouterState,
    ) -> Because<Entry> {
        match self.made(this, home, table, report) {
            Carried::Not => Because::new(Entry::Behind, home::behind(report)),
            Carried::Idle | Carried::Up | Carried::Failed(_) => Because::plain(Entry::Current),
        }
    }

    fn reach(
        &self,
        this: This<'_, Listener>,
        home: &Site,
        table: &ConfigMap,
        report: &RouterState,
    ) -> Because<Reach> {
        match self.made(this, home, table, report) {
            Carried::Failed(why) => Because::new(Reach::Failed, why),
            Carried::Up => Because::plain(Reach::Up),
            Carried::Idle | Carried::Not => Because::plain(Reach::Idle),
        }
    }

    fn matched(&self, this: This<'_, Listener>, report: &RouterState) -> Because<bool> {
        Because::plain(report.has_connector(&this.spec.routing_key))
    }

    fn apply_service(&self, at: ApplyService<'_>) -> Desired<Service> {
        let table = self.tables.read(at.table);
        let templates = Templates::of(&at.templates, &self.keeper);
        templates.on(table.service(&at.this.spec.host))
    }

    fn apply_pods(&self, at: ApplyPods<'_>) -> Vec<Desired<Service>> {
        let table = self.tables.read(at.table);
        let claims = table.pods_of(uid(at.this));
        let templates = Templates::of(&at.templates, &self.keeper);
        claims
            .map(|claim| templates.on(table.service(&claim.host)))
            .collect()
    }

    fn has_matching_connector(
        &self,
        this: This<'_, Listener>,
        report: &RouterState,
    ) -> Option<bool> {
        report.has_connector(&this.spec.routing_key).then_some(true)
    }
}

/// What the Site has given a Listener, and if nothing, why.
fn claim(this: This<'_, Listener>, table: &Table) -> Because<Claim> {
    let (uid, spec) = (uid(this), this.spec);
    let wanted =
        |claim: &claims::Claim| claim.host == spec.host && i32::from(claim.port) == spec.port;
    if table.is_full_for(uid) {
        let sentence = "the configuration of the router has no room for it: delete Listeners, or Connectors of many Pods";
        return Because::new(Claim::Full, sentence);
    }
    if table.claim(uid).is_some_and(wanted) {
        return Because::plain(Claim::Held);
    }
    let holder = table
        .of_host(&spec.host)
        .iter()
        .find(|claim| wanted(claim) && claim.uid != uid);
    match holder {
        Some(other) => Because::new(
            Claim::Lost,
            format!(
                "Listener {} with host {} and port {} already exists in namespace",
                other.name, spec.host, spec.port
            ),
        ),
        None => Because::new(
            Claim::None,
            "its Site has not given it a port of the router yet",
        ),
    }
}

/// What the router makes of a Listener. In the middle of a change of its own the router counts as not there yet.
fn made(
    this: This<'_, Listener>,
    (home, platform): (&Site, Platform),
    table: &Table,
    report: &RouterState,
) -> Carried {
    let (site, spec) = (home::identity(home), this.spec);
    let entry = |claim| {
        let offer = Offer {
            claim,
            spec,
            platform,
        };
        document::listener(&site, offer)
    };
    let Some(whole) = table.claim(uid(this)) else {
        return Carried::Not;
    };
    let pods: Vec<_> = table.pods_of(uid(this)).map(entry).collect();
    let is_matched = report.has_connector(&spec.routing_key);
    match (
        carried(slice::from_ref(&entry(whole)), report),
        carried(&pods, report),
    ) {
        (Carried::Not, _) | (_, Carried::Not) => Carried::Not,
        (Carried::Failed(why), _) | (_, Carried::Failed(why)) => Carried::Failed(why),
        (Carried::Idle, Carried::Idle | Carried::Up) if !is_matched => Carried::Idle,
        (Carried::Up, Carried::Idle | Carried::Up) if is_matched => Carried::Up,
        (Carried::Idle | Carried::Up, Carried::Idle | Carried::Up) => Carried::Not,
    }
}

#[cfg(test)]
mod tests;
