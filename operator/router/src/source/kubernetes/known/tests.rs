//! Snapshots that follow from news.

use serde_json::json;

use super::*;

fn config_map() -> ConfigMapRef {
    "site/skupper-router".parse().unwrap()
}

fn map(text: &str) -> Watched<ConfigMap> {
    let data = BTreeMap::from([(DOCUMENT.to_owned(), text.to_owned())]);
    Watched::There(ConfigMap {
        data: Some(data),
        ..ConfigMap::default()
    })
}

fn secret(keys: &[&str]) -> Watched<Secret> {
    let data = keys
        .iter()
        .map(|key| ((*key).to_owned(), ByteString(key.as_bytes().to_vec())));
    Watched::There(Secret {
        data: Some(data.collect()),
        ..Secret::default()
    })
}

fn document() -> String {
    let pair = json!({"name": "web", "caCertFile": "/etc/skupper-router-certs/web/ca.crt",
        "certFile": "/etc/skupper-router-certs/web/tls.crt", "privateKeyFile": "/etc/skupper-router-certs/web/tls.key"});
    let authority = json!({"name": "back-profile", "caCertFile": "/etc/skupper-router-certs/back-profile/ca.crt"});
    json!([["sslProfile", pair], ["sslProfile", authority]]).to_string()
}

/// Returns the knowledge of the document, with its Secrets requested.
fn known() -> Known {
    let mut known = Known::new(&config_map(), None);
    known.document(map(&document()));
    known.keep_secrets(&known.secrets());
    known
}

#[test]
fn the_document_alone_says_which_secrets_there_are() {
    let known = known();
    let names: Vec<String> = known.secrets().into_iter().collect();
    assert_eq!(names, ["back", "web"]);
}

#[test]
fn a_document_waits_for_the_first_answer_about_each_secret() {
    let mut known = known();
    assert!(known.waits());
    known.secret("web", Watched::Absent);
    assert!(known.waits());
    known.secret("back", Watched::Unknown("forbidden".to_owned()));
    assert!(!known.waits());
    let files = known.snapshot().unwrap().files;
    let gone = MissingFile::Gone("TLS credentials secret \"web\" not found".to_owned());
    assert_eq!(files["web/tls.key"], Err(gone));
    assert_eq!(
        files["back-profile/ca.crt"],
        Err(MissingFile::Unread("forbidden".to_owned()))
    );
    known.secret("back", secret(&["ca.crt"]));
    known.secret("stranger", secret(&["ca.crt"]));
    let files = known.snapshot().unwrap().files;
    assert_eq!(files["back-profile/ca.crt"], Ok(b"ca.crt".to_vec()));
    // A failed watch brings no new knowledge.
    known.secret("back", Watched::Unknown("gone away".to_owned()));
    assert_eq!(known.snapshot().unwrap().files, files);
}

#[test]
fn a_document_stays_whatever_becomes_of_its_configmap() {
    let mut known = known();
    let before = known.snapshot();
    for (news, words) in [
        (Watched::Absent, "ConfigMap site/skupper-router not found"),
        (
            map("[["),
            "cannot use ConfigMap site/skupper-router: the configuration document is no JSON",
        ),
        (
            Watched::There(ConfigMap::default()),
            "has no `skrouterd.json`",
        ),
        (
            Watched::Unknown("no answer".to_owned()),
            "has no `skrouterd.json`",
        ),
    ] {
        known.document(news);
        assert!(
            known.error().unwrap().contains(words),
            "{:?}",
            known.error()
        );
        assert_eq!(known.snapshot(), before);
    }
    known.document(map(&document()));
    assert_eq!((known.error(), known.snapshot()), (None, before));
    known.document(Watched::Unknown("no answer".to_owned()));
    assert_eq!(known.error(), None);
    let mut empty = Known::new(&config_map(), None);
    empty.document(Watched::Unknown("no answer".to_owned()));
    assert_eq!(
        empty.error(),
        Some("cannot read ConfigMap site/skupper-router: no answer")
    );
    assert_eq!(empty.snapshot(), None);
}

#[test]
fn a_pair_needs_no_authority_and_an_authority_does() {
    let mut known = known();
    known.secret("web", secret(&["tls.crt", "tls.key"]));
    known.secret("back", secret(&["tls.crt", "tls.key"]));
    let snapshot = known.snapshot().unwrap();
    let web = snapshot.desired.profiles["web"].wanted.as_ref().unwrap();
    assert_eq!((web.ca.as_deref(), web.pair.is_some()), (None, true));
    assert!(!snapshot.files.contains_key("web/ca.crt"));
    let lack = MissingFile::Unread("Secret `back` has no `ca.crt`".to_owned());
    assert_eq!(snapshot.files["back-profile/ca.crt"], Err(lack));
}

