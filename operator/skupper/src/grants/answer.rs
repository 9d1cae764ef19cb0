//! Content given for a grant: a Secret and Links, as documents of YAML, in the format that the
//! existing implementation writes and reads. Content from another site is checked against bounds.
//! Only the parts that make a Link count. Pure.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::ByteString;
use lifecycle_specs_skupper::access_token::{Given, GivenLink};
use lifecycle_specs_skupper::site::Endpoint;
use serde_json::{Value, json};
use thiserror::Error;

use crate::pki::credentials::Credentials;

/// The largest answer.
pub const LARGEST: usize = 256 * 1024;
/// Routers of one site, and ways to reach one of them.
const MOST: usize = 16;
/// Files in the Secret of a Link.
pub const FILES: [&str; 3] = ["ca.crt", "tls.crt", "tls.key"];

/// The endpoints of a site that links lead to, by the router that they reach.
pub fn groups(endpoints: &[Endpoint]) -> Vec<Vec<Endpoint>> {
    let mut groups: BTreeMap<&str, Vec<Endpoint>> = BTreeMap::new();
    for endpoint in endpoints {
        let role = endpoint.name.as_deref().unwrap_or_default();
        if ["inter-router", "edge"].contains(&role) {
            let group = endpoint.group.as_deref().unwrap_or_default();
            groups.entry(group).or_default().push(endpoint.clone());
        }
    }
    groups.into_values().collect()
}

/// Returns the content given to a token of this name.
pub fn write(name: &str, credentials: &Credentials, groups: &[Vec<Endpoint>]) -> String {
    let encoded = |text: &str| json!(ByteString(text.as_bytes().to_vec()));
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": { "name": name }, "type": "kubernetes.io/tls",
        "data": {
            "ca.crt": encoded(&credentials.authority),
            "tls.crt": encoded(&credentials.certificate),
            "tls.key": encoded(&credentials.key),
        },
    });
    let links = groups.iter().enumerate().map(|(number, endpoints)| {
        json!({
            "apiVersion": "skupper.io/v2alpha1", "kind": "Link",
            "metadata": { "name": link_name(name, number, groups.len()) },
            "spec": { "endpoints": endpoints, "tlsCredentials": name },
        })
    });
    let documents = [secret].into_iter().chain(links);
    let texts = documents.map(|document| {
        let text = serde_saphyr::to_string(&document).expect("texts and lists can be written");
        format!("---\n{}\n", text.trim_end())
    });
    texts.collect()
}

fn link_name(name: &str, number: usize, of: usize) -> String {
    match of {
        1 => name.to_owned(),
        _ => format!("{name}-{}", number + 1),
    }
}

/// Why an answer makes no Link.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum Wrong {
    /// It is no YAML.
    #[error("it is no YAML")]
    Yaml,
    /// The number of Secrets is not one.
    #[error("it has {0} Secrets, and not one")]
    Secrets(usize),
    /// The Secret lacks a file.
    #[error("its Secret has no `{0}`")]
    File(&'static str),
    /// The number of its Links is none that makes sense.
    #[error("it has {0} Links, and not between 1 and {MOST}")]
    Links(usize),
    /// A Link leads nowhere, or to too many places.
    #[error("a Link of it has {0} endpoints, and not between 1 and {MOST}")]
    Endpoints(usize),
    /// A Link cannot be read.
    #[error("a Link of it cannot be read")]
    Link,
}

/// Parses the content that another site has given to a token of this name. Its own names of objects
/// do not count: this site names them.
///
/// # Errors
/// It makes no Link.
pub fn read(text: &str, name: &str) -> Result<Given, Wrong> {
    let documents: Vec<Value> = serde_saphyr::from_multiple(text).map_err(|_| Wrong::Yaml)?;
    let of = |kind: &str| -> Vec<&Value> {
        let all = documents.iter();
        all.filter(|document| document["kind"] == kind).collect()
    };
    let secrets = of("Secret");
    let [secret] = secrets[..] else {
        return Err(Wrong::Secrets(secrets.len()));
    };
    let mut files = BTreeMap::new();
    for file in FILES {
        let bytes = serde_json::from_value(secret["data"][file].clone());
        let text = bytes
            .ok()
            .and_then(|bytes: ByteString| String::from_utf8(bytes.0).ok());
        let text = text.filter(|text| !text.is_empty());
        files.insert(file.to_owned(), text.ok_or(Wrong::File(file))?);
    }
    let links = of("Link");
    if !(1..=MOST).contains(&links.len()) {
        return Err(Wrong::Links(links.len()));
    }
    let count = links.len();
    let link = |(number, link): (usize, &&Value)| {
        let spec = &link["spec"];
        let endpoints: Vec<Endpoint> =
            serde_json::from_value(spec["endpoints"].clone()).map_err(|_| Wrong::Link)?;
        if !(1..=MOST).contains(&endpoints.len()) {
            return Err(Wrong::Endpoints(endpoints.len()));
        }
        Ok(GivenLink {
            name: link_name(name, number, count),
            endpoints,
            cost: spec["cost"].as_i64().filter(|cost| *cost > 0),
        })
    };
    let links = links.iter().enumerate().map(link);
    Ok(Given {
        links: links.collect::<Result<_, _>>()?,
        files,
    })
}

