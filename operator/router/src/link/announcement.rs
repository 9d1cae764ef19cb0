//! What a site says about itself, and what may be said at all. Knows neither who says it nor to whom.

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

/// What a site is for the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It carries streams between others.
    Interior,
    /// A stub: it carries nothing through, and uses one of its links at a time.
    Edge,
}

/// Which of two announcements of a site is newer: that of the later instance, then that of the higher sequence.
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

    /// One above this, said by a router that started as `instance`: another start that overrules the same says another one, so that
    /// two parts of a network never take what differs for the same.
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

/// The instance of a router that starts at this time, in a process where `last` was that of the start before. With a clock that went
/// back it is lower than what others remember, which the router overrules when it hears of it.
pub(crate) fn instance(now: SystemTime, last: u64) -> u64 {
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
    millis.min(MAX_VERSION).max(last + 1)
}

/// What a site says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// The site.
    pub origin: SiteId,
    /// How new it is.
    pub version: Version,
    /// What it is for others.
    pub role: Role,
    /// Its links, and what each costs.
    pub links: BTreeMap<SiteId, u32>,
    /// The keys that it has servers of.
    pub keys: BTreeSet<Key>,
    /// What else it tells.
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
    /// What it is called, or what it has, is told in a way that cannot be.
    #[error("what site {0} tells of itself cannot be")]
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

    /// Whether a site may say that.
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
