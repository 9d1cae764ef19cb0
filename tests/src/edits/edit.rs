//! Edits that others may make to a place: change it, remove it, add to it, or own it, each through
//! an update or an apply.

use std::fmt;

use lifecycle_suite::managed::Step;
use serde_json::{Map, Value, json};

use super::place::FieldInfo;
use super::schema::Schema;

/// Action of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Change,
    Remove,
    Add,
    Own,
}

/// How it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteMode {
    Update,
    Forced,
    Unforced,
}

/// One edit.
#[derive(Clone, Debug)]
pub(super) struct Edit {
    /// Index of the edited place in the object.
    pub(super) number: usize,
    /// The same as text, of the object that edits were listed for.
    pub(super) place: String,
    pub(super) act: Act,
    pub(super) by: WriteMode,
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {} by {:?}", self.act, self.place, self.by)
    }
}

/// Response of the API server to an edit.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    Made {
        added: Option<Added>,
        /// True if the fields of others at this place were still there after the edit. The edit
        /// itself may have removed them, together with everything around them.
        is_marked: bool,
    },
    Refused,
    Conflict,
}

/// An element beside our fields.
#[derive(Clone, Debug)]
pub(super) struct Added {
    /// Place to which the element is added.
    pub(super) place: String,
    pub(super) path: Vec<Step>,
}

/// All edits of an object with these places.
pub(super) fn edits(places: &[FieldInfo<'_>], is_status: bool) -> Vec<Edit> {
    let all = places.iter().enumerate().flat_map(|(number, place)| {
        applicable_edits(place, is_status)
            .into_iter()
            .map(move |(act, by)| Edit {
                number,
                place: place.text(),
                act,
                by,
            })
    });
    all.collect()
}

fn applicable_edits(place: &FieldInfo<'_>, is_status: bool) -> Vec<(Act, WriteMode)> {
    let is_member = !matches!(place.path.last(), Some(Step::Field(_)));
    let mut ways = match (place.whole, place.is_composite) {
        (Some(_), _) if place.is_leaf() => vec![
            (Act::Change, WriteMode::Update),
            (Act::Change, WriteMode::Forced),
            (Act::Change, WriteMode::Unforced),
            (Act::Remove, WriteMode::Update),
            (Act::Remove, WriteMode::Forced),
            (Act::Own, WriteMode::Update),
            (Act::Own, WriteMode::Forced),
        ],
        (Some(_), false) => vec![
            (Act::Change, WriteMode::Update),
            (Act::Remove, WriteMode::Update),
        ],
        (Some(_), true) => vec![
            (Act::Add, WriteMode::Update),
            (Act::Remove, WriteMode::Update),
        ],
        (None, _) if is_member => vec![
            (Act::Remove, WriteMode::Update),
            (Act::Own, WriteMode::Update),
        ],
        (None, _) => vec![
            (Act::Add, WriteMode::Update),
            (Act::Add, WriteMode::Forced),
            (Act::Remove, WriteMode::Update),
        ],
    };
    // Only structures have fields that are not there; the top ones cannot go.
    let is_structure = place.whole.is_none() && !is_member && !has_elements(place);
    ways.retain(|(act, _)| match act {
        Act::Add => !is_structure,
        Act::Remove => place.path.len() > 1,
        // A report states the facts, regardless of the other writers of its fields.
        Act::Own => !is_status,
        Act::Change => true,
    });
    ways
}

fn has_elements(place: &FieldInfo<'_>) -> bool {
    place.schema.is_map() || place.schema.element().is_some()
}

/// Returns other values for a place, the most useful first.
pub(super) fn changed(schema: Schema<'_>, value: &Value) -> Vec<Value> {
    match value {
        Value::Object(map) if schema.is_map() => {
            let mut more = map.clone();
            more.insert(KEY.to_owned(), entry(schema, map));
            vec![Value::Object(more)]
        }
        Value::Object(map) => changed_inside(schema, map),
        Value::Array(list) => element(schema, list, &Map::new())
            .map(|more| {
                let mut list = list.clone();
                list.push(more);
                Value::Array(list)
            })
            .into_iter()
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema.others(value),
    }
}

const KEY: &str = "edited";

fn entry(schema: Schema<'_>, map: &Map<String, Value>) -> Value {
    let inner = schema.field(KEY);
    let found = map.values().next();
    let other = inner
        .zip(found)
        .and_then(|(inner, value)| changed(inner, value).into_iter().next());
    other.unwrap_or_else(|| json!("edited"))
}

/// One of its fields has another value.
fn changed_inside(schema: Schema<'_>, map: &Map<String, Value>) -> Vec<Value> {
    let fields = map.iter().filter_map(|(name, value)| {
        let other = changed(schema.field(name)?, value);
        Some((name.clone(), other))
    });
    let each = fields.flat_map(|(name, others)| {
        others.into_iter().map(move |other| {
            let mut map = map.clone();
            map.insert(name.clone(), other);
            Value::Object(map)
        })
    });
    each.collect()
}

/// Returns another element for a list or map in which others may have elements: the content to
/// write, and its step.
pub(super) fn more(
    place: &FieldInfo<'_>,
    value: &Value,
    keys: &Map<String, Value>,
) -> Option<(Value, Step)> {
    match value {
        Value::Object(map) => Some((entry(place.schema, map), Step::Field(KEY.to_owned()))),
        Value::Array(list) => {
            let made = element(place.schema, list, keys)?;
            let step = match keys.is_empty() {
                true => Step::Value(made.clone()),
                false => {
                    let named = keys.keys().map(|key| (key.clone(), made[key].clone()));
                    Step::Member(named.collect())
                }
            };
            Some((made, step))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// Returns an element like the first, with other keys. It lacks the fields that may occur only
/// once.
fn element(schema: Schema<'_>, list: &[Value], keys: &Map<String, Value>) -> Option<Value> {
    let inner = schema.element()?;
    let first = list.first()?;
    let Some(map) = first.as_object() else {
        return changed(inner, first).into_iter().next_back();
    };
    let mut made = map.clone();
    for only in ["controller", "blockOwnerDeletion", "nodePort"] {
        made.remove(only);
    }
    let numbers: Vec<_> = keys.iter().filter(|(_, value)| value.is_number()).collect();
    let told_apart = match numbers.is_empty() {
        true => keys.keys().collect(),
        false => numbers.into_iter().map(|(key, _)| key).collect::<Vec<_>>(),
    };
    let name = "name".to_owned();
    for key in told_apart.into_iter().chain([&name]) {
        let other = match made.get(key) {
            Some(Value::Number(number)) => json!(number.as_i64().unwrap_or_default() + 1000),
            Some(Value::String(text)) => json!(format!("{text}x")),
            _ => continue,
        };
        made.insert(key.clone(), other);
    }
    Some(Value::Object(made))
}
