//! Events, which two groups show in two ways. They are stored as the core group has them.

use serde_json::{Map, Value};

use super::failure::Cause;
use super::kinds::Kind;
use super::names;
use super::object::{self, text};

/// How long a reason, an action or an instance may be.
const LONGEST_WORD: usize = 128;
const LONGEST_NOTE: usize = 1024;

/// The core group's name of a field, and that of `events.k8s.io`.
const NAMES: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
];

/// Returns true if objects of this kind are stored as another kind.
pub(crate) fn is_other_view(kind: &Kind) -> bool {
    kind.is("events.k8s.io", "events")
}

/// Converts a stored Event to `events.k8s.io`.
pub(crate) fn to_view(object: Value) -> Value {
    rename(object, |(core, view)| (core, view))
}

/// Converts an Event of `events.k8s.io` to the stored form.
pub(crate) fn to_store(object: Value) -> Value {
    rename(object, |(core, view)| (view, core))
}

fn rename(
    object: Value,
    names: impl Fn((&'static str, &'static str)) -> (&'static str, &'static str),
) -> Value {
    let Value::Object(map) = object else {
        return object;
    };
    let renamed: Map<String, Value> = map
        .into_iter()
        .map(|(key, value)| {
            let pair = NAMES.into_iter().map(&names).find(|(from, _)| *from == key);
            (pair.map_or(key, |(_, to)| to.to_owned()), value)
        })
        .collect();
    Value::Object(renamed)
}

/// Returns the errors of a new event. The newer group is stricter.
pub(crate) fn validate_new(kind: &Kind, event: &Value) -> Vec<Cause> {
    let strict = is_other_view(kind);
    let event = if strict {
        &to_store(event.clone())
    } else {
        event
    };
    let timed = !text(event, "eventTime").is_empty();
    let (own, involved) = (
        object::namespace(event),
        text(&event["involvedObject"], "namespace"),
    );
    let mut causes = Vec::new();
    let without = if timed {
        ["default", "kube-system"].contains(&own)
    } else {
        ["", "default"].contains(&own)
    };
    let agrees = match involved {
        "" => without,
        involved => timed || involved == own,
    };
    if !agrees {
        causes.push(Cause::invalid(
            "involvedObject.namespace",
            &involved.into(),
            "does not match event.namespace",
        ));
    }
    if timed {
        let controller = if strict {
            "reportingController"
        } else {
            "reportingComponent"
        };
        causes.extend(of_reporter(event, controller));
    }
    if strict {
        causes.extend(strictly(event, timed));
    }
    causes
}

fn of_reporter(event: &Value, controller: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let reporter = text(event, "reportingComponent");
    if reporter.is_empty() {
        causes.push(Cause::required(controller, ""));
    }
    let wrong = names::qualified(reporter);
    causes.extend(Cause::all_invalid(controller, &reporter.into(), wrong));
    for field in ["reportingInstance", "action", "reason", "message"] {
        let (found, longest) = match field {
            "message" => (text(event, field), LONGEST_NOTE),
            _ => (text(event, field), LONGEST_WORD),
        };
        if found.is_empty() && field != "message" {
            causes.push(Cause::required(field, ""));
        }
        if found.len() > longest {
            let detail = format!("can have at most {longest} characters");
            causes.push(Cause::invalid(field, &"".into(), &detail));
        }
    }
    causes
}

fn strictly(event: &Value, timed: bool) -> Vec<Cause> {
    let mut causes = Vec::new();
    if !timed {
        causes.push(Cause::required("eventTime", ""));
    }
    let word = text(event, "type");
    if !["Normal", "Warning"].contains(&word) {
        let detail = format!("has invalid value: {word}");
        causes.push(Cause::invalid("type", &"".into(), &detail));
    }
    let source = &event["source"];
    let set = [
        ("firstTimestamp", !text(event, "firstTimestamp").is_empty()),
        ("lastTimestamp", !text(event, "lastTimestamp").is_empty()),
        ("count", event["count"].as_i64().unwrap_or(0) != 0),
        (
            "source",
            !text(source, "component").is_empty() || !text(source, "host").is_empty(),
        ),
    ];
    for (field, _) in set.into_iter().filter(|(_, set)| *set) {
        causes.push(Cause::invalid(field, &"".into(), "needs to be unset"));
    }
    causes
}

/// Fills in the defaults of the core group.
pub(crate) fn default(event: &mut Value) {
    let Some(map) = event.as_object_mut() else {
        return;
    };
    for field in ["firstTimestamp", "lastTimestamp", "eventTime"] {
        map.entry(field).or_insert(Value::Null);
    }
    for field in ["reportingComponent", "reportingInstance"] {
        object::fill(map, field, "");
    }
    object::fill(map, "source", Value::Object(Map::new()));
    if !map.get("source").is_some_and(Value::is_object) {
        map.insert("source".to_owned(), Value::Object(Map::new()));
    }
}
