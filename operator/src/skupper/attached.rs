//! How an AttachedConnector and the AttachedConnectorBinding that accepts it are carried out.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use kube::ResourceExt;
use lifecycle_runtime::lifecycle::CallError;
use lifecycle_runtime::{Because, ObjectRef, This};
use lifecycle_specs::skupper::SelectedPod;
use lifecycle_specs::skupper::attached::{
    Allowed, AttachedConnector, AttachedConnectorLogic, AttachedConnectorSpec, Chosen, Shape,
};
use lifecycle_specs::skupper::attached_binding::{
    self as binding, AttachedConnectorBinding, AttachedConnectorBindingLogic,
    AttachedConnectorBindingSpec, Entry, Offer, Reach, Secured,
};
use lifecycle_specs::skupper::connector::{self, ConnectorSpec};
use lifecycle_specs::skupper::router::RouterState;
use lifecycle_specs::skupper::site::Site;

use super::document::{self, named};
use super::home::{self, Carried, carried};
use super::keeper::{self, Keeper};
use super::plan::{self, Served, selected};
use super::routers::Routers;
use super::shape;

/// The Connector that it would be in the namespace of its Pods.
fn as_connector(spec: &AttachedConnectorSpec) -> ConnectorSpec {
    ConnectorSpec {
        port: spec.port,
        selector: Some(spec.selector.clone()),
        tls_credentials: spec.tls_credentials.clone(),
        use_client_cert: spec.use_client_cert,
        kind: spec.kind.clone(),
        include_not_ready_pods: spec.include_not_ready_pods,
        ..ConnectorSpec::default()
    }
}

/// A reference to the binding that is to accept it.
fn wanted(this: This<'_, AttachedConnector>) -> ObjectRef {
    let name = this.meta.name.as_deref().unwrap_or_default();
    ObjectRef::of::<AttachedConnectorBinding>(Some(&this.spec.site_namespace), name)
}

/// A reference to the AttachedConnector that a binding accepts.
pub fn offered(name: &str, spec: &AttachedConnectorBindingSpec) -> ObjectRef {
    ObjectRef::of::<AttachedConnector>(Some(&spec.connector_namespace), name)
}

/// What serves the key of a binding: the Pods that its AttachedConnector says it means, if both mean each other and it can be carried out.
/// Its Pods are in a namespace of which the Site sees nothing else.
pub fn served(binding: &AttachedConnectorBinding, attached: &AttachedConnector) -> Option<Served> {
    let (name, namespace) = (binding.name_any(), binding.namespace());
    let means_it = attached.name_any() == name
        && attached.namespace().as_deref() == Some(&binding.spec.connector_namespace)
        && Some(&attached.spec.site_namespace) == namespace.as_ref();
    let spec = ConnectorSpec {
        routing_key: binding.spec.routing_key.clone(),
        expose_pods_by_name: binding.spec.expose_pods_by_name,
        ..as_connector(&attached.spec)
    };
    let fine = shape::connector(&spec).value == connector::Shape::Fine;
    let pods = attached
        .status
        .as_ref()
        .and_then(|s| s.selected_pods.clone());
    (means_it && fine).then(|| Served {
        // No Connector is called so.
        name: format!("{}/{name}", binding.spec.connector_namespace),
        spec,
        pods: pods
            .into_iter()
            .flatten()
            .map(|pod| (pod, String::new()))
            .collect(),
    })
}

/// Carries out AttachedConnectors.
#[derive(Clone, Debug)]
pub struct Attached {
    /// This controller.
    pub keeper: Keeper,
}

impl AttachedConnectorLogic for Attached {
    fn guard(&self, this: This<'_, AttachedConnector>) -> Option<ObjectRef> {
        keeper::guard(this.meta)
    }

    fn elsewhere(
        &self,
        _: This<'_, AttachedConnector>,
        guard: Option<&ConfigMap>,
    ) -> Because<bool> {
        Because::plain(self.keeper.is_other(guard))
    }

    fn binding(&self, this: This<'_, AttachedConnector>) -> Option<ObjectRef> {
        Some(wanted(this))
    }

    fn shape(&self, this: This<'_, AttachedConnector>, _: &[&Pod]) -> Because<Shape> {
        shape::attached(this.spec, &as_connector(this.spec))
    }

