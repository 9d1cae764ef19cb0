//! Check of the pages for learners. The code on the pages is the code that is compiled here, and it
//! does what the pages describe. Line breaks make no difference.

#[path = "pages/account.rs"]
mod account;
#[path = "../../../runtime/examples/bucket.rs"]
mod bucket;
#[path = "pages/controller.rs"]
mod controller;
#[path = "pages/page.rs"]
mod page;
#[path = "../../../runtime/csi/examples/scratch.rs"]
mod scratch;

use futures::StreamExt as _;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim};
use kube::CustomResourceExt as _;
use kube::api::{Api, DeleteParams};
use lifecycle_runtime::Operator;
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_simulator::{Server, User};
use lifecycle_tests::volumes::client::{connect, mount};
use serde_json::Value;
use shop_operator::lifecycle::{self, Shop};
use shop_operator::logic::Logic;

use crate::mirror::{self, Mirror};
use crate::simulated::{Simulated, condition};

macro_rules! page {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../docs/", $name)))
    };
}

/// Pages, each with the files that contain its code.
const PAGES: [((&str, &str), &[&str]); 7] = [
    (
        page!("real.md"),
        &[
            include_str!("../../../operator/shop/src/lifecycle.rs"),
            include_str!("../../../operator/shop/src/logic.rs"),
        ],
    ),
    (
        page!("record.md"),
        &[include_str!("../../../runtime/examples/bucket.rs")],
    ),
    (
        page!("volume.md"),
        &[include_str!("../../../runtime/csi/examples/scratch.rs")],
    ),
    (
        page!("recipes.md"),
        &[
            include_str!("pages/account.rs"),
            include_str!("pages/page.rs"),
            include_str!("../../../runtime/examples/mirror.rs"),
            include_str!("../../../operator/listener/tests/e2e/explain/Conflict.txt"),
        ],
    ),
    (page!("regions.md"), &[include_str!("wiki.rs")]),
    (
        page!("testing.md"),
        &[include_str!("../../../operator/shop/tests/suite.rs")],
    ),
    (
        page!("kube-rs.md"),
        &[
            include_str!("pages/controller.rs"),
            include_str!("../../../runtime/examples/mirror.rs"),
        ],
    ),
];

/// Returns code without spaces, trailing comments, and the extra commas of a broken line.
fn squeezed(code: &str) -> String {
    let lines = code
        .lines()
        .map(|line| line.split("  //").next().unwrap_or_default());
    let text = lines.flat_map(str::chars).filter(|c| !c.is_whitespace());
    // A name that is not read is written with an underscore before it.
    text.collect::<String>()
        .replace("_this:", "this:")
        .replace(",)", ")")
        .replace(",}", "}")
}

/// Returns the blocks of a page that show code: all except commands, edits and compiler output.
fn code_blocks(page: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    let mut rest = page;
    while let Some((_, after)) = rest.split_once("\n```") {
        let (language, after) = after.split_once('\n').unwrap();
        let (block, after) = after.split_once("```\n").unwrap();
        let is_said = ["error[", "warning[", "0 errors"];
        let is_said = is_said.iter().any(|start| block.starts_with(start));
        if ["rust", "text"].contains(&language) && !is_said {
            blocks.push(block);
        }
        rest = after;
    }
    blocks
}

/// Returns true if the code contains a part of a block. The code may hold the part as it is, or
/// each line of it, such as the head of a method.
fn is_in(part: &str, code: &str) -> bool {
    let line = |line: &str| {
        let line = squeezed(line);
        let head = line.strip_suffix(';').map(|head| format!("{head}{{"));
        line.len() > 8 && (code.contains(&line) || head.is_some_and(|head| code.contains(&head)))
    };
    code.contains(&squeezed(part)) || part.lines().all(line)
}

#[test]
fn all_code_of_the_pages_is_compiled() {
    let mut parts = 0;
    for ((name, page), files) in PAGES {
        let code: String = files.iter().map(|file| squeezed(file)).collect();
        for part in code_blocks(page)
            .iter()
            .flat_map(|block| block.split("\n\n"))
        {
            parts += 1;
            assert!(
                is_in(part, &code),
                "docs/{name} shows what is in none of its files:\n{part}"
            );
        }
        assert!(!is_in("fn nowhere(&self) -> Because<bool>;", &code));
    }
    assert!(parts > 20, "{parts}");
}

/// A Shop with persistent data.
const SHOP: &str = include_str!("../../../operator/shop/example.yaml");

#[tokio::test]
async fn a_shop_migrates_before_it_rolls_out_and_its_data_outlive_it() {
    let operator = Operator::new("shop.example.org").run(lifecycle::machine(Logic));
    let cluster = Simulated::with_operator(operator, Shop::crd(), SHOP).await;
    cluster.ready::<Shop>("example").await;
    cluster
        .until::<Job>("example-migrate-7", |job| !job.is_null())
        .await;
    cluster.apply(&SHOP.replace("\"7\"", "\"8\"")).await;
    let is_new = |server: &Value| server.to_string().contains("shop:8");
    cluster.until::<Deployment>("example", is_new).await;
    let job = cluster
        .until::<Job>("example-migrate-8", |job| !job.is_null())
        .await;
    assert_eq!(job["status"]["succeeded"], 1, "it is done before");
    let shops: Api<Shop> = Api::default_namespaced(cluster.client.clone());
    shops
        .delete("example", &DeleteParams::default())
        .await
        .unwrap();
    cluster.until::<Deployment>("example", Value::is_null).await;
    let data = cluster
        .until::<PersistentVolumeClaim>("example", |data| !data.is_null())
        .await;
    assert!(data["metadata"]["deletionTimestamp"].is_null());
}

