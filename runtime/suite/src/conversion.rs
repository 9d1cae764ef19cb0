//! Round-trip check of a kind between two versions of its API, with values that the schema of each
//! version allows. Knows no cluster.

mod generate;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use lifecycle_runtime::conversion::{Conversion, SAID_IN};
use lifecycle_simulator::schema::Schema;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use serde_json::{Value, json};

use generate::{Amount, value};

/// Conversions that were tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrialCounts {
    /// Values that went there and back, of all versions together.
    pub values: usize,
    /// How many of them needed the annotation to come back whole.
    pub kept: usize,
}

/// A value that does not survive.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The version that the value is of.
    pub from: String,
    /// The version that it was converted to.
    pub to: String,
    /// The smallest object that was found.
    pub object: Value,
    /// Description of the failure.
    pub what: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            from,
            to,
            object,
            what,
        } = self;
        let shown = serde_json::to_string_pretty(object).unwrap_or_default();
        write!(f, "{from} -> {to} -> {from}: {what}; of\n{shown}")
    }
}

impl std::error::Error for Failure {}

/// Converts this many values of each version to each other one and back. The definition has the schemas of all versions.
///
/// # Errors
/// With the first value that is refused, changes its metadata, is nothing that the schema of the other version allows, or does not come back as it was.
pub fn there_and_back(
    conversion: &Conversion,
    definition: &CustomResourceDefinition,
    values: usize,
) -> Result<TrialCounts, Box<Failure>> {
    let mut tried = TrialCounts::default();
    for from in conversion.versions() {
        for to in conversion.versions() {
            if from != to {
                let way = Direction::new(conversion, definition, (from, to))?;
                way.try_all(values, &mut tried)?;
            }
        }
    }
    Ok(tried)
}

/// From one version to another.
struct Direction<'a> {
    conversion: &'a Conversion,
    group: &'a str,
    from: &'a str,
    to: &'a str,
    values: Value,
    known: Schema,
    allowed: Schema,
}

impl<'a> Direction<'a> {
    fn new(
        conversion: &'a Conversion,
        definition: &'a CustomResourceDefinition,
        (from, to): (&'a str, &'a str),
    ) -> Result<Self, Box<Failure>> {
        let failure = |version: &str, what: String| {
            Box::new(Failure {
                from: from.to_owned(),
                to: to.to_owned(),
                object: json!({ "version": version }),
                what,
            })
        };
        let schema = |name: &str| {
            let mut versions = definition.spec.versions.iter();
            let version = versions.find(|version| version.name == name);
            let schema =
                version.and_then(|version| version.schema.as_ref()?.open_api_v3_schema.as_ref());
            let schema = schema.and_then(|schema| serde_json::to_value(schema).ok());
            schema.ok_or_else(|| failure(name, format!("the definition has no schema of {name}")))
        };
        let loaded = |name: &str, schema: &Value| {
            Schema::of_crd(schema).map_err(|causes| {
                failure(name, format!("its schema is not structural: {causes:?}"))
            })
        };
        let (values, other) = (schema(from)?, schema(to)?);
        Ok(Self {
            conversion,
            group: &definition.spec.group,
            from,
            to,
            known: loaded(from, &values)?,
            allowed: loaded(to, &other)?,
            values,
        })
    }

    fn try_all(&self, values: usize, tried: &mut TrialCounts) -> Result<(), Box<Failure>> {
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let mut unfit = 0;
        let mut number = 0;
        while number < values {
            let amount = match number {
                0 => Amount::Least,
                1 => Amount::All,
                _ => Amount::Some,
            };
            let object = self.object(value(&self.values, amount, &mut random), number);
            if !self.is_known(&object) {
                unfit += 1;
                if unfit > 10 * values + 10 {
                    let what =
                        "hardly a value that is generated is valid by its own schema".to_owned();
                    return Err(Box::new(self.failure(object, what)));
                }
                continue;
            }
            number += 1;
            match self.wrong(&object) {
                Ok(kept) => {
                    tried.values += 1;
                    tried.kept += usize::from(kept);
                }
                Err(what) => return Err(Box::new(self.smallest(object, what))),
            }
        }
        Ok(())
    }

    fn is_known(&self, object: &Value) -> bool {
        self.known.validate(None, object).is_empty()
    }

