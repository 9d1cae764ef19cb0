//! The domain below which cluster DNS names Services: the configured one, else the one in the
//! configuration of the resolver, else the default.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use thiserror::Error;

/// Domain that nearly every cluster uses.
const USUAL: &str = "cluster.local";
const RESOLVER: &str = "/etc/resolv.conf";

/// A DNS domain as it was written: case and a dot at the end are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterDomain(String);

/// Why a text is no domain.
#[derive(Debug, Error)]
#[error(
    "`{0}` is not a DNS domain; use letters, digits and dashes between dots, as in cluster.local"
)]
pub struct NotADomain(String);

impl ClusterDomain {
    /// Returns the domain that nearly every cluster uses.
    pub fn usual() -> Self {
        Self(USUAL.to_owned())
    }
}

impl FromStr for ClusterDomain {
    type Err = NotADomain;

    fn from_str(text: &str) -> Result<Self, NotADomain> {
        let inner = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let label = |label: &str| {
            (1..=63).contains(&label.len())
                && label.chars().all(inner)
                && !label.starts_with('-')
                && !label.ends_with('-')
        };
        let labels = text.strip_suffix('.').unwrap_or(text);
        if labels.len() <= 253 && labels.split('.').all(label) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotADomain(text.to_owned()))
        }
    }
}

impl fmt::Display for ClusterDomain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the configured domain, or the one that is detected here.
pub fn resolve(told: Option<&ClusterDomain>) -> ClusterDomain {
    resolve_with(told, Path::new(RESOLVER))
}

fn resolve_with(told: Option<&ClusterDomain>, resolver: &Path) -> ClusterDomain {
    if let Some(told) = told {
        return told.clone();
    }
    let configured = std::fs::read_to_string(resolver).unwrap_or_default();
    if let Some(found) = of_search_list(&configured) {
        tracing::info!(domain = %found, "took the cluster domain from {}", resolver.display());
        return found;
    }
    tracing::warn!(
        "no cluster domain is set and {} names none; using {USUAL}: set --kubernetes-cluster-domain if that is wrong",
        resolver.display()
    );
    ClusterDomain(USUAL.to_owned())
}

/// In a Pod the resolver searches `<namespace>.svc.<domain> svc.<domain> <domain>`; the last `search` line counts.
fn of_search_list(configured: &str) -> Option<ClusterDomain> {
    let mut words = configured.lines().map(str::split_whitespace);
    let searched = words.rfind(|words| words.clone().next() == Some("search"))?;
    let mut domains = searched.skip(1).filter_map(|d| d.strip_prefix("svc."));
    domains.find_map(|domain| domain.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(configured: &str, expected: Option<&str>) {
        let found = of_search_list(configured).map(|domain| domain.to_string());
        assert_eq!(found.as_deref(), expected, "{configured}");
    }

    #[test]
    fn b9_the_search_domain_of_services_gives_the_cluster_domain() {
        check(
            "nameserver 10.96.0.10\nsearch apps.svc.example.org svc.example.org example.org\noptions ndots:5\n",
            Some("example.org"),
        );
        check("search\tsvc.cluster.local.", Some("cluster.local."));
        check("search svc.first\nsearch svc.second\n", Some("second"));
    }

    #[test]
    fn a_resolver_outside_a_cluster_gives_none() {
        check("", None);
        check("nameserver 1.1.1.1\nsearch example.org\n", None);
        check("# search svc.commented\n", None);
        check("search svc.", None);
        check("search svc.a svc..b\nsearch other", None);
    }

    #[test]
    fn b9_what_was_told_wins_and_what_is_found_beats_the_usual() {
        let directory = tempfile::tempdir().unwrap();
        let resolver = directory.path().join("resolv.conf");
        let resolved = |told: Option<&str>| {
            let told = told.map(|told| told.parse().unwrap());
            resolve_with(told.as_ref(), &resolver).to_string()
        };
        assert_eq!(resolved(None), "cluster.local");
        std::fs::write(&resolver, "search svc.found").unwrap();
        assert_eq!(resolved(None), "found");
        assert_eq!(resolved(Some("Told.Example.")), "Told.Example.");
    }

    #[test]
    fn m20_upper_case_and_a_dot_at_the_end_are_accepted_and_nonsense_is_not() {
        for good in ["cluster.local", "Cluster.LOCAL", "a", "a-b.c.", "1.2"] {
            assert_eq!(good.parse::<ClusterDomain>().unwrap().to_string(), good);
        }
        for bad in [
            "",
            ".",
            "a..b",
            "-a",
            "a-",
            "a/b",
            "a b",
            "a_b",
            &"x".repeat(64),
        ] {
            assert!(bad.parse::<ClusterDomain>().is_err(), "{bad}");
        }
    }
}