#[tokio::test]
async fn a_bucket_is_moved_and_given_back_and_that_of_others_is_left_alone() {
    let provider = bucket::Provider::default();
    let operator = bucket::operator(provider.clone());
    let cluster = Simulated::with_operator(operator, bucket::Bucket::crd(), bucket::OBJECTS).await;
    cluster.ready::<bucket::Bucket>("photos").await;
    assert_eq!(provider.look("acme-photos").unwrap().days, 30);
    cluster
        .apply(&bucket::OBJECTS.replace("acme-photos", "acme-images"))
        .await;
    let moved = |bucket: &Value| {
        provider.look("acme-images").is_some()
            && provider.look("acme-photos").is_none()
            && !bucket.is_null()
    };
    cluster.until::<bucket::Bucket>("photos", moved).await;
    let other = bucket::Kept {
        owner: "somebody".to_owned(),
        days: 1,
    };
    provider.on(|all| all.insert("theirs".to_owned(), other.clone()));
    cluster
        .apply(&bucket::OBJECTS.replace("acme-photos", "theirs"))
        .await;
    let taken =
        |bucket: &Value| condition(bucket, "Stored").is_some_and(|one| one["reason"] == "Taken");
    cluster.until::<bucket::Bucket>("photos", taken).await;
    let buckets: Api<bucket::Bucket> = Api::default_namespaced(cluster.client.clone());
    buckets
        .delete("photos", &DeleteParams::default())
        .await
        .unwrap();
    cluster
        .until::<bucket::Bucket>("photos", Value::is_null)
        .await;
    assert_eq!(provider.look("theirs"), Some(other));
    assert_eq!(provider.look("acme-images"), None);
}

#[tokio::test]
async fn an_account_says_which_of_its_facts_is_missing() {
    let other = account::OBJECTS.replace("name: token", "name: strange");
    let other = other.replace("token: token", "token: strange");
    let other = other
        .replace("name: ours", "name: theirs")
        .replace("known", "unknown");
    let objects = format!("{}---{other}", account::OBJECTS);
    let cluster =
        Simulated::with_operator(account::operator(), account::Account::crd(), &objects).await;
    for (name, reason) in [("ours", "Full"), ("theirs", "Denied")] {
        let is =
            |account: &Value| condition(account, "Open").is_some_and(|one| one["reason"] == reason);
        cluster.until::<account::Account>(name, is).await;
    }
}

#[tokio::test]
async fn a_directory_is_published_and_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("registration")).unwrap();
    let socket = format!("unix://{}", path("csi.sock").display());
    let (trigger, shutdown) = Shutdown::pair();
    let client = Server::new(1).client(&User::admin());
    let registration = path("registration");
    let served = tokio::spawn(async move {
        scratch::serve(&socket, &registration, "node-1", client, shutdown).await
    });
    let channel = connect(&path("csi.sock")).await.unwrap();
    let mut node = lifecycle_proto::csi::node_client::NodeClient::new(channel);
    let target_path = path("mount").display().to_string();
    let publish = lifecycle_proto::csi::NodePublishVolumeRequest {
        volume_id: "v".to_owned(),
        target_path: target_path.clone(),
        volume_capability: Some(mount()),
        ..Default::default()
    };
    for _ in 0..2 {
        node.node_publish_volume(publish.clone()).await.unwrap();
        assert!(path("mount").is_dir());
    }
    let unpublish = lifecycle_proto::csi::NodeUnpublishVolumeRequest {
        volume_id: "v".to_owned(),
        target_path,
    };
    node.node_unpublish_volume(unpublish).await.unwrap();
    assert!(!path("mount").exists());
    trigger.stop();
    served.await.unwrap().unwrap();
}

/// Checks the statements of `docs/kube-rs.md` about the operator that it analyses. Time is paused:
/// a second passes when no task has work to do.
#[tokio::test(start_paused = true)]
async fn a_plain_controller_misses_an_edit_of_the_source_and_takes_what_others_have() {
    let theirs = "
apiVersion: v1
kind: ConfigMap
metadata: {name: taken, namespace: default}
data: {colour: theirs}
";
    let cluster = Simulated::alone(Mirror::crd(), &format!("{}---{theirs}", mirror::OBJECTS)).await;
    let running = tokio::spawn(controller::run(cluster.client.clone()).for_each(|()| async {}));
    cluster.ready::<Mirror>("copy").await;
    let rest = std::time::Duration::from_secs(1);
    tokio::time::sleep(rest).await;
    let edited = mirror::OBJECTS.replace("green", "blue");
    cluster.apply(&edited).await;
    tokio::time::sleep(rest).await;
    let colour = |object: &Value| object["data"]["colour"].clone();
    let missed = cluster.until::<ConfigMap>("copy", |_| true).await;
    assert_eq!(colour(&missed), "green");
    cluster
        .apply(&edited.replace("name: copy", "name: taken"))
        .await;
    cluster
        .until::<ConfigMap>("taken", |taken| colour(taken) == "blue")
        .await;
    running.abort();
}
