//! Lists: pages, selectors, versions.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::api::{Api, MERGE, cases, names, version};

cases![
    lists_are_in_the_order_of_names,
    lists_over_all_namespaces_name_the_namespace,
    pages_are_of_one_version,
    pages_tell_how_many_remain,
    pages_with_a_selector_do_not,
    a_token_that_is_none_is_refused,
    label_selectors_choose,
    label_selectors_that_cannot_be_read_are_refused,
    field_selectors_choose_by_name,
    field_selectors_know_the_fields_of_pods,
    field_selectors_know_the_fields_of_events,
    field_selectors_of_unknown_fields_are_refused,
    list_at_an_exact_version_is_of_that_version,
    list_at_a_future_version_is_refused,
    list_not_older_than_is_fresh,
    version_matches_need_a_version,
    items_of_built_in_kinds_carry_no_type,
    what_is_not_stored_has_no_table,
];

async fn three(api: &Api) -> Result<Vec<Value>> {
    let mut made = Vec::new();
    for name in ["c", "a", "b"] {
        let body = json!({"metadata": {"name": name, "labels": {"name": name, "all": "yes"}}});
        made.push(api.post(&api.core("configmaps"), &body).await?.is(201)?);
    }
    Ok(made)
}

async fn list(api: &Api, query: &str) -> Result<Value> {
    api.get(&format!("{}?{query}", api.core("configmaps")))
        .await?
        .is(200)
}

/// Checks the names of a list whose metadata may differ between two servers.
async fn chosen(api: &Api, query: &str, expected: &[&str]) -> Result<()> {
    let found = list(&api.silently(), query).await?;
    ensure!(names(&found) == expected, "{query}: {:?}", names(&found));
    Ok(())
}

async fn lists_are_in_the_order_of_names(api: Api) -> Result<()> {
    three(&api).await?;
    let found = list(&api, "").await?;
    ensure!(
        found["kind"] == "ConfigMapList" && names(&found) == ["a", "b", "c"],
        "{found}"
    );
    Ok(())
}

async fn lists_over_all_namespaces_name_the_namespace(api: Api) -> Result<()> {
    three(&api).await?;
    let path = format!(
        "/api/v1/configmaps?fieldSelector=metadata.namespace={}",
        api.namespace
    );
    let found = api.silently().get(&path).await?.is(200)?;
    ensure!(names(&found) == ["a", "b", "c"], "{found}");
    Ok(())
}

async fn pages_are_of_one_version(api: Api) -> Result<()> {
    let quiet = api.silently();
    three(&api).await?;
    let first = list(&quiet, "limit=2").await?;
    api.silently()
        .delete(&api.core("configmaps/c"), &json!({}))
        .await?
        .is(200)?;
    let token = first["metadata"]["continue"].as_str().unwrap_or_default();
    let rest = list(&quiet, &format!("limit=2&continue={token}")).await?;
    ensure!(
        names(&rest) == ["c"] && version(&rest) == version(&first),
        "{rest}"
    );
    ensure!(rest["metadata"].get("continue").is_none());
    Ok(())
}

async fn pages_tell_how_many_remain(api: Api) -> Result<()> {
    three(&api).await?;
    let page = list(&api.silently(), "limit=1").await?;
    ensure!(
        names(&page) == ["a"] && page["metadata"]["remainingItemCount"] == 2,
        "{page}"
    );
    Ok(())
}

async fn pages_with_a_selector_do_not(api: Api) -> Result<()> {
    three(&api).await?;
    let page = list(&api.silently(), "limit=1&labelSelector=all%3Dyes").await?;
    ensure!(
        page["metadata"].get("remainingItemCount").is_none(),
        "{page}"
    );
    ensure!(page["metadata"]["continue"].is_string());
    Ok(())
}

async fn a_token_that_is_none_is_refused(api: Api) -> Result<()> {
    let path = format!("{}?limit=1&continue=nonsense", api.core("configmaps"));
    api.silently()
        .get(&path)
        .await?
        .refuses(400, "BadRequest", "continue key is not valid")?;
    Ok(())
}

async fn label_selectors_choose(api: Api) -> Result<()> {
    three(&api).await?;
    chosen(&api, "labelSelector=name%3Da", &["a"]).await?;
    chosen(&api, "labelSelector=name!%3Da", &["b", "c"]).await?;
    chosen(&api, "labelSelector=name%20in%20(a,c)", &["a", "c"]).await?;
    chosen(&api, "labelSelector=name%20notin%20(a,c),all", &["b"]).await?;
    chosen(&api, "labelSelector=!name", &[]).await?;
    Ok(())
}

async fn label_selectors_that_cannot_be_read_are_refused(api: Api) -> Result<()> {
    let path = format!("{}?labelSelector=a%20b", api.core("configmaps"));
    api.silently()
        .get(&path)
        .await?
        .refuses(400, "BadRequest", "unable to parse requirement")?;
    Ok(())
}

async fn field_selectors_choose_by_name(api: Api) -> Result<()> {
    three(&api).await?;
    chosen(&api, "fieldSelector=metadata.name%3Da", &["a"]).await?;
    chosen(&api, "fieldSelector=metadata.name!%3Da", &["b", "c"]).await?;
    Ok(())
}

