//! Upgrade of an operator. The leftovers of an older version of a lifecycle on a live cluster are
//! removed, and nothing hangs. Each test runs the older version first, and then another one on the
//! same cluster.

use std::time::Duration;

use anyhow::Result;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, CustomResourceExt};
use lifecycle_runtime::Operator;
use lifecycle_runtime::lifecycle::Machine;
use lifecycle_runtime::operator::Naming;
use lifecycle_runtime::shutdown::{Shutdown, Trigger};
use lifecycle_simulator::server::{Server, User};
use lifecycle_tests::harness::{Case, Need, eventually};
use lifecycle_tests::lifecycles::lodge::{self, Lodge, LodgeSpec};
use lifecycle_tests::named;
use serde_json::{Value, json};

use super::driver::world::{SOON, World};

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = named![paused():
        what_an_older_version_left_is_taken_away,
        without_a_line_it_stays_and_the_deletion_hangs,
        an_object_that_is_being_deleted_already_goes,
        what_is_held_under_an_old_finalizer_is_given_back_first,
        a_status_that_an_old_manager_wrote_as_well_is_cleared,
        objects_that_are_released_stay_and_belong_to_nobody,
        what_is_settled_is_written_no_more,
        what_may_not_be_taken_away_is_told_and_tried_again
    ];
    let needs: &[Need] = &[Need::Binaries];
    cases.extend(named![case(needs): a_real_api_server_is_left_as_the_simulated_one]);
    cases
}

/// Longer than an operator waits for anything when all is well.
const QUIET: Duration = Duration::from_secs(90);
/// Time within which every object is evaluated again once.
const RESYNC_IS_OVER: Duration = Duration::from_secs(4200);
const OPERATOR: &str = "tests.lifecycle";
const OURS: &str = "tests.lifecycle/lodge";

struct Cluster {
    server: Server,
    admin: Client,
    running: Option<Trigger>,
}

/// Remainder of a Lodge, with its parts and its name in one word each.
#[derive(Debug, PartialEq, Eq)]
struct Left {
    finalizers: Vec<String>,
    annotations: Vec<(String, String)>,
    conditions: Vec<String>,
    room: Option<String>,
}

impl Cluster {
    async fn with_naming(naming: Naming) -> Self {
        let server = Server::new(1);
        let admin = server.client(&User::admin());
        let params = PostParams::default();
        let definitions: Api<CustomResourceDefinition> = Api::all(admin.clone());
        definitions.create(&params, &Lodge::crd()).await.unwrap();
        let mut cluster = Self {
            server,
            admin,
            running: None,
        };
        let spec = LodgeSpec { number: 7 };
        let lodges = cluster.api::<Lodge>();
        lodges
            .create(&params, &Lodge::new("l", spec))
            .await
            .unwrap();
        cluster.run(lodge::old(), naming).await;
        let left = cluster.left().await;
        assert_eq!(left.conditions, ["Cut", "Ready", "Signed"]);
        assert_eq!(left.room.as_deref(), Some("7"));
        assert_eq!(cluster.objects().await, (true, true));
        cluster
    }

    async fn old() -> Self {
        Self::with_naming(Naming::new(OPERATOR, "Lodge")).await
    }

    /// Stops the running version and runs another one.
    async fn run(&mut self, machine: impl Machine, naming: Naming) {
        let client = self.admin.clone();
        self.run_as(machine, naming, client).await;
    }

    async fn run_as(&mut self, machine: impl Machine, naming: Naming, client: Client) {
        self.stop().await;
        let operator = Operator::new(OPERATOR)
            .run_as(machine, naming)
            .seed(1)
            .clock(self.server.clone());
        let (trigger, shutdown) = Shutdown::pair();
        tokio::spawn(async move { operator.start(client, shutdown).await });
        self.running = Some(trigger);
        tokio::time::sleep(QUIET).await;
    }

    async fn stop(&mut self) {
        if let Some(trigger) = self.running.take() {
            trigger.stop();
            tokio::time::sleep(QUIET).await;
        }
    }

    fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<Scope = kube::core::NamespaceResourceScope, DynamicType = ()>,
    {
        Api::default_namespaced(self.admin.clone())
    }

    async fn left(&self) -> Left {
        let lodge = self.api::<Lodge>().get("l").await.unwrap();
        let status = lodge.status.unwrap_or_default();
        let mut conditions: Vec<String> =
            status.conditions.into_iter().map(|one| one.type_).collect();
        conditions.sort();
        Left {
            finalizers: lodge.metadata.finalizers.unwrap_or_default(),
            annotations: Vec::from_iter(lodge.metadata.annotations.unwrap_or_default()),
            conditions,
            room: status.room,
        }
    }

