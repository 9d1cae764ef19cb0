//! Manifests of the published packages. They must contain everything that a person needs who finds
//! them, and nothing that Cargo could not resolve. This module knows `cargo metadata` and no files.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Only crate that lets programs select the Kubernetes version of its types.
const KUBERNETES: &str = "k8s-openapi";

/// As many keywords as crates.io takes, and as long.
const KEYWORDS: (usize, usize) = (5, 20);

/// Categories of crates.io that our packages use.
const CATEGORIES: [&str; 11] = [
    "api-bindings",
    "asynchronous",
    "command-line-utilities",
    "compilers",
    "development-tools",
    "development-tools::procedural-macro-helpers",
    "development-tools::testing",
    "filesystem",
    "network-programming",
    "simulation",
    "web-programming::http-server",
];

/// A package of the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its folder, from the root of the workspace.
    pub folder: String,
    /// Its version.
    pub version: String,
    /// True if it is published on crates.io.
    pub is_published: bool,
    /// True if it has a program.
    pub is_program: bool,
    /// Fields of its manifest, by name; lists are joined by commas.
    pub says: BTreeMap<&'static str, String>,
    /// Dependencies of the package.
    pub needs: Vec<Need>,
}

/// One line of dependencies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// Name of the dependency.
    pub name: String,
    /// The versions that fit.
    pub versions: String,
    /// True if only its tests need it.
    pub is_for_tests: bool,
    /// True if it is a package of the workspace.
    pub is_ours: bool,
    /// Requested features.
    pub features: BTreeSet<String>,
}

/// Reads the packages in `cargo metadata --no-deps`. Returns `None` if the format differs from the
/// one that Cargo prints today.
pub fn read(metadata: &Value) -> Option<Vec<Package>> {
    let root = metadata["workspace_root"].as_str()?;
    let packages = metadata["packages"].as_array()?.iter();
    packages.map(|package| package_of(root, package)).collect()
}

fn package_of(root: &str, package: &Value) -> Option<Package> {
    let text = |name: &str| package[name].as_str().map(str::to_owned);
    let list = |name: &str| Some(string_list(&package[name])?.join(","));
    let manifest = text("manifest_path")?;
    let folder = manifest.strip_prefix(root)?.strip_suffix("Cargo.toml")?;
    let documentation = &package["metadata"]["docs"]["rs"];
    let of_documentation = |name: &str| Some(string_list(&documentation[name])?.join(","));
    let says = [
        ("categories", list("categories")),
        ("description", text("description")),
        ("docs.rs features", of_documentation("features")),
        ("docs.rs targets", of_documentation("targets")),
        ("keywords", list("keywords")),
        ("license", text("license")),
        ("readme", text("readme")),
        ("rust-version", text("rust_version")),
    ];
    let mut targets = package["targets"].as_array()?.iter();
    Some(Package {
        name: text("name")?,
        folder: folder.trim_matches('/').to_owned(),
        version: text("version")?,
        // Without the field everybody may publish it; an empty list is `publish = false`.
        is_published: package["publish"]
            .as_array()
            .is_none_or(|to| !to.is_empty()),
        is_program: targets
            .any(|target| string_list(&target["kind"]).is_some_and(|kind| kind.contains(&"bin"))),
        says: says
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect(),
        needs: package["dependencies"]
            .as_array()?
            .iter()
            .map(need)
            .collect::<Option<_>>()?,
    })
}

fn need(dependency: &Value) -> Option<Need> {
    Some(Need {
        name: dependency["name"].as_str()?.to_owned(),
        versions: dependency["req"].as_str()?.to_owned(),
        is_for_tests: dependency["kind"] == "dev",
        is_ours: !dependency["path"].is_null(),
        features: string_list(&dependency["features"])?
            .into_iter()
            .map(str::to_owned)
            .collect(),
    })
}

fn string_list(list: &Value) -> Option<Vec<&str>> {
    list.as_array()?.iter().map(Value::as_str).collect()
}

/// Returns the published packages in a possible publishing order: each after its dependencies.
pub fn in_order(packages: &[Package]) -> Vec<&Package> {
    let mut waiting: Vec<&Package> = packages.iter().filter(|one| one.is_published).collect();
    let mut ordered: Vec<&Package> = Vec::new();
    while !waiting.is_empty() {
        let (ready, others): (Vec<&Package>, Vec<&Package>) = waiting.iter().partition(|one| {
            let mut needs = one.needs.iter().filter(|need| !need.is_for_tests);
            needs.all(|need| waiting.iter().all(|other| other.name != need.name))
        });
        if ready.is_empty() {
            break;
        }
        ordered.extend(ready);
        waiting = others;
    }
    ordered
}

