//! Packages that a package pulls in when a user builds it: `cargo tree` of its normal dependencies,
//! with the features that they have there. The checks cover forbidden crates and features, and the
//! number of crates.

use std::collections::{BTreeMap, BTreeSet};

/// How `cargo tree` prints a line that this module reads.
pub const FORMAT: &str = "{p} | {f}";

/// A package and all that it pulls in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pulled {
    package: String,
    /// Features by crate and version.
    crates: BTreeMap<(String, String), BTreeSet<String>>,
}

impl Pulled {
    /// Reads the output of `cargo tree --prefix none` in this `FORMAT`. None if it does not show the package itself, which proves nothing.
    pub fn read(package: &str, output: &str) -> Option<Self> {
        let mut crates: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
        for line in output.lines() {
            let (name, features) = line.split_once(" | ").or(line.split_once(" |"))?;
            let mut words = name.split_whitespace();
            let key = (words.next()?.to_owned(), words.next()?.to_owned());
            // `(*)` ends the line of a crate that was shown before.
            let features = features.trim_end_matches("(*)").trim();
            let features = features.split(',').map(str::to_owned);
            crates.entry(key).or_default().extend(features);
        }
        let own = crates.keys().find(|(name, _)| name == package).cloned()?;
        crates.remove(&own);
        Some(Self {
            package: package.to_owned(),
            crates,
        })
    }

    /// How many crates there are beside the package itself; two versions are two.
    pub fn count(&self) -> usize {
        self.crates.len()
    }

    /// Those of `names` that are among them. A name is a crate (`tonic`) or a feature of one (`tokio/test-util`).
    pub fn forbidden(&self, names: &[&str]) -> Vec<String> {
        let pulled = names.iter().filter(|name| self.has(name));
        pulled
            .map(|name| format!("{} pulls in {name}", self.package))
            .collect()
    }

    /// Members among them that are not permitted.
    pub fn other_members(&self, members: &[&str], permitted: &[&str]) -> Vec<String> {
        let others = members.iter().filter(|name| !permitted.contains(name));
        self.forbidden(&others.copied().collect::<Vec<_>>())
    }

    fn has(&self, name: &str) -> bool {
        let (name, feature) = name
            .split_once('/')
            .map_or((name, None), |(name, feature)| (name, Some(feature)));
        let mut crates = self.crates.iter().filter(|((other, _), _)| other == name);
        crates.any(|(_, features)| feature.is_none_or(|feature| features.contains(feature)))
    }
}

/// Returns the differences between the table (package, number) and the packages that each package
/// pulls in. The table holds exact numbers, so that a reduction is kept.
pub fn changed_counts<'a>(
    pulled: impl Iterator<Item = &'a Pulled>,
    table: &[(&str, usize)],
) -> Vec<String> {
    let mut findings = Vec::new();
    let mut gone: BTreeMap<&str, usize> = table.iter().copied().collect();
    for one in pulled {
        let (package, count) = (&one.package, one.count());
        findings.extend(match gone.remove(package.as_str()) {
            Some(before) if count > before => Some(format!(
                "{package} pulls in {count} crates, {before} before: is what is new worth it to all who build it?"
            )),
            Some(before) if count < before => Some(format!(
                "{package} pulls in {count} crates, {before} before: write the smaller number"
            )),
            Some(_) => None,
            None => Some(format!(
                "{package} pulls in {count} crates: the table does not say so"
            )),
        });
    }
    let gone = gone.keys();
    findings.extend(gone.map(|name| format!("{name} is in the table and no member")));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "core v0.1.0 (/x/core) | \n\
        kube-core v5.0.0 | default,schema\n\
        tokio v1.2.0 | sync,time\n\
        tokio v1.2.0 | sync,time (*)\n\
        tokio v0.2.0 | test-util\n\
        macros v0.1.0 (proc-macro) (/x/macros) | (*)\n";

    fn pulled() -> Pulled {
        Pulled::read("core", TREE).unwrap()
    }

    #[test]
    fn a_tree_without_its_package_proves_nothing() {
        assert_eq!(Pulled::read("other", TREE), None);
        assert_eq!(Pulled::read("core", ""), None);
        assert_eq!(Pulled::read("core", "core v0.1.0 (/x/core)\n"), None);
    }

    #[test]
    fn a_crate_is_found_by_its_whole_name() {
        assert!(pulled().forbidden(&["kube", "core"]).is_empty());
        assert_eq!(
            pulled().forbidden(&["kube-core"]),
            ["core pulls in kube-core"]
        );
    }

    #[test]
    fn a_feature_is_found_in_any_version() {
        let found =
            pulled().forbidden(&["tokio/time", "tokio/test-util", "tokio/test", "macros/(*)"]);
        assert_eq!(
            found,
            ["core pulls in tokio/time", "core pulls in tokio/test-util"]
        );
    }

    #[test]
    fn other_members_are_found() {
        let members = ["core", "macros", "tokio"];
        let found = pulled().other_members(&members, &["tokio"]);
        assert_eq!(found, ["core pulls in macros"]);
    }

    #[test]
    fn two_versions_count_twice_and_a_repetition_once() {
        assert_eq!(pulled().count(), 4);
    }

    #[test]
    fn each_change_of_a_number_is_found() {
        let found = |table: &[(&str, usize)]| changed_counts([pulled()].iter(), table);
        assert!(found(&[("core", 4)]).is_empty());
        assert!(found(&[("core", 3)])[0].starts_with("core pulls in 4 crates, 3 before: is"));
        assert!(found(&[("core", 5)])[0].ends_with("write the smaller number"));
        assert_eq!(found(&[("gone", 4)]).len(), 2);
    }
}
