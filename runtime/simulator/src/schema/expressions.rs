//! `x-kubernetes-validations`: CEL rules over a value and its old value. `kube-cel` provides the
//! language and the functions of Kubernetes. This module binds the values and words the messages.

pub(super) mod checker;
mod conversions;
pub(super) mod cost;
mod evaluation;
mod named;
mod types;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use kube_cel::KubeCelExt as _;
use kube_cel::cel::objects::{Key, Map, OptionalValue};
use kube_cel::cel::parser::Parser;
use kube_cel::cel::{Context, ExecutionError, IdedExpr, Program, Value as Cel};
use serde_json::Value;

use super::problem::{Bad, Kind, Problem, child, list_keys};
use super::typed::equal;

/// A rule as the parser and as the interpreter understand it.
struct Compiled {
    parsed: IdedExpr,
    /// `None` if the interpreter cannot evaluate it. Then it holds.
    adapted: Option<IdedExpr>,
}

/// The rules of one schema, compiled once, by their text.
#[derive(Default)]
pub(super) struct Programs(BTreeMap<String, Result<Compiled, String>>);

impl fmt::Debug for Programs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.0.keys()).finish()
    }
}

impl Programs {
    /// Compiles every rule and message in a schema.
    pub(super) fn compile(schema: &Value) -> Self {
        let mut programs = Self::default();
        programs.collect(schema);
        programs
    }

