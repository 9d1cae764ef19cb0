//! The set of files to check for the named files and folders. Each file counts once, and a folder
//! contributes only the files that declare something.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Error, Source};

/// Returns the files of these names and those below these folders, in that order. Reports a folder
/// without declarations, and files if none of them declares anything: success would then mean
/// nothing.
pub(super) fn sources(named: &[PathBuf]) -> Vec<Source> {
    let mut all: Vec<Source> = named.iter().flat_map(|path| of_one(path)).collect();
    let mut met = BTreeSet::new();
    all.retain(|source| met.insert(real(source.path())));
    if !all.iter().any(Source::is_declaring) {
        for source in &mut all {
            if let Source::Read {
                path, found: Ok(_), ..
            } = source
            {
                let path = path.clone();
                *source = Source::Failed(Arc::new(Error::NothingInFile { path }));
            }
        }
    }
    all
}

fn of_one(path: &Path) -> Vec<Source> {
    if !path.is_dir() {
        return vec![Source::read(path)];
    }
    let mut files = Vec::new();
    walk(path, &mut BTreeSet::new(), &mut files);
    let sources = files.into_iter().map(|file| match file {
        Ok(path) => Source::read(&path),
        Err(error) => Source::Failed(Arc::new(error)),
    });
    let declaring = |source: &Source| matches!(source, Source::Failed(_)) || source.is_declaring();
    let mut sources: Vec<Source> = sources.filter(declaring).collect();
    if sources.is_empty() {
        let path = path.to_owned();
        let nothing = Error::NothingInFolder { path };
        sources.push(Source::Failed(Arc::new(nothing)));
    }
    sources
}

impl Source {
    /// Returns true if the file has a declaration. For a file with unmatched brackets this is a
    /// guess.
    fn is_declaring(&self) -> bool {
        match self {
            Self::Read {
                found: Ok(found), ..
            } => !found.lifecycles.is_empty() || !found.fragments.is_empty(),
            Self::Read {
                found: Err(_),
                text,
                ..
            } => text.contains("lifecycle!") || text.contains("fragment!"),
            Self::Failed(_) => false,
        }
    }
}

/// Collects the Rust files below a folder, by name, and the unreadable parts of it. `met` contains
/// the visited folders, because links may form circles.
fn walk(folder: &Path, met: &mut BTreeSet<PathBuf>, into: &mut Vec<Result<PathBuf, Error>>) {
    if !met.insert(real(folder)) {
        return;
    }
    let entries = match entries(folder) {
        Ok(entries) => entries,
        Err(source) => {
            let path = folder.to_owned();
            return into.push(Err(Error::Read { path, source }));
        }
    };
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_rust = path.extension().is_some_and(|end| end == "rs");
        match path.is_dir() {
            _ if name.starts_with('.') => {}
            true if name == "target" => {}
            true => walk(&path, met, into),
            // A link to nowhere is none.
            false if is_rust && path.is_file() => into.push(Ok(path)),
            false => {}
        }
    }
}

/// Returns the entries of a folder by name, and links last. The target of a link is reported by its
/// own name if it is below the folder as well.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut entries = entries.collect::<io::Result<Vec<PathBuf>>>()?;
    entries.sort_by_key(|path| (path.is_symlink(), path.clone()));
    Ok(entries)
}

