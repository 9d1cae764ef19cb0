//! Tests of the objects that make up a Site, and of the router status that the Site reports.

use serde_json::{Value, json};

use super::*;
use crate::router::plane::RouterOptions;
use k8s_openapi::api::core::v1::ConfigMap;

fn site(name: &str, created: &str, spec: Value) -> Site {
    let site = json!({
        "metadata": { "name": name, "namespace": "west", "uid": format!("uid-{name}"), "creationTimestamp": created },
        "spec": spec,
    });
    serde_json::from_value(site).expect("it is a Site")
}

/// Routers that are never queried.
pub(super) struct NoRouters;

impl Routers for NoRouters {
    async fn fetch_state(
        &self,
        _: Vec<&Pod>,
        _: Vec<&ConfigMap>,
    ) -> Result<RouterState, CallError> {
        Err(CallError::Failed("nobody".to_owned()))
    }
}

pub(super) fn sites() -> Sites<NoRouters> {
    Sites {
        controller_id: ControllerId::new("skupper", "controller"),
        controller: Controller::default(),
        platform: Platform::Kubernetes,
        router_options: RouterOptions::embedded("router:1"),
        routers: Arc::new(NoRouters),
    }
}

#[test]
fn the_first_site_of_a_namespace_counts_until_it_goes() {
    let mut first = site("first", "2026-01-01T00:00:00Z", json!({}));
    let second = site("second", "2026-01-02T00:00:00Z", json!({}));
    let active = |site: &Site, all: &[&Site]| {
        let all: Vec<Readable<Site>> = all.iter().map(|s| Site::clone(s).into()).collect();
        sites().active(This::new(site), &all.iter().collect::<Vec<_>>(), &[])
    };
    let all = [&second, &first];
    assert!(active(&first, &all).value);
    let later = active(&second, &all);
    assert!(!later.value);
    assert_eq!(
        later.sentence,
        "An active site already exists in the namespace (first)"
    );
    first.metadata.deletion_timestamp = first.metadata.creation_timestamp.clone();
    assert!(active(&second, &[&second, &first]).value);
}

/// Ages are whole seconds, so `west` may have written its configuration before `east` was seen, which looks older by its uid.
#[test]
fn of_sites_that_are_made_at_once_the_one_that_has_a_configuration_is_active() {
    let at_once = |name: &str| site(name, "2026-01-01T00:00:00Z", json!({}));
    let (mut west, east) = (at_once("west"), at_once("east"));
    let config = json!({ "metadata": { "name": "skupper-router", "ownerReferences": [
        { "apiVersion": "skupper.io/v2alpha1", "kind": "Site", "name": "west", "uid": "uid-west", "controller": true },
    ] } });
    let config: ConfigMap = serde_json::from_value(config).expect("it is a ConfigMap");
    let active = |all: &[&Site], config| active_site::find(all, config).map(ResourceExt::name_any);
    assert_eq!(active(&[&west, &east], None).as_deref(), Some("east"));
    assert_eq!(
        active(&[&west, &east], Some(&config)).as_deref(),
        Some("west")
    );
    west.metadata.deletion_timestamp = west.metadata.creation_timestamp.clone();
    assert_eq!(
        active(&[&west, &east], Some(&config)).as_deref(),
        Some("east")
    );
}

fn pod(site: &str, ready: &str, message: &str) -> Pod {
    let pod = json!({
        "metadata": { "name": "p", "labels": { "application": "skupper-router", "internal.skupper.io/site": site } },
        "status": { "phase": "Running", "conditions": [
            { "type": "PodScheduled", "status": "True" },
            { "type": "Ready", "status": ready, "message": message },
        ] },
    });
    serde_json::from_value(pod).expect("it is a Pod")
}

#[test]
fn a_router_that_does_not_run_says_what_it_lacks() {
    let check = |pods: &[Pod], expected, sentence: &str| {
        let answer = running("uid", &pods.iter().collect::<Vec<_>>());
        assert_eq!(
            (answer.value, answer.sentence.as_str()),
            (expected, sentence)
        );
    };
    check(&[], Running::None, "");
    check(&[pod("other", "True", "")], Running::None, "");
    let said = "containers with unready status: [router]";
    check(&[pod("uid", "False", said)], Running::Waiting, said);
    check(
        &[pod("uid", "False", "")],
        Running::Waiting,
        "No router pod is ready",
    );
    check(
        &[pod("uid", "False", said), pod("uid", "True", "")],
        Running::Ready,
        "",
    );
}

#[test]
fn services_that_no_listener_has_are_unused() {
    let service = |name: &str, owner: &str, label: bool| -> Service {
        let labels = if label {
            json!({ "internal.skupper.io/listener": "a" })
        } else {
            json!({})
        };
        serde_json::from_value(json!({ "metadata": {
            "name": name, "labels": labels, "annotations": { "internal.skupper.io/controlled": "true" },
            "ownerReferences": [{ "apiVersion": "v1", "kind": "Site", "name": "first", "uid": owner }],
        } }))
        .expect("it is a Service")
    };
    let allocations =
        json!([{ "uid": "u", "name": "a", "host": "kept", "port": 80, "routerPort": 1024 }]);
    let config = json!({ "metadata": {}, "data": { "claims": allocations.to_string() } });
    let config: ConfigMap = serde_json::from_value(config).expect("it is a ConfigMap");
    let services = [
        service("kept", "uid-first", true),
        service("unused", "uid-first", true),
        service("foreign", "somebody", true),
        service("unlabelled", "uid-first", false),
    ];
    let first = site("first", "2026-01-01T00:00:00Z", json!({}));
    let services: Vec<&Service> = services.iter().collect();
    let unused = sites().unused(This::new(&first), &services, &config);
    assert_eq!(unused, ["unused".to_owned()].into());
}

