//! Certificates: they appear whole, are renewed under open listeners, and degrade only the entries that name them.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use lifecycle_router::api::{Api, Offer, bind};
use lifecycle_router::state::Status;
use lifecycle_router::state::client::{Credentials, SERVER_NAME, fetch_state};
use lifecycle_tests::harness::{Case, eventually};
use lifecycle_tests::named;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use serde_json::{Value, json};

use crate::site::{
    LIMIT, Site, agent_has, certify, changing, listener, profile, secure, turns, write,
};
use crate::support::{AMPLE, Agent, PROTON};

pub(crate) fn cases() -> Vec<Case> {
    named![single_threaded(PROTON):
        a_renewed_certificate_is_loaded_and_its_listener_stays,
        a_profile_that_is_refused_fails_its_listener_without_a_storm,
        the_ordinal_of_the_document_is_kept_and_its_files_are_loaded_all_the_same,
        a_secret_that_is_missing_degrades_only_what_names_it_and_counts_when_it_comes,
        files_of_a_profile_go_after_the_router_has_let_go_of_it,
        the_state_is_served_over_tls_with_the_certificate_of_a_profile,
    ]
}

fn document() -> Value {
    json!([
        profile("web"),
        secure(listener("tls", 1024, "a"), "web"),
        listener("plain", 1025, "b"),
    ])
}

/// Waits until the written certificate is this one.
async fn written(site: &Site, chain: &str) {
    let ask = async || {
        let read = fs::read_to_string(site.file("web/tls.crt"));
        Ok(read.is_ok_and(|read| read == chain).then_some(()))
    };
    eventually("the certificate is written", LIMIT, ask)
        .await
        .unwrap();
}

fn fits(folder: &std::path::Path) -> Option<bool> {
    // One look: the folder that the link leads to now.
    let folder = fs::canonicalize(folder).ok()?;
    let chain = fs::read(folder.join("tls.crt")).ok()?;
    std::thread::yield_now();
    let key = fs::read(folder.join("tls.key")).ok()?;
    let chain = CertificateDer::from_pem_slice(&chain).unwrap();
    let key = PrivateKeyDer::from_pem_slice(&key).unwrap();
    let key = default_provider()
        .key_provider
        .load_private_key(key)
        .unwrap();
    Some(CertifiedKey::new(vec![chain], key).keys_match().is_ok())
}

/// Starts a site whose profile `web` has a certificate, and waits until the router has all of it.
async fn with_certificate(agent: &Agent, document: &Value) -> Site {
    let fill = |source: &std::path::Path| drop(certify(source, "web"));
    let site = Site::start_with(agent, document, fill, AMPLE);
    site.applied(document).await;
    site.wait_for_status("sslProfile", "web", &Status::Up).await;
    site
}

