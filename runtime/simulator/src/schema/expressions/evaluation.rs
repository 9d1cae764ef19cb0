//! Rules in terms of what the interpreter has: it lacks macros of two variables, types as values, and
//! optional fields of objects.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube_cel::KubeCelExt as _;
use kube_cel::cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, ListExpr, LiteralValue, operators,
};
use kube_cel::cel::extractors::This;
use kube_cel::cel::objects::{Key, OptionalValue};
use kube_cel::cel::{Context, ExecutionError, IdedExpr, Value};

use super::{conversions, named};

/// The pairs of keys and values of a map, or of positions and items of a list.
const PAIRS: &str = "@pairs";
/// The value of an optional value as a list.
const ITEMS: &str = "@items";
/// The first item of a list as an optional value.
const FIRST: &str = "@first";
const RESULT: &str = "@result";

/// Conversions of values that the interpreter does not convert, before the function that does the
/// others.
const CONVERSIONS: [(&str, &str); 2] = [("string", "@text"), ("int", "@number")];

/// Macros that the parser leaves as calls, because they have two variables or are not known to it.
const MACROS: &str = "all exists exists_one existsOne optFlatMap optMap transformList transformMap transformMapEntry";

/// Names of types, as `type` returns them.
const TYPES: [&str; 9] = [
    "bool",
    "bytes",
    "double",
    "int",
    "list",
    "map",
    "null_type",
    "string",
    "uint",
];

/// Returns a rule as the interpreter evaluates it. Returns `None` if it cannot: such a rule holds,
/// because nothing is refused that a real server accepts.
pub(super) fn adapted(expression: &IdedExpr) -> Option<IdedExpr> {
    if let Expr::Call(call) = &expression.expr
        && let Some(range) = &call.target
        && is_macro(&call.func_name)
    {
        return as_loop(range, call);
    }
    let mut new = rebuilt(expression, &adapted)?;
    if let Expr::Select(select) = &mut new.expr
        && is_optional(&select.operand)
        && !select.test
    {
        let field = LiteralValue::String(select.field.as_str().into());
        let arguments = vec![(*select.operand).clone(), from_expr(Expr::Literal(field))];
        return Some(function(operators::OPT_INDEX, arguments));
    }
    if let Expr::Call(call) = &mut new.expr
        && call.func_name == operators::OPT_SELECT
    {
        // This operator fails where the field is absent; the index does not.
        operators::OPT_INDEX.clone_into(&mut call.func_name);
    }
    if let Expr::Call(call) = &mut new.expr
        && call.target.is_none()
        && let Some((_, convert)) = CONVERSIONS.iter().find(|(name, _)| *name == call.func_name)
    {
        call.args = vec![function(convert, std::mem::take(&mut call.args))];
    }
    Some(new)
}

/// Returns an expression with each part replaced, if each can be.
fn rebuilt(
    expression: &IdedExpr,
    part: &dyn Fn(&IdedExpr) -> Option<IdedExpr>,
) -> Option<IdedExpr> {
    let mut new = expression.expr.clone();
    let replace = |one: &mut IdedExpr| {
        *one = part(one)?;
        Some(())
    };
    match &mut new {
        Expr::Struct(_) => return None,
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) => {}
        Expr::Select(select) => replace(&mut select.operand)?,
        Expr::List(list) => list.elements.iter_mut().try_for_each(replace)?,
        Expr::Map(map) => {
            for entry in &mut map.entries {
                match &mut entry.expr {
                    EntryExpr::StructField(field) => replace(&mut field.value)?,
                    EntryExpr::MapEntry(pair) => {
                        replace(&mut pair.key)?;
                        replace(&mut pair.value)?;
                    }
                }
            }
        }
        Expr::Comprehension(one) => {
            let around = [&mut one.iter_range, &mut one.accu_init];
            let within = [&mut one.loop_cond, &mut one.loop_step, &mut one.result];
            around.into_iter().chain(within).try_for_each(replace)?;
        }
        Expr::Call(call) => {
            let target = call.target.as_deref_mut();
            target
                .into_iter()
                .chain(&mut call.args)
                .try_for_each(replace)?;
        }
    }
    Some(from_expr(new))
}

