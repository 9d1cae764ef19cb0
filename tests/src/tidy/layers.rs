//! Which layer may say which words and depend on which crates.
//! Words are looked for in code, not in comments: saying what a layer does not know is no offence.

use super::Tree;

/// Words that a layer must not say, and where at least one of them must be found, to show that the search works.
pub struct Ban<'a> {
    /// Prefixes of paths, such as `runtime/src/machine`.
    pub layer: &'a [&'a str],
    /// Whole words or paths, such as `await` or `kube::Client`.
    pub words: &'a [&'a str],
    /// Prefixes of paths within the layer that may say them all the same.
    pub except: &'a [&'a str],
    /// A prefix of paths where every one of `control_words` must be found.
    pub control: &'a str,
    /// Some of the words.
    pub control_words: &'a [&'a str],
}

/// Forbidden words, with file and line, and controls that were not found.
pub fn forbidden_words(tree: &Tree, ban: &Ban<'_>) -> Vec<String> {
    let mut findings = Vec::new();
    let in_layer = |path: &str| {
        ban.layer.iter().any(|prefix| path.starts_with(prefix))
            && !ban.except.iter().any(|prefix| path.starts_with(prefix))
    };
    for (path, text) in tree.sources().filter(|(path, _)| in_layer(path)) {
        for (number, line) in text.lines().enumerate() {
            let said = ban.words.iter().filter(|word| says(line, word));
            findings.extend(said.map(|word| format!("{path}:{}: says `{word}`", number + 1)));
        }
    }
    for word in ban.control_words {
        let mut sources = tree.sources();
        let found = sources.any(|(path, text)| {
            path.starts_with(ban.control) && text.lines().any(|line| says(line, word))
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

/// Whether code (what comes before `//`) holds the word with no letter, digit or `_` on either side.
fn says(line: &str, word: &str) -> bool {
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

/// Forbidden packages in the output of `cargo tree --prefix none`. A tree that lacks its own package proves nothing and is a finding.
pub fn forbidden_packages(tree: &str, package: &str, forbidden: &[&str]) -> Vec<String> {
    let packages: Vec<&str> = tree
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let mut findings: Vec<String> = forbidden
        .iter()
        .filter(|name| packages.contains(name))
        .map(|name| format!("{package} depends on {name}"))
        .collect();
    if !packages.contains(&package) {
        findings.push(format!(
            "the dependency tree does not show {package} itself"
        ));
    }
    findings
}

/// Edges between members, as (from, to), that `allowed` (from, every permitted to) does not list. A member that is not listed is a finding.
pub fn forbidden_edges(edges: &[(String, String)], allowed: &[(&str, &[&str])]) -> Vec<String> {
    let mut findings = Vec::new();
    for (from, to) in edges {
        match allowed.iter().find(|(name, _)| name == from) {
            Some((_, permitted)) if permitted.contains(&to.as_str()) => {}
            Some(_) => findings.push(format!("{from} must not depend on {to}")),
            None => findings.push(format!("{from} is a member that no layer was given to")),
        }
    }
    findings
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
    fn a_forbidden_package_is_found_by_its_whole_name() {
        let tree = "core v0.1.0 (/x)\nkube-core v5.0.0\nsyn v3.0.0\n";
        assert!(forbidden_packages(tree, "core", &["kube"]).is_empty());
        assert_eq!(forbidden_packages(tree, "core", &["kube-core"]).len(), 1);
        assert_eq!(forbidden_packages("", "core", &["kube"]).len(), 1);
    }

    #[test]
    fn an_edge_upwards_and_an_unknown_member_are_found() {
        let edge = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        let allowed: [(&str, &[&str]); 2] = [("a", &["b"]), ("b", &[])];
        assert!(forbidden_edges(&[edge("a", "b")], &allowed).is_empty());
        assert_eq!(forbidden_edges(&[edge("b", "a")], &allowed).len(), 1);
        assert_eq!(forbidden_edges(&[edge("c", "b")], &allowed).len(), 1);
    }
}
