//! The operations that turn the entities of a router into those of a document. Pure, and without effect when repeated.
//! Entities that the router has of its own are neither changed nor deleted, and no document can replace them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};

use serde_json::Value;

use super::{Attributes, Entity};

/// An entity of the router, or an entry of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its type.
    pub entity: Entity,
    /// Its name.
    pub name: String,
    /// Its attributes.
    pub attributes: Attributes,
}

impl Entry {
    /// An entity of this type, from a row of a query; absent if it has no name, for then no request can address it.
    pub fn from_attributes(entity: Entity, attributes: Attributes) -> Option<Self> {
        let name = attributes.get("name").and_then(Value::as_str)?;
        let name = Some(name).filter(|name| !name.is_empty())?.to_owned();
        Some(Self {
            entity,
            name,
            attributes,
        })
    }
}

/// The entries of a document that the adaptor manages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DesiredEntries {
    /// The entries; no two have one type and name.
    pub entries: Vec<Entry>,
    /// Problems of elements that are no such entries.
    pub faults: Vec<String>,
}

/// Types of entities that a document has and that the router reads at its start alone.
const AT_START: [&str; 4] = ["router", "site", "log", "address"];

/// True if the router reads entities of this type at its start alone.
pub(super) fn is_at_start(kind: &str) -> bool {
    AT_START.contains(&kind)
}

/// Reads the elements of a document, each `[entity, attributes]`. Entries that are the router's own are left out.
pub fn parse_elements(elements: &[Value]) -> DesiredEntries {
    let mut wanted = DesiredEntries::default();
    let mut names = BTreeSet::new();
    for (at, element) in elements.iter().enumerate() {
        let Some([Value::String(kind), Value::Object(attributes)]) =
            element.as_array().map(Vec::as_slice)
        else {
            wanted.faults.push(format!(
                "element {at} of the document is no [entity, attributes]"
            ));
            continue;
        };
        let Some(entity) = Entity::from_name(kind) else {
            if !is_at_start(kind) {
                wanted.faults.push(format!(
                    "element {at} of the document: `{kind}` is no entity of the router"
                ));
            }
            continue;
        };
        match Entry::from_attributes(entity, attributes.clone()) {
            None => wanted.faults.push(format!(
                "element {at} of the document: a {entity} has no `name`"
            )),
            Some(entry) if entity.is_fixed(&entry.name) => {}
            Some(entry) if names.insert((entity, entry.name.clone())) => wanted.entries.push(entry),
            Some(entry) => wanted.faults.push(format!(
                "{entity} `{}` is in the document twice; the first is used",
                entry.name
            )),
        }
    }
    wanted
}

/// A request that changes the router.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// Deletes an entity.
    Delete {
        /// Its type.
        entity: Entity,
        /// Its name.
        name: String,
    },
    /// Gives some attributes of an entity other values.
    Update {
        /// Its type.
        entity: Entity,
        /// Its name.
        name: String,
        /// The attributes that change.
        attributes: Attributes,
    },
    /// Creates an entity.
    Create {
        /// Its type.
        entity: Entity,
        /// Its name.
        name: String,
        /// Its attributes.
        attributes: Attributes,
    },
}

impl Operation {
    /// The type and the name of the entity.
    pub fn subject(&self) -> (Entity, &str) {
        match self {
            Self::Delete { entity, name }
            | Self::Update { entity, name, .. }
            | Self::Create { entity, name, .. } => (*entity, name),
        }
    }
}

impl Display for Operation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (entity, name) = self.subject();
        let verb = match self {
            Self::Delete { .. } => "delete",
            Self::Update { .. } => "update",
            Self::Create { .. } => "create",
        };
        write!(f, "{verb} {entity} `{name}`")
    }
}

type Key<'a> = (Entity, &'a str);

/// Returns the operations that turn `current` into `wanted`, in the order in which they must be
/// sent.
///
/// # Guarantees
/// Deletions come first. An entity is deleted after everything that refers to it, and created
/// before it. An entity that refers to a replaced one is replaced as well: the router resolves a
/// reference once, when it creates the entity.
pub fn changes(current: &[Entry], wanted: &[Entry]) -> Vec<Operation> {
    changes_with(current, wanted, &BTreeSet::new())
}

