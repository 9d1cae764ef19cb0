//! Knowledge of one site about all others, and the messages that it owes to each neighbour. Pure:
//! the caller supplies the time, takes messages out and passes messages in. The messages for a
//! neighbour are a function of the knowledge of both sites. A lost message therefore loses no
//! information, and no message is sent when nothing is new.
//!
//! Nothing is refreshed. An announcement is forgotten when its site has not been reachable for [`EXPIRY`].

mod neighbour;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use super::announcement::about::About;
use super::announcement::{self, Announcement, Key, MAX_COST, Role, SiteId, Version};
use super::routes::{Map, Routes};
use neighbour::Neighbour;

/// How long an announcement outlives the ways to its site.
pub const EXPIRY: Duration = Duration::from_secs(90);
/// The least time between two announcements of this site.
pub const PACE: Duration = Duration::from_millis(100);
/// The same while another claims to be this site.
const CONTESTED_PACE: Duration = Duration::from_secs(1);
/// The most sites that are known.
pub const MAX_SITES: usize = 1024;
/// The most sites that are known from one neighbour alone.
pub const MAX_SITES_OF_NEIGHBOUR: usize = 512;
/// The most that the sites of one neighbour may take, in bytes of names.
pub const MAX_SIZE_OF_NEIGHBOUR: usize = 16 * 1024 * 1024;

/// Act of a neighbour that no router commits. The neighbour must be cut off.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Violation {
    /// It announced something that cannot be.
    #[error(transparent)]
    Announcement(#[from] announcement::Error),
    /// An edge site spoke for another one.
    #[error("it is an edge site and announced site {0}")]
    Foreign(SiteId),
    /// It announced too many sites, or too much of them.
    #[error("it announced too many sites")]
    TooManySites,
    /// It sent too much in too short a time.
    #[error("it floods")]
    Flood,
    /// It repeats itself.
    #[error("it repeats old announcements")]
    Replay,
}

/// Message to a neighbour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Announcement of a site about itself.
    Announce(Arc<Announcement>),
    /// That an announcement arrived, or a newer one is known; with the version zero that none is known any more.
    Acknowledge(SiteId, Version),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Known {
    announcement: Arc<Announcement>,
    /// The neighbour that it came from first.
    via: SiteId,
    unreachable_since: Option<Duration>,
}

/// One site's knowledge of the network.
#[derive(Clone, Debug)]
pub struct Network {
    own: Arc<Announcement>,
    instance: u64,
    wanted_keys: BTreeSet<Key>,
    wanted_about: About,
    /// The link that an edge site uses.
    uplink: Option<SiteId>,
    /// True if the announcement of this site is outdated.
    changed: bool,
    /// Version that another router announced in the name of this site. This site must overrule it.
    overruled: Option<Version>,
    contested: u64,
    /// No announcement of this site before that.
    pace: Duration,
    /// True if the paths do not match the current knowledge.
    stale: bool,
    /// Counter that grows with every change that may produce messages for neighbours.
    revision: u64,
    known: BTreeMap<SiteId, Known>,
    neighbours: BTreeMap<SiteId, Neighbour>,
    routes: Arc<Routes>,
}

impl Map for Network {
    fn site(&self, site: &SiteId) -> Option<&Announcement> {
        if *site == self.own.origin {
            return Some(&self.own);
        }
        self.known.get(site).map(|known| &*known.announcement)
    }
}

impl Network {
    /// Of a site that knows only itself. `instance` is higher than that of every earlier start.
    pub fn new(site: SiteId, instance: u64, role: Role) -> Self {
        let version = Version {
            instance,
            sequence: 1,
        };
        let own = Announcement {
            origin: site,
            version,
            role,
            links: BTreeMap::new(),
            keys: BTreeSet::new(),
            about: About::default(),
        };
        Self {
            own: Arc::new(own),
            instance,
            wanted_keys: BTreeSet::new(),
            wanted_about: About::default(),
            uplink: None,
            changed: false,
            overruled: None,
            contested: 0,
            pace: Duration::ZERO,
            stale: false,
            revision: 0,
            known: BTreeMap::new(),
            neighbours: BTreeMap::new(),
            routes: Arc::default(),
        }
    }

