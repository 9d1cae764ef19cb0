//! The driver on a real API server: effects, drift, foreign objects, deletion, restarts, and what it costs.

#[path = "driver/around.rs"]
mod around;
#[path = "driver/door.rs"]
mod door;
#[path = "driver/fan.rs"]
mod fan;
#[path = "driver/hosted.rs"]
mod hosted;
#[path = "driver/several.rs"]
mod several;
#[path = "driver/single.rs"]
mod single;
#[path = "driver/tag.rs"]
mod tag;
#[path = "driver/tap.rs"]
mod tap;
#[path = "driver/trouble.rs"]
mod trouble;
#[path = "driver/widget.rs"]
mod widget;
#[path = "driver/world.rs"]
mod world;

use std::process::ExitCode;

use lifecycle_tests::harness::{Need, run};

const BINARIES: &[Need] = &[Need::Binaries];

fn main() -> ExitCode {
    let cases = [
        single::cases(),
        several::cases(),
        hosted::cases(),
        trouble::cases(),
        around::cases(),
    ];
    run(cases.into_iter().flatten().collect())
}
