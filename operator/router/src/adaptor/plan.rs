//! The entities that the router is to have now: those of the document, without the ones that cannot be, and with the ones that may not
//! be touched as the router has them. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::changes::{Entry, Operation, changes_with};
use super::document::{Document, Item, Key};
use super::{Attributes, Entity};

/// The answers to queries of all types of entities.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Current {
    pub(super) rows: BTreeMap<Entity, Vec<Attributes>>,
    /// Entities that must be recreated although nothing differs.
    pub(super) anew: BTreeSet<Key>,
}

impl Current {
    pub(super) fn rows(&self, entity: Entity) -> &[Attributes] {
        self.rows.get(&entity).map_or(&[], Vec::as_slice)
    }

    fn entries(&self) -> Vec<Entry> {
        let all = self.rows.iter().flat_map(|(entity, rows)| {
            let rows = rows.iter().cloned();
            rows.filter_map(|row| Entry::from_attributes(*entity, row))
        });
        all.collect()
    }
}

/// The requests to send.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Plan {
    pub(super) operations: Vec<Operation>,
    /// Entries that the router does not get, with the reasons.
    pub(super) failed: BTreeMap<Key, String>,
}

impl Plan {
    /// Computes the requests. `blocked` contains entries that are not tried now. `unloaded`
    /// contains profiles and proxies whose files the router has not loaded.
    pub(super) fn new(
        document: &Document,
        current: &Current,
        blocked: &BTreeMap<Key, String>,
        unloaded: &BTreeSet<Key>,
    ) -> Self {
        let entries = current.entries();
        let has: BTreeMap<Key, &Entry> = entries
            .iter()
            .map(|entry| ((entry.entity, entry.name.clone()), entry))
            .collect();
        let failed = failed(document, blocked, &has);
        let mut wanted: BTreeMap<Key, Entry> = BTreeMap::new();
        for item in &document.items {
            let key = item.key();
            match (&item.wanted, has.get(&key)) {
                _ if failed.contains_key(&key) || blocked.contains_key(&key) => {}
                (Ok(attributes), row) => {
                    let mut attributes = attributes.clone();
                    if item.entity == Entity::SslProfile {
                        let row = row.map(|row| &row.attributes);
                        keep_ordinals(&mut attributes, row, unloaded.contains(&key));
                    }
                    let entry = Entry {
                        entity: item.entity,
                        name: item.name.clone(),
                        attributes,
                    };
                    wanted.insert(key, entry);
                }
                (Err(_), _) => {}
            }
        }
        let kept = blocked.keys().cloned().chain(own_profiles(&entries));
        for key in kept {
            if let (Some(entry), false) = (has.get(&key), wanted.contains_key(&key)) {
                wanted.insert(key, (*entry).clone());
            }
        }
        let wanted: Vec<Entry> = wanted.into_values().collect();
        let anew = current.anew.iter();
        let anew = anew
            .filter(|key| !blocked.contains_key(*key))
            .map(|(entity, name)| (*entity, name.as_str()));
        let mut operations = changes_with(&entries, &wanted, &anew.collect());
        operations.extend(reloads(&operations, &wanted, &has, (unloaded, blocked)));
        Self { operations, failed }
    }

    /// The entries that need a request.
    pub(super) fn open(&self) -> BTreeSet<Key> {
        let subjects = self.operations.iter().map(Operation::subject);
        subjects
            .map(|(entity, name)| (entity, name.to_owned()))
            .collect()
    }
}

