//! Rows of routers, of how sites are reached, and of Secrets.

use lifecycle_skupper::data_plane::DataPlane;
use serde_json::{Value, json};

use super::{Cluster, blocking, in_place, object_findings, only, under_new_name};
use crate::takeover::finding::Severity;
use crate::takeover::skupper::chosen::Chosen;

const ROUTER: &str = "Deployment west/skupper-router";

#[test]
fn a_router_that_is_there_stays_with_its_images_unless_the_options_name_others() {
    let mut cluster = Cluster::cleared();
    let words = [
        "the existing router (registry.example.org/skupper/router:3.5.1)",
        "registry.example.org/skupper/adaptor:2.2.1 beside it; it goes on with the existing adaptor",
        "no image changes",
    ];
    only(&cluster.judged(&in_place()), ROUTER, Severity::Note, &words);
    let mut newer = in_place();
    newer.routers.images.skupper_router = Some("router:4".to_owned());
    let words = ["router:3.5.1 becomes router:4, so that it starts anew"];
    only(&cluster.judged(&newer), ROUTER, Severity::Note, &words);
    cluster.object("Site", "west", "west")["spec"]["settings"] =
        json!({ "router-adaptor": "lifecycle-router" });
    let words = [
        "goes on with the adaptor of this project; registry.example.org/skupper/adaptor:2.2.1 becomes lifecycle-router",
    ];
    only(&cluster.judged(&in_place()), ROUTER, Severity::Note, &words);
    // Nothing is reported if no router exists, and the option decides.
    cluster
        .0
        .retain(|one| one["metadata"]["name"] != "skupper-router");
    assert!(object_findings(&cluster.judged(&in_place()), ROUTER).is_empty());
}

#[test]
fn another_data_plane_than_the_router_that_is_there_blocks() {
    let mut cluster = Cluster::cleared();
    let settings = |plane: &str| json!({ "data-plane": plane });
    cluster.object("Site", "west", "west")["spec"]["settings"] = settings("embedded");
    let words = [
        "the existing router exists",
        "delete deployment skupper-router",
    ];
    only(
        &cluster.judged(&in_place()),
        ROUTER,
        Severity::Blocks,
        &words,
    );
    let ports = json!([{ "name": "state", "containerPort": 9443 }, { "name": "metrics", "containerPort": 9090 }]);
    let selector = json!({ "application": "skupper-router", "skupper.io/component": "router" });
    let spec = &mut cluster.router()["spec"];
    spec["selector"]["matchLabels"] = selector;
    spec["template"]["metadata"]["labels"]["internal.skupper.io/site"] = json!("1");
    spec["template"]["spec"]["containers"] =
        json!([{ "name": "router", "image": "lifecycle-router", "ports": ports }]);
    let words = ["the router of this project (lifecycle-router); no image changes"];
    only(&cluster.judged(&in_place()), ROUTER, Severity::Note, &words);
    cluster.object("Site", "west", "west")["spec"]["settings"] = settings("skupper-router");
    let words = ["the router of this project exists"];
    only(
        &cluster.judged(&in_place()),
        ROUTER,
        Severity::Blocks,
        &words,
    );
}

#[test]
fn images_that_are_not_known_block() {
    let mut cluster = Cluster::cleared();
    let containers = &mut cluster.router()["spec"]["template"]["spec"]["containers"];
    containers[0]["image"] = Value::Null;
    let words = ["start the controller with --skupper-router-image"];
    only(
        &cluster.judged(&in_place()),
        "Site west/west",
        Severity::Blocks,
        &words,
    );
}

#[test]
fn a_selector_or_ports_that_differ_from_ours_block() {
    let mut cluster = Cluster::cleared();
    cluster.router()["spec"]["selector"]["matchLabels"]["app"] = json!("x");
    let all = cluster.judged(&in_place());
    assert_eq!(blocking(&all), [ROUTER]);
    let text = &object_findings(&all, ROUTER)[0].1;
    assert!(
        text.contains("its selector is {\"matchLabels\":{\"app\":\"x\","),
        "{text}"
    );
    let mut cluster = Cluster::cleared();
    let containers = &mut cluster.router()["spec"]["template"]["spec"]["containers"];
    containers[0]["ports"][2]["containerPort"] = json!(55672);
    containers[1]["ports"] = Value::Null;
    let all = cluster.judged(&in_place());
    assert_eq!(blocking(&all), [ROUTER, ROUTER]);
    let text = object_findings(&all, ROUTER);
    assert!(
        text[0]
            .1
            .contains("`router` lacks the ports inter-router 55671,"),
        "{text:?}"
    );
    assert!(
        text[1]
            .1
            .contains("`kube-adaptor` lacks the ports metrics 9000,"),
        "{text:?}"
    );
}

#[test]
fn a_pair_of_routers_blocks_by_its_site_and_by_its_second_deployment() {
    let cluster = Cluster::replaced();
    let all = cluster.judged(&in_place());
    let second = ["the second router of a pair"];
    only(
        &all,
        "Deployment east/skupper-router-2",
        Severity::Blocks,
        &second,
    );
    let site = object_findings(&all, "Site east/east");
    assert!(site[0].1.contains("`spec.ha` requests a pair"), "{site:?}");
}