/// The Pod template must not change by itself: every change restarts the router.
#[test]
fn a_router_is_run_as_the_site_says() {
    let pods = RouterPods {
        namespace: "west",
        site: "uid-first",
        image: "router:1",
        account: "skupper-router",
        resources: json!({ "limits": { "cpu": "2" } }),
        logging: None,
    };
    let deployment = objects::deployment(&pods);
    let template = &deployment.as_json()["spec"]["template"];
    assert_eq!(
        template["metadata"]["labels"]["internal.skupper.io/site"],
        "uid-first"
    );
    let container = &template["spec"]["containers"][0];
    assert_eq!(container["args"][0], "--kubernetes=west/skupper-router");
    assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
    assert_eq!(container["resources"], json!({ "limits": { "cpu": "2" } }));
    let security = json!({ "runAsNonRoot": true, "seccompProfile": { "type": "RuntimeDefault" } });
    assert_eq!(
        template["spec"]["securityContext"], security,
        "OpenShift chooses the ids of a namespace, and refuses others"
    );
    let logging = RouterPods {
        logging: Some("debug"),
        ..pods
    };
    let logging = objects::deployment(&logging);
    let env = &logging.as_json()["spec"]["template"]["spec"]["containers"][0]["env"];
    assert_eq!(
        env[1],
        json!({ "name": "CONSOLE_LOG_LEVEL", "value": "debug" })
    );
}

/// The lifecycle reports the setting. The Site stays ready, because no effect depends on it.
#[test]
fn what_has_no_effect_is_told_beside_what_a_site_needs() {
    let ir = &lifecycle_specs_skupper::site::IR;
    let named = |name: &str| ir.conditions.iter().position(|c| c.name == name);
    let told = named("SettingsApplied").expect("it is declared");
    assert!(!ir.ready.from.contains(&told));
    let clauses = ir.conditions[told].clauses.iter();
    let events: Vec<_> = clauses.map(|c| c.event).collect();
    assert_eq!(events, [Some("SettingNotApplied"), None]);
    let check = |settings: Value, templates: &[&ConfigMap], expected: &str| {
        let spec = json!({ "settings": settings });
        let site = site("first", "2026-01-01T00:00:00Z", spec);
        let answer = sites().unapplied(This::new(&site), &[], &[], &[], templates, &[]);
        assert_eq!(answer.value, !expected.is_empty());
        assert!(answer.sentence.starts_with(expected), "{}", answer.sentence);
    };
    check(json!({}), &[], "");
    let known = json!({ "router-logging": "debug", "disable-anti-affinity": "true" });
    check(known, &[], "");
    let unknown = json!({ "tolerations": "all" });
    let said =
        "spec.settings.tolerations has no effect: data-plane, router-logging and size are known";
    check(unknown, &[], said);
    let said = "spec.settings.size \"x\" is no size: no ConfigMap of this namespace or of the controller's has the label skupper.io/site-sizing=x";
    check(json!({ "size": "x" }), &[], said);
    let broken = json!({
        "metadata": { "name": "t", "namespace": "west" }, "data": { "labelSelector": "a b" },
    });
    let broken: ConfigMap = serde_json::from_value(broken).expect("it is a ConfigMap");
    check(
        json!({}),
        &[&broken],
        "ConfigMap `west/t` is no label template",
    );
}

/// Like a template that cannot be read.
#[test]
fn what_cannot_be_read_is_told_beside_what_a_site_needs() {
    let ir = &lifecycle_specs_skupper::site::IR;
    let told = ir.conditions.iter().position(|c| c.name == "ObjectsRead");
    assert!(!ir.ready.from.contains(&told.expect("it is declared")));
    let first = site("first", "2026-01-01T00:00:00Z", json!({}));
    let flawed = |name: String| {
        let metadata = serde_json::from_value(json!({ "name": name, "namespace": "west" }));
        let metadata = metadata.expect("it is metadata");
        Readable::<Listener>::flawed(metadata, "it is odd".to_owned(), None)
    };
    let answer = |count: usize| {
        let all: Vec<_> = (0..count).map(|n| flawed(format!("l{n}"))).collect();
        let all: Vec<_> = all.iter().collect();
        sites().unread(This::new(&first), &[], &all, &[], &[], &[], &[], &[], &[])
    };
    assert!(!answer(0).value);
    let one = answer(1);
    let said = "Listener `west/l0` cannot be read: it is odd; correct it, or delete it";
    assert_eq!((one.value, one.sentence.as_str()), (true, said));
    let many = answer(9).sentence;
    assert_eq!(
        (many.lines().count(), many.lines().last()),
        (6, Some("and 4 more"))
    );
}
