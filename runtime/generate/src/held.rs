//! Whether manifests that somebody keeps in a file still are what is made today. Layout, order and comments do not count, and what the file holds besides is
//! nobody's business here.

use std::collections::BTreeSet;

use serde_json::Value;

/// What a file says otherwise, a line each; nothing if it says the same.
///
/// # Errors
/// One of the two is no YAML.
pub fn differences(made: &str, kept: &str) -> Result<Vec<String>, serde_saphyr::Error> {
    let kept = documents(kept)?;
    let made = documents(made)?;
    let lines = made.iter().flat_map(|made| {
        let there = kept.iter().find(|kept| identity(kept) == identity(made));
        match there {
            None => vec![format!("{} is not there", identity(made))],
            Some(kept) => between(made, kept),
        }
    });
    Ok(lines.collect())
}

fn documents(text: &str) -> Result<Vec<Value>, serde_saphyr::Error> {
    let all: Vec<Value> = serde_saphyr::from_multiple(text)?;
    Ok(all.into_iter().filter(|one| !one.is_null()).collect())
}

/// Kind and name, and the namespace where there is one.
fn identity(document: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (kind, metadata) = (text(&document["kind"]), &document["metadata"]);
    let name = text(&metadata["name"]);
    match metadata["namespace"].as_str() {
        Some(namespace) => format!("{kind} {namespace}/{name}"),
        None => format!("{kind} {name}"),
    }
}

fn between(made: &Value, kept: &Value) -> Vec<String> {
    let name = identity(made);
    if made["rules"].is_array() {
        let (made, kept) = (permissions(made), permissions(kept));
        let missing = made.difference(&kept);
        let missing = missing.map(|one| format!("{name} lacks: {one}"));
        let needless = kept.difference(&made);
        let needless = needless.map(|one| format!("{name} needs no more: {one}"));
        return missing.chain(needless).collect();
    }
    let parts = |document: &Value| {
        let mut document = document.clone();
        if let Some(fields) = document.as_object_mut() {
            fields.remove("metadata");
        }
        document
    };
    if parts(made) == parts(kept) {
        Vec::new()
    } else {
        vec![format!("{name} says something else")]
    }
}

/// Each thing that a role allows, by itself: `delete services`, `patch the lease \`a\` of ..`.
fn permissions(role: &Value) -> BTreeSet<String> {
    let rules = role["rules"].as_array().into_iter().flatten();
    let mut all = BTreeSet::new();
    for rule in rules {
        let words = |field: &str| -> Vec<String> {
            let words = rule[field].as_array().into_iter().flatten();
            words
                .map(|one| one.as_str().unwrap_or_default().to_owned())
                .collect()
        };
        let mut names = words("resourceNames");
        if names.is_empty() {
            names.push(String::new());
        }
        for group in words("apiGroups") {
            for resource in words("resources") {
                for name in &names {
                    let what = told(&group, &resource, name);
                    all.extend(words("verbs").iter().map(|verb| format!("{verb} {what}")));
                }
            }
        }
    }
    all
}

fn told(group: &str, resource: &str, name: &str) -> String {
    let of = match group {
        "" => resource.to_owned(),
        group => format!("{resource}.{group}"),
    };
    match name {
        "" => of,
        name => format!("{of} `{name}`"),
    }
}
