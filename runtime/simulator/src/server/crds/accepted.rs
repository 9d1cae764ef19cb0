//! Names of definitions: of two that want one name in a group, the first has it, and the other is
//! not served until it is free.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::server::object::{list, name, text};
use crate::server::state::State;

/// Field of the names, the reason of a conflict, and whether the name is that of a kind.
const NAMES: [(&str, &str, bool); 5] = [
    ("plural", "PluralConflict", false),
    ("singular", "SingularConflict", false),
    ("shortNames", "ShortNamesConflict", false),
    ("kind", "KindConflict", true),
    ("listKind", "ListKindConflict", true),
];

/// Returns true if the kind of a definition is served.
pub(super) fn is_established(definition: &Value) -> bool {
    has(definition, "Established")
}

/// Returns true if a definition has all its names.
pub(super) fn is_accepted(definition: &Value) -> bool {
    has(definition, "NamesAccepted")
}

fn has(definition: &Value, kind: &str) -> bool {
    let mut all = list(&definition["status"], "conditions").iter();
    all.any(|one| one["type"] == kind && one["status"] == "True")
}

/// Returns all definitions of a group, in order of their names.
pub(super) fn of_group(state: &State, group: &str) -> Vec<Value> {
    let definitions = state.kind("apiextensions.k8s.io", "customresourcedefinitions");
    let all = state
        .store
        .all(&definitions.store, "")
        .map(|one| one.value());
    all.filter(|one| text(&one["spec"], "group") == group)
        .collect()
}

/// Returns the status of a definition by its names and those of the others in its group.
pub(super) fn status(state: &State, definition: &Value) -> Value {
    let mut status = definition["status"].clone();
    let (mut resources, mut kinds) = (BTreeSet::new(), BTreeSet::new());
    for other in of_group(state, text(&definition["spec"], "group")) {
        if name(&other) == name(definition) {
            continue;
        }
        let accepted = &other["status"]["acceptedNames"];
        for (field, _, is_kind) in NAMES {
            let taken = if is_kind { &mut kinds } else { &mut resources };
            taken.extend(words(&accepted[field]));
        }
    }
    let wanted = &definition["spec"]["names"];
    let mut accepted = status["acceptedNames"].clone();
    let mut conflict = None;
    for (field, reason, is_kind) in NAMES {
        let taken = if is_kind { &kinds } else { &resources };
        let used: Vec<String> = words(&wanted[field])
            .into_iter()
            .filter(|word| taken.contains(word))
            .map(|word| format!("{word:?} is already in use"))
            .collect();
        match used.as_slice() {
            [] => accepted[field] = wanted[field].clone(),
            [one] => conflict = Some((reason, one.clone())),
            [..] => conflict = Some((reason, format!("[{}]", used.join(", ")))),
        }
    }
    accepted["categories"] = wanted["categories"].clone();
    if let Some(accepted) = accepted.as_object_mut() {
        accepted.retain(|_, names| !names.is_null());
    }
    status["acceptedNames"] = accepted;
    let now = state.now();
    let names = match &conflict {
        None => ("True", "NoConflicts", "no conflicts found"),
        Some((reason, message)) => ("False", *reason, message.as_str()),
    };
    let served = match &conflict {
        _ if is_established(definition) => None,
        None => Some((
            "True",
            "InitialNamesAccepted",
            "the initial names have been accepted",
        )),
        Some(_) => Some(("False", "NotAccepted", "not all names are accepted")),
    };
    set(&mut status, "NamesAccepted", names, &now);
    if let Some(served) = served {
        set(&mut status, "Established", served, &now);
    }
    status
}

fn words(names: &Value) -> Vec<String> {
    let one = names.as_str().filter(|name| !name.is_empty());
    let several = names.as_array().into_iter().flatten();
    let several = several.filter_map(Value::as_str);
    one.into_iter().chain(several).map(str::to_owned).collect()
}

/// Sets a condition, which keeps its time while its status stays.
fn set(status: &mut Value, kind: &str, (holds, reason, message): (&str, &str, &str), now: &str) {
    let mut all = list(status, "conditions").to_vec();
    let old = all.iter().position(|one| one["type"] == kind);
    let mut new = json!({
        "type": kind, "status": holds, "reason": reason, "message": message, "lastTransitionTime": now,
    });
    match old {
        Some(at) => {
            if all[at]["status"] == holds {
                new["lastTransitionTime"] = all[at]["lastTransitionTime"].clone();
            }
            // Fields that are not set here stay.
            for (field, value) in new.as_object().into_iter().flatten() {
                all[at][field.as_str()] = value.clone();
            }
        }
        None => all.push(new),
    }
    status["conditions"] = all.into();
}
