//! The objects that a Site has on the existing router, beside those that the existing controller has written for it, as `tests/upstream` has them recorded:
//! written over those, they change nothing, so that no router starts anew.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::recorded::{case, cases, list};
use super::tests::sites;
use super::*;
use crate::router::existing;
use crate::router::plane::Existing;

type Objects = BTreeMap<String, Value>;

/// The objects that the existing controller left for a case, by kind and name.
fn recorded(case: &Value) -> Objects {
    let mut all = match case["beside"].as_str() {
        Some(beside) => recorded(&super::recorded::case(beside)),
        None => Objects::new(),
    };
    for gone in list(&case["output"]["missing"]) {
        all.remove(gone.as_str().expect("it is a name"));
    }
    let changes = case["output"]["changes"].as_object();
    for (name, changes) in changes.into_iter().flatten() {
        let object = all.get_mut(name).expect("it is there");
        for (pointer, value) in changes.as_object().into_iter().flatten() {
            set(object, pointer, value);
        }
    }
    for object in list(&case["output"]["objects"]) {
        all.insert(name(object), object.clone());
    }
    all
}

fn name(object: &Value) -> String {
    let text = |value: &Value| value.as_str().expect("it is a text").to_owned();
    format!(
        "{} {}",
        text(&object["kind"]),
        text(&object["metadata"]["name"])
    )
}

/// Sets the value at a JSON pointer, and creates the path to it.
fn set(object: &mut Value, pointer: &str, value: &Value) {
    let mut place = object;
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        place = match token.parse::<usize>() {
            Ok(index) if place.is_array() => &mut place[index],
            Ok(_) | Err(_) => &mut place[token],
        };
    }
    *place = value.clone();
}

/// Merges `wanted` into the existing value, as server-side apply does: list elements are matched by
/// their keys. Records each difference.
fn written_over(there: &mut Value, wanted: &Value, at: &str, told: &mut Vec<String>) {
    match (there, wanted) {
        (Value::Object(there), Value::Object(wanted)) => {
            for (key, wanted) in wanted {
                let at = format!("{at}/{key}");
                match there.get_mut(key) {
                    Some(there) => written_over(there, wanted, &at, told),
                    None => told.push(format!("{at}: new")),
                }
            }
        }
        (Value::Array(there), Value::Array(wanted)) if wanted.iter().all(Value::is_object) => {
            for wanted in wanted {
                let key = ["name", "mountPath", "containerPort"].into_iter();
                let key = key.map(|key| &wanted[key]).find(|key| !key.is_null());
                let same = |there: &&mut Value| match key {
                    Some(key) => ["name", "mountPath", "containerPort"]
                        .iter()
                        .any(|name| there[*name] == *key),
                    None => *there == wanted,
                };
                match there.iter_mut().find(same) {
                    Some(there) => written_over(there, wanted, at, told),
                    None => told.push(format!("{at}: a new {wanted}")),
                }
            }
        }
        (there, wanted) if there == wanted => {}
        (there, wanted) => told.push(format!("{at}: {wanted} instead of {there}")),
    }
}

/// The Site of a case, and its ConfigMaps that are templates or sizes.
fn case_objects(case: &Value) -> Option<(Site, Vec<ConfigMap>)> {
    let steps = [list(&case["input"])].into_iter();
    let steps = steps.chain(list(&case["then"]).iter().map(list));
    let all: Vec<&Value> = steps.flatten().collect();
    let of = |kind: &str| {
        let all: Vec<&Value> = all
            .iter()
            .copied()
            .filter(|object| object["kind"] == kind)
            .collect();
        all
    };
    let sites = of("Site");
    let first = &sites.first()?["metadata"]["name"];
    // As it was written last.
    let site = sites
        .iter()
        .rev()
        .find(|site| site["metadata"]["name"] == *first);
    let mut site = (*site?).clone();
    site["metadata"]["uid"] =
        format!("<uid of Site {}>", site["metadata"]["name"].as_str()?).into();
    site["metadata"]["namespace"] = "west".into();
    if site["spec"].is_null() {
        site["spec"] = Value::Object(Map::new());
    }
    let maps = of("ConfigMap").into_iter().cloned().map(|mut map| {
        if map["metadata"]["namespace"].is_null() {
            map["metadata"]["namespace"] = "west".into();
        }
        serde_json::from_value(map).expect("it is a ConfigMap")
    });
    Some((
        serde_json::from_value(site).expect("it is a Site"),
        maps.collect(),
    ))
}