    /// A whole object, with metadata that must come through.
    fn object(&self, mut object: Value, number: usize) -> Value {
        object["apiVersion"] = json!(format!("{}/{}", self.group, self.from));
        object["kind"] = json!(self.conversion.kind());
        object["metadata"] = json!({
            "name": format!("o{number}"),
            "namespace": "ns",
            "uid": format!("u{number}"),
            "generation": 3,
            "resourceVersion": "7",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "finalizers": ["example.com/f"],
            "labels": { "l": "1" },
        });
        if number % 2 == 1 {
            object["metadata"]["annotations"] = json!({ "example.com/a": "1" });
        }
        object
    }

    fn failure(&self, object: Value, what: String) -> Failure {
        let (from, to) = (self.from.to_owned(), self.to.to_owned());
        Failure {
            from,
            to,
            object,
            what,
        }
    }

    /// Returns the defect of a value that does not survive. For a value that survives, returns true
    /// if something had to be kept for it.
    fn wrong(&self, object: &Value) -> Result<bool, String> {
        let there = self.convert(object, self.to)?;
        let wanted = format!("{}/{}", self.group, self.to);
        if there["apiVersion"] != json!(wanted) {
            return Err(format!(
                "it became {} and not `{wanted}`",
                there["apiVersion"]
            ));
        }
        let (metadata, kept) = plain(&there["metadata"]);
        if metadata != object["metadata"] {
            let what = first_difference(&object["metadata"], &metadata);
            return Err(format!("its metadata changed: {what}"));
        }
        let unknown = self.allowed.prune(&mut there.clone());
        if let Some(unknown) = unknown.first() {
            return Err(format!(
                "{} has no `{unknown}`, which is dropped there",
                self.to
            ));
        }
        if let Some(cause) = self.allowed.validate(None, &there).first() {
            return Err(format!(
                "{} does not allow what it became: {cause:?}",
                self.to
            ));
        }
        let back = self.convert(&there, self.from)?;
        let said = |object: &Value| self.conversion.normalise(object).map_err(|e| e.to_string());
        let (before, after) = (said(object)?, said(&back)?);
        if before != after {
            return Err(first_difference(&before, &after));
        }
        if back["metadata"] != object["metadata"] {
            let what = first_difference(&object["metadata"], &back["metadata"]);
            return Err(format!("its metadata did not come back: {what}"));
        }
        Ok(kept)
    }

    fn convert(&self, object: &Value, to: &str) -> Result<Value, String> {
        let converted = catch_unwind(AssertUnwindSafe(|| self.conversion.convert(object, to)));
        match converted {
            Ok(Ok(object)) => Ok(object),
            Ok(Err(error)) => Err(format!("to {to}: {error}")),
            Err(_) => Err(format!("its conversion to {to} panics")),
        }
    }

    /// The smallest value that still fails, found by leaving out one thing after the other.
    fn smallest(&self, mut object: Value, mut what: String) -> Failure {
        while let Some((smaller, why)) =
            generate::smaller(&object).into_iter().find_map(|smaller| {
                let keys = ["apiVersion", "kind", "metadata"];
                let is_whole = keys.iter().all(|key| smaller.get(key) == object.get(key));
                let fails = is_whole && self.is_known(&smaller);
                let why = fails.then(|| self.wrong(&smaller).err())??;
                Some((smaller, why))
            })
        {
            (object, what) = (smaller, why);
        }
        self.failure(object, what)
    }
}

/// Returns the metadata without the stored annotations, and true if there are any.
fn plain(metadata: &Value) -> (Value, bool) {
    let mut plain = metadata.clone();
    let annotations = plain.get_mut("annotations").and_then(Value::as_object_mut);
    let Some(annotations) = annotations else {
        return (plain, false);
    };
    let before = annotations.len();
    annotations.retain(|key, _| !key.starts_with(SAID_IN));
    let kept = annotations.len() < before;
    if annotations.is_empty() {
        plain.as_object_mut().map(|all| all.remove("annotations"));
    }
    (plain, kept)
}

/// The first place at which two values differ, in words.
fn first_difference(before: &Value, after: &Value) -> String {
    let (mut path, mut both) = (String::new(), (Some(before), Some(after)));
    while let (Some(Value::Object(one)), Some(Value::Object(other))) = both {
        let mut keys = one.keys().chain(other.keys());
        let Some(key) = keys.find(|key| one.get(*key) != other.get(*key)) else {
            break;
        };
        if !path.is_empty() {
            path.push('.');
        }
        path += key;
        both = (one.get(key), other.get(key));
    }
    let shown = |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
    format!("`{path}` was {} and is {}", shown(both.0), shown(both.1))
}
