//! The router of a Site: its existing objects, and the parts that this controller would keep. Pure.

use std::collections::BTreeSet;

use k8s_openapi::api::apps::v1::Deployment;
use kube::ResourceExt;
use lifecycle_skupper::data_plane::{self, Adaptor, DataPlane};
use lifecycle_skupper::router::existing::{self, ExistingPods};
use lifecycle_skupper::router::objects::{self, RouterPods};
use lifecycle_skupper::router::plane::{ADAPTOR, CONTAINER, Existing, ObservedRouter};
use lifecycle_skupper::settings::{LOGGING, named, setting};
use lifecycle_specs_skupper::router::ROUTER;
use lifecycle_specs_skupper::site::{Site, SiteSpec};
use serde_json::{Value, json};

use super::chosen::Chosen;
use super::spaces::Space;
use crate::takeover::finding::Finding;

/// The second router of a pair.
const SECOND: &str = "skupper-router-2";

/// The findings of the routers of a namespace.
pub(crate) fn router((namespace, space): (&str, &Space<'_>), chosen: &Chosen) -> Vec<Finding> {
    let mut findings = Vec::new();
    if space.deployments.iter().any(|one| one.name_any() == SECOND) {
        findings.push(Finding::blocks(
            &format!("Deployment {namespace}/{SECOND}"),
            "it is the second router of a pair, which this controller does not support: its configuration would no longer be updated",
            "take `spec.ha` of the Site back while the existing controller manages it, and wait until this Deployment is gone",
        ));
    }
    let Some(site) = space.site() else {
        return findings;
    };
    let of_site = format!("Site {namespace}/{}", site.name_any());
    if site.spec.ha == Some(true) {
        findings.push(Finding::blocks(
            &of_site,
            "`spec.ha` requests a pair of routers, which this controller does not support",
            "take it back while the existing controller manages the namespace",
        ));
    }
    let there = space.observed_router();
    if let Some(deployment) = there.deployment {
        let at = SiteRouter {
            namespace,
            site,
            there,
            deployment,
        };
        findings.extend(check_router(&at, &of_site, chosen));
    }
    findings
}

/// Site with an existing router.
struct SiteRouter<'a> {
    namespace: &'a str,
    site: &'a Site,
    there: ObservedRouter<'a>,
    deployment: &'a Deployment,
}

impl SiteRouter<'_> {
    fn object(&self) -> String {
        format!("Deployment {}/{ROUTER}", self.namespace)
    }

    fn delete(&self) -> String {
        format!(
            "`kubectl --namespace {} delete deployment {ROUTER}`",
            self.namespace
        )
    }

    fn image(&self, container: &str) -> &str {
        self.there.image(container).unwrap_or("no image")
    }
}

/// Returns the findings of the existing router, as far as this controller keeps it.
fn check_router(at: &SiteRouter<'_>, of_site: &str, chosen: &Chosen) -> Vec<Finding> {
    let options = &chosen.routers;
    let is_existing = at.there.image(ADAPTOR).is_some();
    let wanted = at.there.plane_of(&at.site.spec, options.data_plane);
    let adaptor = at.there.adaptor_of(&at.site.spec, options.adaptor);
    match (is_existing, wanted) {
        (true, DataPlane::SkupperRouter) => match options.images.existing(at.there, adaptor) {
            Ok(images) => existing_router(at, images),
            Err(why) => vec![Finding::blocks(of_site, why, "check again with the option")],
        },
        (false, DataPlane::Embedded) => embedded_router(at, &options.images.embedded),
        (true, DataPlane::Embedded) => vec![exchanged(at, "the existing router", "embedded")],
        (false, DataPlane::SkupperRouter) => {
            vec![exchanged(
                at,
                "the router of this project",
                "skupper-router",
            )]
        }
    }
}

/// Returns the finding of a router that another data plane would replace.
fn exchanged(at: &SiteRouter<'_>, router: &str, wanted: &str) -> Finding {
    Finding::blocks(
        &at.object(),
        format!(
            "{router} exists, but `{}` of the Site requests `{wanted}`: parts of the old router would stay in the new one",
            data_plane::SETTING
        ),
        format!(
            "take the setting back; or move all sites that link to it as well, and delete the Deployment when its connections may end, {}",
            at.delete()
        ),
    )
}

