//! A recorded run of the operator on the simulated server, with other writers and faults in
//! between. The recording is compared with this version and with others.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::Service;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use lifecycle_cli::process::cluster_domain::ClusterDomain;
use lifecycle_inspect::replay::{
    Difference, Recorder, ReplayReport, Replayed, Settings, assert_same, hold, read, shrink, text,
};
use lifecycle_listener::controller::{NAME, lifecycles};
use lifecycle_runtime::Operator;
use lifecycle_runtime::lifecycle::Answer;
use lifecycle_runtime::machine::ir::{Effect, Implicit, Lifecycle, RollUp};
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_simulator::server::{Server, User};
use lifecycle_specs_listener::listener::{Listener, ListenerPort, ListenerSpec};
use lifecycle_specs_listener::listener_class::{ListenerClass, ListenerClassSpec, ServiceType};
use lifecycle_specs_listener::{crds, listener};
use lifecycle_suite::faults::{Faults, Plan};
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use lifecycle_tests::suites::wrapped::Wrapped;
use serde_json::json;
use tempfile::TempDir;
use tokio::time::sleep;

pub(crate) fn cases() -> Vec<Case> {
    named![calculation():
        a_version_decides_in_a_replay_as_it_did,
        a_version_that_answers_otherwise_is_told_with_what_follows,
        what_a_declaration_does_not_allow_to_follow_is_told,
        a_difference_shrinks_to_a_pass_and_what_decides_it]
}

/// Longer than an operator waits for anything here.
const QUIET: Duration = Duration::from_secs(60);
/// The first write is refused for now, the second is made but its answer is lost, and one meets a
/// conflict.
const FAULTS: &str = "w1:503 w2:lost w5:409";

fn recorded(file: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime.unwrap().block_on(run(file));
}

/// Two Listeners come, a Service is edited and one is deleted, a class goes and comes back, and a Listener goes.
async fn run(file: &Path) {
    let server = Server::new(1);
    let admin = server.client(&User::admin());
    let params = PostParams::default();
    for definition in crds() {
        let all = Api::all(admin.clone());
        all.create(&params, &definition).await.unwrap();
    }
    let classes: Api<ListenerClass> = Api::all(admin.clone());
    let class = ListenerClass::new("inside", ListenerClassSpec::new(ServiceType::ClusterIP));
    classes.create(&params, &class).await.unwrap();
    let recorder = Recorder::begin(Settings {
        file: file.to_owned(),
        limit: 1 << 20,
        program: NAME.to_owned(),
        version: "1".to_owned(),
        settings: Default::default(),
    });
    let plan: Plan = FAULTS.parse().unwrap();
    let faults = Faults::new(plan, jiff::Timestamp::UNIX_EPOCH);
    let client = faults.line(true).client(&admin);
    let mut operator = Operator::new(NAME).seed(1).clock(server.clone());
    for (machine, naming) in lifecycles(&ClusterDomain::usual()) {
        operator = operator.run_shared(machine, naming);
    }
    let operator = operator.trace(Arc::new(recorder.unwrap()));
    let (trigger, shutdown) = Shutdown::pair();
    let running = tokio::spawn(operator.start(client, shutdown));
    let listeners: Api<Listener> = Api::namespaced(admin.clone(), "default");
    let services: Api<Service> = Api::namespaced(admin.clone(), "default");
    for name in ["a", "b"] {
        listeners
            .create(&params, &build_listener(name))
            .await
            .unwrap();
    }
    sleep(QUIET).await;
    let patch = Patch::Merge(json!({ "spec": { "ports": [{ "name": "http", "port": 81 }] } }));
    let merge = PatchParams::default();
    services.patch("a", &merge, &patch).await.unwrap();
    sleep(QUIET).await;
    let delete = DeleteParams::default();
    services.delete("b", &delete).await.unwrap();
    sleep(QUIET).await;
    classes.delete("inside", &delete).await.unwrap();
    sleep(QUIET).await;
    classes.create(&params, &class).await.unwrap();
    sleep(QUIET).await;
    listeners.delete("b", &delete).await.unwrap();
    sleep(QUIET).await;
    assert_eq!(faults.left(), Plan::default(), "each fault was met");
    trigger.stop();
    running.await.unwrap().unwrap();
}

fn build_listener(name: &str) -> Listener {
    let spec = ListenerSpec {
        class_name: Some("inside".to_owned()),
        ports: Some(vec![ListenerPort {
            name: "http".to_owned(),
            port: 80,
            protocol: None,
        }]),
        ..ListenerSpec::default()
    };
    Listener::new(name, spec)
}

/// Compares the recorded run with the changed lifecycles.
fn replay_recorded(change: impl Fn(Wrapped) -> Wrapped) -> ReplayReport {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("trace");
    recorded(&file);
    hold(&read(&file).unwrap(), |_: &_| Ok(version(&change))).unwrap()
}

/// The lifecycles with a change.
fn version(change: impl Fn(Wrapped) -> Wrapped) -> Vec<Replayed> {
    let all = lifecycles(&ClusterDomain::usual()).into_iter();
    let all = all.map(|(machine, naming)| {
        let changed = change(Wrapped::around(machine));
        Replayed::new(Arc::new(changed), naming)
    });
    all.collect()
}

