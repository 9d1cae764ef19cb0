//! `docs/checks.md` is generated from the headers of the rules, so that the text for users lives
//! beside each check. `BLESS=1 cargo test --workspace --test language list_of_checks` rewrites it.

use std::collections::BTreeSet;
use std::path::Path;

use lifecycle_macros_core::check::{RULES, allowable};
use lifecycle_macros_core::rule::{Group, Rule, Severity, Stage};

use super::symptoms::SYMPTOMS;

const HEAD: &str = "# Checks

What the compiler refuses in a `lifecycle!`, by code. Each code has a section on the page of its topic: what it means, an example that fails, what the compiler says of it, and the example mended.
`lifecycle-operator check --explain LC021` prints the same.

A later stage runs only if the stages before it found no error; all findings of a stage come at once. Results hold on the declared abstraction: that a fact computes what its name says, and that an
effect does what it sets, no compiler can know. What warns can be allowed with a line and a reason ([the language](language.md)); what stops the build cannot, for it is proved wrong.

";

/// Codes that are rustc's own, through the emitted types.
const OF_RUSTC: [(&str, &str, &str); 3] = [
    (
        "LC063",
        "status read",
        "`This` has no `status` (E0609): nothing may be decided from our own report.",
    ),
    (
        "LC071",
        "second mutation",
        "A `call` spends its `Once` once (E0382).",
    ),
    (
        "LC072",
        "method missing",
        "A missing method of the logic (E0046).",
    ),
];

/// A code as a line of the list.
struct Line {
    code: &'static str,
    group: Group,
    name: String,
    level: &'static str,
    sentence: String,
}

fn lines() -> Vec<Line> {
    let of_rules = RULES.iter().map(|rule| Line {
        code: rule.code,
        group: rule.group,
        name: rule.name.replace('_', " "),
        level: match rule.stage {
            _ if rule.severity == Severity::Warning => "warns",
            Stage::Names => "names",
            Stage::Declaration => "declarations",
            Stage::World | Stage::Graph => "worlds",
        },
        sentence: sentence(rule),
    });
    let of_rustc = OF_RUSTC.map(|(code, name, sentence)| Line {
        code,
        group: Group::Rustc,
        name: name.to_owned(),
        level: "rustc",
        sentence: sentence.to_owned(),
    });
    let mut lines: Vec<Line> = of_rules.chain(of_rustc).collect();
    lines.sort_by_key(|line| line.code);
    lines
}

/// The first sentence of a header, as a cell of a table.
fn sentence(rule: &Rule) -> String {
    let text = header(rule);
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let paragraph = paragraph.replace('\n', " ");
    let paragraph = paragraph.trim_start_matches("A warning: ");
    let ends = |at: &usize| {
        let next = paragraph[at + 2..].chars().next();
        let begins = next.is_some_and(|next| next.is_uppercase() || next == '`');
        begins && !paragraph[..*at].ends_with('.')
    };
    let mut stops = paragraph.match_indices(". ").map(|(at, _)| at);
    let end = stops.find(ends).map_or(paragraph.len(), |at| at + 1);
    let mut letters = paragraph[..end].chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    let sentence: String = first.into_iter().chain(letters).collect();
    sentence.replace('|', "\\|")
}

impl Line {
    /// The code as a link to its section. GitHub and the book make the same anchor of a heading.
    fn link(&self) -> String {
        let heading = format!("{} {}", self.code, self.name).to_lowercase();
        let anchor = heading.replace(' ', "-");
        format!("[{}](rules/{}.md#{anchor})", self.code, self.group.page())
    }
}

fn page() -> String {
    let lines = lines();
    let mut page = HEAD.to_owned();
    let topics = Group::ALL.map(|group| format!("[{}](rules/{}.md)", group.title(), group.page()));
    page += &format!("The pages by topic: {}.\n\n", topics.join("; "));
    page += "## By symptom\n\n";
    page += "| you see or want | codes |\n| --- | --- |\n";
    for (symptom, codes) in SYMPTOMS {
        let linked = |code: &&str| {
            let line = lines.iter().find(|line| line.code == *code);
            line.map_or_else(|| (*code).to_owned(), Line::link)
        };
        let codes: Vec<String> = codes.iter().map(linked).collect();
        page += &format!("| {symptom} | {} |\n", codes.join(", "));
    }
    page += "\n## By code\n\n";
    page += "| code | stage | what is refused |\n| --- | --- | --- |\n";
    for line in &lines {
        page += &format!(
            "| {} {} | {} | {} |\n",
            line.link(),
            line.name,
            line.level,
            line.sentence,
        );
    }
    page
}