/// The entries that the router does not get: those with a problem of their own, those it refused and does not have, and those that name
/// one of these.
fn failed(
    document: &Document,
    blocked: &BTreeMap<Key, String>,
    has: &BTreeMap<Key, &Entry>,
) -> BTreeMap<Key, String> {
    let mut failed: BTreeMap<Key, String> = BTreeMap::new();
    let mut items: Vec<&Item> = document.items.iter().collect();
    // An entity that others name comes before them.
    items.sort_by_key(|item| item.entity);
    let known: BTreeSet<Key> = items.iter().map(|item| item.key()).collect();
    for item in items {
        let key = item.key();
        if let Err(why) = &item.wanted {
            failed.insert(key, why.clone());
            continue;
        }
        let blocking = blocked.get(&key).filter(|_| !has.contains_key(&key));
        let named = item.entity.references().iter().find_map(|(attribute, of)| {
            let name = item.attributes.get(*attribute)?.as_str()?;
            let other = (*of, name.to_owned());
            match failed.get(&other) {
                Some(why) => Some(why.clone()),
                None if known.contains(&other) || name.is_empty() => None,
                None => Some(format!("{of} `{name}` does not exist")),
            }
        });
        if let Some(why) = blocking.cloned().or(named) {
            failed.insert(key, why);
        }
    }
    failed
}

/// A document that names no ordinal leaves it at the router's, and one higher than all that the router has where there are new files.
/// The router takes none that is less than the oldest one that is valid.
fn keep_ordinals(attributes: &mut Attributes, row: Option<&Attributes>, is_unloaded: bool) {
    let number = |of: &Attributes, name: &str| {
        let text = Entity::SslProfile.effective(of, name);
        text.and_then(|text| text.parse::<i64>().ok())
            .unwrap_or_default()
    };
    let is_free = |attributes: &Attributes, name: &str| {
        let value = attributes.get(name).and_then(super::schema::plain_text);
        value.is_none()
    };
    if is_free(attributes, "ordinal") {
        let oldest = number(attributes, "oldestValidOrdinal");
        let Some(row) = row else {
            if oldest > 0 {
                attributes.insert("ordinal".to_owned(), Value::from(oldest));
            }
            return;
        };
        let has = number(row, "oldestValidOrdinal");
        let mut ordinal = number(row, "ordinal").max(oldest);
        if is_unloaded {
            ordinal = ordinal.max(has).saturating_add(1);
        }
        attributes.insert("ordinal".to_owned(), Value::from(ordinal));
        if is_free(attributes, "oldestValidOrdinal") {
            attributes.insert("oldestValidOrdinal".to_owned(), Value::from(has));
        }
    }
}

/// Profiles of the router's own entities, which stay.
fn own_profiles(entries: &[Entry]) -> impl Iterator<Item = Key> {
    let fixed = entries
        .iter()
        .filter(|entry| entry.entity.is_fixed(&entry.name));
    fixed.flat_map(|entry| {
        let references = entry.entity.references().iter();
        references.filter_map(|(attribute, of)| {
            let name = entry.attributes.get(*attribute)?.as_str()?;
            Some((*of, name.to_owned()))
        })
    })
}

/// Returns updates of profiles with new files but unchanged ordinals, and of proxies with a new
/// password in the file.
fn reloads(
    operations: &[Operation],
    wanted: &[Entry],
    has: &BTreeMap<Key, &Entry>,
    (unloaded, blocked): (&BTreeSet<Key>, &BTreeMap<Key, String>),
) -> Vec<Operation> {
    let is_touched = |key: &Key| {
        let mut subjects = operations.iter().map(Operation::subject);
        subjects.any(|subject| subject == (key.0, key.1.as_str()))
    };
    let files = wanted.iter().filter(|entry| {
        let key = (entry.entity, entry.name.clone());
        unloaded.contains(&key)
            && has.contains_key(&key)
            && !blocked.contains_key(&key)
            && !is_touched(&key)
    });
    let updates = files.map(|entry| {
        let names: &[&str] = if entry.entity == Entity::ProxyProfile {
            &["password"]
        } else {
            &["ordinal", "oldestValidOrdinal"]
        };
        let values = names.iter().filter_map(|name| {
            let value = entry.entity.typed(&entry.attributes, name)?;
            Some(((*name).to_owned(), value))
        });
        Operation::Update {
            entity: entry.entity,
            name: entry.name.clone(),
            attributes: values.collect(),
        }
    });
    updates.collect()
}

#[cfg(test)]
mod tests;
