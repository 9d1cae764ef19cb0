//! Configuration entries for the existing skupper-router only, and entries that are omitted for it.
//! Pure.

use std::collections::{BTreeMap, BTreeSet};

use lifecycle_specs_skupper::router::LOCAL_SERVER;
use serde_json::{Map, Value, json};

use super::document::{SiteIdentity, secrets_of};
use super::proxies;
use super::revisions::{Profile, Profiles, Revisions};
use crate::data_plane::Adaptor;
use crate::router::existing::AMQPS;

type Entry = (String, Map<String, Value>);

/// Returns the entries by which the existing router receives changes and serves its state, and its
/// log levels, such as `ROUTER_CORE:debug+,info`.
fn management(levels: Option<&str>) -> Vec<Value> {
    let levels = levels.unwrap_or_default().split(',').map(str::trim);
    let logs = levels.filter(|level| !level.is_empty()).map(|level| {
        let (module, enable) = level.split_once(':').unwrap_or(("DEFAULT", level));
        json!(["log", { "module": module, "enable": enable }])
    });
    let amqp = json!(["listener", { "name": "amqp", "host": "localhost", "port": 5672 }]);
    let amqps = json!(["listener", {
        "name": "amqps", "port": AMQPS, "sslProfile": LOCAL_SERVER, "saslMechanisms": "EXTERNAL",
        "authenticatePeer": true,
    }]);
    [amqp, amqps].into_iter().chain(logs).collect()
}

/// Returns a document for the existing router, with its management, and the profiles of the
/// existing adaptor. That adaptor applies nothing at all while the Secret of one profile is
/// missing. The profile and the entries that name it therefore wait here for their Secrets. The
/// adaptor of this project takes all of it.
pub fn adapted(
    document: &Value,
    site: &SiteIdentity<'_>,
    revisions: &Revisions<'_>,
) -> (Value, Profiles) {
    let mut entries: Vec<Entry> = serde_json::from_value(document.clone()).unwrap_or_default();
    let mut profiles = Profiles::new();
    if site.adaptor == Adaptor::KubeAdaptor {
        let of_profiles = secrets_of(&entries);
        number_profiles(&mut entries, &of_profiles, (site.prior, revisions));
        wait(&mut entries, &of_profiles, revisions);
        let profile = |(profile, secret): (String, String)| {
            let ordinal = revisions.ordinal(&profile, &secret);
            (profile, Profile { secret, ordinal })
        };
        profiles.extend(of_profiles.into_iter().map(profile));
    }
    let all = entries.into_iter();
    let all = all.map(|(entity, attributes)| json!([entity, attributes]));
    (all.chain(management(site.logging)).collect(), profiles)
}

