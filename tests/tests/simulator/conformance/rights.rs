//! Rights: permissions by roles and bindings, and the wording of a refusal.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use std::time::Duration;

use lifecycle_tests::harness::eventually;

use super::api::{Answer, Api, cases};

cases![
    without_rights_everything_is_refused,
    a_refusal_of_a_named_object_names_it,
    a_refusal_at_the_cluster_scope_says_so,
    a_role_gives_rights_in_its_namespace,
    a_role_gives_the_verbs_it_names_alone,
    a_role_may_name_objects,
    a_role_may_name_subresources,
    a_cluster_role_bound_in_a_namespace_counts_there,
    a_group_has_rights_too,
    asking_whether_one_may,
    asking_for_another_user,
    asking_what_one_may,
];

const RBAC: &str = "rbac.authorization.k8s.io";

async fn grant(api: &Api, rules: &Value, subject: &Value) -> Result<()> {
    let quiet = api.silently();
    let role = json!({"metadata": {"name": "r"}, "rules": rules});
    quiet
        .post(&api.group(RBAC, "roles"), &role)
        .await?
        .is(201)?;
    let binding = json!({
        "metadata": {"name": "b"}, "subjects": [subject],
        "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "r"},
    });
    quiet
        .post(&api.group(RBAC, "rolebindings"), &binding)
        .await?
        .is(201)?;
    Ok(())
}

fn alice() -> Value {
    json!({"kind": "User", "name": "alice", "apiGroup": RBAC})
}

/// Returns the answer once the permissions have spread.
async fn granted(api: &Api, path: &str) -> Result<Answer> {
    let quiet = api.silently();
    eventually(
        "the rights are known",
        Duration::from_secs(120),
        async || {
            let answer = quiet.get(path).await?;
            Ok((answer.code != 403).then_some(answer))
        },
    )
    .await
}

async fn without_rights_everything_is_refused(api: Api) -> Result<()> {
    let bob = api.by("bob");
    let words =
        "User \"bob\" cannot list resource \"configmaps\" in API group \"\" in the namespace";
    bob.get(&api.core("configmaps"))
        .await?
        .refuses(403, "Forbidden", words)?;
    let body = json!({"metadata": {"name": "a"}});
    bob.post(&api.core("configmaps"), &body).await?.refuses(
        403,
        "Forbidden",
        "cannot create resource",
    )?;
    bob.delete(&api.core("configmaps"), &json!({}))
        .await?
        .refuses(403, "Forbidden", "deletecollection")?;
    let path = format!("{}?watch=true", api.core("configmaps"));
    bob.get(&path)
        .await?
        .refuses(403, "Forbidden", "cannot watch resource")?;
    Ok(())
}

async fn a_refusal_of_a_named_object_names_it(api: Api) -> Result<()> {
    let bob = api.by("bob");
    let path = api.group("coordination.k8s.io", "leases/a");
    let words = "leases.coordination.k8s.io \"a\" is forbidden: User \"bob\" cannot get resource \"leases\" in API group \"coordination.k8s.io\"";
    bob.get(&path).await?.refuses(403, "Forbidden", words)?;
    bob.put(&api.core("services/a/status"), &json!({}))
        .await?
        .refuses(403, "Forbidden", "services/status")?;
    Ok(())
}

async fn a_refusal_at_the_cluster_scope_says_so(api: Api) -> Result<()> {
    let bob = api.by("bob");
    bob.get("/api/v1/nodes")
        .await?
        .refuses(403, "Forbidden", "at the cluster scope")?;
    bob.get("/api/v1/configmaps")
        .await?
        .refuses(403, "Forbidden", "at the cluster scope")?;
    Ok(())
}

async fn a_role_gives_rights_in_its_namespace(api: Api) -> Result<()> {
    grant(
        &api,
        &json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"]}]),
        &alice(),
    )
    .await?;
    let alice = api.by("alice");
    granted(&alice, &api.core("configmaps")).await?.is(200)?;
    let body = json!({"metadata": {"name": "a"}});
    alice.post(&api.core("configmaps"), &body).await?.is(201)?;
    alice
        .get("/api/v1/namespaces/default/configmaps")
        .await?
        .is(403)?;
    alice.get(&api.core("secrets")).await?.is(403)?;
    Ok(())
}

