//! The router of a Site: on which data plane it runs, the objects that it is made of, how it is asked for its state, and what that state says of the
//! entries of one object. What it is to do stands in `config`.

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