async fn field_selectors_know_the_fields_of_pods(api: Api) -> Result<()> {
    for (name, node) in [("a", "one"), ("b", "two")] {
        let pod = json!({"metadata": {"name": name}, "spec": {
            "nodeName": node, "containers": [{"name": "c", "image": "i"}],
        }});
        api.silently()
            .post(&api.core("pods"), &pod)
            .await?
            .is(201)?;
    }
    let quiet = api.silently();
    for (selector, expected) in [
        ("spec.nodeName%3Done", vec!["a"]),
        ("spec.nodeName!%3Done", vec!["b"]),
        ("status.phase%3DPending", vec!["a", "b"]),
        ("status.phase%3DRunning", vec![]),
        ("spec.restartPolicy%3DAlways,metadata.name%3Db", vec!["b"]),
    ] {
        let found = quiet
            .get(&format!("{}?fieldSelector={selector}", api.core("pods")))
            .await?
            .is(200)?;
        ensure!(names(&found) == expected, "{selector}: {:?}", names(&found));
    }
    Ok(())
}

async fn field_selectors_know_the_fields_of_events(api: Api) -> Result<()> {
    let event = json!({
        "metadata": {"name": "a"}, "reason": "Made", "type": "Normal", "message": "it is made",
        "involvedObject": {"kind": "ConfigMap", "name": "m", "namespace": api.namespace, "uid": "u"},
        "source": {"component": "tests"}, "count": 1,
    });
    api.post(&api.core("events"), &event).await?.is(201)?;
    let quiet = api.silently();
    for (selector, expected) in [
        (
            "involvedObject.name%3Dm,involvedObject.kind%3DConfigMap",
            vec!["a"],
        ),
        ("reason%3DMade", vec!["a"]),
        ("involvedObject.name%3Dother", vec![]),
    ] {
        let found = quiet
            .get(&format!("{}?fieldSelector={selector}", api.core("events")))
            .await?
            .is(200)?;
        ensure!(names(&found) == expected, "{selector}: {:?}", names(&found));
    }
    Ok(())
}

async fn field_selectors_of_unknown_fields_are_refused(api: Api) -> Result<()> {
    for kind in ["configmaps", "pods", "services"] {
        let path = format!("{}?fieldSelector=spec.unknown%3D1", api.core(kind));
        api.get(&path).await?.is(400)?;
    }
    Ok(())
}

async fn list_at_an_exact_version_is_of_that_version(api: Api) -> Result<()> {
    let made = three(&api).await?;
    let patch = json!({"metadata": {"labels": {"name": "z"}}});
    api.patch(MERGE, &api.core("configmaps/a"), &patch)
        .await?
        .is(200)?;
    let query = format!(
        "resourceVersion={}&resourceVersionMatch=Exact",
        version(&made[1])
    );
    let found = list(&api.silently(), &query).await?;
    ensure!(names(&found) == ["a", "c"], "{found}");
    ensure!(found["items"][0]["metadata"]["labels"]["name"] == "a");
    Ok(())
}

async fn list_at_a_future_version_is_refused(api: Api) -> Result<()> {
    let path = format!("{}?resourceVersion=999999999", api.core("configmaps"));
    api.silently()
        .get(&path)
        .await?
        .refuses(504, "Timeout", "Too large resource version")?;
    Ok(())
}

async fn list_not_older_than_is_fresh(api: Api) -> Result<()> {
    let made = three(&api).await?;
    let query = format!(
        "resourceVersion={}&resourceVersionMatch=NotOlderThan",
        version(&made[2])
    );
    chosen(&api, &query, &["a", "b", "c"]).await?;
    chosen(&api, "resourceVersion=0", &["a", "b", "c"]).await
}

async fn version_matches_need_a_version(api: Api) -> Result<()> {
    let path = format!("{}?resourceVersionMatch=Exact", api.core("configmaps"));
    api.get(&path)
        .await?
        .refuses(422, "Invalid", "resourceVersionMatch")?;
    let path = format!(
        "{}?resourceVersionMatch=Exact&resourceVersion=0",
        api.core("configmaps")
    );
    api.get(&path).await?.is(422)?;
    Ok(())
}

async fn items_of_built_in_kinds_carry_no_type(api: Api) -> Result<()> {
    three(&api).await?;
    let found = list(&api.silently(), "").await?;
    ensure!(
        found["items"][0].get("kind").is_none() && found["items"][0].get("apiVersion").is_none()
    );
    Ok(())
}

async fn what_is_not_stored_has_no_table(api: Api) -> Result<()> {
    const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}},
    });
    api.post_for(TABLE, path, &review).await?.refuses(
        406,
        "NotAcceptable",
        "media types are accepted",
    )?;
    let either = format!("{TABLE},application/json");
    let answer = api.silently().post_for(&either, path, &review).await?;
    let answer = answer.is(201)?;
    ensure!(answer["kind"] == "SelfSubjectAccessReview", "{answer}");
    Ok(())
}