async fn a_role_gives_the_verbs_it_names_alone(api: Api) -> Result<()> {
    grant(
        &api,
        &json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]}]),
        &alice(),
    )
    .await?;
    let alice = api.by("alice");
    granted(&alice, &api.core("configmaps")).await?.is(200)?;
    alice
        .post(&api.core("configmaps"), &json!({"metadata": {"name": "a"}}))
        .await?
        .is(403)?;
    Ok(())
}

async fn a_role_may_name_objects(api: Api) -> Result<()> {
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["a"], "verbs": ["get"]}]);
    grant(&api, &rules, &alice()).await?;
    api.map("a").await?;
    let alice = api.by("alice");
    granted(&alice, &api.core("configmaps/a")).await?.is(200)?;
    alice.get(&api.core("configmaps/b")).await?.is(403)?;
    alice.get(&api.core("configmaps")).await?.is(403)?;
    Ok(())
}

async fn a_role_may_name_subresources(api: Api) -> Result<()> {
    grant(
        &api,
        &json!([{"apiGroups": [""], "resources": ["services/status"], "verbs": ["get"]}]),
        &alice(),
    )
    .await?;
    let alice = api.by("alice");
    granted(&alice, &api.core("services/a/status"))
        .await?
        .is(404)?;
    alice.get(&api.core("services/a")).await?.is(403)?;
    Ok(())
}

async fn a_cluster_role_bound_in_a_namespace_counts_there(api: Api) -> Result<()> {
    let name = api.own("r");
    let role = json!({"metadata": {"name": name}, "rules": [
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]},
    ]});
    api.silently()
        .post(&format!("/apis/{RBAC}/v1/clusterroles"), &role)
        .await?
        .is(201)?;
    let binding = json!({
        "metadata": {"name": "b"}, "subjects": [alice()],
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": name},
    });
    api.silently()
        .post(&api.group(RBAC, "rolebindings"), &binding)
        .await?
        .is(201)?;
    let alice = api.by("alice");
    granted(&alice, &api.core("configmaps")).await?.is(200)?;
    alice.get("/api/v1/configmaps").await?.is(403)?;
    Ok(())
}

async fn a_group_has_rights_too(api: Api) -> Result<()> {
    let group = json!({"kind": "Group", "name": "testers", "apiGroup": RBAC});
    grant(
        &api,
        &json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]),
        &group,
    )
    .await?;
    let alice = api.by("alice");
    granted(&alice, &api.core("secrets")).await?.is(200)?;
    api.by("bob").get(&api.core("secrets")).await?.is(403)?;
    Ok(())
}

async fn asking_whether_one_may(api: Api) -> Result<()> {
    grant(
        &api,
        &json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}]),
        &alice(),
    )
    .await?;
    let alice = api.by("alice");
    granted(&alice, &api.core("configmaps")).await?;
    let review = |verb: &str| {
        json!({
            "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {"namespace": api.namespace, "verb": verb, "resource": "configmaps"}},
        })
    };
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let answer = alice
        .silently()
        .post(path, &review("list"))
        .await?
        .is(201)?;
    ensure!(answer["status"]["allowed"] == true, "{answer}");
    let answer = alice
        .silently()
        .post(path, &review("delete"))
        .await?
        .is(201)?;
    ensure!(answer["status"]["allowed"] == false, "{answer}");
    Ok(())
}

async fn asking_for_another_user(api: Api) -> Result<()> {
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {
            "user": "nobody", "groups": ["system:masters"],
            "resourceAttributes": {"namespace": api.namespace, "verb": "get", "resource": "pods"},
        },
    });
    let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    let answer = api.silently().post(path, &review).await?.is(201)?;
    ensure!(answer["status"]["allowed"] == true, "{answer}");
    Ok(())
}

async fn asking_what_one_may(api: Api) -> Result<()> {
    grant(
        &api,
        &json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}]),
        &alice(),
    )
    .await?;
    let alice = api.by("alice");
    granted(&alice, &api.core("configmaps")).await?;
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview",
        "spec": {"namespace": api.namespace},
    });
    let path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
    let answer = alice.silently().post(path, &review).await?.is(201)?;
    let rules = answer["status"]["resourceRules"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    ensure!(
        rules
            .iter()
            .any(|rule| rule["resources"] == json!(["configmaps"])),
        "{answer}"
    );
    Ok(())
}
