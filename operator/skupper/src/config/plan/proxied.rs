//! Links through a proxy on the existing router.

use k8s_openapi::api::core::v1::Secret;
use lifecycle_runtime::Readable;
use serde_json::json;

use super::tests::{SITE, link};
use super::*;
use crate::config::kept::Unknown;

/// On the existing router a Link is dialled through the proxy that it names, once the Secret of the
/// proxy contains its address.
#[test]
fn links_share_a_proxy_which_one_that_cannot_be_read_keeps() {
    let through = |name: &str| {
        let mut link = link(name, "east");
        let settings = [("proxy-configuration".to_owned(), "squid".to_owned())];
        link.spec.settings = Some(settings.into());
        link
    };
    let (a, b) = (through("a"), through("b"));
    let site = SiteIdentity {
        plane: DataPlane::SkupperRouter,
        ..SITE
    };
    let squid = json!({ "metadata": { "name": "squid" }, "data": { "host": "MTAuMC4wLjk=", "port": "MzEyOA==" } });
    let squid: Secret = serde_json::from_value(squid).expect("it is a Secret");
    let numbers = json!([{ "profileName": "east-profile", "ordinal": 0 }]).to_string();
    let annotations = json!({ "internal.skupper.io/tls-profile-context": numbers });
    let east = json!({ "metadata": { "name": "east", "annotations": annotations } });
    let east: Secret = serde_json::from_value(east).expect("it is a Secret");
    let planned = |links: &[&Link], kept: &RetainedConfig, secrets: &[&Secret]| -> ConfigMap {
        let secrets = Revisions::new(secrets, None);
        let planned = super::router_config(
            (&site, &secrets),
            (&PriorDecision::default(), kept),
            (&[], &[]),
            (&[], links, &[]),
        );
        serde_json::from_value(planned.as_json().clone()).expect("it is a ConfigMap")
    };
    let entries = |map: &ConfigMap| -> Vec<String> {
        let all = router_config::entries(map).into_iter();
        let of_links = all.filter(|(e, _)| ["connector", "proxyProfile"].contains(&e.as_str()));
        let named = of_links.map(|(e, entry)| {
            let name = entry["name"].as_str().expect("it is a text");
            format!("{e}/{name}")
        });
        named.collect()
    };
    let both = [&east, &squid];
    let all = planned(&[&a, &b], &RetainedConfig::default(), &both);
    let expected = ["connector/a", "connector/b", "proxyProfile/squid"];
    assert_eq!(entries(&all), expected);
    let wanted = needed((&[], &[]), (&[], &[]), (&[&a, &b], &[]));
    assert_eq!(wanted.into_iter().collect::<Vec<_>>(), ["east", "squid"]);
    for secrets in [&both[..1], &both[1..], &[]] {
        let none = planned(&[&a], &RetainedConfig::default(), secrets);
        assert_eq!(entries(&none), Vec::<String>::new());
    }
    let flawed = Readable::flawed(a.metadata.clone(), "odd".to_owned(), None);
    let unknown = Unknown::new((&[], &[]), (&[], &[&flawed]), (&[], &[]), &[]);
    let kept = RetainedConfig::from_config_map(Some(&all), &unknown);
    assert_eq!(entries(&planned(&[&b], &kept, &both)), expected);
    let alone = planned(&[], &kept, &both[..1]);
    assert_eq!(entries(&alone), ["connector/a", "proxyProfile/squid"]);
}
