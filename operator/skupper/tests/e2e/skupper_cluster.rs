//! Skupper sites on a real node: the controller installed by its manifest or its chart, routers from their image, and traffic between Pods through Services.
//! Every byte is random and compared. Names of tests begin with their rows of the acceptance table of `docs/skupper.md`.

pub(super) mod env;
mod links;
mod pods;
mod replaced;
mod services;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use env::{TestEnv, TestNamespace};
use lifecycle_tests::harness::{Case, Need, case_within};

/// They start beside each other, perhaps on a machine that compiles as well.
const LIMIT: Duration = Duration::from_secs(600);

pub(crate) fn cases() -> Vec<Case> {
    vec![
        on_a_node(
            "s06_s28_s48_s49_a_service_leads_to_the_port_that_is_bound",
            services::lead,
        ),
        on_a_node("s35_two_namespaces_are_joined_by_a_token", links::joined),
        on_a_node("s52_s53_controller_and_router_are_replaced", replaced::both),
        on_a_node("s60_s61_s62_each_pod_is_reached_by_its_name", pods::by_name),
        on_a_node(
            "s65_a_workload_of_another_namespace_is_reached",
            pods::attached,
        ),
        case_within(
            "the_chart_installs_a_controller_whose_sites_carry_traffic",
            &[Need::Nodes, Need::Helm],
            LIMIT,
            by_chart,
        ),
    ]
}

/// The same as the first, on a cluster of its own.
async fn by_chart() -> Result<()> {
    let env = Arc::new(TestEnv::by_chart().await?);
    services::lead(TestNamespace::new(Arc::clone(&env), "charted").await?).await?;
    env.nothing_was_refused("charted").await
}

fn is_row(word: &str) -> bool {
    let number = word.strip_prefix('s').unwrap_or_default();
    number.parse::<u8>().is_ok()
}

/// A test in a namespace of its own, beside others.
fn on_a_node<F, R>(name: &'static str, run: F) -> Case
where
    F: FnOnce(TestNamespace) -> R + Send + 'static,
    R: Future<Output = Result<()>>,
{
    case_within(name, &[Need::Nodes], LIMIT, move || async move {
        let env = TestEnv::shared().await?;
        // Its rows are the name of its namespace.
        let rows = name.split('_').take_while(|word| is_row(word));
        let namespace = rows.collect::<Vec<_>>().join("-");
        run(TestNamespace::new(Arc::clone(&env), &namespace).await?).await?;
        env.nothing_was_refused(&namespace).await
    })
}
