//! The runtime: drivers of lifecycles on a real API server, volumes over sockets, and the generated suites of small lifecycles.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

mod brake;
mod conversion;
mod csi_sanity;
mod csi_services;
mod driver;
mod faults_gallery;
mod faults_sketches;
mod gallery_page;
mod ignored;
mod left_over;
mod optional;
mod planned;
mod recorded;
mod retired;
mod seeded;
mod suspended;
mod teardown;
mod volume_suites;

use std::process::ExitCode;

use lifecycle_tests::harness;

fn main() -> ExitCode {
    harness::run_suites([
        ("volume_suites", volume_suites::cases()),
        ("faults_gallery", faults_gallery::cases()),
        ("faults_sketches", faults_sketches::cases()),
        ("seeded", seeded::cases()),
        ("driver", driver::cases()),
        ("csi_services", csi_services::cases()),
        ("csi_sanity", csi_sanity::cases()),
        ("ignored", ignored::cases()),
        ("suspended", suspended::cases()),
        ("teardown", teardown::cases()),
        ("left_over", left_over::cases()),
        ("optional", optional::cases()),
        ("planned", planned::cases()),
        ("recorded", recorded::cases()),
        ("retired", retired::cases()),
        ("conversion", conversion::cases()),
        ("brake", brake::cases()),
    ])
}
