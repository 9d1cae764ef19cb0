//! Checks CEL rules against the types of a schema before any object exists. Words the errors like
//! cel-go.

use kube_cel::cel::common::ast::{CallExpr, ComprehensionExpr, Expr, IdedExpr, LiteralValue};
use kube_cel::cel::common::ast::{SelectExpr, operators};
use serde_json::Value;

use super::types::Type;

/// Names that begin the names of functions, and of types. A definition has neither `math` nor
/// `base64`, and no `authorizer` or `jsonpatch`, which only policies have.
const SPACES: &str = "bool bytes cel cidr double dyn format google int ip json list lists \
    map null_type optional optional_type regex sets string strings type uint url";

/// Functions that are called without a value before them.
const FUNCTIONS: &str = "bool bytes cidr double duration dyn has int ip isCIDR isIP isQuantity isSemver isURL json \
    matches quantity semver size string timestamp type uint url";

/// Functions that are called on a value, by the letters of the types that have them: `t` for texts,
/// `y` for bytes, `l` for lists, `m` for maps, `o` for optional values, `d` for durations, `s` for
/// timestamps, and none for types that only functions make.
const METHODS: [(&str, &str); 8] = [
    ("tylm", "size"),
    ("tl", "indexOf lastIndexOf reverse"),
    (
        "t",
        "charAt contains endsWith find findAll format lowerAscii matches quote replace split startsWith substring \
         trim upperAscii",
    ),
    (
        "l",
        "distinct first flatten isSorted join last max min slice sort sum",
    ),
    ("o", "hasValue or orValue value"),
    ("ds", "getHours getMilliseconds getMinutes getSeconds"),
    (
        "s",
        "getDate getDayOfMonth getDayOfWeek getDayOfYear getFullYear getMonth",
    ),
    (
        "",
        "add asApproximateFloat asInteger compareTo containsCIDR containsIP family getEscapedPath getHost ip \
         getHostname getPort getQuery getScheme isGlobalUnicast isGreaterThan isInteger isLessThan \
         isLinkLocalMulticast isLinkLocalUnicast isLoopback isUnspecified major masked minor patch prefixLength sign sub validate",
    ),
];

/// Returns true if a list of words has a word.
fn has(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|one| one == word)
}

/// Methods that name variables of their own, as far as the parser leaves them as calls.
const BINDERS: &str = "all exists exists_one existsOne filter map optFlatMap optMap sortBy transformList transformMap \
    transformMapEntry";

/// Returns the errors of the types of a rule, as the real server prints them after the words
/// `compilation failed`, or the error that the rule is no condition.
pub(in crate::schema) fn error(
    schema: &Value,
    rule: &Value,
    expression: &IdedExpr,
    is_root: bool,
) -> Option<String> {
    let text = rule.get("rule").and_then(Value::as_str).unwrap_or_default();
    let own = Type::from_schema(schema, is_root);
    let old = match rule.get("optionalOldSelf") {
        Some(Value::Bool(true)) => Type::Optional,
        _ => own.clone(),
    };
    let mut checker = Checker {
        text,
        scope: vec![("self".to_owned(), own), ("oldSelf".to_owned(), old)],
        errors: Vec::new(),
    };
    let found = checker.infer(expression);
    if !checker.errors.is_empty() {
        return Some(format!("compilation failed: {}", checker.errors.join("\n")));
    }
    let is_condition = matches!(found, Type::Bool | Type::Any);
    (!is_condition).then(|| "cel expression must evaluate to a bool".to_owned())
}

struct Checker<'a> {
    text: &'a str,
    scope: Vec<(String, Type)>,
    errors: Vec<String>,
}

