//! Text of others on one line of a console: nothing in it is obeyed by a terminal. Pure.

use std::path::Path;

/// Returns one line without control characters: names and contents of files are arbitrary text.
pub fn plain(text: &str) -> String {
    escaped(&text.replace('\n', "; "))
}

/// A path on one line without control characters.
pub fn path(path: &Path) -> String {
    escaped(&path.display().to_string())
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character.is_control() {
            true => escaped.extend(character.escape_default()),
            false => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_nothing_of_it() {
        let check = |text: &str, expected: &str| {
            assert_eq!(path(Path::new(text)), expected);
        };
        check("a b/ä.yaml", "a b/ä.yaml");
        check(
            "\u{1b}]0;x\u{7}\r\t\u{9b}.yaml",
            "\\u{1b}]0;x\\u{7}\\r\\t\\u{9b}.yaml",
        );
        check("one\ntwo", "one\\ntwo");
        assert_eq!(plain("one\ntwo\r"), "one; two\\r");
    }
}
