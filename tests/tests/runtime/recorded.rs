//! Recordings of operators on the simulated server: their content and its limits, the replay of
//! polls and minted values, and the handling of files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::{Client, CustomResourceExt};
use lifecycle_inspect::replay::{
    Error, Recorder, ReplayReport, Replayed, Settings, hold, read, text,
};
use lifecycle_runtime::lifecycle::Machine;
use lifecycle_runtime::operator::{Naming, Operator};
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_simulator::{Server, User};
use lifecycle_tests::harness::Case;
use lifecycle_tests::lifecycles::bucket::{self, Bucket, BucketSpec, InStore, Store};
use lifecycle_tests::lifecycles::login::{self, KEY, Login, LoginOperator, LoginSpec};
use lifecycle_tests::named;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::sleep;

pub(crate) fn cases() -> Vec<Case> {
    named![calculation():
        a_recording_has_nothing_of_what_is_in_secrets,
        what_polls_answered_is_taken_as_it_was_recorded,
        a_file_that_is_long_enough_becomes_the_one_before,
        a_file_that_cannot_be_written_stops_no_operator,
        a_recording_goes_on_behind_half_a_line]
}

const QUIET: Duration = Duration::from_secs(20);
const OPERATOR: &str = "recorded.tests";

fn on_paused_time<R>(run: impl Future<Output = R>) -> R {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build();
    runtime.unwrap().block_on(run)
}

fn recorder(file: &Path, limit: u64) -> Result<Recorder, Error> {
    Recorder::begin(Settings {
        file: file.to_owned(),
        limit,
        program: OPERATOR.to_owned(),
        version: "1".to_owned(),
        settings: Default::default(),
    })
}

/// Runs an operator on a server with these kinds while something is done to it.
async fn recorded(
    (file, limit): (&Path, u64),
    machine: Arc<dyn Machine>,
    definition: CustomResourceDefinition,
    others: impl AsyncFnOnce(&Server, Client),
) {
    let server = Server::new(1);
    let admin = server.client(&User::admin());
    let definitions = Api::all(admin.clone());
    let params = PostParams::default();
    definitions.create(&params, &definition).await.unwrap();
    let operator = Operator::new(OPERATOR)
        .run_shared(
            Arc::clone(&machine),
            Naming::new(OPERATOR, machine.ir().name),
        )
        .trace(Arc::new(recorder(file, limit).unwrap()))
        .clock(server.clone())
        .randomness(7)
        .seed(1);
    let (trigger, shutdown) = Shutdown::pair();
    let running = tokio::spawn(operator.start(admin.clone(), shutdown));
    others(&server, admin).await;
    trigger.stop();
    running.await.unwrap().unwrap();
}

fn verify_recording(file: &Path, machine: Arc<dyn Machine>) -> ReplayReport {
    let naming = Naming::new(OPERATOR, machine.ir().name);
    let made = |_: &_| Ok(vec![Replayed::new(Arc::clone(&machine), naming.clone())]);
    hold(&read(file).unwrap(), made).unwrap()
}

async fn password(secrets: &Api<Secret>, name: &str) -> Vec<u8> {
    let data = secrets.get(name).await.unwrap().data.unwrap();
    data[KEY].0.clone()
}

fn login() -> Login {
    let copies = vec!["x".to_owned(), "y".to_owned()];
    Login::new("l", LoginSpec { hours: 1, copies })
}

fn a_recording_has_nothing_of_what_is_in_secrets() {
    const OTHER: &str = "what-nobody-may-read";
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("trace");
    let mut values = vec![OTHER.as_bytes().to_vec()];
    let others = async |server: &Server, admin: Client| {
        let logins: Api<Login> = Api::namespaced(admin.clone(), "default");
        let secrets: Api<Secret> = Api::namespaced(admin.clone(), "default");
        logins
            .create(&PostParams::default(), &login())
            .await
            .unwrap();
        sleep(QUIET).await;
        values.push(password(&secrets, "l").await);
        let other = Patch::Merge(json!({
            "metadata": { "annotations": { "kubectl.kubernetes.io/last-applied-configuration": OTHER } },
            "stringData": { KEY: OTHER },
        }));
        let merge = PatchParams::default();
        secrets.patch("l-x", &merge, &other).await.unwrap();
        sleep(QUIET).await;
        let hour = Duration::from_secs(3700);
        server.advance(hour);
        sleep(hour).await;
        values.push(password(&secrets, "l").await);
    };
    let made = || Arc::new(login::machine(LoginOperator));
    on_paused_time(recorded((&file, 1 << 20), made(), Login::crd(), others));
    assert_eq!(values.len(), 3);
    assert_ne!(values[1], values[2], "it was made anew");
    let trace = fs::read_to_string(&file).unwrap();
    for value in values {
        let plain = String::from_utf8(value).unwrap();
        assert!(!trace.contains(&STANDARD.encode(&plain)), "{trace}");
        assert!(!trace.contains(&plain), "{trace}");
    }
    assert!(
        trace.contains(&STANDARD.encode("left-out-1......")[..14]),
        "{trace}"
    );
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    is_in_order(&trace);
    let held = verify_recording(&file, made());
    assert!(held.is_same() && held.passes >= 6, "{}", text(&held));
    assert!(held.not_held.is_empty(), "{}", text(&held));
}

