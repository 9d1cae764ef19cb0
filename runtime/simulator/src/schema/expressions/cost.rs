//! Cost of CEL rules before any object exists. Counts only how often loops may run, so that the
//! cost is at most that of the real server, and no rule is refused that it accepts.

use kube_cel::cel::IdedExpr;
use kube_cel::cel::common::ast::{ComprehensionExpr, EntryExpr, Expr};
use serde_json::Value;

/// The most that one rule may cost.
const BUDGET: u64 = 10_000_000;
/// The most bytes of a request, which limit a list that sets no limit.
const REQUEST: u64 = 3 * 1024 * 1024;

/// How many values of one schema an object may have.
#[derive(Clone, Copy, Debug)]
pub(in crate::schema) enum Count {
    /// As many as the limits of all lists and maps around them allow.
    AtMost(u64),
    /// As many as a request has room for.
    Unlimited,
}

impl Count {
    /// Returns the count of the values within a list or map with a limit of its own.
    pub(in crate::schema) fn within(self, limit: Option<u64>) -> Self {
        match (self, limit) {
            (Self::AtMost(count), Some(limit)) => Self::AtMost(count.saturating_mul(limit)),
            (Self::Unlimited, _) | (_, None) => Self::Unlimited,
        }
    }

    fn total(self, schema: &Value) -> u64 {
        match self {
            Self::AtMost(count) => count,
            Self::Unlimited => REQUEST / least_size(schema).saturating_add(1),
        }
    }
}

/// Returns the error of a rule that may cost too much.
pub(in crate::schema) fn error(
    schema: &Value,
    expression: &IdedExpr,
    count: Count,
) -> Option<String> {
    let mut walk = Walk {
        scope: vec![("self", Some(schema)), ("oldSelf", Some(schema))],
    };
    let cost = walk.cost(expression).saturating_mul(count.total(schema));
    if cost <= BUDGET {
        return None;
    }
    let (whole, tenth) = (cost / BUDGET, cost % BUDGET * 10 / BUDGET);
    let factor = match whole {
        0..100 => format!("{whole}.{tenth}x"),
        _ => "more than 100x".to_owned(),
    };
    Some(format!(
        "estimated rule cost exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and \
         maxLength where arrays, maps, and strings are declared)"
    ))
}

struct Walk<'a> {
    /// Variables with the schemas of their values, as far as they have one.
    scope: Vec<(&'a str, Option<&'a Value>)>,
}

impl<'a> Walk<'a> {
    fn cost(&mut self, expression: &'a IdedExpr) -> u64 {
        match &expression.expr {
            Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) => 0,
            Expr::Select(select) => self.cost(&select.operand),
            Expr::List(list) => sum(list.elements.iter().map(|one| self.cost(one))),
            Expr::Call(call) => {
                let all = call.target.as_deref().into_iter().chain(&call.args);
                sum(all.map(|one| self.cost(one)))
            }
            Expr::Map(map) => sum(map.entries.iter().map(|one| self.entry(&one.expr))),
            Expr::Struct(fields) => {
                let all = fields.entries.iter();
                sum(all.map(|one| self.entry(&one.expr)))
            }
            Expr::Comprehension(one) => self.comprehension(one),
        }
    }

    fn entry(&mut self, entry: &'a EntryExpr) -> u64 {
        match entry {
            EntryExpr::StructField(field) => self.cost(&field.value),
            EntryExpr::MapEntry(entry) => sum([&entry.key, &entry.value].map(|one| self.cost(one))),
        }
    }

    fn comprehension(&mut self, one: &'a ComprehensionExpr) -> u64 {
        let range = self.schema(&one.iter_range);
        // A range that is not part of the object is at least empty.
        let (runs, item) = range.map_or((0, None), |range| (most(range), item(range)));
        let around = sum([&one.iter_range, &one.accu_init].map(|part| self.cost(part)));
        let depth = self.scope.len();
        let is_list = range.is_some_and(|range| range.get("items").is_some());
        self.scope.push((&one.iter_var, item.filter(|_| is_list)));
        if let Some(name) = &one.iter_var2 {
            self.scope.push((name, None));
        }
        let step = sum([&one.loop_cond, &one.loop_step].map(|part| self.cost(part)));
        self.scope.truncate(depth);
        let loops = runs.saturating_mul(step.saturating_add(1));
        around.saturating_add(loops)
    }

    /// Returns the schema of the part of the object that an expression names.
    fn schema(&self, expression: &IdedExpr) -> Option<&'a Value> {
        match &expression.expr {
            Expr::Ident(name) => {
                let found = self.scope.iter().rev().find(|(known, _)| known == name);
                found?.1
            }
            Expr::Select(select) => {
                let schema = self.schema(&select.operand)?;
                let properties = schema.get("properties")?.as_object()?;
                let mut all = properties.iter();
                let escaped = |name: &str| super::escaped(name) == select.field;
                all.find(|(name, _)| escaped(name)).map(|(_, one)| one)
            }
            Expr::Unspecified
            | Expr::Call(_)
            | Expr::Comprehension(_)
            | Expr::List(_)
            | Expr::Literal(_)
            | Expr::Map(_)
            | Expr::Struct(_) => None,
        }
    }
}

