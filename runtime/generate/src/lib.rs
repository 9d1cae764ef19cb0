//! Generates output from the description of a lifecycle alone: diagrams, pages of documentation, a
//! list, and the rights that the lifecycle needs. Knows no cluster. The same description gives the
//! same text. `command` offers all this as subcommands of a program's own command line.

#![deny(missing_docs)]

// The example of `command` names this crate as an external crate.
#[cfg(all(test, feature = "command"))]
extern crate self as lifecycle_generate;

#[cfg(feature = "command")]
pub mod command;
pub mod diagram;
pub mod held;
pub mod list;
pub mod manifests;
pub mod page;
pub mod pages;
mod program;
pub mod rights;
#[cfg(feature = "command")]
pub mod whole_file;

mod names;
mod table;

#[cfg(feature = "command")]
pub use command::{Error, Generate};
pub use diagram::Format;
pub use program::{Part, Program, Purpose, file_name};
