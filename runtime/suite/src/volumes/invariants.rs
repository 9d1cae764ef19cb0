//! Invariants that hold however a volume's life was disturbed. The life ends in an equal state, and
//! nothing is written once it has settled. Nothing is left, and objects owned by others are not
//! touched.

use std::collections::BTreeMap;

use super::life_outcome::LifeOutcome;
use super::snapshot::{Tree, difference, key};
use super::test_env::TestEnv;

pub(super) fn findings(
    env: &TestEnv<'_>,
    ended: &LifeOutcome,
    against: &LifeOutcome,
) -> Vec<String> {
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
    if ended.is_over && ended.writes_at_rest > 0 {
        let writes = ended.writes_at_rest;
        found.push(format!(
            "a repeated call of completed work makes {writes} writes"
        ));
    }
    let before = &ended.before.tree;
    for (when, tree) in [
        ("while it is mounted", &ended.up.tree),
        ("at the end", &ended.down.tree),
    ] {
        let touched = difference(&outside(env, tree), &outside(env, before));
        found.extend(touched.map(|what| format!("it touches what is not its own, {when}: {what}")));
    }
    let left = difference(&without_own(env, &ended.down.tree), before);
    found.extend(left.map(|what| format!("something is left at the end: {what}")));
    found.extend(own_files(env, ended));
    found.extend(of_others(env, ended));
    let there = &ended.gone.objects.normal;
    let known = &ended.before.objects.normal;
    let mut left = there.keys().filter(|key| !known.contains_key(*key));
    found.extend(left.next().map(|key| format!("{key} is left at the end")));
    found
}

fn is_own(env: &TestEnv<'_>, path: &str) -> bool {
    let own = &env.fixture.own;
    own.iter()
        .any(|own| path == own || path.starts_with(&format!("{own}/")))
}

fn without_own(env: &TestEnv<'_>, tree: &Tree) -> Tree {
    let all = tree.iter().filter(|(path, _)| !is_own(env, path));
    all.map(|(path, what)| (path.clone(), what.clone()))
        .collect()
}

/// Returns the tree without the targets, the staging folder and the driver's own folders.
fn outside(env: &TestEnv<'_>, tree: &Tree) -> Tree {
    let root = env.folder();
    let pods = 0..env.fixture.pods.len();
    let targets: Vec<String> = pods
        .map(|pod| env.target(pod))
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
    let mut tree = without_own(env, tree);
    tree.retain(|path, _| !is_inside(path));
    tree
}

/// Reports a file that is left in the driver's own folders when there is no volume.
fn own_files(env: &TestEnv<'_>, ended: &LifeOutcome) -> Option<String> {
    let mut left = ended.down.tree.iter();
    let is_file = |(path, what): &(&String, &String)| is_own(env, path) && *what != "folder";
    let (path, what) = left.find(is_file)?;
    Some(format!(
        "`{path}` is left in the driver's own folder: {what}"
    ))
}

/// Objects of others keep their versions.
fn of_others(env: &TestEnv<'_>, ended: &LifeOutcome) -> Option<String> {
    let others = [&env.fixture.others, &env.fixture.stays];
    let keys = others.into_iter().flatten().map(key);
    let of = |versions: &BTreeMap<String, String>, key: &String| versions.get(key).cloned();
    let (before, after) = (&ended.before.objects.versions, &ended.gone.objects.versions);
    let keys = keys.filter(|key| !ended.restored.contains(key));
    let mut touched = keys.filter(|key| of(before, key) != of(after, key));
    let touched = touched.next()?;
    Some(format!(
        "{touched} belongs to another controller or user and was written"
    ))
}
