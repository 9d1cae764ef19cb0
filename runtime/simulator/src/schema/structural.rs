//! Requirements on a schema before custom resources can use it: it is structural, its defaults
//! hold, and its rules fit its types and cannot become expensive.

use serde_json::{Map as Object, Value};

use super::expressions::cost::{self, Count};
use super::expressions::{checker, rules};
use super::junctors;
use super::load::is_true;
use super::problem::{Bad, Kind, Problem, list_keys};
use super::validation::Custom;

/// Returns the errors of a schema. Fields are paths below it, such as `.properties[spec].type`.
pub(super) fn problems(custom: &Custom) -> Vec<Problem> {
    let mut checker = Checker {
        custom,
        uncorrelated: None,
        count: Count::AtMost(1),
        problems: Vec::new(),
    };
    let root = custom
        .schema
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    match root {
        "object" => {}
        "" => checker.blame(
            Kind::Required,
            ".type",
            Bad::Omitted,
            "must not be empty at the root",
        ),
        other => checker.blame(
            Kind::Invalid,
            ".type",
            Bad::Value(other.into()),
            "must be object at the root",
        ),
    }
    checker.node(&custom.schema, "", true);
    checker.problems
}

struct Checker<'a> {
    custom: &'a Custom,
    /// Path of the list whose items have no old value.
    uncorrelated: Option<String>,
    /// How many values an object may have here.
    count: Count,
    problems: Vec<Problem>,
}

