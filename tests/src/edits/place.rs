//! Places of an object that a manager owns, by its entry of managed fields. They are fields, keys,
//! elements, and everything below a value that is owned as a whole.

use anyhow::{Context, Result};
use lifecycle_suite::managed::{Step, text, value_at};
use serde_json::{Map, Value};

use super::schema::Schema;

/// A place, with its schema and its entry of managed fields.
#[derive(Clone, Debug)]
pub(super) struct FieldInfo<'a> {
    pub(super) path: Vec<Step>,
    pub(super) schema: Schema<'a>,
    /// It is a map, a structure or a list.
    pub(super) is_composite: bool,
    /// How many steps lead to the value that is owned as a whole and holds it, or is it.
    pub(super) whole: Option<usize>,
}

impl FieldInfo<'_> {
    /// `spec.ports[{"port":80}].name`.
    pub(super) fn text(&self) -> String {
        text(&self.path)
    }

    /// Returns true if the entry names exactly this place as a value.
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
) -> Result<Vec<FieldInfo<'a>>> {
    let mut found = Vec::new();
    collect_fields(schema, live, fields, &mut Vec::new(), &mut found)?;
    Ok(found)
}

fn collect_fields<'a>(
    schema: Schema<'a>,
    live: &Value,
    fields: &Map<String, Value>,
    path: &mut Vec<Step>,
    found: &mut Vec<FieldInfo<'a>>,
) -> Result<()> {
    for (name, inner) in fields.iter().filter(|(name, _)| *name != ".") {
        let step = Step::parse(name).with_context(|| format!("{name} is no name of a field"))?;
        let missing = || format!("{name} below {path:?} is not in the schema");
        let schema = match &step {
            Step::Field(name) => schema.field(name),
            Step::Member(_) | Step::Value(_) | Step::Index(_) => schema.element(),
        };
        let schema = schema.with_context(missing)?;
        let value = value_at(live, std::slice::from_ref(&step));
        path.push(step);
        let value = value.with_context(|| format!("{path:?} is owned and not there"))?;
        let inner = inner.as_object().context("no fields")?;
        let whole = inner.is_empty().then_some(path.len());
        found.push(FieldInfo {
            path: path.clone(),
            schema,
            is_composite: is_composite(value),
            whole,
        });
        match whole {
            Some(whole) => inside(schema, value, whole, path, found),
            None => collect_fields(schema, value, inner, path, found)?,
        }
        path.pop();
    }
    Ok(())
}

/// Collects the places inside a value that is owned as a whole.
fn inside<'a>(
    schema: Schema<'a>,
    value: &Value,
    whole: usize,
    path: &mut Vec<Step>,
    found: &mut Vec<FieldInfo<'a>>,
) {
    let mut note = |step: Step, schema: Option<Schema<'a>>, value: &Value| {
        let Some(schema) = schema else {
            return;
        };
        path.push(step);
        found.push(FieldInfo {
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
