//! Initial objects of a new server: namespaces, roles, and the Service of the API server itself.

use serde_json::{Value, json};

use super::object::name;
use super::rbac::{AUTHENTICATED, GROUP, MASTERS};
use super::state::State;
use super::store::StoreKey;

/// The state of a new server.
pub(crate) fn state(seed: u64) -> State {
    let mut state = State::empty(seed);
    for name in ["default", "kube-node-lease", "kube-public", "kube-system"] {
        namespace(&mut state, name);
    }
    roles(&mut state);
    service(&mut state);
    state
}

fn namespace(state: &mut State, name: &str) {
    let kind = state.kind("", "namespaces");
    let object = json!({
        "metadata": {
            "name": name,
            "uid": state.uid(&kind, &StoreKey::new("", name)),
            "creationTimestamp": state.now(),
            "labels": {"kubernetes.io/metadata.name": name},
        },
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    });
    state
        .store
        .put(&kind.store, StoreKey::new("", name), object, &[]);
}

/// Makes the roles that every cluster has and everybody needs.
fn roles(state: &mut State) {
    let all = json!([
        {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}, {"nonResourceURLs": ["*"], "verbs": ["*"]},
    ]);
    let reviews = json!([
        {"apiGroups": ["authorization.k8s.io"], "verbs": ["create"],
         "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"]},
        {"apiGroups": ["authentication.k8s.io"], "verbs": ["create"], "resources": ["selfsubjectreviews"]},
    ]);
    let paths = json!([{"verbs": ["get"], "nonResourceURLs": [
        "/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*", "/readyz", "/version", "/version/",
    ]}]);
    let public = json!([{"verbs": ["get"], "nonResourceURLs": ["/healthz", "/livez", "/readyz", "/version", "/version/"]}]);
    let issuer = json!([{"verbs": ["get"], "nonResourceURLs": [
        "/.well-known/openid-configuration", "/.well-known/openid-configuration/", "/openid/v1/jwks", "/openid/v1/jwks/",
    ]}]);
    for (role, rules, group) in [
        ("cluster-admin", all, MASTERS),
        ("system:basic-user", reviews, AUTHENTICATED),
        ("system:discovery", paths, AUTHENTICATED),
        ("system:public-info-viewer", public, AUTHENTICATED),
        (
            "system:service-account-issuer-discovery",
            issuer,
            "system:serviceaccounts",
        ),
    ] {
        of_roles(state, "clusterroles", role, json!({"rules": rules}));
        let binding = json!({
            "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": GROUP, "kind": "Group", "name": group}],
        });
        of_roles(state, "clusterrolebindings", role, binding);
    }
}

fn of_roles(state: &mut State, plural: &str, role: &str, mut object: Value) {
    let kind = state.kind(GROUP, plural);
    let key = StoreKey::new("", role);
    object["metadata"] = json!({
        "name": role, "uid": state.uid(&kind, &key), "creationTimestamp": state.now(),
        "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"},
        "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
    });
    debug_assert_eq!(name(&object), role);
    state.store.put(&kind.store, key, object, &[]);
}

/// Makes the Service of the API server itself.
fn service(state: &mut State) {
    let kind = state.kind("", "services");
    let key = StoreKey::new("default", "kubernetes");
    let service = json!({
        "metadata": {
            "name": key.name, "namespace": key.namespace, "uid": state.uid(&kind, &key),
            "creationTimestamp": state.now(),
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "type": "ClusterIP", "clusterIP": "10.96.0.1", "clusterIPs": ["10.96.0.1"], "sessionAffinity": "None",
            "internalTrafficPolicy": "Cluster", "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack",
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443}],
        },
        "status": {"loadBalancer": {}},
    });
    state.allocations.settle(&key, &service);
    state.store.put(&kind.store, key, service, &[]);
}