/// As [`changes`], and these are replaced though nothing differs.
pub(super) fn changes_with(
    current: &[Entry],
    wanted: &[Entry],
    anew: &BTreeSet<(Entity, &str)>,
) -> Vec<Operation> {
    let current = by_key(current);
    let wanted = by_key(wanted);
    let mut deleted: BTreeSet<Key<'_>> = BTreeSet::new();
    let mut replaced: BTreeSet<Key<'_>> = BTreeSet::new();
    let mut rest = Vec::new();
    let keys: BTreeSet<Key<'_>> = current.keys().chain(wanted.keys()).copied().collect();
    // Keys are sorted by type, and referenced entities come first.
    for key in keys {
        let (entity, name) = key;
        let Some(want) = wanted.get(&key) else {
            deleted.insert(key);
            replaced.insert(key);
            continue;
        };
        if let Some(has) = current.get(&key) {
            let differing = differences(entity, has, want);
            let refers = [*has, *want]
                .into_iter()
                .any(|attributes| refers(entity, attributes, &replaced));
            let is_anew = refers || anew.contains(&key);
            if differing.is_empty() && !is_anew {
                continue;
            }
            let fits = |name: &&str| entity.is_updatable(name) && has_value(entity, want, name);
            if !is_anew && differing.iter().all(fits) {
                rest.push(Operation::Update {
                    entity,
                    name: name.to_owned(),
                    attributes: update(entity, want, &differing),
                });
                continue;
            }
            deleted.insert(key);
        }
        replaced.insert(key);
        rest.push(Operation::Create {
            entity,
            name: name.to_owned(),
            attributes: creation(entity, want),
        });
    }
    let deletions = Entity::DELETION.into_iter().flat_map(|entity| {
        let of_type = deleted.iter().filter(move |(of, _)| *of == entity);
        of_type.map(|(entity, name)| Operation::Delete {
            entity: *entity,
            name: (*name).to_owned(),
        })
    });
    deletions.chain(rest).collect()
}

/// Entries that can change, by type and name. Of two with one name the first stays.
fn by_key(entries: &[Entry]) -> BTreeMap<Key<'_>, &Attributes> {
    let mut map = BTreeMap::new();
    let free = entries
        .iter()
        .filter(|entry| !entry.entity.is_fixed(&entry.name));
    for entry in free {
        let key = (entry.entity, entry.name.as_str());
        map.entry(key).or_insert(&entry.attributes);
    }
    map
}

/// True if an entity names one of these.
fn refers(entity: Entity, attributes: &Attributes, to: &BTreeSet<Key<'_>>) -> bool {
    entity.references().iter().any(|(attribute, of)| {
        let name = attributes.get(*attribute).and_then(Value::as_str);
        name.is_some_and(|name| to.contains(&(*of, name)))
    })
}

/// Attributes that do not describe the entity itself: its name and type are properties of a
/// request.
const IDENTITY: [&str; 3] = ["name", "type", "identity"];

/// Returns the attributes with different values: those that an author can set, and any others that
/// the entry sets.
fn differences<'a>(entity: Entity, has: &Attributes, want: &'a Attributes) -> Vec<&'a str> {
    let known = entity
        .definitions()
        .iter()
        .map(|definition| definition.name);
    let set = want.keys().map(String::as_str);
    let names: BTreeSet<&str> = known
        .chain(set)
        .filter(|name| !IDENTITY.contains(name))
        .collect();
    let differs = |name: &&str| entity.effective(has, name) != entity.effective(want, name);
    names.into_iter().filter(differs).collect()
}

/// Returns true if an update can express the value of the attribute. No request makes the router
/// unset an attribute.
fn has_value(entity: Entity, want: &Attributes, name: &str) -> bool {
    let value = entity.typed(want, name);
    value.is_some() || !entity.typed_default(name).is_null()
}

fn update(entity: Entity, want: &Attributes, differing: &[&str]) -> Attributes {
    let values = differing.iter().map(|name| {
        let value = entity.typed(want, name);
        let value = value.unwrap_or_else(|| entity.typed_default(name));
        ((*name).to_owned(), value)
    });
    values.collect()
}

fn creation(entity: Entity, want: &Attributes) -> Attributes {
    let names = want
        .keys()
        .filter(|name| !IDENTITY.contains(&name.as_str()));
    let values = names.filter_map(|name| Some((name.clone(), entity.typed(want, name)?)));
    values.collect()
}

#[cfg(test)]
mod tests;
