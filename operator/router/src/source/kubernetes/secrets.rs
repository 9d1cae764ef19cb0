//! Mapping from a file of a profile to a Secret and a key in it. Pure: it follows from the document
//! alone.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::ByteString;
use serde_json::Value;

use crate::config::Profile;

/// How the names of profiles end that are the authority of a Secret and nothing else, or the Secret of a link.
const OF_CLIENT: &str = "-profile";

/// Knowledge about a Secret.
#[derive(Debug)]
pub(super) enum Content {
    /// Nothing yet.
    Unasked,
    /// It cannot be read, for this reason.
    Unknown(String),
    /// The Secret does not exist.
    Absent,
    /// Data of the Secret.
    There(BTreeMap<String, ByteString>),
}

/// The profiles that the links of a document name.
pub(super) fn of_links(document: &str) -> BTreeSet<String> {
    let elements: Vec<Value> = serde_json::from_str(document).unwrap_or_default();
    let links = elements.iter().filter(|element| element[0] == "connector");
    let names = links.filter_map(|element| element[1]["sslProfile"].as_str());
    names.map(str::to_owned).collect()
}

/// The Secret of a profile, which may be that of a link; absent if none can have its name.
pub(super) fn secret_of<'a>(name: &'a str, profile: &Profile, of_link: bool) -> Option<&'a str> {
    let short = name.strip_suffix(OF_CLIENT);
    let short = short.filter(|_| of_link || profile.pair.is_none());
    Some(short.unwrap_or(name)).filter(|secret| is_object_name(secret))
}

/// The key of a Secret that is this file of a profile.
pub(super) fn key_of<'a>(name: &str, path: &'a str) -> Option<&'a str> {
    let key = path.strip_prefix(name)?.strip_prefix('/')?;
    (!key.contains('/')).then_some(key)
}

/// Nothing else may get into a selector.
pub(super) fn is_object_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let inside = |byte: u8| allowed(byte) || byte == b'-' || byte == b'.';
    let (first, last) = (name.bytes().next(), name.bytes().next_back());
    name.len() <= 253
        && name.bytes().all(inside)
        && first.is_some_and(allowed)
        && last.is_some_and(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, has_pair: bool, expected: Option<&str>) {
        let pair = (format!("{name}/tls.crt"), format!("{name}/tls.key"));
        let profile = Profile {
            ca: Some(format!("{name}/ca.crt")),
            pair: has_pair.then_some(pair),
        };
        assert_eq!(secret_of(name, &profile, false), expected);
        assert_eq!(key_of(name, &format!("{name}/ca.crt")), Some("ca.crt"));
    }

    #[test]
    fn an_authority_alone_is_of_the_secret_without_the_ending() {
        check("web", true, Some("web"));
        check("web", false, Some("web"));
        check("web-profile", false, Some("web"));
        check("web-profile", true, Some("web-profile"));
        check("web-profile-profile", false, Some("web-profile"));
    }

    #[test]
    fn a_profile_of_a_link_is_of_the_secret_without_the_ending() {
        let document = r#"[["connector",{"name":"l","role":"inter-router","sslProfile":"east-profile"}],["tcpListener",{"sslProfile":"web-profile"}],7]"#;
        let links = of_links(document);
        assert_eq!(links, ["east-profile".to_owned()].into());
        assert_eq!(of_links("no JSON"), BTreeSet::new());
        let profile = Profile {
            ca: Some("east-profile/ca.crt".to_owned()),
            pair: Some((
                "east-profile/tls.crt".to_owned(),
                "east-profile/tls.key".to_owned(),
            )),
        };
        assert_eq!(secret_of("east-profile", &profile, true), Some("east"));
        assert_eq!(secret_of("east", &profile, true), Some("east"));
    }

    #[test]
    fn names_that_no_secret_can_have_are_asked_for_nowhere() {
        for name in ["", "-profile", "a,b", "a=b", "A", "a b", ".a", "a-", "ä"] {
            let profile = Profile::default();
            assert_eq!(secret_of(name, &profile, false), None, "{name}");
        }
        assert_eq!(
            secret_of(&"a".repeat(254), &Profile::default(), false),
            None
        );
    }

    #[test]
    fn files_of_other_folders_are_no_keys() {
        assert_eq!(key_of("web", "other/ca.crt"), None);
        assert_eq!(key_of("web", "web2/ca.crt"), None);
        assert_eq!(key_of("web", "web/deep/ca.crt"), None);
        assert_eq!(key_of("web", "web"), None);
    }
}
