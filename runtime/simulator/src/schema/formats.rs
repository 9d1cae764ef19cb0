//! The formats of strings that schemas of custom resources may ask for.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use regex::Regex;

/// Formats that a regular expression decides.
const PATTERNS: [(&str, &str); 10] = [
    (
        "uuid",
        "(?i)^[0-9A-F]{8}-?[0-9A-F]{4}-?[0-9A-F]{4}-?[0-9A-F]{4}-?[0-9A-F]{12}$",
    ),
    (
        "uuid3",
        "(?i)^[0-9A-F]{8}-?[0-9A-F]{4}-?3[0-9A-F]{3}-?[0-9A-F]{4}-?[0-9A-F]{12}$",
    ),
    (
        "uuid4",
        "(?i)^[0-9A-F]{8}-?[0-9A-F]{4}-?4[0-9A-F]{3}-?[89AB][0-9A-F]{3}-?[0-9A-F]{12}$",
    ),
    (
        "uuid5",
        "(?i)^[0-9A-F]{8}-?[0-9A-F]{4}-?5[0-9A-F]{3}-?[89AB][0-9A-F]{3}-?[0-9A-F]{12}$",
    ),
    ("mac", "^([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}$"),
    ("hexcolor", "^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$"),
    ("bsonobjectid", "^[0-9a-fA-F]{24}$"),
    ("ssn", "^\\d{3}[- ]?\\d{2}[- ]?\\d{4}$"),
    ("email", "^[^@\\s]+@[^@\\s]+$"),
    (
        "hostname",
        "^([a-zA-Z0-9\\p{S}\\p{L}]((-?[a-zA-Z0-9\\p{S}\\p{L}]{0,62})?)|([a-zA-Z0-9\\p{S}\\p{L}](([a-zA-Z0-9-\\p{S}\\p{L}]{0,61}[a-zA-Z0-9\\p{S}\\p{L}])?)(\\.)){1,}([a-zA-Z\\p{L}]){2,63})$",
    ),
];

static COMPILED: LazyLock<Vec<(&'static str, Option<Regex>)>> = LazyLock::new(|| {
    PATTERNS
        .iter()
        .map(|(name, pattern)| (*name, Regex::new(pattern).ok()))
        .collect()
});

/// Returns true if a text has a format, or `None` for a format that is not checked.
pub(super) fn fits(format: &str, text: &str) -> Option<bool> {
    let format = format.replace('-', "");
    let fits = match format.as_str() {
        "datetime" => is_date_time(text),
        "date" => text.parse::<jiff::civil::Date>().is_ok() && text.len() == 10,
        "duration" => is_duration(text),
        "byte" => is_base64(text),
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "cidr" => is_cidr(text),
        "uri" => is_uri(text),
        "k8sshortname" => is_label(text),
        "k8slongname" => text.len() <= 253 && text.split('.').all(is_label),
        "password" => true,
        name => {
            let (_, pattern) = COMPILED.iter().find(|(known, _)| *known == name)?;
            return pattern.as_ref().map(|pattern| pattern.is_match(text));
        }
    };
    Some(fits)
}

fn is_date_time(text: &str) -> bool {
    let shaped = text.len() >= 20 && text.as_bytes()[10].eq_ignore_ascii_case(&b't');
    shaped && text.parse::<jiff::Timestamp>().is_ok()
}

/// A duration as Go writes it, such as `1h30m`, or a number with a unit in words.
fn is_duration(text: &str) -> bool {
    let text = text.trim_start_matches(['-', '+']);
    if text == "0" {
        return true;
    }
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.len()
            - rest
                .trim_start_matches(|c: char| c.is_ascii_digit() || c == '.')
                .len();
        let units = ["ns", "us", "µs", "ms", "s", "m", "h", "d", "w"];
        let after = rest[digits..].trim_start();
        let unit = units
            .iter()
            .filter(|unit| after.starts_with(**unit))
            .max_by_key(|unit| unit.len());
        let (Some(unit), true) = (unit, digits > 0) else {
            return false;
        };
        rest = &after[unit.len()..];
    }
    !text.is_empty()
}

fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let padding = text.len() - body.len();
    let known = |c: char| c.is_ascii_alphanumeric() || c == '+' || c == '/';
    text.len().is_multiple_of(4) && padding <= 2 && body.chars().all(known) && !text.is_empty()
}

fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else {
        return false;
    };
    let Ok(length) = length.parse::<u8>() else {
        return false;
    };
    let four = address.parse::<Ipv4Addr>().is_ok() && length <= 32;
    four || (address.parse::<Ipv6Addr>().is_ok() && length <= 128)
}

fn is_uri(text: &str) -> bool {
    text.starts_with('/')
        || text
            .parse::<http::Uri>()
            .is_ok_and(|uri| uri.scheme().is_some())
}

fn is_label(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty()
        && text.len() <= 63
        && text.chars().all(inner)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_tell_good_from_bad() {
        let good_and_bad = [
            ("date-time", "2026-01-01T00:00:00Z", "2026-01-01"),
            ("date", "2026-01-01", "2026-13-01"),
            ("duration", "1h30m", "1 fortnight"),
            ("byte", "aGk=", "a"),
            ("ipv4", "10.0.0.1", "10.0.0"),
            ("ipv6", "::1", "10.0.0.1"),
            ("cidr", "10.0.0.0/8", "10.0.0.0/33"),
            ("uuid", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "6ba7"),
            ("email", "a@b.c", "a"),
            ("k8s-short-name", "a-b", "A"),
        ];
        for (format, good, bad) in good_and_bad {
            assert_eq!(fits(format, good), Some(true), "{format} {good}");
            assert_eq!(fits(format, bad), Some(false), "{format} {bad}");
        }
        assert_eq!(fits("made-up", "x"), None);
    }
}