async fn a_renewed_certificate_is_loaded_and_its_listener_stays() {
    let mut agent = Agent::start();
    let document = document();
    let site = with_certificate(&agent, &document).await;
    let path = site.file("web/tls.key").display().to_string();
    let dump = agent.dump();
    assert_eq!(dump["sslProfile"]["web"]["privateKeyFile"], *path);
    changing(&mut agent);
    let folder = site.file("web");
    let (stop, looks) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
    );
    let reading = {
        let (stop, looks) = (stop.clone(), looks.clone());
        std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                if let Some(fits) = fits(&folder) {
                    assert!(fits, "the key does not fit its certificate");
                    looks.fetch_add(1, Ordering::Relaxed);
                }
            }
        })
    };
    for ordinal in 1..=3 {
        let before = site
            .state()
            .entry("sslProfile", "web")
            .unwrap()
            .material
            .clone();
        let (chain, _) = certify(site.source.path(), "web");
        written(&site, &chain).await;
        agent_has(&mut agent, "the ordinal is higher", |dump| {
            dump["sslProfile"]["web"]["ordinal"]
                .as_u64()
                .is_some_and(|now| now >= ordinal)
        })
        .await;
        let state = site
            .until("the material is another", |state| {
                state
                    .entry("sslProfile", "web")
                    .is_some_and(|entry| entry.material != before && entry.status == Status::Up)
            })
            .await;
        assert!(state.entry("tcpListener", "tls").is_some());
    }
    stop.store(true, Ordering::Relaxed);
    reading.join().unwrap();
    assert!(looks.load(Ordering::Relaxed) > 10);
    let changed = changing(&mut agent);
    assert!(
        changed.iter().all(|one| one == "UPDATE sslProfile web"),
        "{changed:?}"
    );
    let loaded = async || {
        let mark = site.file("..unloaded.web");
        Ok((!mark.exists()).then_some(()))
    };
    eventually("the last files are loaded", LIMIT, loaded)
        .await
        .unwrap();
    let ordinal = agent.dump()["sslProfile"]["web"]["ordinal"].clone();
    let requests = turns(&mut agent, 5).await;
    assert!(
        requests
            .iter()
            .all(|one| one["operation"] == "QUERY" || one["body"]["ordinal"] == ordinal),
        "{requests:?}"
    );
    let names = fs::read_dir(site.output.path()).unwrap().count();
    assert_eq!(names, 2, "the link, and the folder that it leads to");
}

async fn a_profile_that_is_refused_fails_its_listener_without_a_storm() {
    let mut agent = Agent::start();
    let mut document = document();
    for _ in 0..3 {
        agent.run("refuse CREATE sslProfile 400 cannot load it");
    }
    let fill = |source: &std::path::Path| drop(certify(source, "web"));
    let site = Site::start_with(&agent, &document, fill, AMPLE);
    let words = "CREATE sslProfile `web`: the router refused it with status 400: cannot load it";
    assert_eq!(site.failed("sslProfile", "web").await, words);
    assert_eq!(site.failed("tcpListener", "tls").await, words);
    site.wait_for_status("tcpListener", "plain", &Status::Idle)
        .await;
    // A change of the document tries again at once, and after a pause each time.
    document[2][1]["address"] = "c".into();
    site.edit(&document);
    site.wait_for_status("tcpListener", "tls", &Status::Idle)
        .await;
    site.wait_for_status("sslProfile", "web", &Status::Up).await;
    let sent = changing(&mut agent);
    let creations = |of: &str| sent.iter().filter(|one| *one == of).count();
    assert_eq!(creations("CREATE sslProfile web"), 4);
    assert_eq!(creations("CREATE tcpListener tls"), 1, "{sent:?}");
    assert_eq!(creations("DELETE tcpListener tls"), 0);
}

async fn the_ordinal_of_the_document_is_kept_and_its_files_are_loaded_all_the_same() {
    let mut agent = Agent::start();
    let mut document = document();
    document[0][1]["ordinal"] = 7.into();
    document[0][1]["oldestValidOrdinal"] = 6.into();
    let fill = |source: &std::path::Path| drop(certify(source, "web"));
    let site = Site::start_with(&agent, &document, fill, AMPLE);
    site.applied(&document).await;
    assert_eq!(agent.dump()["sslProfile"]["web"]["ordinal"], 7);
    changing(&mut agent);
    let (chain, _) = certify(site.source.path(), "web");
    written(&site, &chain).await;
    let agent_cell = std::cell::RefCell::new(&mut agent);
    let ask = async || {
        let sent = changing(&mut agent_cell.borrow_mut());
        Ok((!sent.is_empty()).then_some(sent))
    };
    let sent = eventually("the files are loaded", LIMIT, ask)
        .await
        .unwrap();
    assert_eq!(sent[0], "UPDATE sslProfile web");
    assert_eq!(agent.dump()["sslProfile"]["web"]["ordinal"], 7);
    document[0][1]["ordinal"] = 8.into();
    site.edit(&document);
    agent_has(&mut agent, "the next ordinal", |dump| {
        dump["sslProfile"]["web"]["ordinal"] == 8
    })
    .await;
}