/// Checks that each reconciliation follows the object that it observed, and each write the
/// reconciliation that decided it.
fn is_in_order(trace: &str) {
    let lines: Vec<Value> = trace
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds: Vec<&str> = lines.iter().take(2).map(line_kind).collect();
    assert_eq!(kinds, ["trace", "runs"]);
    let times: Vec<u64> = lines
        .iter()
        .map(|line| line["ms"].as_u64().unwrap())
        .collect();
    assert!(times.is_sorted(), "{trace}");
    let mut shown = Value::Null;
    let mut decided = String::new();
    let mut writes = 0;
    for line in &lines {
        match line_kind(line) {
            "object" if line["object"]["kind"] == "Login" => {
                shown = line["object"]["metadata"]["resourceVersion"].clone();
            }
            "pass" => {
                assert_eq!(line["pass"]["version"], shown, "{line}");
                decided = line["pass"]["does"].as_str().unwrap().to_owned();
            }
            "sent" if line["sent"]["what"] == "effect" => {
                writes += 1;
                assert!(decided.starts_with("write: apply_"), "{decided}: {line}");
            }
            _ => {}
        }
    }
    assert!(writes >= 4, "{trace}");
}

fn line_kind(line: &Value) -> &str {
    let mut keys = line.as_object().unwrap().keys();
    keys.find(|key| *key != "ms").unwrap()
}

fn what_polls_answered_is_taken_as_it_was_recorded() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("trace");
    let store = Store::default();
    let made = || Arc::new(bucket::machine(InStore(store.clone())));
    let others = async |_: &Server, admin: Client| {
        let buckets: Api<Bucket> = Api::namespaced(admin, "default");
        let bucket = Bucket::new("b", BucketSpec::default());
        buckets
            .create(&PostParams::default(), &bucket)
            .await
            .unwrap();
        sleep(QUIET).await;
        let patch = Patch::Merge(json!({ "spec": { "quota": 3 } }));
        buckets
            .patch("b", &PatchParams::default(), &patch)
            .await
            .unwrap();
        sleep(QUIET * 4).await;
    };
    on_paused_time(recorded((&file, 1 << 20), made(), Bucket::crd(), others));
    let asked = store.questions();
    let held = verify_recording(&file, made());
    let said = text(&held);
    assert!(held.is_same() && held.passes >= 5, "{said}");
    let taken = |fact: &str| format!("`{fact}` of Bucket, which `store` decides, in ");
    for fact in ["store", "bucket", "secret"] {
        let mut all = held.as_recorded.iter();
        assert!(
            all.any(|line| line.starts_with(&taken(fact))),
            "{fact}: {said}"
        );
    }
    assert_eq!(store.questions(), asked, "nobody is asked in a replay");
}

async fn edited(admin: Client, times: u16) {
    let logins: Api<Login> = Api::namespaced(admin.clone(), "default");
    logins
        .create(&PostParams::default(), &login())
        .await
        .unwrap();
    for hours in 0..times {
        sleep(QUIET).await;
        let patch = Patch::Merge(json!({ "spec": { "hours": hours + 2 } }));
        logins
            .patch("l", &PatchParams::default(), &patch)
            .await
            .unwrap();
    }
    sleep(QUIET).await;
}

fn a_file_that_is_long_enough_becomes_the_one_before() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("trace");
    let others = async |_: &Server, admin: Client| edited(admin, 30).await;
    let made = || Arc::new(login::machine(LoginOperator));
    let limit = 8 << 10;
    on_paused_time(recorded((&file, limit), made(), Login::crd(), others));
    for file in [file.clone(), folder.path().join("trace.1")] {
        let held = verify_recording(&file, made());
        assert!(
            held.is_same() && held.not_held.is_empty(),
            "{}",
            text(&held)
        );
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(fs::metadata(&file).unwrap().len() < limit * 4);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

fn a_file_that_cannot_be_written_stops_no_operator() {
    let full = recorder(Path::new("/dev/full"), 1).unwrap_err();
    assert!(matches!(full, Error::Open { .. }), "{full}");
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("trace");
    let machine = Arc::new(login::machine(LoginOperator));
    let others = async |_: &Server, admin: Client| {
        // The folder of the next file no longer exists.
        fs::remove_file(&file).unwrap();
        fs::remove_dir(folder.path()).unwrap();
        edited(admin.clone(), 10).await;
        let logins: Api<Login> = Api::namespaced(admin, "default");
        let conditions = logins.get("l").await.unwrap().status.unwrap().conditions;
        let ready = conditions.iter().find(|one| one.type_ == "Ready").unwrap();
        assert_eq!(
            (ready.status.as_str(), ready.observed_generation),
            ("True", Some(11))
        );
    };
    on_paused_time(recorded((&file, 1), machine, Login::crd(), others));
    assert!(!file.exists());
}

fn a_recording_goes_on_behind_half_a_line() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("trace");
    let made = || Arc::new(login::machine(LoginOperator));
    for _ in 0..2 {
        let others = async |_: &Server, admin: Client| edited(admin, 1).await;
        on_paused_time(recorded((&file, 1 << 20), made(), Login::crd(), others));
        let whole = fs::read(&file).unwrap();
        fs::write(&file, &whole[..whole.len() - 5]).unwrap();
    }
    let held = verify_recording(&file, made());
    let said = text(&held);
    assert!(held.is_same(), "{said}");
    assert_eq!(held.flaws.len(), 2, "{said}");
    assert_eq!(held.flaws[1].why, "the file ends within it");
}