    fn allowed(
        &self,
        this: This<'_, AttachedConnector>,
        binding: &AttachedConnectorBinding,
    ) -> Because<Allowed> {
        let (own, only) = (
            this.meta.namespace.as_deref(),
            &binding.spec.connector_namespace,
        );
        if own == Some(only) {
            return Because::plain(Allowed::Yes);
        }
        Because::new(
            Allowed::Other,
            format!(
                "AttachedConnectorBinding {}/{} does not allow AttachedConnector in {} (only {only})",
                this.spec.site_namespace,
                binding.name_any(),
                own.unwrap_or_default(),
            ),
        )
    }

    fn chosen(&self, this: This<'_, AttachedConnector>, pods: &[&Pod]) -> Because<Chosen> {
        match selected(&as_connector(this.spec), pods).is_empty() {
            true => Because::new(Chosen::None, "No matches for selector"),
            false => Because::plain(Chosen::Some),
        }
    }

    fn selected_pods(
        &self,
        this: This<'_, AttachedConnector>,
        pods: &[&Pod],
    ) -> Option<Vec<SelectedPod>> {
        let pods = selected(&as_connector(this.spec), pods).into_iter();
        let pods: Vec<SelectedPod> = pods.map(|(pod, _)| pod).collect();
        (!pods.is_empty()).then_some(pods)
    }
}

/// Carries out AttachedConnectorBindings.
#[derive(Debug)]
pub struct Bindings<R> {
    keeper: Keeper,
    routers: Arc<R>,
}

impl<R> Bindings<R> {
    /// With these routers.
    pub fn new(keeper: Keeper, routers: Arc<R>) -> Self {
        Self { keeper, routers }
    }
}

type ThisBinding<'a> = This<'a, AttachedConnectorBinding>;

/// The binding as an object, for what is decided of both together.
fn object(this: ThisBinding<'_>) -> AttachedConnectorBinding {
    AttachedConnectorBinding {
        metadata: this.meta.clone(),
        spec: this.spec.clone(),
        status: None,
    }
}

fn made(
    this: ThisBinding<'_>,
    home: &Site,
    attached: &AttachedConnector,
    report: &RouterState,
) -> Carried {
    let Some(served) = served(&object(this), attached) else {
        return Carried::Not;
    };
    let site = home::identity(home);
    carried(&document::connectors(&site, plan::server(&served)), report)
}

impl<R: Routers> AttachedConnectorBindingLogic for Bindings<R> {
    fn guard(&self, this: ThisBinding<'_>) -> Option<ObjectRef> {
        keeper::guard(this.meta)
    }

    fn elsewhere(&self, _: ThisBinding<'_>, guard: Option<&ConfigMap>) -> Because<bool> {
        Because::plain(self.keeper.is_other(guard))
    }

    fn table(&self, this: ThisBinding<'_>) -> Option<ObjectRef> {
        Some(home::table(this.meta))
    }

    fn home(
        &self,
        _: ThisBinding<'_>,
        sites: &[&Site],
        table: Option<&ConfigMap>,
    ) -> Option<ObjectRef> {
        home::home(sites, table)
    }

    fn attached(&self, this: ThisBinding<'_>) -> Option<ObjectRef> {
        let name = this.meta.name.as_deref().unwrap_or_default();
        Some(offered(name, this.spec))
    }

    fn secret(
        &self,
        this: ThisBinding<'_>,
        attached: Option<&AttachedConnector>,
    ) -> Option<ObjectRef> {
        let name = named(attached?.spec.tls_credentials.as_ref())?;
        Some(ObjectRef::of::<Secret>(
            this.meta.namespace.as_deref(),
            name,
        ))
    }

    async fn poll_report(
        &self,
        _: ThisBinding<'_>,
        routers: Vec<&Pod>,
    ) -> Result<RouterState, CallError> {
        self.routers.ask(routers).await
    }

    fn shape(&self, this: ThisBinding<'_>, _: &[&Site]) -> Because<binding::Shape> {
        shape::binding(this.spec)
    }

    fn running(&self, _: ThisBinding<'_>, routers: &[&Pod]) -> Because<bool> {
        home::running(routers)
    }