    /// Sets the permissions of the user `op`.
    async fn grant(&self, rules: &[Value]) {
        let params = PatchParams::apply("test").force();
        let name = json!({ "name": "op" });
        let role = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": name, "rules": rules,
        });
        let bound = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": name,
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "op" },
            "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "op" }],
        });
        let roles: Api<ClusterRole> = Api::all(self.admin.clone());
        roles
            .patch("op", &params, &Patch::Apply(role))
            .await
            .unwrap();
        let bindings: Api<ClusterRoleBinding> = Api::all(self.admin.clone());
        bindings
            .patch("op", &params, &Patch::Apply(bound))
            .await
            .unwrap();
    }

    /// Reports the existence of the sign and of the keys.
    async fn objects(&self) -> (bool, bool) {
        let sign = self.api::<ConfigMap>().get_opt("l").await.unwrap();
        let keys = self.api::<Secret>().get_opt("l").await.unwrap();
        (sign.is_some(), keys.is_some())
    }

    /// Deletes the Lodge. Returns true if it is gone after a while.
    async fn delete_lodge(&self) -> bool {
        let lodges = self.api::<Lodge>();
        lodges.delete("l", &DeleteParams::default()).await.unwrap();
        tokio::time::sleep(QUIET).await;
        lodges.get_opt("l").await.unwrap().is_none()
    }
}

fn ours() -> Naming {
    Naming::new(OPERATOR, "Lodge")
}

fn renamed() -> Naming {
    Naming {
        replaced: vec![OURS.to_owned()],
        ..Naming::new("new.lifecycle", "Lodge")
    }
}

fn texts(all: &[(&str, &str)]) -> Vec<(String, String)> {
    let pair = |(key, text): &(&str, &str)| ((*key).to_owned(), (*text).to_owned());
    all.iter().map(pair).collect()
}

async fn what_an_older_version_left_is_taken_away() {
    let mut cluster = Cluster::old().await;
    let before = cluster.left().await;
    assert_eq!(before.finalizers, [OURS]);
    assert_eq!(
        before.annotations,
        texts(&[("tests.lifecycle/lodge.ticket", "7")])
    );
    cluster.run(lodge::new(), ours()).await;
    // The record continues under its new name: a new record would be 99.
    let left = Left {
        finalizers: vec![],
        annotations: texts(&[("tests.lifecycle/lodge.place", "7")]),
        conditions: vec!["Cut".to_owned(), "Ready".to_owned()],
        room: None,
    };
    assert_eq!(cluster.left().await, left);
    assert_eq!(cluster.objects().await, (false, true));
    assert!(cluster.delete_lodge().await);
}

async fn without_a_line_it_stays_and_the_deletion_hangs() {
    let mut cluster = Cluster::old().await;
    cluster.run(lodge::forgetful(), ours()).await;
    let left = cluster.left().await;
    assert_eq!(left.finalizers, [OURS]);
    let both = [
        ("tests.lifecycle/lodge.place", "99"),
        ("tests.lifecycle/lodge.ticket", "7"),
    ];
    assert_eq!(left.annotations, texts(&both));
    // An apply that leaves out status fields which only we wrote removes them.
    assert_eq!(left.conditions, ["Cut", "Ready"]);
    assert_eq!(cluster.objects().await, (true, true));
    assert!(!cluster.delete_lodge().await);
}

async fn an_object_that_is_being_deleted_already_goes() {
    let mut cluster = Cluster::old().await;
    cluster.stop().await;
    assert!(
        !cluster.delete_lodge().await,
        "nobody takes the finalizer away"
    );
    cluster.run(lodge::new(), ours()).await;
    let lodge = cluster.api::<Lodge>().get_opt("l").await.unwrap();
    assert!(lodge.is_none());
}

async fn what_is_held_under_an_old_finalizer_is_given_back_first() {
    // While it lives, one finalizer takes the place of the other.
    let mut cluster = Cluster::old().await;
    cluster.run(lodge::renamed(), renamed()).await;
    let left = cluster.left().await;
    assert_eq!(left.finalizers, ["new.lifecycle/lodge"]);
    assert_eq!(
        left.annotations,
        texts(&[("new.lifecycle/lodge.ticket", "7")])
    );
    assert!(cluster.delete_lodge().await);
    assert!(!cluster.objects().await.0, "the step has run");
    // And where it is being deleted already, the steps run under the old one.
    let mut cluster = Cluster::old().await;
    cluster.stop().await;
    assert!(!cluster.delete_lodge().await);
    assert!(cluster.objects().await.0);
    cluster.run(lodge::renamed(), renamed()).await;
    let lodge = cluster.api::<Lodge>().get_opt("l").await.unwrap();
    assert!(lodge.is_none());
    assert!(!cluster.objects().await.0, "the step has run");
}

async fn a_status_that_an_old_manager_wrote_as_well_is_cleared() {
    let told_by_another = || Naming {
        status_manager: "someone.else".to_owned(),
        ..ours()
    };
    let mut cluster = Cluster::with_naming(told_by_another()).await;
    cluster.run(lodge::forgetful(), ours()).await;
    let left = cluster.left().await;
    assert_eq!(left.conditions, ["Cut", "Ready", "Signed"]);
    assert_eq!(left.room.as_deref(), Some("7"));
    let mut cluster = Cluster::with_naming(told_by_another()).await;
    cluster.run(lodge::new(), ours()).await;
    let left = cluster.left().await;
    assert_eq!(left.conditions, ["Cut", "Ready"]);
    assert_eq!(left.room, None);
}

