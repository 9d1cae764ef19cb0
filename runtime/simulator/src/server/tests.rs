//! Tests of the server through `kube::Client`, on paused time. Answers that the real server gives
//! too are in the conformance suite.

mod definitions;
mod refused;

use std::pin::pin;
use std::time::Duration;

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kube::api::{
    Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams, WatchEvent,
    WatchParams,
};
use kube::runtime::watcher;
use kube::{Client, ResourceExt};
use serde_json::json;

use super::{Server, User};

fn maps(client: &Client) -> Api<ConfigMap> {
    Api::namespaced(client.clone(), "default")
}

fn map(name: &str, value: &str) -> ConfigMap {
    serde_json::from_value(json!({
        "metadata": {"name": name, "labels": {"value": value}}, "data": {"value": value},
    }))
    .unwrap()
}

fn code(error: &kube::Error) -> (u16, String) {
    let kube::Error::Api(status) = error else {
        panic!("{error:?}")
    };
    (status.code, status.message.clone())
}

#[tokio::test(start_paused = true)]
async fn objects_are_made_read_changed_and_deleted() {
    let client = Server::new(1).client(&User::admin());
    let maps = maps(&client);
    let made = maps
        .create(&PostParams::default(), &map("a", "1"))
        .await
        .unwrap();
    assert!(made.uid().is_some() && made.metadata.managed_fields.is_some());
    let read = maps.get("a").await.unwrap();
    assert_eq!(made, read);
    let patch = json!({"data": {"value": "2"}});
    let changed = maps
        .patch("a", &PatchParams::default(), &Patch::Merge(&patch))
        .await
        .unwrap();
    assert_ne!(changed.resource_version(), made.resource_version());
    let again = maps
        .patch("a", &PatchParams::default(), &Patch::Merge(&patch))
        .await
        .unwrap();
    assert_eq!(changed.resource_version(), again.resource_version());
    let stale = maps.replace("a", &PostParams::default(), &made).await;
    assert_eq!(code(&stale.unwrap_err()).0, 409);
    maps.delete("a", &DeleteParams::default()).await.unwrap();
    assert_eq!(
        code(&maps.get("a").await.unwrap_err()),
        (404, "configmaps \"a\" not found".to_owned())
    );
}

#[tokio::test(start_paused = true)]
async fn an_apply_creates_and_a_second_one_changes_nothing() {
    let client = Server::new(1).client(&User::admin());
    let maps = maps(&client);
    let params = PatchParams::apply("m");
    let wanted = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"value": "1"},
    });
    let made = maps
        .patch("a", &params, &Patch::Apply(&wanted))
        .await
        .unwrap();
    tokio::time::advance(Duration::from_secs(5)).await;
    let again = maps
        .patch("a", &params, &Patch::Apply(&wanted))
        .await
        .unwrap();
    assert_eq!(made, again);
    let mut wanted = wanted;
    wanted["metadata"]["resourceVersion"] = "1".into();
    let refused = maps
        .patch("a", &params.clone().force(), &Patch::Apply(&wanted))
        .await;
    assert_eq!(code(&refused.unwrap_err()).0, 409);
    let made = maps.get_metadata("a").await.unwrap();
    let entries = made.metadata.managed_fields.unwrap();
    assert_eq!(entries[0].operation.as_deref(), Some("Apply"));
}

#[tokio::test(start_paused = true)]
async fn a_watch_goes_on_where_a_list_ended() {
    let client = Server::new(1).client(&User::admin());
    let maps = maps(&client);
    maps.create(&PostParams::default(), &map("a", "1"))
        .await
        .unwrap();
    let list = maps
        .list(&ListParams::default().labels("value=1"))
        .await
        .unwrap();
    let version = list.metadata.resource_version.unwrap();
    assert_eq!(list.items.len(), 1);
    let params = WatchParams::default().labels("value=1").timeout(60);
    let mut events = pin!(maps.watch(&params, &version).await.unwrap());
    let patch = |value: &str| json!({"metadata": {"labels": {"value": value}}});
    for value in ["2", "3", "1"] {
        let patch = patch(value);
        maps.patch("a", &PatchParams::default(), &Patch::Merge(&patch))
            .await
            .unwrap();
    }
    maps.delete("a", &DeleteParams::default()).await.unwrap();
    let mut seen = Vec::new();
    while let Some(event) = events.try_next().await.unwrap() {
        seen.push(match event {
            WatchEvent::Added(map) => format!("added {}", map.labels()["value"]),
            WatchEvent::Modified(map) => format!("modified {}", map.labels()["value"]),
            WatchEvent::Deleted(map) => format!("deleted {}", map.labels()["value"]),
            WatchEvent::Bookmark(_) => continue,
            WatchEvent::Error(error) => panic!("{error:?}"),
        });
    }
    assert_eq!(seen, ["deleted 1", "added 1", "deleted 1"]);
}

