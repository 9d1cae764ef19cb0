//! Validation of custom resources against their schema, with the messages of the real server.
//! Values that have not changed since the old object are not reported (ratcheting).

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::{Map as Object, Value};

use super::expressions::{Programs, correlated};
use super::invariants::{embedded, lists};
use super::problem::{Bad, Kind, Problem, child};
use super::scalars::{limit, malformed, mistyped, too_many, unsupported, validate_number};
use super::typed::equal;

/// A custom resource's schema, with its patterns and rules compiled.
#[derive(Debug)]
pub(super) struct Custom {
    pub(super) schema: Value,
    pub(super) patterns: BTreeMap<String, Option<Regex>>,
    pub(super) programs: Programs,
}

impl Custom {
    pub(super) fn from_schema(schema: &Value) -> Self {
        let mut patterns = BTreeMap::new();
        collect_patterns(schema, &mut patterns);
        Self {
            programs: Programs::compile(schema),
            patterns,
            schema: schema.clone(),
        }
    }

    /// All problems of an object, in the order of the real server: values, embedded objects, lists, rules.
    pub(super) fn problems(&self, old: Option<&Value>, new: &Value) -> Vec<Problem> {
        let mut problems = self.value(&self.schema, "", new, old);
        embedded(&self.schema, "", new, &mut problems);
        let mut before = Vec::new();
        if let Some(old) = old {
            lists(&self.schema, "", old, &mut before);
        }
        if before.is_empty() {
            lists(&self.schema, "", new, &mut problems);
        }
        if problems.iter().any(Problem::blocks_rules) {
            if self.programs.is_empty() {
                return problems;
            }
            let detail = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
            problems.push(Problem::new(
                Kind::Invalid,
                "<nil>",
                Bad::Value(Value::Null),
                detail,
            ));
        } else {
            problems.extend(self.programs.check(&self.schema, new, old));
        }
        problems
    }

    /// The problems of a value; none if it is the same as the one that it comes from.
    pub(super) fn value(
        &self,
        schema: &Value,
        path: &str,
        value: &Value,
        old: Option<&Value>,
    ) -> Vec<Problem> {
        let problems = self.blamed(schema, path, value, old);
        if !problems.is_empty() && old.is_some_and(|old| equal(old, value)) {
            return Vec::new();
        }
        problems
    }

    fn blamed(
        &self,
        schema: &Value,
        path: &str,
        value: &Value,
        old: Option<&Value>,
    ) -> Vec<Problem> {
        let mut problems = Vec::new();
        problems.extend(mistyped(schema, path, value));
        if !value.is_null() {
            self.alternatives(schema, path, value, &mut problems);
        }
        match value {
            Value::String(text) => {
                problems.extend(self.string(schema, path, text));
                problems.extend(malformed(schema, path, text));
            }
            Value::Number(_) => validate_number(schema, path, value, &mut problems),
            Value::Array(items) => self.items(schema, path, items, old, &mut problems),
            Value::Null | Value::Bool(_) | Value::Object(_) => {}
        }
        problems.extend(unsupported(schema, path, value));
        if let Value::Object(fields) = value {
            self.fields(schema, path, fields, old, &mut problems);
        }
        problems
    }

    fn fields(
        &self,
        schema: &Value,
        path: &str,
        fields: &Object<String, Value>,
        old: Option<&Value>,
        problems: &mut Vec<Problem>,
    ) {
        let size = fields.len() as u64;
        if let Some(least) = limit(schema, "minProperties").filter(|least| size < *least) {
            let message = format!("{path} in body should have at least {least} properties");
            problems.push(Problem::new(
                Kind::Invalid,
                path,
                Bad::Value(size.into()),
                &message,
            ));
        }
        if let Some(most) = limit(schema, "maxProperties").filter(|most| size > *most) {
            problems.push(too_many(path, size, most));
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        let rest = schema.get("additionalProperties");
        let before = |name: &str| {
            let is_type = path.is_empty() && (name == "kind" || name == "apiVersion");
            old.filter(|_| !is_type).and_then(|old| old.get(name))
        };
        for (name, value) in fields {
            let declared = properties.and_then(|properties| properties.get(name));
            let rest = rest.filter(|rest| rest.is_object());
            if let Some(schema) = declared.or(rest) {
                problems.extend(self.value(schema, &child(path, name), value, before(name)));
            }
        }
        for name in schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            if let Some(name) = name.as_str().filter(|name| !fields.contains_key(*name)) {
                problems.push(Problem::new(
                    Kind::Required,
                    &child(path, name),
                    Bad::Omitted,
                    "",
                ));
            }
        }
    }

