//! The files of the templates, exactly as in `operator/template` and `operator/shop`.

use clap::ValueEnum;

use super::manifest::{self, Source};
use super::renamed::Names;

macro_rules! files {
    ($($path:literal in $link:literal),+ $(,)?) => {
        &[$(($path, include_str!(concat!("written/", $link)))),+]
    };
}

/// All but the manifest, which a member of a workspace writes otherwise. A package packs its own folder alone, so links lead from there to the files.
const WEBSITE: &[(&str, &str)] = files![
    "README.md" in "readme.txt",
    "src/lifecycle.rs" in "lifecycle.txt",
    "src/logic.rs" in "logic.txt",
    "src/main.rs" in "main.txt",
    "tests/suite.rs" in "suite.txt",
    "tests/fixtures.yaml" in "fixtures.yaml",
    "example.yaml" in "example.yaml",
    "deploy/rbac.yaml" in "rbac.yaml",
];
/// Files that the other template has instead.
const SHOP: &[(&str, &str)] = files![
    "README.md" in "shop/readme.txt",
    "src/lifecycle.rs" in "shop/lifecycle.txt",
    "src/logic.rs" in "shop/logic.txt",
    "src/main.rs" in "shop/main.txt",
    "tests/suite.rs" in "shop/suite.txt",
    "tests/fixtures.yaml" in "shop/fixtures.yaml",
    "example.yaml" in "shop/example.yaml",
    "deploy/rbac.yaml" in "shop/rbac.yaml",
];
/// Files that both templates share.
const BOTH: &[(&str, &str)] = files![
    "src/lib.rs" in "lib.txt",
    "deploy/operator.yaml" in "operator.yaml",
    "Containerfile" in "containerfile.txt",
    ".github/workflows/ci.yml" in "ci.yml",
    ".gitignore" in "gitignore.txt",
];

/// Templates for a new operator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Template {
    /// One Deployment for each object.
    #[default]
    Website,
    /// A minted password, a volume that may stay, a migration for each version, and a Deployment (docs/real.md).
    Shop,
}

impl Template {
    fn own(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Website => WEBSITE,
            Self::Shop => SHOP,
        }
    }

    /// Returns each file with its path, in the order in which they are written.
    pub(super) fn files(self, source: &Source, names: &Names) -> Vec<(&'static str, String)> {
        let manifest = ("Cargo.toml", names.put_into(&manifest::text(source)));
        let rest = self.own().iter().chain(BOTH);
        let rest = rest.map(|(path, text)| (*path, names.put_into(text)));
        [manifest].into_iter().chain(rest).collect()
    }

    /// Returns the words of its code with which a kind of that name would conflict.
    pub(super) fn reserved_words(self) -> impl Iterator<Item = &'static str> {
        let all = self.own().iter().chain(BOTH);
        let sources = all.filter(|(path, _)| path.ends_with(".rs"));
        let lines = sources.flat_map(|(_, text)| text.lines());
        let code = lines.filter(|line| !line.trim_start().starts_with("//"));
        let words = code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric()));
        words.filter(|word| {
            word.starts_with(char::is_uppercase) && !["Website", "Shop"].contains(word)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use super::*;

    fn collect_files(folder: &Path, into: &mut BTreeSet<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => collect_files(&path, into),
                false => drop(into.insert(path)),
            }
        }
    }

    fn written(
        template: Template,
        package: &str,
        kind: &str,
        group: &str,
    ) -> Vec<(&'static str, String)> {
        let names = Names::new(package, kind, group, None);
        template.files(&Source::Version("1".to_owned()), &names)
    }

    #[test]
    fn each_file_of_a_template_is_written_as_it_is() {
        for (template, folder, [package, kind, group]) in [
            (
                Template::Website,
                "template",
                ["website-operator", "Website", "web.example.org"],
            ),
            (
                Template::Shop,
                "shop",
                ["shop-operator", "Shop", "shop.example.org"],
            ),
        ] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
            let written = written(template, package, kind, group);
            let mut there = BTreeSet::new();
            collect_files(&folder, &mut there);
            let shared = |path: &str| BOTH.iter().any(|(both, _)| *both == path);
            let is_own =
                |path: &str| template == Template::Website || path == "src/lib.rs" || !shared(path);
            let own: Vec<_> = written.iter().filter(|(path, _)| is_own(path)).collect();
            let paths: BTreeSet<PathBuf> = own.iter().map(|(path, _)| folder.join(path)).collect();
            assert_eq!(paths, there);
            for (path, text) in own.iter().filter(|(path, _)| *path != "Cargo.toml") {
                let is = std::fs::read_to_string(folder.join(path)).unwrap();
                assert_eq!(*text, is, "{path}");
            }
        }
    }

    #[test]
    fn no_name_of_a_template_is_left() {
        for template in [Template::Website, Template::Shop] {
            let mut named = 0;
            for (path, text) in written(template, "gadget-operator", "Gadget", "acme.test") {
                let lower = text.to_lowercase();
                let left = ["website", "shop", "web.example.org"];
                assert!(!left.iter().any(|name| lower.contains(name)), "{path}");
                named += usize::from(text.contains("adget"));
            }
            assert!(named > 9, "{named} files name it");
        }
    }
}
