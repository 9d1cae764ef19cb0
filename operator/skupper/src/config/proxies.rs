//! The proxies through which Links of the existing router are dialled, each as described by the
//! Secret of its name. Pure.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use lifecycle_router::config::Host;
use lifecycle_specs_skupper::link::{Link, LinkSpec};
use serde_json::{Map, Value, json};

use super::document::ConfigEntry;
use crate::router::existing::PROXIES;
use crate::settings::named;

/// The setting that names the Secret of a proxy.
const SETTING: &str = "proxy-configuration";

/// The entity of a proxy.
pub const ENTITY: &str = "proxyProfile";

/// Message of a Link whose proxy has no Secret, in the words of the existing controller.
pub const MISSING: &str = "Secret not found for proxy configuration";

/// Secrets by name.
pub type Secrets<'a> = BTreeMap<String, &'a Secret>;

/// The Secrets of a namespace by name.
pub fn by_name<'a>(secrets: &[&'a Secret]) -> Secrets<'a> {
    let named = secrets.iter().map(|secret| (secret.name_any(), *secret));
    named.collect()
}

/// The proxy that a Link names.
pub fn named_by(spec: &LinkSpec) -> Option<&str> {
    named(spec.settings.as_ref()?.get(SETTING))
}

/// A text of a Secret; absent if it is empty, or no text.
fn text<'a>(secret: &'a Secret, key: &str) -> Option<&'a str> {
    let text = std::str::from_utf8(&secret.data.as_ref()?.get(key)?.0).ok()?;
    Some(text).filter(|text| !text.is_empty())
}

/// Why a Link cannot be dialled through a proxy with this Secret.
pub fn wrong(name: &str, secret: Option<&Secret>) -> Option<String> {
    let Some(secret) = secret else {
        return Some(MISSING.to_owned());
    };
    let of = |key: &str| text(secret, key).unwrap_or_default();
    let (host, port) = (of("host"), of("port"));
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit())
        && port.parse::<u16>().is_ok_and(|port| port > 0);
    let said = if Host::parse(host.to_owned()).is_err() {
        format!("has host \"{host}\", which is neither an IP address nor a host name")
    } else if !is_port {
        format!("has port \"{port}\", which is no port")
    } else if !of("username").is_empty() && of("password").is_empty() {
        "has a username and no password".to_owned()
    } else {
        return None;
    };
    Some(format!(
        "Secret \"{name}\" of spec.settings.proxy-configuration {said}: set host and port of the proxy, and both username and password or neither"
    ))
}

/// The entries of the proxies of these Links. The password is in none: the program beside the router writes it to the file.
pub fn entries(links: &[&Link], secrets: &Secrets<'_>) -> Vec<ConfigEntry> {
    let names: BTreeSet<&str> = links.iter().filter_map(|l| named_by(&l.spec)).collect();
    let known = names.into_iter();
    let known = known.filter_map(|name| Some(entry(name, secrets.get(name)?)));
    known.collect()
}

fn entry(name: &str, secret: &Secret) -> ConfigEntry {
    let mut attributes = Map::from_iter([("name".to_owned(), Value::from(name))]);
    for key in ["host", "port", "username"] {
        attributes.extend(text(secret, key).map(|text| (key.to_owned(), text.into())));
    }
    if attributes.contains_key("username") {
        let file = json!(format!("file:{PROXIES}/{name}/password.txt"));
        attributes.insert("password".to_owned(), file);
    }
    (ENTITY, attributes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(data: Value) -> Secret {
        let mut secret = Secret::default();
        let data: BTreeMap<String, String> = serde_json::from_value(data).unwrap();
        let bytes = |text: String| k8s_openapi::ByteString(text.into_bytes());
        let data = data.into_iter().map(|(key, text)| (key, bytes(text)));
        secret.data = Some(data.collect());
        secret
    }

    fn good() -> Value {
        json!({ "host": "proxy.example.com", "port": "3128", "username": "me", "password": "s3cret" })
    }

    #[test]
    fn what_is_wrong_with_a_proxy_is_told_with_its_secret() {
        let check = |key: &str, value: Value, part: &str| {
            let mut data = good();
            data[key] = value;
            let said = wrong("squid", Some(&secret(data)));
            let said = said.unwrap_or_default();
            assert!(said.contains(part), "{said}");
            assert_eq!(said.is_empty(), part.is_empty(), "{said}");
            assert!(!said.contains("s3cret"), "{said}");
        };
        check("host", json!("10.0.0.9"), "");
        check("host", json!(""), "Secret \"squid\" of spec.settings");
        check("host", json!("{bad}"), "host \"{bad}\"");
        for port in ["", "0", "70000", "+1", "many"] {
            check("port", json!(port), &format!("port \"{port}\""));
        }
        check("password", json!(""), "a username and no password");
        check("username", json!(""), "");
        assert_eq!(wrong("squid", None).as_deref(), Some(MISSING));
    }

    #[test]
    fn a_password_is_in_the_file_alone() {
        let (entity, attributes) = entry("squid", &secret(good()));
        let expected = json!({
            "name": "squid", "host": "proxy.example.com", "port": "3128", "username": "me",
            "password": "file:/etc/skupper-router-proxies/squid/password.txt",
        });
        assert_eq!((entity, Value::from(attributes)), (ENTITY, expected));
        let open = secret(json!({ "host": "h", "port": "1", "password": "s3cret" }));
        let expected = json!({ "name": "squid", "host": "h", "port": "1" });
        assert_eq!(Value::from(entry("squid", &open).1), expected);
    }
}