/// The names of Links.
pub fn names(links: &[GivenLink]) -> BTreeSet<String> {
    links.iter().map(|link| link.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    fn credentials() -> Credentials {
        let text = |name: &str| format!("-----BEGIN {name}-----\nYWJj\n-----END {name}-----\n");
        Credentials {
            authority: text("A"),
            certificate: text("C"),
            key: text("K"),
        }
    }

    fn endpoint(name: &str, group: &str) -> Endpoint {
        Endpoint {
            name: Some(name.to_owned()),
            host: Some("west.example.com".to_owned()),
            port: Some("55671".to_owned()),
            group: Some(group.to_owned()),
        }
    }

    #[test]
    fn what_is_given_is_read_back() {
        let one = groups(&[
            endpoint("inter-router", "r"),
            endpoint("edge", "r"),
            endpoint("amqps", "r"),
        ]);
        let text = write("west", &credentials(), &one);
        assert!(text.starts_with("---\napiVersion: v1\n"), "{text}");
        let given = read(&text, "west").unwrap();
        let expected = GivenLink {
            name: "west".to_owned(),
            endpoints: vec![endpoint("inter-router", "r"), endpoint("edge", "r")],
            cost: None,
        };
        assert_eq!(given.links, [expected]);
        assert_eq!(given.files["tls.key"], credentials().key);
        assert_eq!(given.files.keys().collect::<Vec<_>>(), FILES);
    }

    #[test]
    fn each_router_of_a_site_is_a_link() {
        let two = groups(&[
            endpoint("edge", "b"),
            endpoint("inter-router", "a"),
            endpoint("inter-router", "b"),
        ]);
        let given = read(&write("west", &credentials(), &two), "mine").unwrap();
        let names: Vec<_> = given.links.iter().map(|l| l.name.as_str()).collect();
        assert_eq!(names, ["mine-1", "mine-2"]);
        assert_eq!(given.links[0].endpoints, [endpoint("inter-router", "a")]);
        assert_eq!(given.links[1].endpoints.len(), 2);
    }

    #[test]
    fn what_the_replaced_implementation_writes_is_read() {
        let text = "---\napiVersion: v1\ndata:\n  ca.crt: YQ==\n  tls.crt: Yg==\n  tls.key: Yw==\nkind: Secret\nmetadata:\n  creationTimestamp: null\n  name: other\n  annotations: {a: b}\ntype: kubernetes.io/tls\n---\napiVersion: skupper.io/v2alpha1\nkind: Link\nmetadata:\n  creationTimestamp: null\n  name: other\nspec:\n  cost: 3\n  endpoints:\n  - {group: skupper-router, host: 10.0.0.1, name: inter-router, port: \"55671\"}\n  tlsCredentials: other\nstatus: {}\n";
        let given = read(text, "mine").unwrap();
        assert_eq!(
            (given.links[0].name.as_str(), given.links[0].cost),
            ("mine", Some(3))
        );
        assert_eq!(given.files["ca.crt"], "a");
    }

    #[test]
    fn what_makes_no_link_is_refused() {
        let one = groups(&[endpoint("inter-router", "r")]);
        let good = write("west", &credentials(), &one);
        let secret = good.split("---\n").nth(1).unwrap();
        let check = |text: &str, wrong: Wrong| assert_eq!(read(text, "west").err(), Some(wrong));
        check("a: [", Wrong::Yaml);
        check("", Wrong::Secrets(0));
        check("kind: Pod", Wrong::Secrets(0));
        check(&format!("{good}---\n{secret}"), Wrong::Secrets(2));
        check(&format!("---\n{secret}"), Wrong::Links(0));
        check(&good.replace("tls.key", "other"), Wrong::File("tls.key"));
        check(
            &good
                .replace("tlsCredentials", "other")
                .replace("endpoints:", "ends:"),
            Wrong::Link,
        );
        let many: Vec<_> = (0..17).map(|n| endpoint("edge", &n.to_string())).collect();
        check(
            &write("west", &credentials(), &groups(&many)),
            Wrong::Links(17),
        );
        check(
            &write("west", &credentials(), &[vec![]]),
            Wrong::Endpoints(0),
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(11), ..ProptestConfig::default() })]

        #[test]
        fn no_answer_makes_it_panic(text in "\\PC{0,200}", cut in 0_usize..2000, piece in "[-a-z:{}\\[\\]\"&*!|>\n ]{0,12}") {
            let _any = read(&text, "west");
            let mut good = write("west", &credentials(), &groups(&[endpoint("edge", "r")]));
            let at = cut.min(good.len());
            if good.is_char_boundary(at) {
                good.insert_str(at, &piece);
                let _changed = read(&good, "west");
                let _cut = read(&good[..at], "west");
            }
        }
    }
}
