//! The router of a Site: the objects that it is made of, how it is asked for its state, over HTTPS or in this process, and what that state says of
//! the entries of one object. What it is to do stands in `config`.

pub mod embedded;
pub mod https;
pub mod objects;
pub mod state;
pub mod view;
