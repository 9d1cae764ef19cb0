//! Discovery of an API server: its version, and the kinds that it serves, in the aggregated form
//! and in the older ones. Knows the table of kinds, no objects.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::kinds::{Kind, Kinds, Version};

/// The media type of the aggregated form, which its answer must repeat.
pub(crate) const AGGREGATED: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// The version that the simulated server behaves as.
pub(crate) const VERSION: &str = "v1.36.3";

/// Groups in the order of a real server's preference. A short name that two groups share means the
/// first one.
const ORDER: [&str; 16] = [
    "",
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
];

const VERBS: [&str; 8] = [
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
];
/// A definition's kinds name the same verbs in another order.
const CUSTOM_VERBS: [&str; 8] = [
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
];

/// An answer: its media type and its body.
pub(crate) type Answer = (&'static str, Value);

/// The answer to a path of discovery; nothing where the path is none, or names a group or version that is not served.
pub(crate) fn answer(path: &str, accept: &str, kinds: &Kinds) -> Option<Answer> {
    let aggregated = accept.split(',').any(|part| {
        let part = part.replace(' ', "");
        part.contains("g=apidiscovery.k8s.io") && part.contains("v=v2;") | part.ends_with("v=v2")
    });
    let groups = Groups::from_kinds(kinds);
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        ["version"] => Some(plain(version())),
        ["api"] if aggregated => Some((AGGREGATED, groups.aggregated(|group| group.is_empty()))),
        ["apis"] if aggregated => Some((AGGREGATED, groups.aggregated(|group| !group.is_empty()))),
        ["api"] => Some(plain(core_versions())),
        ["apis"] => Some(plain(groups.list())),
        ["api", version] => groups.resources("", version).map(plain),
        ["apis", group] => groups.group(group).map(plain),
        ["apis", group, version] => groups.resources(group, version).map(plain),
        _ => None,
    }
}

fn plain(body: Value) -> Answer {
    ("application/json", body)
}

fn version() -> Value {
    let mut parts = VERSION.trim_start_matches('v').split('.');
    json!({
        "major": parts.next(),
        "minor": parts.next(),
        "gitVersion": format!("{VERSION}+simulated"),
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "none",
        "compiler": "rustc",
        "platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
    })
}

fn core_versions() -> Value {
    let any = json!([{ "clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1" }]);
    json!({ "kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": any })
}

/// Served kinds, by group in the order of preference, then by version in the order of preference.
struct Groups<'a>(Vec<(&'a str, Versions<'a>)>);

/// The versions of a group with the kinds that each serves.
type Versions<'a> = Vec<(&'a str, Vec<Served<'a>>)>;

/// One kind in one version.
#[derive(Clone, Copy)]
struct Served<'a> {
    kind: &'a Kind,
    version: &'a Version,
}

impl<'a> Groups<'a> {
    fn from_kinds(kinds: &'a Kinds) -> Self {
        let mut groups: BTreeMap<(usize, &str), Versions<'_>> = BTreeMap::new();
        for kind in kinds.all().map(Arc::as_ref) {
            let place = ORDER
                .iter()
                .position(|group| *group == kind.group)
                .unwrap_or(ORDER.len());
            let versions = groups.entry((place, &kind.group)).or_default();
            for version in kind.versions.iter().filter(|version| version.served) {
                let served = Served { kind, version };
                match versions.iter_mut().find(|(name, _)| *name == version.name) {
                    Some((_, all)) => all.push(served),
                    None => versions.push((&version.name, vec![served])),
                }
            }
        }
        for versions in groups.values_mut() {
            versions.sort_by_key(|(name, _)| std::cmp::Reverse(priority(name)));
        }
        let groups = groups
            .into_iter()
            .filter(|(_, versions)| !versions.is_empty());
        Self(
            groups
                .map(|((_, group), versions)| (group, versions))
                .collect(),
        )
    }

    fn find(&self, group: &str) -> Option<&[(&'a str, Vec<Served<'a>>)]> {
        self.0
            .iter()
            .find(|(name, _)| *name == group)
            .map(|(_, versions)| versions.as_slice())
    }

