//! Status that the operator has reported. It is the only trace of facts known to the operator but
//! not to a look, such as refusals and replies from outside the cluster.

use jiff::Timestamp;
use lifecycle_runtime::lifecycle::{Observation, Stored};
use lifecycle_runtime::machine::ir::{Condition, ConditionStatus, Lifecycle};
use lifecycle_runtime::machine::policy::Class;
use lifecycle_runtime::machine::project::Projected;
use lifecycle_runtime::machine::world::World;
use serde_json::Value;

/// Reasons of `Ready` for an object that the operator could not observe, or that contradicts its
/// declaration.
const FAILURES: [&str; 7] = [
    "BuildFailed",
    "InputUnreadable",
    "NeverWorld",
    "NoState",
    "OutOfOrder",
    "UndeclaredOutcome",
    "Undecodable",
];

/// A condition of the status.
#[derive(Clone, Debug)]
pub(crate) struct ReportedCondition {
    pub(crate) name: String,
    pub(crate) status: String,
    pub(crate) reason: String,
    pub(crate) message: String,
    pub(crate) since: Option<Timestamp>,
    generation: Option<i64>,
}

/// The conditions of the status.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reported {
    pub(crate) conditions: Vec<ReportedCondition>,
    /// True if the status is about an older generation of the object.
    pub(crate) is_behind: bool,
}

impl Reported {
    pub(crate) fn from_object(subject: &Stored) -> Self {
        let raw = subject.raw.as_deref();
        let rows = raw.and_then(|raw| raw.pointer("/status/conditions")?.as_array());
        let conditions: Vec<ReportedCondition> = rows
            .into_iter()
            .flatten()
            .filter_map(parse_condition)
            .collect();
        let generation = subject.meta.generation;
        let is_older =
            |one: &ReportedCondition| one.generation.is_some_and(|seen| Some(seen) < generation);
        Self {
            is_behind: conditions.iter().any(is_older),
            conditions,
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&ReportedCondition> {
        self.conditions.iter().find(|one| one.name == name)
    }

    /// Returns true if the status matches this world.
    pub(crate) fn matches_world(
        &self,
        ir: &Lifecycle,
        seen: &Observation,
        (class, world): (Class, &World),
    ) -> bool {
        match class {
            Class::Contradiction => self.tells_failure(ir),
            Class::Deleting => true,
            Class::Refused { .. } => self.tells_refusal(ir),
            Class::State(state) if ir.is_suspended(class) => {
                let ready = self.get("Ready");
                ready.is_some_and(|ready| ready.reason == ir.states[state].name)
            }
            Class::State(_) if ir.is_silent(class) => true,
            Class::State(_) => {
                let said = ir.conditions(world, seen.message_parts());
                let declared = ir.conditions.iter().map(|c| c.name);
                let mut names = declared.chain((!ir.ready.from.is_empty()).then_some("Ready"));
                !self.conditions.is_empty()
                    && names.all(|name| {
                        let said = said.iter().find(|one| one.name == name);
                        same(ir, world, (said, self.get(name)))
                    })
            }
        }
    }

    /// Returns true if the status reports why the object, or one of its dependencies, is left
    /// unchanged.
    fn tells_failure(&self, ir: &Lifecycle) -> bool {
        let (name, reasons) = match &ir.implicit {
            Some(implicit) => (
                ir.conditions[implicit.condition].name,
                vec![implicit.reason],
            ),
            None => ("Ready", FAILURES.to_vec()),
        };
        let told = self.get(name);
        told.is_some_and(|told| told.status == "False" && reasons.contains(&&*told.reason))
    }

    fn tells_refusal(&self, ir: &Lifecycle) -> bool {
        let (name, reason) = match &ir.implicit {
            Some(implicit) => (ir.conditions[implicit.condition].name, implicit.reason),
            None => ("Ready", "Refused"),
        };
        let told = self.get(name);
        told.is_some_and(|told| told.status == "False" && told.reason == reason)
    }

    /// Returns the condition that reports that the object is not Ready, or otherwise the first
    /// unmet condition.
    pub(crate) fn unmet(&self) -> Option<&ReportedCondition> {
        let mut all = self.conditions.iter();
        let ready = self.get("Ready").filter(|ready| ready.status != "True");
        ready.or_else(|| all.find(|one| one.status == "False" && one.name != "Ready"))
    }
}

fn same(
    ir: &Lifecycle,
    world: &World,
    pair: (Option<&Projected>, Option<&ReportedCondition>),
) -> bool {
    match pair {
        (None, None) => true,
        (Some(said), Some(told)) => {
            let is_same =
                (said.status.as_str(), said.reason.as_str()) == (&*told.status, &*told.reason);
            is_same && (!is_fixed(ir, world, said) || told.message.starts_with(&said.message))
        }
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// Returns true if the message is fixed in the declaration, so that it contains no sentence of a
/// fact.
fn is_fixed(ir: &Lifecycle, world: &World, said: &Projected) -> bool {
    let fits = |condition: &&Condition| condition.name == said.name;
    let clauses = ir.conditions.iter().find(fits).map(|c| c.clauses);
    let mut clauses = clauses.into_iter().flatten();
    let clause = clauses.find(|c| c.when.as_ref().is_none_or(|w| world.holds(w)));
    clause.is_some_and(|clause| clause.message.is_some())
        || said.name == "Ready" && said.status == ConditionStatus::True
}

fn parse_condition(row: &Value) -> Option<ReportedCondition> {
    let text = |key: &str| row.get(key).and_then(Value::as_str).map(str::to_owned);
    Some(ReportedCondition {
        name: text("type")?,
        status: text("status").unwrap_or_default(),
        reason: text("reason").unwrap_or_default(),
        message: text("message").unwrap_or_default(),
        since: text("lastTransitionTime").and_then(|at| at.parse().ok()),
        generation: row.get("observedGeneration").and_then(Value::as_i64),
    })
}