async fn objects_that_are_released_stay_and_belong_to_nobody() {
    let mut cluster = Cluster::old().await;
    cluster.run(lodge::generous(), ours()).await;
    let sign = cluster.api::<ConfigMap>().get("l").await.unwrap();
    assert_eq!(sign.metadata.owner_references.unwrap_or_default(), []);
    let keys = cluster.api::<Secret>().get("l").await.unwrap();
    assert_eq!(keys.metadata.owner_references.unwrap_or_default().len(), 1);
    assert!(cluster.delete_lodge().await);
}

async fn what_is_settled_is_written_no_more() {
    let mut cluster = Cluster::old().await;
    cluster.run(lodge::new(), ours()).await;
    let lodges = cluster.api::<Lodge>();
    let before = lodges.get("l").await.unwrap().metadata.resource_version;
    tokio::time::sleep(RESYNC_IS_OVER).await;
    let after = lodges.get("l").await.unwrap().metadata.resource_version;
    assert_eq!(before, after);
}

async fn what_may_not_be_taken_away_is_told_and_tried_again() {
    let mut cluster = Cluster::old().await;
    let all = |groups: &[&str], resources: &[&str], verbs: &[&str]| json!({ "apiGroups": groups, "resources": resources, "verbs": verbs });
    let mut rules = vec![
        all(&["lodges.tests", "events.k8s.io"], &["*"], &["*"]),
        all(&[""], &["secrets"], &["*"]),
        all(&[""], &["configmaps"], &["get", "list", "watch", "patch"]),
    ];
    cluster.grant(&rules).await;
    cluster.server.enforce_rbac(true);
    let client = cluster.server.client(&User::new("op", &[]));
    cluster.run_as(lodge::new(), ours(), client).await;
    // Everything else has gone, and the Lodge is as it is wanted.
    let left = cluster.left().await;
    assert_eq!((left.finalizers, left.room), (vec![], None));
    assert_eq!(cluster.objects().await, (true, true));
    let events = cluster.api::<Event>().list(&ListParams::default()).await;
    let told: Vec<_> = events.unwrap().items.into_iter().collect();
    let told: Vec<_> = told
        .iter()
        .filter(|event| event.reason.as_deref() == Some("LeftBehind"))
        .collect();
    assert_eq!(told.len(), 1, "{told:?}");
    let note = told[0].note.as_deref().unwrap_or_default();
    assert!(
        note.contains("ConfigMap") && note.contains("delete"),
        "{note}"
    );
    // Once the right is granted, the object is removed without any further action.
    rules[2] = all(&[""], &["configmaps"], &["*"]);
    cluster.grant(&rules).await;
    tokio::time::sleep(RESYNC_IS_OVER).await;
    assert_eq!(cluster.objects().await, (false, true));
}

/// The same on a real API server: the older version, the newer one, and nothing is left.
async fn a_real_api_server_is_left_as_the_simulated_one() -> Result<()> {
    let mut world = World::without_operator().await?;
    world.define(&Lodge::crd()).await?;
    let lodges: Api<Lodge> = Api::default_namespaced(world.client.clone());
    let made = Lodge::new("l", LodgeSpec { number: 7 });
    lodges.create(&PostParams::default(), &made).await?;
    world
        .run_this(Operator::new(OPERATOR).run(lodge::old()))
        .await?;
    let says = async |all: &[&str]| {
        let what = format!("the Lodge says {all:?}");
        eventually(&what, SOON, async || {
            let lodge = lodges.get("l").await?;
            let said = lodge
                .status
                .into_iter()
                .flat_map(|status| status.conditions);
            let said: Vec<String> = said
                .map(|one| format!("{}={}", one.type_, one.status))
                .collect();
            Ok((said == all).then_some(()))
        })
        .await
    };
    says(&["Signed=True", "Cut=True", "Ready=True"]).await?;
    world.stop().await?;
    world
        .run_this(Operator::new(OPERATOR).run(lodge::new()))
        .await?;
    says(&["Cut=True", "Ready=True"]).await?;
    eventually("nothing is left", SOON, async || {
        let meta = lodges.get("l").await?.metadata;
        let annotations = Vec::from_iter(meta.annotations.unwrap_or_default());
        let signs = world.maps().get_opt("l").await?;
        let moved = annotations == texts(&[("tests.lifecycle/lodge.place", "7")]);
        let clean = meta.finalizers.unwrap_or_default().is_empty() && signs.is_none();
        Ok((moved && clean).then_some(()))
    })
    .await?;
    lodges.delete("l", &DeleteParams::default()).await?;
    eventually("the Lodge is gone", SOON, async || {
        Ok(lodges.get_opt("l").await?.is_none().then_some(()))
    })
    .await
}
