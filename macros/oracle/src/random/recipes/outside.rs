//! Pieces about resources outside the cluster: they are polled, called, and held until their
//! release.

use super::draft::Draft;
use crate::random::sketch::{Effect, State, alternatives, to_strings};

pub(super) fn polled(draft: &mut Draft<'_>) {
    let keys = draft.keys("meta.name");
    let network = draft.input("network", "poll Reach", &format!("{keys} every 2s"));
    let bound = draft.fact("bound", "{ Waiting, Up, Failed }", &[&network]);
    draft.given(&[&network], None);
    draft.state("Silent", &format!("!{network}"), "Pending", &[]);
    let (waiting, failed) = (format!("{bound} == Waiting"), format!("{bound} == Failed"));
    draft.state("BindFailed", &failed, "Error", &["self", &network]);
    if draft.dice.one_in(2) {
        draft.state("Binding", &waiting, "Pending", &[]);
        draft.promise(
            "binds",
            &format!("{waiting} && {network}"),
            alternatives(&bound, &["Up", "Failed"]),
        );
    } else {
        draft.state("Unmatched", &waiting, "Pending", &[&network]);
    }
    draft.condition("Bound", &[(&failed, "Failed")], &format!("{bound} == Up"));
}

/// Adds a held resource outside the cluster, observed through a poll, with the sites that it
/// requires.
pub(super) fn entry(draft: &mut Draft<'_>) {
    let sites = draft.input("places", "[Place]", "namespace");
    let place = draft.fact("place", "bool", &[&sites]);
    let keys = draft.keys(&sites);
    let router = draft.input("router", "poll Table", &format!("{keys} every 2s"));
    let entry = draft.fact(
        "entry",
        "{ No, Unknown, Stale, Current }",
        &[&sites, &router],
    );
    draft.sketch.facts.last_mut().expect("just pushed").held = true;
    if draft.dice.one_in(2) {
        draft.sketch.nevers.push(to_strings(&[
            &format!("!{place}"),
            &format!("{entry} != No"),
        ]));
    }
    draft.state("NoPlace", &format!("!{place}"), "Error", &[&sites]);
    draft.state(
        "Hidden",
        &format!("{entry} == Unknown || !{router}"),
        "Pending",
        &[],
    );
    let ensure = draft.name("ensure_entry");
    let refused = format!("refused({ensure})");
    let missing = format!("!{place}");
    let mut bad = vec![(missing.as_str(), "NoPlace")];
    if draft.dice.one_in(2) {
        draft.state("Unwanted", &refused, "Error", &["self", &router]);
        bad.push((&refused, "Unwanted"));
    }
    draft.state(
        "Configuring",
        &format!("{entry} != Current"),
        "Pending",
        &[],
    );
    let mut guard = draft.leaning();
    guard.push(place.clone());
    guard.push(format!("{entry} in {{ No, Stale }}"));
    let (remove, key) = (draft.name("remove_entry"), Some("meta.uid".to_owned()));
    let effect = draft.effect(&format!("call {router}"), guard);
    (effect.name, effect.undo, effect.key) = (Some(ensure), Some(remove.clone()), key.clone());
    effect.from = vec![sites];
    effect.sets = alternatives(&entry, &["Current"]);
    let effect = draft.effect(&format!("call {router}"), Vec::new());
    (effect.name, effect.key, effect.from) = (Some(remove), key, Vec::new());
    effect.sets = alternatives(&entry, &["No"]);
    draft.promise(
        "answers",
        &format!("{entry} == Unknown"),
        alternatives(&entry, &["No", "Stale", "Current"]),
    );
    draft.condition(
        "Configured",
        &bad,
        &format!("{entry} == Current && {place} && {router}"),
    );
}

/// Adds a held resource outside the cluster that others may hold as well.
pub(super) fn bucket(draft: &mut Draft<'_>) {
    let keys = draft.keys("meta.name");
    let store = draft.input("store", "poll Info", &format!("{keys} every 30s"));
    held_in(draft, &store, &[]);
}

