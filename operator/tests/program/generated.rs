//! Compares the generated files in the repository with the output that the lifecycles generate now.
//! Also checks the page about them, command by command. `BLESS=1 cargo test --workspace --test
//! program generated` writes the files anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lifecycle_generate::pages;
use lifecycle_operator::parts::program;
use lifecycle_runtime::machine::ir::Mode;
use lifecycle_runtime::yaml;
use serde_json::Value;

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn blesses() -> bool {
    std::env::var_os("BLESS").is_some()
}

/// Compares a file with the expected text, or writes that text when blessing.
pub(crate) fn check(path: &Path, wanted: &str) {
    if blesses() {
        fs::write(path, wanted).unwrap();
    }
    let found = fs::read_to_string(path).unwrap_or_default();
    assert_eq!(
        found,
        wanted,
        "{}: see the head of this file",
        path.display()
    );
}

#[test]
fn pages_of_lifecycles_are_those_of_today() {
    let folder = root().join("docs/lifecycles");
    let wanted = pages::render(&program().machines()).unwrap();
    if blesses() {
        fs::create_dir_all(&folder).unwrap();
    }
    for file in &wanted {
        check(&folder.join(&file.name), &file.text);
    }
    for entry in fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_wanted = wanted.iter().any(|file| file.name == name);
        assert!(
            is_wanted,
            "docs/lifecycles/{name} is of no lifecycle any more: remove it"
        );
    }
}

/// The manifests that install the products.
const INSTALLED: [&str; 3] = [
    "deploy/install/controller.yaml",
    "deploy/install/node.yaml",
    "deploy/skupper/controller.yaml",
];

/// Returns the identity of a document: its kind and its name.
pub(crate) fn identity(document: &str) -> (String, String) {
    let value: Value = yaml::parse_one(document).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (text(&value["kind"]), text(&value["metadata"]["name"]))
}

fn is_about_rights(kind: &str) -> bool {
    ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"].contains(&kind)
}

/// The comment above a document.
fn comment(document: &str) -> String {
    let lines = document.lines().take_while(|line| line.starts_with('#'));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn b8_rights_of_the_manifests_follow_from_the_lifecycles() {
    let program = program();
    let mut made: Vec<((String, String), String)> = Vec::new();
    for part in program.parts() {
        let manifests = part.rights().manifests(&part.account);
        let documents = manifests.split("---\n");
        made.extend(documents.map(|one| (identity(one), one.to_owned())));
    }
    let mut used = 0;
    for file in INSTALLED {
        let path = root().join(file);
        let text = fs::read_to_string(&path).unwrap();
        let documents = text.split("---\n").map(|document| {
            let identity = identity(document);
            if !is_about_rights(&identity.0) {
                return document.to_owned();
            }
            let found = made.iter().find(|(made, _)| *made == identity);
            let (_, wanted) = found.unwrap_or_else(|| panic!("{file}: {identity:?} is not made"));
            used += 1;
            comment(document) + wanted
        });
        let wanted = documents.collect::<Vec<_>>().join("---\n");
        check(&path, &wanted);
    }
    assert_eq!(used, made.len(), "a role is in no manifest");
}

/// Garbage collection deletes an object at once if its owner is not found. It looks up an owner
/// without a namespace as a cluster-scoped object.
#[test]
fn b16_no_manifest_and_no_lifecycle_gives_what_is_cluster_wide_an_owner_in_a_namespace() {
    let mut cluster_wide = 0;
    let program = program();
    for machine in program.machines() {
        for (number, input) in machine.ir().inputs.iter().enumerate() {
            if !matches!(input.mode, Mode::Owned | Mode::Shared) {
                continue;
            }
            let name = format!("`{}` of {}", input.name, machine.ir().path);
            let owner = match input.owner {
                Some(owner) => machine.kind(owner),
                None => machine.subject(),
            };
            let (owned, owner) = (machine.kind(number).unwrap(), owner.unwrap());
            assert!(owned.namespaced || !owner.namespaced, "{name}");
            cluster_wide += usize::from(!owner.namespaced);
        }
    }
    assert!(cluster_wide > 0, "the Listener of a volume is owned by it");
    let goldens = fs::read_dir(root().join("operator/tests/charts/golden")).unwrap();
    let goldens = goldens.map(|entry| entry.unwrap().path());
    let installed = INSTALLED.iter().map(|file| root().join(file));
    let mut documents = 0;
    for path in goldens.chain(installed) {
        let text = fs::read_to_string(&path).unwrap();
        for document in yaml::all::<Value>(&text).unwrap() {
            let owners = &document["metadata"]["ownerReferences"];
            assert!(owners.is_null(), "{}: {document}", path.display());
            documents += 1;
        }
    }
    assert!(documents > 50, "{documents} documents");
}

/// The code that the page shows, as it is compiled.
const EXAMPLE: &str = "runtime/generate/src/command/example.rs";

/// Runs each command of the page about generators exactly as printed. The text below a command in
/// the same block is its expected output.
#[test]
fn commands_of_the_page_do_what_it_says() {
    let page = root().join("docs/generate.md");
    let text = fs::read_to_string(&page).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut written = String::new();
    let mut blocks = text.split("```");
    written += blocks.next().unwrap();
    let (mut said, mut commands) = (None, 0);
    while let (Some(block), Some(between)) = (blocks.next(), blocks.next()) {
        let (language, content) = block.split_once('\n').unwrap();
        let block = match language {
            "sh" => {
                commands += content.lines().count();
                let lines = content.lines().map(|line| run_command(line, folder.path()));
                said = Some(lines.collect::<String>());
                block.to_owned()
            }
            "text" | "yaml" | "mermaid" | "diff" => match said.take() {
                Some(said) => {
                    let shown = excerpt(content, &said);
                    assert!(!shown.contains("```"), "a block in a block: {shown}");
                    format!("{language}\n{shown}")
                }
                None => block.to_owned(),
            },
            "rust" => format!(
                "rust\n{}",
                fs::read_to_string(root().join(EXAMPLE)).unwrap()
            ),
            _ => block.to_owned(),
        };
        written += &format!("```{block}```{between}");
    }
    assert!(commands >= 6, "{commands} commands");
    check(&page, &written);
}

/// Returns the output of a command, both standard output and standard error.
fn run_command(line: &str, folder: &Path) -> String {
    let words: Vec<&str> = line.split('#').next().unwrap().split_whitespace().collect();
    let ["lifecycle-operator", words @ ..] = &words[..] else {
        panic!("no command of ours: {line}");
    };
    let words = words
        .iter()
        .map(|word| word.replace("/tmp/out", &folder.display().to_string()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_lifecycle-operator"));
    command.args(words).current_dir(root()).env_clear();
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    String::from_utf8(said)
        .unwrap()
        .replace(&folder.display().to_string(), "/tmp/out")
}

/// Returns the full output, or the excerpt of it that the page shows. A line `...` on the page
/// omits the rest of the output, and only the part before it counts.
fn excerpt(shown: &str, said: &str) -> String {
    let Some((before, _)) = shown.split_once("...\n") else {
        return said.to_owned();
    };
    let lines = before.lines().count();
    let begin: String = said
        .lines()
        .take(lines)
        .map(|line| format!("{line}\n"))
        .collect();
    format!("{begin}...\n")
}
