//! A page a code, `docs/rules/LC021.md`, made from the header of its rule and from its fixtures, and the same text for `check --explain`.
//! `BLESS=1 cargo test --workspace --test program pages` writes them anew; review the difference like code.

mod difference;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lifecycle_macros_core::check::RULES;
use lifecycle_macros_core::errors::Diagnostic;
use lifecycle_macros_core::rule::{Severity, Stage};
use lifecycle_macros_core::{LockText, check_fragment, check_locked, find_in, lock};

/// Codes whose mistake rustc already finds in the logic, with the fixture and an explanation.
const OF_RUSTC: [(&str, &str, &str, &str); 3] = [
    (
        "LC063",
        "status read",
        "status_read",
        "Nothing is decided from the status that we wrote ourselves: it may be lost or restored from a backup, and then says what is not so. What a method is given of\nthe object, `This`, has its metadata and its `spec`, and no field `status`. What must be remembered is a `record`, or stands in an object of ours.",
    ),
    (
        "LC071",
        "second mutation",
        "second_mutation",
        "A `call` makes one change outside. Were it two, a crash between them would leave what no world describes. So the method gets a `Once`, which is spent by\nthe request that changes something and cannot be spent again. What is read before needs none. Two changes are two effects, each with its own `when` and `sets`.",
    ),
    (
        "LC072",
        "method missing",
        "method_missing",
        "The logic does not implement a method that the declaration asks for: one for each fact, poll, builder, call, value and field that has no answer of its own.\nrustc names those that are missing, with the line of the declaration that asks. What each is given is in its signature: the documentation of the trait shows it.",
    ),
];

/// Version of the language that introduced a check, if it is not the first version.
const LATER: [(&str, &str); 0] = [];

