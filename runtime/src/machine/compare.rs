//! Stale or Current: the desired fields, the live object and our entries of its managed fields, walked together without a schema.
//! Knows JSON and nothing else.

mod contenders;
mod exclusive;
mod fields;
mod members;
mod migrated;
mod owned;
mod prune;
mod taken;

use std::cell::OnceCell;

use serde_json::{Map, Value};

pub use contenders::contenders;
pub use exclusive::{intruder, stranger};
pub use fields::Ours;
pub use migrated::migrated;
pub use owned::{fingerprint, under_our_paths};
pub use prune::pruned;

use fields::{ManagerFields, is_leaf};
use members::{Items, MemberKey, MemberKeys, Pairs};
use prune::{is_nothing, keeps_empty_text};
use taken::{Owners, taken};

/// Comparison of a live object with the desired one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Every desired field is present and ours, and no other field is ours.
    Current,
    /// A desired field is missing or differs.
    Behind {
        /// The first one: `spec.type`.
        at: String,
    },
    /// A desired field is present, but only others own it.
    Taken {
        /// The first one: `spec.selector`.
        at: String,
    },
    /// A desired field is present without an owner, beside fields of ours. Another manager took it
    /// and released it, and the API server filled it in.
    Unowned {
        /// The first one: `spec.type`.
        at: String,
    },
    /// A field of ours is present but no longer desired.
    Surplus {
        /// The first one.
        at: String,
        /// True if the field belongs to an entry that an apply does not replace. Such entries must
        /// first be merged into ours.
        migrate: bool,
    },
}

/// Compares pruned desired fields with a live object.
pub fn compare(desired: &Value, live: &Value, ours: &Ours<'_>) -> Comparison {
    let entries: Vec<ManagerFields<'_>> = ours.all().collect();
    if let Some(at) = behind(desired, live, &entries, &Path::root()) {
        return Comparison::Behind { at };
    }
    let owners = Owners {
        ours: entries,
        others: ours.others.clone(),
        claims_unowned: ours.applied.is_some(),
    };
    // A surplus takes precedence over an unowned field, because it may need another write.
    let unowned = match taken((desired, live), &owners, &Path::root()) {
        Some(unowned @ Comparison::Unowned { .. }) => Some(unowned),
        Some(comparison) => return comparison,
        None => None,
    };
    for stuck in &ours.stuck {
        if let Some(at) = surplus((*stuck, &ours.others[..]), desired, live, &Path::root()) {
            return Comparison::Surplus { at, migrate: true };
        }
    }
    match ours
        .applied
        .and_then(|applied| surplus((applied, &ours.others[..]), desired, live, &Path::root()))
    {
        Some(at) => Comparison::Surplus { at, migrate: false },
        None => unowned.unwrap_or(Comparison::Current),
    }
}

/// Position of a walk, for messages and for rules that depend on the name of a map.
struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    part: &'a str,
}

impl<'a> Path<'a> {
    fn root() -> Self {
        Self {
            parent: None,
            part: "",
        }
    }

    fn down(&'a self, part: &'a str) -> Self {
        Path {
            parent: Some(self),
            part,
        }
    }

    fn show(&self) -> String {
        match self.parent {
            None => String::new(),
            Some(parent) if parent.parent.is_none() => self.part.to_owned(),
            Some(parent) if self.part.starts_with('[') => format!("{}{}", parent.show(), self.part),
            Some(parent) => format!("{}.{}", parent.show(), self.part),
        }
    }
}