    fn aggregated(&self, wanted: impl Fn(&str) -> bool) -> Value {
        let groups = self.0.iter().filter(|(group, _)| wanted(group));
        let items: Vec<Value> = groups
            .map(|(group, versions)| {
                let versions: Vec<Value> = versions
                    .iter()
                    .map(|(version, served)| {
                        let resources: Vec<Value> = served.iter().map(|one| one.aggregated()).collect();
                        json!({ "version": version, "resources": resources, "freshness": "Current" })
                    })
                    .collect();
                json!({ "metadata": { "name": group, "creationTimestamp": null }, "versions": versions })
            })
            .collect();
        json!({ "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items })
    }

    fn list(&self) -> Value {
        let named = self.0.iter().filter(|(group, _)| !group.is_empty());
        let groups: Vec<Value> = named
            .map(|(group, versions)| described(group, versions))
            .collect();
        json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups })
    }

    fn group(&self, group: &str) -> Option<Value> {
        let mut found = described(group, self.find(group)?);
        found["kind"] = "APIGroup".into();
        found["apiVersion"] = "v1".into();
        Some(found)
    }

    fn resources(&self, group: &str, version: &str) -> Option<Value> {
        let (_, served) = self
            .find(group)?
            .iter()
            .find(|(name, _)| *name == version)?;
        let resources: Vec<Value> = served.iter().flat_map(Served::listed).collect();
        let group_version = served.first()?.kind.api_version(version);
        let mut list = json!({ "kind": "APIResourceList", "groupVersion": group_version, "resources": resources });
        if !group.is_empty() {
            list["apiVersion"] = "v1".into();
        }
        Some(list)
    }
}

