//! Paths of printer columns: the part of kubectl's JSONPath that leads to values. Supports keys,
//! indexes, `*` and filters. A missing value is not an error. Recursion, ranges and templates are
//! refused.

use serde_json::Value;

/// A path such as `.status.conditions[?(@.type=="Ready")].status`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Path(Vec<Step>);

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Key(String),
    Index(i64),
    All,
    Filter(Path, Option<(Comparison, Value)>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Longer words before those that they begin with.
const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::Unequal),
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

impl Path {
    /// Reads a path; `$` or `@` may stand before it.
    ///
    /// # Errors
    /// Returns an error if the text is not a path, or uses syntax that printer columns do not need.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let refused = || format!("unrecognized column definition {text:?}");
        let mut steps = Vec::new();
        let mut rest = text.trim().trim_start_matches(['$', '@']);
        if rest.is_empty() {
            return Err(refused());
        }
        while !rest.is_empty() {
            let (step, after) = match rest.strip_prefix('[') {
                Some(inside) => bracket(inside),
                None => key(rest.strip_prefix('.').ok_or_else(refused)?),
            }
            .ok_or_else(refused)?;
            steps.push(step);
            rest = after;
        }
        Ok(Self(steps))
    }

    /// Everything that the path leads to.
    pub(crate) fn find<'a>(&self, root: &'a Value) -> Vec<&'a Value> {
        self.0.iter().fold(vec![root], |found, step| {
            found
                .into_iter()
                .flat_map(|value| step.select(value))
                .collect()
        })
    }
}

impl Step {
    fn select<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        match (self, value) {
            (Self::Key(key), Value::Object(fields)) => fields.get(key).into_iter().collect(),
            (Self::Index(index), Value::Array(items)) => {
                item_at(items, *index).into_iter().collect()
            }
            (Self::All, Value::Object(fields)) => fields.values().collect(),
            (Self::All, Value::Array(items)) => items.iter().collect(),
            (Self::Filter(path, comparison), Value::Array(items)) => items
                .iter()
                .filter(|item| passes(path, comparison.as_ref(), item))
                .collect(),
            _ => Vec::new(),
        }
    }
}

fn item_at(items: &[Value], index: i64) -> Option<&Value> {
    let from_end = usize::try_from(index.unsigned_abs()).ok()?;
    match index {
        0.. => items.get(from_end),
        _ => items.get(items.len().checked_sub(from_end)?),
    }
}

fn passes(path: &Path, comparison: Option<&(Comparison, Value)>, item: &Value) -> bool {
    let found = path.find(item);
    let Some((comparison, wanted)) = comparison else {
        return !found.is_empty();
    };
    found
        .first()
        .is_some_and(|value| comparison.holds(value, wanted))
}

impl Comparison {
    fn holds(self, left: &Value, right: &Value) -> bool {
        let order = match (left, right) {
            (Value::Number(left), Value::Number(right)) => {
                left.as_f64().partial_cmp(&right.as_f64())
            }
            (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
            (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
            _ => None,
        };
        order.is_some_and(|order| match self {
            Self::Equal => order.is_eq(),
            Self::Unequal => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        })
    }
}

/// Parses a key after a dot. In it, `\` escapes a dot or bracket.
fn key(text: &str) -> Option<(Step, &str)> {
    let (mut name, mut characters) = (String::new(), text.char_indices());
    let mut end = text.len();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => name.push(characters.next()?.1),
            '.' | '[' => {
                end = at;
                break;
            }
            ' ' | '(' | ')' | ']' | '{' | '}' | '=' | '<' | '>' | '!' | '"' | '\'' => return None,
            character => name.push(character),
        }
    }
    let step = match name.as_str() {
        "" => return None,
        "*" => Step::All,
        _ => Step::Key(name),
    };
    Some((step, &text[end..]))
}

