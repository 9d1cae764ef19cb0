//! Objects that an operator manages in its sandbox, by its lifecycles. An object counts as Ready only
//! if its status reports it.

use std::fmt;

use kube::api::{ApiResource, DynamicObject};
use kube::{Client, ResourceExt as _};
use lifecycle_runtime::lifecycle::Kind;

use crate::cluster::manifests::Manifest;
use crate::follow::{self, Subjects};
use crate::passes::PassLine;
use crate::updates::Updates;

/// Each lifecycle by its path, with the kind of its objects.
pub(super) struct Managed(pub(super) Vec<(&'static str, Kind)>);

/// Printed name of a followed object. No two objects have the same name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Followed {
    namespace: Option<String>,
    /// Kind of the object, if there are several. Includes the group if two groups have a kind of
    /// that name.
    kind: Option<String>,
    name: String,
}

impl fmt::Display for Followed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in [&self.namespace, &self.kind].into_iter().flatten() {
            write!(f, "{part}/")?;
        }
        f.write_str(&self.name)
    }
}

impl Managed {
    /// The kinds.
    pub(super) fn kinds(&self) -> impl Iterator<Item = &Kind> {
        self.0.iter().map(|(_, kind)| kind)
    }

    /// Those that manifests make.
    pub(super) fn expected_objects(&self, manifests: &[Manifest]) -> Vec<Followed> {
        let mut all = Vec::new();
        for manifest in manifests {
            let of = manifest.kind();
            let is = |kind: &&Kind| kind.group == of.group && kind.kind == of.kind;
            let Some(kind) = self.kinds().find(is) else {
                continue;
            };
            let namespace = kind.namespaced.then(|| manifest.namespace());
            let one = self.named(kind, namespace, manifest.name());
            if !all.contains(&one) {
                all.push(one);
            }
        }
        all
    }

    fn named(&self, kind: &Kind, namespace: Option<String>, name: String) -> Followed {
        let several = self.0.len() > 1;
        let is_other = |other: &Kind| other.kind == kind.kind && other.group != kind.group;
        let group = (!kind.group.is_empty() && self.kinds().any(is_other))
            .then(|| format!(".{}", kind.group));
        let lower = kind.kind.to_lowercase();
        Followed {
            namespace,
            kind: several.then(|| lower + &group.unwrap_or_default()),
            name,
        }
    }

    fn key(&self, at: usize, object: &DynamicObject) -> Followed {
        let (_, kind) = &self.0[at];
        self.named(kind, object.namespace(), object.name_any())
    }

    fn note_status(&self, at: usize, object: &DynamicObject, updates: &mut Updates<Followed>) {
        let of = self.key(at, object);
        match follow::ready(object) {
            Some(said) => {
                let line = format!("{:<12}  {said}", "Ready").trim_end().to_owned();
                updates.met(of, line);
            }
            None => updates.unmet(&of),
        }
    }
}

impl Subjects for Managed {
    type Name = Followed;

    fn kinds(&self) -> Vec<ApiResource> {
        self.kinds().map(resource_of).collect()
    }

    fn name(&self, at: usize, object: &DynamicObject) -> Option<Followed> {
        Some(self.key(at, object))
    }

    fn reconciled(&self, pass: &PassLine) -> Option<(Followed, bool)> {
        let (_, kind) = self.0.iter().find(|(path, _)| *path == pass.lifecycle)?;
        let of = self.named(kind, pass.of.namespace.clone(), pass.of.name.clone());
        Some((of, pass.reports))
    }

    async fn changed(
        &self,
        _: &Client,
        at: usize,
        object: &DynamicObject,
        updates: &mut Updates<Followed>,
    ) {
        self.note_status(at, object, updates);
    }
}

