//! Check that a program needs no more rights than its manifest gives. It needs no cluster: it uses
//! a client of the ServiceAccount, and a server that enforces RBAC.

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use kube::api::{Api, ListParams, PostParams};
use lifecycle_simulator::{Server, User};
use serde_json::{Value, from_value, json};

/// A reader of ConfigMaps, who may write none.
fn rights() -> (Value, Value) {
    let role = json!({
        "metadata": { "name": "reader" },
        "rules": [{ "apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"] }],
    });
    let binding = json!({
        "metadata": { "name": "reader" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader" },
        "subjects": [{ "kind": "ServiceAccount", "name": "reader", "namespace": "default" }],
    });
    (role, binding)
}

/// Returns the refusal that the reader received.
pub(crate) async fn refusal() -> anyhow::Result<String> {
    let server = Server::new(1);
    server.enforce_rbac(true);
    let (role, binding) = rights();
    let admin = server.client(&User::admin());
    let params = PostParams::default();
    let roles: Api<ClusterRole> = Api::all(admin.clone());
    roles.create(&params, &from_value(role)?).await?;
    let bindings: Api<ClusterRoleBinding> = Api::all(admin);
    bindings.create(&params, &from_value(binding)?).await?;

    let name = "system:serviceaccount:default:reader";
    let groups = ["system:serviceaccounts", "system:serviceaccounts:default"];
    let reader = server.client(&User::new(name, &groups));
    let maps: Api<ConfigMap> = Api::default_namespaced(reader);
    maps.list(&ListParams::default()).await?;
    let map = from_value(json!({ "metadata": { "name": "a" } }))?;
    match maps.create(&params, &map).await {
        Err(kube::Error::Api(refused)) => Ok(refused.message),
        other => anyhow::bail!("a reader wrote: {other:?}"),
    }
}
