//! Skupper sites: how Site, Listeners and Connectors are reconciled, on Kubernetes and from files, and the program around it.
//!
//! One file per kind holds the logic of its lifecycle: [`site`], [`listener`], [`connector`],
//! [`link`], [`access_grant`], [`access_token`], and [`attached`] with both sides of a binding,
//! [`certificate`] on [`pki`]. They build on [`namespace`] (its controller and its active Site),
//! [`config`] (the configuration that the Site writes for its router) and [`router`] (the parts of
//! a router, and queries of its state). [`controller`] runs them on a cluster; [`files`] runs them
//! over a directory. Everything is pure, except these two and the clients that query a router.

#![deny(missing_docs)]

pub mod access_grant;
pub mod access_token;
pub mod args;
pub mod attached;
pub mod certificate;
pub mod config;
pub mod connector;
pub mod controller;
pub mod data_plane;
pub mod files;
pub mod grants;
pub mod link;
pub mod listener;
pub mod multi_key_listener;
pub mod namespace;
pub mod pki;
pub mod platform;
pub mod router;
pub mod router_access;
pub mod secured_access;
pub mod settings;
mod shared;
pub mod site;
mod wiring;

pub use wiring::{main, run_controller};