    /// Returns the current announcement of this site about itself.
    pub fn own(&self) -> &Announcement {
        &self.own
    }

    /// The same, to be kept.
    pub fn shared(&self) -> Arc<Announcement> {
        self.own.clone()
    }

    /// Returns true if this site has a key, announced or not yet.
    pub fn has_key(&self, key: &Key) -> bool {
        self.wanted_keys.contains(key)
    }

    /// The ways from here.
    pub fn routes(&self) -> &Arc<Routes> {
        &self.routes
    }

    /// Returns the announcements of all other known sites, reachable or not.
    pub fn known(&self) -> impl Iterator<Item = &Announcement> {
        self.known.values().map(|known| &*known.announcement)
    }

    /// Returns the announcements of the sites that have a route.
    pub fn reachable(&self) -> impl Iterator<Item = &Arc<Announcement>> {
        let sites = self.routes.sites.keys();
        sites.filter_map(|site| self.known.get(site).map(|known| &known.announcement))
    }

    /// Returns a counter that grows with every change of the knowledge, and sometimes in addition.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// How often another claimed to be this site.
    pub fn contested(&self) -> u64 {
        self.contested
    }

    /// This site has these keys now.
    ///
    /// # Errors
    /// They are more than an announcement may hold; then nothing changes.
    pub fn set_keys(
        &mut self,
        keys: BTreeSet<Key>,
        now: Duration,
    ) -> Result<(), announcement::Error> {
        let mut own = Announcement::clone(&self.own);
        own.keys = keys;
        own.check()?;
        self.wanted_keys = own.keys;
        self.originate(now);
        Ok(())
    }

    /// This site is called so, and has that.
    ///
    /// # Errors
    /// It is more than an announcement may hold; then nothing changes.
    pub fn set_about(&mut self, about: About, now: Duration) -> Result<(), announcement::Error> {
        let mut own = Announcement::clone(&self.own);
        own.about = about;
        own.check()?;
        self.wanted_about = own.about;
        self.originate(now);
        Ok(())
    }

    /// Sets the cost of the link to a neighbour from now on.
    pub fn set_cost(&mut self, site: &SiteId, cost: u32, now: Duration) {
        if let Some(neighbour) = self.neighbours.get_mut(site) {
            neighbour.cost = cost.clamp(1, MAX_COST);
            self.originate(now);
        }
    }

    /// Returns the cost of the link to a neighbour.
    pub fn cost(&self, site: &SiteId) -> Option<u32> {
        self.neighbours.get(site).map(|neighbour| neighbour.cost)
    }

    /// Adds the link to a neighbour.
    pub fn link_up(&mut self, site: &SiteId, role: Role, cost: u32, now: Duration) {
        let cost = cost.clamp(1, MAX_COST);
        let neighbour = Neighbour::new(role, cost, now);
        self.neighbours.insert(site.clone(), neighbour);
        self.originate(now);
        // The link may have been lost a moment ago, before that was announced.
        self.stale = true;
    }

    /// Removes the link to a neighbour.
    pub fn link_down(&mut self, site: &SiteId, now: Duration) {
        if self.neighbours.remove(site).is_some() {
            if self.uplink.as_ref() == Some(site) {
                self.forget_others();
            }
            self.originate(now);
            // For this site even a change that may not be announced yet counts at once.
            self.stale = true;
        }
    }