/// The same for all names of a file.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use crate::args::{self, Output};
    use crate::check::tests::{GOOD, check_of, with_replacement};
    use crate::check::{Verdict, lock, run};

    /// Invalid Rust, whatever is declared in it.
    const NO_RUST: &str = "fn main( {}";

    /// A folder with files of these contents, at paths below it.
    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    /// Checks these paths of the folder. Returns the verdict, and the output of both streams.
    fn checked(root: &tempfile::TempDir, paths: &[&str], output: Output) -> (Verdict, String) {
        let paths = paths.iter().map(|path| root.path().join(path)).collect();
        let (mut out, mut complaints) = (Vec::new(), Vec::new());
        let verdict = run(&check_of(paths, output), &mut out, &mut complaints).unwrap();
        (verdict, output_text(root, [complaints, out]))
    }

    fn output_text(root: &tempfile::TempDir, streams: [Vec<u8>; 2]) -> String {
        let said = String::from_utf8(streams.concat()).unwrap();
        said.replace(&format!("{}/", root.path().display()), "")
    }

    const FRAGMENT: &str = "fragment! { fragment shared; }";

    #[test]
    fn of_a_folder_each_file_that_declares_something_is_checked() {
        let root = folder(&[
            ("src/page.rs", GOOD),
            ("src/deep/er/shared.rs", FRAGMENT),
            ("src/lib.rs", "mod page;"),
            ("src/fixture.rs", NO_RUST),
            ("src/page.txt", GOOD),
            ("src/.hidden/page.rs", GOOD),
            ("src/target/page.rs", GOOD),
        ]);
        let (verdict, said) = checked(&root, &["src"], Output::Text);
        assert_eq!(
            said,
            "checked 1 lifecycle in 2 files: 0 errors, 0 warnings\n"
        );
        assert_eq!(verdict, Verdict::Clean);
    }

    #[test]
    fn a_finding_is_told_by_its_path_below_the_folder() {
        let root = folder(&[(
            "src/deep/page.rs",
            &with_replacement("=> Pending", "=> Pendign"),
        )]);
        let (verdict, said) = checked(&root, &["src"], Output::Text);
        assert!(said.contains("src/deep/page.rs:7:41"), "{said}");
        assert_eq!(verdict, Verdict::Errors);
        let damaged = with_replacement("effects { apply child; }", "effects { apply child; ");
        let root = folder(&[("page.rs", &damaged)]);
        let (verdict, said) = checked(&root, &["."], Output::Text);
        assert!(said.contains("error[LC000]"), "{said}");
        assert_eq!(verdict, Verdict::Unreadable);
    }

    #[test]
    fn links_lead_in_no_circle_and_a_file_is_checked_once() {
        let root = folder(&[("b/src/page.rs", GOOD)]);
        symlink("..", root.path().join("b/src/up")).unwrap();
        symlink("b", root.path().join("a")).unwrap();
        symlink("nowhere.rs", root.path().join("c.rs")).unwrap();
        let bad = with_replacement("=> Pending", "=> Pendign");
        fs::write(root.path().join("b/src/page.rs"), bad).unwrap();
        let (_, said) = checked(&root, &[".", "b", "a/src/page.rs"], Output::Text);
        assert!(said.contains("./b/src/page.rs:7:41"), "{said}");
        let end = "checked 1 lifecycle in 1 file: 1 error, 0 warnings\n";
        assert!(said.ends_with(end), "{said}");
    }

    #[test]
    fn a_folder_in_which_nothing_is_declared_is_told_of() {
        let root = folder(&[
            ("src/page.rs", GOOD),
            ("docs/page.md", GOOD),
            ("docs/target/page.rs", GOOD),
            ("docs/lib.rs", ""),
        ]);
        let (verdict, said) = checked(&root, &["src", "docs"], Output::Text);
        let told = "docs declares nothing: a `lifecycle! { .. }` or `fragment! { .. }` was expected in one of its `.rs` files; hidden folders and `target` are not looked into\n";
        let end = "checked 1 lifecycle in 1 file: 0 errors, 0 warnings\n";
        assert_eq!(
            (verdict, said),
            (Verdict::Unreadable, format!("{told}{end}"))
        );
    }

    #[test]
    fn a_file_is_told_of_if_nothing_is_declared_in_any() {
        let root = folder(&[("page.rs", GOOD), ("lib.rs", "mod page;")]);
        let told = "lib.rs declares nothing: a `lifecycle! { .. }` or `fragment! { .. }` was expected in it";
        let (verdict, said) = checked(&root, &["lib.rs"], Output::Text);
        let end = "checked 0 lifecycles in 0 files: 0 errors, 0 warnings\n";
        assert_eq!(
            (verdict, said),
            (Verdict::Unreadable, format!("{told}\n{end}"))
        );
        let (verdict, said) = checked(&root, &["lib.rs"], Output::Json);
        assert_eq!(verdict, Verdict::Unreadable);
        let found: serde_json::Value = serde_json::from_str(&said).unwrap();
        assert_eq!(
            (&found[0]["message"], &found[0]["code"]),
            (&told.into(), &().into())
        );
        // Most files that a shell matches with `*.rs` contain no declaration.
        let (verdict, _) = checked(&root, &["lib.rs", "page.rs"], Output::Text);
        assert_eq!(verdict, Verdict::Clean);
    }

    #[test]
    fn locks_below_a_folder_are_written_beside_their_files() {
        let locked = with_replacement("resource Thing;", "resource Thing; lock \"thing.lock\";");
        let root = folder(&[("src/deep/page.rs", &locked), ("docs/lib.rs", "")]);
        let written = |path: &str| {
            let (mut out, mut complaints) = (Vec::new(), Vec::new());
            let options = args::Lock {
                paths: vec![root.path().join(path)],
                check: false,
            };
            let verdict = lock(&options, &mut out, &mut complaints).unwrap();
            (verdict, output_text(&root, [complaints, out]))
        };
        let told = "src/deep/thing.lock is written\n".to_owned();
        assert_eq!(written("src"), (Verdict::Clean, told));
        assert!(root.path().join("src/deep/thing.lock").exists());
        for nothing in ["docs", "docs/lib.rs"] {
            let (verdict, said) = written(nothing);
            assert_eq!(verdict, Verdict::Unreadable);
            assert!(
                said.starts_with(&format!("{nothing} declares nothing: ")),
                "{said}"
            );
            assert_eq!(said.lines().count(), 1);
        }
    }
}
