//! Allowed forms of names, labels and keys, and the messages of the real server for violations.
//! Knows texts only.

/// Protocols of ports, in the order of messages.
pub(crate) const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

/// Allowed form of names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Names {
    /// Labels of a host name joined by dots.
    #[default]
    Subdomain,
    /// One label of a host name.
    Label,
    /// Any name that fits into a path.
    Path,
}

/// Returns the errors of the name of an object. `prefix` is true for a name that the server
/// extends.
pub(crate) fn refusals(names: Names, name: &str, prefix: bool) -> Vec<String> {
    let masked = match name.strip_suffix('-') {
        Some(stem) if prefix => format!("{stem}a"),
        _ => name.to_owned(),
    };
    match names {
        Names::Subdomain => subdomain(&masked),
        Names::Label => label(&masked),
        Names::Path => path(name, prefix),
    }
}

pub(crate) fn subdomain(name: &str) -> Vec<String> {
    let mut refusals = Vec::new();
    if name.len() > 253 {
        refusals.push("must be no more than 253 bytes".to_owned());
    }
    if !is_subdomain(name) {
        refusals.push(format!(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end \
             with an alphanumeric character (e.g. 'example.com', regex used for validation is '{LABEL}(\\.{LABEL})*')"
        ));
    }
    refusals
}

pub(crate) fn label(name: &str) -> Vec<String> {
    let mut refusals = Vec::new();
    if name.len() > 63 {
        refusals.push("must be no more than 63 characters".to_owned());
    }
    if !is_label(name) {
        refusals.push(if is_subdomain(name) {
            "must not contain dots".to_owned()
        } else {
            format!(
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with \
                 an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{LABEL}')"
            )
        });
    }
    refusals
}

/// Returns the errors of a label in the older form, which begins with a letter.
pub(crate) fn old_label(name: &str) -> Vec<String> {
    let mut refusals = Vec::new();
    if name.len() > 63 {
        refusals.push("must be no more than 63 bytes".to_owned());
    }
    if !is_label(name) || !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        refusals.push(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and \
             end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is \
             '[a-z]([-a-z0-9]*[a-z0-9])?')"
                .to_owned(),
        );
    }
    refusals
}

fn path(name: &str, prefix: bool) -> Vec<String> {
    if !prefix && (name == "." || name == "..") {
        return vec![format!("may not be '{name}'")];
    }
    let forbidden = ["/", "%"].into_iter().filter(|part| name.contains(part));
    forbidden
        .map(|part| format!("may not contain '{part}'"))
        .collect()
}

fn is_subdomain(name: &str) -> bool {
    name.split('.').all(is_label)
}

pub(crate) fn is_label(name: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !name.is_empty() && name.bytes().all(inner) && !name.starts_with('-') && !name.ends_with('-')
}

/// Returns the errors of the key of a label or annotation.
pub(crate) fn label_key(key: &str) -> Vec<String> {
    let refusals = qualified(key).into_iter();
    let named =
        refusals.map(|refusal| refusal.replacen("a qualified name", "a valid label key", 1));
    named.collect()
}

/// Returns the errors of a finalizer.
pub(crate) fn qualified(key: &str) -> Vec<String> {
    let mut refusals = Vec::new();
    let (prefix, name) = match key.split_once('/') {
        Some((_, rest)) if rest.contains('/') => {
            return vec![format!(
                "a qualified name {QUALIFIED} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    if let Some(prefix) = prefix {
        if prefix.is_empty() {
            refusals.push("prefix part must be non-empty".to_owned());
        } else {
            let wrong = subdomain(prefix).into_iter();
            refusals.extend(wrong.map(|refusal| format!("prefix part {refusal}")));
        }
    }
    if name.is_empty() {
        refusals.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        refusals.push("name part must be no more than 63 bytes".to_owned());
    }
    if !is_word(name) {
        refusals.push(format!("name part {QUALIFIED}"));
    }
    refusals
}

const QUALIFIED: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric \
    character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

/// Returns the errors of the value of a label.
pub(crate) fn label_value(value: &str) -> Vec<String> {
    let mut refusals = Vec::new();
    if value.len() > 63 {
        refusals.push("must be no more than 63 bytes".to_owned());
    }
    if !value.is_empty() && !is_word(value) {
        refusals.push(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end \
             with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
             '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
                .to_owned(),
        );
    }
    refusals
}

/// Returns the errors of a host that may begin with a star.
pub(crate) fn host(name: &str) -> Vec<String> {
    if !name.contains('*') {
        return subdomain(name);
    }
    let rest = name.strip_prefix("*.").unwrap_or_default();
    if name.len() <= 253 && is_subdomain(rest) {
        return Vec::new();
    }
    vec![format!(
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case \
         alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for \
         validation is '\\*\\.{LABEL}(\\.{LABEL})*')"
    )]
}

/// Returns the errors of the name of a container's port.
pub(crate) fn port_name(name: &str) -> Vec<String> {
    let is_letter = |byte: u8| byte.is_ascii_lowercase();
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let wrong = [
        (name.len() > 15, "must be no more than 15 bytes"),
        (
            !name.bytes().all(fits),
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
        ),
        (
            !name.bytes().any(is_letter),
            "must contain at least one letter (a-z)",
        ),
        (name.contains("--"), "must not contain consecutive hyphens"),
        (
            name.starts_with('-') || name.ends_with('-'),
            "must not begin or end with a hyphen",
        ),
    ];
    let wrong = wrong.into_iter().filter(|(is_wrong, _)| *is_wrong);
    wrong.map(|(_, why)| why.to_owned()).collect()
}

/// Returns the error of the number of a port.
pub(crate) fn port_number(number: i64) -> Option<&'static str> {
    (!(1..=65535).contains(&number)).then_some("must be between 1 and 65535, inclusive")
}

fn is_word(word: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let edge = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    word.bytes().all(inner) && edge(word.bytes().next()) && edge(word.bytes().next_back())
}
