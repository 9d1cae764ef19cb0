//! An HTTP server that no client can exhaust: bounded in connections, in heads, bodies and time, and fair between clients. Every server of
//! ours that speaks HTTP is one. Knows nothing of what is asked.

#![deny(missing_docs)]

mod places;
mod server;
mod socket;
mod stalling;

pub use places::Turn;
pub use server::{Limits, Server, Unread};
pub use socket::{Duplex, Secure, Socket};
