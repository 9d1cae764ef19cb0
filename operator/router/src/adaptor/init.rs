//! The start of a router: its certificates and its document are written to the folder that it shares with the adaptor, before it runs.
//! Entries that it could not start with are left out; the adaptor beside it reports and creates them later.

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
                let mut unwritten = BTreeMap::new();
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
        let done = file::beside(work, late).await;
        done.map_err(|source| InitError::Write { at, source })
    }
}

/// The elements of a document that a router can start with.
fn elements(document: &Document, unwritten: &BTreeMap<Key, String>) -> Vec<Value> {
    let plan = Plan::new(document, &Current::default(), unwritten, &BTreeSet::new());
    let items: BTreeMap<Key, &Item> = document
        .items
        .iter()
        .map(|item| (item.key(), item))
        .collect();
    let mut seen = BTreeSet::new();
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
        let Some(entry) = Entry::from_attributes(entity, attributes.clone()) else {
            continue;
        };
        let key = (entity, entry.name);
        let why = plan
            .failed
            .get(&key)
            .cloned()
            .or_else(|| lacks(&plan, entity, attributes, &items));
        if let Some(why) = why {
            let entry = format!("{entity} `{}` is left out: {why}", key.1);
            tracing::warn!("{}", plain(&entry));
        } else if seen.insert(key.clone()) {
            let wanted = items.get(&key).and_then(|item| item.wanted.as_ref().ok());
            let attributes = wanted.cloned().unwrap_or(entry.attributes);
            elements.push(Value::from(vec![
                Value::from(kind.as_str()),
                Value::Object(attributes),
            ]));
        }
    }
    elements
}

/// Why an entry of the router's own, which the adaptor does not manage, cannot be.
fn lacks(
    plan: &Plan,
    entity: Entity,
    attributes: &super::Attributes,
    items: &BTreeMap<Key, &Item>,
) -> Option<String> {
    entity.references().iter().find_map(|(attribute, of)| {
        let name = attributes.get(*attribute)?.as_str()?;
        let key = (*of, name.to_owned());
        match plan.failed.get(&key) {
            Some(why) => Some(why.clone()),
            None if items.contains_key(&key) || name.is_empty() => None,
            None => Some(format!("{of} `{name}` does not exist")),
        }
    })
}
