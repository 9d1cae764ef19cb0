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

/// How a live object compares with what we want.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every desired field is there and ours, and nothing else of ours is.
    Current,
    /// A desired field is missing or differs.
    Behind {
        /// The first one: `spec.type`.
        at: String,
    },
    /// A desired field is there, and belongs to others alone.
    Taken {
        /// The first one: `spec.selector`.
        at: String,
    },
    /// A desired field is there, and nobody's, beside others of ours: somebody took it and let go of it, and the API server filled it in.
    Unowned {
        /// The first one: `spec.type`.
        at: String,
    },
    /// A field of ours is there that is not wanted any more.
    Surplus {
        /// The first one.
        at: String,
        /// It stands in an entry that an apply does not replace: those must be merged into ours first.
        migrate: bool,
    },
}

/// Compares pruned desired fields with a live object.
pub fn compare(desired: &Value, live: &Value, ours: &Ours<'_>) -> Verdict {
    let entries: Vec<ManagerFields<'_>> = ours.all().collect();
    if let Some(at) = behind(desired, live, &entries, &Path::root()) {
        return Verdict::Behind { at };
    }
    let owners = Owners {
        ours: entries,
        others: ours.others.clone(),
        claims_unowned: ours.applied.is_some(),
    };
    // What is too much counts before what is nobody's: it may take another write.
    let unowned = match taken((desired, live), &owners, &Path::root()) {
        Some(unowned @ Verdict::Unowned { .. }) => Some(unowned),
        Some(verdict) => return verdict,
        None => None,
    };
    for stuck in &ours.stuck {
        if let Some(at) = surplus((*stuck, &ours.others[..]), desired, live, &Path::root()) {
            return Verdict::Surplus { at, migrate: true };
        }
    }
    match ours
        .applied
        .and_then(|applied| surplus((applied, &ours.others[..]), desired, live, &Path::root()))
    {
        Some(at) => Verdict::Surplus { at, migrate: false },
        None => unowned.unwrap_or(Verdict::Current),
    }
}

/// Where a walk is, for sentences and for what depends on the name of a map.
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
        let inner = fields::within(ours, &field);
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
    let keys = MemberKeys::of(ours);
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
                let inner = fields::within(ours, &key.text);
                behind(wanted, found, &inner, &path)
            }
        }
    })
}

/// Whether a live value has everything of a desired one, lists as subsets.
fn covers(live: &Value, desired: &Value, path: &Path<'_>) -> bool {
    behind(desired, live, &[], path).is_none()
}

/// The first field of an entry of ours that is in live and is not desired; with what others have there.
fn surplus(
    (entry, others): (ManagerFields<'_>, &[ManagerFields<'_>]),
    desired: &Value,
    live: &Value,
    path: &Path<'_>,
) -> Option<String> {
    let pairs = OnceCell::new();
    entry.iter().find_map(|(name, inner)| {
        let inner = inner.as_object()?;
        let beside = fields::within(others, name);
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
                let pairs = pairs.get_or_init(|| Pairs::of(entry, desired, live));
                (pairs.found(&key), pairs.wanted(&key))
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
    // Where others own members one by one, a map that is ours as a whole is the empty one that was applied once: nothing in it is ours.
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
