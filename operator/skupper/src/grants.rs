//! Grants: their terms and redemptions, the content given for them, the server that gives it, and
//! the request of the other side. The reconciliations of an AccessGrant and of an AccessToken are
//! beside this module.

pub mod answer;
pub mod ask;
mod known;
pub mod redemptions;
mod refusal;
mod refused;
pub mod server;
pub mod service;
mod signing;
pub mod terms;