    /// Processes an announcement from a neighbour.
    ///
    /// # Errors
    /// Returns an error if no correct router sends such an announcement.
    pub fn receive(
        &mut self,
        from: &SiteId,
        announcement: Arc<Announcement>,
        now: Duration,
    ) -> Result<(), Violation> {
        announcement.check()?;
        let Some(neighbour) = self.neighbours.get_mut(from) else {
            return Ok(());
        };
        let (origin, version) = (announcement.origin.clone(), announcement.version);
        if neighbour.role == Role::Edge && origin != *from && origin != self.own.origin {
            return Err(Violation::Foreign(origin));
        }
        neighbour.pace(now)?;
        neighbour.owe(&origin, version);
        if origin == self.own.origin {
            neighbour.learn(&origin, version);
            self.defend(&announcement, now);
            return Ok(());
        }
        let had = self.known.get(&origin);
        if had.is_some_and(|had| had.announcement.version >= version) {
            neighbour.learn(&origin, version);
            neighbour.look_again();
            return neighbour.repeated(now);
        }
        if !self.has_room(from, &announcement)? {
            return Ok(());
        }
        let known = Known {
            announcement,
            via: from.clone(),
            unreachable_since: Some(now),
        };
        self.known.insert(origin.clone(), known);
        self.stale = true;
        self.revision += 1;
        if let Some(neighbour) = self.neighbours.get_mut(from) {
            neighbour.learn(&origin, version);
        }
        Ok(())
    }

    /// Records that a neighbour has an announcement, or a newer one; with version zero, that it has
    /// none. Ignores an announcement that is not known here.
    pub fn acknowledged(&mut self, from: &SiteId, origin: &SiteId, version: Version) {
        let newest = self.site(origin).map(|newest| newest.version);
        if newest.is_some_and(|newest| version <= newest)
            && let Some(neighbour) = self.neighbours.get_mut(from)
        {
            neighbour.acknowledged(origin, version);
        }
    }

    /// Returns the messages to send to a neighbour now. They count as sent, and are sent again if
    /// no answer comes.
    pub fn messages(&mut self, to: &SiteId, now: Duration) -> Vec<Message> {
        let Some(neighbour) = self.neighbours.get_mut(to) else {
            return Vec::new();
        };
        let mut messages = neighbour.acknowledgements();
        if !neighbour.is_behind(self.revision, now) {
            return messages;
        }
        // An edge site announces only itself, and learns about others from the neighbour that it
        // uses. Every neighbour sends it the announcement of its own earlier start, because
        // otherwise it would not know which version it has to overrule.
        let used = |edge: &Known| edge.announcement.links.contains_key(&self.own.origin);
        let is_used = neighbour.role == Role::Interior || self.known.get(to).is_some_and(used);
        let passes_on = self.own.role == Role::Interior && is_used;
        let others = self.known.iter();
        let others = others.filter(|(site, _)| passes_on || *site == to);
        let all = others.map(|(site, known)| {
            let is_reachable = self.routes.sites.contains_key(site);
            (&known.announcement, is_reachable)
        });
        for (announcement, is_reachable) in std::iter::once((&self.own, true)).chain(all) {
            if neighbour.has(announcement) {
                continue;
            }
            // An announcement of an unreachable site is sent only to neighbours that know an older
            // one of that site.
            let matters = is_reachable || neighbour.knows(&announcement.origin);
            if matters && neighbour.lacks(announcement, now) {
                messages.push(Message::Announce(announcement.clone()));
            }
        }
        messages
    }

    /// When [`Network::tick`] has something to do; zero is at once.
    pub fn wake_at(&self) -> Option<Duration> {
        let stale = self.stale.then_some(Duration::ZERO);
        let pace = self.changed.then_some(self.pace);
        let known = self.known.values();
        let lost = known.filter_map(|known| known.unreachable_since).min();
        let expiry = lost.map(|since| since + EXPIRY);
        stale.into_iter().chain(pace).chain(expiry).min()
    }

    /// Performs all work that is due, and computes the paths if something has changed.
    pub fn tick(&mut self, now: Duration) {
        if self.changed {
            self.originate(now);
        }
        if self.stale {
            self.reroute(now);
        }
        let expired = |known: &Known| {
            let since = known.unreachable_since;
            since.is_some_and(|since| since + EXPIRY <= now)
        };
        let gone = self.known.iter().filter(|(_, known)| expired(known));
        let gone: Vec<SiteId> = gone.map(|(site, _)| site.clone()).collect();
        for site in &gone {
            self.forget(site);
        }
    }

