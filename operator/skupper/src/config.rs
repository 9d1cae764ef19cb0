//! Configuration that the active Site of a namespace writes for its router. It follows from all
//! declarations of the namespace and from earlier decisions. One ConfigMap holds it. Pure: no
//! client, no clock, no router.

pub mod document;
pub mod existing;
pub mod kept;
pub mod links;
pub mod plan;
pub mod ports;
pub mod proxies;
pub mod revisions;
pub mod router_config;
pub mod service;
pub mod validity;
