//! What the active Site of a namespace writes for its router, decided from all that the namespace declares and from what was decided before.
//! One ConfigMap holds it. Pure: no client, no clock, no router.

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