#[test]
fn access_that_is_not_served_blocks_where_somebody_asked_for_it() {
    let mut cluster = Cluster::cleared();
    let access = |kind: &str, name: &str, access_type: &str, owner: &str| {
        json!({
            "apiVersion": "skupper.io/v2alpha1", "kind": kind,
            "metadata": {
                "name": name, "namespace": "west",
                "ownerReferences": [{ "apiVersion": "skupper.io/v2alpha1", "kind": owner, "name": "west", "uid": "1" }],
            },
            "spec": { "accessType": access_type, "roles": [], "ports": [], "selector": {}, "tlsCredentials": "" },
        })
    };
    for name in ["route", "ingress-nginx", "contour-http-proxy", "gateway"] {
        cluster.object("Site", "west", "west")["spec"]["linkAccess"] = json!(name);
        let words = ["`spec.linkAccess`: access type", name, "is not supported"];
        only(
            &cluster.judged(&in_place()),
            "Site west/west",
            Severity::Blocks,
            &words,
        );
        cluster
            .add_object(access("RouterAccess", name, name, "Other"))
            .add_object(access("SecuredAccess", name, name, "Other"));
        for kind in ["RouterAccess", "SecuredAccess"] {
            let object = format!("{kind} west/{name}");
            let words = ["`spec.accessType`: access type", name];
            only(
                &cluster.judged(&in_place()),
                &object,
                Severity::Blocks,
                &words,
            );
        }
    }
    for name in ["none", "", "default", "local", "loadbalancer"] {
        let mut cluster = Cluster::cleared();
        cluster.object("Site", "west", "west")["spec"]["linkAccess"] = json!(name);
        cluster
            .add_object(access("RouterAccess", "made", "route", "Site"))
            .add_object(access("SecuredAccess", "made", "route", "RouterAccess"))
            .add_object(access("RouterAccess", "own", "", "Other"));
        assert_eq!(blocking(&cluster.judged(&in_place())), [""; 0], "{name}");
    }
    cluster.object("Site", "west", "west")["spec"]["linkAccess"] = json!("nodeport");
    let words = ["start the controller with --cluster-host"];
    only(
        &cluster.judged(&in_place()),
        "Site west/west",
        Severity::Blocks,
        &words,
    );
}

#[test]
fn secrets_that_the_existing_adaptor_does_not_take_are_noted() {
    let mut cluster = Cluster::cleared();
    let secret = "Secret west/shop";
    let words = [
        "is of the type `Opaque` and has no `ca.crt`",
        "Listener west/shop, which names it",
    ];
    only(&cluster.judged(&in_place()), secret, Severity::Note, &words);
    cluster.object("Secret", "west", "shop")["type"] = json!("kubernetes.io/tls");
    let all = object_findings(&cluster.judged(&in_place()), secret);
    assert!(all[0].1.starts_with("it has no `ca.crt`;"), "{all:?}");
    cluster.object("Secret", "west", "shop")["stringData"]["ca.crt"] = json!("none");
    assert!(object_findings(&cluster.judged(&in_place()), secret).is_empty());
    // This operator's adaptor accepts any type.
    cluster.object("Secret", "west", "shop")["type"] = json!("Opaque");
    assert_eq!(
        object_findings(&cluster.judged(&in_place()), secret).len(),
        1
    );
    cluster.object("Site", "west", "west")["spec"]["settings"] =
        json!({ "router-adaptor": "lifecycle-router" });
    assert!(object_findings(&cluster.judged(&in_place()), secret).is_empty());
    // An attached object names Secrets of its Site.
    let mut cluster = Cluster::cleared();
    let listener = cluster.object("Listener", "west", "shop");
    listener["kind"] = json!("AttachedConnector");
    listener["metadata"]["namespace"] = json!("work");
    listener["spec"]["siteNamespace"] = json!("west");
    let words = ["AttachedConnector work/shop, which names it"];
    only(&cluster.judged(&in_place()), secret, Severity::Note, &words);
}

#[test]
fn namespaces_of_another_controller_are_looked_at_if_they_are_to_be_watched() {
    let mut cluster = Cluster::replaced();
    cluster.object("Site", "north", "north")["spec"]["linkAccess"] = json!("route");
    assert!(object_findings(&cluster.judged(&under_new_name()), "Site north/north").is_empty());
    let north = Chosen {
        watched: ["north".to_owned()].into(),
        ..under_new_name()
    };
    let all = cluster.judged(&north);
    assert_eq!(blocking(&all), ["Site north/north"]);
    let words = [
        "gives it to controller skupper/skupper-controller",
        "until it names skupper/new",
    ];
    only(&all, "Namespace north", Severity::Note, &words);
    let nowhere = Chosen {
        watched: ["nowhere", "north"].map(str::to_owned).into(),
        ..under_new_name()
    };
    let all = cluster.judged(&nowhere);
    assert_eq!(blocking(&all), ["Site north/north"]);
    let words = ["there is no Site in it"];
    only(&all, "Namespace nowhere", Severity::Note, &words);
}

#[test]
fn a_site_that_cannot_be_read_blocks() {
    let mut cluster = Cluster::cleared();
    cluster.object("Site", "west", "west")["spec"] = json!({ "edge": "yes" });
    let words = ["it cannot be read"];
    only(
        &cluster.judged(&in_place()),
        "Site west/west",
        Severity::Blocks,
        &words,
    );
    cluster.object("Site", "west", "west")["spec"] = Value::Null;
    assert_eq!(blocking(&cluster.judged(&in_place())), [""; 0]);
    let mut options = in_place();
    options.routers.data_plane = DataPlane::SkupperRouter;
    assert_eq!(blocking(&cluster.judged(&options)), [""; 0]);
}
