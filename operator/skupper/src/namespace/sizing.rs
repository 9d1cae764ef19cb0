//! Resources of the Pods of routers. ConfigMaps labelled `skupper.io/site-sizing` are sizes, of the
//! namespace or of the controller's. A Site names one by its setting `size`. Pure.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt;
use lifecycle_runtime::ObjectRef;
use serde_json::{Value, json};

use super::controller_id::ControllerId;

/// On ConfigMaps that are sizes, with the name of the size.
pub const SIZING: &str = "skupper.io/site-sizing";
/// On the one that counts where a Site names none, with any value.
const DEFAULT: &str = "skupper.io/default-site-sizing";
/// The setting of a Site.
pub const SETTING: &str = "size";
/// Prefix of the keys of a size that apply to a router.
const ROUTER: &str = "router";
/// Prefix of the keys that apply to the adaptor beside an existing router.
const ADAPTOR: &str = "adaptor";

/// The sizes that concern an object: of its namespace, and of the controller's.
pub fn concerning(meta: &ObjectMeta, controller_id: &ControllerId) -> BTreeSet<ObjectRef> {
    let spaces = [meta.namespace.as_deref(), Some(controller_id.namespace())];
    let labelled = |space| ObjectRef::labelled::<ConfigMap>(space, SIZING);
    spaces.map(labelled).into()
}

/// Resources of a router.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizing {
    /// Resources of the router, in the form of a container's `resources`.
    pub router: Option<Value>,
    /// Resources of the adaptor beside an existing router, in the form of a container's
    /// `resources`.
    pub adaptor: Option<Value>,
    /// Parts of the size that cannot be given, with the reasons, one line each.
    pub lacks: Vec<String>,
}

/// Returns the resources of a router of this project without a size. The maximum number of its
/// connections needs less.
pub fn unsaid() -> Value {
    json!({ "requests": { "cpu": "50m", "memory": "32Mi" }, "limits": { "memory": "512Mi" } })
}

/// By the size that a Site names; the one of its own namespace goes before that of the controller's, and of several there the first by name.
pub fn resolve_sizing(
    maps: &[&ConfigMap],
    wanted: Option<&str>,
    controller_id: &ControllerId,
) -> Sizing {
    let mut maps = maps.to_vec();
    maps.sort_by_cached_key(|map| {
        let of_controller = map.namespace().as_deref() == Some(controller_id.namespace());
        (of_controller, map.name_any())
    });
    let named = |map: &&&ConfigMap| map.labels().get(SIZING).map(String::as_str) == wanted;
    let default = |map: &&&ConfigMap| map.annotations().contains_key(DEFAULT);
    let found = wanted.and_then(|_| maps.iter().find(named));
    let mut lacks = Vec::new();
    if let (Some(wanted), None) = (wanted, found) {
        lacks.push(format!(
            "spec.settings.{SETTING} \"{wanted}\" is no size: no ConfigMap of this namespace or of the controller's has the label {SIZING}={wanted}"
        ));
    }
    let Some(map) = found.or_else(|| maps.iter().find(default)) else {
        return Sizing {
            router: None,
            adaptor: None,
            lacks,
        };
    };
    let mut given = Given::default();
    for (key, text) in map.data.iter().flatten() {
        if let Err(why) = given.take(key, text) {
            lacks.push(format!("{}: {why}", ObjectRef::to(*map)));
        }
    }
    for why in given.settle() {
        lacks.push(format!("{}: {why}", ObjectRef::to(*map)));
    }
    Sizing {
        router: given.resources(ROUTER),
        adaptor: given.resources(ADAPTOR),
        lacks,
    }
}

/// The contents of a size: by container, `requests` or `limits`, and resource.
#[derive(Default)]
struct Given(BTreeMap<ResourceSlot, (String, f64)>);