/// A version that thinks that the Listener `a` has no ports.
fn without_ports(machine: Wrapped) -> Wrapped {
    let validity = var("validity");
    let no_ports = value(validity, "NoPorts");
    machine.fact(move |seen, var, answer| {
        let is_a = seen.subject().meta.name.as_deref() == Some("a");
        match var == validity && is_a {
            true => Answer::new(no_ports, "it has no ports"),
            false => answer,
        }
    })
}

fn a_version_decides_in_a_replay_as_it_did() {
    let held = replay_recorded(|machine| machine);
    let said = text(&held);
    assert!(held.is_same(), "{said}");
    assert_eq!(held.objects, 2, "{said}");
    assert!(held.passes >= 12, "{said}");
    let nothing_else = [&held.as_recorded, &held.not_held, &held.notes];
    assert!(nothing_else.iter().all(|all| all.is_empty()), "{said}");
    assert!(held.ruled_out.is_empty() && held.flaws.is_empty(), "{said}");
}

fn var(name: &str) -> usize {
    let mut vars = listener::IR.vars.iter();
    vars.position(|var| var.name == name).unwrap()
}

fn value(var: usize, name: &str) -> u8 {
    let mut values = listener::IR.vars[var].values.iter();
    u8::try_from(values.position(|value| *value == name).unwrap()).unwrap()
}

fn a_version_that_answers_otherwise_is_told_with_what_follows() {
    let held = replay_recorded(without_ports);
    let said = text(&held);
    assert!(!held.is_same(), "{said}");
    let ready = no_more_ready(&held);
    assert_eq!(ready.object, "Listener default/a");
    assert_eq!(ready.facts.len(), 1, "{said}");
    assert_eq!(ready.next, None, "{said}");
    assert!(
        said.contains(
            "    validity: Fine -> NoPorts (it has no ports)\n    state: Ready -> Invalid\n"
        ),
        "{said}"
    );
    let applying = held.differences.iter().filter_map(|one| one.next.as_ref());
    let moves: Vec<_> = applying
        .map(|next| (next.then.as_str(), next.now.as_str()))
        .collect();
    assert!(moves.contains(&("apply_service", "rest")), "{said}");
    let others = held
        .differences
        .iter()
        .any(|one| one.object.ends_with("/b"));
    assert!(!others, "{said}");
}

fn what_a_declaration_does_not_allow_to_follow_is_told() {
    let address = var("address");
    let gone = [(address, value(address, "NodeGone"))].to_vec();
    let sets = vec![&*Vec::leak(gone)];
    let effects = listener::IR.effects.iter().map(|effect| Effect {
        when: effect.when.clone(),
        ..*effect
    });
    let mut effects: Vec<Effect> = effects.collect();
    effects[0].sets = Vec::leak(sets);
    let ir = listener::IR;
    let other: &'static Lifecycle = Box::leak(Box::new(Lifecycle {
        effects: Vec::leak(effects),
        ready: RollUp { ..ir.ready },
        implicit: ir.implicit.as_ref().map(|one| Implicit { ..*one }),
        ..*ir
    }));
    let held = replay_recorded(|machine| machine.declared(other));
    let said = text(&held);
    assert!(held.differences.is_empty(), "{said}");
    assert!(!held.is_same(), "{said}");
    let why = "`apply_service` sets { address = NodeGone }, but led to";
    assert!(
        held.undeclared.iter().all(|one| one.why.starts_with(why)),
        "{said}"
    );
    assert!(!held.undeclared.is_empty(), "{said}");
    assert_eq!(held.notes, ["`Listener` is declared otherwise than it was"]);
}

fn no_more_ready(held: &ReplayReport) -> &Difference {
    let mut all = held.differences.iter();
    let found = all.find(|difference| {
        let state = difference.state.as_ref();
        state.is_some_and(|state| state.then == "Ready" && state.now == "Invalid")
    });
    found.unwrap_or_else(|| panic!("{}", text(held)))
}

fn a_difference_shrinks_to_a_pass_and_what_decides_it() {
    let folder = TempDir::new().unwrap();
    let (file, small) = (folder.path().join("trace"), folder.path().join("small"));
    recorded(&file);
    let changed = |_: &_| Ok(version(without_ports));
    let recorded = read(&file).unwrap().only("Listener default/a");
    let held = hold(&recorded, changed).unwrap();
    assert_eq!(held.objects, 1, "{}", text(&held));
    let difference = no_more_ready(&held);
    let fixture = shrink(&recorded, difference, changed).unwrap().unwrap();
    assert_eq!(
        fixture.objects(),
        3,
        "the Listener, its class and its Service: {fixture:?}"
    );
    fixture.write(&small).unwrap();
    let test = fixture.test(&small);
    assert!(
        test.contains("fn listener_default_a_is_decided_as_it_was()"),
        "{test}"
    );
    assert_same(&small, &version(|machine| machine));
    let held = hold(&read(&small).unwrap(), changed).unwrap();
    assert_eq!(
        (held.passes, held.differences.len()),
        (1, 1),
        "{}",
        text(&held)
    );
}
