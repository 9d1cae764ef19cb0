//! Tests of objects that are created once, by the existing objects and the notes, with the next
//! write.

#![allow(dead_code, reason = "the lifecycle is looked at and not run")]

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::Observed;
use super::*;
use crate::cluster::act;
use crate::cluster::fixture::Caches;
use crate::cluster::observe::Job;
use crate::lifecycle;
use crate::lifecycle::{Desired, Kind};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "tests", version = "v1", kind = "Diary", namespaced)]
pub(crate) struct DiarySpec {
    #[serde(default)]
    days: Vec<String>,
}

const DIARY: &str = "diary";

lifecycle! {
    /// A cover and a page a day, each made once.
    resource Diary;

    observe {
        cover:  owned ConfigMap by name meta.name;
        covers: record of cover;
        pages:  owned [Secret] by labels { DIARY = meta.name };
        made:   record of pages;
    }
    states {
        Taken   when any(cover, pages) == Foreign     => Error wakes cover, pages, self;
        Making  when cover in { Absent, New }         => Pending;
        Writing when pages in { New, Behind }         => Pending;
        Tearing when pages in { Surplus, Draining }   => Pending;
        goal Done when pages == Current               => Ready;
    }
    effects {
        create cover;
        create each pages;
        delete each pages;
        burn: delete cover when pages == Surplus;
    }
}

struct Writer;

impl DiaryLogic for Writer {
    fn create_cover(&self, _: CreateCover<'_>) -> Desired<ConfigMap> {
        Desired::from_json(json!({ "data": { "colour": "red" } }))
    }

    fn create_pages(&self, at: CreatePages<'_>) -> Vec<Desired<Secret>> {
        let page = |name: &String| {
            let labels = json!({ DIARY: at.this.meta.name });
            Desired::from_json(json!({ "metadata": { "name": name, "labels": labels } }))
        };
        at.this.spec.days.iter().map(page).collect()
    }
}

fn effect(name: &str) -> usize {
    let found = IR.effects.iter().position(|effect| effect.name == name);
    found.expect("it is declared")
}

fn diary(covers: Option<&str>, made: Option<&str>, days: &[&str]) -> Value {
    let mut diary = json!({
        "apiVersion": "tests/v1", "kind": "Diary", "spec": { "days": days },
        "metadata": { "name": "d", "namespace": "ns", "uid": "u", "resourceVersion": "7", "generation": 3, "annotations": {} },
    });
    let annotations = &mut diary["metadata"]["annotations"];
    if let Some(covers) = covers {
        annotations["op/thing.covers"] = json!(covers);
    }
    if let Some(made) = made {
        annotations["op/thing.made"] = json!(made);
    }
    diary
}

/// Returns an object of this kind that belongs to the diary or to no one, optionally being deleted.
fn object(kind: &str, name: &str, ours: bool, leaves: bool) -> Value {
    let mut object = json!({
        "apiVersion": "v1", "kind": kind,
        "metadata": { "name": name, "namespace": "ns", "uid": format!("uid-{name}"), "resourceVersion": "5", "labels": { DIARY: "d" } },
    });
    if ours {
        object["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "tests/v1", "kind": "Diary", "name": "d", "uid": "u", "controller": true, "blockOwnerDeletion": true,
        }]);
    }
    if leaves {
        object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    }
    object
}

fn observe(objects: &[Value], diary: Value) -> Observed {
    let observed = Caches::for_machine(Arc::new(machine(Writer)), objects).observe(diary);
    assert_eq!(observed.failure, None);
    observed
}

fn verdict(observed: &Observed, input: usize) -> (&'static str, String) {
    let var = IR.inputs[input].var.expect("it has a verdict");
    let said = observed.observation.sentences[var].clone();
    let value = IR.value(&observed.observation.world, var);
    (value, said.unwrap_or_default())
}

