//! How the declared lifecycles are carried out, and the command line around them.
//! A library, so that end-to-end tests run the same code in their own process.

#![deny(missing_docs)]

pub mod args;
pub mod cause;
pub mod check;
pub mod cluster_domain;
pub mod crds;
pub mod definitions;
pub mod health;
pub mod listener;
pub mod logging;
pub mod presets;
pub mod sandbox;
#[cfg(test)]
mod scripted;
pub mod site;
pub mod skupper;
pub mod volume;
pub mod wiring;
