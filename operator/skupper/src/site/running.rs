//! The Pods of the router of a Site, as far as they are needed to decide if one runs. Pure.

use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use lifecycle_runtime::Because;
use lifecycle_specs_skupper::router::{APPLICATION, ROUTER, SITE};
use lifecycle_specs_skupper::site::Running;

use crate::namespace::pods;

/// Returns true if a Pod of the router runs; otherwise the reason has the failure of the first one.
pub(super) fn running(site: &str, all: &[&Pod]) -> Because<Running> {
    let of_site = |pod: &&&Pod| {
        let labels = pod.labels();
        let is_router = labels.get(APPLICATION).is_some_and(|name| name == ROUTER);
        // Pods of the existing router are not labelled with their Site.
        let is_own = labels.get(SITE).is_none_or(|uid| uid == site);
        is_router && is_own && pod.metadata.deletion_timestamp.is_none()
    };
    let routers: Vec<&Pod> = all.iter().copied().filter(|pod| of_site(&pod)).collect();
    let phase = |pod: &Pod| pod.status.as_ref().and_then(|s| s.phase.clone());
    let runs = |pod: &&&Pod| phase(pod).as_deref() == Some("Running") && pods::is_ready(pod);
    if routers.iter().any(|pod| runs(&pod)) {
        return Because::plain(Running::Ready);
    }
    let Some(first) = routers.first() else {
        return Because::plain(Running::None);
    };
    let conditions = first.status.as_ref().and_then(|s| s.conditions.as_ref());
    let unmet = conditions
        .into_iter()
        .flatten()
        .find(|c| c.status == "False");
    let said = unmet
        .and_then(|c| c.message.clone())
        .filter(|said| !said.is_empty());
    Because::new(
        Running::Waiting,
        said.unwrap_or_else(|| "No router pod is ready".to_owned()),
    )
}