fn held_in(draft: &mut Draft<'_>, store: &str, recorded: &[&str]) -> (String, String) {
    let barred = draft.dice.one_in(2);
    let domain = if barred {
        "{ No, Taken | Stale, Current }"
    } else {
        "{ No, Stale, Current }"
    };
    let bucket = draft.fact("bucket", domain, &[store]);
    draft.sketch.facts.last_mut().expect("just pushed").held = true;
    if !recorded.is_empty() {
        draft.given(&["HANDLE != Absent"], Some("No"));
    }
    let unseen = draft.dice.pick_word(&["Unknown", "Unknown", "Unseen"]);
    draft.given(&[store], Some(&unseen));
    draft.state(
        "Unreachable",
        &format!("{bucket} == {unseen}"),
        "Pending",
        &[],
    );
    let (put, drop) = (draft.name("put_bucket"), draft.name("drop_bucket"));
    let (taken, refused) = (format!("{bucket} == Taken"), format!("refused({put})"));
    let mut bad = Vec::new();
    if barred {
        draft.state("Owned", &taken, "Error", &["self", store]);
        bad.push((taken.as_str(), "Taken"));
    }
    if draft.dice.one_in(2) {
        draft.state("Spurned", &refused, "Error", &["self", store]);
        bad.push((refused.as_str(), "Spurned"));
    }
    draft.state(
        "Making",
        &format!("{bucket} in {{ No, Stale }}"),
        "Pending",
        &[],
    );
    let mut guard = draft.leaning();
    guard.push(format!("{bucket} in {{ No, Stale }}"));
    guard.extend(to_strings(recorded));
    let key = Some(
        if recorded.is_empty() {
            "meta.uid"
        } else {
            "HANDLE"
        }
        .to_owned(),
    );
    let effect = draft.effect(&format!("call {store}"), guard);
    effect.sets = alternatives(
        &bucket,
        if barred {
            &["Current", "Taken"]
        } else {
            &["Current"]
        },
    );
    (effect.name, effect.undo, effect.key) = (Some(put), Some(drop.clone()), key.clone());
    let effect = draft.effect(&format!("call {store}"), Vec::new());
    effect.sets = alternatives(&bucket, &["No"]);
    (effect.name, effect.key, effect.from) = (Some(drop), key, Vec::new());
    draft.condition("Stored", &bad, &format!("{bucket} == Current"));
    (bucket, store.to_owned())
}

/// Adds a resource outside the cluster with a name that must be recorded before its creation.
pub(super) fn recorded(draft: &mut Draft<'_>) {
    let handle = draft.input("handle", "record String", "");
    let keys = draft.keys(&handle);
    let store = draft.input("store", "poll Info", &format!("{keys} every 30s"));
    draft.sketch.inputs.last_mut().expect("just pushed").given =
        to_strings(&[&format!("{handle} != Absent")]);
    draft.state("Unrecorded", &format!("{handle} == Absent"), "Pending", &[]);
    let recorded = format!("{handle} == Current");
    let (bucket, _) = held_in(draft, &store, &[&recorded]);
    draft.sketch.states.insert(
        2,
        State {
            name: draft.name("Moving"),
            when: to_strings(&[&format!("{handle} == Stale")]),
            phase: Some("Pending".to_owned()),
            ..State::default()
        },
    );
    let effects = &mut draft.sketch.effects;
    let drop = effects
        .iter_mut()
        .find(|effect| effect.known_as().starts_with("drop"))
        .expect("there is an undo");
    drop.when = to_strings(&[
        &format!("{handle} == Stale"),
        &format!("{bucket} in {{ Stale, Current }}"),
    ]);
    effects.reverse();
    let taken = if draft
        .sketch
        .facts
        .last()
        .is_some_and(|fact| fact.domain.contains("Taken"))
    {
        "No, Taken"
    } else {
        "No"
    };
    let when = to_strings(&[&format!("{handle} == Absent || {bucket} in {{ {taken} }}")]);
    effects.insert(
        1,
        Effect {
            head: format!("apply {handle}"),
            when,
            ..Effect::default()
        },
    );
    let rename = |text: &mut String| *text = text.replace("HANDLE", &handle);
    draft
        .sketch
        .effects
        .iter_mut()
        .filter_map(|effect| effect.key.as_mut())
        .for_each(rename);
    let givens = draft
        .sketch
        .facts
        .iter_mut()
        .flat_map(|fact| &mut fact.givens);
    givens.flat_map(|(given, _)| given).for_each(rename);
    draft.there.push(store);
}
