//! Announcements that one neighbour has, was sent and is owed. Independent of other neighbours.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Message, Violation};
use crate::link::announcement::{Announcement, Role, SiteId, Version};
use crate::link::bucket::Bucket;

/// Time without an acknowledgement after which a message is repeated.
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
    /// Newest version that the neighbour is known to have of each site.
    has: BTreeMap<SiteId, Version>,
    /// Versions that the neighbour was sent and has not answered, with the time of sending.
    sent: BTreeMap<SiteId, (Version, Duration)>,
    /// Versions whose acknowledgement the neighbour waits for.
    owed: BTreeMap<SiteId, Version>,
    /// Revision of the information last sent to the neighbour.
    told: Option<u64>,
    /// True if a message waits for the arrival of those under way.
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
            announcements: ANNOUNCEMENTS.starting_at(now),
            repeated: REPEATED.starting_at(now),
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

    /// Requests another comparison, because the neighbour may have something older than is known
    /// here.
    pub(super) fn look_again(&mut self) {
        self.told = None;
    }

    /// Returns true if the neighbour may lack some information. In that case the caller sends it
    /// now.
    pub(super) fn is_behind(&mut self, revision: u64, now: Duration) -> bool {
        let oldest = self.sent.values().map(|(_, when)| *when).min();
        let is_late = oldest.is_some_and(|when| when + RETRY <= now);
        let goes_on = self.waits && self.sent.len() < UNDER_WAY;
        self.waits &= !goes_on;
        self.told.replace(revision) != Some(revision) || is_late || goes_on
    }

    /// Returns true if the neighbour has an announcement, or a newer one.
    pub(super) fn has(&self, announcement: &Announcement) -> bool {
        let has = self.has.get(&announcement.origin);
        has.is_some_and(|has| *has >= announcement.version)
    }

    /// Returns true if the neighbour has any announcement of a site.
    pub(super) fn knows(&self, origin: &SiteId) -> bool {
        self.has.contains_key(origin) || self.sent.contains_key(origin)
    }

    /// Returns true if the neighbour lacks an announcement and must be sent it now. The
    /// announcement then counts as sent.
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

    /// Records the version that the neighbour has acknowledged.
    pub(super) fn acknowledged(&mut self, origin: &SiteId, version: Version) {
        if version == Version::default() {
            self.has.remove(origin);
            self.sent.remove(origin);
            self.look_again();
        } else {
            self.learn(origin, version);
        }
    }

    /// Forgets everything known about a site.
    pub(super) fn forget(&mut self, origin: &SiteId) {
        self.has.remove(origin);
        self.sent.remove(origin);
        self.owed.insert(origin.clone(), Version::default());
    }
}
