//! Words that each layer may use. The search covers code, not comments: a comment may name things
//! that a layer does not know.

use crate::Tree;

/// Words that a layer must not use. At least one of them must be found in a control place, to show
/// that the search works.
pub struct Ban<'a> {
    /// Prefixes of paths, such as `runtime/src/machine`.
    pub layer: &'a [&'a str],
    /// Whole words or paths, such as `await` or `kube::Client`.
    pub words: &'a [&'a str],
    /// Prefixes of paths within the layer that may use the words all the same.
    pub except: &'a [&'a str],
    /// A prefix of paths where every one of `control_words` must be found.
    pub control: &'a str,
    /// Some of the words.
    pub control_words: &'a [&'a str],
}

/// Forbidden words, with file and line; layers without a source, exceptions that are not needed, and controls that were not found.
pub fn forbidden_words(tree: &Tree, ban: &Ban<'_>) -> Vec<String> {
    let mut findings = unused_prefixes(tree, ban);
    let in_layer = |path: &str| {
        ban.layer.iter().any(|prefix| path.starts_with(prefix))
            && !ban.except.iter().any(|prefix| path.starts_with(prefix))
    };
    for (path, text) in tree.sources().filter(|(path, _)| in_layer(path)) {
        for (number, line) in text.lines().enumerate() {
            let said = ban.words.iter().filter(|word| contains_word(line, word));
            findings.extend(said.map(|word| format!("{path}:{}: says `{word}`", number + 1)));
        }
    }
    for word in ban.control_words {
        let mut sources = tree.sources();
        let found = sources.any(|(path, text)| {
            path.starts_with(ban.control) && text.lines().any(|line| contains_word(line, word))
        });
        if !found {
            let control = ban.control;
            findings.push(format!(
                "{control}: does not say `{word}`, so the search proves nothing"
            ));
        }
    }
    findings
}

/// A layer that was moved would never be searched again, and an exception outlives its reason.
fn unused_prefixes(tree: &Tree, ban: &Ban<'_>) -> Vec<String> {
    let within = |prefix: &str| {
        let sources = tree.sources();
        let within = sources.filter(|(path, _)| path.starts_with(prefix));
        within.map(|(_, text)| text).collect::<Vec<_>>()
    };
    let says_any = |text: &&str| {
        let mut lines = text.lines();
        lines.any(|line| ban.words.iter().any(|word| contains_word(line, word)))
    };
    let layers = ban.layer.iter().filter(|layer| within(layer).is_empty());
    let excepted = ban.except.iter();
    let needless = excepted.filter(|except| !within(except).iter().any(says_any));
    layers
        .map(|layer| format!("{layer}: no source is there, so the search proves nothing"))
        .chain(needless.map(|except| format!("{except}: needs no exception, remove it")))
        .collect()
}

/// Returns true if the code (everything before `//`) holds the word with no letter, digit or `_` on
/// either side.
fn contains_word(line: &str, word: &str) -> bool {
    let code = match line.find("//") {
        // `https://` in a string is no comment.
        Some(start) if !line[..start].ends_with(':') => &line[..start],
        _ => line,
    };
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    code.match_indices(word).any(|(start, _)| {
        let before = code[..start].chars().next_back();
        let after = code[start + word.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BAN: Ban<'_> = Ban {
        layer: &["pure"],
        words: &["async", "kube::Client"],
        except: &["pure/door"],
        control: "io",
        control_words: &["async"],
    };

    fn findings(pure: &str, io: &str) -> Vec<String> {
        let door = ("pure/door.rs", "kube::Client");
        forbidden_words(
            &Tree::made_up(&[("pure.rs", pure), ("io.rs", io), door]),
            &BAN,
        )
    }

    #[test]
    fn a_forbidden_word_is_found_with_its_line() {
        let found = findings("fn a() {}\nasync fn b() {}", "async fn c() {}");
        assert_eq!(found, ["pure.rs:2: says `async`"]);
        assert_eq!(findings("use kube::Client;", "async").len(), 1);
    }

    #[test]
    fn parts_of_words_and_comments_are_not_findings() {
        let text = "//! knows no async\nlet asynchronous = 1; // async\nmy_async; kube::Clients";
        assert!(findings(text, "async").is_empty());
    }

    #[test]
    fn a_word_after_a_url_is_found() {
        assert_eq!(findings("let a = \"https://x\"; async", "async").len(), 1);
    }

    #[test]
    fn a_control_that_finds_nothing_is_a_finding() {
        assert!(findings("", "fn c() {}")[0].contains("proves nothing"));
    }

    #[test]
    fn a_layer_that_has_moved_and_a_needless_exception_are_findings() {
        let tree = Tree::made_up(&[("io.rs", "async"), ("pure/door.rs", "fn c() {}")]);
        let found = forbidden_words(&tree, &BAN);
        assert_eq!(found, ["pure/door: needs no exception, remove it"]);
        let found = forbidden_words(&Tree::made_up(&[("io.rs", "async")]), &BAN);
        assert!(found[0].contains("no source is there"), "{found:?}");
    }
}
