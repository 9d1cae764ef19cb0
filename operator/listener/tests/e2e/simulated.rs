//! The operator on the simulated server: the counted cost of many Listeners. Prints figures.

use lifecycle_tests::amount::amount;
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;

use crate::settling::{WATCHED, settle};

pub(crate) fn cases() -> Vec<Case> {
    named![calculation(): f6_every_listener_costs_two_writes_and_no_read]
}

/// Tests the cost of Listeners. `LISTENERS` sets their number.
fn f6_every_listener_costs_two_writes_and_no_read() {
    let many = usize::try_from(amount("LISTENERS", 200, 20_000)).expect("it fits");
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build();
    let runtime = runtime.expect("a runtime starts");
    let settled = runtime
        .block_on(settle(many))
        .expect("the simulated server takes it");
    eprintln!("{settled}");
    assert_eq!(settled.ready, many, "all are Ready");
    assert_eq!(settled.writes, 2 * many, "two writes each");
    assert_eq!(settled.questions, WATCHED, "watches, and no read");
}
