//! `lifecycle-router`: the data plane of a site. Clients connect to listeners, connectors lead to servers, and a routing key says
//! which belong together. Knows no lifecycle: it carries out a configuration document and tells how it goes. Of Kubernetes it knows one source of documents,
//! which can be left out.

#![deny(missing_docs)]

pub mod args;
pub mod cause;
pub mod choose;
pub mod config;
pub mod metrics;
mod names;
pub mod plan;
pub mod pool;
pub mod relay;
pub mod router;
pub mod routing;
pub mod run;
mod serve;
pub mod source;
pub mod state;
mod streams;
pub mod tcp;
pub mod tls;
