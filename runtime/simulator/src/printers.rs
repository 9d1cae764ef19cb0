//! Formats objects as rows of a table: the columns of the built-in kinds as in a real API server,
//! and those that a CustomResourceDefinition declares. Pure functions on JSON, independent of
//! requests and storage.

pub(crate) mod age;
mod cells;
mod cluster;
mod network;
pub(crate) mod path;
mod storage;
mod workloads;

use jiff::Timestamp;
use serde_json::{Value, json};

use age::since;
use path::Path;

/// The cells of one object, in the order of the columns.
type Cells = fn(&Value, Timestamp) -> Vec<Value>;

/// Row of the list of printers: group, kind, columns and cells. Columns are separated by `|`. `+`
/// marks one that only `-o wide` shows. The text after `:` is its type if it is not `string`.
type PrinterRow = (&'static str, &'static str, &'static str, Cells);

/// Columns of kinds without chosen columns.
const PLAIN: &str = "Name|Created At:date";

/// How the objects of one kind are printed.
#[derive(Clone, Debug)]
pub(crate) enum Printer {
    /// As a real API server prints a built-in kind.
    Builtin(&'static str, Cells),
    /// Columns that a CustomResourceDefinition declares.
    Custom(Vec<Declared>),
}

/// A printer column of a CustomResourceDefinition.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    definition: Value,
    kind: String,
    path: Path,
}

impl Printer {
    /// The printer of a built-in kind; kinds without columns of their own show when they were created.
    pub(crate) fn builtin(group: &str, kind: &str) -> Self {
        let lists = [
            workloads::PRINTERS,
            network::PRINTERS,
            storage::PRINTERS,
            cluster::PRINTERS,
        ];
        let found = lists
            .into_iter()
            .flatten()
            .find(|entry| (entry.0, entry.1) == (group, kind));
        found.map_or(Self::Builtin(PLAIN, plain), |entry| {
            Self::Builtin(entry.2, entry.3)
        })
    }

    /// The printer of a version of a CustomResourceDefinition, by its `additionalPrinterColumns`.
    ///
    /// # Errors
    /// A path cannot be read; the sentence names it.
    pub(crate) fn declared(columns: &[Value]) -> Result<Self, String> {
        if columns.is_empty() {
            let age =
                json!({ "name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp" });
            return Self::declared(&[age]);
        }
        columns
            .iter()
            .map(Declared::parse)
            .collect::<Result<_, _>>()
            .map(Self::Custom)
    }

    /// `columnDefinitions` of a table.
    pub(crate) fn columns(&self) -> Vec<Value> {
        match self {
            Self::Builtin(columns, _) => columns.split('|').map(column).collect(),
            Self::Custom(declared) => {
                let declared = declared.iter().map(|column| column.definition.clone());
                std::iter::once(column("Name")).chain(declared).collect()
            }
        }
    }

    /// The cells of one object.
    pub(crate) fn cells(&self, object: &Value, now: Timestamp) -> Vec<Value> {
        match self {
            Self::Builtin(_, cells) => cells(object, now),
            Self::Custom(declared) => {
                let name = object["metadata"]["name"].clone();
                let declared = declared.iter().map(|column| column.cell(object, now));
                std::iter::once(name).chain(declared).collect()
            }
        }
    }

    /// Returns the `conditions` of a row, which report whether the object has completed.
    pub(crate) fn conditions(object: &Value) -> Option<Value> {
        if object["kind"] != "Pod" {
            return None;
        }
        let (phase, said) = match object["status"]["phase"].as_str() {
            Some("Succeeded") => ("Succeeded", "The pod has completed successfully."),
            Some("Failed") => ("Failed", "The pod failed."),
            Some(_) | None => return None,
        };
        Some(json!([{ "type": "Completed", "status": "True", "reason": phase, "message": said }]))
    }
}

impl Declared {
    fn parse(column: &Value) -> Result<Self, String> {
        let said = column["jsonPath"].as_str().unwrap_or_default();
        let kind = column["type"].as_str().unwrap_or_default().to_owned();
        let described = format!("Custom resource definition column (in JSONPath format): {said}");
        let description = column["description"]
            .as_str()
            .filter(|text| !text.is_empty());
        Ok(Self {
            definition: json!({
                "name": column["name"],
                "type": kind,
                "format": column["format"].as_str().unwrap_or_default(),
                "description": description.unwrap_or(&described),
                "priority": column["priority"].as_i64().unwrap_or_default(),
            }),
            kind,
            path: Path::parse(said)?,
        })
    }

    fn cell(&self, object: &Value, now: Timestamp) -> Value {
        let Some(found) = self.path.find(object).into_iter().next() else {
            return Value::Null;
        };
        match (self.kind.as_str(), found) {
            ("string", found) => path::printed(found).into(),
            ("integer", Value::Number(number)) => integer(number),
            ("number", Value::Number(number)) => json!(number.as_f64()),
            ("boolean", Value::Bool(truth)) => json!(truth),
            ("date", Value::String(time)) => match time.parse() {
                Ok(time) => since(Some(time), now).into(),
                Err(_) => "<invalid>".into(),
            },
            _ => Value::Null,
        }
    }
}

fn integer(number: &serde_json::Number) -> Value {
    // A whole number in floating point is cut, as a conversion to an integer cuts it.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "values out of range saturate, as intended"
    )]
    let cut = || number.as_f64().map(|float| float as i64);
    json!(number.as_i64().or_else(cut))
}

fn plain(object: &Value, _: Timestamp) -> Vec<Value> {
    let metadata = &object["metadata"];
    vec![
        metadata["name"].clone(),
        metadata["creationTimestamp"].clone(),
    ]
}

fn column(text: &str) -> Value {
    let (name, kind) = text.split_once(':').unwrap_or((text, "string"));
    let (name, priority) = name.strip_prefix('+').map_or((name, 0), |name| (name, 1));
    let format = if name == "Name" { "name" } else { "" };
    json!({ "name": name, "type": kind, "format": format, "description": "", "priority": priority })
}

#[cfg(test)]
mod tests;