#[test]
fn what_works_is_kept_and_what_is_gone_is_not() {
    let state = |web: Status, back: Status| {
        let entry = |name: &str, status| crate::state::EntryReport {
            entity: "sslProfile".into(),
            name: name.to_owned(),
            status,
            ..crate::state::EntryReport::default()
        };
        State {
            entries: vec![entry("web", web), entry("back-profile", back)],
            ..State::default()
        }
    };
    let failed = || Status::Failed("broken".to_owned());
    let mut known = known();
    known.secret("web", secret(&["ca.crt", "tls.crt", "tls.key"]));
    known.secret("back", secret(&["ca.crt"]));
    let copy = known.copy(&state(Status::Up, failed())).unwrap();
    let names: Vec<&str> = copy.files.keys().map(String::as_str).collect();
    assert_eq!(names, ["web/ca.crt", "web/tls.crt", "web/tls.key"]);
    // Renewed, and no good: the copy stays.
    known.secret("web", secret(&["tls.crt"]));
    assert_eq!(known.copy(&state(failed(), failed())).unwrap(), copy);
    // A restart serves it before the API server answers, and when it does not.
    let mut again = Known::new(&config_map(), Some(copy.clone()));
    again.keep_secrets(&again.secrets());
    again.secret("web", Watched::Unknown("no answer".to_owned()));
    let files = again.snapshot().unwrap().files;
    assert_eq!(files["web/tls.key"], Ok(b"tls.key".to_vec()));
    assert!(files["back-profile/ca.crt"].is_err());
    assert!(again.waits(), "of `back` nothing is kept");
    again.secret("web", Watched::Absent);
    let copy = again.copy(&state(failed(), failed())).unwrap();
    assert!(copy.files.is_empty());
    let broken = Copy {
        document: "[".to_owned(),
        ..copy
    };
    assert_eq!(Known::new(&config_map(), Some(broken)).snapshot(), None);
}

/// A document with a proxy, for a data plane that dials through proxies or not.
fn proxied(has_proxies: bool, copy: Option<Copy>) -> Known {
    let document = json!([["proxyProfile", {
        "name": "squid", "username": "me", "password": "file:/etc/skupper-router-proxies/squid/password.txt",
    }]]);
    let mut known = Known::new(&config_map(), copy).with_proxies(has_proxies);
    known.document(map(&document.to_string()));
    known.keep_secrets(&known.secrets());
    known
}

#[test]
fn the_password_of_a_proxy_is_read_by_who_dials_through_it() {
    let password = |known: &Known| known.snapshot().unwrap().files["squid/password.txt"].clone();
    let unread = |why: &str| Err(MissingFile::Unread(why.to_owned()));
    let idle = proxied(false, None);
    assert_eq!((idle.secrets(), idle.waits()), (BTreeSet::new(), false));
    assert!(idle.snapshot().unwrap().files.is_empty());
    let mut known = proxied(true, None);
    assert_eq!(known.secrets(), BTreeSet::from(["squid".to_owned()]));
    assert!(known.waits());
    assert_eq!(
        password(&known),
        unread("the API server has not answered yet")
    );
    known.secret("squid", Watched::Unknown("forbidden".to_owned()));
    assert!(!known.waits());
    assert_eq!(password(&known), unread("forbidden"));
    known.secret("squid", secret(&["username"]));
    assert_eq!(password(&known), unread("Secret `squid` has no `password`"));
    known.secret("squid", secret(&["password"]));
    assert_eq!(password(&known), Ok(b"password".to_vec()));
    let copy = known.copy(&State::default());
    known.secret("squid", secret(&["username"]));
    assert_eq!(known.copy(&State::default()), copy, "what was good is kept");
    let mut again = proxied(true, copy);
    assert!(!again.waits());
    assert_eq!(password(&again), Ok(b"password".to_vec()));
    again.secret("squid", Watched::Absent);
    let gone = "Secret \"squid\" not found for proxy configuration";
    assert_eq!(password(&again), Err(MissingFile::Gone(gone.to_owned())));
    assert!(again.copy(&State::default()).unwrap().files.is_empty());
}
