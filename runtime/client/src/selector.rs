//! Label and field selectors: what they say, and whether an object's labels and fields match. Knows no requests.

use std::collections::BTreeMap;

/// Why a selector cannot be read, as the API server says it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(pub String);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Operator {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    Absent,
    Greater(i64),
    Less(i64),
}

/// What the labels of an object must be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector(Vec<(String, Operator)>);

impl LabelSelector {
    /// Reads `app=web,tier in (a, b),!old`. Nothing selects everything.
    ///
    /// # Errors
    /// A requirement that is none.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        let mut requirements = Vec::new();
        for part in split(text) {
            let part = part.trim();
            if part.is_empty() {
                continue;
            }
            requirements.push(requirement(part)?);
        }
        Ok(Self(requirements))
    }

    /// Whether labels meet all requirements.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.0.iter().all(|(key, operator)| {
            let value = labels.get(key);
            match operator {
                Operator::In(values) => value.is_some_and(|value| values.contains(value)),
                Operator::NotIn(values) => !value.is_some_and(|value| values.contains(value)),
                Operator::Exists => value.is_some(),
                Operator::Absent => value.is_none(),
                Operator::Greater(limit) => number(value).is_some_and(|value| value > *limit),
                Operator::Less(limit) => number(value).is_some_and(|value| value < *limit),
            }
        })
    }

    /// Whether it has no requirement.
    pub fn is_everything(&self) -> bool {
        self.0.is_empty()
    }
}

fn number(value: Option<&String>) -> Option<i64> {
    value?.parse().ok()
}

/// At commas outside of brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_u32);
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn requirement(part: &str) -> Result<(String, Operator), Unreadable> {
    if let Some(key) = part.strip_prefix('!') {
        return Ok((word(key, part)?, Operator::Absent));
    }
    for (sign, negated) in [("!=", true), ("==", false), ("=", false)] {
        if let Some((key, value)) = part.split_once(sign) {
            let values = vec![value.trim().to_owned()];
            let operator = if negated {
                Operator::NotIn(values)
            } else {
                Operator::In(values)
            };
            return Ok((word(key, part)?, operator));
        }
    }
    if let Some((key, limit)) = part.split_once('>') {
        return Ok((word(key, part)?, Operator::Greater(limit_of(limit, part)?)));
    }
    if let Some((key, limit)) = part.split_once('<') {
        return Ok((word(key, part)?, Operator::Less(limit_of(limit, part)?)));
    }
    if let Some(body) = part.strip_suffix(')') {
        let (head, values) = body.split_once('(').ok_or_else(|| unreadable(part))?;
        let values = values.split(',').map(|value| value.trim().to_owned());
        let head = head.trim();
        if let Some(key) = head.strip_suffix(" notin") {
            return Ok((word(key, part)?, Operator::NotIn(values.collect())));
        }
        if let Some(key) = head.strip_suffix(" in") {
            return Ok((word(key, part)?, Operator::In(values.collect())));
        }
        return Err(unreadable(part));
    }
    Ok((word(part, part)?, Operator::Exists))
}

fn limit_of(limit: &str, part: &str) -> Result<i64, Unreadable> {
    limit.trim().parse().map_err(|_| unreadable(part))
}

fn word(key: &str, part: &str) -> Result<String, Unreadable> {
    let key = key.trim();
    let fits = |character: char| character.is_ascii_alphanumeric() || "-_./".contains(character);
    if key.is_empty() || !key.chars().all(fits) {
        return Err(unreadable(part));
    }
    Ok(key.to_owned())
}

fn unreadable(part: &str) -> Unreadable {
    Unreadable(format!(
        "unable to parse requirement: found '{part}', expected: a key, or a key with an operator and values"
    ))
}

/// What some fields of an object must be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector(Vec<(String, String, bool)>);

impl FieldSelector {
    /// Reads `metadata.name=a,spec.nodeName!=b`. Nothing selects everything.
    ///
    /// # Errors
    /// A requirement that is none.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        let mut terms = Vec::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let found = [("!=", false), ("==", true), ("=", true)]
                .into_iter()
                .find_map(|(sign, equal)| Some((part.split_once(sign)?, equal)));
            let Some(((key, value), equal)) = found else {
                return Err(Unreadable(format!(
                    "invalid selector: '{text}'; can't understand '{part}'"
                )));
            };
            terms.push((key.to_owned(), value.to_owned(), equal));
        }
        Ok(Self(terms))
    }

    /// The fields that are asked for.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(field, _, _)| field.as_str())
    }

    /// `value` tells what a field of the object is; absent ones are empty.
    pub fn matches<'a>(&self, value: impl Fn(&str) -> &'a str) -> bool {
        self.0
            .iter()
            .all(|(field, wanted, equal)| (value(field) == wanted) == *equal)
    }

    /// Whether it has no requirement.
    pub fn is_everything(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(selector: &str, labels: &[(&str, &str)], expected: bool) {
        let labels = labels
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        let parsed = LabelSelector::parse(selector).unwrap();
        assert_eq!(parsed.matches(&labels), expected, "{selector}");
    }

    #[test]
    fn labels_match_as_selectors_say() {
        check("", &[], true);
        check("a=1", &[("a", "1")], true);
        check("a==1,b!=2", &[("a", "1")], true);
        check("a!=1", &[("a", "1")], false);
        check("a in (1, 2),!b", &[("a", "2")], true);
        check("a notin (1,2)", &[("a", "2")], false);
        check("a notin (1,2)", &[], true);
        check("example.com/a", &[("example.com/a", "")], true);
        check("!a", &[("a", "")], false);
        check("a>1", &[("a", "2")], true);
        check("a<1", &[("a", "2")], false);
        check("a=", &[("a", "")], true);
        assert!(LabelSelector::parse("a b").is_err());
        assert!(LabelSelector::parse("a between (1,2)").is_err());
    }

    #[test]
    fn fields_match_as_selectors_say() {
        let selector = FieldSelector::parse("metadata.name=a,spec.nodeName!=").unwrap();
        let value = |node: &'static str| {
            move |field: &str| if field == "metadata.name" { "a" } else { node }
        };
        assert!(selector.matches(value("node")));
        assert!(!selector.matches(value("")));
        assert!(FieldSelector::parse("nonsense").is_err());
    }
}
