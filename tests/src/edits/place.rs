//! The places of an object that a manager owns, by its entry of managed fields: fields, keys, elements, and what is below a value that is owned as a whole.

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use super::schema::Schema;

/// One step from an object to a place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Field(String),
    /// An element of a list, by its keys.
    Member(Map<String, Value>),
    /// A member of a set.
    Value(Value),
    /// An element of a list that is owned as a whole.
    Index(usize),
}

impl Step {
    /// As managed fields name it.
    fn name(&self) -> Option<String> {
        match self {
            Self::Field(name) => Some(format!("f:{name}")),
            Self::Member(keys) => Some(format!("k:{}", json!(keys))),
            Self::Value(value) => Some(format!("v:{value}")),
            Self::Index(_) => None,
        }
    }
}

/// A place, and what the schema and the entry say of it.
#[derive(Clone, Debug)]
pub(super) struct Place<'a> {
    pub(super) path: Vec<Step>,
    pub(super) schema: Schema<'a>,
    /// It is a map, a structure or a list.
    pub(super) is_composite: bool,
    /// How many steps lead to the value that is owned as a whole and holds it, or is it.
    pub(super) whole: Option<usize>,
}

impl Place<'_> {
    /// `spec.ports[{"port":80}].name`.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for step in &self.path {
            match step {
                Step::Field(name) if text.is_empty() => text.clone_from(name),
                Step::Field(name) => text += &format!(".{name}"),
                Step::Member(keys) => text += &format!("[{}]", json!(keys)),
                Step::Value(value) => text += &format!("[={value}]"),
                Step::Index(number) => text += &format!("[{number}]"),
            }
        }
        text
    }

    /// Whether the entry names exactly this place as a value.
    pub(super) fn is_leaf(&self) -> bool {
        self.whole == Some(self.path.len())
    }
}

/// All places of an entry, those below whole values included.
///
/// # Errors
/// The schema or the object does not have one of them.
pub(super) fn places<'a>(
    schema: Schema<'a>,
    live: &Value,
    fields: &Map<String, Value>,
) -> Result<Vec<Place<'a>>> {
    let mut found = Vec::new();
    below(schema, live, fields, &mut Vec::new(), &mut found)?;
    Ok(found)
}

fn below<'a>(
    schema: Schema<'a>,
    live: &Value,
    fields: &Map<String, Value>,
    path: &mut Vec<Step>,
    found: &mut Vec<Place<'a>>,
) -> Result<()> {
    for (name, inner) in fields.iter().filter(|(name, _)| *name != ".") {
        let step = step(name)?;
        let missing = || format!("{name} below {path:?} is not in the schema");
        let schema = match &step {
            Step::Field(name) => schema.field(name),
            Step::Member(_) | Step::Value(_) | Step::Index(_) => schema.element(),
        };
        let schema = schema.with_context(missing)?;
        let value = at(live, std::slice::from_ref(&step));
        path.push(step);
        let value = value.with_context(|| format!("{path:?} is owned and not there"))?;
        let inner = inner.as_object().context("no fields")?;
        let whole = inner.is_empty().then_some(path.len());
        found.push(Place {
            path: path.clone(),
            schema,
            is_composite: is_composite(value),
            whole,
        });
        match whole {
            Some(whole) => inside(schema, value, whole, path, found),
            None => below(schema, value, inner, path, found)?,
        }
        path.pop();
    }
    Ok(())
}