/// Returns the findings about the packages. `private` are the packages that are not published, each
/// with the reason.
pub fn findings(packages: &[Package], private: &[(&str, &str)]) -> Vec<String> {
    let mut findings = Vec::new();
    for package in packages {
        let name = &package.name;
        let reason = private.iter().find(|(private, _)| private == name);
        match (package.is_published, reason) {
            (true, Some(_)) => findings.push(format!("{name}: is published, and is in the list of those that are not")),
            (false, None) => findings.push(format!(
                "{name}: is not published, and the list says no reason; write `publish = true`, or the reason"
            )),
            (true, None) => {
                findings.extend(unsaid(package));
                findings.extend(unresolved(package, packages));
            }
            (false, Some(_)) => {}
        }
    }
    let gone = private
        .iter()
        .filter(|(name, _)| packages.iter().all(|package| package.name != *name));
    findings.extend(gone.map(|(name, _)| format!("{name}: is in the list, and is no package")));
    findings.extend(versions_of_kubernetes(packages));
    findings
}

/// Returns the findings about the manifest fields that a stranger looks for first.
fn unsaid(package: &Package) -> Vec<String> {
    let name = &package.name;
    let asked = [
        "categories",
        "description",
        "docs.rs targets",
        "keywords",
        "license",
        "readme",
        "rust-version",
    ];
    let empty = |field: &&str| package.says.get(field).is_none_or(String::is_empty);
    let unsaid = asked.iter().filter(|field| empty(field));
    let mut findings: Vec<String> = unsaid
        .map(|field| format!("{name}: says no {field}"))
        .collect();
    let list = |field: &str| {
        package
            .says
            .get(field)
            .map(String::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let keywords = list("keywords");
    let (most, longest) = KEYWORDS;
    if keywords.split(',').count() > most || keywords.split(',').any(|word| word.len() > longest) {
        findings.push(format!(
            "{name}: crates.io takes {most} keywords of {longest} letters"
        ));
    }
    let categories = list("categories");
    let unknown = categories
        .split(',')
        .filter(|one| !one.is_empty() && !CATEGORIES.contains(one));
    findings.extend(unknown.map(|one| format!("{name}: `{one}` is no category of the list")));
    findings
}

/// Returns the findings about dependencies that Cargo could not resolve, or would resolve to
/// something untested.
fn unresolved(package: &Package, packages: &[Package]) -> Vec<String> {
    let mut findings = Vec::new();
    let name = &package.name;
    for need in package.needs.iter().filter(|need| need.is_ours) {
        let other = packages.iter().find(|other| other.name == need.name);
        let Some(other) = other else { continue };
        let exactly = format!("={}", other.version);
        if other.is_published && need.versions != exactly {
            findings.push(format!(
                "{name}: asks for {} {}; write `version = \"{exactly}\"`",
                need.name, need.versions
            ));
        }
        if !other.is_published && !need.is_for_tests {
            findings.push(format!(
                "{name}: is built of {}, which is not published",
                need.name
            ));
        }
        if !other.is_published && need.versions != "*" {
            findings.push(format!(
                "{name}: asks for a version of {}, which has none on crates.io; leave its path alone",
                need.name
            ));
        }
    }
    findings
}

/// A build can have one version of Kubernetes: programs choose, and libraries build with whichever was chosen.
fn versions_of_kubernetes(packages: &[Package]) -> Vec<String> {
    let mut findings = Vec::new();
    let mut chosen = BTreeSet::new();
    for package in packages {
        let name = &package.name;
        for need in package.needs.iter().filter(|need| need.name == KUBERNETES) {
            let versions: Vec<&String> = need
                .features
                .iter()
                .filter(|one| one.starts_with("v1_"))
                .collect();
            chosen.extend(versions.iter().copied());
            if need.is_for_tests || !package.is_published {
                continue;
            }
            if !package.is_program && !versions.is_empty() {
                findings.push(format!(
                    "{name}: is a library, and chooses a version of Kubernetes for all who use it"
                ));
            }
            if package.is_program && versions.is_empty() {
                findings.push(format!(
                    "{name}: is a program, and chooses no version of Kubernetes"
                ));
            }
            let documented = package.says.get("docs.rs features");
            let has =
                documented.is_some_and(|features| features.contains(&format!("{KUBERNETES}/v1_")));
            if !package.is_program && !has {
                findings.push(format!(
                    "{name}: docs.rs would choose no version of Kubernetes, and fail"
                ));
            }
        }
    }
    if chosen.len() > 1 {
        findings.push(format!(
            "several versions of Kubernetes are chosen: {chosen:?}"
        ));
    }
    findings
}

#[cfg(test)]
mod tests;
