//! Tells what becomes of the objects that an operator looks after, a line for each change, until all that were asked for are Ready.
//! States come from the passes of the operator as they decide; that one is Ready is believed only when its status says so.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::{Duration, Instant};

use anyhow::bail;
use futures::stream::{BoxStream, select_all};
use futures::{StreamExt as _, TryStreamExt as _};
use kube::api::{ApiResource, DynamicObject};
use kube::runtime::watcher::{self, Event};
use kube::{Api, Client, ResourceExt as _};
use lifecycle_runtime::ObjectRef;
use lifecycle_runtime::lifecycle::Kind;
use lifecycle_runtime::machine::ir::Phase;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::cluster::manifests::Manifest;
use crate::cluster::{complain, say};
use crate::passes::PassLine;

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// All is Ready.
    Ready,
    /// Something was not Ready in time.
    Unready,
    /// Somebody wanted it to end.
    Stopped,
}

/// What is followed, and what was said of it last.
pub(super) struct Follow {
    began: Instant,
    kinds: Vec<Kind>,
    passes: UnboundedReceiver<PassLine>,
    last: BTreeMap<ObjectRef, Update>,
    /// What is to be said of those whose status says that they are Ready.
    met: BTreeMap<ObjectRef, String>,
}

#[derive(Clone, Debug, PartialEq)]
struct Update {
    line: String,
    ready: bool,
}

impl Follow {
    /// Follows the objects of these kinds, by what an operator decides.
    pub(super) fn new(kinds: Vec<Kind>, passes: UnboundedReceiver<PassLine>) -> Self {
        Self {
            began: Instant::now(),
            kinds,
            passes,
            last: BTreeMap::new(),
            met: BTreeMap::new(),
        }
    }

    /// The kinds.
    pub(super) fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// Those that manifests make.
    pub(super) fn wanted(&self, manifests: &[Manifest]) -> Vec<ObjectRef> {
        let mut all = Vec::new();
        for manifest in manifests {
            let of = manifest.kind();
            let is = |kind: &&Kind| kind.group == of.group && kind.kind == of.kind;
            let Some(kind) = self.kinds.iter().find(is) else {
                continue;
            };
            let namespace = kind.namespaced.then(|| manifest.namespace());
            let one = named(kind, namespace, manifest.name());
            if !all.contains(&one) {
                all.push(one);
            }
        }
        all
    }

    /// Tells of changes until all that is wanted is Ready, or the time is over.
    pub(super) async fn until_ready(
        &mut self,
        client: &Client,
        wanted: &[ObjectRef],
        limit: Duration,
    ) -> anyhow::Result<Verdict> {
        if wanted.is_empty() {
            return Ok(Verdict::Ready);
        }
        match tokio::time::timeout(limit, self.follow(client, wanted)).await {
            Ok(done) => done.map(|()| Verdict::Ready),
            Err(_) => {
                let (limit, unready) = (limit.as_secs(), self.unready(wanted));
                complain(&format!("not Ready within {limit} s: {unready}"));
                Ok(Verdict::Unready)
            }
        }
    }

