//! Information of a site about itself that no route depends on: its name, and its services for each
//! key. It is for people and for controllers. Streams find their route without it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Key, SiteId, is_name};

/// The longest of the names here, in bytes.
pub const MAX_NAME: usize = 253;
/// Upper bound on the number of announced keys.
pub const MAX_SERVICES: usize = 4096;
/// The most that all this may take, in bytes of names.
pub const MAX_ABOUT: usize = 128 * 1024;

/// Name and services of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Its name; empty if it has none.
    pub name: String,
    /// Its namespace; empty if it has none.
    pub namespace: String,
    /// Platform of the site; empty if it is not reported.
    pub platform: String,
    /// Version of its controller; empty if unknown.
    pub version: String,
    /// The links that it dials, by the site that they lead to.
    pub dials: BTreeMap<SiteId, String>,
    /// Services of the site by key.
    pub services: BTreeMap<Key, Service>,
}

/// Entries that a site has for a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Service {
    /// Connectors that serve the key.
    pub connectors: Side,
    /// Listeners that offer the key to clients.
    pub listeners: Side,
}

impl Service {
    fn size(&self, key: &Key) -> usize {
        key.as_str().len() + 2 + self.connectors.size() + self.listeners.size()
    }
}

/// One side of a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// How many there are.
    pub count: u16,
    /// Names of the entries, as far as the size bound allows.
    pub names: BTreeSet<String>,
}

impl Side {
    /// Collects these names, each once. An invalid name is counted but not announced.
    pub fn from_names(names: impl IntoIterator<Item = String>) -> Self {
        let mut side = Self::default();
        for name in names {
            side.count = side.count.saturating_add(1);
            if is_name(&name, MAX_NAME) {
                side.names.insert(name);
            }
        }
        side
    }

    fn size(&self) -> usize {
        4 + self.names.iter().map(|name| name.len() + 2).sum::<usize>()
    }

    fn is_well(&self) -> bool {
        self.names.len() <= usize::from(self.count)
            && self.names.iter().all(|name| is_name(name, MAX_NAME))
    }
}

impl About {
    fn texts(&self) -> [&String; 4] {
        [&self.name, &self.namespace, &self.platform, &self.version]
    }

    /// How much it takes, in bytes of names.
    pub fn size(&self) -> usize {
        let texts = self.texts().into_iter().map(|text| text.len() + 2);
        let dials = self.dials.iter();
        let dials = dials.map(|(site, name)| site.as_str().len() + name.len() + 4);
        let services = self.services.iter();
        let services = services.map(|(key, service)| service.size(key));
        texts.sum::<usize>() + dials.sum::<usize>() + services.sum::<usize>()
    }

    /// Returns true if the information is within the limits for a site.
    pub(super) fn is_well(&self) -> bool {
        let is_text = |text: &String| text.is_empty() || is_name(text, MAX_NAME);
        let mut dials = self.dials.values();
        let mut services = self.services.values();
        self.texts().into_iter().all(is_text)
            && self.dials.len() <= super::MAX_LINKS
            && dials.all(|name| is_name(name, MAX_NAME))
            && self.services.len() <= MAX_SERVICES
            && services.all(|service| service.connectors.is_well() && service.listeners.is_well())
            && self.size() <= MAX_ABOUT
    }

    /// Removes everything that exceeds the size bound: names go first, then counts. Also returns
    /// true if something was removed.
    pub fn fitted(mut self) -> (Self, bool) {
        for text in [
            &mut self.name,
            &mut self.namespace,
            &mut self.platform,
            &mut self.version,
        ] {
            if !is_name(text, MAX_NAME) {
                text.clear();
            }
        }
        self.dials.retain(|_, name| is_name(name, MAX_NAME));
        let mut size = self.size();
        let mut went = false;
        if size > MAX_ABOUT {
            went = true;
            for service in self.services.values_mut() {
                service.connectors.names.clear();
                service.listeners.names.clear();
            }
            size = self.size();
        }
        while size > MAX_ABOUT || self.services.len() > MAX_SERVICES {
            went = true;
            match self.services.pop_last() {
                Some((key, service)) => size -= service.size(&key),
                None => {
                    self.dials.clear();
                    size = self.size();
                }
            }
        }
        (self, went)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> Key {
        Key::new(&format!("{number:0>40}")).unwrap()
    }

    #[test]
    fn what_there_is_no_room_for_goes_names_first() {
        let service = |_: usize| Service {
            connectors: Side::from_names(["10.0.0.1".to_owned(), "ä\n".to_owned()]),
            listeners: Side::default(),
        };
        let of = |keys: usize| About {
            name: "west".to_owned(),
            namespace: "x\ny".to_owned(),
            services: (0..keys)
                .map(|number| (key(number), service(number)))
                .collect(),
            ..About::default()
        };
        let (few, went) = of(100).fitted();
        assert!(!went && few.is_well());
        assert_eq!((few.name.as_str(), few.namespace.as_str()), ("west", ""));
        let side = &few.services[&key(7)].connectors;
        assert_eq!((side.count, side.names.len()), (2, 1));
        let (many, went) = of(2200).fitted();
        assert!(went && many.is_well());
        let side = &many.services[&key(7)].connectors;
        assert_eq!((many.services.len(), side.count), (2200, 2));
        assert!(side.names.is_empty());
        let (most, went) = of(9000).fitted();
        assert!(went && most.is_well() && most.services.contains_key(&key(0)));
    }
}
