//! Grants: which terms they have and who has redeemed them, what is given for them, the server that gives it, and how the other side asks. What becomes of an
//! AccessGrant and of an AccessToken stands beside this.

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
