//! Numbers of the contents of Secrets for the existing adaptor: it uses a Secret for a profile only if an annotation numbers its contents, and updates a profile of its
//! router when the number changes. The adaptor of this project needs neither. Pure.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::ResourceExt;
use ring::digest::{Context as Hash, SHA256};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::proxies::{Secrets, by_name};
use crate::settings::PRIOR;

/// On a Secret: the profiles that it is for, with the numbers of its contents.
const CONTEXT: &str = "internal.skupper.io/tls-profile-context";
/// On a Secret: which contents the numbers are of. The existing controller keeps that in its memory.
const DIGEST: &str = "internal.skupper.io/tls-profile-digest";
/// Number of earlier versions, if neither sets it.
const USUAL_PRIOR: u64 = 2;
/// Key of the ConfigMap of the router: the profiles of the existing adaptor with their Secrets.
pub const PROFILES: &str = "profiles";

/// A profile of the existing adaptor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// The name of its Secret.
    pub secret: String,
    /// The last number of its contents that is known.
    #[serde(default)]
    pub ordinal: u64,
}

/// Profiles by name.
pub type Profiles = BTreeMap<String, Profile>;

/// The profiles that a ConfigMap has for the existing adaptor.
pub fn profiles(config: &ConfigMap) -> Profiles {
    let data = config.data.as_ref();
    let text = data.and_then(|data| data.get(PROFILES));
    text.and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default()
}

/// An element of the annotation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Element {
    profile_name: String,
    ordinal: u64,
}

/// The numbers of the contents of a Secret, by profile.
fn numbers(secret: &Secret) -> BTreeMap<String, u64> {
    let text = secret.annotations().get(CONTEXT);
    let all: Option<Vec<Element>> = text.and_then(|text| serde_json::from_str(text).ok());
    let all = all.into_iter().flatten();
    all.map(|element| (element.profile_name, element.ordinal))
        .collect()
}

/// True if the existing adaptor takes it for a Secret with certificates, and the router can use them: version 2.2.1 knows one type, and each profile has an authority.
fn is_usable(secret: &Secret) -> bool {
    let authority = secret.data.as_ref().and_then(|data| data.get("ca.crt"));
    let has_authority = authority.is_some_and(|authority| !authority.0.is_empty());
    secret.type_.as_deref() == Some("kubernetes.io/tls") && has_authority
}

/// The annotations that a Secret needs to be used for these profiles, if it lacks any; none for one that the existing adaptor cannot use. The numbers rise with
/// each change of its contents, and never fall.
pub fn annotations(
    secret: &Secret,
    profiles: &[(&str, u64)],
) -> Option<BTreeMap<&'static str, String>> {
    if profiles.is_empty() || !is_usable(secret) {
        return None;
    }
    let (before, digest) = (numbers(secret), digest(secret.data.as_ref()));
    let known = secret.annotations().get(DIGEST);
    let is_changed = known.is_some_and(|known| *known != digest);
    let mut after: BTreeMap<String, u64> = before.clone();
    for (profile, last) in profiles {
        // A Secret that was deleted and made again has other contents than the last one.
        let is_new = !before.contains_key(*profile) && *last > 0 && !is_changed;
        let ordinal = after.entry((*profile).to_owned()).or_default();
        *ordinal = (*ordinal).max(*last) + u64::from(is_new);
    }
    if is_changed {
        after.values_mut().for_each(|ordinal| *ordinal += 1);
    }
    let is_noted = known.is_some_and(|known| *known == digest);
    if after == before && is_noted {
        return None;
    }
    let all = after.into_iter().map(|(profile_name, ordinal)| Element {
        profile_name,
        ordinal,
    });
    let all: Vec<Element> = all.collect();
    let context = json!(all).to_string();
    Some(BTreeMap::from([(CONTEXT, context), (DIGEST, digest)]))
}

fn digest(data: Option<&BTreeMap<String, ByteString>>) -> String {
    let mut hash = Hash::new(&SHA256);
    for (name, content) in data.into_iter().flatten() {
        for part in [name.as_bytes(), &content.0] {
            hash.update(&part.len().to_be_bytes());
            hash.update(part);
        }
    }
    let hash = hash.finish();
    let first = hash.as_ref().iter().take(16);
    first.map(|byte| format!("{byte:02x}")).collect()
}

/// The Secrets of a namespace, and the numbers that were given before.
#[derive(Clone, Debug, Default)]
pub struct Revisions<'a> {
    secrets: Secrets<'a>,
    before: Profiles,
}

impl<'a> Revisions<'a> {
    /// Of these Secrets, and of the configuration as it is.
    pub fn new(secrets: &[&'a Secret], config: Option<&ConfigMap>) -> Self {
        Self {
            secrets: by_name(secrets),
            before: config.map(profiles).unwrap_or_default(),
        }
    }

    /// The Secrets by name.
    pub fn secrets(&self) -> &Secrets<'a> {
        &self.secrets
    }

    /// The number of the contents of a Secret for a profile, if the existing adaptor uses it for that.
    fn numbered(&self, profile: &str, secret: &str) -> Option<u64> {
        let secret = self.secrets.get(secret)?;
        numbers(secret).get(profile).copied()
    }

    /// True if the existing adaptor uses the Secret for the profile.
    pub fn has(&self, profile: &str, secret: &str) -> bool {
        self.numbered(profile, secret).is_some()
    }