/// Parses the text after an opening bracket.
fn bracket(text: &str) -> Option<(Step, &str)> {
    if let Some(filter) = text.strip_prefix("?(") {
        let end = end_of(filter, ")]")?;
        return Some((self::filter(&filter[..end])?, &filter[end + 2..]));
    }
    let end = end_of(text, "]")?;
    let (inside, rest) = (text[..end].trim(), &text[end + 1..]);
    let step = match literal(inside) {
        _ if inside == "*" => Step::All,
        Some(Value::String(key)) => Step::Key(key),
        Some(Value::Number(number)) => Step::Index(number.as_i64()?),
        Some(_) | None => return None,
    };
    Some((step, rest))
}

fn filter(text: &str) -> Option<Step> {
    let outside = |word: &str| end_of(text, word);
    let found = COMPARISONS
        .iter()
        .filter_map(|(word, comparison)| Some((outside(word)?, *word, *comparison)));
    let Some((at, word, comparison)) = found.min_by_key(|(at, ..)| *at) else {
        return Some(Step::Filter(Path::parse(text).ok()?, None));
    };
    let path = Path::parse(text[..at].trim()).ok()?;
    let wanted = literal(text[at + word.len()..].trim())?;
    Some(Step::Filter(path, Some((comparison, wanted))))
}

fn literal(text: &str) -> Option<Value> {
    for quote in ['"', '\''] {
        if let Some(inside) = text.strip_prefix(quote) {
            return inside
                .strip_suffix(quote)
                .map(|inside| inside.replace('\\', "").into());
        }
    }
    let value: Value = serde_json::from_str(text).ok()?;
    (value.is_number() || value.is_boolean()).then_some(value)
}

/// Returns the position of a word outside quotes.
fn end_of(text: &str, word: &str) -> Option<usize> {
    let mut quoted = None;
    for (at, character) in text.char_indices() {
        match quoted {
            Some(quote) if character == quote => quoted = None,
            Some(_) => {}
            None if text[at..].starts_with(word) => return Some(at),
            None if matches!(character, '"' | '\'') => quoted = Some(character),
            None => {}
        }
    }
    None
}

/// A value as the text of a cell.
pub(crate) fn printed(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(path: &str, expected: &[Value]) {
        let object = json!({
            "spec": { "a.b": 1, "names": ["x", "y", "z"] },
            "status": { "conditions": [
                { "type": "Ready", "status": "True", "n": 3 },
                { "type": "Other]", "status": "False", "n": 5, "odd": null },
            ] },
        });
        let path = Path::parse(path).unwrap();
        let found: Vec<Value> = path.find(&object).into_iter().cloned().collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn paths_lead_to_values() {
        check(".spec.names[0]", &[json!("x")]);
        check(".spec.names[-1]", &[json!("z")]);
        check(".spec.names[-4]", &[]);
        check("$.spec['names'][*]", &[json!("x"), json!("y"), json!("z")]);
        check(r".spec.a\.b", &[json!(1)]);
        check(".spec['a.b']", &[json!(1)]);
        check(".spec.gone.deeper", &[]);
        check(".status.conditions[*].n", &[json!(3), json!(5)]);
    }

    #[test]
    fn filters_choose_items() {
        check(
            r#".status.conditions[?(@.type=="Ready")].status"#,
            &[json!("True")],
        );
        check(
            r#".status.conditions[?(@.type == 'Other]')].status"#,
            &[json!("False")],
        );
        check(".status.conditions[?(@.n>=4)].n", &[json!(5)]);
        check(r#".status.conditions[?(@.type!="Ready")].n"#, &[json!(5)]);
        check(".status.conditions[?(@.odd)].n", &[json!(5)]);
        check(".status.conditions[?(@.gone==1)].n", &[]);
    }

    #[test]
    fn what_is_no_path_is_refused_by_name() {
        for text in [
            "",
            "spec",
            ".spec..a",
            ".spec[",
            ".spec[a]",
            ".a[?(@.b==c)]",
            ".a[0:1]",
            ".a b",
        ] {
            assert!(
                Path::parse(text)
                    .unwrap_err()
                    .contains("unrecognized column definition"),
                "{text}"
            );
        }
    }

    #[test]
    fn objects_are_printed_as_json_and_texts_as_they_are() {
        assert_eq!(printed(&json!("a b")), "a b");
        assert_eq!(printed(&json!({ "a": [1] })), r#"{"a":[1]}"#);
        assert_eq!(printed(&json!(2)), "2");
    }
}
