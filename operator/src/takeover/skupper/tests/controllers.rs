//! Rows of controllers, and of who manages which namespace.

use serde_json::{Value, json};

use super::{
    CONTROLLER, Cluster, blocking, config, in_place, object_findings, only, under_new_name,
};
use crate::takeover::finding::Severity;
use crate::takeover::skupper::chosen::Chosen;

/// The namespaces that two controllers would write.
fn contested(cluster: &Cluster, chosen: &Chosen) -> Vec<String> {
    let all = cluster.judged(chosen);
    let blocks = blocking(&all).into_iter();
    let names = blocks.filter_map(|object| object.strip_prefix("Namespace "));
    names.map(str::to_owned).collect()
}

fn container(deployment: &mut Value) -> &mut Value {
    &mut deployment["spec"]["template"]["spec"]["containers"][0]
}

#[test]
fn the_existing_controller_of_the_same_name_blocks_until_it_is_gone_or_upgraded() {
    let mut cluster = Cluster::replaced();
    let words = [
        "with 1 replica, has the name of this one, skupper/skupper-controller",
        "--namespace skupper scale deployment skupper-controller --replicas 0",
        "upgrade its Helm release in place",
    ];
    only(
        &cluster.judged(&in_place()),
        CONTROLLER,
        Severity::Blocks,
        &words,
    );
    assert_eq!(contested(&cluster, &in_place()), [""; 0]);
    cluster.controller()["spec"]["replicas"] = json!(0);
    cluster.controller()["status"] = json!({ "replicas": 2 });
    let ending = ["2 Pods still there"];
    only(
        &cluster.judged(&in_place()),
        CONTROLLER,
        Severity::Blocks,
        &ending,
    );
    cluster.controller()["status"] = json!({});
    let gone = ["has the namespace and name of this one"];
    only(
        &cluster.judged(&in_place()),
        CONTROLLER,
        Severity::Note,
        &gone,
    );
    let gone = ["has no replicas"];
    only(
        &cluster.judged(&under_new_name()),
        CONTROLLER,
        Severity::Note,
        &gone,
    );
}

#[test]
fn of_two_names_each_namespace_has_to_say_which_it_means() {
    let mut cluster = Cluster::replaced();
    assert_eq!(contested(&cluster, &under_new_name()), ["east", "west"]);
    let west = "Namespace west";
    let words = [
        "skupper/skupper-controller, and this one, skupper/new, would both write it",
        "`kubectl --namespace west create configmap skupper --from-literal controller=skupper/skupper-controller`",
        "for this one use `skupper/new`",
    ];
    only(
        &cluster.judged(&under_new_name()),
        west,
        Severity::Blocks,
        &words,
    );
    let kept = ["with 1 replica, keeps north"];
    only(
        &cluster.judged(&under_new_name()),
        CONTROLLER,
        Severity::Note,
        &kept,
    );
    // A ConfigMap without a controller is completed.
    cluster.add_object(config("west", &json!({ "other": "x" })));
    let words = ["patch configmap skupper --type merge --patch '{\"data\":{\"controller\":"];
    only(
        &cluster.judged(&under_new_name()),
        west,
        Severity::Blocks,
        &words,
    );
    cluster.object("ConfigMap", "west", "skupper")["data"] = json!({ "controller": "skupper/new" });
    let words = [
        "gives it to this controller",
        "rollout restart deployment skupper-controller",
    ];
    only(
        &cluster.judged(&under_new_name()),
        west,
        Severity::Note,
        &words,
    );
    // The existing one takes an empty text for the name of a controller, and this one for none.
    cluster.object("ConfigMap", "west", "skupper")["data"] = json!({ "controller": "" });
    assert_eq!(contested(&cluster, &under_new_name()), ["east"]);
    // And a name alone for one of the same namespace.
    cluster.object("ConfigMap", "west", "skupper")["data"] =
        json!({ "controller": "skupper-controller" });
    let lonely = ["assigns it to controller skupper-controller, which has no Deployment"];
    only(
        &cluster.judged(&under_new_name()),
        west,
        Severity::Note,
        &lonely,
    );
}

