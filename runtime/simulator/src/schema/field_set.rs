//! Set of paths into an object, as owned by one manager. Reads and writes `fieldsV1`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::node::{Arena, Id};
use super::paths::Element;

/// Paths as a tree: members end here, children go on. A step may be both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FieldSet {
    pub(super) members: BTreeSet<Element>,
    pub(super) children: BTreeMap<Element, FieldSet>,
}

impl FieldSet {
    /// A set of paths made of field names only.
    pub(super) fn from_paths(paths: &[&[&str]]) -> Self {
        let mut set = Self::default();
        for path in paths {
            let path: Vec<Element> = path.iter().map(|name| Element::field(name)).collect();
            set.insert(&path);
        }
        set
    }

    /// Adds a path. The empty path, the whole object, has no owner.
    pub(super) fn insert(&mut self, path: &[Element]) {
        match path {
            [] => {}
            [last] => {
                self.members.insert(last.clone());
            }
            [first, rest @ ..] => self.children.entry(first.clone()).or_default().insert(rest),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty() && self.children.values().all(Self::is_empty)
    }

    /// Returns the subset below a path element.
    pub(super) fn child_set(&self, step: &Element) -> Option<&Self> {
        self.children.get(step).filter(|set| !set.is_empty())
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        let mut union = self.clone();
        union.members.extend(other.members.iter().cloned());
        for (step, set) in &other.children {
            let child = union.children.entry(step.clone()).or_default();
            *child = child.union(set);
        }
        union
    }

    pub(super) fn intersection(&self, other: &Self) -> Self {
        let members = self.members.intersection(&other.members).cloned().collect();
        let children = self.children.iter().filter_map(|(step, set)| {
            let both = set.intersection(other.children.get(step)?);
            (!both.is_empty()).then(|| (step.clone(), both))
        });
        Self {
            members,
            children: children.collect(),
        }
    }

    /// The paths that are not in the other set, path by path.
    pub(super) fn difference(&self, other: &Self) -> Self {
        let members = self.members.difference(&other.members).cloned().collect();
        let children = self.children.iter().filter_map(|(step, set)| {
            let left = match other.children.get(step) {
                Some(other) => set.difference(other),
                None => return Some((step.clone(), set.clone())),
            };
            (!left.is_empty()).then(|| (step.clone(), left))
        });
        Self {
            members,
            children: children.collect(),
        }
    }

    /// The paths that are neither in the other set nor below one of it.
    pub(super) fn difference_with_all_below(&self, other: &Self) -> Self {
        let members = self.members.difference(&other.members).cloned().collect();
        let children = self.children.iter().filter_map(|(step, set)| {
            if other.members.contains(step) {
                return None;
            }
            let left = match other.children.get(step) {
                Some(other) => set.difference_with_all_below(other),
                None => return Some((step.clone(), set.clone())),
            };
            (!left.is_empty()).then(|| (step.clone(), left))
        });
        Self {
            members,
            children: children.collect(),
        }
    }

    /// The set with each declared field that has something below it as a member of its own.
    pub(super) fn with_named_fields(&self, arena: &Arena, id: Option<Id>) -> Self {
        let node = id.map(|id| arena.node(id));
        let map = node.and_then(|node| node.map.as_ref());
        let list = node.and_then(|node| node.list.as_ref());
        let mut out = Self {
            members: self.members.clone(),
            children: BTreeMap::new(),
        };
        for (step, set) in &self.children {
            let below = match step {
                Element::Field(name) => {
                    if map.is_some_and(|map| map.fields.contains_key(name)) {
                        out.members.insert(step.clone());
                    }
                    map.and_then(|map| map.field(name))
                }
                Element::Keys(_) => list.map(|list| list.of),
                Element::Value(_) | Element::Index(_) => None,
            };
            out.children
                .insert(step.clone(), set.with_named_fields(arena, below));
        }
        out
    }

    /// Returns every path in the order of messages: shorter paths come before their extensions.
    pub(super) fn paths(&self) -> Vec<Vec<Element>> {
        let mut all = Vec::new();
        self.collect(&mut Vec::new(), &mut all);
        all
    }

    fn collect(&self, prefix: &mut Vec<Element>, all: &mut Vec<Vec<Element>>) {
        for member in &self.members {
            let mut path = prefix.clone();
            path.push(member.clone());
            all.push(path);
        }
        for (step, set) in &self.children {
            prefix.push(step.clone());
            set.collect(prefix, all);
            prefix.pop();
        }
    }

    /// As `fieldsV1`.
    pub(super) fn encode(&self) -> Value {
        Value::Object(self.contents(false))
    }

    fn contents(&self, is_member: bool) -> Map<String, Value> {
        let mut out = Map::new();
        if is_member && !(self.members.is_empty() && self.children.is_empty()) {
            out.insert(".".to_owned(), Value::Object(Map::new()));
        }
        for member in &self.members {
            if !self.children.contains_key(member) {
                out.insert(member.encode(), Value::Object(Map::new()));
            }
        }
        for (step, set) in &self.children {
            let contents = set.contents(self.members.contains(step));
            out.insert(step.encode(), Value::Object(contents));
        }
        out
    }

    /// From `fieldsV1`.
    ///
    /// # Errors
    /// It is malformed.
    pub(super) fn decode(fields: &Value) -> Result<Self, String> {
        let fields = fields
            .as_object()
            .ok_or_else(|| format!("expected an object, got {fields}"))?;
        let mut set = Self::default();
        for (key, below) in fields {
            if key == "." {
                continue;
            }
            let Some(step) = Element::decode(key)? else {
                continue;
            };
            let child = Self::decode(below)?;
            let ends = below.get(".").is_some() || child.is_nothing();
            if ends {
                set.members.insert(step.clone());
            }
            if !child.is_nothing() {
                set.children.insert(step, child);
            }
        }
        Ok(set)
    }

    fn is_nothing(&self) -> bool {
        self.members.is_empty() && self.children.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn set(fields: Value) -> FieldSet {
        FieldSet::decode(&fields).unwrap()
    }

    #[test]
    fn fields_survive_a_round_trip() {
        let fields = json!({
            "f:metadata": {"f:labels": {".": {}, "f:app": {}}},
            "f:spec": {"f:ports": {"k:{\"port\":80}": {".": {}, "f:port": {}}}, "f:set": {"v:\"a\"": {}}},
        });
        assert_eq!(set(fields.clone()).encode(), fields);
    }

    #[test]
    fn differences_are_by_path_or_with_all_below() {
        let all = set(json!({"f:a": {".": {}, "f:b": {}}, "f:c": {}}));
        let a = set(json!({"f:a": {}}));
        assert_eq!(
            all.difference(&a).encode(),
            json!({"f:a": {"f:b": {}}, "f:c": {}})
        );
        assert_eq!(
            all.difference_with_all_below(&a).encode(),
            json!({"f:c": {}})
        );
    }

    #[test]
    fn paths_end_before_they_go_on() {
        let all = set(json!({"f:a": {"f:b": {}}, "f:c": {}}));
        let shown: Vec<String> = all
            .paths()
            .iter()
            .map(|path| super::super::paths::show(path))
            .collect();
        assert_eq!(shown, [".c", ".a.b"]);
    }

    #[test]
    fn union_and_intersection_are_what_they_say() {
        let left = set(json!({"f:a": {"f:b": {}}, "f:c": {}}));
        let right = set(json!({"f:a": {"f:d": {}, "f:b": {}}}));
        let union = left.union(&right);
        assert_eq!(
            union.encode(),
            json!({"f:a": {"f:b": {}, "f:d": {}}, "f:c": {}})
        );
        assert_eq!(
            left.intersection(&right).encode(),
            json!({"f:a": {"f:b": {}}})
        );
    }
}
