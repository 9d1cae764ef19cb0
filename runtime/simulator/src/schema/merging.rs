//! Operations on two objects of one schema: their difference, merging one into the other, and
//! removing paths.

use std::collections::BTreeMap;

use serde_json::{Map as Object, Value};

use super::field_set::FieldSet;
use super::node::{Arena, Id, Items, List, Map, Shape};
use super::paths::Element;
use super::typed::{equal, scalar_problem, step_of};

/// Paths that differ between an older and a newer object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Comparison {
    pub(super) removed: FieldSet,
    pub(super) modified: FieldSet,
    pub(super) added: FieldSet,
}

/// Compares two objects.
pub(super) fn compare(arena: &Arena, id: Id, old: &Value, new: &Value) -> Comparison {
    let mut comparer = Comparer {
        arena,
        found: Comparison::default(),
    };
    comparer.compare_node(id, Some(old), Some(new), &mut Vec::new());
    comparer.found
}

struct Comparer<'a> {
    arena: &'a Arena,
    found: Comparison,
}

type Side<'a> = Option<&'a Value>;

impl Comparer<'_> {
    fn compare_node(&mut self, id: Id, old: Side<'_>, new: Side<'_>, path: &mut Vec<Element>) {
        let node = self.arena.node(id);
        let (left, right) = (node.shape(old), node.shape(new));
        let leaf = if new.is_none() {
            self.shaped(left, old, new, path)
        } else if old.is_none() || left.same(right) {
            self.shaped(right, old, new, path)
        } else {
            self.shaped(left, old, new, path);
            self.shaped(right, old, new, path)
        };
        if !leaf {
            if old.is_none() {
                self.found.added.insert(path);
            } else if new.is_none() {
                self.found.removed.insert(path);
            }
        }
    }

    /// Returns true if the value was compared as a whole.
    fn shaped(
        &mut self,
        shape: Shape<'_>,
        old: Side<'_>,
        new: Side<'_>,
        path: &mut Vec<Element>,
    ) -> bool {
        match shape {
            Shape::Map(map) => {
                let (left, right) = (object(old), object(new));
                if map.atomic
                    || (left.is_none_or(Object::is_empty) && right.is_none_or(Object::is_empty))
                {
                    return self.leaf(old, new, path);
                }
                for (name, old, new) in zipped(left, right) {
                    let Some(id) = map.field(name) else { continue };
                    path.push(Element::field(name));
                    self.compare_node(id, old, new, path);
                    path.pop();
                }
                false
            }
            Shape::List(list) => {
                let (left, right) = (array(old), array(new));
                if list.items == Items::Atomic || (left.is_empty() && right.is_empty()) {
                    return self.leaf(old, new, path);
                }
                self.items(list, left, right, path);
                false
            }
            Shape::Scalar(scalar) => {
                let bad =
                    scalar_problem(scalar, old).is_some() && scalar_problem(scalar, new).is_some();
                if bad {
                    return false;
                }
                self.leaf(old, new, path)
            }
            Shape::Nothing => false,
        }
    }

    fn leaf(&mut self, old: Side<'_>, new: Side<'_>, path: &[Element]) -> bool {
        match (old, new) {
            (None, _) => self.found.added.insert(path),
            (_, None) => self.found.removed.insert(path),
            (Some(old), Some(new)) if !equal(old, new) => self.found.modified.insert(path),
            (Some(_), Some(_)) => {}
        }
        true
    }

    fn items(&mut self, list: &List, left: &[Value], right: &[Value], path: &mut Vec<Element>) {
        let mut all: BTreeMap<Element, (Vec<&Value>, Vec<&Value>)> = BTreeMap::new();
        for item in left {
            if let Ok(step) = step_of(self.arena, list, item) {
                all.entry(step).or_default().0.push(item);
            }
        }
        for item in right {
            if let Ok(step) = step_of(self.arena, list, item) {
                all.entry(step).or_default().1.push(item);
            }
        }
        for (step, (left, right)) in all {
            path.push(step);
            match (left.as_slice(), right.as_slice()) {
                ([] | [_], [] | [_]) => {
                    self.compare_node(list.of, left.first().copied(), right.first().copied(), path);
                }
                ([_, _, ..], [_, _, ..]) => {
                    let same = left.len() == right.len()
                        && left
                            .iter()
                            .zip(&right)
                            .all(|(left, right)| equal(left, right));
                    if !same {
                        self.found.modified.insert(path);
                    }
                }
                ([_, _, ..], rest) => {
                    if let Some(item) = rest.first() {
                        self.compare_node(list.of, None, Some(item), path);
                    }
                    self.found.removed.insert(path);
                }
                (rest, [_, _, ..]) => {
                    if let Some(item) = rest.first() {
                        self.compare_node(list.of, Some(item), None, path);
                    }
                    self.found.added.insert(path);
                }
            }
            path.pop();
        }
    }
}

