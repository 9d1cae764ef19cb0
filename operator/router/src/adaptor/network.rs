//! The records of the whole network by their sources: they come with a source and go with it, and none is kept twice. Its memory is bounded:
//! the sources that were silent for longest go first. Pure; the time is given.

mod document;
mod overview;

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

pub(super) use document::Detail;
pub(super) use overview::Overview;

use super::vanflow::{Kind, Record, Text};

/// Time after which a silent source is gone.
const SILENCE: Duration = Duration::from_secs(30);

/// A source that has not sent anything yet has so much longer.
const GRACE: Duration = Duration::from_secs(30);

/// Upper bounds on the kept data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) sources: usize,
    pub(super) records: usize,
    /// Of all records, about.
    pub(super) bytes: usize,
    /// Identities of records that have ended, of one source.
    pub(super) ended: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            sources: 2048,
            records: 131_072,
            bytes: 64 << 20,
            ended: 4096,
        }
    }
}

/// The records of one source.
#[derive(Debug)]
struct Source {
    discovered: Instant,
    heard: Option<Instant>,
    records: BTreeMap<String, Record>,
    /// Records that have ended, and when. A message that comes again or late does not bring them back.
    ended: BTreeMap<String, u64>,
}

impl Source {
    /// The time at which it is gone, if it stays silent.
    fn deadline(&self) -> Instant {
        match self.heard {
            Some(heard) => heard + SILENCE,
            None => self.discovered + SILENCE + GRACE,
        }
    }

    /// Takes over a record or a change of one.
    fn take(&mut self, record: Record) {
        let end = self.ended.get(&record.id).copied();
        if let Some(end) = record.end {
            self.records.remove(&record.id);
            self.ended.insert(record.id, end);
            return;
        }
        match end {
            Some(end) if record.start.is_none_or(|start| start <= end) => return,
            Some(_) => {
                self.ended.remove(&record.id);
            }
            None => {}
        }
        match self.records.get_mut(&record.id) {
            Some(kept) if kept.kind == record.kind => {
                kept.start = record.start.or(kept.start);
                kept.cost = record.cost.or(kept.cost);
                kept.texts.extend(record.texts);
            }
            Some(_) | None => {
                self.records.insert(record.id.clone(), record);
            }
        }
    }

    /// Forgets the records that ended first.
    fn bound(&mut self, limit: usize) {
        while self.ended.len() > limit {
            let first = self.ended.iter().min_by_key(|(_, end)| **end);
            let Some(first) = first.map(|(id, _)| id.clone()) else {
                return;
            };
            self.ended.remove(&first);
        }
    }

    fn size(&self) -> usize {
        let records = self.records.values().map(Record::size);
        let ended = self.ended.keys().map(|id| id.len() + 64);
        records.sum::<usize>() + ended.sum::<usize>()
    }
}

/// The network.
#[derive(Debug, Default)]
pub(super) struct Network {
    /// The own site, which no source is needed for.
    own: Option<Record>,
    sources: BTreeMap<String, Source>,
    limits: Limits,
}

impl Network {
    /// A network with nothing but the own site.
    pub(super) fn new(own: Option<Record>, limits: Limits) -> Self {
        Self {
            own,
            sources: BTreeMap::new(),
            limits,
        }
    }

    /// The identity of the own site.
    pub(super) fn own(&self) -> Option<&str> {
        self.own.as_ref().map(|own| own.id.as_str())
    }

    /// True if the source is known.
    pub(super) fn has(&self, source: &str) -> bool {
        self.sources.contains_key(source)
    }

    /// Learns of a source. Returns the sources that go because there are too many.
    pub(super) fn discover(&mut self, source: &str, now: Instant) -> Vec<String> {
        if self.has(source) {
            return Vec::new();
        }
        let mut gone = Vec::new();
        while self.sources.len() >= self.limits.sources.max(1) {
            let Some(oldest) = self.oldest(source) else {
                break;
            };
            self.forget(&oldest);
            gone.push(oldest);
        }
        let fresh = Source {
            discovered: now,
            heard: None,
            records: BTreeMap::new(),
            ended: BTreeMap::new(),
        };
        self.sources.insert(source.to_owned(), fresh);
        gone
    }