/// The first desired field that live does not have.
fn behind(
    desired: &Value,
    live: &Value,
    ours: &[ManagerFields<'_>],
    path: &Path<'_>,
) -> Option<String> {
    match (desired, live) {
        (Value::Object(desired), Value::Object(live)) => behind_in_map(desired, live, ours, path),
        (Value::Array(desired), Value::Array(live)) => behind_in_list(desired, live, ours, path),
        _ => (!same(desired, live)).then(|| path.show()),
    }
}

fn behind_in_map(
    desired: &Map<String, Value>,
    live: &Map<String, Value>,
    ours: &[ManagerFields<'_>],
    path: &Path<'_>,
) -> Option<String> {
    desired.iter().find_map(|(key, wanted)| {
        let path = path.down(key);
        let field = format!("f:{key}");
        let inner = fields::child_entries(ours, &field);
        match live.get(key) {
            Some(found) => behind(wanted, found, &inner, &path),
            None if wanted.is_object() && is_nothing(wanted, key) => None,
            None => Some(path.show()),
        }
    })
}

fn behind_in_list(
    desired: &[Value],
    live: &[Value],
    ours: &[ManagerFields<'_>],
    path: &Path<'_>,
) -> Option<String> {
    let keys = MemberKeys::from_entries(ours);
    if ours.iter().any(|o| is_leaf(o)) && keys.is_empty() {
        let equal = desired.len() == live.len()
            && desired.iter().zip(live).all(|(d, l)| covers(l, d, path));
        return (!equal).then(|| path.show());
    }
    let (siblings, items) = (Items::new(desired, &keys), Items::new(live, &keys));
    desired.iter().enumerate().find_map(|(n, wanted)| {
        let part = format!("[{n}]");
        let path = path.down(&part);
        match keys.key_of(wanted, &siblings) {
            None => (!live.iter().any(|l| covers(l, wanted, &path))).then(|| path.show()),
            Some(key) => {
                let Some(found) = items.find(key) else {
                    return Some(path.show());
                };
                let inner = fields::child_entries(ours, &key.text);
                behind(wanted, found, &inner, &path)
            }
        }
    })
}

/// Returns true if a live value contains everything of a desired one, with lists as subsets.
fn covers(live: &Value, desired: &Value, path: &Path<'_>) -> bool {
    behind(desired, live, &[], path).is_none()
}

/// Returns the first field of an entry of ours that is live but not desired, together with the
/// fields of others there.
fn surplus(
    (entry, others): (ManagerFields<'_>, &[ManagerFields<'_>]),
    desired: &Value,
    live: &Value,
    path: &Path<'_>,
) -> Option<String> {
    let pairs = OnceCell::new();
    entry.iter().find_map(|(name, inner)| {
        let inner = inner.as_object()?;
        let beside = fields::child_entries(others, name);
        if let Some(key) = name.strip_prefix("f:") {
            return surplus_field(key, (inner, &beside[..]), desired, live, path);
        }
        let (found, wanted) = match name.strip_prefix("v:") {
            Some(value) => {
                let value: Value = serde_json::from_str(value).ok()?;
                (
                    fields::value_among(live, &value),
                    fields::value_among(desired, &value),
                )
            }
            None => {
                let key = MemberKey::parse(name)?;
                let pairs = pairs.get_or_init(|| Pairs::new(entry, desired, live));
                (pairs.found(&key), pairs.desired_item(&key))
            }
        };
        let path = path.down(name.get(2..).unwrap_or_default());
        match (found?, wanted) {
            (_, None) => Some(path.show()),
            (found, Some(wanted)) => surplus((inner, &beside[..]), &wanted, &found, &path),
        }
    })
}

fn surplus_field(
    key: &str,
    (inner, others): (ManagerFields<'_>, &[ManagerFields<'_>]),
    desired: &Value,
    live: &Value,
    path: &Path<'_>,
) -> Option<String> {
    let found = live.get(key)?;
    let empty_text = found.as_str() == Some("") && keeps_empty_text(path.part);
    if is_nothing(found, key) && !empty_text {
        return None;
    }
    let path = path.down(key);
    // If others own single members, our ownership of the whole map stems from an empty one that
    // was applied once. None of its members are ours.
    let was_empty = || others.iter().any(|other| !is_leaf(other));
    match desired.get(key) {
        None if is_leaf(inner) => (!was_empty()).then(|| path.show()),
        None => surplus((inner, others), &Value::Null, found, &path),
        Some(wanted) => surplus((inner, others), wanted, found, &path),
    }
}

/// Equal as the API server sees it: `80` and `80.0` are the same number.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(k, v)| b.get(k).is_some_and(|other| same(v, other)))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
