//! The driver on the simulated server: what many Listeners cost, counted, and what is left alone. Prints figures; `LISTENERS` says how many.

#[path = "simulated/ignored.rs"]
mod ignored;
#[path = "driver/lamp.rs"]
#[allow(dead_code, reason = "mistakes are planted elsewhere")]
mod lamp;

use lifecycle_tests::settling::{WATCHED, settle};

#[test]
fn every_listener_costs_two_writes_and_no_read() {
    let many = std::env::var("LISTENERS").ok();
    let many = many.and_then(|n| n.parse().ok()).unwrap_or(200);
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
