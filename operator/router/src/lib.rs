//! `lifecycle-router`: the data plane of a site. Clients connect to listeners, connectors lead to
//! servers, and a routing key matches them. Independent of any lifecycle: it applies a
//! configuration document and reports the outcome. Its only Kubernetes code is one source of
//! documents, which can be left out.

#![deny(missing_docs)]

mod accept_loop;
#[cfg(feature = "adaptor")]
pub mod adaptor;
pub mod api;
pub mod args;
mod boxed;
pub mod cause;
pub mod choose;
pub mod config;
pub mod data_plane;
pub mod file;
mod health;
mod hosts;
pub mod keys;
pub mod link;
pub mod metrics;
mod names;
mod options;
#[cfg(test)]
mod pieces;
pub mod plain;
pub mod plan;
pub mod pool;
pub mod program;
mod reach;
mod recurring;
pub mod relay;
pub mod router;
pub mod routing;
pub mod run;
mod shared;
pub mod snapshot;
pub mod source;
pub mod state;
mod streams;
pub mod tcp;
pub mod tls;
