//! How a site begins, as far as its tasks are concerned.

use std::pin::pin;
use std::sync::mpsc;

use tokio::runtime::Builder;
use tokio::task::spawn_blocking;

use kube::ResourceExt as _;
use kube::api::PostParams;

use super::*;
use crate::access_token::TOKEN;
use crate::grants::redemptions::{FORGOTTEN, REDEMPTIONS};

fn options(directory: &Path) -> args::SiteArgs {
    args::SiteArgs {
        directory: directory.to_owned(),
        namespace: "default".to_owned(),
        host: None,
        grant_server_address: None,
        grace: Duration::ZERO,
    }
}

fn write(directory: &Path, path: &str, text: &str) {
    let path = directory.join(path);
    fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
    fs::write(path, text).expect("a file");
}

/// If files are slow, the controller, the router and the probes must not wait for them.
#[test]
fn no_task_waits_for_what_is_known_of_a_site() {
    let directory = tempfile::tempdir().expect("a folder");
    let state = directory.path().join(STATE);
    fs::create_dir_all(state.parent().expect("it has one")).expect("a folder");
    fs::write(&state, "{").expect("a file");
    let options = options(directory.path());
    let runtime = Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(1)
        .build();
    runtime.expect("a runtime").block_on(async {
        let (go, wait) = mpsc::channel();
        // As long as this goes on, nothing is read beside the tasks.
        let busy = spawn_blocking(move || wait.recv());
        let mut opening = pin!(Files::open(&options));
        let early = futures::poll!(&mut opening);
        assert!(early.is_pending(), "a task has read it");
        go.send(()).expect("it is waited for");
        let opened = opening.await;
        let error = opened.err().expect("it is broken").to_string();
        assert!(error.contains("state.json is broken"), "{error}");
        busy.await.expect("no panic").expect("it was sent");
    });
}

/// A used code must not count again because another process has removed the file that records its
/// use.
#[tokio::test]
async fn grants_of_a_site_whose_memory_is_lost_can_be_redeemed_by_nobody() {
    let directory = tempfile::tempdir().expect("a folder");
    let directory = directory.path();
    let grant = "apiVersion: skupper.io/v2alpha1\nkind: AccessGrant\nmetadata: { name: east }\nspec: { code: c }\n";
    write(directory, "input/resources/grant.yaml", grant);
    let redemptions = async |site: &Files| {
        let key = ObjectKey::for_kind("AccessGrant", "east").expect("a kind");
        let grant = site.store.api(&key).get("east").await.expect("it is there");
        grant.annotations().get(REDEMPTIONS).cloned()
    };
    let options = options(directory);
    let open = async || Files::open(&options).await.expect("it can be opened");
    // At the very first start no site can have redeemed it.
    let mut site = open().await;
    assert_eq!(redemptions(&site).await, None);
    site.show().await;
    drop(site);
    let secret =
        "kind: Secret\nmetadata: { name: east, annotations: { internal.skupper.io/token: uid } }\n";
    write(directory, "runtime/issued/Secret-east.yaml", secret);
    assert_eq!(redemptions(&open().await).await, None);
    fs::remove_file(directory.join(STATE)).expect("it was kept");
    let mut site = open().await;
    assert_eq!(redemptions(&site).await.as_deref(), Some(FORGOTTEN));
    site.show().await;
    drop(site);
    let mut site = open().await;
    assert_eq!(redemptions(&site).await.as_deref(), Some(FORGOTTEN));
    // One that is created again is another one.
    let asked = std::mem::take(&mut site.asked);
    site.store.settle(&site.asked).await;
    site.store.settle(&asked).await;
    assert_eq!(redemptions(&site).await, None);
}

#[tokio::test]
async fn an_edited_cost_of_a_redeemed_token_is_that_of_its_link() {
    let directory = tempfile::tempdir().expect("a folder");
    let directory = directory.path();
    let token = |cost: &str| {
        let text = format!(
            "apiVersion: skupper.io/v2alpha1\nkind: AccessToken\nmetadata: {{ name: east }}\nspec: {{ url: u, code: c, ca: a{cost} }}\n"
        );
        write(directory, "input/resources/token.yaml", &text);
    };
    let options = options(directory);
    let open = async || Files::open(&options).await.expect("it can be opened");
    token(", linkCost: 3");
    let mut site = open().await;
    let link = ObjectKey::for_kind("Link", "east").expect("a kind");
    let key = ObjectKey::token("east");
    let there = site.store.api(&key).get("east").await;
    let given = serde_json::json!({
        "apiVersion": "skupper.io/v2alpha1", "kind": "Link",
        "metadata": { "name": "east", "annotations": { TOKEN: there.expect("it is there").uid() } },
        "spec": { "endpoints": [], "cost": 3 },
    });
    let given = serde_json::from_value(given).expect("an object");
    let (links, params) = (site.store.api(&link), PostParams::default());
    let made = links.create(&params, &given).await;
    made.expect("it is made");
    let cost = async |site: &Files| {
        let there = site.store.api(&link).get("east").await;
        there.expect("it is there").data["spec"]["cost"].clone()
    };
    site.show().await;
    assert_eq!(cost(&site).await, 3);
    drop(site);
    // An edit counts after a restart as well; none is as it was.
    for (text, expected) in [
        (", linkCost: 7", 7),
        ("", 7),
        (", linkCost: 0", 7),
        (", linkCost: 2", 2),
    ] {
        token(text);
        let mut site = open().await;
        site.show().await;
        assert_eq!(cost(&site).await, expected, "{text}");
    }
}