    fn collect(&mut self, schema: &Value) {
        for rule in rules(schema) {
            for name in ["rule", "messageExpression"] {
                if let Some(text) = rule.get(name).and_then(Value::as_str) {
                    // Kubernetes has optional values in the language.
                    let parser = Parser::new().enable_optional_syntax(true);
                    let compiled = parser.parse(text).map(|parsed| Compiled {
                        adapted: evaluation::adapted(&parsed),
                        parsed,
                    });
                    let compiled = compiled.map_err(|error| error.to_string());
                    self.0.insert(text.to_owned(), compiled);
                }
            }
        }
        match schema {
            Value::Object(fields) => fields.values().for_each(|below| self.collect(below)),
            Value::Array(items) => items.iter().for_each(|below| self.collect(below)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Why a rule does not compile, if so.
    pub(super) fn error(&self, text: &str) -> Option<&str> {
        let compiled = self.0.get(text)?;
        compiled.as_ref().err().map(String::as_str)
    }

    /// Returns true if a rule reads the old value.
    pub(super) fn is_transition(&self, text: &str) -> bool {
        let program = self.expression(text);
        program.is_some_and(|program| program.references().variables().contains(&"oldSelf"))
    }

    /// Returns a rule as the parser understands it.
    pub(super) fn expression(&self, text: &str) -> Option<&IdedExpr> {
        let compiled = self.0.get(text)?.as_ref().ok()?;
        Some(&compiled.parsed)
    }

    /// Evaluates the rules of a value and of all within it.
    pub(super) fn check(&self, schema: &Value, value: &Value, old: Option<&Value>) -> Vec<Problem> {
        let mut checker = Checker {
            programs: self,
            problems: Vec::new(),
        };
        let correlation = Correlation {
            current: old.map(|old| (old, value)),
            parent: None,
        };
        checker.check_value(schema, "", value, old, correlation, true);
        checker.problems
    }
}

pub(super) fn rules(schema: &Value) -> impl Iterator<Item = &Value> {
    let rules = schema
        .get("x-kubernetes-validations")
        .and_then(Value::as_array);
    rules.into_iter().flatten()
}

type Pair<'a> = (&'a Value, &'a Value);

/// The old and the new value here, or of the nearest parent where this one has no old value: unchanged ones are not blamed.
#[derive(Clone, Copy)]
struct Correlation<'a> {
    current: Option<Pair<'a>>,
    parent: Option<Pair<'a>>,
}

impl<'a> Correlation<'a> {
    fn is_unchanged(self) -> bool {
        let pair = self.current.or(self.parent);
        pair.is_some_and(|(old, new)| equal(old, new))
    }

    fn descend(self, old: Option<&'a Value>, new: &'a Value) -> Self {
        match self.current {
            None => self,
            Some(_) => Self {
                current: old.map(|old| (old, new)),
                parent: self.current,
            },
        }
    }
}

struct Checker<'p> {
    programs: &'p Programs,
    problems: Vec<Problem>,
}

impl Checker<'_> {
    fn check_value<'a>(
        &mut self,
        schema: &Value,
        path: &str,
        value: &'a Value,
        old: Option<&'a Value>,
        correlation: Correlation<'a>,
        is_root: bool,
    ) {
        let old = old.filter(|old| !old.is_null());
        if value.is_null() {
            return;
        }
        for rule in rules(schema) {
            self.rule(schema, rule, path, value, old, correlation, is_root);
        }
        for nested in schema
            .get("allOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let correlation = Correlation {
                current: None,
                ..correlation
            };
            self.check_value(nested, path, value, old, correlation, false);
        }
        match value {
            Value::Object(fields) => {
                let properties = schema.get("properties").and_then(Value::as_object);
                let rest = schema
                    .get("additionalProperties")
                    .filter(|rest| rest.is_object());
                for (name, value) in fields {
                    let declared = properties.and_then(|properties| properties.get(name));
                    let old = old.and_then(|old| old.get(name));
                    let correlation = correlation.descend(old, value);
                    match (declared, rest) {
                        (Some(schema), _) => self.check_value(
                            schema,
                            &child(path, name),
                            value,
                            old,
                            correlation,
                            false,
                        ),
                        (None, Some(schema)) => {
                            self.check_value(
                                schema,
                                &format!("{path}[{name}]"),
                                value,
                                old,
                                correlation,
                                false,
                            );
                        }
                        (None, None) => {}
                    }
                }
            }
            Value::Array(items) => {
                let Some(below) = schema.get("items") else {
                    return;
                };
                for (index, item) in items.iter().enumerate() {
                    let old = correlated(schema, old, item);
                    let correlation = correlation.descend(old, item);
                    self.check_value(
                        below,
                        &format!("{path}[{index}]"),
                        item,
                        old,
                        correlation,
                        false,
                    );
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    #[expect(clippy::too_many_arguments, reason = "they are what one rule is about")]
    fn rule(
        &mut self,
        schema: &Value,
        rule: &Value,
        path: &str,
        value: &Value,
        old: Option<&Value>,
        correlation: Correlation<'_>,
        is_root: bool,
    ) {
        let text = |name: &str| {
            rule.get(name)
                .and_then(Value::as_str)
                .map(str::trim)
                .unwrap_or_default()
        };
        let source = rule.get("rule").and_then(Value::as_str).unwrap_or_default();
        let Some(Ok(compiled)) = self.programs.0.get(source) else {
            return;
        };
        let Some(program) = &compiled.adapted else {
            return;
        };
        let is_transition = self.programs.is_transition(source);
        let is_optional = rule.get("optionalOldSelf") == Some(&Value::Bool(true));
        if is_transition && old.is_none() && !is_optional {
            return;
        }
        let context = bound(schema, value, old, is_optional, is_root);
        let shown = if text("message").is_empty() {
            text("rule")
        } else {
            text("message")
        };
        let of_type = Value::from(
            schema
                .get("type")
                .and_then(Value::as_str)
                .unwrap_or_default(),
        );
        let message = match Cel::resolve(program, &context) {
            Ok(Cel::Bool(true)) => return,
            Ok(_) => None,
            // The definition was refused if a real server did not know the name.
            Err(ExecutionError::UndeclaredReference(_)) => return,
            Err(error) => {
                let error = worded(&error.to_string());
                let message = format!("{error} evaluating rule: {shown}");
                self.problems.push(Problem::new(
                    Kind::Invalid,
                    path,
                    Bad::Value(of_type),
                    &message,
                ));
                return;
            }
        };
        if !is_transition && correlation.is_unchanged() {
            return;
        }
        let own = self.programs.0.get(text_of(rule, "messageExpression"));
        let own =
            own.and_then(|own| evaluate_message(own.as_ref().ok()?.adapted.as_ref()?, &context));
        let message = message.or(own).unwrap_or_else(|| match text("message") {
            "" => format!("failed rule: {}", text("rule")),
            message => message.to_owned(),
        });
        let field = match text("fieldPath").trim_start_matches('.') {
            "" => path.to_owned(),
            below => child(path, below),
        };
        let bad = match value {
            Value::Object(_) | Value::Array(_) => Bad::Omitted,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                Bad::Value(value.clone())
            }
        };
        let kind = match text("reason") {
            "FieldValueForbidden" => Kind::Forbidden,
            "FieldValueRequired" => Kind::Required,
            "FieldValueDuplicate" => {
                self.problems
                    .push(Problem::new(Kind::Duplicate, &field, bad, ""));
                return;
            }
            _ => Kind::Invalid,
        };
        self.problems
            .push(Problem::new(kind, &field, bad, &message));
    }
}

fn text_of<'a>(rule: &'a Value, name: &str) -> &'a str {
    rule.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn evaluate_message(program: &IdedExpr, context: &Context<'_>) -> Option<String> {
    match Cel::resolve(program, context) {
        Ok(Cel::String(text)) => {
            let text = text.trim();
            (!text.is_empty() && !text.contains('\n')).then(|| text.to_owned())
        }
        Ok(_) | Err(_) => None,
    }
}

