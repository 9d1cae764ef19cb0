//! The link between routers. Sites announce their keys and their neighbours to each other, and
//! every router computes the shortest paths from that. A stream goes hop by hop to a key at a site.
//! Independent of documents, listeners and connectors.
//!
//! `announcement`, `network`, `routes` and `frame` are pure: no clock, no socket. `mux`, `session` and `node` work over any stream of
//! bytes, so that fifty routers run in one process on paused time.

mod advice;
pub mod announcement;
mod bucket;
pub mod cost;
pub mod ended;
pub mod frame;
pub mod hello;
mod line;
mod mux;
pub mod network;
pub mod node;
pub mod routes;
pub mod security;
pub mod session;
pub mod socket;
pub mod stream;
