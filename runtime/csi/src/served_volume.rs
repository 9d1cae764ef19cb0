//! A volume lifecycle together with the process that serves it.

use std::sync::Arc;

use lifecycle_runtime::Machine;
use lifecycle_runtime::operator::Naming;

use crate::driver::Driver;

/// A volume lifecycle, its names, and the process that serves it.
#[derive(Clone)]
pub struct ServedVolume {
    /// The lifecycle.
    pub machine: Arc<dyn Machine>,
    /// Names made of those of operator and lifecycle.
    pub naming: Naming,
    /// The process that serves it.
    pub driver: Driver,
}