    /// Tells of changes for ever.
    pub(super) async fn forever(&mut self, client: &Client) -> Infallible {
        // Nobody is waited for, so that it ends only when the watch does.
        loop {
            if let Err(error) = self.follow(client, &[]).await {
                tracing::debug!("{error}");
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    async fn follow(&mut self, client: &Client, wanted: &[ObjectRef]) -> anyhow::Result<()> {
        let watched = self.kinds.iter().enumerate();
        let mut changes = select_all(watched.map(|(at, kind)| watched_of(client, at, kind)));
        loop {
            tokio::select! {
                biased;
                Some(told) = self.passes.recv() => self.note_pass(told),
                change = changes.try_next() => match change? {
                    Some((at, Event::Apply(object) | Event::InitApply(object))) => self.note_status(at, &object),
                    Some((at, Event::Delete(object))) => self.note_end(&self.key(at, &object)),
                    Some((_, Event::Init | Event::InitDone)) => {}
                    None => bail!("the API server ended the watch"),
                },
            }
            let ready = |wanted: &ObjectRef| self.last.get(wanted).is_some_and(|said| said.ready);
            if !wanted.is_empty() && wanted.iter().all(ready) {
                return Ok(());
            }
        }
    }

    /// That a pass finds it Ready is told when its status says so, if its lifecycle reports that. What was Ready and is so again before its status has
    /// said anything else is told, too.
    fn note_pass(&mut self, told: PassLine) {
        let said = match (told.phase, self.met.get(&told.of)) {
            (Phase::Ready, None) if told.reports => return,
            (Phase::Ready, met) => Update {
                line: met.cloned().unwrap_or(told.line),
                ready: true,
            },
            (Phase::Pending | Phase::Error | Phase::Ignored | Phase::Suspended, _) => Update {
                line: told.line,
                ready: false,
            },
        };
        self.note(told.of, said);
    }

    fn note_status(&mut self, at: usize, object: &DynamicObject) {
        let of = self.key(at, object);
        let Some(said) = ready(object) else {
            self.met.remove(&of);
            return;
        };
        let line = format!("{:<12}  {said}", "Ready").trim_end().to_owned();
        self.met.insert(of.clone(), line.clone());
        self.note(of, Update { line, ready: true });
    }

    fn note_end(&mut self, of: &ObjectRef) {
        let line = "Gone".to_owned();
        self.note(of.clone(), Update { line, ready: false });
        self.last.remove(of);
        self.met.remove(of);
    }

    fn note(&mut self, of: ObjectRef, said: Update) {
        if self.last.get(&of) == Some(&said) {
            return;
        }
        let after = self.began.elapsed().as_secs_f64();
        say(&format!("{after:8.3} s  {}  {}", self.name(&of), said.line));
        self.last.insert(of, said);
    }

    fn unready(&self, wanted: &[ObjectRef]) -> String {
        let lines = wanted.iter().filter_map(|wanted| {
            let said = match self.last.get(wanted) {
                Some(said) if said.ready => return None,
                Some(said) => said.line.split_whitespace().collect::<Vec<_>>().join(" "),
                None => "nothing was seen of it".to_owned(),
            };
            Some(format!("{}: {said}", self.name(wanted)))
        });
        lines.collect::<Vec<_>>().join("; ")
    }

    /// Its namespace, its kind where there are several, its name.
    fn name(&self, of: &ObjectRef) -> String {
        let namespace = of.namespace.iter().cloned();
        let several = self.kinds.len() > 1;
        let kind = several.then(|| of.kind.to_lowercase()).into_iter();
        let parts = namespace.chain(kind).chain([of.name.clone()]);
        parts.collect::<Vec<_>>().join("/")
    }

    fn key(&self, at: usize, object: &DynamicObject) -> ObjectRef {
        named(&self.kinds[at], object.namespace(), object.name_any())
    }
}

fn named(kind: &Kind, namespace: Option<String>, name: String) -> ObjectRef {
    ObjectRef {
        kind: kind.kind.clone(),
        namespace,
        name,
        label: None,
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

/// What a status says that calls its object Ready as it is wanted now.
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
    use serde_json::json;

    use super::*;

    fn follow() -> Follow {
        let (_, passes) = tokio::sync::mpsc::unbounded_channel();
        Follow::new(vec![Kind::of::<ConfigMap>()], passes)
    }

    fn object(status: &str, generation: i64) -> DynamicObject {
        let ready = json!({ "type": "Ready", "status": status, "observedGeneration": generation, "message": "all is well" });
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a", "namespace": "d", "generation": 2 },
            "status": { "conditions": [ready] },
        });
        serde_json::from_value(object).unwrap()
    }

    fn of(name: &str) -> ObjectRef {
        ObjectRef::of::<ConfigMap>(Some("d"), name)
    }

    fn pass(phase: Phase, reports: bool) -> PassLine {
        let line = "Rolling       Going: one of two".to_owned();
        PassLine {
            of: of("a"),
            phase,
            line,
            reports,
        }
    }

    #[test]
    fn only_a_status_of_the_present_generation_makes_it_ready() {
        let mut follow = follow();
        for stale in [object("True", 1), object("False", 2)] {
            follow.note_status(0, &stale);
            assert!(follow.last.is_empty(), "{stale:?}");
        }
        follow.note_pass(pass(Phase::Ready, true));
        assert!(follow.last.is_empty());
        follow.note_status(0, &object("True", 2));
        let said = follow.last[&of("a")].clone();
        assert_eq!(
            (said.line.as_str(), said.ready),
            ("Ready         all is well", true)
        );
        follow.note_pass(pass(Phase::Pending, true));
        assert!(!follow.last[&of("a")].ready);
        follow.note_pass(pass(Phase::Ready, true));
        assert_eq!(follow.last[&of("a")], said);
        follow.note_end(&of("a"));
        assert!(follow.last.is_empty());
    }

    #[test]
    fn of_a_lifecycle_that_reports_nothing_the_pass_is_believed() {
        let mut follow = follow();
        follow.note_pass(pass(Phase::Ready, false));
        assert!(follow.last[&of("a")].ready);
    }

    #[test]
    fn what_is_not_ready_is_named_with_its_reason() {
        let mut follow = follow();
        follow.note_pass(pass(Phase::Pending, true));
        let said = follow.unready(&[of("a"), of("b")]);
        assert_eq!(
            said,
            "d/a: Rolling Going: one of two; d/b: nothing was seen of it"
        );
    }

    #[test]
    fn only_manifests_of_its_kinds_are_waited_for() {
        let one = |version: &str, kind: &str| {
            format!(
                "apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a, namespace: d}}\n---\n"
            )
        };
        let text =
            one("v1", "ConfigMap") + &one("v1", "Secret") + &one("example.org/v1", "ConfigMap");
        let manifests = Manifest::parse(std::path::Path::new("a.yaml"), &text).unwrap();
        assert_eq!(follow().wanted(&manifests), [of("a")]);
    }
}
