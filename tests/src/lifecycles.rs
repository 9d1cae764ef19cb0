//! Small lifecycles that the generated suites run. Each has a CRD of its own, its logic, and its
//! external system. The declarations are those of the language's documentation.

pub mod account;
pub mod app;
pub mod autoscaler;
pub mod bucket;
pub mod canary;
pub mod certificate;
pub mod database;
pub mod dns;
pub mod front;
pub mod git;
pub mod httproute;
pub mod issuer;
pub mod leaf;
pub mod lodge;
pub mod login;
pub mod machine;
pub mod managed_bucket;
pub mod postgres;
pub mod preview;
pub mod provider;
pub mod quota;
pub mod rollout;
pub mod schedule;
pub mod skupper;
pub mod skupper_listener;
pub mod tenant;
pub mod topic;
pub mod workload;