/// Gives each profile the numbers of its contents.
fn number_profiles(
    entries: &mut [Entry],
    of_profiles: &BTreeMap<String, String>,
    (prior, revisions): (Option<&str>, &Revisions<'_>),
) {
    for (entity, attributes) in entries {
        let profile = text(attributes, "name").filter(|_| entity == "sslProfile");
        let Some((profile, secret)) = profile.and_then(|name| of_profiles.get_key_value(name))
        else {
            continue;
        };
        revisions.number_profile(attributes, (profile, secret), prior);
    }
}

/// Removes entries that wait for their Secret.
fn wait(
    entries: &mut Vec<Entry>,
    of_profiles: &BTreeMap<String, String>,
    revisions: &Revisions<'_>,
) {
    let missing = |(profile, secret): &(&String, &String)| {
        *secret != LOCAL_SERVER && !revisions.has(profile, secret)
    };
    let waiting = of_profiles.iter().filter(missing);
    let waiting: BTreeSet<&str> = waiting.map(|(profile, _)| profile.as_str()).collect();
    let waits = |(entity, attributes): &Entry| {
        let of = if entity == "sslProfile" {
            "name"
        } else {
            "sslProfile"
        };
        text(attributes, of).is_some_and(|profile| waiting.contains(profile))
    };
    let waits_too = entries.iter().filter(|entry| waits(entry));
    let waits_too = waits_too.filter(|(entity, _)| entity == "tcpListener");
    let closed: BTreeSet<String> = waits_too
        .filter_map(|(_, attributes)| text(attributes, "name").map(str::to_owned))
        .collect();
    let of_closed = |(entity, attributes): &Entry| {
        let listener = text(attributes, "listener").filter(|_| entity == "listenerAddress");
        listener.is_some_and(|listener| closed.contains(listener))
    };
    let dialled = entries
        .iter()
        .filter(|entry| entry.0 == "connector" && !waits(entry));
    let through: BTreeSet<String> = dialled
        .filter_map(|(_, attributes)| text(attributes, proxies::ENTITY).map(str::to_owned))
        .collect();
    let unused = |(entity, attributes): &Entry| {
        let name = text(attributes, "name").filter(|_| entity == proxies::ENTITY);
        name.is_some_and(|name| !through.contains(name))
    };
    entries.retain(|entry| !waits(entry) && !of_closed(entry) && !unused(entry));
}

fn text<'a>(attributes: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    attributes.get(name)?.as_str()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Secret;
    use lifecycle_specs_skupper::site::Site;

    use super::*;

    /// Returns a Secret whose content has this ordinal for both of its possible profiles.
    fn numbered(name: &str, ordinal: u64) -> Secret {
        let element = |profile: String| json!({ "profileName": profile, "ordinal": ordinal });
        let context = json!([element(name.to_owned()), element(format!("{name}-profile"))]);
        let annotations = json!({ "internal.skupper.io/tls-profile-context": context.to_string() });
        let secret = json!({ "metadata": { "name": name, "annotations": annotations } });
        serde_json::from_value(secret).unwrap()
    }

    #[test]
    fn profiles_have_the_numbers_of_their_secrets_and_the_adaptor_of_this_project_needs_none() {
        let profile = |name: &str| json!(["sslProfile", { "name": name, "certFile": "x" }]);
        let document = json!([profile(LOCAL_SERVER), profile("a"), profile("b")]);
        let (local, a) = (numbered(LOCAL_SERVER, 3), numbered("a", 1));
        let revisions = Revisions::new(&[&local, &a], None);
        let site = Site::default();
        let mut site = SiteIdentity::from_site(&site);
        let (document_of_theirs, profiles) = adapted(&document, &site, &revisions);
        let entries: Vec<Entry> = serde_json::from_value(document_of_theirs).unwrap();
        let found = |name: &str| {
            let mut all = entries.iter().map(|(_, attributes)| attributes);
            all.find(|attributes| text(attributes, "name") == Some(name))
        };
        let ordinal = |name: &str| found(name).map(|attributes| attributes.get("ordinal").cloned());
        assert_eq!(ordinal(LOCAL_SERVER), Some(Some(json!(3))));
        assert_eq!(ordinal("a"), Some(Some(json!(1))));
        assert_eq!(ordinal("b"), None);
        let known = |name: &str| (profiles[name].secret.as_str(), profiles[name].ordinal);
        assert_eq!((known("a"), known("b")), (("a", 1), ("b", 0)));
        site.adaptor = Adaptor::LifecycleRouter;
        let (document, profiles) = adapted(&document, &site, &revisions);
        assert!(profiles.is_empty());
        let text = document.to_string();
        assert!(
            text.contains("\"b\"") && !text.contains("ordinal"),
            "{text}"
        );
    }

    fn check(secrets: &[&str], expected: &[&str]) {
        let profile = |name: &str| json!(["sslProfile", { "name": name, "certFile": "x" }]);
        let document = json!([
            ["router", { "id": "west" }],
            profile(LOCAL_SERVER), profile("a"), profile("b"), profile("east-profile"),
            ["sslProfile", { "name": "c-profile" }],
            ["connector", { "name": "east", "sslProfile": "east-profile", "proxyProfile": "squid" }],
            ["proxyProfile", { "name": "squid", "host": "10.0.0.9" }],
            ["tcpConnector", { "name": "connector/c", "sslProfile": "c-profile" }],
            ["tcpListener", { "name": "listener/a", "sslProfile": "a" }],
            ["tcpListener", { "name": "multiAddress/b", "sslProfile": "b" }],
            ["listenerAddress", { "name": "b/k", "listener": "multiAddress/b" }],
            ["tcpListener", { "name": "listener/plain" }],
        ]);
        let secrets: Vec<Secret> = secrets.iter().map(|secret| numbered(secret, 0)).collect();
        let revisions = Revisions::new(&secrets.iter().collect::<Vec<_>>(), None);
        let site = Site::default();
        let site = SiteIdentity::from_site(&site);
        let (kept, profiles) = adapted(&document, &site, &revisions);
        // The component that numbers Secrets gets all profiles.
        assert_eq!(profiles.len(), 5);
        let kept: Vec<Entry> = serde_json::from_value(kept).unwrap();
        let fixed = |(entity, attributes): &&Entry| {
            let name = text(attributes, "name");
            entity == "router" || [Some(LOCAL_SERVER), Some("amqp"), Some("amqps")].contains(&name)
        };
        assert_eq!(kept.iter().filter(fixed).count(), 4);
        let named = kept.iter().filter(|entry| !fixed(entry));
        let named: Vec<&str> = named.filter_map(|(_, a)| text(a, "name")).collect();
        assert_eq!(named, expected);
    }

    #[test]
    fn what_waits_for_a_secret_is_left_out_and_the_rest_goes_on() {
        check(&[], &["listener/plain"]);
        check(
            &["a", "c"],
            &[
                "a",
                "c-profile",
                "connector/c",
                "listener/a",
                "listener/plain",
            ],
        );
        check(
            &["east"],
            &["east-profile", "east", "squid", "listener/plain"],
        );
        let of_b = ["b", "multiAddress/b", "b/k", "listener/plain"];
        check(&["b", "unheard-of"], &of_b);
    }

    #[test]
    fn levels_of_logging_are_told_by_module() {
        let logs = |levels: &str| management(Some(levels)).split_off(2);
        assert_eq!(logs(""), Vec::<Value>::new());
        let log =
            |module: &str, enable: &str| json!(["log", { "module": module, "enable": enable }]);
        assert_eq!(logs("debug+"), [log("DEFAULT", "debug+")]);
        assert_eq!(
            logs("ROUTER_CORE:debug+, info"),
            [log("ROUTER_CORE", "debug+"), log("DEFAULT", "info")]
        );
    }
}
