//! Black-box tests of the router: sockets, files and processes on loopback. Names of tests begin
//! with their row of the acceptance table.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

#[path = "router/authority.rs"]
mod authority;
#[path = "router/changes.rs"]
mod changes;
#[path = "router/chaos.rs"]
mod chaos;
#[path = "router/entries.rs"]
mod entries;
#[path = "router/health.rs"]
mod health;
#[path = "router/keys.rs"]
mod keys;
#[path = "router/links.rs"]
mod links;
#[path = "router/network.rs"]
mod network;
#[path = "router/outages.rs"]
mod outages;
#[path = "router/page.rs"]
mod page;
#[path = "router/process.rs"]
mod process;
#[path = "router/program.rs"]
mod program;
#[path = "router/proxy.rs"]
mod proxy;
#[path = "router/ring.rs"]
mod ring;
#[path = "router/state.rs"]
mod state;
#[path = "router/support.rs"]
mod support;
#[path = "router/tls.rs"]
mod tls;
#[path = "router/traffic.rs"]
mod traffic;
