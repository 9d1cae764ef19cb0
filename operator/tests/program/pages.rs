//! A page a group of codes, `docs/rules/liveness.md`, with a section a code, made from the header of its rule and from its fixtures; and the same text for `check --explain`.
//! `BLESS=1 cargo test --workspace --test program pages` writes them anew; review the difference like code.

mod difference;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lifecycle_macros_core::check::RULES;
use lifecycle_macros_core::errors::Diagnostic;
use lifecycle_macros_core::rule::{Group, Severity, Stage};
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

/// The texts of all codes, which the program prints.
const EXPLANATIONS: &str = "operator/src/check/explanations.md";

/// Source of the text about one code.
struct Subject {
    code: &'static str,
    group: Group,
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
        group: rule.group,
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
        group: Group::Rustc,
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

/// Form of the text about a code.
#[derive(Clone, Copy)]
enum Form {
    /// A text of its own, for `check --explain`.
    Alone,
    /// A section of the page of its group.
    Section,
}

impl Form {
    /// Heading of the text.
    fn heading(self, subject: &Subject) -> String {
        let Subject { code, title, .. } = subject;
        match self {
            Self::Alone => format!("# {code}: {title}"),
            Self::Section => format!("## {code}: {title}"),
        }
    }

    /// Heading of a part of the text. It has an anchor of its own on a page of many codes.
    fn part(self, subject: &Subject, name: &str) -> String {
        match self {
            Self::Alone => format!("## {}", capital(name)),
            Self::Section => format!("### {}: {name}", subject.code),
        }
    }

    /// How serious a finding is, when it is found, and since which version.
    fn facts(self, subject: &Subject) -> String {
        let since = LATER.iter().find(|(code, _)| *code == subject.code);
        let since = since.map(|(_, since)| *since);
        let found = subject.found;
        match self {
            Self::Alone => {
                let stops = match (subject.is_of_rustc, subject.warns) {
                    (true, _) => "yes, as an error of rustc",
                    (false, false) => "yes",
                    (false, true) => "no, it warns",
                };
                let since = since.unwrap_or("0.1.0, the first");
                format!(
                    "| | |\n| --- | --- |\n| stops the build | {stops} |\n| is found | {found} |\n| since | {since} |\n"
                )
            }
            Self::Section => {
                let level = match subject.warns {
                    true => "A warning",
                    false => "An error",
                };
                let since = since.map_or(String::new(), |since| format!(" Since {since}."));
                format!("*{level}, found {found}.{since}*\n")
            }
        }
    }
}

/// The parts of the text about a code that are the same in each form.
struct Explanation {
    subject: Subject,
    example: String,
    mended: String,
    accept: String,
}

impl Explanation {
    fn new(subject: Subject) -> Self {
        let fails = FixtureView::read(&subject.fixture, "fails");
        let passes = FixtureView::read(&subject.fixture, "passes");
        let (said, who) = match subject.is_of_rustc {
            true => {
                let pinned = root().join("tests/ui/rules").join(&subject.fixture);
                let said = fs::read_to_string(pinned.join("fails.stderr")).unwrap();
                (said, "rustc")
            }
            false => (said_by_the_program(&fails), "`lifecycle-operator check`"),
        };
        let lock = fails.lock.as_ref().map_or(String::new(), |lock| {
            format!("`thing.lock` is\n\n```text\n{lock}```\n\n")
        });
        let example = format!(
            "{}\n\n```rust\n{}```\n\n{lock}{who} says\n\n```text\n{said}```\n",
            fails.about, fails.code,
        );
        let mut mended = format!(
            "{}\n\n```diff\n{}```\n",
            passes.about,
            difference::render_diff(&fails.code, &passes.code),
        );
        if let (Some(before), Some(after)) = (&fails.lock, &passes.lock)
            && before != after
        {
            let difference = difference::render_diff(before, after);
            mended += &format!("\nIn `thing.lock`\n\n```diff\n{difference}```\n");
        }
        let accept = allowed(&subject, &fails);
        Self {
            subject,
            example,
            mended,
            accept,
        }
    }

    fn render(&self, form: Form) -> String {
        let subject = &self.subject;
        let part = |name| form.part(subject, name);
        let mut text = format!(
            "{}\n\n{}\n\n{}\n{}\n\n{}\n{}\n\n{}",
            form.heading(subject),
            subject.text,
            form.facts(subject),
            part("an example"),
            self.example,
            part("mended"),
            self.mended,
        );
        if !self.accept.is_empty() {
            text += &format!("\n{}\n\n{}", part("accept it"), self.accept);
        }
        text
    }

    /// The code and its title as a link to the section on the same page.
    fn link(&self) -> String {
        let text = format!("{} {}", self.subject.code, self.subject.title);
        let anchor = text.to_lowercase().replace(' ', "-");
        format!("[{text}](#{anchor})")
    }
}

/// How the finding is accepted as it stands, which is tried out.
fn allowed(subject: &Subject, fails: &FixtureView) -> String {
    if !subject.warns {
        return String::new();
    }
    if subject.code == "LC004" {
        return "It cannot be allowed: leave the line out.\n".to_owned();
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
        "Where it is meant as it stands, a line beside the sections says so, by the code, the item that the warning is about (here `{first}`), and why:\n\n```text\n{}\n```\n",
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
    let all: Vec<Explanation> = subjects().into_iter().map(Explanation::new).collect();
    let mut pages = BTreeMap::new();
    for group in Group::ALL {
        let of_group = || all.iter().filter(|one| one.subject.group == group);
        let links: Vec<String> = of_group().map(Explanation::link).collect();
        let mut page = format!(
            "# {}\n\n{}\n\n{}.\n",
            group.title(),
            group.about(),
            links.join(", ")
        );
        for one in of_group() {
            page += "\n";
            page += &one.render(Form::Section);
        }
        pages.insert(format!("docs/rules/{}.md", group.page()), page);
    }
    let alone = all.iter().map(|one| one.render(Form::Alone) + "\n");
    pages.insert(EXPLANATIONS.to_owned(), alone.collect());
    pages
}

#[test]
fn the_page_of_each_group_of_codes_is_current() {
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
fn no_page_is_of_a_group_that_is_gone() {
    let groups = Group::ALL.map(Group::page);
    for entry in fs::read_dir(root().join("docs/rules")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        let group = name.strip_suffix(".md").unwrap();
        assert!(groups.contains(&group), "docs/rules/{name} is of no group");
    }
}

/// Checks that the program prints the whole text about each code, however the code is written.
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
    let mut printed = String::new();
    for subject in subjects() {
        let explained = explain(&subject.code.to_ascii_lowercase());
        assert_eq!(explained.status.code(), Some(0), "{}", subject.code);
        printed += &(String::from_utf8(explained.stdout).unwrap() + "\n");
    }
    assert_eq!(
        printed,
        fs::read_to_string(root().join(EXPLANATIONS)).unwrap()
    );
    let unknown = explain("LC999");
    assert_eq!(unknown.status.code(), Some(2));
    assert_eq!(String::from_utf8(unknown.stdout).unwrap(), "");
    let said = String::from_utf8(unknown.stderr).unwrap();
    assert!(
        said.starts_with("LC999 is no code of a check: codes are LC000 to LC"),
        "{said}"
    );
}
