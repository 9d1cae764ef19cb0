//! A status that another manager wrote before. Its declared parts are removed once they no longer
//! apply, and nothing is written once settled.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client, CustomResourceExt};
use lifecycle_runtime::Operator;
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_simulator::server::{Server, User};
use lifecycle_suite::faults::{Faults, Plan};
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use serde_json::{Value, json};

use super::driver::door::{self, Carpenter, Door, DoorSpec};

pub(crate) fn cases() -> Vec<Case> {
    named![paused(): what_another_manager_left_in_a_status_is_taken_away]
}

/// Longer than an operator waits for anything when all is well.
const QUIET: Duration = Duration::from_secs(30);
/// Time within which every object is evaluated again once.
const RESYNC_IS_OVER: Duration = Duration::from_secs(4200);

async fn create_door(admin: &Client) -> Api<Door> {
    let params = PostParams::default();
    let definitions = Api::all(admin.clone());
    let defined = definitions.create(&params, &Door::crd()).await;
    defined.expect("it is defined");
    let doors: Api<Door> = Api::default_namespaced(admin.clone());
    let spec = DoorSpec {
        house: "h".to_owned(),
    };
    let door = doors.create(&params, &Door::new("d", spec)).await;
    door.expect("it is made");
    doors
}

/// Writes the status as another controller does, by updates.
async fn told_before(doors: &Api<Door>) {
    let row = |kind: &str| {
        json!({
            "type": kind, "status": "True", "reason": "Ready", "message": "OK",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        })
    };
    let rows = ["Configured", "Hung", "Ready", "Theirs"].map(row);
    let status = json!({ "locked": true, "status": "Ready", "message": "OK", "conditions": rows });
    let params = PatchParams {
        field_manager: Some("controller".to_owned()),
        ..PatchParams::default()
    };
    let patch = Patch::Merge(json!({ "status": status }));
    let told = doors.patch_status("d", &params, &patch).await;
    told.expect("it may be told");
}

async fn door_status(doors: &Api<Door>) -> (Option<bool>, Vec<String>) {
    let door = doors.get("d").await.expect("it is there");
    let status = door.status.unwrap_or_default();
    let rows = status.conditions.into_iter();
    (status.locked, rows.map(|row| row.type_).collect())
}

async fn labelled(admin: &Client, labels: Value) {
    let houses: Api<ConfigMap> = Api::default_namespaced(admin.clone());
    let house = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": "h", "labels": labels }, "data": { "front": "80" },
    });
    let params = PatchParams::apply("somebody").force();
    let applied = houses.patch("h", &params, &Patch::Apply(house)).await;
    applied.expect("it is applied");
    tokio::time::sleep(QUIET).await;
}

async fn what_another_manager_left_in_a_status_is_taken_away() {
    let server = Server::new(1);
    let admin = server.client(&User::admin());
    let doors = create_door(&admin).await;
    told_before(&doors).await;
    let faults = Faults::new(Plan::default(), jiff::Timestamp::UNIX_EPOCH);
    let client = faults.line(true).client(&admin);
    let operator = Operator::new("tests.lifecycle")
        .run(door::machine(Carpenter))
        .seed(1)
        .clock(server.clone());
    let (_trigger, shutdown) = Shutdown::pair();
    tokio::spawn(async move { operator.start(client, shutdown).await });
    tokio::time::sleep(QUIET).await;
    // There is no house: the door is not locked, its hanging is not evaluated, and unknown
    // conditions are not ours.
    let rows = |all: &[&str]| all.iter().map(|row| (*row).to_owned()).collect::<Vec<_>>();
    let without = (None, rows(&["Configured", "Ready", "Theirs"]));
    assert_eq!(door_status(&doors).await, without);
    let writes = faults.writes();
    tokio::time::sleep(RESYNC_IS_OVER).await;
    assert_eq!(faults.writes(), writes, "{}", faults.journal());
    for _ in 0..2 {
        labelled(&admin, json!({ "locked": "yes" })).await;
        let (locked, mut kinds) = door_status(&doors).await;
        kinds.sort();
        let all = rows(&["Configured", "Hung", "Ready", "Theirs"]);
        assert_eq!((locked, kinds), (Some(true), all));
        labelled(&admin, json!({})).await;
        assert_eq!(door_status(&doors).await.0, None);
    }
    let writes = faults.writes();
    tokio::time::sleep(RESYNC_IS_OVER).await;
    assert_eq!(faults.writes(), writes, "{}", faults.journal());
}
