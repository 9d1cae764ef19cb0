//! Contents of a README: what it needs, and the command lines in it. This module knows no program:
//! `operator/tests/program/readmes.rs` names the parser of each command line, and runs the Rust.

/// Returns the command lines in the `sh` blocks of a document, each as its words, without the part
/// after a `#`.
pub fn command_lines(document: &str) -> Vec<Vec<&str>> {
    let blocks = document.split("```sh\n").skip(1);
    let lines = blocks
        .filter_map(|rest| rest.split("```").next())
        .flat_map(str::lines);
    lines
        .map(|line| line.split('#').next().unwrap_or_default())
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|words| !words.is_empty())
        .collect()
}

/// Returns everything that a README lacks. It needs its name as the title, something to run, a link
/// to the documentation, and the licence.
pub fn findings(package: &str, readme: &str) -> Vec<String> {
    let asked = [
        (
            format!("# {package}\n"),
            "its title is not the name of the package",
        ),
        (
            format!("](https://docs.rs/{package})"),
            "it does not say where the documentation is",
        ),
        (
            "Licence: Apache-2.0.".to_owned(),
            "it does not say the licence",
        ),
    ];
    let mut findings: Vec<String> = asked
        .iter()
        .filter(|(text, _)| !readme.contains(text.as_str()))
        .map(|(_, finding)| format!("{package}: {finding}"))
        .collect();
    if !readme.contains("```rust") && command_lines(readme).is_empty() {
        findings.push(format!("{package}: nothing in its README can be run"));
    }
    if readme.contains(",ignore") || readme.contains("```text") {
        findings.push(format!("{package}: something in its README is not run"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_words_without_comments() {
        let text = "a\n```sh\na --b c   # d\n\n# e\nf\n```\nb\n```rust\ng\n```\n";
        assert_eq!(command_lines(text), [vec!["a", "--b", "c"], vec!["f"]]);
    }

    #[test]
    fn each_thing_that_a_readme_lacks_is_found() {
        let whole = "# a\n\n```rust\n```\n[a](https://docs.rs/a). Licence: Apache-2.0.\n";
        assert!(findings("a", whole).is_empty());
        assert_eq!(findings("b", whole).len(), 2);
        assert_eq!(findings("a", "# a\n").len(), 3);
        assert_eq!(
            findings("a", &whole.replace("rust", "rust,ignore")),
            ["a: something in its README is not run"]
        );
    }
}
