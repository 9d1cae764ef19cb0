//! The start of a router: its certificates and its document are written to the folder that it shares with the adaptor, before it runs.
//! Entries that need not be there at the start are left out: the adaptor beside it creates them, and one of them fails alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::PathBuf;

use serde_json::Value;
use thiserror::Error;

use super::Entity;
use super::changes::{Entry, is_at_start};
use super::document::{Document, Item, Key};
use super::plan::{Current, Plan};
use super::plane::Adaptor;
use crate::file;
use crate::plain::{path, plain};
use crate::snapshot::DOCUMENT;

/// Why a router cannot start.
#[derive(Debug, Error)]
pub enum InitError {
    /// The document cannot be written.
    #[error(
        "cannot write the document of the router to {}: make the folder writable",
        path(at)
    )]
    Write {
        /// The file.
        at: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

impl Adaptor {
    /// Waits for the first configuration, and writes it for a router that is about to start.
    ///
    /// # Errors
    /// The document cannot be written.
    pub async fn init(&self) -> Result<(), InitError> {
        let document = self.first().await;
        for fault in &document.faults {
            tracing::warn!("{}", plain(fault));
        }
        let certificates = self.certificates().clone();
        let at = certificates.root().join(DOCUMENT);
        let work = {
            let at = at.clone();
            move || -> io::Result<()> {
                std::fs::create_dir_all(certificates.root())?;
                let written = certificates.write(&document.folders);
                let mut unwritten: BTreeMap<Key, String> = document.misnumbered().collect();
                for (name, folder) in &document.folder_of {
                    if let Some(why) = written.failed.get(folder) {
                        unwritten.insert((Entity::SslProfile, name.clone()), why.clone());
                    }
                }
                let text = serde_json::to_vec(&elements(&document, &unwritten))?;
                file::replace(&at, &text)?;
                for folder in &written.unloaded {
                    // The router that starts now loads all files.
                    certificates.loaded(folder)?;
                }
                File::open(certificates.root())?.sync_all()
            }
        };
        let late = || tracing::warn!("writing certificates takes long");
        let done = file::run_blocking(work, late).await;
        done.map_err(|source| InitError::Write { at, source })
    }
}

/// The elements of a document that must be there at the start of a router: one bad entry would end it. The adaptor creates all others.
fn elements(document: &Document, unwritten: &BTreeMap<Key, String>) -> Vec<Value> {
    let plan = Plan::new(document, &Current::default(), unwritten, &BTreeSet::new());
    let items: BTreeMap<Key, &Item> = document
        .items
        .iter()
        .map(|item| (item.key(), item))
        .collect();
    let (mut profiles, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let mut elements = Vec::new();
    for element in &document.elements {
        let Some([Value::String(kind), Value::Object(attributes)]) =
            element.as_array().map(Vec::as_slice)
        else {
            continue;
        };
        let Some(entity) = Entity::from_name(kind) else {
            if is_at_start(kind) {
                elements.push(element.clone());
            }
            continue;
        };
        let entry = Entry::from_attributes(entity, attributes.clone());
        let entry =
            entry.filter(|entry| entity == Entity::Listener && entity.is_fixed(&entry.name));
        let Some(entry) = entry.filter(|entry| seen.insert(entry.name.clone())) else {
            continue;
        };
        if let Some(why) = lacks(&plan, entity, attributes, &items) {
            let entry = format!("{entity} `{}` is left out: {why}", entry.name);
            tracing::warn!("{}", plain(&entry));
            continue;
        }
        profiles.extend(named(entity, attributes));
        elements.push(element.clone());
    }
    let profiles = profiles.iter().filter_map(|key| {
        let mut attributes = items.get(key)?.wanted.as_ref().ok()?.clone();
        attributes.insert("name".to_owned(), Value::from(key.1.as_str()));
        Some(Value::from(vec![
            Value::from(key.0.name()),
            Value::Object(attributes),
        ]))
    });
    elements.extend(profiles);
    elements
}

/// The entries that an entry names.
fn named(entity: Entity, attributes: &super::Attributes) -> impl Iterator<Item = Key> {
    entity.references().iter().filter_map(|(attribute, of)| {
        let name = attributes.get(*attribute)?.as_str()?;
        (!name.is_empty()).then(|| (*of, name.to_owned()))
    })
}

/// Why an entry of the router's own, which the adaptor does not manage, cannot be.
fn lacks(
    plan: &Plan,
    entity: Entity,
    attributes: &super::Attributes,
    items: &BTreeMap<Key, &Item>,
) -> Option<String> {
    named(entity, attributes).find_map(|key| match plan.failed.get(&key) {
        Some(why) => Some(why.clone()),
        None if items.contains_key(&key) => None,
        None => Some(format!("{} `{}` does not exist", key.0, key.1)),
    })
}
