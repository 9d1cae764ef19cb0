//! Objects of the sandbox that are followed, and the sort of each.

use lifecycle_cli::cluster::manifests::Manifest;

/// API group of the objects of sites.
const SITES: &str = lifecycle_specs_skupper::GROUP;

/// Sort of a followed object.
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

    /// Returns the sort of a followed object by its kind, if it is a kind of Skupper sites.
    pub(super) fn of_site(kind: &str) -> Option<Self> {
        let known = Self::OF_SITE.into_iter().find(|known| *known == kind);
        known.map(Self::OfSite)
    }
}

/// An object that is followed, by namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Followed {
    /// Sort of the object.
    pub(super) sort: FollowedKind,
    /// Its namespace.
    pub(super) namespace: String,
    /// Its name.
    pub(super) name: String,
}

impl std::fmt::Display for Followed {
    /// Writes the object. Two groups have a kind `Listener`, so an object of a site is written in
    /// the form that `kubectl` accepts.
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

/// Returns true if a manifest has this kind of Skupper sites.
pub(super) fn is_of_site(manifest: &Manifest, kind: &str) -> bool {
    manifest.kind().group == SITES && manifest.kind().kind == kind
}

/// The object that a manifest makes, if it is followed.
pub(super) fn followed_object(manifest: &Manifest) -> Option<Followed> {
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
    for one in manifests.iter().filter_map(followed_object) {
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
            followed_object(&manifests[0]).map(|wanted| wanted.to_string())
        };
        let (stackable, site) = (listener("listeners.stackable.tech"), listener("skupper.io"));
        assert_eq!(stackable.as_deref(), Some("default/a"));
        assert_eq!(site.as_deref(), Some("default/listener.skupper.io/a"));
        assert_eq!(listener("example.org"), None);
    }
}
