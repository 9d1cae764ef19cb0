//! The lines of a trace file: what each says, as JSON. Everything has its name and no position, so that another version of a lifecycle can read it.

use std::collections::BTreeMap;

use lifecycle_runtime::lifecycle::{Kind, ObjectRef};
use lifecycle_runtime::machine::ir::{Lifecycle, Origin};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the format.
pub const FORMAT: u32 = 1;

/// One line.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Line {
    /// Milliseconds since the operator began.
    pub(crate) ms: u64,
    #[serde(flatten)]
    pub(crate) what: What,
}

/// What a line says.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum What {
    /// A process begins.
    Trace(Header),
    /// Its lifecycles begin.
    Runs(Runs),
    /// The caches show an object in this version from here on.
    Object(Value),
    /// They show it no longer.
    Gone(Place),
    /// A pass decided.
    Pass(Pass),
    /// A write left.
    Sent(Sent),
    /// A write ended.
    Ended(Ended),
    /// So many lines were not written, for they came too quickly. What changed meanwhile follows.
    Lost(u64),
}

impl What {
    /// The pass, if it is one.
    pub(crate) fn pass(&self) -> Option<&Pass> {
        match self {
            Self::Pass(pass) => Some(pass),
            Self::Trace(_)
            | Self::Runs(_)
            | Self::Object(_)
            | Self::Gone(_)
            | Self::Sent(_)
            | Self::Ended(_)
            | Self::Lost(_) => None,
        }
    }
}

/// What a file begins with.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Header {
    /// [`FORMAT`].
    pub format: u32,
    /// The program that ran.
    pub program: String,
    /// Its version.
    pub version: String,
    /// When it began.
    pub began: String,
    /// What its lifecycles were made with, as far as that is no secret: a program makes them anew by it.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
}

/// What ran.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Runs {
    pub(crate) lifecycles: Vec<Declared>,
    /// `group/Kind` of what was watched; of the core group `/Kind`.
    pub(crate) kinds: Vec<String>,
}

/// A lifecycle that ran.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Declared {
    pub(crate) path: String,
    /// Another one: the declaration was another one.
    pub(crate) fingerprint: String,
}

/// Where an object is.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Place {
    /// `group/Kind`.
    pub(crate) kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
}

/// A pass.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pass {
    pub(crate) lifecycle: String,
    pub(crate) object: Object,
    /// Of the object, as it was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    /// What time it was for it, where it asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) now: Option<String>,
    /// The value of each fact.
    pub(crate) world: BTreeMap<String, String>,
    /// What facts said.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) says: BTreeMap<String, String>,
    /// The polls that had an answer, or had none. What it was is not written.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) answered: BTreeMap<String, bool>,
    /// Where it is: a state, or `Deleting`, `Refused`, `Unclear`.
    pub(crate) state: String,
    /// What is to be done: an effect, or `claim`, `release`, `rest`.
    pub(crate) next: String,
    /// What the pass did.
    pub(crate) does: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ruled_out: Option<String>,
    /// Where the API server kept other values than were written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) settled: Vec<Settled>,
}

/// The object of a lifecycle, of whose kind that says more.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Object {
    pub(crate) kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
}

/// What the API server kept of what was written.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) struct Settled {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) desired: u64,
    pub(crate) live: u64,
}

/// A write that left.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Sent {
    /// Whose pass it was, by the kind of the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) object: Option<Object>,
    /// `effect`, `call`, `claim`, `release`, `leftover`, `status`, `event`.
    pub(crate) what: String,
}

/// A write that ended.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Ended {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) object: Option<Object>,
    pub(crate) what: String,
    pub(crate) how: String,
    /// What was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<Object>,
    /// The version that it got.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
}

impl Object {
    pub(crate) fn of(object: &ObjectRef) -> Self {
        Self {
            kind: object.kind.clone(),
            namespace: object.namespace.clone(),
            name: object.name.clone(),
        }
    }

    /// `Listener default/web`.
    pub(crate) fn described(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("{} {namespace}/{}", self.kind, self.name),
            None => format!("{} {}", self.kind, self.name),
        }
    }
}

/// `group/Kind`.
pub(crate) fn of_group(kind: &Kind) -> String {
    format!("{}/{}", kind.group, kind.kind)
}

/// What the fact of a position is called: that a write was refused is no fact of the effect's name.
pub(crate) fn fact(ir: &Lifecycle, var: usize) -> String {
    let declared = &ir.vars[var];
    match declared.origin {
        Origin::Refused(_) => format!("refused({})", declared.name),
        Origin::Input(_) | Origin::Fact | Origin::Deleting | Origin::Claimed => {
            declared.name.to_owned()
        }
    }
}

/// A number for a declaration, the same in each process.
pub(crate) fn fingerprint(ir: &Lifecycle) -> String {
    // FNV-1a: no hasher of the standard library promises to stay what it is.
    let number = format!("{ir:?}")
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |number, byte| {
            (number ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
    format!("{number:016x}")
}
