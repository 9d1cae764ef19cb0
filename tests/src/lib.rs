//! Real API server and real cluster that tests run against, and the shared code of the test suites.
//! Everything here serves tests and manual trials. No other crate may depend on it.

pub mod amount;
pub mod api_server;
pub mod audit;
pub mod binaries;
pub mod cluster;
pub mod definitions;
pub mod edits;
pub mod eventually;
pub mod explained;
pub mod gates;
pub mod harness;
pub mod helm;
pub mod lifecycles;
pub mod mistakes;
pub mod process;
pub mod promtool;
pub mod proton;
pub mod scraped;
pub mod suites;
pub mod volumes;
