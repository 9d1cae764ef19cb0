//! What one neighbour has, was sent and is owed. Knows nothing of other neighbours.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Message, Violation};
use crate::link::announcement::{Announcement, Role, SiteId, Version};
use crate::link::bucket::Bucket;

/// After this long without an acknowledgement something is said again.
pub(super) const RETRY: Duration = Duration::from_secs(5);
/// The most announcements that are under way to a neighbour.
pub(super) const UNDER_WAY: usize = 128;
/// Announcements that may come at once, and in each second after that.
const ANNOUNCEMENTS: Bucket = Bucket::new(4096, 1000);
/// The same of those that are not new.
const REPEATED: Bucket = Bucket::new(2048, 200);

#[derive(Clone, Debug)]
pub(super) struct Neighbour {
    pub(super) role: Role,
    pub(super) cost: u32,
    /// What it is known to have of each site.
    has: BTreeMap<SiteId, Version>,
    /// What it was sent and has not answered, and when.
    sent: BTreeMap<SiteId, (Version, Duration)>,
    /// What it waits to have acknowledged.
    owed: BTreeMap<SiteId, Version>,
    /// What it was told is of this revision.
    told: Option<u64>,
    /// Something waits until what is under way has arrived.
    waits: bool,
    announcements: Bucket,
    repeated: Bucket,
}

impl Neighbour {
    pub(super) fn new(role: Role, cost: u32, now: Duration) -> Self {
        Self {
            role,
            cost,
            has: BTreeMap::new(),
            sent: BTreeMap::new(),
            owed: BTreeMap::new(),
            told: None,
            waits: false,
            announcements: ANNOUNCEMENTS.at(now),
            repeated: REPEATED.at(now),
        }
    }

    /// It announced something: no more of that in this second.
    pub(super) fn pace(&mut self, now: Duration) -> Result<(), Violation> {
        if self.announcements.take(now) {
            Ok(())
        } else {
            Err(Violation::Flood)
        }
    }

    /// It announced something that is not new.
    pub(super) fn repeated(&mut self, now: Duration) -> Result<(), Violation> {
        if self.repeated.take(now) {
            Ok(())
        } else {
            Err(Violation::Replay)
        }
    }

    /// It wants to hear that this version arrived.
    pub(super) fn owe(&mut self, origin: &SiteId, version: Version) {
        self.owed.insert(origin.clone(), version);
    }

    /// It has this version.
    pub(super) fn learn(&mut self, origin: &SiteId, version: Version) {
        let has = self.has.entry(origin.clone()).or_default();
        *has = version.max(*has);
        let has = *has;
        if self.sent.get(origin).is_some_and(|(sent, _)| *sent <= has) {
            self.sent.remove(origin);
        }
    }

    pub(super) fn acknowledgements(&mut self) -> Vec<Message> {
        let owed = std::mem::take(&mut self.owed);
        let owed = owed.into_iter();
        owed.map(|(origin, version)| Message::Acknowledge(origin, version))
            .collect()
    }

    /// It has something older than is known here, perhaps: that is to be looked at.
    pub(super) fn look_again(&mut self) {
        self.told = None;
    }

    /// Whether there may be something that it lacks. Then it is told that now.
    pub(super) fn is_behind(&mut self, revision: u64, now: Duration) -> bool {
        let oldest = self.sent.values().map(|(_, when)| *when).min();
        let is_late = oldest.is_some_and(|when| when + RETRY <= now);
        let goes_on = self.waits && self.sent.len() < UNDER_WAY;
        self.waits &= !goes_on;
        self.told.replace(revision) != Some(revision) || is_late || goes_on
    }

    /// Whether it has an announcement, or a newer one.
    pub(super) fn has(&self, announcement: &Announcement) -> bool {
        let has = self.has.get(&announcement.origin);
        has.is_some_and(|has| *has >= announcement.version)
    }

    /// Whether it has anything of a site.
    pub(super) fn knows(&self, origin: &SiteId) -> bool {
        self.has.contains_key(origin) || self.sent.contains_key(origin)
    }

    /// Whether it is to be sent now what it does not have; then it counts as sent.
    pub(super) fn lacks(&mut self, announcement: &Announcement, now: Duration) -> bool {
        let (origin, version) = (&announcement.origin, announcement.version);
        if let Some((sent, when)) = self.sent.get(origin) {
            if *sent == version && now < *when + RETRY {
                return false;
            }
        } else if self.sent.len() >= UNDER_WAY {
            self.waits = true;
            return false;
        }
        self.sent.insert(origin.clone(), (version, now));
        true
    }

    /// It says what it has.
    pub(super) fn acknowledged(&mut self, origin: &SiteId, version: Version) {
        if version == Version::default() {
            self.has.remove(origin);
            self.sent.remove(origin);
            self.look_again();
        } else {
            self.learn(origin, version);
        }
    }

    /// What was known of a site is forgotten.
    pub(super) fn forget(&mut self, origin: &SiteId) {
        self.has.remove(origin);
        self.sent.remove(origin);
        self.owed.insert(origin.clone(), Version::default());
    }
}