/// Each page of codes has its place in the book, below the list.
#[test]
fn the_book_has_a_page_for_each_group_of_checks() {
    let places =
        Group::ALL.map(|group| format!("  - [{}](rules/{}.md)\n", group.title(), group.page()));
    super::pages::between("SUMMARY.md", "pages of codes", &places.concat());
}

/// The type of a rule gives it exactly one group. Here each group has codes, a page of its own, and
/// a place in the list of all groups.
#[test]
fn each_group_has_rules_and_a_page_of_its_own() {
    let used: BTreeSet<Group> = lines().iter().map(|line| line.group).collect();
    assert_eq!(used, BTreeSet::from(Group::ALL));
    for texts in [Group::page, Group::title, Group::about] {
        let texts: BTreeSet<&str> = Group::ALL.into_iter().map(texts).collect();
        assert_eq!(texts.len(), Group::ALL.len(), "{texts:?}");
    }
    assert!(RULES.iter().all(|rule| rule.group != Group::Rustc));
}

#[test]
fn each_symptom_names_codes_that_exist() {
    let lines = lines();
    let is_code = |code: &&str| lines.iter().any(|line| line.code == *code);
    for (symptom, codes) in SYMPTOMS {
        let unknown: Vec<_> = codes.iter().filter(|code| !is_code(code)).collect();
        assert!(
            unknown.is_empty() && !codes.is_empty(),
            "{symptom}: {unknown:?}"
        );
    }
}

/// The header of a rule.
fn header(rule: &Rule) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/check/{}.rs", rule.name));
    let text = std::fs::read_to_string(&file).expect("a rule has a file of its name");
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    let lines: Vec<&str> = lines
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    assert!(!lines.is_empty(), "{} has a header", rule.name);
    lines.join("\n")
}

#[test]
fn the_list_of_checks_is_current() {
    let (file, now) = (
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/checks.md"),
        page(),
    );
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, &now).expect("the list is writable");
    }
    let then = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        now == then,
        "docs/checks.md differs from the headers of the rules; bless it"
    );
}

#[test]
fn every_code_is_used_once() {
    let codes: BTreeSet<_> = RULES.iter().map(|rule| rule.code).collect();
    assert_eq!(codes.len(), RULES.len());
}

/// Tests that the header of each warning starts with `A warning:`, and that the guide names all
/// warnings.
#[test]
fn what_warns_is_called_a_warning() {
    for rule in RULES {
        let said = header(rule).starts_with("A warning:");
        assert_eq!(said, rule.severity == Severity::Warning, "{}", rule.name);
    }
    let mut all = allowable();
    all.insert(0, "LC004");
    let (last, others) = all.split_last().expect("some warn");
    let said = format!("{} and {last} warn today.", others.join(", "));
    let guide = include_str!("../../../../docs/language.md");
    assert!(
        guide.contains(&said),
        "docs/language.md does not say: {said}"
    );
}

/// Tests the third invariant of ARCHITECTURE.md. The ban of cells ensures that a shared reference
/// cannot change the model.
#[test]
fn no_rule_changes_the_model_and_what_generates_reports_nothing() {
    let model = sources("model");
    let types: Vec<&str> = model.iter().flat_map(|(_, text)| types(text)).collect();
    assert!(types.contains(&"Lifecycle") && types.contains(&"Input"));
    for (path, text) in sources("check") {
        for changed in text.split("&mut ").skip(1).map(first_word) {
            assert!(!types.contains(&changed), "{path} changes a `{changed}`");
        }
    }
    for (path, text) in &model {
        for cell in ["Cell<", "Mutex<", "Atomic", "Lock<"] {
            assert!(!text.contains(cell), "{path} hides what changes in a cell");
        }
    }
    for (path, text) in sources("expand") {
        for reports in ["Sink", "Diagnostic", "compile_error"] {
            assert!(!text.contains(reports), "{path} reports: {reports}");
        }
    }
}

/// Returns the names of the types that a source declares.
fn types(text: &str) -> impl Iterator<Item = &str> {
    let declared = ["pub struct ", "pub(crate) struct ", "pub enum "];
    let lines = text.lines();
    lines.filter_map(move |line| {
        let rest = declared.iter().find_map(|word| line.strip_prefix(word));
        rest.map(first_word)
    })
}

fn first_word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

/// A module of the compiler with all below it, by path.
fn sources(module: &str) -> Vec<(String, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![src.join(module)];
    let mut found = vec![src.join(format!("{module}.rs"))];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a module has a folder") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.push(path),
            }
        }
    }
    let read = |path: &std::path::PathBuf| std::fs::read_to_string(path).expect("a source");
    let named = found
        .iter()
        .map(|path| (path.display().to_string(), read(path)));
    named.collect()
}