fn from_expr(expr: Expr) -> IdedExpr {
    IdedExpr { id: 0, expr }
}

/// Returns true if an expression is an optional value: its fields are optional as well.
fn is_optional(expression: &IdedExpr) -> bool {
    let Expr::Call(call) = &expression.expr else {
        return false;
    };
    match call.func_name.as_str() {
        operators::OPT_INDEX => true,
        operators::INDEX => call.args.first().is_some_and(is_optional),
        _ => false,
    }
}

fn is_macro(name: &str) -> bool {
    MACROS.split(' ').any(|one| one == name)
}

/// Returns a macro that the parser leaves as a call, as a loop.
fn as_loop(range: &IdedExpr, call: &CallExpr) -> Option<IdedExpr> {
    let name = call.func_name.as_str();
    if let ("optMap" | "optFlatMap", [variable, body]) = (name, call.args.as_slice()) {
        return of_optional(range, variable, body, name == "optMap");
    }
    let [first, second, rest @ ..] = call.args.as_slice() else {
        return None;
    };
    let (Expr::Ident(first), Expr::Ident(second)) = (&first.expr, &second.expr) else {
        return None;
    };
    // One pair. A loop within has other variables, so that it does not hide this one.
    let pair = format!("@{first},{second}");
    let names = BTreeMap::from([(first.as_str(), 0), (second.as_str(), 1)]);
    let part = |one: &IdedExpr| with_pair(&adapted(one)?, &pair, &names);
    let rest: Option<Vec<IdedExpr>> = rest.iter().map(part).collect();
    let (start, step, end) = steps(name, &rest?)?;
    let goes_on = match name {
        "all" => result(),
        "exists" => function(operators::LOGICAL_NOT, vec![result()]),
        _ => literal(LiteralValue::Boolean(true.into())),
    };
    let range = function(PAIRS, vec![adapted(range)?]);
    Some(from_expr(Expr::Comprehension(Box::new(
        ComprehensionExpr {
            iter_range: range,
            iter_var: pair,
            iter_var2: None,
            accu_var: RESULT.to_owned(),
            accu_init: start,
            loop_cond: function(operators::NOT_STRICTLY_FALSE, vec![goes_on]),
            loop_step: step,
            result: end,
        },
    ))))
}

/// Returns the start of a loop over pairs, its step, and its result.
fn steps(name: &str, parts: &[IdedExpr]) -> Option<(IdedExpr, IdedExpr, IdedExpr)> {
    let boolean = |value: bool| literal(LiteralValue::Boolean(value.into()));
    let number = |value: i64| literal(LiteralValue::Int(value.into()));
    let choice = |condition: &IdedExpr, yes: IdedExpr| {
        function(
            operators::CONDITIONAL,
            vec![condition.clone(), yes, result()],
        )
    };
    let with = |item: &IdedExpr| {
        let item = list_of(vec![item.clone()]);
        function(operators::ADD, vec![result(), item])
    };
    let empty = list_of(Vec::new());
    Some(match (name, parts) {
        ("all", [body]) => (
            boolean(true),
            function(operators::LOGICAL_AND, vec![result(), body.clone()]),
            result(),
        ),
        ("exists", [body]) => (
            boolean(false),
            function(operators::LOGICAL_OR, vec![result(), body.clone()]),
            result(),
        ),
        ("exists_one" | "existsOne", [body]) => (
            number(0),
            choice(body, function(operators::ADD, vec![result(), number(1)])),
            function(operators::EQUALS, vec![result(), number(1)]),
        ),
        ("transformList", [body]) => (empty, with(body), result()),
        ("transformList", [filter, body]) => (empty, choice(filter, with(body)), result()),
        _ => return None,
    })
}

