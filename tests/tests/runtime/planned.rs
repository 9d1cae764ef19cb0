//! `lifecycle_inspect::plan` of operators with a system outside Kubernetes, and of operators that
//! never get to observe. Nothing is queried, called or reported too early.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::future::pending;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kube::CustomResourceExt;
use kube::api::{Api, PostParams};
use lifecycle_inspect::plan::{DryRun, Error, Operator as Inside, Still, Taken, plan};
use lifecycle_runtime::Operator;
use lifecycle_simulator::{Server, User};
use lifecycle_tests::harness::Case;
use lifecycle_tests::lifecycles::app::{self, Migrations};
use lifecycle_tests::lifecycles::bucket::{self, Bucket, BucketSpec, InStore, Store};
use lifecycle_tests::named;

const LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn cases() -> Vec<Case> {
    named![calculation(): what_is_outside_is_neither_asked_nor_called, what_is_quiet_and_not_ready_is_no_plan, a_kind_that_nobody_installed_is_named_and_the_rest_goes_on]
}

/// On paused time, so that a minute takes none.
fn on_paused_time<R>(run: impl Future<Output = R>) -> R {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build();
    runtime.unwrap().block_on(run)
}

fn what_is_outside_is_neither_asked_nor_called() {
    let store = Store::default();
    let noted = Arc::new(Mutex::new(BTreeSet::new()));
    let planned = on_paused_time(async {
        let live = Server::new(1).client(&User::admin());
        let definitions = Api::all(live.clone());
        let definition = Bucket::crd();
        definitions
            .create(&PostParams::default(), &definition)
            .await
            .unwrap();
        let buckets: Api<Bucket> = Api::namespaced(live.clone(), "default");
        let bucket = Bucket::new("b", BucketSpec::default());
        buckets
            .create(&PostParams::default(), &bucket)
            .await
            .unwrap();
        let machine = Arc::new(bucket::machine(InStore(store.clone())));
        let still = Still::new(machine, Arc::clone(&noted));
        let start = |inside: Inside| {
            let operator = Operator::new("store.tests").run(still);
            let operator = operator.trace(inside.trace).health(inside.health);
            operator.start(inside.client, inside.shutdown)
        };
        let planned = plan(&live, (DryRun::Copy, LIMIT), start).await.unwrap();
        let untouched = buckets.get("b").await.unwrap();
        assert_eq!(untouched.metadata.annotations, None);
        planned
    });
    assert_eq!(store.questions(), 0);
    let noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
    let noted: Vec<&str> = noted.iter().map(String::as_str).collect();
    assert_eq!(noted, ["poll `store` of Bucket default/b"]);
    let said = lifecycle_inspect::plan::text(&planned);
    assert_eq!(planned.changes.len(), 1, "{said}");
    assert_eq!(planned.changes[0].object(), "Bucket default/b", "{said}");
    assert_eq!(planned.waiting[0].state, "Unreachable", "{said}");
}

fn a_kind_that_nobody_installed_is_named_and_the_rest_goes_on() {
    let planned = on_paused_time(async {
        let live = Server::new(1).client(&User::admin());
        let definitions = Api::all(live.clone());
        let definition = Bucket::crd();
        definitions
            .create(&PostParams::default(), &definition)
            .await
            .unwrap();
        let buckets: Api<Bucket> = Api::namespaced(live.clone(), "default");
        let bucket = Bucket::new("b", BucketSpec::default());
        buckets
            .create(&PostParams::default(), &bucket)
            .await
            .unwrap();
        let noted = Arc::default();
        let bucket = Arc::new(bucket::machine(InStore(Store::default())));
        let still = Still::new(bucket, noted);
        let start = |inside: Inside| {
            let operator = Operator::new("store.tests").run(still);
            let operator = operator.run(app::machine(Migrations));
            let operator = operator.trace(inside.trace).health(inside.health);
            operator.start(inside.client, inside.shutdown)
        };
        plan(&live, (DryRun::Copy, LIMIT), start).await.unwrap()
    });
    let said = lifecycle_inspect::plan::text(&planned);
    let [missing] = &planned.missing[..] else {
        panic!("{said}");
    };
    assert_eq!(missing.taken, Taken::Missing, "{said}");
    let line = format!(
        "! {} is not installed, and the operator waits for it: ",
        missing.definition
    );
    assert!(said.starts_with(&line), "{said}");
    assert_eq!(planned.changes.len(), 1, "{said}");
    assert_eq!(planned.changes[0].object(), "Bucket default/b", "{said}");
    assert!(!planned.unfinished, "{said}");
}

fn what_is_quiet_and_not_ready_is_no_plan() {
    let refused = on_paused_time(async {
        let live = Server::new(1).client(&User::admin());
        let start = |inside: Inside| {
            inside.health.started();
            inside.health.waits("definitions", "they are not served");
            pending::<Result<(), Infallible>>()
        };
        plan(&live, (DryRun::Copy, LIMIT), start).await
    });
    let Err(Error::NotReady(missing)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(missing[0].0, "definitions");
}
