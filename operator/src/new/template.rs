//! The files of the template, as they stand in `operator/template`.

use super::manifest::{self, Source};
use super::renamed::Names;

macro_rules! files {
    ($($path:literal in $link:literal),+ $(,)?) => {
        &[$(($path, include_str!(concat!("written/", $link)))),+]
    };
}

/// All but the manifest, which a member of a workspace writes otherwise. A package packs its own folder alone, so links lead from there to the files.
const FILES: &[(&str, &str)] = files![
    "README.md" in "readme.txt",
    "src/lifecycle.rs" in "lifecycle.txt",
    "src/logic.rs" in "logic.txt",
    "src/lib.rs" in "lib.txt",
    "src/main.rs" in "main.txt",
    "tests/suite.rs" in "suite.txt",
    "tests/fixtures.yaml" in "fixtures.yaml",
    "example.yaml" in "example.yaml",
    "deploy/rbac.yaml" in "rbac.yaml",
    "deploy/operator.yaml" in "operator.yaml",
    "Containerfile" in "containerfile.txt",
    ".github/workflows/ci.yml" in "ci.yml",
    ".gitignore" in "gitignore.txt",
];

/// Each file with its path, in the order in which they are written.
pub(super) fn files(source: &Source, names: &Names) -> Vec<(&'static str, String)> {
    let manifest = ("Cargo.toml", names.put_into(&manifest::text(source)));
    let rest = FILES
        .iter()
        .map(|(path, text)| (*path, names.put_into(text)));
    [manifest].into_iter().chain(rest).collect()
}

/// The words of its code that a kind of the same name would stand in the way of.
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    let sources = FILES.iter().filter(|(path, _)| path.ends_with(".rs"));
    let lines = sources.flat_map(|(_, text)| text.lines());
    let code = lines.filter(|line| !line.trim_start().starts_with("//"));
    let words = code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric()));
    words.filter(|word| word.starts_with(char::is_uppercase) && *word != "Website")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use super::*;

    fn below(folder: &Path, into: &mut BTreeSet<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => below(&path, into),
                false => drop(into.insert(path)),
            }
        }
    }

    #[test]
    fn each_file_of_the_template_is_written_as_it_is() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("template");
        let names = Names::of("website-operator", "Website", "web.example.org", None);
        let written = files(&Source::Version("1".to_owned()), &names);
        let mut there = BTreeSet::new();
        below(&folder, &mut there);
        let paths: BTreeSet<PathBuf> = written.iter().map(|(path, _)| folder.join(path)).collect();
        assert_eq!(paths, there);
        for (path, text) in written.iter().filter(|(path, _)| *path != "Cargo.toml") {
            let is = std::fs::read_to_string(folder.join(path)).unwrap();
            assert_eq!(*text, is, "{path}");
        }
    }

    #[test]
    fn no_name_of_the_template_is_left() {
        let names = Names::of("gadget-operator", "Gadget", "acme.test", None);
        let written = files(&Source::Version("1".to_owned()), &names);
        let mut named = 0;
        for (path, text) in written {
            assert!(!text.to_lowercase().contains("website"), "{path}");
            assert!(!text.contains("web.example.org"), "{path}");
            named += usize::from(text.contains("adget"));
        }
        assert!(named > 9, "{named} files name it");
    }
}