type ResourceSlot = (&'static str, &'static str, &'static str);

impl Given {
    fn take(&mut self, key: &str, text: &str) -> Result<(), String> {
        let place = match key {
            "router-cpu-request" => (ROUTER, "requests", "cpu"),
            "router-cpu-limit" => (ROUTER, "limits", "cpu"),
            "router-memory-request" => (ROUTER, "requests", "memory"),
            "router-memory-limit" => (ROUTER, "limits", "memory"),
            "adaptor-cpu-request" => (ADAPTOR, "requests", "cpu"),
            "adaptor-cpu-limit" => (ADAPTOR, "limits", "cpu"),
            "adaptor-memory-request" => (ADAPTOR, "requests", "memory"),
            "adaptor-memory-limit" => (ADAPTOR, "limits", "memory"),
            _ => {
                return Err(format!(
                    "`{key}` is not a router setting: use router-cpu-request, router-cpu-limit, router-memory-request or router-memory-limit"
                ));
            }
        };
        let text = text.trim();
        let quantity = quantity(text).ok_or_else(|| {
            format!("{key} \"{text}\" is not a quantity: write it as `500m` or `256Mi`")
        })?;
        self.0.insert(place, (text.to_owned(), quantity));
        Ok(())
    }

    /// Removes requests that exceed their limit, which every API server refuses, and reports them.
    fn settle(&mut self) -> Vec<String> {
        let mut lacks = Vec::new();
        let containers = [ROUTER, ADAPTOR];
        let all = containers
            .into_iter()
            .flat_map(|of| [(of, "cpu"), (of, "memory")]);
        for (of, resource) in all {
            let (asked, limit) = ((of, "requests", resource), (of, "limits", resource));
            let (Some((text, least)), Some((most, limit))) =
                (self.0.get(&asked), self.0.get(&limit))
            else {
                continue;
            };
            if least > limit {
                lacks.push(format!(
                    "{of}-{resource}-request {text} is more than {of}-{resource}-limit {most}, and is left out"
                ));
                self.0.remove(&asked);
            }
        }
        lacks
    }

    fn resources(&self, container: &str) -> Option<Value> {
        let mut resources: Option<Value> = None;
        for ((of, at, resource), (text, _)) in &self.0 {
            if *of == container {
                resources.get_or_insert_default()[at][resource] = text.as_str().into();
            }
        }
        resources
    }
}

/// How much a quantity of Kubernetes is, near enough to compare two. Of the crates that read them, `kube_quantity` brings sixteen others.
fn quantity(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 15] = [
        ("Ki", 1024.0),
        ("Mi", 1_048_576.0),
        ("Gi", 1_073_741_824.0),
        ("Ti", 1_099_511_627_776.0),
        ("Pi", 1_125_899_906_842_624.0),
        ("Ei", 1_152_921_504_606_846_976.0),
        ("n", 1e-9),
        ("u", 1e-6),
        ("m", 1e-3),
        ("k", 1e3),
        ("M", 1e6),
        ("G", 1e9),
        ("T", 1e12),
        ("P", 1e15),
        ("E", 1e18),
    ];
    let unit = UNITS
        .into_iter()
        .find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)));
    let (number, factor) = unit.unwrap_or((text, 1.0));
    // Signs are not accepted, nor are other forms that Rust parses as a number, such as `inf`.
    let is_number = number.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let number: f64 = is_number.then(|| number.parse().ok())??;
    number.is_finite().then_some(number * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(namespace: &str, name: &str, is_default: bool, data: Value) -> ConfigMap {
        let mut metadata = json!({ "namespace": namespace, "name": format!("{name}-{namespace}"), "labels": { SIZING: name } });
        if is_default {
            metadata["annotations"] = json!({ DEFAULT: "" });
        }
        serde_json::from_value(json!({ "metadata": metadata, "data": data })).unwrap()
    }

    fn check(maps: &[ConfigMap], wanted: Option<&str>, expected: Value, lacks: &[&str]) {
        let maps: Vec<&ConfigMap> = maps.iter().collect();
        let found = resolve_sizing(&maps, wanted, &ControllerId::new("skupper", "controller"));
        assert_eq!(found.router.unwrap_or_else(unsaid), expected);
        assert_eq!(found.lacks, lacks);
    }

    #[test]
    fn a_site_gets_the_size_that_it_names_or_the_one_for_all() {
        let cpu = |text: &str| json!({ "router-cpu-request": text, "adaptor-cpu-limit": "1" });
        let asks = |text: &str| json!({ "requests": { "cpu": text } });
        let maps = [
            size("skupper", "small", true, cpu("100m")),
            size("skupper", "large", false, cpu("2")),
            size("west", "large", false, cpu("3")),
        ];
        check(&maps, None, asks("100m"), &[]);
        check(&maps, Some("small"), asks("100m"), &[]);
        check(&maps, Some("large"), asks("3"), &[]);
        check(&maps[..2], Some("large"), asks("2"), &[]);
        check(&maps[1..], None, unsaid(), &[]);
        let none = "spec.settings.size \"huge\" is no size: no ConfigMap of this namespace or of the controller's has the label skupper.io/site-sizing=huge";
        check(&maps, Some("huge"), asks("100m"), &[none]);
        check(&[], Some("huge"), unsaid(), &[none]);
    }

    #[test]
    fn quantities_are_read_as_kubernetes_reads_them() {
        for (text, expected) in [
            ("1", 1.0),
            ("0.5", 0.5),
            (".5", 0.5),
            ("1500m", 1.5),
            ("2Ki", 2048.0),
            ("1e3", 1000.0),
            ("1E3", 1000.0),
            ("2E", 2e18),
        ] {
            assert_eq!(quantity(text), Some(expected), "{text}");
        }
        for text in ["", "-1", "+1", "inf", "nan", "1 Gi", "1gi", "much", "m"] {
            assert_eq!(quantity(text), None, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_given_is_said_and_the_rest_is_given() {
        let data = json!({
            "router-cpu-request": "2", "router-cpu-limit": "500m", "router-memory-request": "64Mi",
            "router-memory-limit": "much", "memory": "1Gi",
        });
        let maps = [size("west", "odd", false, data)];
        let whole = json!({ "limits": { "cpu": "500m" }, "requests": { "memory": "64Mi" } });
        check(
            &maps,
            Some("odd"),
            whole,
            &[
                "ConfigMap `west/odd-west`: `memory` is not a router setting: use router-cpu-request, router-cpu-limit, router-memory-request or router-memory-limit",
                "ConfigMap `west/odd-west`: router-memory-limit \"much\" is not a quantity: write it as `500m` or `256Mi`",
                "ConfigMap `west/odd-west`: router-cpu-request 2 is more than router-cpu-limit 500m, and is left out",
            ],
        );
        let bad = [size(
            "west",
            "bad",
            false,
            json!({ "router-cpu-limit": "-1" }),
        )];
        let said = "ConfigMap `west/bad-west`: router-cpu-limit \"-1\" is not a quantity: write it as `500m` or `256Mi`";
        check(&bad, Some("bad"), unsaid(), &[said]);
    }
}
