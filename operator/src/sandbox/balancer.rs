//! The load balancer in front of the routers: a Service that selects the Pods of a router gets the address at which that router listens in this process.

use std::time::Duration;

use k8s_openapi::api::core::v1::{Pod, Service};
use kube::api::{Api, ListParams, Patch, PatchParams};
use kube::{Client, ResourceExt};
use lifecycle_runtime::cause;
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_skupper::config::service::SELECTOR;
use lifecycle_skupper::router::embedded::Embedded;
use lifecycle_specs_skupper::router::SITE;
use serde_json::json;
use tokio::time::sleep;

/// Label of the Pods to which it leads.
pub(super) const PODS: (&str, &str) = SELECTOR[1];
const LOOK: Duration = Duration::from_millis(100);

/// Assigns addresses until shutdown.
pub(super) async fn run(client: Client, routers: Embedded, mut shutdown: Shutdown) {
    loop {
        if let Err(error) = balance(&client, &routers).await {
            tracing::debug!("load balancers: {}", cause::in_one_line(&error));
        }
        tokio::select! {
            biased;
            () = shutdown.wait() => return,
            () = sleep(LOOK) => {}
        }
    }
}

async fn balance(client: &Client, routers: &Embedded) -> kube::Result<()> {
    let all: Api<Service> = Api::all(client.clone());
    let services = all.list(&ListParams::default()).await?.items;
    for service in services.iter().filter(|service| is_ours(service)) {
        let namespace = service.namespace().unwrap_or_default();
        let Some(address) = address(client, routers, &namespace).await? else {
            continue;
        };
        if led_to(service) == Some(address.as_str()) {
            continue;
        }
        let ingress = json!([{ "ip": address, "ipMode": "VIP" }]);
        let status = json!({ "status": { "loadBalancer": { "ingress": ingress } } });
        let api: Api<Service> = Api::namespaced(client.clone(), &namespace);
        let params = PatchParams::default();
        let patch = Patch::Merge(status);
        api.patch_status(&service.name_any(), &params, &patch)
            .await?;
    }
    Ok(())
}

fn is_ours(service: &Service) -> bool {
    let Some(spec) = &service.spec else {
        return false;
    };
    let (key, value) = PODS;
    let selected = spec.selector.as_ref().and_then(|labels| labels.get(key));
    spec.type_.as_deref() == Some("LoadBalancer")
        && selected.is_some_and(|selected| selected == value)
        && service.metadata.deletion_timestamp.is_none()
}

/// Returns the address on which the router of a namespace listens, once it runs.
async fn address(
    client: &Client,
    routers: &Embedded,
    namespace: &str,
) -> kube::Result<Option<String>> {
    let (key, value) = PODS;
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let of_routers = ListParams::default().labels(&format!("{key}={value}"));
    let pods = pods.list(&of_routers).await?.items;
    let mut sites = pods.iter().filter_map(|pod| pod.labels().get(SITE));
    let address = sites.find_map(|site| routers.address(site));
    Ok(address.map(|address| address.to_string()))
}

fn led_to(service: &Service) -> Option<&str> {
    let balancer = service.status.as_ref()?.load_balancer.as_ref()?;
    balancer.ingress.as_ref()?.first()?.ip.as_deref()
}
