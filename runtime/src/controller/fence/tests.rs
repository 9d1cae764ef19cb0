//! A fence stands until the cache shows the write, and no longer.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::runtime::watcher::Event;
use serde_json::json;

use super::*;
use crate::cluster::store::Raw;
use crate::lifecycle::Kind;

fn raw(uid: &str, version: &str) -> Raw {
    Raw::new(
        json!({ "metadata": { "name": "a", "namespace": "ns", "uid": uid, "resourceVersion": version } }),
    )
}

fn name() -> Name {
    Name {
        namespace: Some("ns".to_owned()),
        name: "a".to_owned(),
    }
}

fn subject() -> Subject {
    Subject {
        lifecycle: 0,
        name: name(),
    }
}

fn check(before: &[Event<Raw>], wrote: (&str, Option<&str>), after: Event<Raw>, falls: bool) {
    let (mut store, mut fences) = (Store::new(Kind::for_type::<ConfigMap>()), Fences::default());
    for event in before {
        store.take(event.clone());
    }
    let wrote = FencedWrite {
        uid: Some(wrote.0.to_owned()),
        version: wrote.1.map(str::to_owned),
        lasting: false,
    };
    let (at, now) = ((0, name()), Instant::now());
    fences.raise(at.clone(), wrote, &store, now);
    let held = |fences: &mut Fences| {
        fences
            .hold(&subject(), std::iter::once(at.clone()), now)
            .is_some()
    };
    assert!(held(&mut fences), "the fence stands first");
    let listed = matches!(after, Event::InitDone);
    store.take(after);
    let mut woken = fences.check_fence(&at, &store);
    if listed {
        woken.extend(fences.listed(0, &store));
    }
    assert_eq!(woken.contains(&subject()), falls);
    assert_eq!(held(&mut fences), !falls);
}

#[test]
fn a_version_at_least_as_new_lets_it_fall() {
    let seen = [Event::Apply(raw("u", "5"))];
    check(&seen, ("u", Some("10")), Event::Apply(raw("u", "9")), false);
    check(&seen, ("u", Some("10")), Event::Apply(raw("u", "10")), true);
    check(&seen, ("u", Some("9")), Event::Apply(raw("u", "11")), true);
}

#[test]
fn a_deletion_and_another_object_let_it_fall() {
    let seen = [Event::Apply(raw("u", "5"))];
    check(
        &seen,
        ("u", Some("10")),
        Event::Delete(raw("u", "12")),
        true,
    );
    check(&seen, ("u", None), Event::Delete(raw("u", "12")), true);
    check(&seen, ("u", Some("10")), Event::Apply(raw("v", "7")), true);
    check(&seen, ("u", None), Event::Apply(raw("u", "6")), false);
}

#[test]
fn only_a_list_begun_after_the_write_lets_it_fall() {
    let seen = [Event::Apply(raw("u", "5")), Event::Init];
    check(&seen, ("u", Some("10")), Event::InitDone, false);
    let (mut store, mut fences) = (Store::new(Kind::for_type::<ConfigMap>()), Fences::default());
    store.take(Event::Apply(raw("u", "5")));
    let wrote = FencedWrite {
        uid: Some("u".to_owned()),
        version: Some("10".to_owned()),
        lasting: false,
    };
    let now = Instant::now();
    fences.raise((0, name()), wrote, &store, now);
    fences.hold(&subject(), std::iter::once((0, name())), now);
    store.take(Event::Init);
    store.take(Event::InitApply(raw("u", "5")));
    store.take(Event::InitDone);
    assert!(fences.listed(0, &store).contains(&subject()));
}

#[test]
fn a_write_that_the_cache_shows_already_raises_nothing() {
    let (mut store, mut fences) = (Store::new(Kind::for_type::<ConfigMap>()), Fences::default());
    store.take(Event::Apply(raw("u", "12")));
    store.take(Event::Delete(raw("u", "13")));
    let wrote = FencedWrite {
        uid: Some("u".to_owned()),
        version: Some("10".to_owned()),
        lasting: false,
    };
    fences.raise((0, name()), wrote, &store, Instant::now());
    let held = fences.hold(&subject(), std::iter::once((0, name())), Instant::now());
    assert_eq!(held, None);
}

#[test]
fn a_fence_that_lasts_falls_by_what_is_seen_alone() {
    let (mut store, mut fences) = (Store::new(Kind::for_type::<ConfigMap>()), Fences::default());
    store.take(Event::Apply(raw("u", "5")));
    let (at, now) = ((0, name()), Instant::now());
    let later = now + LONGEST * 3;
    let wrote = |version: &str, lasting| FencedWrite {
        uid: Some("u".to_owned()),
        version: Some(version.to_owned()),
        lasting,
    };
    let held = |fences: &mut Fences, when| {
        let until = fences.hold(&subject(), std::iter::once(at.clone()), when);
        until.is_some_and(|until| until > when)
    };
    fences.raise(at.clone(), wrote("10", false), &store, now);
    assert!(!held(&mut fences, later), "any other falls by the time");
    fences.raise(at.clone(), wrote("11", true), &store, now);
    assert!(held(&mut fences, later), "this one does not");
    fences.raise(at.clone(), wrote("12", false), &store, now);
    assert!(held(&mut fences, later), "nor does the one in its place");
    store.take(Event::Apply(raw("u", "12")));
    assert!(fences.check_fence(&at, &store).contains(&subject()));
    assert!(!held(&mut fences, later));
}
