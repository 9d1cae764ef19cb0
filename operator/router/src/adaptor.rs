//! The adaptor beside the skupper-router of the existing implementation, which is configured at run time over AMQP management.
//! Finds the operations that turn the entities of that router into those of a document, sends them, and reads back how the entries
//! do. Knows neither the command line nor where documents come from.

pub mod amqp;
mod certificates;
pub mod changes;
mod document;
mod init;
pub mod observed;
mod plan;
mod plane;
mod refusals;
mod reply;
mod report;
mod run;
mod schema;
mod values;

pub use init::InitError;
pub use plane::Adaptor;
pub use run::Options;
pub use schema::Entity;

/// The attributes of an entity by name.
pub type Attributes = serde_json::Map<String, serde_json::Value>;
