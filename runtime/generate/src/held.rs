//! Checks that manifests in a file still match the ones generated today. Layout, order and comments
//! do not count, and other contents of the file are ignored.

use std::collections::BTreeSet;

use lifecycle_runtime::yaml;
use serde_json::Value;

/// Returns the differences in a file, one per line. Empty if there are none.
///
/// # Errors
/// One of the two is no YAML.
pub fn differences(made: &str, kept: &str) -> Result<Vec<String>, serde_saphyr::Error> {
    let kept = documents(kept)?;
    let mut lines = Vec::new();
    for made in documents(made)? {
        let name = identity(&made);
        let there = kept.iter().filter(|kept| identity(kept) == name);
        let there: Vec<&Value> = there.collect();
        match there.len() {
            0 => lines.push(format!("{name} is not there")),
            1 => {}
            several => lines.push(format!("{name} is there {several} times")),
        }
        lines.extend(there.into_iter().flat_map(|kept| between(&made, kept)));
    }
    Ok(lines)
}

/// Returns the documents of a file, both single documents and items of a list.
fn documents(text: &str) -> Result<Vec<Value>, serde_saphyr::Error> {
    let mut all = Vec::new();
    for one in yaml::all::<Value>(text)? {
        unpack(one, &mut all);
    }
    Ok(all)
}

fn unpack(one: Value, all: &mut Vec<Value>) {
    let kind = one["kind"].as_str().unwrap_or_default();
    match one["items"].as_array() {
        Some(items) if kind.ends_with("List") => {
            items.iter().for_each(|item| unpack(item.clone(), all));
        }
        _ if one.is_null() => {}
        _ => all.push(one),
    }
}

/// Returns the kind, the name, and the namespace if there is one.
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
        return between_roles(&name, made, kept);
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
        vec![format!("{name} differs")]
    }
}

fn between_roles(name: &str, made: &Value, kept: &Value) -> Vec<String> {
    let gathers = !kept["aggregationRule"].is_null();
    let gathers = gathers.then(|| format!("{name} gathers what other roles allow"));
    let (made, kept) = (permissions(made), permissions(kept));
    let missing = made.difference(&kept);
    let missing = missing.map(|one| format!("{name} lacks: {one}"));
    let needless = kept.difference(&made);
    let needless = needless.map(|one| format!("{name} needs no more: {one}"));
    missing.chain(needless).chain(gathers).collect()
}

/// Each thing that a role allows, by itself: `delete services`, `patch leases.coordination.k8s.io \`a\``, `get /metrics`.
fn permissions(role: &Value) -> BTreeSet<String> {
    let rules = role["rules"].as_array().into_iter().flatten();
    let mut all = BTreeSet::new();
    for rule in rules {
        let about = resources(rule).chain(rule_strings(rule, "nonResourceURLs"));
        for what in about {
            let verbs = rule_strings(rule, "verbs");
            all.extend(verbs.map(|verb| format!("{verb} {what}")));
        }
    }
    all
}

fn resources(rule: &Value) -> impl Iterator<Item = String> + use<> {
    let mut names: Vec<String> = rule_strings(rule, "resourceNames").collect();
    if names.is_empty() {
        names.push(String::new());
    }
    let mut all = Vec::new();
    for group in rule_strings(rule, "apiGroups") {
        for resource in rule_strings(rule, "resources") {
            let each = names
                .iter()
                .map(|name| describe_resource(&group, &resource, name));
            all.extend(each);
        }
    }
    all.into_iter()
}

fn rule_strings<'a>(rule: &'a Value, field: &str) -> impl Iterator<Item = String> + use<'a> {
    let words = rule[field].as_array().into_iter().flatten();
    words.map(|one| one.as_str().unwrap_or_default().to_owned())
}

fn describe_resource(group: &str, resource: &str, name: &str) -> String {
    let of = match group {
        "" => resource.to_owned(),
        group => format!("{resource}.{group}"),
    };
    match name {
        "" => of,
        name => format!("{of} `{name}`"),
    }
}
