//! Label and field selectors: their parsed form, and matching against an object's labels and
//! fields. Independent of requests.

use std::collections::BTreeMap;

/// Reason why a selector cannot be parsed, in the API server's words.
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

/// Requirements on the labels of an object.
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

    /// Returns true if the labels meet all requirements.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.0.iter().all(|(key, operator)| {
            let value = labels.get(key);
            match operator {
                Operator::In(values) => value.is_some_and(|value| values.contains(value)),
                Operator::NotIn(values) => !value.is_some_and(|value| values.contains(value)),
                Operator::Exists => value.is_some(),
                Operator::Absent => value.is_none(),
                Operator::Greater(limit) => parse_number(value).is_some_and(|value| value > *limit),
                Operator::Less(limit) => parse_number(value).is_some_and(|value| value < *limit),
            }
        })
    }

    /// Returns true if it has no requirement.
    pub fn is_everything(&self) -> bool {
        self.0.is_empty()
    }
}

fn parse_number(value: Option<&String>) -> Option<i64> {
    value?.parse().ok()
}

/// Splits a text at commas that are not inside brackets.
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
        return Ok((parse_key(key, part)?, Operator::Absent));
    }
    for (sign, negated) in [("!=", true), ("==", false), ("=", false)] {
        if let Some((key, value)) = part.split_once(sign) {
            let values = vec![value.trim().to_owned()];
            let operator = if negated {
                Operator::NotIn(values)
            } else {
                Operator::In(values)
            };
            return Ok((parse_key(key, part)?, operator));
        }
    }
    if let Some((key, limit)) = part.split_once('>') {
        return Ok((
            parse_key(key, part)?,
            Operator::Greater(limit_of(limit, part)?),
        ));
    }
    if let Some((key, limit)) = part.split_once('<') {
        return Ok((
            parse_key(key, part)?,
            Operator::Less(limit_of(limit, part)?),
        ));
    }
    if let Some(body) = part.strip_suffix(')') {
        let (head, values) = body.split_once('(').ok_or_else(|| unreadable(part))?;
        let values = values.split(',').map(|value| value.trim().to_owned());
        let head = head.trim();
        if let Some(key) = head.strip_suffix(" notin") {
            return Ok((parse_key(key, part)?, Operator::NotIn(values.collect())));
        }
        if let Some(key) = head.strip_suffix(" in") {
            return Ok((parse_key(key, part)?, Operator::In(values.collect())));
        }
        return Err(unreadable(part));
    }
    Ok((parse_key(part, part)?, Operator::Exists))
}

fn limit_of(limit: &str, part: &str) -> Result<i64, Unreadable> {
    limit.trim().parse().map_err(|_| unreadable(part))
}

fn parse_key(key: &str, part: &str) -> Result<String, Unreadable> {
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

/// Requirements on some fields of an object.
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

    /// Returns the fields that the selector names.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(field, _, _)| field.as_str())
    }

    /// Returns true if an object matches. `value` returns the value of a field of the object, empty
    /// if absent.
    pub fn matches<'a>(&self, value: impl Fn(&str) -> &'a str) -> bool {
        self.0
            .iter()
            .all(|(field, wanted, equal)| (value(field) == wanted) == *equal)
    }

    /// Returns true if it has no requirement.
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
