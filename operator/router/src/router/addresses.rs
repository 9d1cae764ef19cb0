//! The routing keys of listeners that have several, as the state shows them. Pure.

use crate::config::Desired;
use crate::state::{EntryReport, Status};

/// Returns an entry for each key: its reachability, or its error.
pub(super) fn entries(
    desired: &Desired,
    reachable: impl Fn(&str) -> bool,
) -> impl Iterator<Item = EntryReport> {
    desired.addresses.iter().map(move |(name, entry)| {
        let wanted = entry.wanted.as_ref().ok();
        let status = match &entry.wanted {
            Err(wrong) => Status::Failed(wrong.to_string()),
            Ok(address) if reachable(&address.key) => Status::Up,
            Ok(_) => Status::Idle,
        };
        EntryReport {
            entity: "listenerAddress".into(),
            name: name.clone(),
            key: wanted.map(|address| address.key.to_string()),
            listener: wanted.map(|address| address.listener.clone()),
            hash: entry.hash.clone(),
            status,
            ..EntryReport::default()
        }
    })
}
