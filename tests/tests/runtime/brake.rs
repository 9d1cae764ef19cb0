//! Repeated writes. Those of an impure builder or of another controller are reported and slowed
//! down; those of people are not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::api::events::v1::Event;
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, CustomResourceExt};
use lifecycle_runtime::controller::Counters;
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_runtime::{Machine, Operator};
use lifecycle_simulator::server::{Server, User};
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::driver::fan::{self, Fan, FanSpec, Maker};
use lifecycle_tests::suites::wrapped::Wrapped;

pub(crate) fn cases() -> Vec<Case> {
    named![paused(): a_builder_that_is_not_pure_is_told_of_and_slowed_down, another_controller_of_a_field_is_named_and_not_fought_at_full_speed, another_writer_of_a_status_is_named_and_not_fought_at_full_speed, honest_edits_are_not_slowed_down, an_edit_ends_a_wait, members_of_a_set_do_not_wait_for_each_other]
}

const MINUTE: Duration = Duration::from_secs(60);

struct Home {
    admin: Client,
    counters: Counters,
}

impl Home {
    async fn start(machine: impl Machine, blades: &[&str]) -> Self {
        let server = Server::new(1);
        let admin = server.client(&User::admin());
        let params = PostParams::default();
        let defined = Api::all(admin.clone()).create(&params, &Fan::crd()).await;
        defined.expect("it is defined");
        let spec = FanSpec {
            blades: blades.iter().map(ToString::to_string).collect(),
            colour: "red".to_owned(),
        };
        let fans: Api<Fan> = Api::default_namespaced(admin.clone());
        let made = fans.create(&params, &Fan::new("f", spec)).await;
        made.expect("it is made");
        let operator = Operator::new("tests.lifecycle")
            .run(machine)
            .seed(1)
            .clock(server.clone());
        let counters = operator.counters();
        let client = admin.clone();
        let (trigger, shutdown) = Shutdown::pair();
        tokio::spawn(async move {
            let _trigger = trigger;
            operator.start(client, shutdown).await
        });
        Self { admin, counters }
    }

    fn writes(&self) -> u64 {
        let writes = self.counters.read().writes;
        let made = writes.get(&["Fan", "apply_blades", "done"]);
        made.copied().unwrap_or_default()
    }

    async fn ready_message(&self) -> String {
        let fans: Api<Fan> = Api::default_namespaced(self.admin.clone());
        let fan = fans.get("f").await.expect("the fan is there");
        let conditions = fan.status.unwrap_or_default().conditions;
        let ready = conditions.into_iter().find(|c| c.type_ == "Ready");
        ready.map(|ready| ready.message).unwrap_or_default()
    }

    async fn notes(&self) -> Vec<String> {
        let events: Api<Event> = Api::default_namespaced(self.admin.clone());
        let events = events.list(&ListParams::default()).await;
        let events = events.expect("the server answers").items.into_iter();
        let ours = events.filter(|e| e.reason.as_deref() == Some("RepeatedWrites"));
        ours.filter_map(|event| event.note).collect()
    }

    async fn edit(&self, spec: Value) {
        let fans: Api<Fan> = Api::default_namespaced(self.admin.clone());
        let patch = Patch::Merge(json!({ "spec": spec }));
        let edited = fans.patch("f", &PatchParams::default(), &patch).await;
        edited.expect("it may be edited");
    }

    async fn colour(&self, blade: &str) -> Option<String> {
        let maps: Api<ConfigMap> = Api::default_namespaced(self.admin.clone());
        let map = maps.get_opt(blade).await.expect("the server answers")?;
        map.data?.remove("colour")
    }

    fn reports(&self) -> u64 {
        let writes = self.counters.read().writes;
        let made = writes.get(&["Fan", "status", "done"]);
        made.copied().unwrap_or_default()
    }

    /// Another controller that reports something else.
    fn rival_of_status(&self) {
        let fans: Api<Fan> = Api::default_namespaced(self.admin.clone());
        let params = PatchParams {
            field_manager: Some("rival".to_owned()),
            ..PatchParams::default()
        };
        let ready = json!({
            "type": "Ready", "status": "False", "reason": "Theirs", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z",
        });
        let theirs = Patch::Merge(json!({ "status": { "conditions": [ready] } }));
        tokio::spawn(async move {
            loop {
                sleep(Duration::from_millis(50)).await;
                let _ = fans.patch_status("f", &params, &theirs).await.is_ok();
            }
        });
    }

