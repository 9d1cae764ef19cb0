//! Lines of a trace file as JSON. All data is named instead of positional, so that another version
//! of a lifecycle can read it.

use std::collections::BTreeMap;

use lifecycle_runtime::lifecycle::{Kind, ObjectRef};
use lifecycle_runtime::machine::ir::{Lifecycle, Origin};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text::object_name;

/// The version of the format.
pub const FORMAT: u32 = 1;

/// One line.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Line {
    /// Milliseconds since the operator began.
    pub(crate) ms: u64,
    #[serde(flatten)]
    pub(crate) what: LineContent,
}

/// Content of a line.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum LineContent {
    /// A process begins.
    Trace(Header),
    /// Its lifecycles begin.
    Runs(Runs),
    /// The caches show an object in this version from here on.
    Object(Value),
    /// They show it no longer.
    Gone(ObjectKey),
    /// Decision of a reconciliation.
    Pass(Pass),
    /// A write left.
    Sent(Sent),
    /// A write ended.
    Ended(Ended),
    /// Number of lines that were not written because they came too quickly. The changes of the
    /// meantime follow.
    Lost(u64),
}

/// Names of the events, as a line spells them.
pub(crate) const EVENTS: [&str; 8] = [
    "trace", "runs", "object", "gone", "pass", "sent", "ended", "lost",
];

impl LineContent {
    /// Returns the reconciliation, if the line is one.
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

/// First line of a file.
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
    /// Settings of its lifecycles, except secrets. A program makes the lifecycles anew from them.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
}

/// Lifecycles and kinds of a run.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Runs {
    pub(crate) lifecycles: Vec<Declared>,
    /// `group/Kind` of each watched kind. `/Kind` for the core group.
    pub(crate) kinds: Vec<String>,
}

/// A lifecycle that ran.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Declared {
    pub(crate) path: String,
    /// Another one: the declaration was another one.
    pub(crate) fingerprint: String,
}

/// Kind, namespace and name of an object.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ObjectKey {
    /// `group/Kind`.
    pub(crate) kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
}

/// One reconciliation.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pass {
    pub(crate) lifecycle: String,
    pub(crate) object: Object,
    /// Of the object, as it was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    /// Time that the reconcile saw, if it reads the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) now: Option<String>,
    /// The value of each fact.
    pub(crate) world: BTreeMap<String, String>,
    /// Messages of the facts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) says: BTreeMap<String, String>,
    /// Polls, each with true if it had an answer. The answer itself is not written.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) answered: BTreeMap<String, bool>,
    /// State of the object, or `Deleting`, `Refused`, `Unclear`.
    pub(crate) state: String,
    /// Next action: an effect, or `claim`, `release`, `rest`.
    pub(crate) next: String,
    /// Action of the reconcile.
    pub(crate) does: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ruled_out: Option<String>,
    /// Writes whose values the API server changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) settled: Vec<Settled>,
}

/// Object of a lifecycle, whose kind gives the details.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Object {
    pub(crate) kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
}

/// Values that the API server kept from a write.
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
    /// Object of the reconcile that sent the write, by the kind of the object.
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
    /// Object that was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<Object>,
    /// The version that it got.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
}

impl Object {
    pub(crate) fn from_ref(object: &ObjectRef) -> Self {
        Self {
            kind: object.kind.clone(),
            namespace: object.namespace.clone(),
            name: object.name.clone(),
        }
    }

    /// `Listener default/web`.
    pub(crate) fn described(&self) -> String {
        object_name(&self.kind, self.namespace.as_deref(), &self.name)
    }
}

/// `group/Kind`.
pub(crate) fn of_group(kind: &Kind) -> String {
    format!("{}/{}", kind.group, kind.kind)
}

/// Returns the name of the fact at a position. The refusal of a write is no fact of the effect's
/// name.
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
    // FNV-1a, because no hasher of the standard library guarantees stable output.
    let number = format!("{ir:?}")
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |number, byte| {
            (number ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
    format!("{number:016x}")
}