async fn a_secret_that_is_missing_degrades_only_what_names_it_and_counts_when_it_comes() {
    let mut agent = Agent::start();
    let document = document();
    let mut site = Site::new(&agent, &document);
    let why = site.failed("tcpListener", "tls").await;
    assert!(
        why.contains("sslProfile `web`") && why.contains("web/"),
        "{why}"
    );
    site.failed("sslProfile", "web").await;
    site.wait_for_status("tcpListener", "plain", &Status::Idle)
        .await;
    assert_eq!(agent.dump()["tcpListener"]["tls"], Value::Null);
    assert_eq!(agent.dump()["tcpListener"]["plain"]["port"], "1025");
    let (chain, key) = certify(site.source.path(), "web");
    site.wait_for_status("tcpListener", "tls", &Status::Idle)
        .await;
    site.wait_for_status("sslProfile", "web", &Status::Up).await;
    assert_eq!(agent.dump()["tcpListener"]["tls"]["sslProfile"], "web");
    written(&site, &chain).await;
    // The key belongs to another certificate: the earlier valid files stay, also after a restart
    // of the adaptor.
    write(
        site.source.path(),
        "certs/web/tls.key",
        &crate::site::pair("other").1,
    );
    let why = site.failed("sslProfile", "web").await;
    assert!(why.contains("does not belong to the certificate"), "{why}");
    assert!(!why.contains("PRIVATE"), "no key is told");
    site.wait_for_status("tcpListener", "tls", &Status::Idle)
        .await;
    changing(&mut agent);
    site.restart(&agent);
    site.failed("sslProfile", "web").await;
    site.wait_for_status("tcpListener", "tls", &Status::Idle)
        .await;
    assert_eq!(changing(&mut agent), Vec::<String>::new());
    let read = fs::read_to_string(site.file("web/tls.key")).unwrap();
    assert_eq!(read, key);
}

async fn files_of_a_profile_go_after_the_router_has_let_go_of_it() {
    let mut agent = Agent::start();
    let document = document();
    let site = with_certificate(&agent, &document).await;
    agent.run("refuse DELETE sslProfile 400 it is in use");
    let rest = json!([document[2].clone()]);
    site.edit(&rest);
    let ask = async || Ok((fs::read_dir(site.output.path()).unwrap().count() == 0).then_some(()));
    eventually("the files are gone", LIMIT, ask).await.unwrap();
    assert_eq!(agent.dump()["sslProfile"], json!({}));
    let deletions = changing(&mut agent);
    let deletions = deletions
        .iter()
        .filter(|one| *one == "DELETE sslProfile web");
    assert_eq!(deletions.count(), 2, "the files stayed for the second try");
}

async fn the_state_is_served_over_tls_with_the_certificate_of_a_profile() {
    let agent = Agent::start();
    let document = json!([profile(SERVER_NAME), listener("l", 1024, "a")]);
    // A stranger's certificate of the same name comes from another authority.
    let mut pairs = Vec::new();
    let fill = |source: &std::path::Path| pairs.push(certify(source, SERVER_NAME));
    let site = Site::start_with(&agent, &document, fill, AMPLE);
    pairs.push(crate::site::pair(SERVER_NAME));
    let socket = bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let at = socket.local_addr().unwrap();
    let api = Api::new(site.adaptor.clone(), Offer::All);
    let serving = tokio::spawn(api.serve_tls(socket, SERVER_NAME.to_owned()));
    site.applied(&document).await;
    let credentials = |at: usize| Credentials {
        authority: pairs[0].0.clone().into_bytes(),
        certificate: pairs[at].0.clone().into_bytes(),
        key: pairs[at].1.clone().into_bytes(),
    };
    let state = fetch_state(at, &credentials(0)).await.unwrap();
    assert_eq!(
        state.entry("tcpListener", "l").unwrap().status,
        Status::Idle
    );
    assert_eq!(state, site.state());
    assert!(fetch_state(at, &credentials(1)).await.is_err());
    serving.abort();
}
