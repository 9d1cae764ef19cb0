//! What the files at a target are called: the contract with Pods, and the names of what is on its way out.

/// Holds the addresses, each in a folder of its name.
pub(super) const ADDRESSES: &str = "addresses";
/// Leads to the first address.
pub(super) const DEFAULT: &str = "default-address";
/// Begins the names of what was replaced and is not read any more.
pub(super) const OLD: &str = "..old-";
/// In the folder of an address: the address itself.
pub(super) const ADDRESS: &str = "address";
/// In the folder of an address: a file for each port.
pub(super) const PORTS: &str = "ports";
/// Begins the names of folders that are being removed, whatever they were.
pub(super) const GONE: &str = "..gone-";
