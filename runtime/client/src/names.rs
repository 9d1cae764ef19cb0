//! Names in the paths of requests. They come from any author of an object or annotation, and must
//! lead only to an object. A name that no object can have is refused before anything is sent. Every
//! other name is encoded.

use std::collections::BTreeSet;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use thiserror::Error;

/// Characters that are percent-encoded in a path segment.
const SPECIAL: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'/')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The longest DNS subdomain, and the longest label.
const LONGEST: (usize, usize) = (253, 63);

/// Why a request has no path.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// No object can have the name.
    #[error(
        "no {kind} can be named `{name}`: a name has lower-case letters, digits, `-` and `.`, begins and ends with a letter or digit, and has at most 253 characters"
    )]
    Name {
        /// The kind.
        kind: String,
        /// The name.
        name: String,
    },
    /// No namespace can have the name.
    #[error(
        "no namespace can be named `{0}`: a name has lower-case letters, digits and `-`, begins and ends with a letter or digit, and has at most 63 characters"
    )]
    Namespace(String),
    /// A list of namespaces has a comma too many.
    #[error(
        "`{0}` has an empty name: write the namespaces with one comma between them, as in `west,east`, or nothing for all namespaces"
    )]
    NoName(String),
}

/// The name of an object of this group and kind, as a part of a path.
///
/// # Errors
/// None can have it.
pub fn of_object(group: &str, kind: &str, name: &str) -> Result<String, Error> {
    let is_possible = if is_free(group, kind) {
        is_part(name)
    } else {
        is_subdomain(name)
    };
    match is_possible {
        true => Ok(encoded(name)),
        false => Err(Error::Name {
            kind: kind.to_owned(),
            name: name.to_owned(),
        }),
    }
}

/// The name of a namespace, as a part of a path.
///
/// # Errors
/// None can have it.
pub fn of_namespace(name: &str) -> Result<String, Error> {
    match is_label(name) {
        true => Ok(encoded(name)),
        false => Err(Error::Namespace(name.to_owned())),
    }
}

/// Parses namespaces with commas between them, the value of options such as `--watch-namespaces`. Blanks around names and an empty text are allowed.
///
/// # Errors
/// A name is empty, or no namespace can have it.
pub fn parse_namespaces(text: &str) -> Result<BTreeSet<String>, Error> {
    if text.trim().is_empty() {
        return Ok(BTreeSet::new());
    }
    let parsed = |name: &str| match name.trim() {
        "" => Err(Error::NoName(text.to_owned())),
        name => of_namespace(name),
    };
    text.split(',').map(parsed).collect()
}

/// Returns the log line of a process that serves these namespaces alone; `None` if it serves all,
/// which is the meaning of an empty set.
pub fn describe_served(namespaces: &BTreeSet<String>) -> Option<String> {
    let names = Vec::from_iter(namespaces.iter().map(String::as_str)).join(", ");
    match namespaces.len() {
        0 => None,
        1 => Some(format!("serving only namespace {names}")),
        _ => Some(format!("serving only the namespaces {names}")),
    }
}

/// Returns true for kinds whose objects may have names that are not DNS names: `system:node`,
/// `2001:db8::1`.
fn is_free(group: &str, kind: &str) -> bool {
    group == "rbac.authorization.k8s.io" || (group, kind) == ("networking.k8s.io", "IPAddress")
}

fn encoded(name: &str) -> String {
    utf8_percent_encode(name, SPECIAL).to_string()
}

/// As an API server takes it where it does not ask for a name of DNS.
fn is_part(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '%'])
}

fn is_subdomain(name: &str) -> bool {
    name.len() <= LONGEST.0 && name.split('.').all(is_word)
}

fn is_label(name: &str) -> bool {
    name.len() <= LONGEST.1 && is_word(name)
}

fn is_word(word: &str) -> bool {
    let is_end = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let ends = [word.bytes().next(), word.bytes().next_back()];
    ends.iter().all(|end| end.is_some_and(is_end))
        && word.bytes().all(|byte| is_end(byte) || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names that would lead elsewhere if they were pasted into a path.
    const LEADING: [&str; 10] = [
        "web?watch=true",
        "web/status",
        "../..",
        "..",
        ".",
        "",
        "web#x",
        "web%2fstatus",
        "web,metadata.namespace=x",
        "web status",
    ];

    #[test]
    fn a_list_of_namespaces_has_a_name_between_commas() {
        let parsed = |text: &str| parse_namespaces(text).map(Vec::from_iter);
        for all in ["", " "] {
            assert_eq!(parsed(all), Ok(vec![]), "{all:?}");
        }
        let both = ["east", "west"].map(String::from);
        assert_eq!(parsed("west, east,west").unwrap(), both);
        for wrong in [",", "west,", ",west", "west,,east", "west, ,east"] {
            let error = parsed(wrong).unwrap_err();
            assert_eq!(error, Error::NoName(wrong.to_owned()));
        }
        assert!(matches!(parsed("west,East"), Err(Error::Namespace(name)) if name == "East"));
    }

    #[test]
    fn the_served_namespaces_are_logged_unless_they_are_all() {
        let described = |text: &str| describe_served(&parse_namespaces(text).unwrap());
        assert_eq!(described(""), None);
        let one = described("east").unwrap();
        assert_eq!(one, "serving only namespace east");
        let both = described("west,east").unwrap();
        assert_eq!(both, "serving only the namespaces east, west");
    }

    #[test]
    fn names_that_lead_elsewhere_are_the_names_of_nothing() {
        for name in LEADING {
            assert!(of_object("", "Service", name).is_err(), "{name}");
            assert!(of_namespace(name).is_err(), "{name}");
        }
        for name in [
            "Web",
            "web-",
            "-web",
            "web..a",
            "web.",
            "w_b",
            "wéb",
            &"a".repeat(254),
        ] {
            assert!(of_object("", "Service", name).is_err(), "{name}");
        }
        assert!(of_namespace("a.b").is_err());
        assert!(of_namespace(&"a".repeat(64)).is_err());
        let error = of_object("", "Service", "web/status").unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("no Service can be named `web/status`: ")
        );
    }

    #[test]
    fn names_of_objects_are_parts_of_paths_as_they_are() {
        for name in ["web", "0", "a-b.c-1", &"a".repeat(253)] {
            assert_eq!(of_object("", "Service", name).as_deref(), Ok(name));
        }
        assert_eq!(of_namespace("kube-system").as_deref(), Ok("kube-system"));
    }

    #[test]
    fn kinds_without_names_of_dns_have_theirs_encoded() {
        let group = "rbac.authorization.k8s.io";
        let of = |name: &str| of_object(group, "Role", name);
        assert_eq!(of("system:node").as_deref(), Ok("system:node"));
        assert_eq!(
            of("a b?watch=true#x").as_deref(),
            Ok("a%20b%3Fwatch=true%23x")
        );
        for name in ["a/b", "..", "a%2fb", ""] {
            assert!(of(name).is_err(), "{name}");
        }
    }
}
