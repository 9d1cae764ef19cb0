//! Announcement of a site about itself, and the limits on its content. Independent of the sender
//! and of the receiver.

pub mod about;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use thiserror::Error;

use about::{About, MAX_ABOUT};

/// The longest name of a site, in bytes.
pub const MAX_SITE: usize = 128;
/// The longest routing key, in bytes.
pub const MAX_KEY: usize = 255;
/// The most links that one site may have.
pub const MAX_LINKS: usize = 512;
/// The most keys that one site may have.
pub const MAX_KEYS: usize = 2048;
/// The most that the links and keys of an announcement may take, in bytes of names.
pub const MAX_ROUTING: usize = 96 * 1024;
/// The most that an announcement may take, in bytes of names.
pub const MAX_ANNOUNCEMENT: usize = MAX_ROUTING + MAX_ABOUT;
/// The highest cost of a link; the lowest is 1.
pub const MAX_COST: u32 = 1_000_000;
/// The highest instance and sequence that are believed.
const MAX_VERSION: u64 = 1 << 56;

/// A name that is not empty, not too long, and prints on one line.
fn is_name(name: &str, longest: usize) -> bool {
    !name.is_empty() && name.len() <= longest && !name.chars().any(char::is_control)
}

/// The identity of a site.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SiteId(Arc<str>);

impl SiteId {
    /// Of a name of 1 to [`MAX_SITE`] bytes without control characters.
    pub fn new(name: &str) -> Option<Self> {
        is_name(name, MAX_SITE).then(|| Self(name.into()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Display for SiteId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A routing key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(Arc<str>);

impl Key {
    /// Of a text of 1 to [`MAX_KEY`] bytes without control characters.
    pub fn new(key: &str) -> Option<Self> {
        is_name(key, MAX_KEY).then(|| Self(key.into()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Display for Key {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Role of a site towards the other sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It carries streams between others.
    Interior,
    /// A stub: it carries nothing through, and uses one of its links at a time.
    Edge,
}

/// Version that orders two announcements of a site. The later instance is newer, then the higher
/// sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Grows with every start of the router, as the time of its start does.
    pub instance: u64,
    /// Grows with every announcement of an instance.
    pub sequence: u64,
}

impl Version {
    /// That of the next announcement of the same instance.
    pub(super) fn next(self) -> Self {
        let sequence = (self.sequence + 1).min(MAX_VERSION);
        Self { sequence, ..self }
    }

    /// Returns the next version above this one, as announced by a router that started as
    /// `instance`. Another start that overrules the same version announces a different one, so that
    /// two parts of a network never mistake different announcements for equal ones.
    pub(super) fn overruled(self, instance: u64) -> Self {
        if self.instance >= MAX_VERSION {
            return self.next();
        }
        Self {
            instance: self.instance + 1,
            sequence: instance,
        }
    }
}

/// Returns the instance of a router that starts at this time, in a process in which `last` was that
/// of the previous start. If the clock went back, the instance is lower than the one that others
/// remember. The router overrules that one when it receives it.
pub(crate) fn instance(now: SystemTime, last: u64) -> u64 {
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
    millis.min(MAX_VERSION).max(last + 1)
}

/// Announcement of a site about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// The site.
    pub origin: SiteId,
    /// How new it is.
    pub version: Version,
    /// Role of the site towards the others.
    pub role: Role,
    /// Links of the site, and the cost of each.
    pub links: BTreeMap<SiteId, u32>,
    /// The keys that it has servers of.
    pub keys: BTreeSet<Key>,
    /// Further information about the site.
    pub about: About,
}

/// Why an announcement is none.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Error {
    /// A cost is not between 1 and [`MAX_COST`].
    #[error("a link of site {0} costs {1}")]
    Cost(SiteId, u32),
    /// There are too many links, or one to itself.
    #[error("the links of site {0} cannot be")]
    Links(SiteId),
    /// There are too many keys.
    #[error("site {0} has too many keys")]
    Keys(SiteId),
    /// The name of the site, or the list of its services, is invalid.
    #[error("site {0} announces an invalid name or list of services")]
    About(SiteId),
    /// It is too long.
    #[error("the announcement of site {0} is too long")]
    Size(SiteId),
    /// Its instance or sequence is none that a router reaches.
    #[error("the announcement of site {0} is of no time")]
    Version(SiteId),
}

impl Announcement {
    /// How much it takes, in bytes of names.
    pub fn size(&self) -> usize {
        self.routing() + self.about.size()
    }

    /// How much its links and keys take.
    fn routing(&self) -> usize {
        let links = self.links.keys().map(|site| site.0.len() + 8);
        let keys = self.keys.iter().map(|key| key.0.len() + 4);
        links.sum::<usize>() + keys.sum::<usize>() + self.origin.0.len()
    }

    /// Checks that the announcement is within the limits for a site.
    ///
    /// # Errors
    /// A limit is exceeded.
    pub fn check(&self) -> Result<(), Error> {
        let origin = || self.origin.clone();
        let dear = |cost: &&u32| !(1..=MAX_COST).contains(*cost);
        if let Some(cost) = self.links.values().find(dear) {
            return Err(Error::Cost(origin(), *cost));
        }
        if self.links.len() > MAX_LINKS || self.links.contains_key(&self.origin) {
            return Err(Error::Links(origin()));
        }
        if self.keys.len() > MAX_KEYS {
            return Err(Error::Keys(origin()));
        }
        if !self.about.is_well() {
            return Err(Error::About(origin()));
        }
        if self.routing() > MAX_ROUTING {
            return Err(Error::Size(origin()));
        }
        let Version { instance, sequence } = self.version;
        if instance > MAX_VERSION || sequence > MAX_VERSION {
            return Err(Error::Version(origin()));
        }
        Ok(())
    }
}
