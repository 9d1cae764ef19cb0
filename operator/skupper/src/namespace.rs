//! What all kinds of a namespace ask of it first: which controller manages it, which Site of it is active, which Pods a selector means,
//! which templates label what is generated in it, and how large its router is. Knows nothing of routers and their configuration.

pub mod active_site;
pub mod controller_id;
pub mod pods;
pub mod sizing;
pub mod templates;
