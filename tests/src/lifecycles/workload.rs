//! A workload whose versions share its traffic: an immutable Revision for each template, a route
//! over several, and cleanup of the remaining ones.
//!
//! An existing Revision that stays is part of its builder's result, exactly as it was found. Each
//! member of a set is built, and the language cannot express a member that is only created and
//! never compared. Its name derives from the template; Knative counts instead.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{ConfigMap, Service, ServiceSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kube::CustomResource;
use lifecycle_runtime::{Because, Desired, ObjectRef, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of a Workload.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "serving.tests",
    version = "v1",
    kind = "Workload",
    namespaced,
    status = "WorkloadStatus"
)]
pub struct WorkloadSpec {
    /// Image of the newest version: the template.
    pub image: String,
    /// Split of the traffic. Without it, the newest version that is ready receives everything.
    #[serde(default)]
    pub traffic: Vec<Target>,
    /// Number of Revisions without traffic that are kept.
    #[serde(default)]
    pub keep: u8,
}

/// A share of the traffic.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Target {
    /// Of this Revision, or of the newest that is ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// How much of a hundred.
    pub percent: u8,
    /// Name under which it is reachable alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

/// Observed state of a Workload.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct WorkloadStatus {
    /// ConfigurationsReady, RoutesReady, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
    /// URL of the Workload.
    #[serde(default)]
    pub url: Option<String>,
    /// Split of the traffic, by name.
    #[serde(default)]
    pub traffic: Vec<Split>,
}

/// One version of a Workload, as it was when it was made.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "serving.tests",
    version = "v1",
    kind = "Revision",
    namespaced,
    status = "RevisionStatus"
)]
#[schemars(extend("x-kubernetes-validations" = [{ "rule": "self == oldSelf", "message": "a Revision cannot be changed" }]))]
pub struct RevisionSpec {
    /// Image that the Revision runs.
    pub image: String,
}

/// Observed state of a Revision, as its own controller reports it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct RevisionStatus {
    /// True if it can serve.
    #[serde(default)]
    pub ready: Option<bool>,
    /// Why it never will.
    #[serde(default)]
    pub failed: Option<String>,
}

/// Input from which a load balancer makes a route.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "serving.tests",
    version = "v1",
    kind = "Ingress",
    namespaced,
    status = "IngressStatus"
)]
pub struct IngressSpec {
    /// The name that clients ask for.
    pub host: String,
    /// Split of the traffic.
    pub splits: Vec<Split>,
}

/// A Revision and its share.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Split {
    /// Its name.
    pub revision: String,
    /// How much of a hundred.
    pub percent: u8,
    /// Name under which it is reachable alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

/// Observed state of a route, as the load balancer reports it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IngressStatus {
    /// The generation that it speaks of.
    #[serde(default)]
    pub observed_generation: Option<i64>,
    /// Why it cannot be served; it can without.
    #[serde(default)]
    pub failed: Option<String>,
}

/// On each Revision: the name of its Workload.
pub const WORKLOAD: &str = "serving.tests/workload";
/// On each Revision: which generation of its Workload it was made for.
pub const GENERATION: &str = "serving.tests/generation";

include!("../../../macros/core/tests/lifecycles/workload.txt");

/// The logic of a Workload.
pub struct Shares;

fn name_of(revision: &Revision) -> &str {
    revision.metadata.name.as_deref().unwrap_or_default()
}

/// The name of the Revision of a template (FNV-1a).
pub fn version(this: This<'_, Workload>) -> String {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = this.spec.image.bytes().fold(0x811c_9dc5, step);
    format!(
        "{}-{hash:08x}",
        this.meta.name.as_deref().unwrap_or_default()
    )
}

fn generation(revision: &Revision) -> i64 {
    let labels = revision.metadata.labels.as_ref();
    let text = labels.and_then(|labels| labels.get(GENERATION));
    text.and_then(|text| text.parse().ok()).unwrap_or_default()
}

fn is_ready(revision: &Revision) -> bool {
    let status = revision.status.as_ref();
    status.is_some_and(|status| status.ready == Some(true) && status.failed.is_none())
}