/// Returns the note that an effect would write.
fn noted(observed: &Observed, name: &str, record: &str) -> Option<String> {
    let plan = observed.plans[effect(name)].first()?;
    let key = format!("op/thing.{record}");
    let text = plan.body["metadata"]["annotations"][key].as_str();
    text.map(str::to_owned)
}

#[test]
fn one_object_is_judged_by_what_is_there_and_what_is_noted() {
    let check = |there: Option<(bool, bool)>, covers: Option<&str>, expected: &str, said: &str| {
        let cover = there.map(|(ours, leaves)| object("ConfigMap", "d", ours, leaves));
        let objects: Vec<Value> = cover.into_iter().collect();
        let observed = observe(&objects, diary(covers, None, &[]));
        assert_eq!(verdict(&observed, 0), (expected, said.to_owned()));
        let creates = !observed.plans[effect("create_cover")].is_empty();
        assert_eq!(creates, expected == "Absent", "{expected}");
        let notes = noted(&observed, "note_cover", "covers");
        let new = (expected == "New").then(|| "[\"d\"]".to_owned());
        assert_eq!(notes, new);
        let burns = !observed.plans[effect("burn")].is_empty();
        assert_eq!(burns, expected == "Made", "{expected}");
    };
    let yes = Some("[\"d\"]");
    check(None, None, "Absent", "ConfigMap `ns/d` does not exist");
    check(
        None,
        Some("[\"e\"]"),
        "Absent",
        "ConfigMap `ns/d` does not exist",
    );
    check(
        None,
        yes,
        "Gone",
        "ConfigMap `ns/d` was made, and is there no more",
    );
    check(Some((true, false)), yes, "Made", "");
    let new = "ConfigMap `ns/d` was created, but this is not recorded yet";
    check(Some((true, false)), None, "New", new);
    check(Some((true, true)), None, "New", new);
    check(
        Some((true, true)),
        yes,
        "Terminating",
        "ConfigMap `ns/d` is being deleted",
    );
    let gone = "ConfigMap `ns/d` was made, and is there no more";
    check(Some((false, false)), yes, "Gone", gone);
    let foreign = "ConfigMap `ns/d` exists and is not controlled by this Diary: rename the Diary or remove that ConfigMap";
    check(Some((false, false)), None, "Foreign", foreign);
}

#[test]
fn the_first_write_only_creates_and_what_is_noted_is_of_the_version_that_was_seen() {
    let observed = observe(&[], diary(None, None, &[]));
    let plan = &observed.plans[effect("create_cover")][0];
    assert_eq!(plan.job, Job::Create);
    let sent = act::write(plan, &Kind::for_type::<ConfigMap>()).expect("it is a request");
    let body: Value = serde_json::from_slice(sent.expect("it can be built").body()).expect("JSON");
    assert_eq!(body["metadata"]["resourceVersion"], "1");
    let observed = observe(
        &[object("ConfigMap", "d", true, false)],
        diary(None, None, &[]),
    );
    let plan = &observed.plans[effect("note_cover")][0];
    let sent = act::write(plan, &Kind::for_type::<Diary>()).expect("it is a request");
    let body: Value = serde_json::from_slice(sent.expect("it can be built").body()).expect("JSON");
    let annotations = json!({ "op/thing.covers": "[\"d\"]" });
    let wanted =
        json!({ "metadata": { "uid": "u", "resourceVersion": "7", "annotations": annotations } });
    assert_eq!(body, wanted);
}

#[test]
fn nothing_is_done_about_a_record_that_cannot_be_read() {
    for broken in ["d", "{}", "[5]", ""] {
        let caches = Caches::for_machine(Arc::new(machine(Writer)), &[]);
        let failure = caches.observe(diary(Some(broken), None, &[])).failure;
        let failure = failure.expect("it cannot be read").to_string();
        assert!(
            failure.contains(
                "`op/thing.covers`, which records the created objects, is not a list of names"
            ),
            "{failure}"
        );
    }
}

