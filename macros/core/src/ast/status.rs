//! The section `status`: the facts that are reported about an object.

use proc_macro2::{Ident, Span};

use super::{Path, Pred};

/// `condition Name { .. }`.
#[derive(Clone, Debug)]
pub struct Condition {
    pub name: Ident,
    pub doc: String,
    pub clauses: Vec<Clause>,
}

/// One line of a condition.
#[derive(Clone, Debug)]
pub struct Clause {
    pub status: ConditionStatus,
    pub reason: Option<String>,
    pub message: Option<Message>,
    pub event: Option<String>,
    /// `None`: `otherwise`.
    pub when: Option<Pred>,
    pub span: Span,
}

/// A text that may take in texts of the object.
#[derive(Clone, Debug)]
pub struct Message {
    pub parts: Vec<Part>,
    /// Of the whole string.
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Part {
    Text(String),
    /// `{spec.host}`.
    Path(Path),
}

/// Status that a clause writes: one of the three values of a Kubernetes condition, or none because
/// it writes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionStatus {
    True,
    False,
    Unknown,
    /// Not written, and unmet.
    Absent,
    /// Neither written nor evaluated.
    Omit,
}

/// `ready "Reason" "message" from A, B`.
#[derive(Clone, Debug)]
pub struct Ready {
    pub reason: Option<String>,
    pub message: Option<Message>,
    pub from: Vec<Ident>,
    pub span: Span,
}

/// `implicit in Condition "Reason"`.
#[derive(Clone, Debug)]
pub struct Implicit {
    pub condition: Ident,
    pub reason: String,
    pub span: Span,
}

/// `field name ..`.
#[derive(Clone, Debug)]
pub struct Field {
    pub name: Ident,
    pub doc: String,
    pub what: FieldOf,
}

/// Source of the value of a field.
#[derive(Clone, Debug)]
pub enum FieldOf {
    Method {
        ty: Box<syn::Type>,
        from: Vec<Ident>,
        last_reported: bool,
    },
    Phase,
    Reason,
    Message,
}

/// `column Name "path"`.
#[derive(Clone, Debug)]
pub struct Column {
    pub name: Ident,
    pub json_path: Option<String>,
}
