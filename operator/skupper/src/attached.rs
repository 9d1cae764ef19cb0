//! How an AttachedConnector and the AttachedConnectorBinding that accepts it are reconciled.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{Pod, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Resource, ResourceExt};
use lifecycle_runtime::{Because, ObjectRef, Readable, This};
use lifecycle_specs_skupper::SelectedPod;
use lifecycle_specs_skupper::attached::{
    Allowed, AttachedConnector, AttachedConnectorLogic, AttachedConnectorSpec, Chosen, Validity,
};
use lifecycle_specs_skupper::attached_binding::{
    self as binding, AttachedConnectorBinding, AttachedConnectorBindingLogic,
    AttachedConnectorBindingSpec, Health, Offer, Secured,
};
use lifecycle_specs_skupper::connector::{self, ConnectorSpec};
use lifecycle_specs_skupper::fragments::{Managed, SiteRoom};
use lifecycle_specs_skupper::router::RouterState;
use lifecycle_specs_skupper::site::Site;

use crate::config::document::{self, SiteIdentity};
use crate::config::plan::{self, Workload, selected, unselected};
use crate::config::validity;
use crate::namespace::controller_id::ControllerId;
use crate::router::state::Routers;
use crate::router::view::{self, RouterView};
use crate::settings::named;
use crate::shared::Room;

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

fn namespace_of(meta: &ObjectMeta) -> &str {
    meta.namespace.as_deref().unwrap_or_default()
}

/// A reference to the binding that is to accept it.
fn binding_ref(this: This<'_, AttachedConnector>) -> ObjectRef {
    let name = this.meta.name.as_deref().unwrap_or_default();
    ObjectRef::new::<AttachedConnectorBinding>(Some(&this.spec.site_namespace), name)
}

/// A reference to the AttachedConnector that a binding accepts.
pub fn offered(name: &str, spec: &AttachedConnectorBindingSpec) -> ObjectRef {
    ObjectRef::new::<AttachedConnector>(Some(&spec.connector_namespace), name)
}

/// Returns the workload that a binding accepts: the Pods that its AttachedConnector selects, if
/// both refer to each other and it can be served. Its Pods are in a namespace in which the Site
/// sees nothing else.
pub fn workload(
    binding: &AttachedConnectorBinding,
    attached: &AttachedConnector,
) -> Option<Workload> {
    let (name, namespace) = (binding.name_any(), binding.namespace());
    let means_it = attached.name_any() == name
        && attached.namespace().as_deref() == Some(&binding.spec.connector_namespace)
        && Some(&attached.spec.site_namespace) == namespace.as_ref();
    let spec = ConnectorSpec {
        routing_key: binding.spec.routing_key.clone(),
        expose_pods_by_name: binding.spec.expose_pods_by_name,
        ..as_connector(&attached.spec)
    };
    let fine = validity::connector(&spec).value == connector::Validity::Fine;
    let pods = attached
        .status
        .as_ref()
        .and_then(|s| s.selected_pods.clone());
    (means_it && fine).then(|| Workload {
        // No Connector has such a name.
        name: format!("{}/{name}", binding.spec.connector_namespace),
        spec,
        pods: pods
            .into_iter()
            .flatten()
            .map(|pod| (pod, String::new()))
            .collect(),
    })
}

/// Reconciles AttachedConnectors.
#[derive(Clone, Debug)]
pub struct Attached {
    /// This controller.
    pub controller_id: ControllerId,
}

impl AttachedConnectorLogic for Attached {
    fn managed(&self) -> &impl Managed<AttachedConnector> {
        &self.controller_id
    }

    fn binding(&self, this: This<'_, AttachedConnector>) -> Option<ObjectRef> {
        Some(binding_ref(this))
    }