/// Members of a set: name, true if it is ours, and true if it is being deleted.
type Members<'a> = &'a [(&'a str, bool, bool)];

#[track_caller]
fn set(there: Members<'_>, made: Option<&str>, days: &[&str], expected: &str) -> Observed {
    let of = |&(name, ours, leaves): &(&str, bool, bool)| object("Secret", name, ours, leaves);
    let mut objects: Vec<Value> = there.iter().map(of).collect();
    objects.push(object("ConfigMap", "d", true, false));
    let observed = observe(&objects, diary(Some("[\"d\"]"), made, days));
    assert_eq!(verdict(&observed, 2).0, expected);
    observed
}

fn planned(observed: &Observed, name: &str) -> Vec<String> {
    let plans = observed.plans[effect(name)].iter();
    plans.map(|plan| plan.name.name.clone()).collect()
}

#[test]
fn of_a_set_what_was_made_is_noted_before_anything_else() {
    let here = |name| (name, true, false);
    let created = |observed: &Observed| planned(observed, "create_pages");
    let observed = set(&[], None, &["a", "b"], "Behind");
    assert_eq!(created(&observed), ["a", "b"]);
    let observed = set(&[here("a")], None, &["a", "b"], "New");
    assert_eq!(
        noted(&observed, "note_pages", "made").as_deref(),
        Some("[\"a\"]")
    );
    let observed = set(&[here("a")], Some("[\"a\"]"), &["a", "b"], "Behind");
    assert_eq!(created(&observed), ["b"]);
    assert_eq!(noted(&observed, "note_pages", "made"), None);
    // A deleted member stays recorded as long as it is desired, and is not created again.
    let observed = set(&[here("b")], Some("[\"a\",\"b\"]"), &["a", "b"], "Current");
    assert!(created(&observed).is_empty());
    let observed = set(
        &[here("b"), here("c")],
        Some("[\"a\",\"b\"]"),
        &["a", "b", "c"],
        "New",
    );
    assert_eq!(
        noted(&observed, "note_pages", "made").as_deref(),
        Some("[\"a\",\"b\",\"c\"]")
    );
    // A member that is no longer desired is dropped from the next record, and is deleted.
    let observed = set(&[here("a"), here("b")], Some("[\"a\"]"), &["b"], "New");
    assert_eq!(
        noted(&observed, "note_pages", "made").as_deref(),
        Some("[\"b\"]")
    );
    assert_eq!(planned(&observed, "delete_pages"), ["a"]);
    let observed = set(&[here("a"), here("b")], Some("[\"b\"]"), &["b"], "Surplus");
    assert_eq!(planned(&observed, "delete_pages"), ["a"]);
    set(
        &[("a", true, true), here("b")],
        Some("[\"b\"]"),
        &["b"],
        "Draining",
    );
    set(&[("a", true, true)], None, &["a"], "New");
    set(&[("a", false, false)], None, &["a"], "Foreign");
    set(&[("a", false, false)], Some("[\"a\"]"), &["a"], "Current");
}

#[test]
fn a_note_of_a_set_whose_members_are_missing_in_part_changes_nothing_else() {
    let here = [("a", true, false)];
    let world = |observed: Observed| observed.observation.world.clone();
    let before = world(set(&here, None, &["a", "b"], "New"));
    let mut after = world(set(&here, Some("[\"a\"]"), &["a", "b"], "Behind"));
    let note = &IR.effects[effect("note_pages")];
    assert_eq!(IR.not_an_outcome(note, &before, &after), None);
    let cover = IR.inputs[0].var.expect("it has a verdict");
    after.set(cover, after.get(cover) - 1);
    let said = IR.not_an_outcome(note, &before, &after);
    assert!(
        said.as_deref()
            .is_some_and(|said| said.contains("changed `cover` from Made to")),
        "{said:?}"
    );
}
