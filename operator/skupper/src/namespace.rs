//! Properties of a namespace that all its kinds need first: its managing controller, its active
//! Site, and the Pods that a selector matches. Also the templates that label generated objects in
//! it, and the size of its router. Independent of routers and their configuration.

pub mod active_site;
pub mod controller_id;
pub mod pods;
pub mod sizing;
pub mod templates;
