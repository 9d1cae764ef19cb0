//! Configurations that are applied when news arrives in an unlucky order.

use std::future::pending;

use k8s_openapi::ByteString;
use rcgen::{CertificateParams, KeyPair};
use serde_json::json;

use super::*;
use crate::router::{Options, Router};
use crate::state::{State, Status};

fn pair() -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["web".to_owned()]).unwrap();
    let certificate = params.self_signed(&key).unwrap();
    (certificate.pem(), key.serialize_pem())
}

fn profile(name: &str) -> serde_json::Value {
    let file = |file: &str| format!("/etc/skupper-router-certs/{name}/{file}");
    json!(["sslProfile", { "name": name, "caCertFile": file("ca.crt"),
        "certFile": file("tls.crt"), "privateKeyFile": file("tls.key") }])
}

fn bytes(text: &str) -> ByteString {
    ByteString(text.as_bytes().to_vec())
}

/// As a router that was killed left it: `web` works, and of `gone` there was no Secret.
fn cached_copy(good: &(String, String)) -> cache::Copy {
    let files = [("web/tls.crt", &good.0), ("web/tls.key", &good.1)];
    cache::Copy {
        document: json!([profile("web"), profile("gone")]).to_string(),
        files: files
            .map(|(path, text)| (path.to_owned(), bytes(text)))
            .into(),
    }
}

fn secret(chain: &str, key: &str) -> Watched<Secret> {
    let data = [("tls.crt", chain), ("tls.key", key)];
    Watched::There(Secret {
        data: Some(data.map(|(key, text)| (key.to_owned(), bytes(text))).into()),
        ..Secret::default()
    })
}

/// Follows a namespace whose API server gives only these answers about Secrets before anything is
/// applied. Returns the state once all profiles are reported.
async fn after(copy: cache::Copy, answers: Vec<(&str, Watched<Secret>)>) -> (Router, State) {
    let config_map: ConfigMapRef = "site/skupper-router".parse().unwrap();
    let router = Router::new(Options::default());
    let mut follower = Follower {
        router: Arc::new(router.clone()),
        known: Known::new(&config_map, Some(copy)),
        applied: None,
        saved: None,
        cache: None,
    };
    let (sender, mut news) = unbounded_channel();
    for (name, watched) in answers {
        let heard = sender.send(News::Secret(name.to_owned(), watched));
        assert!(heard.is_ok());
    }
    let watches = Watches {
        client: lifecycle_client::scripted::client(|_, _, _| pending()),
        config_map,
        sender,
        all: BTreeMap::new(),
    };
    let following = tokio::spawn(async move { follower.run(watches, &mut news).await });
    let mut state = router.state().now();
    while state.entry("sslProfile", "gone").is_none() {
        let wait = Duration::from_secs(60);
        state = router.state().after(&state.revision, wait).await;
    }
    following.abort();
    (router, state)
}

/// Row 57 of the acceptance table. The Secret was rotated to a pair that does not fit, and then the router was killed. As it waits for the
/// first answer about another Secret, it knows that before it has applied anything.
#[tokio::test]
async fn s57_a_pair_that_does_not_fit_leaves_the_kept_one_serving_after_a_restart() {
    let (good, other) = (pair(), pair());
    let broken = secret(&good.0, &other.1);
    let answers = vec![("web", broken), ("gone", Watched::Absent)];
    let (router, state) = after(cached_copy(&good), answers).await;
    let told = &state.entry("sslProfile", "web").unwrap().status;
    assert!(
        matches!(told, Status::Failed(why) if why.contains("does not belong")),
        "{told:?}"
    );
    let slot = router.profile("web").await.unwrap();
    let now = slot.now().expect("the last good pair serves");
    assert!(now.server(false).is_some() && now.server(true).is_none());
}

/// A pair that was removed in the meantime does not come back.
#[tokio::test]
async fn s57_a_pair_whose_secret_is_gone_serves_nobody_after_a_restart() {
    let answers = vec![("web", Watched::Absent), ("gone", Watched::Absent)];
    let (router, _) = after(cached_copy(&pair()), answers).await;
    let slot = router.profile("web").await.unwrap();
    assert!(slot.now().is_none());
}

/// A pair without an authority works, and so does the copy of one.
#[tokio::test(start_paused = true)]
async fn s53_a_kept_pair_without_an_authority_serves_before_the_api_server_answers() {
    let (router, state) = after(cached_copy(&pair()), Vec::new()).await;
    let told = &state.entry("sslProfile", "web").unwrap().status;
    assert_eq!(*told, Status::Up);
    let slot = router.profile("web").await.unwrap();
    assert!(slot.now().is_some_and(|now| now.server(false).is_some()));
}
