//! Services of the Container Storage Interface, derived from declared volume lifecycles: requests
//! in, replies out, over Unix sockets. Makes no decisions: `lifecycle_runtime::machine` decides the
//! behavior of a call in a world. Independent of the reconcile loop.

#![deny(missing_docs)]

// The example in the documentation names this crate as an external crate.
#[cfg(test)]
extern crate self as lifecycle_csi;

mod call;
mod code;
mod driver;
mod error;
pub mod in_process;
mod served_volume;
mod server;
mod socket;
mod volumes;

pub use driver::Driver;
pub use driver::plugin::Plugin;
pub use driver::usage::{Usage, UsageSource};
pub use error::Error;
pub use served_volume::ServedVolume;
pub use socket::{SocketError, path_of};
pub use volumes::Volumes;
