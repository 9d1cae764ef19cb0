//! The router of a Site: its data plane, its objects, the query for its state, and the state of the
//! entries of one object. Its configuration is in `config`.

pub mod adaptor;
pub mod embedded;
pub mod existing;
pub mod https;
pub mod network_status;
pub mod numbering;
pub mod objects;
pub mod plane;
pub mod state;
pub mod view;
