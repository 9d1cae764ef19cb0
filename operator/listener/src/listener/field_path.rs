//! Path of a field in an object, as administrators write it: `spec.ports[*].nodePort`,
//! `metadata.annotations['example.org/a']`. Knows no object.

use std::fmt::{self, Display, Formatter};

/// One step into an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Segment {
    /// Into a field or to a key of a map.
    Key(String),
    /// Into each item of a list.
    Items,
}

/// Path of a field. The first is the object itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FieldPath(Vec<Segment>);

impl FieldPath {
    /// Parses a path; `None` if it is invalid.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut segments = Vec::new();
        let mut rest = text;
        while !rest.is_empty() || segments.is_empty() {
            if let Some(after) = rest.strip_prefix("[*]") {
                segments.push(Segment::Items);
                rest = after;
                continue;
            }
            let (key, after) = match rest.strip_prefix("['") {
                Some(quoted) => quoted.split_once("']")?,
                None => {
                    let first = segments.is_empty();
                    let named = if first { rest } else { rest.strip_prefix('.')? };
                    let end = named.find(['.', '[']).unwrap_or(named.len());
                    named
                        .split_at_checked(end)
                        .filter(|(name, _)| is_plain(name))?
                }
            };
            segments.push(Segment::Key(key.to_owned()));
            rest = after;
        }
        Some(Self(segments))
    }

    /// The field of this name, or the value of this key, below it.
    pub(super) fn key(&self, name: &str) -> Self {
        self.then(Segment::Key(name.to_owned()))
    }

    /// Each item of the list there.
    pub(super) fn items(&self) -> Self {
        self.then(Segment::Items)
    }

    /// Returns true if the other path is this one, or below it.
    pub(super) fn holds(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }

    fn then(&self, segment: Segment) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment);
        Self(segments)
    }
}

impl Display for FieldPath {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        for (number, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Items => to.write_str("[*]")?,
                Segment::Key(name) if !is_plain(name) => {
                    write!(to, "['{}']", name.escape_debug())?;
                }
                Segment::Key(name) if number == 0 => to.write_str(name)?,
                Segment::Key(name) => write!(to, ".{name}")?,
            }
        }
        Ok(())
    }
}

/// Returns true if a name needs no quotes, as that of any field of Kubernetes.
fn is_plain(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_written_as_it_is_read() {
        for text in [
            "spec",
            "spec.externalIPs",
            "spec.ports[*].nodePort",
            "metadata.annotations['example.org/a.b']",
            "metadata.annotations['a-b'].c[*][*]",
        ] {
            let path = FieldPath::parse(text).unwrap();
            assert_eq!(path.to_string(), text);
        }
        let quoted = FieldPath::parse("metadata['labels']").unwrap();
        assert_eq!(quoted.to_string(), "metadata.labels");
        assert_eq!(
            FieldPath::default().key("a").key("\u{1b}[31m").to_string(),
            "a['\\u{1b}[31m']"
        );
    }

    #[test]
    fn what_is_no_path_is_not_read() {
        for text in [
            "", ".", ".spec", "spec.", "spec..a", "spec[0]", "spec['a", "spec a", "a-b", "$.spec",
        ] {
            assert_eq!(FieldPath::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_path_holds_itself_and_what_is_below_it() {
        let holds = |one: &str, other: &str| {
            let path = |text| FieldPath::parse(text).unwrap();
            path(one).holds(&path(other))
        };
        assert!(holds("spec.ports", "spec.ports[*].nodePort"));
        assert!(holds("spec.ports[*].nodePort", "spec.ports[*].nodePort"));
        assert!(!holds("spec.ports[*].nodePort", "spec.ports[*].name"));
        assert!(!holds("spec.external", "spec.externalIPs"));
        assert!(!holds("spec.type.x", "spec.type"));
        assert!(!holds(
            "metadata.annotations['a']",
            "metadata.annotations['a.b/c']"
        ));
    }
}
