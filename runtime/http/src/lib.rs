//! HTTP server that no client can exhaust. It is bounded in connections, heads, bodies and time,
//! and fair between clients. Every HTTP server of this project uses it. Independent of the
//! requests.

#![deny(missing_docs)]

mod places;
mod server;
mod socket;
mod stalling;

pub use places::Turn;
pub use server::{Limits, Server, Unread};
pub use socket::{Duplex, Secure, Socket};