    /// Another controller that wants another colour.
    fn rival(&self, blade: &'static str) {
        let maps: Api<ConfigMap> = Api::default_namespaced(self.admin.clone());
        let params = PatchParams {
            field_manager: Some("rival".to_owned()),
            ..PatchParams::default()
        };
        let theirs = Patch::Merge(json!({ "data": { "colour": "theirs" } }));
        tokio::spawn(async move {
            loop {
                sleep(Duration::from_millis(50)).await;
                // It may not be there yet.
                let _ = maps.patch(blade, &params, &theirs).await.is_ok();
            }
        });
    }
}

async fn a_builder_that_is_not_pure_is_told_of_and_slowed_down() {
    let turns = Arc::new(AtomicUsize::new(0));
    let machine = Wrapped::new(fan::machine(Maker)).build(move |_, _, mut object| {
        object["data"]["turn"] = json!(turns.fetch_add(1, Ordering::Relaxed).to_string());
        object
    });
    let home = Home::start(machine, &["a"]).await;
    sleep(MINUTE).await;
    assert!((3..=7).contains(&home.writes()), "{}", home.writes());
    let why = "`apply_blades` builds another ConfigMap `default/f-a` each time, and nothing that it reads has changed: its builder must return the same for the same";
    assert!(
        home.ready_message().await.contains(why),
        "{}",
        home.ready_message().await
    );
    assert_eq!(home.notes().await, [why]);
}

async fn another_controller_of_a_field_is_named_and_not_fought_at_full_speed() {
    let home = Home::start(fan::machine(Maker), &["a"]).await;
    home.rival("f-a");
    sleep(MINUTE).await;
    assert!((3..=7).contains(&home.writes()), "{}", home.writes());
    let why = "ConfigMap `default/f-a` is changed by field manager `rival` whenever it is written: one of them must leave these fields alone";
    assert!(
        home.ready_message().await.contains(why),
        "{}",
        home.ready_message().await
    );
    assert_eq!(home.notes().await, [why]);
}

async fn another_writer_of_a_status_is_named_and_not_fought_at_full_speed() {
    let home = Home::start(fan::machine(Maker), &["a"]).await;
    home.rival_of_status();
    sleep(MINUTE).await;
    let reports = home.reports();
    assert!((5..=12).contains(&reports), "{reports}");
    let why = "its status is changed by field manager `rival` whenever it is reported: one of them must leave it alone";
    assert_eq!(home.notes().await, [why]);
    // A new problem is reported at once.
    home.edit(json!({ "blades": [] })).await;
    sleep(Duration::from_secs(2)).await;
    assert!(home.reports() > reports);
}

async fn honest_edits_are_not_slowed_down() {
    let home = Home::start(fan::machine(Maker), &["a"]).await;
    sleep(Duration::from_secs(10)).await;
    for turn in 0..10 {
        let colour = format!("colour-{turn}");
        home.edit(json!({ "colour": colour })).await;
        sleep(Duration::from_secs(1)).await;
        assert_eq!(home.colour("f-a").await, Some(colour));
    }
    // There and back again is no repetition either.
    for turn in 0..10 {
        let colour = ["blue", "green"][turn % 2];
        home.edit(json!({ "colour": colour })).await;
        sleep(Duration::from_millis(500)).await;
        assert_eq!(home.colour("f-a").await.as_deref(), Some(colour));
    }
    assert_eq!(home.notes().await, Vec::<String>::new());
}

async fn an_edit_ends_a_wait() {
    let home = Home::start(fan::machine(Maker), &["a"]).await;
    home.rival("f-a");
    sleep(MINUTE).await;
    let before = home.writes();
    home.edit(json!({ "colour": "blue" })).await;
    sleep(Duration::from_millis(40)).await;
    assert_eq!(home.writes(), before + 1);
}

async fn members_of_a_set_do_not_wait_for_each_other() {
    let home = Home::start(fan::machine(Maker), &["a", "b"]).await;
    home.rival("f-a");
    sleep(MINUTE).await;
    let maps: Api<ConfigMap> = Api::default_namespaced(home.admin.clone());
    let drifted = Patch::Merge(json!({ "data": { "colour": "drifted" } }));
    let edited = maps.patch("f-b", &PatchParams::default(), &drifted).await;
    edited.expect("an administrator may edit it");
    sleep(Duration::from_secs(1)).await;
    assert_eq!(home.colour("f-b").await.as_deref(), Some("red"));
}