/// What lies in a value that is owned as a whole.
fn inside<'a>(
    schema: Schema<'a>,
    value: &Value,
    whole: usize,
    path: &mut Vec<Step>,
    found: &mut Vec<Place<'a>>,
) {
    let mut note = |step: Step, schema: Option<Schema<'a>>, value: &Value| {
        let Some(schema) = schema else {
            return;
        };
        path.push(step);
        found.push(Place {
            path: path.clone(),
            schema,
            is_composite: is_composite(value),
            whole: Some(whole),
        });
        inside(schema, value, whole, path, found);
        path.pop();
    };
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                note(Step::Field(name.clone()), schema.field(name), value);
            }
        }
        Value::Array(list) => {
            for (number, value) in list.iter().enumerate() {
                note(Step::Index(number), schema.element(), value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn is_composite(value: &Value) -> bool {
    value.is_object() || value.is_array()
}

fn step(name: &str) -> Result<Step> {
    let (kind, rest) = name.split_at(2);
    Ok(match kind {
        "f:" => Step::Field(rest.to_owned()),
        "k:" => Step::Member(serde_json::from_str(rest)?),
        "v:" => Step::Value(serde_json::from_str(rest)?),
        _ => anyhow::bail!("{name} is no name of a field"),
    })
}

/// Where an element is in a list as it is now.
fn position(list: &[Value], step: &Step) -> Option<usize> {
    match step {
        Step::Field(_) => None,
        Step::Member(keys) => {
            let has = |item: &Value| keys.iter().all(|(key, value)| item.get(key) == Some(value));
            list.iter().position(has)
        }
        Step::Value(value) => list.iter().position(|item| item == value),
        Step::Index(number) => (*number < list.len()).then_some(*number),
    }
}

/// The value at a place.
pub(super) fn at<'v>(live: &'v Value, path: &[Step]) -> Option<&'v Value> {
    path.iter()
        .try_fold(live, |value, step| match (value, step) {
            (Value::Object(map), Step::Field(name)) => map.get(name),
            (Value::Array(list), step) => list.get(position(list, step)?),
            _ => None,
        })
}

/// The same as a JSON pointer into the object as it is now.
pub(super) fn pointer(live: &Value, path: &[Step]) -> Option<String> {
    let mut pointer = String::new();
    for (depth, step) in path.iter().enumerate() {
        pointer.push('/');
        pointer += &match step {
            Step::Field(name) => name.replace('~', "~0").replace('/', "~1"),
            Step::Member(_) | Step::Value(_) | Step::Index(_) => {
                let list = at(live, &path[..depth])?.as_array()?;
                position(list, step)?.to_string()
            }
        };
    }
    Some(pointer)
}

/// An object of nothing but a value at a place, as an apply sends it.
pub(super) fn alone(path: &[Step], value: Value) -> Value {
    path.iter().rev().fold(value, |inner, step| match step {
        Step::Field(name) => json!({ name: inner }),
        Step::Member(keys) => {
            let mut member = json!(keys);
            for (key, value) in inner.as_object().into_iter().flatten() {
                member[key] = value.clone();
            }
            json!([member])
        }
        Step::Value(_) | Step::Index(_) => json!([inner]),
    })
}

/// Takes a place out of an entry, with what is left empty by that; an entry of nothing but that place.
pub(super) fn moved(fields: &mut Map<String, Value>, path: &[Step]) -> Option<Value> {
    let names: Vec<String> = path.iter().map(Step::name).collect::<Option<_>>()?;
    let part = take(fields, &names)?;
    let nested = names.iter().rev();
    Some(nested.fold(part, |inner, name| json!({ name: inner })))
}

fn take(fields: &mut Map<String, Value>, names: &[String]) -> Option<Value> {
    let (first, rest) = names.split_first()?;
    if rest.is_empty() {
        return fields.remove(first);
    }
    let inner = fields.get_mut(first)?.as_object_mut()?;
    let taken = take(inner, rest);
    if inner.is_empty() {
        fields.remove(first);
    }
    taken
}

/// Every place that an entry owns, as text, and what is there.
pub(super) fn owned(fields: &Map<String, Value>, live: &Value) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    walk(fields, live, "", &mut found);
    found
}

fn walk(
    fields: &Map<String, Value>,
    live: &Value,
    at_text: &str,
    found: &mut Vec<(String, Value)>,
) {
    for (name, inner) in fields.iter().filter(|(name, _)| *name != ".") {
        let step = step(name).ok();
        let value = step
            .and_then(|step| at(live, &[step]).cloned())
            .unwrap_or_default();
        let text = format!("{at_text}/{name}");
        match inner.as_object() {
            Some(inner) if !inner.is_empty() => walk(inner, &value, &text, found),
            // It tells when the rest became true.
            _ if name == "f:lastTransitionTime" => found.push((text, Value::Null)),
            _ => found.push((text, value)),
        }
    }
}