    /// Returns the ordinal of a profile's content: the highest that was ever written.
    pub fn ordinal(&self, profile: &str, secret: &str) -> u64 {
        let now = self.numbered(profile, secret);
        let before = self.before.get(profile);
        let before = before.filter(|before| before.secret == secret);
        let before = before.map_or(0, |before| before.ordinal);
        now.unwrap_or_default().max(before)
    }

    /// Adds the numbers of its contents to an entry of a profile, where there are any above 0. `usual` is how many before the last one the Site allows.
    pub fn number_profile(
        &self,
        attributes: &mut Map<String, Value>,
        (profile, secret): (&str, &str),
        usual: Option<&str>,
    ) {
        let ordinal = self.numbered(profile, secret).unwrap_or_default();
        let annotations = self.secrets.get(secret).map(|secret| secret.annotations());
        let own = annotations.and_then(|all| all.get(&format!("skupper.io/{PRIOR}")));
        let own = own.and_then(|own| own.parse().ok());
        let usual = usual.and_then(|usual| usual.parse().ok());
        let prior = own.or(usual).unwrap_or(USUAL_PRIOR);
        let told = [
            ("ordinal", ordinal),
            ("oldestValidOrdinal", ordinal.saturating_sub(prior)),
        ];
        for (name, number) in told.into_iter().filter(|(_, number)| *number > 0) {
            attributes.insert(name.to_owned(), number.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(annotations: &Value, content: &str) -> Secret {
        let annotations = annotations.clone();
        let mut secret: Secret = serde_json::from_value(json!({
            "metadata": { "name": "web", "annotations": annotations }, "type": "kubernetes.io/tls",
        }))
        .unwrap();
        let data = ByteString(content.as_bytes().to_vec());
        secret.data = Some(BTreeMap::from([("ca.crt".to_owned(), data)]));
        secret
    }

    /// The Secret after its annotations were written.
    fn annotated(mut secret: Secret, profiles: &[(&str, u64)]) -> Option<Secret> {
        let more = annotations(&secret, profiles)?;
        let all = secret.metadata.annotations.get_or_insert_default();
        all.extend(more.into_iter().map(|(key, value)| (key.to_owned(), value)));
        Some(secret)
    }

    fn profile_number(secret: &Secret, profile: &str) -> Option<u64> {
        numbers(secret).get(profile).copied()
    }

    #[test]
    fn a_number_rises_with_each_change_of_the_contents_and_with_nothing_else() {
        let mut now = annotated(secret(&json!({}), "0"), &[("web", 0)]).unwrap();
        assert_eq!(profile_number(&now, "web"), Some(0));
        for round in 1..4 {
            assert_eq!(annotations(&now, &[("web", round - 1)]), None);
            now.data = secret(&json!({}), &round.to_string()).data;
            now = annotated(now, &[("web", round - 1)]).unwrap();
            assert_eq!(profile_number(&now, "web"), Some(round));
        }
        // One more profile begins anew, and the others stay.
        let both = annotated(now.clone(), &[("web", 3), ("web-profile", 0)]).unwrap();
        assert_eq!(
            (
                profile_number(&both, "web"),
                profile_number(&both, "web-profile")
            ),
            (Some(3), Some(0))
        );
        // It is deleted and made again.
        let again = annotated(secret(&json!({}), "0"), &[("web", 3)]).unwrap();
        assert_eq!(profile_number(&again, "web"), Some(4));
    }

    #[test]
    fn a_secret_of_the_existing_controller_keeps_its_numbers() {
        let context = json!([{ "profileName": "web", "ordinal": 2 }]).to_string();
        let theirs = secret(&json!({ CONTEXT: context }), "0");
        let ours = annotated(theirs, &[("web", 2)]).unwrap();
        assert_eq!(ours.annotations()[CONTEXT], context);
        assert_eq!(annotations(&ours, &[("web", 2)]), None);
    }

    #[test]
    fn what_the_existing_adaptor_cannot_use_is_left_alone() {
        let mut other = secret(&json!({}), "0");
        assert_eq!(annotations(&other, &[]), None);
        other.type_ = Some("Opaque".to_owned());
        assert_eq!(annotations(&other, &[("web", 0)]), None);
        assert_eq!(annotations(&secret(&json!({}), ""), &[("web", 0)]), None);
        let broken = secret(&json!({ CONTEXT: "{", DIGEST: 1.to_string() }), "0");
        assert!(annotations(&broken, &[("web", 0)]).is_some());
    }

    #[test]
    fn connections_go_on_with_as_many_contents_as_the_secret_or_the_site_says() {
        let context = json!([{ "profileName": "web", "ordinal": 5 }]).to_string();
        let check = |said: Option<&str>, usual: Option<&str>, expected: Value| {
            let mut secret = secret(&json!({ CONTEXT: context }), "0");
            if let Some(said) = said {
                let key = format!("skupper.io/{PRIOR}");
                let all = secret.metadata.annotations.get_or_insert_default();
                all.insert(key, said.to_owned());
            }
            let revisions = Revisions::new(&[&secret], None);
            let mut attributes = Map::new();
            revisions.number_profile(&mut attributes, ("web", "web"), usual);
            assert_eq!(Value::Object(attributes), expected);
        };
        check(None, None, json!({ "ordinal": 5, "oldestValidOrdinal": 3 }));
        check(
            None,
            Some("1"),
            json!({ "ordinal": 5, "oldestValidOrdinal": 4 }),
        );
        check(
            Some("0"),
            Some("1"),
            json!({ "ordinal": 5, "oldestValidOrdinal": 5 }),
        );
        check(Some("x"), Some("9"), json!({ "ordinal": 5 }));
    }
}
