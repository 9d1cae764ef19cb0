//! Listeners with several routing keys: each key is an entry `listenerAddress` of its own, which names its listener. Pure.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::attributes::Attributes;
use super::{Desired, Wrong};
use crate::keys::Keys;

/// One routing key of a listener that has several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenerAddress {
    /// The name of its listener.
    pub listener: String,
    /// The routing key.
    pub key: Arc<str>,
    /// Its priority, higher first, or its weight.
    pub value: u32,
}

pub(super) fn address(attributes: &mut Attributes<'_>) -> Result<ListenerAddress, Wrong> {
    attributes.skip(&["name"]);
    let value = attributes.text("value")?.unwrap_or_else(|| "0".to_owned());
    Ok(ListenerAddress {
        listener: attributes.needed("listener")?,
        key: attributes.needed("address")?.into(),
        value: value.parse().map_err(|_| Wrong::Number(value))?,
    })
}

/// The keys of a listener before its addresses are read: one, or none of several.
pub(super) fn keys(attributes: &mut Attributes<'_>) -> Result<Keys, Wrong> {
    let several = match attributes.text("multiAddressStrategy")?.as_deref() {
        Some("priority") => Keys::Priority(Vec::new()),
        Some("weighted") => Keys::Weighted(BTreeMap::new()),
        Some("none") | None => return Ok(Keys::single(&attributes.needed("address")?)),
        Some(value) => {
            return Err(Wrong::Value {
                name: "multiAddressStrategy",
                value: value.to_owned(),
                allowed: vec!["none", "priority", "weighted"],
            });
        }
    };
    match attributes.text("address")? {
        Some(_) => Err(Wrong::KeyAndStrategy),
        None => Ok(several),
    }
}

impl Desired {
    /// Gives listeners the keys of their addresses, and finds addresses that are of no listener.
    pub(super) fn join_addresses(&mut self) {
        let mut of_listener: BTreeMap<String, Vec<ListenerAddress>> = BTreeMap::new();
        let mut keys = BTreeSet::new();
        for entry in self.addresses.values_mut() {
            let Ok(address) = &entry.wanted else {
                continue;
            };
            let listener = self.listeners.get(&address.listener);
            let wrong = match listener.map(|listener| &listener.wanted) {
                None => Some(Wrong::NoListener(address.listener.clone())),
                Some(Ok(listener)) if matches!(listener.keys, Keys::One(_)) => {
                    Some(Wrong::OneKey(address.listener.clone()))
                }
                Some(_) if !keys.insert((address.listener.clone(), address.key.clone())) => {
                    Some(Wrong::SameKey(address.listener.clone()))
                }
                Some(_) => None,
            };
            match wrong {
                Some(wrong) => entry.wanted = Err(wrong),
                None => {
                    let addresses = of_listener.entry(address.listener.clone());
                    addresses.or_default().push(address.clone());
                }
            }
        }
        for (name, mut addresses) in of_listener {
            let listener = self.listeners.get_mut(&name);
            let Some(Ok(listener)) = listener.map(|entry| entry.wanted.as_mut()) else {
                continue;
            };
            match &mut listener.keys {
                Keys::One(_) => {}
                Keys::Priority(keys) => {
                    addresses.sort_by(|a, b| {
                        (Reverse(a.value), &a.key).cmp(&(Reverse(b.value), &b.key))
                    });
                    *keys = addresses.into_iter().map(|address| address.key).collect();
                }
                Keys::Weighted(weights) => {
                    let all = addresses.into_iter();
                    *weights = all.map(|address| (address.key, address.value)).collect();
                }
            }
        }
    }
}
