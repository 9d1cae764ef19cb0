//! Sentences of built-in facts for users: the error, and its remedy.

use super::plan::{Job, Plan};
use super::{Name, Observing};
use crate::lifecycle::kept_by::KEPT_BY;
use crate::lifecycle::{KeptBy, Stored};
use crate::machine::compare::Comparison;
use crate::machine::ir::Lookup;

impl Observing<'_> {
    /// Returns the sentence for an input without a name or without an object.
    pub(super) fn say_missing(&self, input: usize, name: Option<&Name>) -> String {
        let input_name = self.ir.inputs[input].name;
        let path = match self.ir.inputs[input].lookup {
            Lookup::Name(path) => Some(in_yaml(path)),
            Lookup::Names
            | Lookup::Refs
            | Lookup::Labels(_)
            | Lookup::Owner
            | Lookup::Namespace
            | Lookup::Ref
            | Lookup::Equal
            | Lookup::Key => None,
        };
        match (name, path) {
            (Some(name), _) => format!("{} does not exist", self.reference(input, name)),
            (None, Some(path)) => format!("`{path}` is not set"),
            (None, None) => format!("there is no `{input_name}`"),
        }
    }

    pub(super) fn say_foreign(&self, input: usize, name: &Name) -> String {
        let object = self.reference(input, name);
        let theirs = &object.kind;
        let of_other = self.ir.inputs[input].owner.is_some();
        let by = match self.ir.inputs[input].controller {
            true => "controlled by",
            false => "owned by",
        };
        let live = self.observer.view.get(input, name);
        if let Some(kept) = live.as_ref().and_then(|live| self.keeper(input, live)) {
            return self.say_kept(input, name, &kept);
        }
        match self.owner(input) {
            // The garbage collector has not yet deleted the object of a former owner.
            Some(owner) if live.as_ref().is_some_and(|live| owner.succeeds(live)) => {
                let owner = Name::from_meta(&owner.object.meta).of_kind(owner.kind);
                format!(
                    "{object} still belongs to an earlier {owner} and goes with it: wait for the garbage collector, or remove that {theirs}"
                )
            }
            Some(owner) => {
                let ours = match of_other {
                    true => Name::from_meta(&owner.object.meta)
                        .of_kind(owner.kind)
                        .to_string(),
                    false => format!("this {}", owner.kind.kind),
                };
                let has = match live.as_ref().and_then(|live| controller(live)) {
                    Some(other) => format!("is controlled by {other}, not by {ours}"),
                    None => format!("is not {by} {ours}"),
                };
                let otherwise = self.other_name(input);
                format!("{object} exists and {has}: {otherwise}remove that {theirs}")
            }
            None => format!(
                "{object} exists and does not belong to this operator: remove that {theirs}"
            ),
        }
    }

    /// Returns advice to change the object so that it requests another name, as the start of a
    /// sentence. Returns an empty text if a method computes the name, because only its author knows
    /// the required change.
    fn other_name(&self, input: usize) -> String {
        let subject = self.observer.subject_kind.map(|kind| &kind.kind);
        match (self.ir.inputs[input].lookup, subject) {
            (Lookup::Name("metadata.name"), Some(ours)) => format!("rename the {ours} or "),
            (Lookup::Name(path), Some(ours)) if path.starts_with("spec.") => {
                format!("change `{path}` of the {ours} or ")
            }
            _ => String::new(),
        }
    }

    /// Returns the sentence for an object that another owner keeps, or that a former owner of our
    /// name kept.
    fn say_kept(&self, input: usize, name: &Name, kept: &KeptBy) -> String {
        let object = self.reference(input, name);
        let theirs = &object.kind;
        let keeper = Name {
            namespace: kept.namespace.clone(),
            name: kept.name.clone(),
        };
        match self.is_namesake(input, kept) {
            true => format!(
                "{object} was kept when an earlier {} `{keeper}` went: remove that {theirs}",
                kept.kind
            ),
            false => format!(
                "{object} is kept by {} `{keeper}`: remove that {theirs}, or its annotation `{KEPT_BY}`",
                kept.kind
            ),
        }
    }

    /// Returns the sentence for an object without an owner that may be adopted.
    pub(super) fn say_adoptable(&self, input: usize, name: &Name) -> String {
        let object = self.reference(input, name);
        let live = self.observer.view.get(input, name);
        match live.is_some_and(|live| self.keeper(input, &live).is_some()) {
            true => format!(
                "{object} was kept when an earlier one of this name went, and can be taken over"
            ),
            false => format!("{object} exists without an owner, and can be taken over"),
        }
    }

    pub(super) fn say_terminating(&self, input: usize, name: &Name) -> String {
        format!("{} is being deleted", self.reference(input, name))
    }

    pub(super) fn say_unwanted(&self, input: usize, name: &Name) -> String {
        let object = self.reference(input, name);
        let path = self.ir.inputs[input].only_if;
        let why = path.map(|path| format!(": `{path}` is not set"));
        format!("{object} is not wanted any more{}", why.unwrap_or_default())
    }

    pub(super) fn say_differs(&self, input: usize, name: &Name, comparison: &Comparison) -> String {
        let object = self.reference(input, name);
        match comparison {
            Comparison::Current => String::new(),
            Comparison::Behind { at } => format!("{object} is not as wanted yet: `{at}` differs"),
            Comparison::Taken { at } => {
                format!("{object} is not as wanted yet: `{at}` belongs to another field manager")
            }
            Comparison::Unowned { at } => {
                format!("{object} is not as wanted yet: `{at}` belongs to no field manager")
            }
            Comparison::Surplus { at, .. } => {
                format!("{object} is not as wanted yet: `{at}` will be removed")
            }
        }
    }
}

/// The controller of an object, as its owner references name it.
fn controller(live: &Stored) -> Option<String> {
    let mut owners = live.meta.owner_references.iter().flatten();
    let owner = owners.find(|owner| owner.controller == Some(true))?;
    Some(format!("{} `{}`", owner.kind, owner.name))
}

/// `spec.class_name` as users write it: `spec.className`.
fn in_yaml(path: &str) -> String {
    let parts = path.split('.').map(|part| {
        let part = if part == "meta" { "metadata" } else { part };
        let mut camel = String::with_capacity(part.len());
        let mut upper = false;
        for c in part.chars() {
            match (c, upper) {
                ('_', _) => upper = true,
                (c, true) => {
                    camel.extend(c.to_uppercase());
                    upper = false;
                }
                (c, false) => camel.push(c),
            }
        }
        camel
    });
    parts.collect::<Vec<_>>().join(".")
}

/// Returns the remedy of a user for a write that is refused as it is.
pub(super) fn remedy(plan: &Plan) -> String {
    let kind = plan.body["kind"].as_str().unwrap_or("object");
    match plan.job {
        Job::Create => "; correct what it is built from".to_owned(),
        Job::Update | Job::Revise | Job::Migrate => format!(
            "; correct what it is built from, or delete {kind} `{}` to have it built anew",
            plan.name
        ),
        Job::Withdraw
        | Job::Delete
        | Job::Record
        | Job::Call
        | Job::Adopt
        | Job::Disown
        | Job::Tidy => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::in_yaml;

    #[test]
    fn paths_are_shown_as_users_write_them() {
        assert_eq!(in_yaml("spec.class_name"), "spec.className");
        assert_eq!(in_yaml("meta.name"), "metadata.name");
    }
}
