//! Elements of a schema: nodes that refer to each other by index, because a kind may contain
//! itself. A node defines how its values merge (the atoms of structured-merge-diff). It does not
//! know its source.

use std::collections::BTreeMap;

use serde_json::Value;

/// The format of the node of a quantity, which no schema has.
pub(super) const QUANTITY: &str = "quantity";

/// The place of a node in its arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Id(pub(super) usize);

/// The nodes of one or more kinds.
#[derive(Debug, Default)]
pub(super) struct Arena {
    pub(super) nodes: Vec<Node>,
}

impl Arena {
    pub(super) fn node(&self, id: Id) -> &Node {
        &self.nodes[id.0]
    }
}

/// One type: which shapes its values may have, and how values of each shape merge.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) scalar: Option<Scalar>,
    pub(super) list: Option<List>,
    pub(super) map: Option<Map>,
    pub(super) default: Option<Value>,
    pub(super) patch: Patch,
    /// Of a number: its Go type. `QUANTITY` for the quantities of built-in kinds.
    pub(super) format: String,
}

/// Scalar types that structured-merge-diff distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Numeric,
    String,
    Boolean,
    Untyped,
}

/// Identity of the items of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Items {
    Atomic,
    Set,
    Keyed(Vec<String>),
}

/// A list and the type of its items.
#[derive(Clone, Debug)]
pub(super) struct List {
    pub(super) items: Items,
    pub(super) of: Id,
}

/// A map or a structure: named fields, and the type of all others if others are allowed.
#[derive(Clone, Debug)]
pub(super) struct Map {
    pub(super) fields: BTreeMap<String, Id>,
    pub(super) rest: Option<Id>,
    pub(super) atomic: bool,
    /// Fields that are always written, by Go types as null if they have no value.
    pub(super) required: Vec<String>,
    /// The Go type, if it has a name.
    pub(super) name: String,
    /// Scalars that are written also where they are zero, for their Go types are pointers.
    pub(super) pointers: Vec<String>,
}

impl Map {
    /// Returns the type of a field, declared or additional.
    pub(super) fn field(&self, name: &str) -> Option<Id> {
        self.fields.get(name).copied().or(self.rest)
    }
}

/// How strategic merge patches treat a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Patch {
    pub(super) merge: bool,
    pub(super) retain_keys: bool,
    pub(super) key: Option<String>,
}

/// Shape that determines the treatment of a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape<'a> {
    Map(&'a Map),
    List(&'a List),
    Scalar(Scalar),
    Nothing,
}

impl Shape<'_> {
    pub(super) fn same(self, other: Shape<'_>) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

impl Node {
    pub(super) fn is_quantity(&self) -> bool {
        self.format == QUANTITY
    }

    /// Returns the shape that fits a value. If none fits, or there is no value, returns the first
    /// shape.
    pub(super) fn shape(&self, value: Option<&Value>) -> Shape<'_> {
        let fitting = match value {
            None | Some(Value::Null) => None,
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
                self.scalar.map(Shape::Scalar)
            }
            Some(Value::Array(_)) => self.list.as_ref().map(Shape::List),
            Some(Value::Object(_)) => self.map.as_ref().map(Shape::Map),
        };
        let first = || self.map.as_ref().map(Shape::Map);
        fitting
            .or_else(first)
            .or_else(|| self.scalar.map(Shape::Scalar))
            .or_else(|| self.list.as_ref().map(Shape::List))
            .unwrap_or(Shape::Nothing)
    }
}