/// Returns `optMap` or `optFlatMap` as a loop over the value, if there is one.
fn of_optional(
    value: &IdedExpr,
    variable: &IdedExpr,
    body: &IdedExpr,
    wraps: bool,
) -> Option<IdedExpr> {
    let Expr::Ident(variable) = &variable.expr else {
        return None;
    };
    let body = adapted(body)?;
    let step = match wraps {
        true => list_of(vec![body]),
        false => function(ITEMS, vec![body]),
    };
    Some(from_expr(Expr::Comprehension(Box::new(
        ComprehensionExpr {
            iter_range: function(ITEMS, vec![adapted(value)?]),
            iter_var: variable.clone(),
            iter_var2: None,
            accu_var: RESULT.to_owned(),
            // A loop loses what makes a value optional, so it keeps a list.
            accu_init: list_of(Vec::new()),
            loop_cond: literal(LiteralValue::Boolean(true.into())),
            loop_step: step,
            result: function(FIRST, vec![result()]),
        },
    ))))
}

fn result() -> IdedExpr {
    from_expr(Expr::Ident(RESULT.to_owned()))
}

fn list_of(elements: Vec<IdedExpr>) -> IdedExpr {
    from_expr(Expr::List(ListExpr {
        elements,
        optional_indices: Vec::new(),
    }))
}

fn literal(value: LiteralValue) -> IdedExpr {
    from_expr(Expr::Literal(value))
}

fn function(name: &str, args: Vec<IdedExpr>) -> IdedExpr {
    from_expr(Expr::Call(CallExpr {
        func_name: name.to_owned(),
        target: None,
        args,
    }))
}

/// Reads two variables off a pair, except where a loop within has a variable of that name.
fn with_pair(expression: &IdedExpr, pair: &str, names: &BTreeMap<&str, i64>) -> Option<IdedExpr> {
    let within = |one: &IdedExpr| with_pair(one, pair, names);
    match &expression.expr {
        Expr::Ident(name) if names.contains_key(name.as_str()) => {
            let position = LiteralValue::Int(names[name.as_str()].into());
            let pair = from_expr(Expr::Ident(pair.to_owned()));
            let arguments = vec![pair, from_expr(Expr::Literal(position))];
            Some(function(operators::INDEX, arguments))
        }
        Expr::Comprehension(one) => {
            let mut one = one.clone();
            one.iter_range = within(&one.iter_range)?;
            one.accu_init = within(&one.accu_init)?;
            let mut names = names.clone();
            names.remove(one.iter_var.as_str());
            for part in [&mut one.loop_cond, &mut one.loop_step, &mut one.result] {
                *part = with_pair(part, pair, &names)?;
            }
            Some(from_expr(Expr::Comprehension(one)))
        }
        Expr::Unspecified
        | Expr::Ident(_)
        | Expr::Literal(_)
        | Expr::Struct(_)
        | Expr::Select(_)
        | Expr::List(_)
        | Expr::Map(_)
        | Expr::Call(_) => rebuilt(expression, &within),
    }
}

/// Returns a context with the functions of Kubernetes and of this module.
pub(super) fn context<'a>() -> Context<'a> {
    let mut context = Context::default().with_all();
    named::register(&mut context);
    context.add_function(PAIRS, pairs);
    context.add_function(ITEMS, items);
    context.add_function(FIRST, first);
    context.add_function("@text", conversions::text);
    context.add_function("@number", conversions::number);
    context.add_function("dyn", untyped);
    context.add_function("type", type_of);
    context.add_function("bool", boolean);
    for name in TYPES {
        context.add_variable_from_value(name, type_value(name));
    }
    context
}