#[tokio::test(start_paused = true)]
async fn watchers_stream_and_list() {
    let server = Server::new(1);
    let client = server.client(&User::admin());
    let maps = maps(&client);
    for name in ["a", "b", "c"] {
        maps.create(&PostParams::default(), &map(name, "1"))
            .await
            .unwrap();
    }
    for config in [
        watcher::Config::default().streaming_lists(),
        watcher::Config::default().page_size(2),
    ] {
        let mut events = pin!(watcher(maps.clone(), config));
        let mut names = Vec::new();
        loop {
            match events.next().await.unwrap().unwrap() {
                watcher::Event::InitApply(map) => names.push(map.name_any()),
                watcher::Event::InitDone => break,
                watcher::Event::Init => {}
                watcher::Event::Apply(_) | watcher::Event::Delete(_) => panic!("nothing changed"),
            }
        }
        assert_eq!(names, ["a", "b", "c"]);
        let name = format!("later-{}", server.revision());
        maps.create(&PostParams::default(), &map(&name, "1"))
            .await
            .unwrap();
        let event = events.next().await.unwrap().unwrap();
        assert!(matches!(event, watcher::Event::Apply(map) if map.name_any() == name));
        maps.delete(&name, &DeleteParams::default()).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn an_old_version_is_gone_after_a_compaction() {
    let server = Server::new(1);
    let client = server.client(&User::admin());
    let maps = maps(&client);
    for name in ["a", "b", "c"] {
        maps.create(&PostParams::default(), &map(name, "1"))
            .await
            .unwrap();
    }
    let page = maps.list(&ListParams::default().limit(2)).await.unwrap();
    maps.delete("c", &DeleteParams::default()).await.unwrap();
    let token = page.metadata.continue_.unwrap();
    let next = ListParams::default().limit(2).continue_token(&token);
    let rest = maps.list(&next).await.unwrap();
    assert_eq!(
        rest.items[0].name_any(),
        "c",
        "a page is of its list's version"
    );
    server.compact();
    assert_eq!(code(&maps.list(&next).await.unwrap_err()).0, 410);
    let mut events = pin!(maps.watch(&WatchParams::default(), "101").await.unwrap());
    let event = events.try_next().await.unwrap().unwrap();
    assert!(matches!(event, WatchEvent::Error(status) if status.code == 410));
}

#[tokio::test(start_paused = true)]
async fn services_get_addresses_and_ports_and_give_them_back() {
    let client = Server::new(1).client(&User::admin());
    let services: Api<Service> = Api::namespaced(client, "default");
    let service: Service = serde_json::from_value(json!({
        "metadata": {"name": "a"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]},
    }))
    .unwrap();
    let made = services
        .create(&PostParams::default(), &service)
        .await
        .unwrap();
    let spec = made.spec.unwrap();
    let (ip, port) = (spec.cluster_ip.unwrap(), spec.ports.unwrap()[0].node_port);
    let mut second = service.clone();
    second.metadata.name = Some("b".to_owned());
    second.spec.as_mut().unwrap().cluster_ip = Some(ip);
    second.spec.as_mut().unwrap().ports.as_mut().unwrap()[0].node_port = port;
    let refused = services
        .create(&PostParams::default(), &second)
        .await
        .unwrap_err();
    assert_eq!(code(&refused).0, 422);
    services
        .delete("a", &DeleteParams::default())
        .await
        .unwrap();
    services
        .create(&PostParams::default(), &second)
        .await
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn kinds_come_and_go_with_their_definitions() {
    let client = Server::new(1).client(&User::admin());
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
            "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}}, "schema": {
                "openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                    "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "default": {"phase": "New"}},
                }},
            }}],
        },
    });
    let resource = kube::core::ApiResource::from_gvk_with_plural(
        &kube::core::GroupVersionKind::gvk(
            "apiextensions.k8s.io",
            "v1",
            "CustomResourceDefinition",
        ),
        "customresourcedefinitions",
    );
    let definitions: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let definition: DynamicObject = serde_json::from_value(definition).unwrap();
    definitions
        .create(&PostParams::default(), &definition)
        .await
        .unwrap();
    let resource = kube::core::ApiResource::from_gvk(&kube::core::GroupVersionKind::gvk(
        "example.com",
        "v1",
        "Thing",
    ));
    let things: Api<DynamicObject> = Api::namespaced_with(client, "default", &resource);
    let mut thing: DynamicObject = serde_json::from_value(json!({
        "apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"},
        "spec": {"size": 1}, "status": {"phase": "Ready"},
    }))
    .unwrap();
    let made = things.create(&PostParams::default(), &thing).await.unwrap();
    assert_eq!(made.metadata.generation, Some(1));
    // The status of the request is dropped. Storage adds the default, which no manager owns.
    assert_eq!(made.data["status"]["phase"], "New");
    let managed = serde_json::to_string(&made.metadata.managed_fields).unwrap();
    assert!(!managed.contains("f:status"), "{managed}");
    thing.data["spec"]["size"] = 2.into();
    thing.metadata.resource_version = made.metadata.resource_version;
    let changed = things
        .replace("a", &PostParams::default(), &thing)
        .await
        .unwrap();
    assert_eq!(changed.metadata.generation, Some(2));
    let status = json!({"status": {"phase": "Ready"}});
    let reported = things
        .patch_status("a", &PatchParams::default(), &Patch::Merge(&status))
        .await
        .unwrap();
    assert_eq!(reported.metadata.generation, Some(2));
    assert_eq!(reported.data["status"]["phase"], "Ready");
    definitions
        .delete("things.example.com", &DeleteParams::default())
        .await
        .unwrap();
    let error = things.get("a").await.unwrap_err();
    assert_eq!(code(&error).0, 404);
}

#[test]
fn uids_depend_on_the_seed_and_not_on_what_else_was_made() {
    let uid = |seed: u64, names: &[&str]| {
        let server = Server::new(seed);
        let mut last = String::new();
        for name in names {
            let body = json!({"metadata": {"name": name}}).to_string().into_bytes();
            let request = http::Request::post("/api/v1/namespaces/default/configmaps");
            let reply = server.serve(&User::admin(), &request.body(body).unwrap());
            let super::Content::Whole(bytes) = reply.content else {
                panic!("no watch");
            };
            let object: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
            last = object["metadata"]["uid"].as_str().unwrap().to_owned();
        }
        last
    };
    assert_eq!(uid(1, &["a"]), uid(1, &["b", "a"]));
    assert_ne!(uid(1, &["a"]), uid(2, &["a"]));
}
