//! The facts that decided the state of an object, their sentences, and the objects they were read
//! from.

use lifecycle_runtime::cluster::index::IndexKey;
use lifecycle_runtime::cluster::store::Name;
use lifecycle_runtime::machine::ir::{Lookup, Mode, Origin};
use lifecycle_runtime::machine::policy::Class;

use crate::explain::explanation::{Fact, LookedAt};
use crate::explain::look::{Inspection, Position};

/// Number of objects of an input that are named.
const SHOWN: usize = 4;
/// How `by` begins for an input that finds all objects of a kind.
pub(crate) const EVERY: &str = "every ";

/// The facts that decided.
pub(crate) fn facts(look: &Inspection<'_>, place: &Position) -> Vec<Fact> {
    let world = &place.worlds[0];
    let vars = match place.class {
        Class::State(state) => look.ir.decided_by(state, world),
        Class::Refused { effect } => vec![look.ir.effects[effect].refused],
        Class::Deleting => going(look),
        Class::Contradiction => Vec::new(),
    };
    vars.into_iter().map(|var| fact(look, place, var)).collect()
}

/// Returns the variables of an object that is being deleted: those of the open stage of the
/// teardown, and those that are held.
fn going(look: &Inspection<'_>) -> Vec<usize> {
    let (ir, world) = (look.ir, &look.observed.observation.world);
    let step = ir.open_step(world).map(|step| ir.steps[step].until.vars());
    let mut vars = step.unwrap_or_default();
    vars.dedup();
    let held = (0..ir.vars.len()).filter(|var| !ir.is_free(world, *var));
    for var in held {
        if !vars.contains(&var) {
            vars.push(var);
        }
    }
    vars
}

fn fact(look: &Inspection<'_>, place: &Position, var: usize) -> Fact {
    let declared = &look.ir.vars[var];
    let mut values: Vec<String> = Vec::new();
    for world in &place.worlds {
        let value = look.ir.value(world, var).to_owned();
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let (name, inputs) = match declared.origin {
        Origin::Input(input) => (declared.name.to_owned(), look.ir.of_objects(input)),
        Origin::Refused(effect) => {
            let target = look.ir.effects[effect].target;
            let targets = look.ir.of_objects(target);
            (format!("refused({})", declared.name), targets)
        }
        Origin::Fact | Origin::Deleting | Origin::Claimed => {
            // A group stands for its members, which are named individually.
            let mut reads = declared.reads.to_vec();
            reads.retain(|input| look.ir.inputs[*input].mode != Mode::Group);
            (declared.name.to_owned(), reads)
        }
    };
    Fact {
        name,
        values,
        sentence: sentence(look, var).unwrap_or_else(|| declared.doc.to_owned()),
        from_status: is_from_status(look, var),
        from: inputs
            .into_iter()
            .filter_map(|i| looked_at(look, i))
            .collect(),
    }
}

/// Returns the sentence of the object's author about a fact, from the reconciliation or, for a fact that only the operator knows, from the status.
pub(crate) fn sentence(look: &Inspection<'_>, var: usize) -> Option<String> {
    if !is_from_status(look, var) {
        return look.observed.observation.sentences[var].clone();
    }
    let unmet = look.reported.unmet()?;
    (!unmet.message.is_empty()).then(|| unmet.message.clone())
}

/// Returns true if only the operator knows the value, so that it is read from the status.
fn is_from_status(look: &Inspection<'_>, var: usize) -> bool {
    look.open.contains(&var) || matches!(look.ir.vars[var].origin, Origin::Refused(_))
}

/// Returns the objects that were observed for an input, if it was observed.
pub(crate) fn looked_at(look: &Inspection<'_>, input: usize) -> Option<LookedAt> {
    let declared = &look.ir.inputs[input];
    let keys = &look.observed.dependencies[input];
    let objects = look.observed.observation.objects(input);
    let is_outside = matches!(declared.mode, Mode::Poll | Mode::Probe);
    let is_noted = is_outside || matches!(declared.mode, Mode::Record | Mode::Noted);
    if keys.is_empty() && objects.is_empty() && !is_noted {
        return None;
    }
    let kind = look.kind_of(input);
    let shown = |name: &Name| format!("{kind} `{name}`");
    let names: Vec<Name> = objects.iter().map(|o| Name::from_meta(&o.meta)).collect();
    let missing = keys.iter().filter_map(|key| match key {
        IndexKey::Named(name) if !names.contains(name) => Some(shown(name)),
        IndexKey::Named(_) | IndexKey::Of(..) => None,
    });
    Some(LookedAt {
        input: declared.name.to_owned(),
        by: by(look, input),
        found: names.iter().take(SHOWN).map(shown).collect(),
        more: names.len().saturating_sub(SHOWN),
        missing: missing.take(SHOWN).collect(),
    })
}

/// Returns the lookup of an input, in the words of a person who would search for it.
pub(crate) fn by(look: &Inspection<'_>, input: usize) -> String {
    let declared = &look.ir.inputs[input];
    let kind = look.kind_of(input);
    let of = |namespace: &Option<String>| match namespace {
        Some(namespace) => format!(" of namespace `{namespace}`"),
        None => String::new(),
    };
    let label = look.observed.dependencies[input]
        .iter()
        .find_map(|key| match key {
            IndexKey::Of(namespace, values) => Some((namespace.clone(), values.clone())),
            IndexKey::Named(_) => None,
        });
    match (declared.mode, declared.lookup, label) {
        (Mode::Poll | Mode::Probe, ..) => {
            "an external query, which is not run from here".to_owned()
        }
        (Mode::Record | Mode::Noted, ..) => {
            let records = &look.of.naming.records;
            format!("annotation `{records}.{}` of the object", declared.name)
        }
        (Mode::Clock, ..) => "the time".to_owned(),
        (_, Lookup::Name(path), _) => format!("the name in `{path}`"),
        (_, Lookup::Labels(labels), Some((namespace, values))) => {
            let pairs = labels.iter().zip(&values).map(|(l, v)| format!("{l}={v}"));
            let pairs: Vec<String> = pairs.collect();
            format!("{kind}{} with `{}`", of(&namespace), pairs.join(","))
        }
        (_, Lookup::Namespace, Some((namespace, _))) => format!("{EVERY}{kind}{}", of(&namespace)),
        (_, Lookup::Owner, _) => format!("{EVERY}{kind} that it owns"),
        (_, Lookup::Equal, Some((namespace, values))) => {
            format!(
                "{kind}{} with the value `{}`",
                of(&namespace),
                values.join(",")
            )
        }
        (_, Lookup::Refs, Some((namespace, values))) if !values.concat().is_empty() => {
            format!("{kind}{} with label `{}`", of(&namespace), values.concat())
        }
        (
            _,
            Lookup::Labels(_)
            | Lookup::Namespace
            | Lookup::Equal
            | Lookup::Names
            | Lookup::Refs
            | Lookup::Ref
            | Lookup::Key,
            _,
        ) => format!("the name that `{}` computes", declared.name),
    }
}
