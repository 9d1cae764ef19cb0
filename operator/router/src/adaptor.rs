//! The adaptor beside the skupper-router of the existing implementation, which is configured at run time over AMQP management.
//! Finds the operations that turn the entities of that router into those of a document, sends them, and reads back how the entries
//! do. Announces the site in the network, and writes the status of the network. Knows neither the command line nor where documents
//! come from.

pub mod amqp;
mod certificates;
pub mod changes;
mod collect;
mod document;
mod init;
mod network;
pub mod observed;
mod passwords;
mod plan;
mod plane;
mod publish;
mod refusals;
mod reply;
mod report;
mod run;
mod schema;
mod sockets;
mod symbols;
mod values;
mod vanflow;

pub use collect::{CollectOptions, OwnSite};
pub use init::InitError;
pub use plane::Adaptor;
#[cfg(feature = "kubernetes")]
pub use publish::StatusConfigMap;
pub use publish::{NetworkStatus, StatusFile, WriteError};
pub use run::Options;
pub use schema::Entity;

/// The attributes of an entity by name.
pub type Attributes = serde_json::Map<String, serde_json::Value>;
