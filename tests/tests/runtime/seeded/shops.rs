//! Ordinary operators. An exploration covers everything that they declare, including the cluster's
//! operations on claims and owners.

use kube::CustomResourceExt;
use lifecycle_suite::resources::{Site, Suite};
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use serde_json::{Value, json};

use super::book::{self, Book, Writer};
use super::fan::{self, Fan, Maker};
use super::passes;
use super::shop::{self, Shop, ShopOperator};
use lifecycle_tests::suites::wrapped::Wrapped;

pub(crate) fn cases() -> Vec<Case> {
    named![calculation(): an_operator_of_five_objects_is_seen_in_full, what_a_namespace_owns_stays_while_that_is_there, an_owner_that_is_not_there_is_found, what_is_excluded_is_not_missed_and_what_is_seen_after_all_is_named, an_exclusion_has_a_name_and_a_reason]
}

const SHOPS: &str = "
variant: old
apiVersion: tests.lifecycle/v1
kind: Shop
metadata: { name: s }
spec: { image: a }
---
variant: new
apiVersion: tests.lifecycle/v1
kind: Shop
metadata: { name: s }
spec: { image: b }
";

fn shops() -> Suite {
    Suite::for_machine(|| shop::machine(ShopOperator))
        .define(&Shop::crd())
        .fixtures(SHOPS)
        .promise("starts", starts)
        .depth(3)
        .faults(100, 10)
}

/// Updates a Deployment as the controllers of a cluster do.
async fn starts(site: Site) -> kube::Result<bool> {
    let server = site.sibling_path("/apis/apps/v1", "deployments", site.name());
    let status = json!({ "replicas": 1, "availableReplicas": 1 });
    site.edit(&server, |server| server["status"] = status).await
}

fn an_operator_of_five_objects_is_seen_in_full() {
    passes(shops());
}

const BOOKS: &str = "
variant: usual
given: true
apiVersion: v1
kind: Namespace
metadata: { name: default, labels: { is: usual } }
---
variant: one
apiVersion: tests.lifecycle/v1
kind: Book
metadata: { name: b }
spec: { home: default }
---
variant: homeless
apiVersion: tests.lifecycle/v1
kind: Book
metadata: { name: b }
spec: { home: nowhere }
";

fn what_a_namespace_owns_stays_while_that_is_there() {
    let books = Suite::for_machine(|| book::machine(Writer)).define(&Book::crd());
    passes(books.fixtures(BOOKS).depth(3).faults(100, 10));
}

const FANS: &str = "
variant: one
apiVersion: tests.lifecycle/v1
kind: Fan
metadata: { name: f }
spec: { blades: [a], colour: red }
";

fn an_owner_that_is_not_there_is_found() {
    let nobody = json!({
        "apiVersion": "tests.lifecycle/v1", "kind": "Fan", "name": "f", "uid": "00000000-0000-4000-8000-000000000000",
    });
    let owned = move |mut object: Value| {
        object["metadata"]["ownerReferences"] = json!([nobody]);
        object
    };
    let fans = Suite::for_machine(move || {
        let owned = owned.clone();
        Wrapped::new(fan::machine(Maker)).build(move |_, _, object| owned(object))
    });
    let fans = fans
        .define(&Fan::crd())
        .fixtures(FANS)
        .depth(1)
        .faults(0, 0);
    let report = fans.run().expect("the suite is complete");
    assert!(!report.failures.is_empty(), "{report}");
}

fn what_is_excluded_is_not_missed_and_what_is_seen_after_all_is_named() {
    let fans = || {
        let fans = Suite::for_machine(|| fan::machine(Maker)).define(&Fan::crd());
        fans.fixtures(FANS).depth(1).faults(0, 0)
    };
    let unseen = |suite: Suite| suite.run().expect("the suite is complete").unseen();
    let missed = "effect delete_blades";
    assert!(unseen(fans()).contains(&missed.to_owned()));
    let fans = fans().never(missed, "nothing is ever taken off");
    let fans = fans.never("state Ready", "it never ends");
    let unseen = unseen(fans);
    assert!(!unseen.contains(&missed.to_owned()), "{unseen:?}");
    let seen = "state Ready was seen, and is excluded: it never ends";
    assert!(unseen.contains(&seen.to_owned()), "{unseen:?}");
}

fn an_exclusion_has_a_name_and_a_reason() {
    let fans = || {
        let fans = Suite::for_machine(|| fan::machine(Maker)).define(&Fan::crd());
        fans.fixtures(FANS).depth(0).faults(0, 0)
    };
    let problem = |suite: Suite| suite.run().map(drop).expect_err("it is not complete");
    let unknown = problem(fans().never("state Redy", "it never ends"));
    assert_eq!(
        unknown,
        "state Redy cannot be excluded: there is no such item"
    );
    let silent = problem(fans().never("state Ready", " "));
    assert_eq!(silent, "state Ready is excluded without a reason: add one");
}