impl Checker<'_> {
    /// Reports an error at the first place of some words, or at an offset within them.
    fn blame(&mut self, words: &str, offset: usize, message: &str) {
        let at = self.text.find(words).unwrap_or(0) + offset;
        let before = self.text.get(..at).unwrap_or_default();
        let (line, column) = (
            before.matches('\n').count(),
            before
                .rsplit('\n')
                .next()
                .unwrap_or_default()
                .chars()
                .count(),
        );
        let shown = self.text.lines().nth(line).unwrap_or_default();
        let number = line + 1;
        let error = format!(
            "ERROR: <input>:{number}:{}: {message}\n | {shown}\n | {}^",
            column + 1,
            ".".repeat(column)
        );
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    fn infer(&mut self, expression: &IdedExpr) -> Type {
        match &expression.expr {
            Expr::Unspecified | Expr::Struct(_) => Type::Any,
            Expr::Literal(literal) => of_literal(literal),
            Expr::Ident(name) => self.name(name),
            Expr::List(list) => {
                let items: Vec<Type> = list.elements.iter().map(|one| self.infer(one)).collect();
                let same = items.windows(2).all(|two| two[0] == two[1]);
                let item = items.into_iter().next().filter(|_| same);
                Type::List(Box::new(item.unwrap_or(Type::Any)))
            }
            Expr::Map(_) => Type::Map(Box::new(Type::Any)),
            Expr::Select(select) => self.select(select),
            Expr::Call(call) => self.call(call),
            Expr::Comprehension(comprehension) => self.comprehension(comprehension),
        }
    }

    fn name(&mut self, name: &str) -> Type {
        let known = self.scope.iter().rev().find(|(known, _)| known == name);
        if let Some((_, found)) = known {
            return found.clone();
        }
        if !is_space(name) && !name.starts_with(['@', '_']) {
            let message = format!("undeclared reference to '{name}' (in container '')");
            self.blame(name, 0, &message);
        }
        Type::Any
    }

    fn select(&mut self, select: &SelectExpr) -> Type {
        let operand = self.infer(&select.operand);
        let field = &select.field;
        let found = match operand {
            Type::Object(fields) => fields.get(field).cloned(),
            Type::Map(value) => Some(*value),
            Type::Any | Type::Optional | Type::Null => Some(Type::Any),
            other @ (Type::Bool
            | Type::Int
            | Type::Uint
            | Type::Double
            | Type::Text
            | Type::Bytes
            | Type::Timestamp
            | Type::Duration
            | Type::List(_)) => {
                let message = format!("type '{other}' does not support field selection");
                self.blame(&format!(".{field}"), 0, &message);
                return Type::Any;
            }
        };
        if found.is_none() {
            let message = format!("undefined field '{field}'");
            self.blame(&format!(".{field}"), 0, &message);
        }
        match select.test {
            true => Type::Bool,
            false => found.unwrap_or(Type::Any),
        }
    }

    fn comprehension(&mut self, one: &ComprehensionExpr) -> Type {
        let range = self.infer(&one.iter_range);
        let (first, second) = match range {
            Type::List(item) if one.iter_var2.is_some() => (Type::Int, *item),
            Type::List(item) => (*item, Type::Any),
            Type::Map(value) => (Type::Text, *value),
            Type::Any | Type::Optional => (Type::Any, Type::Any),
            other @ (Type::Null
            | Type::Bool
            | Type::Int
            | Type::Uint
            | Type::Double
            | Type::Text
            | Type::Bytes
            | Type::Timestamp
            | Type::Duration
            | Type::Object(_)) => {
                let message = format!(
                    "expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"
                );
                self.blame("", 0, &message);
                (Type::Any, Type::Any)
            }
        };
        let start = self.infer(&one.accu_init);
        let depth = self.scope.len();
        self.scope.push((one.iter_var.clone(), first));
        if let Some(name) = &one.iter_var2 {
            self.scope.push((name.clone(), second));
        }
        self.scope.push((one.accu_var.clone(), start));
        self.infer(&one.loop_cond);
        self.infer(&one.loop_step);
        let found = self.infer(&one.result);
        self.scope.truncate(depth);
        found
    }

    fn call(&mut self, call: &CallExpr) -> Type {
        let name = call.func_name.as_str();
        if let Some(target) = &call.target {
            let is_known = |name: &String| self.scope.iter().any(|(known, _)| known == name);
            if let Expr::Ident(space) = &target.expr
                && is_space(space)
                && !is_known(space)
            {
                // A function of `cel` may name a variable.
                if space != "cel" {
                    call.args.iter().for_each(|one| drop(self.infer(one)));
                }
                return Type::Any;
            }
            let target = self.infer(target);
            if has(BINDERS, name) {
                return Type::Any;
            }
            call.args.iter().for_each(|one| drop(self.infer(one)));
            return self.method(name, &target);
        }
        let arguments: Vec<Type> = call.args.iter().map(|one| self.infer(one)).collect();
        if let Some(found) = self.operator(name, &arguments) {
            return found;
        }
        match name {
            "size" | "int" => Type::Int,
            "uint" => Type::Uint,
            "double" => Type::Double,
            "string" => Type::Text,
            "timestamp" => Type::Timestamp,
            "duration" => Type::Duration,
            "bool" | "has" | "matches" | "isCIDR" | "isIP" | "isQuantity" | "isSemver"
            | "isURL" => Type::Bool,
            _ => {
                let is_known = has(FUNCTIONS, name) || is_space(name);
                if !is_known && !name.contains(['_', '@', '.']) {
                    let message = format!("undeclared reference to '{name}' (in container '')");
                    self.blame(&format!("{name}("), name.len(), &message);
                }
                Type::Any
            }
        }
    }

    fn method(&mut self, name: &str, target: &Type) -> Type {
        let letter = match target {
            Type::Any | Type::Null => None,
            Type::Bool | Type::Int | Type::Uint | Type::Double | Type::Object(_) => Some('-'),
            Type::Text => Some('t'),
            Type::Bytes => Some('y'),
            Type::Timestamp => Some('s'),
            Type::Duration => Some('d'),
            Type::List(_) => Some('l'),
            Type::Map(_) => Some('m'),
            Type::Optional => Some('o'),
        };
        let known = METHODS.iter().find(|(_, names)| has(names, name));
        let call = format!(".{name}(");
        match (known, letter) {
            (None, _) => {
                let message = format!("undeclared reference to '{name}' (in container '')");
                self.blame(&call, call.len() - 1, &message);
            }
            (Some((types, _)), Some(letter)) if !types.contains(letter) => {
                let message =
                    format!("found no matching overload for '{name}' applied to '{target}.()'");
                self.blame(&call, call.len() - 1, &message);
            }
            (Some(_), _) => {}
        }
        match name {
            "size" => Type::Int,
            "contains" | "startsWith" | "endsWith" | "matches" | "hasValue" | "isSorted" => {
                Type::Bool
            }
            _ => Type::Any,
        }
    }

    /// Returns the type of the result of an operator, if this is one.
    fn operator(&mut self, name: &str, arguments: &[Type]) -> Option<Type> {
        let (fits, result) = match (name, arguments) {
            (operators::LOGICAL_AND | operators::LOGICAL_OR | operators::LOGICAL_NOT, all) => {
                let is_bool = |one: &Type| matches!(one, Type::Bool | Type::Any);
                (all.iter().all(is_bool), Type::Bool)
            }
            (operators::CONDITIONAL, [condition, yes, no]) => {
                let fits = matches!(condition, Type::Bool | Type::Any) && yes.agrees(no);
                let same = yes == no;
                (fits, if same { yes.clone() } else { Type::Any })
            }
            (operators::EQUALS | operators::NOT_EQUALS, [one, other]) => {
                (one.agrees(other), Type::Bool)
            }
            (
                operators::LESS
                | operators::LESS_EQUALS
                | operators::GREATER
                | operators::GREATER_EQUALS,
                [one, other],
            ) => {
                let ordered = |one: &Type| {
                    !matches!(
                        one,
                        Type::List(_) | Type::Map(_) | Type::Object(_) | Type::Null
                    )
                };
                (
                    ordered(one) && ordered(other) && one.agrees(other),
                    Type::Bool,
                )
            }
            (operators::IN, [_, range]) => {
                let fits = matches!(
                    range,
                    Type::List(_) | Type::Map(_) | Type::Any | Type::Optional
                );
                (fits, Type::Bool)
            }
            (operators::INDEX, [Type::List(item), _]) => (true, (**item).clone()),
            (operators::INDEX, [Type::Map(value), _]) => (true, (**value).clone()),
            (operators::ADD | operators::SUBSTRACT, [one, other]) => sum(name, one, other),
            (operators::MULTIPLY | operators::DIVIDE | operators::MODULO, [one, other]) => {
                let is_number = |one: &Type| one.is_number() || one.is_any();
                let fits = is_number(one)
                    && is_number(other)
                    && (one == other || one.is_any() || other.is_any());
                (fits, if one == other { one.clone() } else { Type::Any })
            }
            _ => return None,
        };
        if !fits {
            let shown: Vec<String> = arguments.iter().map(Type::to_string).collect();
            let shown = shown.join(", ");
            let message = format!("found no matching overload for '{name}' applied to '({shown})'");
            let sign = name.trim_matches(['_', '@']);
            let sign = sign.split('_').next().unwrap_or(sign);
            self.blame(sign, 0, &message);
            return Some(Type::Any);
        }
        Some(result)
    }
}