    /// Forgets everything that an edge site learned from the neighbour that it used. An edge site
    /// forwards nothing, so no other site would know that the information is old.
    fn forget_others(&mut self) {
        let others = self.known.keys();
        let others = others.filter(|site| !self.neighbours.contains_key(*site));
        for site in others.cloned().collect::<Vec<_>>() {
            self.forget(&site);
        }
    }

    /// Forgets a site. Neighbours are notified, so that they announce it again if it is still
    /// reachable.
    fn forget(&mut self, site: &SiteId) {
        self.revision += 1;
        self.known.remove(site);
        for neighbour in self.neighbours.values_mut() {
            neighbour.forget(site);
        }
    }

    /// Overrules an announcement for this site from another origin: either an earlier instance sent
    /// it, or it is forged.
    fn defend(&mut self, announced: &Announcement, now: Duration) {
        if announced.version < self.own.version || *announced == *self.own {
            return;
        }
        self.contested += 1;
        if self.contested > 1 {
            self.pace = self.pace.max(now + CONTESTED_PACE);
        }
        self.overruled = self.overruled.max(Some(announced.version));
        self.originate(now);
    }

    /// Announces a change of this site, if something changed and the announcement is due.
    fn originate(&mut self, now: Duration) {
        let (links, keys) = (self.links(), self.wanted_keys.clone());
        self.changed = self.overruled.is_some()
            || links != self.own.links
            || keys != self.own.keys
            || self.wanted_about != self.own.about;
        if !self.changed || now < self.pace {
            return;
        }
        let mut own = Announcement::clone(&self.own);
        (own.links, own.keys) = (links, keys);
        own.about.clone_from(&self.wanted_about);
        let overruled = self.overruled.take();
        own.version = overruled.map_or_else(
            || own.version.next(),
            |version| version.overruled(self.instance),
        );
        self.own = Arc::new(own);
        (self.changed, self.stale) = (false, true);
        self.pace = now + PACE;
    }

    /// The links of this site; of an edge site the one that it uses, for as long as it lasts.
    fn links(&mut self) -> BTreeMap<SiteId, u32> {
        let all = self.neighbours.iter();
        let all = all.map(|(site, neighbour)| (site.clone(), neighbour.cost));
        if self.own.role == Role::Interior {
            return all.collect();
        }
        let used = self.uplink.take();
        let used = used.filter(|site| self.neighbours.contains_key(site));
        let best = all.clone().min_by_key(|(site, cost)| (*cost, site.clone()));
        self.uplink = used.or_else(|| best.map(|(site, _)| site));
        all.filter(|(site, _)| Some(site) == self.uplink.as_ref())
            .collect()
    }

    /// Computes the ways anew, and since when sites are out of reach.
    fn reroute(&mut self, now: Duration) {
        self.stale = false;
        self.revision += 1;
        let neighbours = &self.neighbours;
        let routes = Routes::compute(self, &self.own.origin, |site| neighbours.contains_key(site));
        for (site, known) in &mut self.known {
            // A neighbour's announcement about itself is kept for as long as it is a neighbour.
            if !routes.sites.contains_key(site) && !self.neighbours.contains_key(site) {
                known.unreachable_since.get_or_insert(now);
            } else {
                known.unreachable_since = None;
            }
        }
        if *self.routes != routes {
            self.routes = Arc::new(routes);
        }
    }

    /// Returns true if there is room for one more announcement. This keeps a neighbour from filling
    /// the memory.
    fn has_room(&mut self, from: &SiteId, new: &Announcement) -> Result<bool, Violation> {
        let (mut count, mut size) = (1, new.size());
        for (site, known) in &self.known {
            if known.via == *from && *site != new.origin {
                count += 1;
                size += known.announcement.size();
            }
        }
        if count > MAX_SITES_OF_NEIGHBOUR || size > MAX_SIZE_OF_NEIGHBOUR {
            return Err(Violation::TooManySites);
        }
        Ok(self.known.len() < MAX_SITES || self.known.contains_key(&new.origin))
    }
}

#[cfg(test)]
mod tests;