impl Checker<'_> {
    fn blame(&mut self, kind: Kind, field: &str, bad: Bad, detail: &str) {
        self.problems.push(Problem::new(kind, field, bad, detail));
    }

    fn node(&mut self, schema: &Value, path: &str, is_root: bool) {
        let Some(fields) = schema.as_object() else {
            return;
        };
        let kind = fields
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        self.shape(fields, kind, path);
        self.problems.extend(junctors::unsupported(schema, path));
        self.problems.extend(junctors::problems(schema, path));
        self.lists(schema, kind, path);
        self.default(schema, path, is_root);
        self.rules(schema, path, is_root);
        for (name, property) in fields
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let path = format!("{path}.properties[{name}]");
            if !(is_root && name == "metadata") {
                self.typed(property, &path, "object fields");
            }
            self.node(property, &path, false);
        }
        if let Some(rest) = fields
            .get("additionalProperties")
            .filter(|rest| rest.is_object())
        {
            let path = format!("{path}.additionalProperties");
            self.typed(rest, &path, "object fields");
            let around = self.count;
            self.count = around.within(cost::limit(schema));
            self.node(rest, &path, false);
            self.count = around;
        }
        if let Some(items) = fields.get("items") {
            let path = format!("{path}.items");
            self.typed(items, &path, "array items");
            let list = path.strip_suffix(".items").unwrap_or_default().to_owned();
            let is_map = list_keys(schema).is_some();
            let before = self.uncorrelated.clone();
            if !is_map && before.is_none() {
                self.uncorrelated = Some(list);
            }
            let around = self.count;
            self.count = around.within(cost::limit(schema));
            self.node(items, &path, false);
            self.count = around;
            self.uncorrelated = before;
        }
    }

    fn rules(&mut self, schema: &Value, path: &str, is_root: bool) {
        let programs = &self.custom.programs;
        for (index, rule) in rules(schema).enumerate() {
            let text = rule.get("rule").and_then(Value::as_str).unwrap_or_default();
            let field = format!("{path}.x-kubernetes-validations[{index}].rule");
            if text.trim().is_empty() {
                let detail = "rule is not specified";
                self.blame(Kind::Required, &field, Bad::Omitted, detail);
                continue;
            }
            if let Some(error) = programs.error(text) {
                let detail = format!("compilation failed: {error}");
                self.blame(Kind::Invalid, &field, Bad::Value(rule.clone()), &detail);
            }
            let Some(expression) = programs.expression(text) else {
                continue;
            };
            if let Some(error) = checker::error(schema, rule, expression, is_root) {
                self.blame(Kind::Invalid, &field, Bad::Value(rule.clone()), &error);
                continue;
            }
            if let Some(error) = cost::error(schema, expression, self.count) {
                self.blame(Kind::Forbidden, &field, Bad::Omitted, &error);
            }
            let list = self.uncorrelated.as_ref();
            if let Some(list) = list.filter(|_| programs.is_transition(text)) {
                let root = junctors::ROOT;
                let detail = format!(
                    "oldSelf cannot be used on the uncorrelatable portion of the schema within {root}{list}"
                );
                self.blame(Kind::Invalid, &field, Bad::Value(text.into()), &detail);
            }
        }
    }

    fn typed(&mut self, schema: &Value, path: &str, of: &str) {
        let Some(fields) = schema.as_object() else {
            return;
        };
        let free = is_true(fields, "x-kubernetes-int-or-string")
            || is_true(fields, "x-kubernetes-preserve-unknown-fields");
        let kind = fields
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if kind.is_empty() && !free {
            let detail = format!("must not be empty for specified {of}");
            self.blame(
                Kind::Required,
                &format!("{path}.type"),
                Bad::Omitted,
                &detail,
            );
        }
    }

    fn shape(&mut self, fields: &Object<String, Value>, kind: &str, path: &str) {
        let known = [
            "", "array", "boolean", "integer", "number", "object", "string",
        ];
        if !known.contains(&kind) {
            let detail =
                r#"supported values: "array", "boolean", "integer", "number", "object", "string""#;
            self.blame(
                Kind::Unsupported,
                &format!("{path}.type"),
                Bad::Value(kind.into()),
                detail,
            );
        }
        let rest = fields
            .get("additionalProperties")
            .filter(|rest| **rest != Value::Bool(false));
        if rest.is_some()
            && fields
                .get("properties")
                .is_some_and(|properties| !properties.is_null())
        {
            let detail = "additionalProperties and properties are mutual exclusive";
            self.blame(
                Kind::Forbidden,
                &format!("{path}.additionalProperties"),
                Bad::Omitted,
                detail,
            );
        }
        if kind == "array" && !fields.contains_key("items") {
            self.blame(
                Kind::Required,
                &format!("{path}.items"),
                Bad::Omitted,
                "must be specified",
            );
        }
        if fields.get("uniqueItems") == Some(&Value::Bool(true)) {
            let detail =
                "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
            self.blame(
                Kind::Forbidden,
                &format!("{path}.uniqueItems"),
                Bad::Omitted,
                detail,
            );
        }
        if is_true(fields, "x-kubernetes-embedded-resource") && kind != "object" {
            let detail = "must be object if x-kubernetes-embedded-resource is true";
            self.blame(
                Kind::Invalid,
                &format!("{path}.type"),
                Bad::Value(kind.into()),
                detail,
            );
        }
    }

    fn lists(&mut self, schema: &Value, kind: &str, path: &str) {
        let list = schema.get("x-kubernetes-list-type").and_then(Value::as_str);
        let has_keys = schema.get("x-kubernetes-list-map-keys").is_some();
        if list.is_some() && kind != "array" {
            let detail = "must be array if x-kubernetes-list-type is specified";
            self.blame(
                Kind::Invalid,
                &format!("{path}.type"),
                Bad::Value(kind.into()),
                detail,
            );
        }
        if list == Some("map") && !has_keys {
            let detail = "must not be empty if x-kubernetes-list-type is map";
            self.blame(
                Kind::Required,
                &format!("{path}.x-kubernetes-list-map-keys"),
                Bad::Omitted,
                detail,
            );
        }
        if has_keys && list != Some("map") {
            let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
            let bad = list.map_or(Bad::Value(Value::Null), |list| Bad::Value(list.into()));
            self.blame(
                Kind::Invalid,
                &format!("{path}.x-kubernetes-list-type"),
                bad,
                detail,
            );
        }
        let Some(items) = schema.get("items") else {
            return;
        };
        let required = items.get("required").and_then(Value::as_array);
        for key in list_keys(schema).unwrap_or_default() {
            let property = items
                .get("properties")
                .and_then(|properties| properties.get(key));
            let is_required =
                required.is_some_and(|required| required.iter().any(|name| name == key));
            match property {
                None => {
                    let field = format!("{path}.x-kubernetes-list-map-keys[0]");
                    self.blame(
                        Kind::Invalid,
                        &field,
                        Bad::Value(key.into()),
                        "entries must all be names of item properties",
                    );
                }
                Some(property) if !is_required && property.get("default").is_none() => {
                    let field = format!("{path}.items.properties[{key}].default");
                    let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
                    self.blame(Kind::Required, &field, Bad::Omitted, detail);
                }
                Some(_) => {}
            }
        }
    }

    fn default(&mut self, schema: &Value, path: &str, is_root: bool) {
        let Some(default) = schema.get("default") else {
            return;
        };
        let field = format!("{path}.default");
        if is_root {
            self.blame(
                Kind::Forbidden,
                &field,
                Bad::Omitted,
                "must not be set at the root",
            );
            return;
        }
        for mut problem in self.custom.value(schema, "", default, None) {
            problem.field = match problem.field.as_str() {
                "" => field.clone(),
                below => format!("{field}.{below}"),
            };
            self.problems.push(problem);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::Schema;

    fn check(schema: Value, field: &str, message: &str) {
        let causes = Schema::of_crd(&schema).unwrap_err();
        let found = causes
            .iter()
            .any(|cause| cause.field == field && cause.message.contains(message));
        assert!(found, "{causes:?}");
    }

    #[test]
    fn what_is_not_structural_is_named() {
        check(
            json!({"type": "string"}),
            ".type",
            "must be object at the root",
        );
        check(
            json!({"type": "object", "properties": {"spec": {}}}),
            ".properties[spec].type",
            "Required value: must not be empty for specified object fields",
        );
        check(
            json!({"type": "object", "properties": {"l": {"type": "array"}}}),
            ".properties[l].items",
            "must be specified",
        );
        check(
            json!({"type": "object", "properties": {"l": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object", "properties": {"k": {"type": "string"}}}}}}),
            ".properties[l].items.properties[k].default",
            "must have a default or be a required property",
        );
    }

    #[test]
    fn an_old_value_is_only_known_where_items_have_keys() {
        let list = |kind: &str| {
            let rules = json!([{"rule": "self.k == oldSelf.k"}]);
            let items = json!({"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}},
                "x-kubernetes-validations": rules});
            let mut list = json!({"type": "array", "items": items, "x-kubernetes-list-type": kind});
            if kind == "map" {
                list["x-kubernetes-list-map-keys"] = json!(["k"]);
            }
            json!({"type": "object", "properties": {"l": list}})
        };
        assert!(Schema::of_crd(&list("map")).is_ok());
        for kind in ["atomic", "set"] {
            check(
                list(kind),
                ".properties[l].items.x-kubernetes-validations[0].rule",
                "Invalid value: \"self.k == oldSelf.k\": oldSelf cannot be used on the uncorrelatable portion of the schema \
                 within <schema>.properties[l]",
            );
        }
    }

    #[test]
    fn defaults_and_rules_must_hold() {
        check(
            json!({"type": "object", "properties": {"n": {"type": "integer", "default": "x"}}}),
            ".properties[n].default",
            "must be of type integer",
        );
        check(
            json!({"type": "object", "x-kubernetes-validations": [{"rule": "self.("}]}),
            ".x-kubernetes-validations[0].rule",
            "compilation failed",
        );
    }
}
