//! Messages that `check` prints for a broken rule. Covers each fixture in `tests/ui/rules` to whose
//! text rustc adds nothing, with its pinned text. `BLESS=1 cargo test --workspace --test program
//! rules` rewrites them. Review the difference like code.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn failing_fixtures_fail_with_the_pinned_text() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ui/rules");
    let mut rules: Vec<_> = fs::read_dir(&folder)
        .expect("the fixtures are there")
        .map(|rule| rule.unwrap().path())
        .filter(|rule| !rule.join("fails.stderr").exists())
        .collect();
    rules.sort();
    assert!(rules.len() > 30, "only {} fixtures were found", rules.len());
    let mut wrong = String::new();
    for rule in rules {
        let name = rule.file_name().unwrap().to_string_lossy().into_owned();
        let checked = Command::new(env!("CARGO_BIN_EXE_lifecycle-operator"))
            .args(["check", &format!("{name}/fails.rs")])
            .current_dir(&folder)
            .output()
            .unwrap();
        assert_eq!(checked.status.code(), Some(1), "{name}");
        let said = String::from_utf8(checked.stdout).unwrap();
        let pinned = rule.join("fails.txt");
        if std::env::var_os("BLESS").is_some() {
            fs::write(&pinned, &said).unwrap();
        }
        let expected = fs::read_to_string(&pinned).unwrap_or_default();
        if said != expected {
            wrong += &format!("{name} says:\n{said}\nbut was pinned as:\n{expected}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