/// Source of one page.
struct Subject {
    code: &'static str,
    title: String,
    fixture: String,
    text: String,
    found: &'static str,
    is_of_rustc: bool,
    warns: bool,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn subjects() -> Vec<Subject> {
    let rules = RULES.iter().map(|rule| Subject {
        code: rule.code,
        title: rule.name.replace('_', " "),
        fixture: rule.name.to_owned(),
        text: header(&root().join(format!("macros/core/src/check/{}.rs", rule.name))),
        found: match rule.stage {
            Stage::Names => "while the declaration is read, before anything else",
            Stage::Declaration => "on the declaration as a whole, once all names are known",
            Stage::World | Stage::Graph => "among all worlds, once the declaration is in order",
        },
        is_of_rustc: false,
        warns: rule.severity == Severity::Warning,
    });
    let of_rustc = OF_RUSTC.map(|(code, title, fixture, text)| Subject {
        code,
        title: title.to_owned(),
        fixture: fixture.to_owned(),
        text: text.to_owned(),
        found: "by rustc, in the methods that you write",
        is_of_rustc: true,
        warns: false,
    });
    let mut subjects: Vec<Subject> = rules.chain(of_rustc).collect();
    subjects.sort_by_key(|subject| subject.code);
    subjects
}

fn header(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    let lines: Vec<&str> = lines
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    lines.join("\n")
}

/// Fixture as a page shows it: its subject, and its code without the parts common to all fixtures.
struct FixtureView {
    about: String,
    code: String,
    lock: Option<String>,
}

impl FixtureView {
    fn read(fixture: &str, stem: &str) -> Self {
        let folder = root().join("tests/ui/rules").join(fixture);
        let file = folder.join(format!("{stem}.rs"));
        let text = fs::read_to_string(&file).unwrap();
        let about = header(&file).replace('\n', " ");
        let about = about.replace(" The finding is a warning, which is refused here.", "");
        let about = match about.split_once(": ") {
            Some((code, rest)) if code.starts_with("LC") => capital(rest),
            _ => about,
        };
        let lines = text.lines().skip_while(|line| {
            let is_of_all = ["//!", "#![deny(deprecated)]", "use "];
            line.is_empty() || is_of_all.iter().any(|start| line.starts_with(start))
        });
        let code: Vec<&str> = lines.filter(|line| *line != "fn main() {}").collect();
        let own = format!("{stem}.lock");
        let code = code.join("\n").trim().replace(&own, "thing.lock") + "\n";
        let lock = fs::read_to_string(folder.join(own)).ok();
        Self { about, code, lock }
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Returns the program's output for a file with exactly this content.
fn said_by_the_program(shown: &FixtureView) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("thing.rs"), &shown.code).unwrap();
    if let Some(lock) = &shown.lock {
        fs::write(folder.path().join("thing.lock"), lock).unwrap();
    }
    let checked = Command::new(env!("CARGO_BIN_EXE_lifecycle-operator"))
        .args(["check", "thing.rs"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8(checked.stdout).unwrap();
    let (findings, _) = said.rsplit_once("\n\nchecked ").unwrap();
    few(findings)
}

/// The first findings, and how many more there are.
fn few(findings: &str) -> String {
    let all: Vec<&str> = findings.split("\n\n").collect();
    match all.len() {
        0..=2 => findings.to_owned() + "\n",
        more => format!(
            "{}\n\n.. and {} more of this code\n",
            all[..2].join("\n\n"),
            more - 2
        ),
    }
}

fn page(subject: &Subject) -> String {
    let fails = FixtureView::read(&subject.fixture, "fails");
    let passes = FixtureView::read(&subject.fixture, "passes");
    let stops = match (subject.is_of_rustc, subject.warns) {
        (true, _) => "yes, as an error of rustc",
        (false, false) => "yes",
        (false, true) => "no, it warns",
    };
    let since = LATER.iter().find(|(code, _)| *code == subject.code);
    let since = since.map_or("0.1.0, the first", |(_, since)| since);
    let (said, who) = match subject.is_of_rustc {
        true => {
            let pinned = root().join("tests/ui/rules").join(&subject.fixture);
            let said = fs::read_to_string(pinned.join("fails.stderr")).unwrap();
            (said, "rustc")
        }
        false => (said_by_the_program(&fails), "`lifecycle-operator check`"),
    };
    let mut page = format!(
        "# {}: {}\n\n{}\n\n| | |\n| --- | --- |\n| stops the build | {stops} |\n| is found | {} |\n| since | {since} |\n\n## An example\n\n{}\n\n```rust\n{}```\n\n",
        subject.code, subject.title, subject.text, subject.found, fails.about, fails.code,
    );
    if let Some(lock) = &fails.lock {
        page += &format!("`thing.lock` is\n\n```text\n{lock}```\n\n");
    }
    page += &format!(
        "{who} says\n\n```text\n{said}```\n\n## Mended\n\n{}\n\n```diff\n{}```\n",
        passes.about,
        difference::render_diff(&fails.code, &passes.code),
    );
    if let (Some(before), Some(after)) = (&fails.lock, &passes.lock)
        && before != after
    {
        page += &format!(
            "\nIn `thing.lock`\n\n```diff\n{}```\n",
            difference::render_diff(before, after)
        );
    }
    page + &allowed(subject, &fails)
}

/// How the finding is accepted as it stands, which is tried out.
fn allowed(subject: &Subject, fails: &FixtureView) -> String {
    if !subject.warns {
        return String::new();
    }
    if subject.code == "LC004" {
        return "\n## Accept it\n\nIt cannot be allowed: leave the line out.\n".to_owned();
    }
    let found = findings(&fails.code);
    let items: Vec<&str> = found.iter().map(|found| found.item.as_str()).collect();
    let first = items.first().expect("the fixture fails");
    let mut lines: Vec<String> = items
        .iter()
        .map(|item| {
            format!(
                "allow {} {} \"why it is meant as it stands\";",
                subject.code, item
            )
        })
        .collect();
    lines.dedup();
    let end = fails.code.rfind('}').unwrap();
    let with = format!("{}    {}\n}}\n", &fails.code[..end], lines.join("\n    "));
    let left = findings(&with);
    assert!(
        left.is_empty(),
        "{}: `{lines:?}` leaves {left:?}",
        subject.code
    );
    format!(
        "\n## Accept it\n\nWhere it is meant as it stands, a line beside the sections says so, by the code, the item that the warning is about (here `{first}`), and why:\n\n```text\n{}\n```\n",
        lines[0]
    )
}

fn findings(code: &str) -> Vec<Diagnostic> {
    let found = find_in(code).expect("a fixture consists of Rust tokens");
    let of_fragments = found.fragments.iter().cloned();
    let of_fragments = of_fragments.flat_map(|body| check_fragment(body).diagnostics);
    let fragments = &found.fragments;
    let of_lifecycles = found.lifecycles.iter().cloned().flat_map(|body| {
        assert!(lock::named(&body).is_none(), "a warning needs no lock");
        check_locked(body, fragments, LockText::Unread).diagnostics
    });
    of_fragments.chain(of_lifecycles).collect()
}

/// Every page, by its path from the root.
fn pages() -> BTreeMap<String, String> {
    let mut all = String::new();
    let mut pages = BTreeMap::new();
    for subject in subjects() {
        let page = page(&subject);
        all += &page;
        all += "\n";
        pages.insert(format!("docs/rules/{}.md", subject.code), page);
    }
    pages.insert("operator/src/check/explanations.md".to_owned(), all);
    pages
}

#[test]
fn the_page_of_each_code_is_current() {
    let mut behind = Vec::new();
    for (path, page) in pages() {
        let file = root().join(&path);
        if fs::read_to_string(&file).ok().as_ref() == Some(&page) {
            continue;
        }
        if std::env::var_os("BLESS").is_some() {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, &page).unwrap();
        } else {
            behind.push(path);
        }
    }
    assert!(behind.is_empty(), "bless what is behind: {behind:?}");
}

#[test]
fn no_page_is_of_a_code_that_is_gone() {
    let codes: Vec<&str> = subjects().iter().map(|subject| subject.code).collect();
    for entry in fs::read_dir(root().join("docs/rules")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        let code = name.strip_suffix(".md").unwrap();
        assert!(codes.contains(&code), "docs/rules/{name} is of no rule");
    }
}

/// Checks that the embedded pages equal those in the book, and that each is found however the code
/// is written.
#[test]
fn each_code_is_explained_by_the_program() {
    if std::env::var_os("BLESS").is_some() {
        // The program was compiled with the previous content of the pages.
        return;
    }
    let explain = |code: &str| {
        Command::new(env!("CARGO_BIN_EXE_lifecycle-operator"))
            .args(["check", "--explain", code])
            .output()
            .unwrap()
    };
    for subject in subjects() {
        let explained = explain(&subject.code.to_ascii_lowercase());
        assert_eq!(explained.status.code(), Some(0), "{}", subject.code);
        let page = root().join(format!("docs/rules/{}.md", subject.code));
        let page = fs::read_to_string(page).unwrap();
        assert_eq!(String::from_utf8(explained.stdout).unwrap(), page);
    }
    let unknown = explain("LC999");
    assert_eq!(unknown.status.code(), Some(2));
    assert_eq!(String::from_utf8(unknown.stdout).unwrap(), "");
    let said = String::from_utf8(unknown.stderr).unwrap();
    assert!(
        said.starts_with("LC999 is no code of a check: codes are LC000 to LC"),
        "{said}"
    );
}
