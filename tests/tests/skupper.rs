//! Skupper sites on a real API server with real routers, by the rows of the acceptance table of `docs/skupper.md`.

#[path = "skupper/attached.rs"]
mod attached;
#[path = "skupper/bad_input.rs"]
mod bad_input;
#[path = "skupper/conflicts.rs"]
mod conflicts;
#[path = "skupper/incomplete.rs"]
mod incomplete;
#[path = "skupper/objects.rs"]
mod objects;
#[path = "skupper/orders.rs"]
mod orders;
#[path = "skupper/restarts.rs"]
mod restarts;
#[path = "skupper/scale.rs"]
mod scale;
#[path = "skupper/status.rs"]
mod status;
#[path = "skupper/support.rs"]
mod support;
#[path = "skupper/templates.rs"]
mod templates;
#[path = "skupper/traffic.rs"]
mod traffic;

use std::process::ExitCode;

use lifecycle_tests::harness::run;
use lifecycle_tests::skupper::Ground;

fn main() -> ExitCode {
    let cases = [
        objects::cases(),
        incomplete::cases(),
        conflicts::cases(),
        status::cases(),
        traffic::cases(),
        restarts::cases(),
        attached::cases(),
        orders::cases(),
        templates::cases(),
        bad_input::cases(),
        scale::cases(),
    ];
    let code = run(cases.into_iter().flatten().collect());
    Ground::end_shared();
    code
}