    /// Learns that a source still exists.
    pub(super) fn hear(&mut self, source: &str, now: Instant) {
        if let Some(source) = self.sources.get_mut(source) {
            source.heard = Some(now);
        }
    }

    /// Adds records of a known source. Returns the sources that are dropped because the limits are
    /// exceeded.
    pub(super) fn take(&mut self, source: &str, records: Vec<Record>, now: Instant) -> Vec<String> {
        self.hear(source, now);
        let limits = self.limits;
        let Some(kept) = self.sources.get_mut(source) else {
            return Vec::new();
        };
        for record in records {
            kept.take(record);
        }
        kept.bound(limits.ended);
        let mut gone = Vec::new();
        while self.is_too_large() {
            // Alone and too large, it goes itself.
            let oldest = self.oldest(source).unwrap_or_else(|| source.to_owned());
            self.forget(&oldest);
            gone.push(oldest);
        }
        gone
    }

    /// Forgets a source with its records.
    pub(super) fn forget(&mut self, source: &str) {
        self.sources.remove(source);
    }

    /// Forgets the sources that were silent for too long, and returns them.
    pub(super) fn expire(&mut self, now: Instant) -> Vec<String> {
        let all = self.sources.iter();
        let gone = all.filter(|(_, source)| source.deadline() <= now);
        let gone: Vec<String> = gone.map(|(id, _)| id.clone()).collect();
        for source in &gone {
            self.forget(source);
        }
        gone
    }

    fn is_too_large(&self) -> bool {
        let sources = self.sources.values();
        let records = sources.clone().map(|source| source.records.len());
        records.sum::<usize>() > self.limits.records
            || sources.map(Source::size).sum::<usize>() > self.limits.bytes
    }

    /// The source that was silent for longest, but for this one.
    fn oldest(&self, but: &str) -> Option<String> {
        let others = self.sources.iter().filter(|(id, _)| *id != but);
        let oldest = others.min_by_key(|(_, source)| source.heard.unwrap_or(source.discovered));
        oldest.map(|(id, _)| id.clone())
    }

    /// All records by their identities. Of two sources with one record, the first by its identity counts.
    fn records(&self) -> Records<'_> {
        let mut all: BTreeMap<&str, &Record> = BTreeMap::new();
        let others = self.sources.values().flat_map(|it| it.records.values());
        for record in self.own.iter().chain(others) {
            all.entry(&record.id).or_insert(record);
        }
        let mut children: BTreeMap<Kind, BTreeMap<&str, Vec<&Record>>> = BTreeMap::new();
        for record in all.values() {
            let parent = record.text(Text::Parent).unwrap_or_default();
            let of_kind = children.entry(record.kind).or_default();
            of_kind.entry(parent).or_default().push(record);
        }
        Records { all, children }
    }
}

/// The records of all sources together.
struct Records<'a> {
    all: BTreeMap<&'a str, &'a Record>,
    /// By kind and parent, each list sorted by identity.
    children: BTreeMap<Kind, BTreeMap<&'a str, Vec<&'a Record>>>,
}

impl<'a> Records<'a> {
    /// The sites, sorted by identity.
    fn sites(&self) -> impl Iterator<Item = &'a Record> {
        let all = self.all.values().copied();
        all.filter(|record| record.kind == Kind::Site)
    }

    /// The records below another one, sorted by identity.
    fn children(&self, kind: Kind, parent: &str) -> &[&'a Record] {
        let of_kind = self.children.get(&kind);
        let below = of_kind.and_then(|of_kind| of_kind.get(parent));
        below.map_or(&[], Vec::as_slice)
    }

    /// The site that a link leads to: that of the router that has this identity, or a listener for links with it.
    fn peer(&self, link: &Record) -> Option<&'a Record> {
        let mut at = *self.all.get(link.text(Text::Peer)?)?;
        for kind in [Kind::Access, Kind::Router] {
            if at.kind == kind {
                at = self.all.get(at.text(Text::Parent)?)?;
            }
        }
        (at.kind == Kind::Site).then_some(at)
    }
}

#[cfg(test)]
mod tests;