    fn items(
        &self,
        schema: &Value,
        path: &str,
        items: &[Value],
        old: Option<&Value>,
        problems: &mut Vec<Problem>,
    ) {
        if let Some(below) = schema.get("items") {
            for (index, item) in items.iter().enumerate() {
                let old = correlated(schema, old, item);
                problems.extend(self.value(below, &format!("{path}[{index}]"), item, old));
            }
        }
        let size = items.len() as u64;
        if let Some(least) = limit(schema, "minItems").filter(|least| size < *least) {
            let message = format!("{path} in body should have at least {least} items");
            problems.push(Problem::new(
                Kind::Invalid,
                path,
                Bad::Value(size.into()),
                &message,
            ));
        }
        if let Some(most) = limit(schema, "maxItems").filter(|most| size > *most) {
            problems.push(too_many(path, size, most));
        }
        let twice = |index: usize| {
            items[..index]
                .iter()
                .any(|other| equal(other, &items[index]))
        };
        if schema.get("uniqueItems") == Some(&Value::Bool(true)) && (0..items.len()).any(twice) {
            let message = format!("{path} in body shouldn't contain duplicates");
            problems.push(Problem::new(
                Kind::Invalid,
                path,
                Bad::Value("".into()),
                &message,
            ));
        }
    }

    fn string(&self, schema: &Value, path: &str, text: &str) -> Option<Problem> {
        let length = text.chars().count() as u64;
        let invalid = |message: String| {
            Some(Problem::new(
                Kind::Invalid,
                path,
                Bad::Value(text.into()),
                &message,
            ))
        };
        if let Some(most) = limit(schema, "maxLength").filter(|most| length > *most) {
            let bytes = if most == 1 { "byte" } else { "bytes" };
            let detail = format!("may not be more than {most} {bytes}");
            return Some(Problem::new(Kind::TooLong, path, Bad::Omitted, &detail));
        }
        if let Some(least) = limit(schema, "minLength").filter(|least| length < *least) {
            return invalid(format!(
                "{path} in body should be at least {least} chars long"
            ));
        }
        let pattern = schema.get("pattern").and_then(Value::as_str)?;
        let compiled = self.patterns.get(pattern)?.as_ref();
        if compiled.is_some_and(|compiled| !compiled.is_match(text)) {
            return invalid(format!("{path} in body should match '{pattern}'"));
        }
        None
    }

    fn alternatives(&self, schema: &Value, path: &str, value: &Value, problems: &mut Vec<Problem>) {
        let list = |name: &str| {
            schema
                .get(name)
                .and_then(Value::as_array)
                .filter(|list| !list.is_empty())
        };
        let nameless =
            |message: String| Problem::new(Kind::Invalid, "<nil>", Bad::Value("".into()), &message);
        let outcomes = |list: &Vec<Value>| -> Vec<Vec<Problem>> {
            list.iter()
                .map(|schema| self.value(schema, path, value, None))
                .collect()
        };
        let best =
            |outcomes: &[Vec<Problem>]| outcomes.iter().min_by_key(|found| found.len()).cloned();
        if let Some(list) = list("anyOf") {
            let outcomes = outcomes(list);
            if !outcomes.iter().any(Vec::is_empty) {
                problems.push(nameless(format!(
                    "{path:?} must validate at least one schema (anyOf)"
                )));
                problems.extend(best(&outcomes).unwrap_or_default());
            }
        }
        if let Some(list) = list("oneOf") {
            let outcomes = outcomes(list);
            let valid = outcomes.iter().filter(|found| found.is_empty()).count();
            if valid != 1 {
                let found = match valid {
                    0 => "Found none valid".to_owned(),
                    valid => format!("Found {valid} valid alternatives"),
                };
                problems.push(nameless(format!(
                    "{path:?} must validate one and only one schema (oneOf). {found}"
                )));
                if valid == 0 {
                    problems.extend(best(&outcomes).unwrap_or_default());
                }
            }
        }
        if let Some(list) = list("allOf") {
            let outcomes = outcomes(list);
            let valid = outcomes.iter().filter(|found| found.is_empty()).count();
            let all = outcomes.len();
            problems.extend(outcomes.into_iter().flatten());
            if valid != all {
                let none = if valid == 0 { ". None validated" } else { "" };
                problems.push(nameless(format!(
                    "{path:?} must validate all the schemas (allOf){none}"
                )));
            }
        }
        let not = schema.get("not");
        if not.is_some_and(|not| self.value(not, path, value, None).is_empty()) {
            problems.push(nameless(format!(
                "{path:?} must not validate the schema (not)"
            )));
        }
    }
}

fn collect_patterns(schema: &Value, patterns: &mut BTreeMap<String, Option<Regex>>) {
    match schema {
        Value::Object(fields) => {
            if let Some(pattern) = fields.get("pattern").and_then(Value::as_str) {
                patterns.insert(pattern.to_owned(), Regex::new(pattern).ok());
            }
            fields
                .values()
                .for_each(|below| collect_patterns(below, patterns));
        }
        Value::Array(items) => items
            .iter()
            .for_each(|below| collect_patterns(below, patterns)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
#[path = "validation_tests.rs"]
mod tests;
