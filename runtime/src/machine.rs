//! The pure half of the runtime: what a lifecycle says about a world. Knows no clock, no client, nothing asynchronous.

pub mod answer;
pub mod backoff;
pub mod circles;
pub mod claims;
pub mod compare;
pub mod ir;
pub mod kstatus;
pub mod length;
pub mod outcome;
pub mod policy;
pub mod project;
mod retired;
mod teardown;
pub mod world;