/// Merges a desired object into an existing one. Maps and keyed lists are merged by their parts,
/// everything else as a whole.
///
/// # Errors
/// A list has an item twice or one without a key.
pub(super) fn merge(
    arena: &Arena,
    id: Id,
    there: Side<'_>,
    wanted: Side<'_>,
) -> Result<Option<Value>, String> {
    let node = arena.node(id);
    let (left, right) = (node.shape(there), node.shape(wanted));
    if wanted.is_none() {
        return merge_shaped(arena, left, there, wanted);
    }
    merge_shaped(arena, right, there, wanted)
}

fn merge_shaped(
    arena: &Arena,
    shape: Shape<'_>,
    there: Side<'_>,
    wanted: Side<'_>,
) -> Result<Option<Value>, String> {
    let whole = || Ok(wanted.or(there).cloned());
    match shape {
        Shape::Map(map) => {
            let (left, right) = (object(there), object(wanted));
            if map.atomic
                || (left.is_none_or(Object::is_empty) && right.is_none_or(Object::is_empty))
            {
                return whole();
            }
            let mut out = Object::new();
            for (name, there, wanted) in zipped(left, right) {
                let Some(id) = map.field(name) else { continue };
                if let Some(merged) = merge(arena, id, there, wanted)? {
                    out.insert(name.clone(), merged);
                }
            }
            Ok((!out.is_empty()).then_some(Value::Object(out)))
        }
        Shape::List(list) => {
            let (left, right) = (array(there), array(wanted));
            if list.items == Items::Atomic || (left.is_empty() && right.is_empty()) {
                return whole();
            }
            let out = merge_items(arena, list, left, right)?;
            Ok((!out.is_empty()).then_some(Value::Array(out)))
        }
        Shape::Scalar(_) => whole(),
        Shape::Nothing => Ok(None),
    }
}

/// The steps of the items of a list, and the item of each; one that occurs twice counts as null.
type Indexed<'a> = (Vec<Element>, BTreeMap<Element, &'a Value>);

static NULL: Value = Value::Null;

fn index<'a>(
    arena: &Arena,
    list: &List,
    items: &'a [Value],
    duplicates: bool,
) -> Result<Indexed<'a>, String> {
    let mut steps = Vec::new();
    let mut observed = BTreeMap::new();
    for (place, item) in items.iter().enumerate() {
        let step =
            step_of(arena, list, item).map_err(|error| format!("element {place}: {error}"))?;
        if observed.contains_key(&step) {
            if !duplicates {
                return Err(format!("duplicate entries for key {step}"));
            }
            observed.insert(step.clone(), &NULL);
        } else {
            observed.insert(step.clone(), item);
        }
        steps.push(step);
    }
    Ok((steps, observed))
}

