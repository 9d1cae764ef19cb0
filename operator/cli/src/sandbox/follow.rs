//! Prints the progress of the objects that an operator manages, one line for each change, until all
//! requested ones are Ready. States come from the decisions of each reconcile. An object counts as
//! Ready only if its status reports it.

use std::convert::Infallible;
use std::fmt;
use std::time::Duration;

use anyhow::bail;
use futures::stream::{BoxStream, select_all};
use futures::{StreamExt as _, TryStreamExt as _};
use kube::api::{ApiResource, DynamicObject};
use kube::runtime::watcher::{self, Event};
use kube::{Api, Client, ResourceExt as _};
use lifecycle_runtime::lifecycle::Kind;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::cluster::manifests::Manifest;
use crate::passes::PassLine;
use crate::updates::{Updates, Verdict};

/// Objects that are followed, and the last report on each.
pub(super) struct Follow {
    /// Each lifecycle by its path, with the kind of its objects.
    subjects: Vec<(&'static str, Kind)>,
    passes: UnboundedReceiver<PassLine>,
    updates: Updates<Followed>,
}

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

impl Follow {
    /// Follows the objects of these lifecycles by the decisions of an operator.
    pub(super) fn new(
        subjects: Vec<(&'static str, Kind)>,
        passes: UnboundedReceiver<PassLine>,
    ) -> Self {
        Self {
            subjects,
            passes,
            updates: Updates::begin(),
        }
    }

    /// The kinds.
    pub(super) fn kinds(&self) -> impl Iterator<Item = &Kind> {
        self.subjects.iter().map(|(_, kind)| kind)
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

    /// Prints changes until all wanted objects are Ready, or the time is over.
    pub(super) async fn until_ready(
        &mut self,
        client: &Client,
        wanted: &[Followed],
        limit: Duration,
    ) -> anyhow::Result<Verdict> {
        if wanted.is_empty() {
            return Ok(Verdict::Ready);
        }
        match tokio::time::timeout(limit, self.follow(client, wanted)).await {
            Ok(done) => done.map(|()| Verdict::Ready),
            Err(_) => Ok(self.updates.late(wanted, limit)),
        }
    }

    /// Prints changes for ever.
    pub(super) async fn forever(&mut self, client: &Client) -> Infallible {
        // Without wanted objects, the call ends only with the watch.
        loop {
            if let Err(error) = self.follow(client, &[]).await {
                tracing::debug!("{error}");
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    async fn follow(&mut self, client: &Client, wanted: &[Followed]) -> anyhow::Result<()> {
        let watched = self.kinds().enumerate();
        let mut changes = select_all(watched.map(|(at, kind)| watched_of(client, at, kind)));
        loop {
            tokio::select! {
                biased;
                Some(told) = self.passes.recv() => self.note_pass(told),
                change = changes.try_next() => match change? {
                    Some((at, Event::Apply(object) | Event::InitApply(object))) => self.note_status(at, &object),
                    Some((at, Event::Delete(object))) => self.updates.gone(&self.key(at, &object)),
                    Some((_, Event::Init | Event::InitDone)) => {}
                    None => bail!("the API server ended the watch"),
                },
            }
            if self.updates.are_ready(wanted) {
                return Ok(());
            }
        }
    }

    fn note_pass(&mut self, told: PassLine) {
        let mut subjects = self.subjects.iter();
        let Some((_, kind)) = subjects.find(|(path, _)| *path == told.lifecycle) else {
            return;
        };
        let of = self.named(kind, told.of.namespace, told.of.name);
        self.updates
            .passed(of, (told.phase, told.line), told.reports);
    }

    fn note_status(&mut self, at: usize, object: &DynamicObject) {
        let of = self.key(at, object);
        match ready(object) {
            Some(said) => {
                let line = format!("{:<12}  {said}", "Ready").trim_end().to_owned();
                self.updates.met(of, line);
            }
            None => self.updates.unmet(&of),
        }
    }

    fn key(&self, at: usize, object: &DynamicObject) -> Followed {
        let (_, kind) = &self.subjects[at];
        self.named(kind, object.namespace(), object.name_any())
    }

    fn named(&self, kind: &Kind, namespace: Option<String>, name: String) -> Followed {
        let several = self.subjects.len() > 1;
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
}

/// Changes of a kind, with its place.
fn watched_of(
    client: &Client,
    at: usize,
    kind: &Kind,
) -> BoxStream<'static, watcher::Result<(usize, Event<DynamicObject>)>> {
    let resource = ApiResource {
        group: kind.group.clone(),
        version: kind.version.clone(),
        api_version: kind.api_version(),
        kind: kind.kind.clone(),
        plural: kind.plural.clone(),
    };
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let changes = watcher::watcher(api, watcher::Config::default());
    changes.map_ok(move |event| (at, event)).boxed()
}

/// Returns the message of a status that reports its object as Ready as it is wanted now.
fn ready(object: &DynamicObject) -> Option<String> {
    let conditions = object.data["status"]["conditions"].as_array()?;
    let is = |condition: &&Value| condition["type"] == "Ready" && condition["status"] == "True";
    let ready = conditions.iter().find(is)?;
    let of = ready["observedGeneration"].as_i64();
    let said = ready["message"].as_str().unwrap_or_default();
    (of.is_none() || of == object.metadata.generation).then(|| said.replace('\n', "; "))
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use lifecycle_runtime::ObjectRef;
    use lifecycle_runtime::machine::ir::Phase;
    use serde_json::json;

    use super::*;

    fn follow(subjects: Vec<(&'static str, Kind)>) -> Follow {
        let (_, passes) = tokio::sync::mpsc::unbounded_channel();
        Follow::new(subjects, passes)
    }

    fn of_one() -> Follow {
        follow(vec![("of::one", Kind::for_type::<ConfigMap>())])
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
        let mut follow = of_one();
        let a = follow
            .expected_objects(&manifests(&[("v1", "ConfigMap")]))
            .remove(0);
        for stale in [object("True", 1), object("False", 2)] {
            follow.note_status(0, &stale);
            assert_eq!(follow.updates.last(&a), None, "{stale:?}");
        }
        follow.note_pass(pass("of::one", Phase::Ready, true));
        assert_eq!(follow.updates.last(&a), None);
        follow.note_status(0, &object("True", 2));
        let said = follow.updates.last(&a).unwrap();
        assert_eq!(
            (said.line.as_str(), said.ready),
            ("Ready         all is well", true)
        );
    }

    #[test]
    fn of_two_kinds_of_one_name_each_object_is_told_by_its_group() {
        let core = Kind::for_type::<ConfigMap>();
        let mut follow = follow(vec![("of::one", core), ("of::other", other())]);
        let both = [("v1", "ConfigMap"), ("example.org/v1", "ConfigMap")];
        let wanted = follow.expected_objects(&manifests(&both));
        let names = ["d/configmap/a", "d/configmap.example.org/a"];
        assert_eq!(display_names(&wanted), names);
        follow.note_pass(pass("of::other", Phase::Ready, false));
        assert!(!follow.updates.are_ready(&wanted));
        assert_eq!(
            follow.updates.unready(&wanted),
            "d/configmap/a: nothing was seen of it"
        );
        follow.note_status(0, &object("True", 2));
        assert!(follow.updates.are_ready(&wanted));
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