fn existing_router(at: &SiteRouter<'_>, images: Existing<'_>) -> Vec<Finding> {
    let account = named(at.site.spec.service_account.as_ref());
    let pods = ExistingPods {
        namespace: at.namespace,
        name: at.site.metadata.name.as_deref().unwrap_or_default(),
        site: at.site.metadata.uid.as_deref().unwrap_or_default(),
        spec: &at.site.spec,
        images,
        account: account.unwrap_or(ROUTER),
        router: json!({}),
        adaptor: json!({}),
    };
    // An adaptor that is exchanged restarts the router anyway.
    let before = at.there.adaptor_of(&SiteSpec::default(), images.kind);
    let containers = match before == images.kind {
        true => &[CONTAINER, ADAPTOR][..],
        false => &[CONTAINER],
    };
    let mut findings = shape(at, existing::deployment(&pods).as_json(), containers);
    let others = [
        (at.image(CONTAINER), images.router),
        (at.image(ADAPTOR), images.adaptor),
    ];
    let adaptor = match images.kind {
        Adaptor::KubeAdaptor => "the existing adaptor",
        Adaptor::LifecycleRouter => "the adaptor of this project",
    };
    let found = format!(
        "the existing router ({}), with {} beside it; it goes on with {adaptor}",
        at.image(CONTAINER),
        at.image(ADAPTOR)
    );
    findings.push(Finding::note(&at.object(), found + &changes(&others), ""));
    findings
}

fn embedded_router(at: &SiteRouter<'_>, image: &str) -> Vec<Finding> {
    let account = named(at.site.spec.service_account.as_ref());
    let pods = RouterPods {
        namespace: at.namespace,
        site: at.site.metadata.uid.as_deref().unwrap_or_default(),
        image,
        account: account.unwrap_or(ROUTER),
        resources: json!({}),
        logging: setting(&at.site.spec, LOGGING),
    };
    let mut findings = shape(at, objects::deployment(&pods).as_json(), &[CONTAINER]);
    let found = format!("the router of this project ({})", at.image(CONTAINER));
    let changes = changes(&[(at.image(CONTAINER), image)]);
    findings.push(Finding::note(&at.object(), found + &changes, ""));
    findings
}

/// Images that would be others, which restarts the router.
fn changes(images: &[(&str, &str)]) -> String {
    let others = images.iter().filter(|(there, wanted)| there != wanted);
    let others: Vec<String> = others
        .map(|(there, wanted)| format!("{there} becomes {wanted}"))
        .collect();
    match others.is_empty() {
        true => "; no image changes".to_owned(),
        false => format!("; {}, so that it starts anew once", others.join(" and ")),
    }
}

/// The fields of a Deployment that this controller cannot write, or only with a router that starts anew.
fn shape(at: &SiteRouter<'_>, wanted: &Value, compared: &[&str]) -> Vec<Finding> {
    let live = serde_json::to_value(at.deployment).unwrap_or_default();
    let mut findings = Vec::new();
    let (there, ours) = (&live["spec"]["selector"], &wanted["spec"]["selector"]);
    if there != ours {
        findings.push(Finding::blocks(
            &at.object(),
            format!("its selector is {there} and not {ours}; a selector is immutable, so the API server would refuse the Deployment of this controller"),
            format!("delete it when its connections may end, {}: the controller makes it anew", at.delete()),
        ));
    }
    for name in compared {
        let there = ports(container(&live, name));
        let ours = ports(container(wanted, name));
        let lacks: Vec<String> = ours.difference(&there).cloned().collect();
        if !lacks.is_empty() {
            findings.push(Finding::blocks(
                &at.object(),
                format!("its container `{name}` lacks the ports {}, which this controller would add, so that the router starts anew", lacks.join(", ")),
                format!("add them beforehand, or delete it, {}, when its connections may end: the controller makes it anew", at.delete()),
            ));
        }
    }
    findings
}

/// Returns the container of a Deployment with this name; `Null` if it does not exist.
fn container<'a>(deployment: &'a Value, name: &str) -> &'a Value {
    let all = deployment["spec"]["template"]["spec"]["containers"].as_array();
    let mut all = all.into_iter().flatten();
    all.find(|one| one["name"] == name).unwrap_or(&Value::Null)
}

/// The ports of a container, as `name number`.
fn ports(container: &Value) -> BTreeSet<String> {
    let all = container["ports"].as_array().into_iter().flatten();
    let text = |port: &Value| {
        let name = port["name"].as_str().unwrap_or_default();
        format!("{name} {}", port["containerPort"])
    };
    all.map(text).collect()
}
