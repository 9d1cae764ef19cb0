//! What a site says about itself that no way depends on: what it is called, and what it has of each key. Told to people and to
//! controllers; streams find their way without it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Key, SiteId, is_name};

/// The longest of the names here, in bytes.
pub const MAX_NAME: usize = 253;
/// The most keys that are told of.
pub const MAX_SERVICES: usize = 4096;
/// The most that all this may take, in bytes of names.
pub const MAX_ABOUT: usize = 128 * 1024;

/// What a site is called, and what it has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Its name; empty if it has none.
    pub name: String,
    /// Its namespace; empty if it has none.
    pub namespace: String,
    /// What it runs on; empty if it is not said.
    pub platform: String,
    /// Of which version its controller is; empty if it is not said.
    pub version: String,
    /// The links that it dials, by the site that they lead to.
    pub dials: BTreeMap<SiteId, String>,
    /// What it has of each key.
    pub services: BTreeMap<Key, Service>,
}

/// What a site has of a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Service {
    /// Who serves it.
    pub connectors: Side,
    /// Who offers it to clients.
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
    /// What they are called, as far as there is room.
    pub names: BTreeSet<String>,
}

impl Side {
    /// These, each once; what is no name is counted and not told.
    pub fn of(names: impl IntoIterator<Item = String>) -> Self {
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

    /// Whether a site may say that.
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

    /// The same, but for what there is no room for: names go first, then counts. Says whether anything went.
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
            connectors: Side::of(["10.0.0.1".to_owned(), "ä\n".to_owned()]),
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
