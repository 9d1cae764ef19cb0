//! All declarations of this workspace: the lifecycles of the documentation, the specimen, the
//! shipped lifecycles, those of the runtime tests, and the fixtures that break no rule.

use std::fs;
use std::path::{Path, PathBuf};

use lifecycle_macros_core::check::RULES;
use lifecycle_macros_core::space::summary::Summary;
use lifecycle_macros_core::{LockText, check_locked, find, lock};
use proc_macro2::TokenStream;

use super::words::{Unit, stream};
use crate::language::shipped::folder;

/// One `lifecycle!` with the fragments that it may use.
#[derive(Debug)]
pub(crate) struct Declaration {
    pub(crate) name: String,
    /// The lifecycle, and then its fragments.
    pub(crate) units: Vec<Unit>,
    pub(crate) lock: LockText,
}

impl Declaration {
    /// Returns true if its lock contains a name.
    pub(crate) fn is_locked(&self, name: &str) -> bool {
        matches!(&self.lock, LockText::Read(text) if text.contains(name))
    }

    /// How many worlds it has; it must be without errors.
    pub(crate) fn worlds(&self) -> usize {
        let body = stream(&self.units[0].words);
        let fragments: Vec<_> = self.units[1..]
            .iter()
            .map(|unit| stream(&unit.words))
            .collect();
        let checked = check_locked(body, &fragments, self.lock.clone());
        let said: Vec<_> = checked.diagnostics.iter().map(|d| &d.message).collect();
        assert!(checked.is_accepted(), "{}: {said:?}", self.name);
        let model = checked.model.expect("what is accepted has a model");
        Summary::explore(&model)
            .expect("it has not too many worlds")
            .worlds
    }
}

/// The folders of declarations from the root, and how their files end.
const FOLDERS: [(&str, &str); 5] = [
    ("macros/core/tests/lifecycles", "txt"),
    ("macros/core/tests/expand", "txt"),
    ("tests/src", "rs"),
    ("specs/listener/src", "rs"),
    ("specs/skupper/src", "rs"),
];

/// Returns all of them, in order. Spans belong to the calling thread.
pub(crate) fn all() -> Vec<Declaration> {
    let root = folder("../../..");
    let mut all = Vec::new();
    for (path, end) in FOLDERS {
        of_files(&files(&root.join(path), end), &mut all);
    }
    for rule in RULES {
        let file = root
            .join("tests/ui/rules")
            .join(rule.name)
            .join("passes.rs");
        of_files(&[file], &mut all);
    }
    all
}

/// Everything below a folder that ends so, in order.
fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder can be read");
    let paths = entries.map(|entry| entry.expect("a readable entry").path());
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            found.extend(files(&path, end));
        } else if path.extension().is_some_and(|is| is == end) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Adds the lifecycles of files that share their fragments.
fn of_files(files: &[PathBuf], all: &mut Vec<Declaration>) {
    let read = |file: &PathBuf| {
        let text = fs::read_to_string(file).expect("the file can be read");
        find(text.parse().expect("it consists of Rust tokens"))
    };
    let found: Vec<_> = files.iter().map(read).collect();
    let fragments: Vec<TokenStream> = found.iter().flat_map(|one| one.fragments.clone()).collect();
    for (file, found) in files.iter().zip(&found) {
        // A body that a test macro completes is no declaration yet.
        let is_complete = |body: &&TokenStream| !body.to_string().contains('$');
        for body in found.lifecycles.iter().filter(is_complete) {
            let shown = file.components().rev().take(2).collect::<Vec<_>>();
            let name = shown.iter().rev().collect::<PathBuf>();
            let is_user = body.to_string().contains("use ");
            let used = fragments.iter().filter(|_| is_user);
            all.push(Declaration {
                name: name.display().to_string(),
                units: std::iter::once(body)
                    .chain(used)
                    .cloned()
                    .map(Unit::from_tokens)
                    .collect(),
                lock: lock_of(file, body),
            });
        }
    }
}

fn lock_of(file: &Path, body: &TokenStream) -> LockText {
    let Some((path, _)) = lock::named(body) else {
        return LockText::Unread;
    };
    let folder = file.parent().expect("it is in a folder");
    match fs::read_to_string(folder.join(path)) {
        Ok(text) => LockText::Read(text),
        Err(why) => LockText::Unreadable(why.to_string()),
    }
}
