//! What must hold however a volume's life was disturbed: it comes to the same, at rest nothing is written, nothing is left, and nobody else is touched.

use std::collections::BTreeMap;

use super::site::Ground;
use super::snapshot::{Tree, difference};
use super::story::Ended;

pub(super) fn findings(ground: &Ground<'_>, ended: &Ended, against: &Ended) -> Vec<String> {
    let mut found = ended.wrong.clone();
    let times = [
        ("while it is mounted", &ended.up, &against.up),
        ("after it was given back", &ended.down, &against.down),
        ("when all is gone", &ended.gone, &against.gone),
    ];
    for (when, here, there) in times {
        let objects = difference(&here.objects.normal, &there.objects.normal);
        let files = difference(&here.tree, &there.tree);
        let all = [objects, files].into_iter().flatten();
        found.extend(all.map(|what| format!("it ends elsewhere, {when}: {what}")));
    }
    if ended.is_over && ended.at_rest > 0 {
        let writes = ended.at_rest;
        found.push(format!("what was done already takes {writes} writes again"));
    }
    let before = &ended.before.tree;
    for (when, tree) in [
        ("while it is mounted", &ended.up.tree),
        ("at the end", &ended.down.tree),
    ] {
        let touched = difference(&outside(ground, tree), &outside(ground, before));
        found.extend(touched.map(|what| format!("it touches what is not its own, {when}: {what}")));
    }
    let left = difference(&without_own(ground, &ended.down.tree), before);
    found.extend(left.map(|what| format!("something is left at the end: {what}")));
    found.extend(own_files(ground, ended));
    found.extend(of_others(ground, ended));
    let there = &ended.gone.objects.normal;
    let known = &ended.before.objects.normal;
    let mut left = there.keys().filter(|key| !known.contains_key(*key));
    found.extend(left.next().map(|key| format!("{key} is left at the end")));
    found
}

fn is_own(ground: &Ground<'_>, path: &str) -> bool {
    let own = &ground.fixture.own;
    own.iter()
        .any(|own| path == own || path.starts_with(&format!("{own}/")))
}

fn without_own(ground: &Ground<'_>, tree: &Tree) -> Tree {
    let all = tree.iter().filter(|(path, _)| !is_own(ground, path));
    all.map(|(path, what)| (path.clone(), what.clone()))
        .collect()
}

/// Everything but the targets, the staging folder, and what is the driver's.
fn outside(ground: &Ground<'_>, tree: &Tree) -> Tree {
    let root = ground.folder();
    let pods = 0..ground.fixture.pods.len();
    let targets: Vec<String> = pods
        .map(|pod| ground.target(pod))
        .map(|target| {
            target
                .strip_prefix(root)
                .unwrap_or(&target)
                .display()
                .to_string()
        })
        .collect();
    let is_inside = |path: &String| {
        let is_target = |of: &String| path == of || path.starts_with(&format!("{of}/"));
        targets.iter().any(is_target) || path.starts_with("staging/")
    };
    let mut tree = without_own(ground, tree);
    tree.retain(|path, _| !is_inside(path));
    tree
}

/// What a driver keeps for itself has no files when there is no volume.
fn own_files(ground: &Ground<'_>, ended: &Ended) -> Option<String> {
    let mut left = ended.down.tree.iter();
    let is_file = |(path, what): &(&String, &String)| is_own(ground, path) && *what != "folder";
    let (path, what) = left.find(is_file)?;
    Some(format!(
        "`{path}` is left in the driver's own folder: {what}"
    ))
}

/// Objects of others keep their versions.
fn of_others(ground: &Ground<'_>, ended: &Ended) -> Option<String> {
    let key = |object: &serde_json::Value| {
        let text = |at: &str| object.pointer(at).and_then(serde_json::Value::as_str);
        let (kind, name) = (text("/kind"), text("/metadata/name"));
        let namespace = text("/metadata/namespace").unwrap_or_default();
        let (kind, name) = (kind.unwrap_or_default(), name.unwrap_or_default());
        format!("{kind} {namespace}/{name}")
    };
    let others = [&ground.fixture.others, &ground.fixture.stays];
    let keys = others.into_iter().flatten().map(key);
    let of = |versions: &BTreeMap<String, String>, key: &String| versions.get(key).cloned();
    let (before, after) = (&ended.before.objects.versions, &ended.gone.objects.versions);
    let mut touched = keys.filter(|key| of(before, key) != of(after, key));
    let touched = touched.next()?;
    Some(format!("{touched} is somebody else's and was written"))
}