/// A type is a text that no value of an object is.
fn type_value(name: &str) -> Value {
    Value::String(Arc::new(format!("\u{0}{name}")))
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "functions of the language may fail"
)]
fn untyped(This(value): This<Value>) -> Result<Value, ExecutionError> {
    Ok(value)
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "functions of the language may fail"
)]
fn type_of(This(value): This<Value>) -> Result<Value, ExecutionError> {
    Ok(type_value(match value {
        Value::Bool(_) => "bool",
        Value::Bytes(_) => "bytes",
        Value::Float(_) => "double",
        Value::Int(_) => "int",
        Value::List(_) => "list",
        Value::Map(_) => "map",
        Value::Null => "null_type",
        Value::String(_) => "string",
        Value::UInt(_) => "uint",
        Value::Duration(_) => "google.protobuf.Duration",
        Value::Timestamp(_) => "google.protobuf.Timestamp",
        Value::Function(..) | Value::Opaque(_) => "dyn",
    }))
}

fn boolean(This(value): This<Value>) -> Result<bool, ExecutionError> {
    let text = match &value {
        Value::Bool(value) => return Ok(*value),
        Value::String(text) => text.as_str(),
        Value::Bytes(_)
        | Value::Float(_)
        | Value::Int(_)
        | Value::List(_)
        | Value::Map(_)
        | Value::Null
        | Value::UInt(_)
        | Value::Duration(_)
        | Value::Timestamp(_)
        | Value::Function(..)
        | Value::Opaque(_) => return Err(ExecutionError::NoSuchOverload),
    };
    match text {
        "1" | "t" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(ExecutionError::NoSuchOverload),
    }
}

fn items(This(value): This<Value>) -> Result<Value, ExecutionError> {
    let Value::Opaque(optional) = &value else {
        return Err(ExecutionError::NoSuchOverload);
    };
    let optional = optional.downcast_ref::<OptionalValue>();
    let optional = optional.ok_or(ExecutionError::NoSuchOverload)?;
    let items = optional.value().cloned().into_iter().collect();
    Ok(Value::List(Arc::new(items)))
}

fn first(This(list): This<Value>) -> Result<Value, ExecutionError> {
    let Value::List(items) = &list else {
        return Err(ExecutionError::NoSuchOverload);
    };
    let item = items.first().cloned();
    let found = item.map_or_else(OptionalValue::none, OptionalValue::of);
    Ok(Value::Opaque(Arc::new(found)))
}

fn pairs(This(range): This<Value>) -> Result<Value, ExecutionError> {
    let pair = |key: Value, value: &Value| Value::List(Arc::new(vec![key, value.clone()]));
    let all: Vec<Value> = match &range {
        Value::List(items) => {
            let numbered = (0_i64..).zip(items.iter());
            numbered
                .map(|(at, item)| pair(Value::Int(at), item))
                .collect()
        }
        Value::Map(map) => {
            let entries = map.map.iter();
            entries
                .map(|(key, value)| pair(key_value(key), value))
                .collect()
        }
        Value::Bool(_)
        | Value::Bytes(_)
        | Value::Float(_)
        | Value::Int(_)
        | Value::Null
        | Value::String(_)
        | Value::UInt(_)
        | Value::Duration(_)
        | Value::Timestamp(_)
        | Value::Function(..)
        | Value::Opaque(_) => return Err(ExecutionError::NoSuchOverload),
    };
    Ok(Value::List(Arc::new(all)))
}