#[test]
fn a_controller_of_one_namespace_is_in_the_way_there_alone() {
    let mut cluster = Cluster::replaced();
    container(cluster.controller())["env"] =
        json!([{ "name": "WATCH_NAMESPACE", "value": "west" }]);
    assert_eq!(contested(&cluster, &under_new_name()), ["west"]);
    container(cluster.controller())["args"] = json!(["--watch-namespace=east"]);
    assert_eq!(contested(&cluster, &under_new_name()), ["east"]);
    container(cluster.controller())["args"] = json!(["-watch-namespace", "west"]);
    assert_eq!(contested(&cluster, &under_new_name()), ["west"]);
    container(cluster.controller())["args"] = json!([]);
    let own = json!({ "fieldRef": { "fieldPath": "metadata.namespace" } });
    container(cluster.controller())["env"] =
        json!([{ "name": "WATCH_NAMESPACE", "valueFrom": own }]);
    assert_eq!(contested(&cluster, &under_new_name()), [""; 0]);
    // An unknown value may mean all namespaces.
    let key = json!({ "configMapKeyRef": { "name": "x", "key": "y" } });
    container(cluster.controller())["env"] =
        json!([{ "name": "WATCH_NAMESPACE", "valueFrom": key }]);
    assert_eq!(contested(&cluster, &under_new_name()), ["east", "west"]);
    let one = Chosen {
        watched: ["east".to_owned()].into(),
        ..under_new_name()
    };
    assert_eq!(contested(&cluster, &one), ["east"]);
    container(cluster.controller())["args"] = json!(["-sites-require-annotation"]);
    assert_eq!(contested(&cluster, &under_new_name()), [""; 0]);
}

#[test]
fn a_controller_is_known_by_its_program_its_options_or_its_label() {
    let is_found = |edit: fn(&mut Value)| {
        let mut cluster = Cluster::replaced();
        edit(cluster.controller());
        !object_findings(&cluster.judged(&under_new_name()), CONTROLLER).is_empty()
    };
    fn unlabelled(deployment: &mut Value) {
        deployment["metadata"]["labels"] = Value::Null;
        deployment["spec"]["template"]["metadata"]["labels"] = json!({ "app": "any" });
    }
    fn bare(deployment: &mut Value) {
        container(deployment)["command"] = Value::Null;
        container(deployment)["args"] = Value::Null;
    }
    assert!(is_found(|_| {}));
    assert!(is_found(unlabelled));
    assert!(is_found(bare));
    assert!(is_found(|one| {
        unlabelled(one);
        bare(one);
        container(one)["args"] = json!(["--enable-grants"]);
    }));
    assert!(!is_found(|one| {
        unlabelled(one);
        bare(one);
    }));
    assert!(!is_found(|one| container(one)["name"] = json!("other")));
    // A controller of this operator with that name takes turns by its Lease; one with another name
    // does not.
    fn ours(deployment: &mut Value) {
        bare(deployment);
        container(deployment)["args"] = json!(["run", "skupper"]);
    }
    let mut cluster = Cluster::replaced();
    ours(cluster.controller());
    assert!(object_findings(&cluster.judged(&in_place()), CONTROLLER).is_empty());
    let words = ["another controller of this project, skupper/skupper-controller"];
    only(
        &cluster.judged(&under_new_name()),
        CONTROLLER,
        Severity::Note,
        &words,
    );
    assert_eq!(contested(&cluster, &under_new_name()), ["east", "west"]);
}

#[test]
fn a_namespace_that_names_a_controller_which_is_gone_is_noted() {
    let mut cluster = Cluster::replaced();
    cluster
        .0
        .retain(|one| one["metadata"]["name"] != "skupper-controller");
    let words = [
        "assigns it to controller skupper/skupper-controller, which has no Deployment",
        "controller\":\"skupper/new\"",
    ];
    only(
        &cluster.judged(&under_new_name()),
        "Namespace north",
        Severity::Note,
        &words,
    );
    assert!(object_findings(&cluster.judged(&in_place()), "Namespace north").is_empty());
}
