//! Neutral words for values that a server may choose freely, and for values that depend on the time
//! of observation. This module does not depend on any command.

use regex::{Captures, Regex};
use serde_json::Value;

/// First port that no script requests.
const FIRST_FREE_PORT: u32 = 30_086;

/// Patterns to find, each with its replacement.
const WORDS: &[(&str, &str)] = &[
    (
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        "<uid>",
    ),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "<time>"),
    (
        r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}",
        "<time>",
    ),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}", "<time>"),
    // Lines of a log: level, day, time and process.
    (r"\b([EWI])\d{4} \d\d:\d\d:\d\d\.\d+\s+\d+ ", "$1 "),
    (r"https?://127\.0\.0\.1:\d+", "<server>"),
    (r"127\.0\.0\.1:\d+", "<server>"),
    (
        r#"(?i)(resource ?version[\\"]*: *[\\"]*)\d+"#,
        "$1<version>",
    ),
    (r"\bsome-[a-z0-9]{5}\b", "some-<random>"),
    // The output depends on the order of the answer and the end of the wait.
    (r"(?m)^.*very short watch.*\n", ""),
    (r"(?m)^.*reflector\.go.*context deadline exceeded.*\n", ""),
    (r"\b10\.96\.\d+\.\d+\b", "<address>"),
    (r"/tmp/(kubectl-edit|LIVE|MERGED)-\w+", "/tmp/$1"),
    (r"\b(\d+(ms|[smhd]))+\b", "<age>"),
    // The width of columns depends on their content.
    (r"(\S) {2,}", "$1  "),
    (r"(?m) +$", ""),
];

/// Makes texts of two servers comparable.
pub(crate) struct Neutral {
    words: Vec<(Regex, &'static str)>,
    port: Regex,
    quoted: Regex,
}

impl Default for Neutral {
    fn default() -> Self {
        let regex = |text: &str| Regex::new(text).expect("the expressions above are valid");
        Self {
            words: WORDS
                .iter()
                .map(|(found, put)| (regex(found), *put))
                .collect(),
            port: regex(r"\b3[0-2]\d{3}\b"),
            quoted: regex(r#"Invalid value: ("\{(?:[^"\\]|\\.)*")"#),
        }
    }
}

impl Neutral {
    pub(crate) fn normalise(&self, text: &str) -> String {
        let given = |found: &Captures<'_>| {
            let port: u32 = found[0].parse().unwrap_or_default();
            if port >= FIRST_FREE_PORT {
                "<port>".to_owned()
            } else {
                found[0].to_owned()
            }
        };
        let text = ordered(text).unwrap_or_else(|| text.to_owned());
        let text = self.quoted.replace_all(&text, |found: &Captures<'_>| {
            let quoted: Option<String> = serde_json::from_str(&found[1]).ok();
            let inner = quoted.and_then(|quoted| ordered(&quoted));
            inner.map_or_else(
                || found[0].to_owned(),
                |inner| format!("Invalid value: {inner}"),
            )
        });
        let text = self
            .words
            .iter()
            .fold(text.into_owned(), |text, (found, put)| {
                found.replace_all(&text, *put).into_owned()
            });
        // Last, for processes and servers have numbers that look the same.
        self.port.replace_all(&text, given).into_owned()
    }
}

/// JSON with its fields in the order of their names, for Go has an order of its own.
fn ordered(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok().filter(Value::is_object)?;
    Some(value.to_string())
}