/// Merges two lists. The desired order takes precedence, and items of others keep their place among
/// the shared ones.
fn merge_items(
    arena: &Arena,
    list: &List,
    left: &[Value],
    right: &[Value],
) -> Result<Vec<Value>, String> {
    let (wanted_steps, wanted) = index(arena, list, right, false)?;
    let (there_steps, there) = index(arena, list, left, true)?;
    let mut shared = wanted_steps.iter().filter(|step| there.contains_key(*step));
    let mut next_shared = shared.next();
    let mut merged = std::collections::BTreeSet::new();
    let mut out = Vec::new();
    let push = |out: &mut Vec<Value>, there: Side<'_>, wanted: Side<'_>| {
        if let Ok(Some(item)) = merge(arena, list.of, there, wanted) {
            out.push(item);
        }
    };
    let (mut l, mut r) = (0, 0);
    while l < there_steps.len() || r < wanted_steps.len() {
        if let (Some(step), Some(other)) = (there_steps.get(l), wanted_steps.get(r)) {
            if step == other {
                merged.insert(step);
                push(
                    &mut out,
                    there.get(step).copied(),
                    wanted.get(step).copied(),
                );
                l += 1;
                r += 1;
                next_shared = shared.next();
                continue;
            }
            if wanted.contains_key(step) && next_shared.is_some_and(|next| next != step) {
                l += 1;
                continue;
            }
        }
        if let Some(step) = there_steps.get(l) {
            if !wanted.contains_key(step) {
                push(&mut out, left.get(l), None);
                l += 1;
                continue;
            }
            if merged.contains(step) {
                l += 1;
            }
        }
        if let Some(step) = wanted_steps.get(r) {
            merged.insert(step);
            push(
                &mut out,
                there.get(step).copied(),
                wanted.get(step).copied(),
            );
            r += 1;
            if next_shared == Some(step) {
                next_shared = shared.next();
            }
        }
    }
    Ok(out)
}

/// Returns the object without some paths. Containers that become empty by the removal are null, as
/// in the real server.
pub(super) fn remove(arena: &Arena, id: Id, value: &Value, paths: &FieldSet) -> Value {
    match arena.node(id).shape(Some(value)) {
        Shape::Map(map) => remove_fields(arena, map, value, paths),
        Shape::List(list) => remove_items(arena, list, value, paths),
        Shape::Scalar(_) => value.clone(),
        Shape::Nothing => Value::Null,
    }
}

fn remove_fields(arena: &Arena, map: &Map, value: &Value, paths: &FieldSet) -> Value {
    if map.atomic {
        return Value::Null;
    }
    let mut out = Object::new();
    for (name, value) in value.as_object().into_iter().flatten() {
        let step = Element::field(name);
        if paths.members.contains(&step) {
            continue;
        }
        let kept = match (paths.child_set(&step), map.field(name)) {
            (Some(below), Some(id)) => remove(arena, id, value, below),
            (_, _) => value.clone(),
        };
        out.insert(name.clone(), kept);
    }
    if out.is_empty() {
        Value::Null
    } else {
        Value::Object(out)
    }
}

fn remove_items(arena: &Arena, list: &List, value: &Value, paths: &FieldSet) -> Value {
    if list.items == Items::Atomic {
        return Value::Null;
    }
    let mut out = Vec::new();
    for item in value.as_array().into_iter().flatten() {
        let Ok(step) = step_of(arena, list, item) else {
            out.push(item.clone());
            continue;
        };
        if paths.members.contains(&step) {
            continue;
        }
        match paths.child_set(&step) {
            Some(below) => out.push(remove(arena, list.of, item, below)),
            None => out.push(item.clone()),
        }
    }
    if out.is_empty() {
        Value::Null
    } else {
        Value::Array(out)
    }
}

fn object(value: Side<'_>) -> Option<&Object<String, Value>> {
    value.and_then(Value::as_object)
}

fn array(value: Side<'_>) -> &[Value] {
    value
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

/// The fields of two objects side by side.
fn zipped<'a>(
    left: Option<&'a Object<String, Value>>,
    right: Option<&'a Object<String, Value>>,
) -> Vec<(&'a String, Side<'a>, Side<'a>)> {
    let mut all: BTreeMap<&String, (Side<'a>, Side<'a>)> = BTreeMap::new();
    for (name, value) in left.into_iter().flatten() {
        all.entry(name).or_default().0 = Some(value);
    }
    for (name, value) in right.into_iter().flatten() {
        all.entry(name).or_default().1 = Some(value);
    }
    all.into_iter()
        .map(|(name, (left, right))| (name, left, right))
        .collect()
}
