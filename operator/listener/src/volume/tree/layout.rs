//! Names of the files at a target: the contract with Pods, and the names of entries that are on
//! their way out.

/// Holds the addresses, each in a folder of its name.
pub(super) const ADDRESSES: &str = "addresses";
/// Leads to the first address.
pub(super) const DEFAULT: &str = "default-address";
/// Prefix of the names of replaced folders that are not read any more.
pub(super) const OLD: &str = "..old-";
/// In the folder of an address: the address itself.
pub(super) const ADDRESS: &str = "address";
/// In the folder of an address: a file for each port.
pub(super) const PORTS: &str = "ports";
/// Prefix of the names of folders that are being removed, regardless of their content.
pub(super) const GONE: &str = "..gone-";
