//! House rules on words: openings of doc comments, private phrases, and names of functions.

use std::collections::BTreeMap;

use crate::Tree;

/// Words that begin no sentence of a doc comment, but for questions.
const OPENINGS: [&str; 6] = ["What", "Whether", "Where", "Who", "Whose", "Which"];

/// Names that no function has, each with better ones.
const NAMES: [(&str, &str); 10] = [
    ("of", "`new`, `from_..`, `for_..` or a verb"),
    ("asked", "`run`, `evaluate`, `query`"),
    ("asks", "`query_..`, `is_..`"),
    ("told", "`render`, `report`, `print`"),
    ("tells", "`reports_..`, `is_..`"),
    ("tell", "`report`, `print`, `notify`"),
    ("said", "`message`, `declared`, `text`"),
    ("says", "`declares`, `has_..`"),
    ("say", "`print`, `log`, `describe`"),
    ("held", "`owned`, `kept`, `locked`"),
];

/// Phrases of no comment, each with a better one.
const PHRASES: [(&str, &str); 12] = [
    ("looks after", "manages"),
    ("carried out", "applied"),
    ("who looks on", "observer"),
    ("nobody's business", "ignored"),
    ("somebody else's", "owned by another controller or user"),
    ("can be had", "is available"),
    ("had to be had", "was needed"),
    ("is told of", "is reported"),
    ("giving back", "cleanup"),
    ("such as are", "that are"),
    ("of which nothing", "name the subject"),
    ("so long a ", "name the bound"),
];

/// Returns the findings of all rules on words.
pub fn findings(tree: &Tree) -> Vec<String> {
    [openings(tree), phrases(tree), functions(tree)].concat()
}

/// Sentences of doc comments that begin with a question word and are no question.
fn openings(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for (path, text) in tree.sources().filter(|(path, _)| !is_data(path)) {
        for (line, paragraph) in paragraphs(text) {
            let wrong = sentences(&paragraph).find(|sentence| {
                let word = sentence.split_whitespace().next().unwrap_or_default();
                OPENINGS.contains(&word) && !sentence.ends_with('?')
            });
            findings.extend(
                wrong.map(|sentence| {
                    format!("{path}:{line}: begin with a verb or a noun: {sentence}")
                }),
            );
        }
    }
    findings
}

/// Comments with a private phrase.
fn phrases(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for (path, text) in tree.sources().filter(|(path, _)| !is_data(path)) {
        for (number, line) in text.lines().enumerate() {
            let Some(comment) = line.trim_start().strip_prefix("//") else {
                continue;
            };
            let wrong = PHRASES
                .iter()
                .filter(|(phrase, _)| comment.contains(phrase));
            findings
                .extend(wrong.map(|(phrase, better)| {
                    format!("{path}:{}: `{phrase}`: {better}", number + 1)
                }));
        }
    }
    findings
}

/// Functions with a name that a stranger can neither guess nor find.
fn functions(tree: &Tree) -> Vec<String> {
    let better: BTreeMap<&str, &str> = NAMES.into_iter().collect();
    let mut findings = Vec::new();
    for (path, text) in tree.sources().filter(|(path, _)| !is_data(path)) {
        let mut is_of_trait = false;
        for (number, line) in text.lines().enumerate() {
            // A trait decides the names of its methods: that of a lifecycle has those of its facts.
            match line.trim_start() {
                start if start.starts_with("impl") => is_of_trait = line.contains(" for "),
                "}" if line.starts_with('}') => is_of_trait = false,
                _ => {}
            }
            let Some((before, after)) = line.split_once("fn ").filter(|_| !is_of_trait) else {
                continue;
            };
            let is_item = before.split_whitespace().all(is_qualifier);
            let name = after.split(['(', '<']).next().unwrap_or_default();
            if let (true, Some(better)) = (is_item, better.get(name)) {
                findings.push(format!("{path}:{}: `fn {name}`: {better}", number + 1));
            }
        }
    }
    findings
}

fn is_qualifier(word: &str) -> bool {
    matches!(word, "const" | "async" | "extern" | "\"C\"") || word.starts_with("pub")
}

/// Sources that are input or output of the macro, or written by a tool.
fn is_data(path: &str) -> bool {
    path.starts_with("tests/ui/") || path.starts_with("proto/src/") || path.contains(".expanded.")
}

/// The paragraphs of the doc comments of a source, each with the number of its first line.
fn paragraphs(text: &str) -> Vec<(usize, String)> {
    let mut all: Vec<(usize, String)> = Vec::new();
    let (mut is_open, mut is_code) = (false, false);
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let comment = ["///", "//!"]
            .iter()
            .find_map(|mark| line.strip_prefix(mark));
        let Some(words) = comment.map(str::trim) else {
            (is_open, is_code) = (false, false);
            continue;
        };
        if words.starts_with("```") {
            is_code = !is_code;
        }
        let is_text = !is_code
            && words
                .starts_with(|first: char| first.is_alphanumeric() || first == '`' || first == '[');
        match all.last_mut() {
            Some((_, paragraph)) if is_open && is_text => *paragraph += &format!(" {words}"),
            _ if is_text => all.push((number + 1, words.to_owned())),
            _ => {}
        }
        is_open = is_text;
    }
    all
}

/// The sentences of a paragraph, each with the mark at its end.
fn sentences(paragraph: &str) -> impl Iterator<Item = &str> {
    let mut rest = paragraph;
    std::iter::from_fn(move || {
        let end = [". ", "? ", "! "]
            .iter()
            .filter_map(|end| rest.find(end))
            .min();
        let (sentence, after) = match end {
            Some(end) => rest.split_at(end + 1),
            None => (rest, ""),
        };
        rest = after.trim_start();
        (!sentence.is_empty()).then_some(sentence)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openings_are_found_in_each_sentence_but_for_questions_and_code() {
        let tree = Tree::made_up(&[
            (
                "a.rs",
                "//! Where it is.\n\n/// A port. Whether it\n/// is open.\nfn a() {}",
            ),
            (
                "b.rs",
                "/// Is it open? Who knows?\n/// True if it is open, whether or not.\n/// ```\n/// Whether\n/// ```\nfn b() {}",
            ),
            ("c.rs", "// Whether it is open.\nlet what = \"/// What\";"),
            ("tests/ui/d.rs", "/// Whether\nfn d() {}"),
        ]);
        let found = openings(&tree);
        assert_eq!(found.len(), 2, "{found:#?}");
        assert!(found[0].starts_with("a.rs:1:") && found[1].starts_with("a.rs:3:"));
    }

    #[test]
    fn phrases_are_found_in_comments_alone() {
        let tree = Tree::made_up(&[(
            "a.rs",
            "/// Looks at what looks after it.\nlet a = \"can be had\"; // is\n// It can be had.",
        )]);
        let found = phrases(&tree);
        assert_eq!(found.len(), 2, "{found:#?}");
        assert!(found[1].starts_with("a.rs:3: `can be had`: is available"));
    }

    #[test]
    fn functions_are_found_by_their_whole_names() {
        let tree = Tree::made_up(&[(
            "a.rs",
            "pub(crate) async fn told(a: u8) {}\nimpl A for B {\n    fn told() {}\n}\nfn of<T>() {}\nfn of_kind() {}\nlet told = 1;\n/// See fn told().\n",
        )]);
        let found = functions(&tree);
        assert_eq!(found.len(), 2, "{found:#?}");
        assert!(found[0].starts_with("a.rs:1: `fn told`"));
    }
}
