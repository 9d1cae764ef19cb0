//! Skupper sites: how Site, Listeners and Connectors are reconciled, on Kubernetes and from files, and the program around it.
//!
//! One file a kind holds the logic of its lifecycle: [`site`], [`listener`], [`connector`], and [`attached`] with both sides of a binding. They stand on
//! [`namespace`] (who manages it, which Site is active), [`config`] (what the Site writes for its router) and [`router`] (what a router is made of, and how
//! it is asked). [`controller`] runs them on a cluster; [`files`] runs them over a directory. Pure, but for these two and the ways to ask a router.

#![deny(missing_docs)]

pub mod args;
pub mod attached;
pub mod config;
pub mod connector;
pub mod controller;
pub mod files;
pub mod listener;
pub mod namespace;
pub mod platform;
pub mod router;
mod shared;
pub mod site;
mod wiring;

pub use wiring::{main, run_controller};