fn described(group: &str, versions: &[(&str, Vec<Served<'_>>)]) -> Value {
    let one =
        |version: &str| json!({ "groupVersion": format!("{group}/{version}"), "version": version });
    let all: Vec<Value> = versions.iter().map(|(version, _)| one(version)).collect();
    json!({ "name": group, "versions": all, "preferredVersion": all.first() })
}

/// `v2` before `v1` before `v1beta2` before `v1beta1` before `v1alpha1` before all that is no such word.
fn priority(version: &str) -> (u8, u32, u32) {
    let Some(rest) = version.strip_prefix('v') else {
        return (0, 0, 0);
    };
    let number = |text: &str| text.parse::<u32>().ok();
    for (word, stage) in [("alpha", 1), ("beta", 2)] {
        if let Some((major, minor)) = rest.split_once(word) {
            return match (number(major), number(minor)) {
                (Some(major), Some(minor)) => (stage, major, minor),
                _ => (0, 0, 0),
            };
        }
    }
    number(rest).map_or((0, 0, 0), |major| (3, major, 0))
}

impl Served<'_> {
    fn verbs(&self) -> Vec<&'static str> {
        match (self.kind.virtual_only, self.kind.custom) {
            (true, _) => vec!["create"],
            (false, true) => CUSTOM_VERBS.to_vec(),
            // Namespaces cannot be deleted all at once.
            (false, false) if self.kind.is("", "namespaces") => VERBS
                .into_iter()
                .filter(|verb| *verb != "deletecollection")
                .collect(),
            (false, false) => VERBS.to_vec(),
        }
    }

    fn aggregated(&self) -> Value {
        let kind = self.kind;
        let mut resource = json!({
            "resource": kind.plural,
            "responseKind": { "group": kind.group, "version": self.version.name, "kind": kind.kind },
            "scope": if kind.namespaced { "Namespaced" } else { "Cluster" },
            "singularResource": kind.singular,
            "verbs": self.verbs(),
        });
        self.name_shortly(&mut resource);
        let subresources: Vec<Value> = self
            .subresources()
            .map(|(name, (group, version, kind), verbs)| {
                json!({
                    "subresource": name,
                    "responseKind": { "group": group, "version": version, "kind": kind },
                    "verbs": verbs,
                })
            })
            .collect();
        if !subresources.is_empty() {
            resource["subresources"] = subresources.into();
        }
        resource
    }

    fn listed(&self) -> Vec<Value> {
        let kind = self.kind;
        let mut resource = json!({
            "name": kind.plural,
            "singularName": kind.singular,
            "namespaced": kind.namespaced,
            "kind": kind.kind,
            "verbs": self.verbs(),
        });
        self.name_shortly(&mut resource);
        let subresources = self
            .subresources()
            .map(|(name, (group, version, response), verbs)| {
                let mut subresource = json!({
                    "name": format!("{}/{name}", kind.plural),
                    "singularName": "",
                    "namespaced": kind.namespaced,
                    "kind": response,
                    "verbs": verbs,
                });
                if group != kind.group {
                    subresource["group"] = group.into();
                    subresource["version"] = version.into();
                }
                subresource
            });
        std::iter::once(resource).chain(subresources).collect()
    }

    fn name_shortly(&self, resource: &mut Value) {
        for (field, words) in [
            ("shortNames", &self.kind.short_names),
            ("categories", &self.kind.categories),
        ] {
            if !words.is_empty() {
                resource[field] = json!(words);
            }
        }
    }

    /// Name, kind of the answer, and verbs of each subresource.
    fn subresources(
        &self,
    ) -> impl Iterator<Item = (&str, (&str, &str, &str), &'static [&'static str])> {
        let own = (
            self.kind.group.as_str(),
            self.version.name.as_str(),
            self.kind.kind.as_str(),
        );
        self.version
            .subresources
            .iter()
            .map(move |name| match name.as_str() {
                "scale" => (
                    "scale",
                    ("autoscaling", "v1", "Scale"),
                    &["get", "patch", "update"][..],
                ),
                "binding" => ("binding", ("", "v1", "Binding"), &["create"][..]),
                "eviction" => ("eviction", ("policy", "v1", "Eviction"), &["create"][..]),
                "token" => (
                    "token",
                    ("authentication.k8s.io", "v1", "TokenRequest"),
                    &["create"][..],
                ),
                "finalize" => ("finalize", own, &["update"][..]),
                name => (name, own, &["get", "patch", "update"][..]),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::super::builtin;
    use super::*;

    fn answer_for(path: &str, accept: &str) -> Option<Answer> {
        answer(path, accept, &builtin::kinds())
    }

    #[test]
    fn the_aggregated_form_is_given_to_those_who_ask_for_it() {
        let accept =
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
        let (media_type, body) = answer_for("/apis", accept).unwrap();
        assert_eq!(media_type, AGGREGATED);
        let groups: Vec<_> = body["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| &item["metadata"]["name"])
            .collect();
        assert_eq!(groups[0], "apps");
        assert!(groups.iter().all(|group| *group != ""));
        let apps = body["items"][0]["versions"][0]["resources"]
            .as_array()
            .unwrap();
        let deployments = apps
            .iter()
            .find(|one| one["resource"] == "deployments")
            .unwrap();
        assert_eq!(deployments["scope"], "Namespaced");
        let scale = deployments["subresources"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["subresource"] == "scale");
        assert_eq!(scale.unwrap()["responseKind"]["group"], "autoscaling");
        let (_, core) = answer_for("/api", accept).unwrap();
        assert_eq!(core["items"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn the_older_forms_list_groups_and_resources() {
        let (media_type, body) = answer_for("/apis", "application/json").unwrap();
        assert_eq!(
            (media_type, &body["kind"]),
            ("application/json", &json!("APIGroupList"))
        );
        assert_eq!(
            answer_for("/api", "*/*").unwrap().1["versions"],
            json!(["v1"])
        );
        let (_, apps) = answer_for("/apis/apps", "").unwrap();
        assert_eq!(apps["preferredVersion"]["groupVersion"], "apps/v1");
        let (_, list) = answer_for("/api/v1", "").unwrap();
        let status = list["resources"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["name"] == "services/status")
            .unwrap();
        assert_eq!(
            (&status["kind"], &status["verbs"]),
            (&json!("Service"), &json!(["get", "patch", "update"]))
        );
    }

    #[test]
    fn what_is_not_served_has_no_answer() {
        for path in [
            "/apis/nothing.example",
            "/apis/apps/v9",
            "/api/v2",
            "/api/v1/pods",
            "/healthz",
        ] {
            assert!(answer_for(path, "").is_none(), "{path}");
        }
    }

    #[test]
    fn versions_are_preferred_as_their_names_say() {
        let mut versions = ["v1beta1", "odd", "v1", "v2", "v1alpha3", "v1beta10"];
        versions.sort_by_key(|name| std::cmp::Reverse(priority(name)));
        assert_eq!(
            versions,
            ["v2", "v1", "v1beta10", "v1beta1", "v1alpha3", "odd"]
        );
    }
}