/// Returns the sum, or the greatest number there is.
fn sum(costs: impl IntoIterator<Item = u64>) -> u64 {
    costs.into_iter().fold(0, u64::saturating_add)
}

fn item(schema: &Value) -> Option<&Value> {
    let rest = schema
        .get("additionalProperties")
        .filter(|rest| rest.is_object());
    schema.get("items").or(rest)
}

/// Returns the limit that a schema sets to the length of a list or map.
pub(in crate::schema) fn limit(schema: &Value) -> Option<u64> {
    let field = match schema.get("items") {
        Some(_) => "maxItems",
        None => "maxProperties",
    };
    schema.get(field)?.as_u64()
}

/// Returns the greatest length of a list or map.
fn most(schema: &Value) -> u64 {
    let room = item(schema).map_or(0, |item| (REQUEST - 2) / least_size(item).saturating_add(6));
    limit(schema).unwrap_or(room)
}

/// Returns the size of the shortest value of a schema, or more.
fn least_size(schema: &Value) -> u64 {
    let kind = schema.get("type").and_then(Value::as_str);
    match kind.unwrap_or_default() {
        "boolean" => 5,
        "string" => {
            let least = schema.get("minLength").and_then(Value::as_u64);
            least.unwrap_or(0).saturating_add(30)
        }
        "object" => {
            let properties = schema.get("properties");
            let required = schema.get("required").and_then(Value::as_array);
            let names = required.into_iter().flatten().filter_map(Value::as_str);
            let sizes = names.map(|name| {
                let property = properties.and_then(|all| all.get(name));
                sum([name.len() as u64, 4, property.map_or(2, least_size)])
            });
            sum(sizes.chain([2]))
        }
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::schema::errors_of;

    fn tags(rule: &str, more: Value) -> Value {
        let rules = json!([{"rule": rule}]);
        let mut list = json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-validations": rules});
        json_patch::merge(&mut list, &more);
        list
    }

    #[test]
    fn loops_within_loops_over_lists_without_a_limit_are_refused() {
        let unique = "self.all(a, self.exists_one(b, a == b))";
        let found = errors_of(tags(unique, json!({})));
        let message = "Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or \
            adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)";
        let field = ".properties[p].x-kubernetes-validations[0].rule";
        assert_eq!(found, [(field.to_owned(), message.to_owned())]);
        assert_eq!(errors_of(tags(unique, json!({"maxItems": 100}))), []);
        assert_eq!(errors_of(tags("self.all(a, a != '')", json!({}))), []);
    }

    #[test]
    fn a_cost_beyond_all_numbers_is_refused() {
        let (mut rule, names) = ("a == e".to_owned(), ["a", "b", "c", "d", "e"]);
        for name in names.iter().rev() {
            rule = format!("self.all({name}, {rule})");
        }
        for several in [
            format!("[{rule}, {rule}].size() == 2"),
            format!("{{{rule}: {rule}}}.size() == 1"),
        ] {
            assert_eq!(errors_of(tags(&several, json!({}))).len(), 1, "{several}");
        }
    }

    #[test]
    fn a_loop_in_each_item_of_a_list_without_a_limit_is_refused() {
        let within = |limits: Value| {
            let list = tags("self.all(a, a != '')", limits.clone());
            let items = json!({"type": "object", "properties": {"tags": list}});
            let mut outer = json!({"type": "array", "items": items});
            json_patch::merge(&mut outer, &limits);
            errors_of(outer)
        };
        assert_eq!(within(json!({})).len(), 1);
        assert_eq!(within(json!({"maxItems": 50})), []);
    }
}