fn is_space(name: &str) -> bool {
    has(SPACES, name)
}

fn of_literal(literal: &LiteralValue) -> Type {
    match literal {
        LiteralValue::Boolean(_) => Type::Bool,
        LiteralValue::Bytes(_) => Type::Bytes,
        LiteralValue::Double(_) => Type::Double,
        LiteralValue::Int(_) => Type::Int,
        LiteralValue::Null => Type::Null,
        LiteralValue::String(_) => Type::Text,
        LiteralValue::UInt(_) => Type::Uint,
    }
}

/// Returns true if two values may be added or subtracted, and the type of the result.
fn sum(name: &str, one: &Type, other: &Type) -> (bool, Type) {
    let adds = name == operators::ADD;
    match (one, other) {
        (Type::Any | Type::Optional, _) | (_, Type::Any | Type::Optional) => (true, Type::Any),
        (Type::Timestamp | Type::Duration, Type::Timestamp | Type::Duration) => (true, Type::Any),
        (Type::List(_), Type::List(_)) => (adds, Type::List(Box::new(Type::Any))),
        (Type::Text | Type::Bytes, _) => (adds && one == other, one.clone()),
        (one, other) => (one.is_number() && one == other, one.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::schema::Schema;

    /// Returns the errors of a rule over the spec of a pump.
    fn errors_of(rule: Value) -> Vec<String> {
        let text = json!({"type": "string", "maxLength": 20});
        let schema = json!({"type": "object", "properties": {"spec": {
            "type": "object", "x-kubernetes-validations": [rule],
            "properties": {
                "speed": {"type": "integer", "maximum": 9}, "name": text,
                "since": {"type": "string", "format": "date-time"}, "part": {"type": "number"},
                "tags": {"type": "array", "maxItems": 5, "items": text},
                "marks": {"type": "object", "maxProperties": 5, "additionalProperties": text},
                "port": {"x-kubernetes-int-or-string": true}, "is-on": {"type": "boolean"},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                "inner": {"type": "object", "properties": {"size": {"type": "integer"}}},
            },
        }}});
        let causes = Schema::of_crd(&schema).err().unwrap_or_default();
        causes.into_iter().map(|cause| cause.message).collect()
    }

    #[test]
    fn a_rule_that_does_not_fit_its_schema_is_refused() {
        let undefined = "compilation failed: ERROR: <input>:1:5: undefined field 'sped'\n | self.sped <= 5\n | ....^";
        for (rule, message) in [
            ("self.sped <= 5", undefined),
            (
                "self.speed < self.name",
                "found no matching overload for '_<_' applied to '(int, string)'",
            ),
            (
                "self.speed == self.name",
                "found no matching overload for '_==_' applied to '(int, string)'",
            ),
            ("self.speed + 1", "cel expression must evaluate to a bool"),
            ("self.name", "cel expression must evaluate to a bool"),
            (
                "self.tags.all(t, t > 1)",
                "found no matching overload for '_>_' applied to '(string, int)'",
            ),
            (
                "self.tags.all(t, t.size())",
                "found no matching overload for '_&&_' applied to '(bool, int)'",
            ),
            (
                "self.tags.exists(t, u == '')",
                "undeclared reference to 'u' (in container '')",
            ),
            (
                "self.tags.startsWith('a')",
                "found no matching overload for 'startsWith' applied to 'list(string).()'",
            ),
            (
                "self.name.beginsWith('a')",
                "undeclared reference to 'beginsWith' (in container '')",
            ),
            (
                "lenght(self.name) > 1",
                "undeclared reference to 'lenght' (in container '')",
            ),
            (
                "spec.speed > 1",
                "undeclared reference to 'spec' (in container '')",
            ),
            ("self.inner.width > 1", "undefined field 'width'"),
            ("has(self.sped)", "undefined field 'sped'"),
            (
                "self.speed.value > 1",
                "type 'int' does not support field selection",
            ),
            (
                "self.name + 1 == ''",
                "found no matching overload for '_+_' applied to '(string, int)'",
            ),
            (
                "!self.name",
                "found no matching overload for '!_' applied to '(string)'",
            ),
            ("self.is_on", "undefined field 'is_on'"),
            (
                "!oldSelf.hasValue() || self.speed == oldSelf.value().speed",
                "found no matching overload for 'hasValue' applied to 'object.()'",
            ),
        ] {
            let found = errors_of(json!({"rule": rule}));
            assert!(
                found.iter().any(|one| one.contains(message)),
                "{rule}: {found:?}"
            );
        }
    }

    #[test]
    fn a_library_that_definitions_lack_is_refused() {
        for (rule, message) in [
            (
                "math.greatest(self.speed, 2) > 1",
                "undeclared reference to 'math' (in container '')",
            ),
            (
                "math.greatest(self.speed, 2) > 1",
                "ERROR: <input>:1:14: undeclared reference to 'greatest' (in container '')",
            ),
            (
                "base64.decode(self.name) == b'a'",
                "undeclared reference to 'base64' (in container '')",
            ),
            (
                "authorizer.path('/healthz').check('get').allowed()",
                "undeclared reference to 'authorizer' (in container '')",
            ),
        ] {
            let found = errors_of(json!({"rule": rule}));
            assert!(
                found.iter().any(|one| one.contains(message)),
                "{rule}: {found:?}"
            );
        }
    }

    #[test]
    fn a_rule_that_fits_its_schema_is_accepted() {
        for rule in [
            "self.speed <= 5 && self.part > 1",
            "self.speed > 1.5 || self.name == 'a'",
            "self.name.startsWith('a') ? self.speed > 1 : true",
            "!has(self.name) || size(self.name) > 1 && self.name.size() > 1",
            "self.tags.all(t, t.matches('^a')) && self.tags.exists_one(t, t == 'a')",
            "self.tags.map(t, t.size()).sum() > 1 && self.tags.filter(t, t != '').size() > 0",
            "self.marks.all(k, self.marks[k] != '' && k in self.marks)",
            "self.marks.a == 'b' && 'a' in self.tags",
            "self.port == 80 || self.port == 'http'",
            "type(self.port) == int ? self.port > 0 : self.port.startsWith('h')",
            "self.is__dash__on",
            "self.since < timestamp('2026-01-01T00:00:00Z') + duration('1h')",
            "self.since.getFullYear() > 2000 && self.name == oldSelf.name",
            "self.free.whatever == 1 && self.?name.orValue('') != ''",
            "quantity('1Gi').isGreaterThan(quantity(self.name)) && isIP(self.name)",
            "[1, 2].exists(n, n == self.speed) && {'a': 1}.size() == 1",
            "optional.of(self.name).hasValue() && strings.quote(self.name) != ''",
            "self.tags.isSorted() && self.tags.indexOf('a') < 3 && self.name in ['a', 'b']",
            "self.speed % 2 == 0 && -self.speed < 0 && int(self.name) > 1 && string(self.speed) != ''",
            "self == oldSelf && self.inner == oldSelf.inner",
            "dyn(self.speed) == dyn(self.name)",
        ] {
            assert_eq!(
                errors_of(json!({"rule": rule})),
                Vec::<String>::new(),
                "{rule}"
            );
        }
        let optional = "!oldSelf.hasValue() || self.speed == oldSelf.value().speed";
        assert_eq!(
            errors_of(json!({"rule": optional, "optionalOldSelf": true})),
            Vec::<String>::new()
        );
    }
}
