//! Which objects of the sandbox are followed, and as what.

use lifecycle_cli::cluster::manifests::Manifest;

/// The group of what sites are made of.
const SITES: &str = lifecycle_specs_skupper::GROUP;

/// What is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FollowedKind {
    /// Until it is Ready.
    Listener,
    /// Until it runs.
    Pod,
    /// Something of a Skupper site, of this kind, until it is Ready.
    OfSite(&'static str),
}

impl FollowedKind {
    /// The kinds of a Skupper site.
    pub(super) const OF_SITE: [&'static str; 12] = [
        "Site",
        "Listener",
        "MultiKeyListener",
        "Connector",
        "AttachedConnector",
        "AttachedConnectorBinding",
        "Certificate",
        "SecuredAccess",
        "RouterAccess",
        "Link",
        "AccessGrant",
        "AccessToken",
    ];

    /// What an object of a kind of sites is followed as.
    pub(super) fn of_site(kind: &str) -> Option<Self> {
        let known = Self::OF_SITE.into_iter().find(|known| *known == kind);
        known.map(Self::OfSite)
    }
}

/// An object that is followed, by namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Followed {
    /// What it is.
    pub(super) sort: FollowedKind,
    /// Its namespace.
    pub(super) namespace: String,
    /// Its name.
    pub(super) name: String,
}

impl std::fmt::Display for Followed {
    /// Two groups have a kind `Listener`: what is of a site is written as `kubectl` takes it.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            sort,
            namespace,
            name,
        } = self;
        match sort {
            FollowedKind::Listener | FollowedKind::Pod => write!(formatter, "{namespace}/{name}"),
            FollowedKind::OfSite(kind) => {
                let kind = kind.to_lowercase();
                write!(formatter, "{namespace}/{kind}.{SITES}/{name}")
            }
        }
    }
}

/// Whether a manifest is of this kind of Skupper sites.
pub(super) fn is_of_site(manifest: &Manifest, kind: &str) -> bool {
    manifest.kind().group == SITES && manifest.kind().kind == kind
}

/// The object that a manifest makes, if it is followed.
pub(super) fn wanted(manifest: &Manifest) -> Option<Followed> {
    let of = manifest.kind();
    let sort = match (of.group.as_str(), of.kind.as_str()) {
        ("listeners.stackable.tech", "Listener") => FollowedKind::Listener,
        ("", "Pod") => FollowedKind::Pod,
        (SITES, kind) => FollowedKind::of_site(kind)?,
        (_, _) => return None,
    };
    Some(Followed {
        sort,
        namespace: manifest.namespace(),
        name: manifest.name(),
    })
}

/// The objects that manifests make, as far as they are followed.
pub(super) fn all_wanted(manifests: &[Manifest]) -> Vec<Followed> {
    let mut all = Vec::new();
    for one in manifests.iter().filter_map(wanted) {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn both_kinds_of_listener_are_told_apart() {
        let listener = |group| {
            let text = format!("apiVersion: {group}/v1\nkind: Listener\nmetadata: {{name: a}}\n");
            let manifests = Manifest::parse(Path::new("a.yaml"), &text).unwrap();
            wanted(&manifests[0]).map(|wanted| wanted.to_string())
        };
        let (stackable, site) = (listener("listeners.stackable.tech"), listener("skupper.io"));
        assert_eq!(stackable.as_deref(), Some("default/a"));
        assert_eq!(site.as_deref(), Some("default/listener.skupper.io/a"));
        assert_eq!(listener("example.org"), None);
    }
}
