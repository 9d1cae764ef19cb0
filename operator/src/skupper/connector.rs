//! How a Connector is carried out.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use lifecycle_runtime::lifecycle::CallError;
use lifecycle_runtime::{Because, ObjectRef, This};
use lifecycle_specs::skupper::SelectedPod;
use lifecycle_specs::skupper::connector::{Chosen, Connector, ConnectorLogic, Entry, Reach, Shape};
use lifecycle_specs::skupper::router::RouterState;
use lifecycle_specs::skupper::site::Site;

use super::document::{self, Server, named};
use super::home::{self, Carried, carried};
use super::keeper::{self, Keeper};
use super::plan::selected;
use super::routers::Routers;
use super::shape;

/// Carries out Connectors.
#[derive(Debug)]
pub struct Connectors<R> {
    keeper: Keeper,
    routers: Arc<R>,
}

impl<R> Connectors<R> {
    /// With these routers.
    pub fn new(keeper: Keeper, routers: Arc<R>) -> Self {
        Self { keeper, routers }
    }
}

impl<R: Routers> ConnectorLogic for Connectors<R> {
    fn guard(&self, this: This<'_, Connector>) -> Option<ObjectRef> {
        keeper::guard(this.meta)
    }

    fn elsewhere(&self, _: This<'_, Connector>, guard: Option<&ConfigMap>) -> Because<bool> {
        Because::plain(self.keeper.is_other(guard))
    }

    fn table(&self, this: This<'_, Connector>) -> Option<ObjectRef> {
        Some(home::table(this.meta))
    }

    fn home(
        &self,
        _: This<'_, Connector>,
        sites: &[&Site],
        table: Option<&ConfigMap>,
    ) -> Option<ObjectRef> {
        home::home(sites, table)
    }

    async fn poll_report(
        &self,
        _: This<'_, Connector>,
        routers: Vec<&Pod>,
    ) -> Result<RouterState, CallError> {
        self.routers.ask(routers).await
    }

    fn running(&self, _: This<'_, Connector>, routers: &[&Pod]) -> Because<bool> {
        home::running(routers)
    }

    fn shape(&self, this: This<'_, Connector>, _: &[&Site]) -> Because<Shape> {
        shape::connector(this.spec)
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

    fn entry(
        &self,
        this: This<'_, Connector>,
        home: &Site,
        pods: &[&Pod],
        report: &RouterState,
    ) -> Because<Entry> {
        match made(this, home, pods, report) {
            Carried::Not => Because::new(Entry::Behind, home::behind(report)),
            Carried::Idle | Carried::Up | Carried::Failed(_) => Because::plain(Entry::Current),
        }
    }

    fn reach(
        &self,
        this: This<'_, Connector>,
        home: &Site,
        pods: &[&Pod],
        report: &RouterState,
    ) -> Because<Reach> {
        match made(this, home, pods, report) {
            Carried::Failed(why) => Because::new(Reach::Failed, why),
            Carried::Not | Carried::Idle | Carried::Up => Because::plain(Reach::Up),
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

fn made(this: This<'_, Connector>, home: &Site, pods: &[&Pod], report: &RouterState) -> Carried {
    let server = Server {
        name: this.meta.name.as_deref().unwrap_or_default(),
        spec: this.spec,
        pods: &selected(this.spec, pods),
    };
    carried(&document::connectors(&home::identity(home), server), report)
}

#[cfg(test)]
mod tests;
