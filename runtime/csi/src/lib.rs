//! Services of the Container Storage Interface from what volume lifecycles declare: requests in, replies out, over Unix sockets.
//! Decides nothing: what a call does in a world is in `lifecycle_runtime::machine`; knows nothing of the loop that runs passes.

#![deny(missing_docs)]

// The example of the documentation names this crate from outside.
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
