//! The Listener operator: how Listeners of `listeners.stackable.tech` and their volumes are reconciled, and the program around it.
//! A library, so that end-to-end tests and the sandbox run the same code in their own process.

#![deny(missing_docs)]

pub mod args;
pub mod controller;
pub mod listener;
pub mod presets;
mod startup_taint;
pub mod volume;
mod wiring;

pub use wiring::{main, run_controller, run_node};
