//! Valid names of a new crate, and the reasons to reject others.

use semver::VersionReq;

use super::manifest;
use super::template::Template;

/// Words that the template does not hold, and that its code means.
const MEANT: [&str; 31] = [
    "Box",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Drop",
    "Eq",
    "Err",
    "Fn",
    "FnMut",
    "FnOnce",
    "From",
    "Hash",
    "Into",
    "Iterator",
    "None",
    "Ok",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Result",
    "Self",
    "Send",
    "Sized",
    "Some",
    "String",
    "Sync",
    "ToString",
    "Unpin",
    "Vec",
];
/// Types that the language makes of every lifecycle.
const MADE: [&str; 3] = ["Facts", "Seen", "State"];
/// Names that no package may have: words of Rust, and crates that every build knows.
const RESERVED: [&str; 56] = [
    "abstract", "alloc", "as", "async", "await", "become", "box", "break", "const", "continue",
    "core", "crate", "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen",
    "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv",
    "pub", "ref", "return", "self", "static", "std", "struct", "super", "test", "trait", "true",
    "try", "type", "typeof", "union", "unsafe", "unsized", "use", "virtual", "where", "while",
    "yield",
];
/// Names of a Lease, a ServiceAccount and a namespace are labels of DNS.
const LONGEST_LABEL: usize = 63;
/// A group is a domain.
const LONGEST_DOMAIN: usize = 253;
/// Groups that are reserved by Kubernetes: a definition there is refused.
const KEPT: [&str; 2] = ["k8s.io", "kubernetes.io"];

/// The name of a package, which is that of its program, its Lease, its ServiceAccount and its namespace, too.
pub(super) fn parse_package(text: &str) -> Result<String, String> {
    check_label(text)?;
    if RESERVED.contains(&text) {
        return Err("it is a word of Rust: add `-operator`, for example".to_owned());
    }
    if manifest::dependencies().any(|name| name == text) {
        return Err("it is one of the packages that an operator is built of".to_owned());
    }
    Ok(text.to_owned())
}

fn check_label(text: &str) -> Result<(), String> {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let begins = text.starts_with(|c: char| c.is_ascii_lowercase());
    if !begins || text.ends_with('-') || !text.chars().all(inner) || text.len() > LONGEST_LABEL {
        return Err(format!(
            "use lower-case letters, digits and dashes, at most {LONGEST_LABEL}, a letter first and no dash last, as in website-operator"
        ));
    }
    Ok(())
}

/// The kind of the resource.
pub(super) fn parse_kind(text: &str) -> Result<String, String> {
    let begins = text.starts_with(|c: char| c.is_ascii_uppercase());
    if !begins || !text.chars().all(|c| c.is_ascii_alphanumeric()) || text.len() > LONGEST_LABEL {
        return Err(format!(
            "use letters and digits, at most {LONGEST_LABEL}, a capital first, as in Website"
        ));
    }
    let mut words = Template::default().reserved_words();
    if MEANT.contains(&text) || MADE.contains(&text) || words.any(|word| word == text) {
        return Err(
            "the code of an operator means something else by it: choose another".to_owned(),
        );
    }
    Ok(text.to_owned())
}

/// Parses the plural that names the kind in requests.
pub(super) fn parse_plural(text: &str) -> Result<String, String> {
    check_label(text).map(|()| text.to_owned())
}

/// The API group of the kind.
pub(super) fn parse_group(text: &str) -> Result<String, String> {
    let label = |label: &str| {
        let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let edges = !label.starts_with('-') && !label.ends_with('-');
        (1..=LONGEST_LABEL).contains(&label.len()) && label.chars().all(inner) && edges
    };
    let labels: Vec<&str> = text.split('.').collect();
    if labels.len() < 2 || text.len() > LONGEST_DOMAIN || !labels.iter().all(|one| label(one)) {
        return Err("use a domain of yours in lower case, as in web.example.org".to_owned());
    }
    let is_kept = |kept: &str| {
        let rest = text.strip_suffix(kept);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    if let Some(kept) = KEPT.into_iter().find(|kept| is_kept(kept)) {
        return Err(format!(
            "Kubernetes keeps groups below {kept} to itself: use a domain of yours"
        ));
    }
    Ok(text.to_owned())
}

/// Parses the version of the packages of this repository, as written in a manifest.
pub(super) fn parse_version(text: &str) -> Result<String, String> {
    match VersionReq::parse(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(format!(
            "{error}: use a version as Cargo takes it, as in 0.1 or =0.1.2"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<T: std::fmt::Debug>(
        parse: fn(&str) -> Result<T, String>,
        good: &[&str],
        bad: &[(&str, &str)],
    ) {
        for text in good {
            assert!(parse(text).is_ok(), "{text}: {:?}", parse(text));
        }
        for (text, expected) in bad {
            let said = parse(text).unwrap_err();
            assert!(said.contains(expected), "{text}: {said}");
        }
    }

    #[test]
    fn names_that_cannot_be_are_refused_with_a_reason() {
        let long = "a".repeat(64);
        let form = "lower-case letters";
        check(
            parse_package,
            &["gadget-operator", "a", "x2"],
            &[
                ("", form),
                ("Gadget", form),
                ("a_b", form),
                ("-a", form),
                ("a-", form),
                ("2a", form),
                ("../a", form),
                (&long, form),
                ("type", "word of Rust"),
                ("test", "word of Rust"),
                ("kube", "packages that an operator is built of"),
                ("lifecycle-runtime", "packages that an operator is built of"),
            ],
        );
    }

    #[test]
    fn kinds_that_mean_something_else_are_refused() {
        let means = "means something else";
        let bad = [
            "Deployment",
            "State",
            "Option",
            "Logic",
            "Rollout",
            "Operator",
            "Self",
            "Suite",
            "Condition",
            "Program",
            "Desired",
        ];
        let bad = bad.map(|kind| (kind, means));
        check(
            parse_kind,
            &["Gadget", "DatabaseUser", "Site2", "Website"],
            &bad,
        );
        check(
            parse_kind,
            &[],
            &[
                ("gadget", "a capital first"),
                ("", "a capital"),
                ("A-b", "letters"),
                ("Öl", "letters"),
            ],
        );
    }

    #[test]
    fn versions_are_those_that_cargo_takes() {
        let form = "use a version as Cargo takes it";
        check(
            parse_version,
            &["0.1.0", "1", "=1.2.3", "^0.1, <0.3", "1.0.0-rc.1"],
            &[
                ("", form),
                ("latest", form),
                ("1.2.3.4", form),
                ("1\"\nevil = \"1", form),
            ],
        );
    }

    #[test]
    fn groups_are_domains_of_others_than_kubernetes() {
        check(
            parse_group,
            &["acme.test", "a.b.c-d.org"],
            &[
                ("acme", "a domain"),
                ("", "a domain"),
                ("A.b", "a domain"),
                ("a..b", "a domain"),
                ("apps.k8s.io", "below k8s.io"),
                ("k8s.io", "to itself"),
                ("a.kubernetes.io", "kubernetes.io"),
            ],
        );
    }
}