/// An error of the interpreter as cel-go words it.
fn worded(error: &str) -> String {
    let mut letters = error.chars();
    letters
        .next()
        .map(|first| first.to_lowercase().chain(letters).collect())
        .unwrap_or_default()
}

/// The old item that an item of a list with keys comes from.
pub(super) fn correlated<'a>(
    schema: &Value,
    old: Option<&'a Value>,
    item: &Value,
) -> Option<&'a Value> {
    let keys = list_keys(schema)?;
    let old = old?.as_array()?;
    old.iter()
        .find(|old| keys.iter().all(|key| old.get(*key) == item.get(*key)))
}

fn bound<'a>(
    schema: &Value,
    value: &Value,
    old: Option<&Value>,
    is_optional: bool,
    is_root: bool,
) -> Context<'a> {
    let mut context = evaluation::context();
    context.add_variable_from_value("self", to_cel(Some(schema), value, is_root));
    let old = old.map(|old| to_cel(Some(schema), old, is_root));
    if is_optional {
        let old = old.map_or_else(OptionalValue::none, OptionalValue::of);
        context.add_variable_from_value("oldSelf", Cel::Opaque(Arc::new(old)));
    } else if let Some(old) = old {
        context.add_variable_from_value("oldSelf", old);
    }
    context
}

/// Binds a value by its schema: numbers, times, durations and bytes have types of their own; names are escaped.
fn to_cel(schema: Option<&Value>, value: &Value, is_root: bool) -> Cel {
    let text = |name: &str| {
        schema
            .and_then(|schema| schema.get(name))
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    match value {
        Value::Null => Cel::Null,
        Value::Bool(value) => Cel::Bool(*value),
        Value::Number(number) if text("type") == "number" => {
            Cel::Float(number.as_f64().unwrap_or_default())
        }
        Value::Number(number) => match number.as_i64() {
            Some(number) => Cel::Int(number),
            None => Cel::Float(number.as_f64().unwrap_or_default()),
        },
        Value::String(string) => {
            let plain = Cel::String(Arc::new(string.clone()));
            match text("format") {
                "date-time" => converted("timestamp(value)", plain),
                "date" => converted("timestamp(value + 'T00:00:00Z')", plain),
                "duration" => converted("duration(value)", plain),
                "byte" => converted("base64.decode(value)", plain),
                _ => plain,
            }
        }
        Value::Array(items) => {
            let below = schema.and_then(|schema| schema.get("items"));
            Cel::List(Arc::new(
                items
                    .iter()
                    .map(|item| to_cel(below, item, false))
                    .collect(),
            ))
        }
        Value::Object(fields) => {
            let properties = schema
                .and_then(|schema| schema.get("properties"))
                .and_then(Value::as_object);
            let rest = schema.and_then(|schema| schema.get("additionalProperties"));
            let pairs = fields.iter().filter_map(|(name, value)| {
                let declared = properties.and_then(|properties| properties.get(name));
                let is_meta =
                    is_root && ["apiVersion", "kind", "metadata"].contains(&name.as_str());
                let (key, below) = match (declared, rest) {
                    // Its name is there, whatever the schema declares of it.
                    _ if is_meta => (escaped(name), None),
                    (Some(below), _) => (escaped(name), Some(below)),
                    (None, Some(rest)) => (name.clone(), Some(rest)),
                    (None, None) if schema.is_none() => (escaped(name), None),
                    (None, None) => return None,
                };
                Some((Key::String(Arc::new(key)), to_cel(below, value, false)))
            });
            Cel::Map(Map {
                map: Arc::new(pairs.collect()),
            })
        }
    }
}

fn converted(expression: &str, value: Cel) -> Cel {
    let mut context = Context::default().with_all();
    context.add_variable_from_value("value", value.clone());
    let program = Program::compile(expression).ok();
    program
        .and_then(|program| program.execute(&context).ok())
        .unwrap_or(value)
}

/// A field's name as expressions write it.
pub(super) fn escaped(name: &str) -> String {
    const RESERVED: [&str; 20] = [
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
    ];
    if RESERVED.contains(&name) || name == "while" {
        return format!("__{name}__");
    }
    name.replace("__", "__underscores__")
        .replace('.', "__dot__")
        .replace('-', "__dash__")
        .replace('/', "__slash__")
}