fn resource_of(kind: &Kind) -> ApiResource {
    ApiResource {
        group: kind.group.clone(),
        version: kind.version.clone(),
        api_version: kind.api_version(),
        kind: kind.kind.clone(),
        plural: kind.plural.clone(),
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use lifecycle_runtime::ObjectRef;
    use lifecycle_runtime::machine::ir::Phase;
    use serde_json::json;

    use super::*;

    fn of_one() -> Managed {
        Managed(vec![("of::one", Kind::for_type::<ConfigMap>())])
    }

    fn note_pass(managed: &Managed, pass: PassLine, updates: &mut Updates<Followed>) {
        let (of, reports) = managed.reconciled(&pass).unwrap();
        updates.passed(of, (pass.phase, pass.line), reports);
    }

    /// A kind of the same name in another group.
    fn other() -> Kind {
        let mut kind = Kind::for_type::<ConfigMap>();
        "example.org".clone_into(&mut kind.group);
        kind
    }

    fn object(status: &str, generation: i64) -> DynamicObject {
        let ready = json!({ "type": "Ready", "status": status, "observedGeneration": generation, "message": "all is well" });
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a", "namespace": "d", "generation": 2 },
            "status": { "conditions": [ready] },
        });
        serde_json::from_value(object).unwrap()
    }

    fn pass(lifecycle: &'static str, phase: Phase, reports: bool) -> PassLine {
        let line = "Rolling       Going: one of two".to_owned();
        PassLine {
            lifecycle,
            of: ObjectRef::new::<ConfigMap>(Some("d"), "a"),
            phase,
            line,
            reports,
        }
    }

    fn manifests(kinds: &[(&str, &str)]) -> Vec<Manifest> {
        let one = |(version, kind): &(&str, &str)| {
            format!(
                "apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a, namespace: d}}\n---\n"
            )
        };
        let text: String = kinds.iter().map(one).collect();
        Manifest::parse(std::path::Path::new("a.yaml"), &text).unwrap()
    }

    fn display_names(all: &[Followed]) -> Vec<String> {
        all.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn only_a_status_of_the_present_generation_makes_it_ready() {
        let (managed, mut updates) = (of_one(), Updates::begin());
        let a = managed
            .expected_objects(&manifests(&[("v1", "ConfigMap")]))
            .remove(0);
        for stale in [object("True", 1), object("False", 2)] {
            managed.note_status(0, &stale, &mut updates);
            assert_eq!(updates.last(&a), None, "{stale:?}");
        }
        note_pass(&managed, pass("of::one", Phase::Ready, true), &mut updates);
        assert_eq!(updates.last(&a), None);
        managed.note_status(0, &object("True", 2), &mut updates);
        let said = updates.last(&a).unwrap();
        assert_eq!(
            (said.line.as_str(), said.ready),
            ("Ready         all is well", true)
        );
    }

    #[test]
    fn of_two_kinds_of_one_name_each_object_is_told_by_its_group() {
        let core = Kind::for_type::<ConfigMap>();
        let managed = Managed(vec![("of::one", core), ("of::other", other())]);
        let mut updates = Updates::begin();
        let both = [("v1", "ConfigMap"), ("example.org/v1", "ConfigMap")];
        let wanted = managed.expected_objects(&manifests(&both));
        let names = ["d/configmap/a", "d/configmap.example.org/a"];
        assert_eq!(display_names(&wanted), names);
        note_pass(
            &managed,
            pass("of::other", Phase::Ready, false),
            &mut updates,
        );
        assert!(!updates.are_ready(&wanted));
        assert_eq!(
            updates.unready(&wanted),
            "d/configmap/a: nothing was seen of it"
        );
        managed.note_status(0, &object("True", 2), &mut updates);
        assert!(updates.are_ready(&wanted));
    }

    #[test]
    fn only_manifests_of_its_kinds_are_waited_for() {
        let all = [
            ("v1", "ConfigMap"),
            ("v1", "Secret"),
            ("example.org/v1", "ConfigMap"),
        ];
        assert_eq!(
            display_names(&of_one().expected_objects(&manifests(&all))),
            ["d/a"]
        );
    }
}