    fn validity(&self, this: This<'_, AttachedConnector>, _: &[&Pod]) -> Because<Validity> {
        validity::attached(this.spec, &as_connector(this.spec))
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
            true => Because::new(
                Chosen::None,
                unselected(&as_connector(this.spec), namespace_of(this.meta)),
            ),
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

/// Reconciles AttachedConnectorBindings.
#[derive(Debug)]
pub struct Bindings<R> {
    controller_id: ControllerId,
    room: Room<R>,
}

impl<R> Bindings<R> {
    /// With these routers.
    pub fn new(controller_id: ControllerId, routers: Arc<R>) -> Self {
        Self {
            controller_id,
            room: Room(routers),
        }
    }
}

type ThisBinding<'a> = This<'a, AttachedConnectorBinding>;

/// Returns the binding as an object, for decisions that need both objects.
fn object(this: ThisBinding<'_>) -> AttachedConnectorBinding {
    AttachedConnectorBinding {
        metadata: this.meta.clone(),
        spec: this.spec.clone(),
        status: None,
    }
}

fn view(
    this: ThisBinding<'_>,
    site: &Site,
    attached: &AttachedConnector,
    report: &RouterState,
) -> RouterView {
    let Some(workload) = workload(&object(this), attached) else {
        return RouterView::Behind;
    };
    let site = SiteIdentity::from_site(site);
    let entries = document::connector_entries(&site, plan::declared(&workload));
    RouterView::from_report(&entries, report)
}

impl<R: Routers> AttachedConnectorBindingLogic for Bindings<R> {
    fn managed(&self) -> &impl Managed<AttachedConnectorBinding> {
        &self.controller_id
    }

    fn site_room(&self) -> &impl SiteRoom<AttachedConnectorBinding> {
        &self.room
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
        Some(ObjectRef::new::<Secret>(
            this.meta.namespace.as_deref(),
            name,
        ))
    }

    fn validity(&self, this: ThisBinding<'_>, _: &[&Readable<Site>]) -> Because<binding::Validity> {
        validity::binding(this.spec)
    }

    fn offer(&self, this: ThisBinding<'_>, attached: &AttachedConnector) -> Because<Offer> {
        let own = this.meta.namespace.as_ref();
        if Some(&attached.spec.site_namespace) != own {
            let sentence = format!(
                "AttachedConnector `{}/{}` is for the Site of namespace `{}`: put this namespace into its spec.siteNamespace",
                namespace_of(attached.meta()),
                attached.name_any(),
                attached.spec.site_namespace,
            );
            return Because::new(Offer::None, sentence);
        }
        let answer = validity::attached(&attached.spec, &as_connector(&attached.spec));
        answer.map(|validity| match validity {
            Validity::Fine => Offer::Fine,
            Validity::Incomplete
            | Validity::BadSelector
            | Validity::BadPort
            | Validity::BadType => Offer::Broken,
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
        let workload = workload(&object(this), attached);
        match workload.is_some_and(|workload| !workload.pods.is_empty()) {
            true => Because::plain(binding::Chosen::Some),
            false => Because::new(
                binding::Chosen::None,
                unselected(&as_connector(&attached.spec), namespace_of(attached.meta())),
            ),
        }
    }

    fn sync(
        &self,
        this: ThisBinding<'_>,
        site: &Site,
        attached: &AttachedConnector,
        report: &RouterState,
    ) -> Because<binding::Sync> {
        match view(this, site, attached, report) {
            RouterView::Behind => Because::new(binding::Sync::Behind, view::behind(report)),
            RouterView::Idle | RouterView::Up | RouterView::Failed(_) => {
                Because::plain(binding::Sync::Current)
            }
        }
    }

    fn health(
        &self,
        this: ThisBinding<'_>,
        site: &Site,
        attached: &AttachedConnector,
        report: &RouterState,
    ) -> Because<Health> {
        match view(this, site, attached, report) {
            RouterView::Failed(why) => Because::new(Health::Failed, why),
            RouterView::Behind | RouterView::Idle | RouterView::Up => Because::plain(Health::Up),
        }
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

    /// Neither side can take resources that the other does not offer.
    #[test]
    fn both_must_mean_each_other() {
        let served = |b: &AttachedConnectorBinding, a: &AttachedConnector| {
            workload(b, a).map(|workload| (workload.name, workload.pods.len()))
        };
        let both = ("shop/web".to_owned(), 1);
        assert_eq!(
            served(&binding("shop"), &attached("shop", "west")),
            Some(both)
        );
        assert_eq!(served(&binding("shop"), &attached("shop", "east")), None);
        assert_eq!(served(&binding("shop"), &attached("theft", "west")), None);
        let denied = attached("theft", "west");
        let controller_id = ControllerId::new("skupper", "controller");
        let answer = Attached { controller_id }.allowed(This::new(&denied), &binding("shop"));
        assert_eq!(answer.value, Allowed::Other);
        let said = "AttachedConnectorBinding west/web does not allow AttachedConnector in theft (only shop)";
        assert_eq!(answer.sentence, said);
    }
}