/// Of those that can serve the one of the template, or else the newest.
fn serving<'a>(this: This<'_, Workload>, revisions: &[&'a Revision]) -> Option<&'a Revision> {
    let latest = version(this);
    let ready = revisions.iter().copied().filter(|r| is_ready(r));
    ready.max_by_key(|r| (name_of(r) == latest, generation(r), name_of(r)))
}

/// Returns the desired traffic targets, or the default if the spec names none.
fn targets(this: This<'_, Workload>) -> Vec<Target> {
    if this.spec.traffic.is_empty() {
        let all = Target {
            percent: 100,
            ..Target::default()
        };
        return vec![all];
    }
    this.spec.traffic.clone()
}

/// Returns the split of the traffic among the known Revisions.
fn splits(this: This<'_, Workload>, revisions: &[&Revision]) -> Vec<Split> {
    let split = |target: Target| {
        let newest = || serving(this, revisions).map(|r| name_of(r).to_owned());
        Some(Split {
            revision: target.revision.or_else(newest)?,
            percent: target.percent,
            tag: target.tag,
        })
    };
    targets(this).into_iter().filter_map(split).collect()
}

fn host(this: This<'_, Workload>, domain: &ConfigMap) -> String {
    let data = domain.data.as_ref().and_then(|data| data.get("domain"));
    let domain = data.map_or("example.com", String::as_str);
    let (name, namespace) = (&this.meta.name, &this.meta.namespace);
    let part = |text: &Option<String>| text.clone().unwrap_or_default();
    format!("{}.{}.{domain}", part(name), part(namespace))
}

impl WorkloadLogic for Shares {
    fn domain(&self, _: This<'_, Workload>) -> Option<ObjectRef> {
        let name = "config-domain";
        Some(ObjectRef::new::<ConfigMap>(Some("kube-system"), name))
    }

    fn shape(&self, this: This<'_, Workload>) -> Because<Shape> {
        let all = targets(this);
        let sum: u32 = all.iter().map(|target| u32::from(target.percent)).sum();
        let tags: Vec<&String> = all.iter().filter_map(|t| t.tag.as_ref()).collect();
        if tags.iter().collect::<BTreeSet<_>>().len() != tags.len() {
            return Because::new(Shape::BadTag, "two shares have one tag: rename one");
        }
        match sum {
            100 => Because::plain(Shape::Fine),
            _ => Because::new(
                Shape::BadSum,
                format!("the shares of spec.traffic are {sum} together: make them 100"),
            ),
        }
    }

    fn latest(&self, this: This<'_, Workload>, revisions: &[&Revision]) -> Because<Latest> {
        let name = version(this);
        let Some(revision) = revisions.iter().find(|r| name_of(r) == name) else {
            return Because::new(Latest::Deploying, format!("Revision {name} is to be made"));
        };
        let status = revision.status.clone().unwrap_or_default();
        match (status.failed, status.ready) {
            (Some(why), _) => Because::new(Latest::Failed, format!("Revision {name}: {why}")),
            (None, Some(true)) => Because::plain(Latest::Good),
            (None, _) => Because::new(Latest::Deploying, format!("Revision {name} is starting")),
        }
    }

    fn targets(&self, this: This<'_, Workload>, revisions: &[&Revision]) -> Because<Targets> {
        for target in targets(this) {
            let Some(name) = &target.revision else {
                if serving(this, revisions).is_none() {
                    return Because::new(Targets::Unready, "no Revision can serve yet");
                }
                continue;
            };
            match revisions.iter().find(|r| name_of(r) == name) {
                None => {
                    let said = format!("there is no Revision {name}: correct spec.traffic");
                    return Because::new(Targets::Missing, said);
                }
                Some(revision) if !is_ready(revision) => {
                    return Because::new(Targets::Unready, format!("Revision {name} cannot serve"));
                }
                Some(_) => {}
            }
        }
        Because::plain(Targets::All)
    }

    fn lb(&self, _: This<'_, Workload>, ingress: &Ingress) -> Because<Lb> {
        let status = ingress.status.clone().unwrap_or_default();
        if status.observed_generation != ingress.metadata.generation {
            return Because::new(Lb::Waiting, "the load balancer has not taken the route yet");
        }
        match status.failed {
            Some(why) => Because::new(Lb::Bad, why),
            None => Because::plain(Lb::Good),
        }
    }

    fn apply_revisions(&self, at: ApplyRevisions<'_>) -> Vec<Desired<Revision>> {
        let (this, latest) = (at.this, version(at.this));
        let mut needed: BTreeSet<String> = splits(this, &at.revisions)
            .into_iter()
            .map(|split| split.revision)
            .collect();
        needed.insert(latest.clone());
        let mut rest: Vec<&Revision> = at.revisions.to_vec();
        rest.retain(|r| !needed.contains(name_of(r)));
        rest.sort_by_key(|r| std::cmp::Reverse((generation(r), name_of(r).to_owned())));
        let kept = rest.iter().take(usize::from(this.spec.keep));
        needed.extend(kept.map(|r| name_of(r).to_owned()));
        let staying = at.revisions.iter().filter(|r| needed.contains(name_of(r)));
        let mut all: Vec<Desired<Revision>> = staying
            .map(|r| desired(this, name_of(r), generation(r), &r.spec.image))
            .collect();
        if !at.revisions.iter().any(|r| name_of(r) == latest) {
            let generation = this.meta.generation.unwrap_or_default();
            all.push(desired(this, &latest, generation, &this.spec.image));
        }
        all
    }

    fn apply_ingress(&self, at: ApplyIngress<'_>) -> Desired<Ingress> {
        Desired::from_object(&Ingress {
            metadata: ObjectMeta::default(),
            spec: IngressSpec {
                host: host(at.this, at.domain),
                splits: splits(at.this, &at.revisions),
            },
            status: None,
        })
    }

    fn apply_alias(&self, at: ApplyAlias<'_>) -> Desired<Service> {
        let to = host(at.this, at.domain);
        Desired::from_object(&Service {
            spec: Some(ServiceSpec {
                type_: Some("ExternalName".to_owned()),
                external_name: Some(format!(
                    "gateway.{}",
                    &to[to.find('.').map_or(0, |i| i + 1)..]
                )),
                ..ServiceSpec::default()
            }),
            ..Service::default()
        })
    }

    fn url(&self, this: This<'_, Workload>, domain: &ConfigMap) -> Option<String> {
        Some(format!("http://{}", host(this, domain)))
    }

    fn traffic(&self, this: This<'_, Workload>, revisions: &[&Revision]) -> Vec<Split> {
        splits(this, revisions)
    }
}

fn desired(
    this: This<'_, Workload>,
    name: &str,
    generation: i64,
    image: &str,
) -> Desired<Revision> {
    let of = this.meta.name.clone().unwrap_or_default();
    let labels = [(WORKLOAD, of), (GENERATION, generation.to_string())];
    let labels = labels.map(|(key, value)| (key.to_owned(), value));
    Desired::from_object(&Revision {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            labels: Some(BTreeMap::from(labels)),
            ..ObjectMeta::default()
        },
        spec: RevisionSpec {
            image: image.to_owned(),
        },
        status: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(image: &str) -> Workload {
        let spec = WorkloadSpec {
            image: image.to_owned(),
            ..WorkloadSpec::default()
        };
        Workload::new("w", spec)
    }

    fn revision(name: &str, generation: i64, ready: Option<bool>) -> Revision {
        let mut revision = Revision::new(name, RevisionSpec::default());
        let label = (GENERATION.to_owned(), generation.to_string());
        revision.metadata.labels = Some(BTreeMap::from([label]));
        let status = RevisionStatus {
            ready,
            failed: None,
        };
        revision.status = Some(status);
        revision
    }

    #[test]
    fn a_template_names_its_revision() {
        assert_eq!(version(This::new(&workload("one"))), "w-ba2719ef");
    }

    #[test]
    fn traffic_stays_with_the_newest_that_can_serve() {
        let workload = workload("one");
        let this = This::new(&workload);
        let latest = version(this);
        let (old, older) = (
            revision("old", 2, Some(true)),
            revision("older", 1, Some(true)),
        );
        let new = revision(&latest, 3, None);
        let serves = |all: &[&Revision]| serving(this, all).map(|r| name_of(r).to_owned());
        assert_eq!(serves(&[&older, &old, &new]).as_deref(), Some("old"));
        let new = revision(&latest, 0, Some(true));
        assert_eq!(serves(&[&older, &old, &new]), Some(latest));
        assert_eq!(serves(&[]), None);
    }
}