fn key_value(key: &Key) -> Value {
    match key {
        Key::Int(key) => Value::Int(*key),
        Key::Uint(key) => Value::UInt(*key),
        Key::Bool(key) => Value::Bool(*key),
        Key::String(key) => Value::String(key.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::Programs;

    /// Returns the messages of a rule over an object.
    fn messages(rule: &str, object: &Value) -> Vec<String> {
        let text = json!({"type": "string"});
        let schema = json!({
            "type": "object", "x-kubernetes-validations": [{"rule": rule}],
            "properties": {
                "metadata": {"type": "object"}, "mode": text, "port": {"x-kubernetes-int-or-string": true},
                "part": {"type": "object", "properties": {"deep": text}}, "day": {"type": "string", "format": "date"},
                "marks": {"type": "object", "additionalProperties": text}, "tags": {"type": "array", "items": text},
            },
        });
        let problems = Programs::compile(&schema).check(&schema, object, None);
        problems.iter().map(|one| format!("{one:?}")).collect()
    }

    #[test]
    fn rules_that_a_real_server_accepts_hold() {
        let object = json!({
            "metadata": {"name": "ok"}, "port": 80, "day": "2026-01-31",
            "marks": {"a": "1", "b": "2"}, "tags": ["x", "y"],
        });
        for rule in [
            "self.metadata.name == 'ok'",
            "self.?mode.orValue('x') == 'x' && !self.?mode.hasValue()",
            "self.?part.?deep.orValue('z') == 'z' && !self.?part.?deep.hasValue()",
            "self.?part.deep.orValue('z') == 'z'",
            "self.?tags[?9].orValue('none') == 'none' && self.marks[?'a'].orValue('') == '1'",
            "type(self.port) == int && type('a') == string && type(self.port) != string",
            "type(self.port) == string ? self.port.startsWith('h') : self.port > 0",
            "dyn(self.port) == dyn(80) && bool('true') && int('5') == 5",
            "self.marks.all(k, v, k != v) && self.marks.exists(k, v, k == 'b' && v == '2')",
            "self.tags.all(i, v, self.tags[i] == v) && !self.tags.exists(i, v, i > 1)",
            "self.marks.all(k, v, self.tags.exists(v, v == 'x'))",
            "self.marks.exists(k, v, self.tags.exists(i, w, k == 'b' && v == '2' && i == 1 && w == 'y'))",
            "self.marks.transformList(k, v, k).size() == 2",
            "self.marks.transformList(k, v, k == 'b', v) == ['2']",
            "self.marks.existsOne(k, v, v == '2') && !self.tags.existsOne(i, v, i < 2)",
            "self.?mode.optMap(m, m + '!').orValue('none') == 'none'",
            "optional.of(2).optMap(n, n + 1).value() == 3",
            "optional.of(2).optFlatMap(n, optional.of(n * 2)).value() == 4",
            "!optional.of(2).optFlatMap(n, optional.none()).hasValue()",
            "string(duration('1h30m')) == '5400s' && string(duration('-1.5s')) == '-1.5s'",
            "string(timestamp('2026-01-31T01:02:03Z')) == '2026-01-31T01:02:03Z'",
            "string(timestamp('2026-01-31T01:02:03.120Z')) == '2026-01-31T01:02:03.12Z'",
            "string(true) == 'true' && string(5) == '5' && string('a') == 'a'",
            "int(timestamp('1970-01-01T00:01:00Z')) == 60 && int('7') == 7 && int(2.0) == 2",
            "string(self.day).startsWith('2026-01-31')",
            "!format.dns1123Label().validate(self.metadata.name).hasValue()",
            "format.named('dns1123Label').value().validate('Not').hasValue()",
            "!format.named('unknown').hasValue()",
            "!format.dns1123LabelPrefix().validate('a-').hasValue()",
            "format.dns1123Label().validate('a.b').value() == ['must not contain dots']",
            "format.uuid().validate('x').value() == ['does not match the UUID format']",
            "!format.uri().validate('/a').hasValue() && !format.date().validate('2026-01-31').hasValue()",
            "self.day < timestamp('2030-01-01T00:00:00Z')",
            "google.protobuf.Timestamp{} == timestamp('1970-01-01T00:00:00Z')",
        ] {
            assert_eq!(messages(rule, &object), Vec::<String>::new(), "{rule}");
        }
    }

    #[test]
    fn rules_that_do_not_hold_are_reported() {
        let object = json!({"port": "http", "marks": {"a": "1", "b": "2"}, "tags": ["x", "y"]});
        for rule in [
            "self.?mode.hasValue()",
            "type(self.port) == int",
            "self.marks.all(k, v, k == 'a')",
            "self.tags.exists(i, v, i == 0 && v == 'y')",
        ] {
            assert_eq!(messages(rule, &object).len(), 1, "{rule}");
        }
    }
}
