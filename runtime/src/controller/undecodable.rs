//! Objects that their Rust type cannot hold: each gets a log line and an event, and none stops another.

use std::collections::{BTreeMap, BTreeSet};

use super::Controller;
use crate::cluster::act::News;
use crate::cluster::store::{Change, Name};
use crate::lifecycle::Kind;

type StoreKey = (usize, Name);

#[derive(Default)]
pub(crate) struct Undecodable {
    known: BTreeMap<StoreKey, (Option<String>, String)>,
    untold: BTreeSet<StoreKey>,
}

impl Undecodable {
    /// Records whether a changed object is readable.
    pub(crate) fn record_change(&mut self, store: usize, kind: &Kind, change: &Change) {
        let at = (store, change.name.clone());
        let why = change
            .new
            .as_ref()
            .and_then(|new| new.decoded.as_ref().err());
        let object = change.name.of_kind(kind);
        match (why, self.known.get(&at)) {
            (Some(why), known) if known.is_none_or(|(_, before)| before != why) => {
                tracing::warn!(%object, "{object} cannot be read: {why}; correct it, or delete it");
                let uid = change.new.as_ref().and_then(|new| new.meta.uid.clone());
                self.known.insert(at.clone(), (uid, why.clone()));
                self.untold.insert(at);
            }
            (None, Some(_)) => {
                if change.new.is_some() {
                    tracing::info!(%object, "{object} can be read again");
                }
                self.known.remove(&at);
                self.untold.remove(&at);
            }
            (Some(_), _) | (None, None) => {}
        }
    }
}

impl Controller {
    /// Sends the events that are owed, while writes may leave.
    pub(super) fn tell_undecodable(&mut self) {
        while self.in_flight_writes.len() < self.settings.concurrency {
            let Some(at) = self.undecodable.untold.pop_first() else {
                return;
            };
            let Some((uid, why)) = self.undecodable.known.get(&at).cloned() else {
                continue;
            };
            let news = News {
                warning: true,
                reason: "Undecodable".to_owned(),
                note: format!("it cannot be read: {why}; correct it, or delete it"),
            };
            let kind = self.stores[at.0].kind.clone();
            let mut runners = self.runners.iter();
            let lifecycle = runners.position(|r| r.needs.contains(&at.0));
            self.send_event(
                lifecycle.unwrap_or_default(),
                &kind,
                (&at.1, uid.as_deref()),
                news,
            );
        }
    }
}