/// Returns the operator's objects for the Site on the existing router, whatever other objects
/// exist.
fn ours(site: &Site, maps: &[ConfigMap]) -> Objects {
    let sites = sites();
    let this = This::new(site);
    let labelled = |label: &str| {
        let all = maps.iter().filter(|map| map.labels().contains_key(label));
        all.collect::<Vec<_>>()
    };
    let templates =
        Templates::from_config_maps(&labelled(templates::TEMPLATE), &sites.controller_id);
    let sizing = sites.sizing(&site.spec, &labelled(sizing::SIZING));
    let account = named(site.spec.service_account.as_ref());
    let pods = ExistingPods {
        namespace: "west",
        name: this.meta.name.as_deref().unwrap_or_default(),
        site: uid(this),
        spec: &site.spec,
        images: Existing {
            router: "router:1",
            kind: Adaptor::KubeAdaptor,
            adaptor: "adaptor:1",
        },
        account: account.unwrap_or(ROUTER),
        router: sizing.router.unwrap_or_else(|| json!({})),
        adaptor: sizing.adaptor.unwrap_or_else(|| json!({})),
    };
    let mut all = Objects::new();
    let mut add = |kind: &str, object: &Value| {
        all.insert(
            format!(
                "{kind} {}",
                object["metadata"]["name"].as_str().unwrap_or_default()
            ),
            object.clone(),
        );
    };
    add(
        "Deployment",
        templates.on(existing::deployment(&pods)).as_json(),
    );
    add("Service", templates.on(existing::local_service()).as_json());
    let certificate = existing::local_certificate("west", Adaptor::KubeAdaptor);
    add("Certificate", templates.on(certificate).as_json());
    let authorities = [objects::local_authority("west"), site_authority("west")];
    for authority in authorities {
        add("Certificate", templates.on(authority).as_json());
    }
    if account.is_none() {
        add("ServiceAccount", templates.on(objects::account()).as_json());
        add("Role", templates.on(existing::role()).as_json());
        add(
            "RoleBinding",
            templates.on(objects::role_binding()).as_json(),
        );
    }
    all
}

/// Differences with their reasons: the prefix of the object and case, the reason, and the number of
/// lines.
const DIFFERENT: [(&str, &str, usize); 4] = [
    (
        "site-edge-ha: ",
        "a Site with an Error serves all that it can",
        8,
    ),
    ("site-link-access-unsupported: ", "likewise", 8),
    (
        "label-templates",
        "templates are for all objects of a Site, and a label such as `yes` hurts nobody",
        20,
    ),
    (
        "site-size-own-namespace: ",
        "sizes of the namespace of a Site count",
        1,
    ),
];

#[test]
fn written_over_what_the_existing_controller_left_nothing_changes() {
    let mut found = Vec::new();
    let mut compared = 0;
    for name in cases() {
        let case = case(&name);
        let Some((site, maps)) = case_objects(&case) else {
            continue;
        };
        let theirs = recorded(&case);
        for (object, wanted) in ours(&site, &maps) {
            let Some(there) = theirs.get(&object) else {
                found.push(format!("{name}: {object}: only ours"));
                continue;
            };
            compared += 1;
            let mut told = Vec::new();
            written_over(&mut there.clone(), &wanted, "", &mut told);
            found.extend(
                told.into_iter()
                    .map(|line| format!("{name}: {object}{line}")),
            );
        }
    }
    assert!(compared > 700, "{compared} compared");
    // A self-signed certificate needs no authority. The existing controller sets none. This
    // operator sets itself, because an empty text is not written.
    found.retain(|line| !line.contains("-ca/spec/ca: "));
    for (begins, why, lines) in DIFFERENT {
        let before = found.len();
        found.retain(|line| !line.starts_with(begins));
        assert_eq!(before - found.len(), lines, "{begins} {why}");
    }
    assert_eq!(found, Vec::<String>::new());
}
