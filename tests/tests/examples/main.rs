//! The examples, as one program. Each is in the folder `examples` of the package that it shows, and
//! is tested here against its description.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

#[path = "../../../macros/core/examples/check.rs"]
mod check;
#[path = "../../../runtime/examples/mirror.rs"]
mod mirror;
#[path = "../../../runtime/examples/opening_hours.rs"]
mod opening_hours;
#[path = "../../../operator/cli/examples/options.rs"]
mod options;
mod pages;
#[path = "../../../runtime/examples/password.rs"]
mod password;
#[path = "../../../runtime/simulator/examples/rights.rs"]
mod rights;
#[path = "../../../runtime/examples/shards.rs"]
mod shards;
mod simulated;
#[path = "../../../runtime/suite/examples/suite.rs"]
mod suite;
#[path = "../../../runtime/simulator/examples/time.rs"]
mod time;
#[path = "../../../runtime/examples/two_versions.rs"]
mod two_versions;
#[path = "../../../runtime/examples/weather.rs"]
mod weather;
mod wiki;
#[path = "wiki/scenes.rs"]
mod wiki_scenes;
#[path = "wiki/suite.rs"]
mod wiki_suite;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::CustomResourceExt as _;
use kube::api::{Api, DeleteParams, ListParams};
use serde_json::json;

use simulated::{Simulated, condition};

#[test]
fn a_state_that_is_forgotten_is_found_without_rustc() {
    let found = check::of_the_forgetful();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("LC011: ") && found[0].contains("copy == Foreign"),
        "{found:?}"
    );
    assert!(
        check::findings("resource {")
            .iter()
            .all(|found| found.contains("no Rust"))
    );
}

#[tokio::test]
async fn a_mirror_follows_its_source() {
    let cluster =
        Simulated::with_operator(mirror::operator(), mirror::Mirror::crd(), mirror::OBJECTS).await;
    cluster.ready::<mirror::Mirror>("copy").await;
    cluster
        .until::<ConfigMap>("copy", |copy| copy["data"]["colour"] == "green")
        .await;
    cluster
        .apply(&mirror::OBJECTS.replace("green", "blue"))
        .await;
    cluster
        .until::<ConfigMap>("copy", |copy| copy["data"]["colour"] == "blue")
        .await;
}

#[tokio::test]
async fn a_password_stays_until_it_is_lost() {
    let cluster = Simulated::with_operator(
        password::operator(),
        password::Account::crd(),
        password::OBJECTS,
    )
    .await;
    cluster.ready::<password::Account>("alice").await;
    let first = cluster
        .until::<Secret>("alice", |secret| !secret.is_null())
        .await;
    let of = |secret: &serde_json::Value| secret["data"]["password"].clone();
    cluster
        .apply(&password::OBJECTS.replace("user: alice", "user: bob"))
        .await;
    let edited = cluster
        .until::<Secret>("alice", |now| now["data"]["user"] != first["data"]["user"])
        .await;
    assert_eq!(of(&edited), of(&first));
    let secrets: Api<Secret> = Api::default_namespaced(cluster.client.clone());
    secrets
        .delete("alice", &DeleteParams::default())
        .await
        .unwrap();
    cluster
        .until::<Secret>("alice", |secret| {
            !secret.is_null() && of(secret) != of(&first)
        })
        .await;
}

#[tokio::test]
async fn a_notice_hangs_for_as_long_as_it_is_meant_to() {
    let cluster = Simulated::with_operator(
        opening_hours::operator(),
        opening_hours::Notice::crd(),
        opening_hours::OBJECTS,
    )
    .await;
    cluster
        .until::<ConfigMap>("sale", |board| board["data"]["text"] == "today only")
        .await;
    cluster
        .until::<ConfigMap>("sale", serde_json::Value::is_null)
        .await;
    let over = |notice: &serde_json::Value| {
        condition(notice, "Hung").is_some_and(|one| one["reason"] == "Over")
    };
    cluster.until::<opening_hours::Notice>("sale", over).await;
}

#[tokio::test]
async fn shards_come_and_go_with_the_list() {
    let cluster =
        Simulated::with_operator(shards::operator(), shards::Index::crd(), shards::OBJECTS).await;
    cluster.ready::<shards::Index>("books").await;
    cluster
        .apply(&shards::OBJECTS.replace("[a, b]", "[b, c]"))
        .await;
    cluster
        .until::<ConfigMap>("books-c", |shard| shard["data"]["shard"] == "c")
        .await;
    cluster
        .until::<ConfigMap>("books-a", serde_json::Value::is_null)
        .await;
    cluster.ready::<shards::Index>("books").await;
    let maps: Api<ConfigMap> = Api::default_namespaced(cluster.client.clone());
    let labelled = ListParams::default().labels("examples.test/index=books");
    assert_eq!(maps.list(&labelled).await.unwrap().items.len(), 2);
}

#[tokio::test]
async fn the_weather_is_asked_for() {
    let operator = weather::operator(weather::Almanac);
    let cluster =
        Simulated::with_operator(operator, weather::Forecast::crd(), weather::OBJECTS).await;
    let here = cluster.ready::<weather::Forecast>("here").await;
    assert_eq!(here["status"]["degrees"], 12);
    let there = cluster.ready::<weather::Forecast>("there").await;
    assert_eq!(there["status"]["degrees"], -41);
    assert_eq!(condition(&there, "Told").unwrap()["reason"], "Frost");
}

#[test]
fn what_the_older_version_cannot_say_comes_back() {
    let parcels = two_versions::parcels();
    let parcel = json!({
        "apiVersion": "examples.test/v1", "kind": "Parcel", "metadata": { "name": "a" }, "spec": { "millimetres": 333 },
    });
    let old = parcels.convert(&parcel, "v1alpha1").unwrap();
    assert_eq!(old["spec"], json!({ "size": "small" }));
    let back = parcels.convert(&old, "v1").unwrap();
    assert_eq!(back["spec"]["millimetres"], 333);
}

#[tokio::test]
async fn a_reader_may_not_write() {
    let said = rights::refusal().await.unwrap();
    assert!(
        said.contains("system:serviceaccount:default:reader") && said.contains("cannot create"),
        "{said}"
    );
}

#[tokio::test]
async fn a_day_passes_in_a_moment_and_a_copy_goes_its_own_way() {
    let (seconds, there) = time::a_day_later().await.unwrap();
    assert!((86_400..86_460).contains(&seconds), "{seconds}");
    assert_eq!(there, 1);
    assert_eq!(time::forgotten().await.unwrap(), 410);
}

#[test]
fn the_suite_finds_the_mistake_and_nothing_where_there_is_none() {
    let report = suite::as_it_is().unwrap();
    assert!(report.failures.is_empty(), "{report}");
    let report = suite::with_a_mistake().unwrap();
    assert!(!report.failures.is_empty());
}

#[test]
fn a_program_takes_its_own_options_and_refuses_what_is_none() {
    let command = options::program().command();
    let read = |words: &[&str]| command.clone().try_get_matches_from(words);
    for part in ["run", "sandbox"] {
        assert!(read(&["mirror-operator", part, "--writes", "4"]).is_ok());
    }
    assert!(read(&["mirror-operator", "run", "--writes", "many"]).is_err());
    assert!(read(&["mirror-operator", "crds", "--writes", "4"]).is_err());
}
