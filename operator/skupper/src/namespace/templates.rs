//! Labels and annotations that users want on generated objects. ConfigMaps labelled
//! `skupper.io/label-template`, of the namespace or of the controller's, carry them themselves and
//! name the objects to which they apply. Pure.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Resource, ResourceExt};
use lifecycle_runtime::selector::LabelSelector;
use lifecycle_runtime::{Desired, ObjectRef};
use serde_json::{Map, Value};

use super::controller_id::ControllerId;

/// On ConfigMaps that are templates, with any value.
pub const TEMPLATE: &str = "skupper.io/label-template";
/// Prefix of the keys that mark our own objects. No template may set them.
const OURS: &str = "internal.skupper.io/";
/// Labels and annotations of the template itself, which are not copied.
const OWN: [&str; 2] = [TEMPLATE, "kubectl.kubernetes.io/last-applied-configuration"];

/// The templates that concern an object: of its namespace, and of the controller's.
pub fn concerning(meta: &ObjectMeta, controller_id: &ControllerId) -> BTreeSet<ObjectRef> {
    let spaces = [meta.namespace.as_deref(), Some(controller_id.namespace())];
    let labelled = |space| ObjectRef::labelled::<ConfigMap>(space, TEMPLATE);
    spaces.map(labelled).into()
}

/// A template that can be read.
struct Template<'a> {
    map: &'a ConfigMap,
    selector: LabelSelector,
}

/// Returns the value of a template under a key; None if empty.
fn template_text<'a>(map: &'a ConfigMap, key: &str) -> Option<&'a str> {
    let text = map.data.as_ref()?.get(key)?.trim();
    (!text.is_empty()).then_some(text)
}

impl<'a> Template<'a> {
    fn from_config_map(map: &'a ConfigMap) -> Result<Self, String> {
        let selector = template_text(map, "labelSelector").unwrap_or_default();
        let selector = LabelSelector::parse(selector).map_err(|why| why.to_string())?;
        Ok(Self { map, selector })
    }

    fn is_for(&self, kind: &str, name: &str, labels: &BTreeMap<String, String>) -> bool {
        let is =
            |key: &str, own: &str| template_text(self.map, key).is_none_or(|wanted| wanted == own);
        is("kind", kind) && is("name", name) && self.selector.matches(labels)
    }

    /// Returns true if the template applies to Pods. A change replaces Pods, which ends their
    /// connections, so templates apply to them only on request.
    fn is_for_pods(&self) -> bool {
        template_text(self.map, "includePods") == Some("true")
    }

    /// Returns the template's own labels or annotations that it gives to objects.
    fn gives(&self, own: &'a BTreeMap<String, String>) -> impl Iterator<Item = (&'a str, &'a str)> {
        let excluded = template_text(self.map, "exclude").unwrap_or_default();
        let excluded: BTreeSet<&str> = excluded.split(',').map(str::trim).collect();
        let given = own
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()));
        given.filter(move |(key, _)| {
            !OWN.contains(key) && !key.starts_with(OURS) && !excluded.contains(key)
        })
    }
}

/// Templates that concern an object, in the order in which they are applied: a later one takes
/// precedence.
pub struct Templates<'a>(Vec<Template<'a>>);

impl<'a> Templates<'a> {
    /// Orders the templates. Those of the controller's namespace take precedence over those of
    /// others; within one namespace, the last by name does. A template that cannot be read counts
    /// as absent.
    pub fn from_config_maps(maps: &[&'a ConfigMap], controller_id: &ControllerId) -> Self {
        let mut maps = maps.to_vec();
        let is_controllers =
            |map: &ConfigMap| map.namespace().as_deref() == Some(controller_id.namespace());
        maps.sort_by_cached_key(|map| (is_controllers(map), map.name_any()));
        Self(
            maps.into_iter()
                .flat_map(Template::from_config_map)
                .collect(),
        )
    }

    /// Returns an object with the labels and annotations of the templates. The values of the object
    /// itself stay.
    pub fn on<K: Resource<DynamicType = ()>>(&self, mut object: Desired<K>) -> Desired<K> {
        let meta = &object.as_json()["metadata"];
        let name = meta["name"].as_str().unwrap_or_default();
        let labels = serde_json::from_value(meta["labels"].clone()).unwrap_or_default();
        let fits = |template: &&Template<'_>| template.is_for(&K::kind(&()), name, &labels);
        let fitting: Vec<_> = self.0.iter().filter(fits).collect();
        let fields = object.as_json_mut();
        lay(&fitting, &mut fields["metadata"]);
        if let Some(pods) = fields.pointer_mut("/spec/template/metadata") {
            let fitting: Vec<_> = fitting.into_iter().filter(|t| t.is_for_pods()).collect();
            lay(&fitting, pods);
        }
        object
    }
}

fn lay(templates: &[&Template<'_>], meta: &mut Value) {
    for part in ["labels", "annotations"] {
        let given = templates.iter().flat_map(|template| {
            let own = match part {
                "labels" => template.map.labels(),
                _ => template.map.annotations(),
            };
            template.gives(own)
        });
        let mut whole: Map<String, Value> = given
            .map(|(key, value)| (key.to_owned(), Value::from(value)))
            .collect();
        if let Some(own) = meta[part].as_object() {
            whole.extend(own.clone());
        }
        if !whole.is_empty() {
            meta[part] = Value::Object(whole);
        }
    }
}

/// Returns the templates that cannot be read, with the reasons, one line each.
pub fn broken(maps: &[&ConfigMap]) -> Vec<String> {
    let why = maps.iter().filter_map(|map| {
        let why = Template::from_config_map(map).err()?;
        let map = ObjectRef::to(*map);
        Some(format!(
            "{map} is no label template, for its labelSelector cannot be read: {why}"
        ))
    });
    let mut lines: Vec<String> = why.collect();
    lines.sort();
    lines
}

#[cfg(test)]
mod tests;
