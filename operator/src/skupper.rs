//! One Skupper site: how its Site, Listeners and Connectors are carried out. Pure, but for the question what a router says of itself.

pub mod attached;
pub mod claims;
pub mod connector;
pub mod credentials;
pub mod document;
pub mod embedded;
pub mod home;
pub mod https;
pub mod keeper;
pub mod listener;
pub mod objects;
pub mod plan;
pub mod platform;
pub mod pods;
pub mod routers;
pub mod service;
pub mod shape;
pub mod site;
pub mod table;
pub mod templates;