    fn offer(&self, this: ThisBinding<'_>, attached: &AttachedConnector) -> Because<Offer> {
        let own = this.meta.namespace.as_ref();
        if Some(&attached.spec.site_namespace) != own {
            return Because::new(Offer::None, "No matching AttachedConnector");
        }
        let answer = shape::attached(&attached.spec, &as_connector(&attached.spec));
        answer.map(|shape| match shape {
            Shape::Fine => Offer::Fine,
            Shape::Incomplete | Shape::BadSelector | Shape::BadPort | Shape::BadType => {
                Offer::Broken
            }
        })
    }

    fn secured(
        &self,
        _: ThisBinding<'_>,
        attached: &AttachedConnector,
        secret: Option<&Secret>,
    ) -> Because<Secured> {
        match (named(attached.spec.tls_credentials.as_ref()), secret) {
            (None, _) | (Some(_), Some(_)) => Because::plain(Secured::Fine),
            (Some(name), None) => Because::new(
                Secured::Missing,
                format!("TLS credentials secret \"{name}\" not found"),
            ),
        }
    }

    fn chosen(
        &self,
        this: ThisBinding<'_>,
        attached: &AttachedConnector,
    ) -> Because<binding::Chosen> {
        let served = served(&object(this), attached);
        match served.is_some_and(|served| !served.pods.is_empty()) {
            true => Because::plain(binding::Chosen::Some),
            false => Because::new(binding::Chosen::None, "No matches for selector"),
        }
    }

    fn entry(
        &self,
        this: ThisBinding<'_>,
        home: &Site,
        attached: &AttachedConnector,
        report: &RouterState,
    ) -> Because<Entry> {
        match made(this, home, attached, report) {
            Carried::Not => Because::new(Entry::Behind, home::behind(report)),
            Carried::Idle | Carried::Up | Carried::Failed(_) => Because::plain(Entry::Current),
        }
    }

    fn reach(
        &self,
        this: ThisBinding<'_>,
        home: &Site,
        attached: &AttachedConnector,
        report: &RouterState,
    ) -> Because<Reach> {
        match made(this, home, attached, report) {
            Carried::Failed(why) => Because::new(Reach::Failed, why),
            Carried::Not | Carried::Idle | Carried::Up => Because::plain(Reach::Up),
        }
    }

    fn matched(&self, this: ThisBinding<'_>, report: &RouterState) -> Because<bool> {
        Because::plain(report.has_listener(&this.spec.routing_key))
    }

    fn has_matching_listener(&self, this: ThisBinding<'_>, report: &RouterState) -> Option<bool> {
        report.has_listener(&this.spec.routing_key).then_some(true)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn attached(namespace: &str, site: &str) -> AttachedConnector {
        let attached = json!({
            "metadata": { "name": "web", "namespace": namespace },
            "spec": { "siteNamespace": site, "selector": "app=web", "port": 80, "tlsCredentials": "tls" },
            "status": { "selectedPods": [{ "name": "web-0", "ip": "10.0.0.1" }] },
        });
        serde_json::from_value(attached).expect("it is an AttachedConnector")
    }

    fn binding(allowed: &str) -> AttachedConnectorBinding {
        let binding: Value = json!({
            "metadata": { "name": "web", "namespace": "west" },
            "spec": { "connectorNamespace": allowed, "routingKey": "backend" },
        });
        serde_json::from_value(binding).expect("it is an AttachedConnectorBinding")
    }

    /// Neither can take what the other does not give.
    #[test]
    fn both_must_mean_each_other() {
        let served = |b: &AttachedConnectorBinding, a: &AttachedConnector| {
            served(b, a).map(|served| (served.name, served.pods.len()))
        };
        let both = ("shop/web".to_owned(), 1);
        assert_eq!(
            served(&binding("shop"), &attached("shop", "west")),
            Some(both)
        );
        assert_eq!(served(&binding("shop"), &attached("shop", "east")), None);
        assert_eq!(served(&binding("shop"), &attached("theft", "west")), None);
        let denied = attached("theft", "west");
        let keeper = Keeper::new("skupper", "controller");
        let answer = Attached { keeper }.allowed(This::of(&denied), &binding("shop"));
        assert_eq!(answer.value, Allowed::Other);
        let said = "AttachedConnectorBinding west/web does not allow AttachedConnector in theft (only shop)";
        assert_eq!(answer.sentence, said);
    }
}
