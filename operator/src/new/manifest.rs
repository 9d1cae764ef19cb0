//! The manifest of a new crate: that of the template, with values inherited from this workspace
//! written out. Each version is thus defined in one place.

use std::path::PathBuf;

/// The manifest of the template, a member of this workspace.
const TEMPLATE: &str = include_str!("written/manifest.txt");
/// That of the workspace.
const WORKSPACE: &str = include_str!("written/workspace.txt");
/// Suffix of an item that is inherited from the workspace.
const INHERITED: &str = ".workspace = true";
/// Inherited dependency with features beyond those of the workspace.
const WITH_FEATURES: &str = " = { workspace = true, features = [";
/// Lint section of a standalone crate, and the text at the end of its manifest.
const LINTS: &str = "[lints.rust]\nunsafe_code = \"forbid\"\n";
const END: &str = "
# The checker runs inside rustc: without this a large lifecycle would be felt in every build.
[profile.dev.package.lifecycle-macros-core]
opt-level = 3

[profile.release.package.lifecycle-macros-core]
opt-level = 3

# A workspace of its own, wherever it is.
[workspace]
";

/// Source of the packages of this repository.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// A checkout, as it is reached from the crate.
    Path(PathBuf),
    /// A registry.
    Version(String),
}

/// The manifest.
pub(super) fn text(source: &Source) -> String {
    let mut out = String::new();
    for line in TEMPLATE.lines() {
        match inherited(line) {
            // The author decides about the license.
            Some(("license", _)) => continue,
            Some(("publish", _)) => out.push_str("publish = false"),
            Some((name @ ("edition" | "rust-version"), _)) => {
                let value = value("[workspace.package]", name).unwrap_or_default();
                out.push_str(&format!("{name} = {value}"));
            }
            Some((name, features)) => {
                let said = dependency(name, features, source);
                out.push_str(&format!("{name} = {said}"));
            }
            None if line == "[lints]" => out.push_str(LINTS.trim_end()),
            None if line == "workspace = true" => continue,
            None => out.push_str(line),
        }
        out.push('\n');
    }
    out + END
}

/// Returns the item that a line inherits from the workspace: a name, and the features that the line
/// adds.
fn inherited(line: &str) -> Option<(&str, &str)> {
    if let Some(name) = line.strip_suffix(INHERITED) {
        return Some((name, ""));
    }
    let (name, features) = line.split_once(WITH_FEATURES)?;
    Some((name, features.strip_suffix("] }")?))
}

fn dependency(name: &str, features: &str, source: &Source) -> String {
    let said = value("[workspace.dependencies]", name).unwrap_or_default();
    let said = match (folder(said), source) {
        (Some(folder), Source::Path(path)) => {
            let path = path.join(folder).display().to_string();
            format!("{{ path = {path:?} }}")
        }
        (Some(_), Source::Version(version)) => format!("{version:?}"),
        (None, _) => said.to_owned(),
    };
    with_features(&said, features)
}

/// Returns the specification of a dependency, with more features.
fn with_features(said: &str, more: &str) -> String {
    if more.is_empty() {
        return said.to_owned();
    }
    if said.contains(" features = [") {
        return said.replace(" features = [", &format!(" features = [{more}, "));
    }
    match said.strip_suffix(" }") {
        Some(table) => format!("{table}, features = [{more}] }}"),
        None => format!("{{ version = {said}, features = [{more}] }}"),
    }
}

/// The folder of a package of this repository.
fn folder(said: &str) -> Option<&str> {
    said.split_once("path = \"")?.1.split('"').next()
}

/// Returns the workspace's value for a name in a section.
fn value(section: &str, name: &str) -> Option<&'static str> {
    let (_, rest) = WORKSPACE.split_once(&format!("\n{section}\n"))?;
    let lines = rest.lines().take_while(|line| !line.starts_with('['));
    let mut pairs = lines.filter_map(|line| line.split_once(" = "));
    pairs
        .find(|(said, _)| *said == name)
        .map(|(_, value)| value)
}

/// Returns the names of the dependencies of a new crate.
pub(super) fn dependencies() -> impl Iterator<Item = &'static str> {
    let (_, rest) = TEMPLATE
        .split_once("\n[dependencies]\n")
        .unwrap_or_default();
    rest.lines()
        .filter_map(|line| inherited(line).map(|(name, _)| name))
}

/// The folders of the packages of this repository among them.
pub(super) fn packages() -> impl Iterator<Item = &'static str> {
    let said = dependencies().filter_map(|name| value("[workspace.dependencies]", name));
    said.filter_map(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_inherited_is_written_out() {
        let text = text(&Source::Path("../checkout".into()));
        assert!(!text.contains("workspace = true"), "{text}");
        assert!(text.contains("\nedition = \"2024\"\n"), "{text}");
        assert!(
            text.contains("\nlifecycle-cli = { path = \"../checkout/operator/cli\", features = [\"program\"] }\n"),
            "{text}"
        );
        assert!(text.contains("\nkube = { version = \"5.0"), "{text}");
        let mut kubernetes = text
            .lines()
            .filter(|line| line.starts_with("k8s-openapi = "));
        let version = "features = [\"v1_33\", \"std\"]";
        assert!(kubernetes.any(|line| line.contains(version)), "{text}");
        assert!(text.contains("[profile.dev.package.lifecycle-macros-core]\nopt-level = 3\n"));
        assert!(!text.contains(" = \n"), "something has no value: {text}");
    }

    #[test]
    fn a_version_is_that_of_a_registry() {
        let text = super::text(&Source::Version("1.2.3".to_owned()));
        assert!(text.contains("\nlifecycle-runtime = \"1.2.3\"\n"), "{text}");
        assert!(!text.contains("path ="), "{text}");
    }

    #[test]
    fn features_that_are_asked_for_besides_are_kept_whatever_is_said_of_the_dependency() {
        for (said, expected) in [
            (r#""1.2""#, r#"{ version = "1.2", features = ["a"] }"#),
            (
                r#"{ path = "../b" }"#,
                r#"{ path = "../b", features = ["a"] }"#,
            ),
            (
                r#"{ version = "1", default-features = false, features = ["c"] }"#,
                r#"{ version = "1", default-features = false, features = ["a", "c"] }"#,
            ),
        ] {
            assert_eq!(with_features(said, r#""a""#), expected);
            assert_eq!(with_features(said, ""), said);
        }
    }

    #[test]
    fn its_dependencies_and_their_folders_are_known() {
        let all: Vec<&str> = dependencies().collect();
        assert!(
            all.contains(&"kube") && all.contains(&"lifecycle-suite"),
            "{all:?}"
        );
        let folders: Vec<&str> = packages().collect();
        assert_eq!(folders, ["operator/cli", "runtime", "runtime/suite"]);
    }
}
