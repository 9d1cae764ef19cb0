//! A world: one value for every variable of a lifecycle, and what predicates say about it.

use super::ir::{Lifecycle, Origin, Pred};

/// One combination of fact values, by position in `Lifecycle::vars`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct World(Vec<u8>);

impl World {
    /// All variables at their first value; a pass fills it in evaluation order.
    pub fn first(lifecycle: &Lifecycle) -> Self {
        Self(vec![0; lifecycle.vars.len()])
    }

    /// The value of one variable, as position among its values.
    pub fn get(&self, var: usize) -> u8 {
        self.0[var]
    }

    /// Answers one variable.
    pub fn set(&mut self, var: usize, value: u8) {
        self.0[var] = value;
    }

    /// Whether the predicate holds here.
    pub fn holds(&self, pred: &Pred) -> bool {
        match pred {
            Pred::Is(var, values) => values >> self.0[*var] & 1 == 1,
            Pred::All(all) => all.iter().all(|p| self.holds(p)),
            Pred::Any(any) => any.iter().any(|p| self.holds(p)),
            Pred::Not(p) => !self.holds(p),
        }
    }

    /// As a conjunction that a person reads, built-in silence left out: `class == Present && service == Stale`.
    pub fn describe(&self, lifecycle: &Lifecycle) -> String {
        let atoms = lifecycle
            .vars
            .iter()
            .zip(&self.0)
            .filter_map(|(var, &value)| {
                let (name, values) = (var.name, var.values);
                match (var.origin, values, value) {
                    (Origin::Refused(_), _, 0) => None,
                    (Origin::Refused(_), _, _) => Some(format!("refused({name})")),
                    (_, ["false", "true"], 0) => Some(format!("!{name}")),
                    (_, ["false", "true"], _) => Some(name.to_owned()),
                    _ => Some(format!("{name} == {}", values[usize::from(value)])),
                }
            });
        atoms.collect::<Vec<_>>().join(" && ")
    }
}

impl Pred {
    /// Whether the predicate asks this variable.
    pub fn mentions(&self, var: usize) -> bool {
        match self {
            Pred::Is(v, _) => *v == var,
            Pred::All(of) | Pred::Any(of) => of.iter().any(|p| p.mentions(var)),
            Pred::Not(p) => p.mentions(var),
        }
    }

    /// The variables it asks, in written order.
    pub fn vars(&self) -> Vec<usize> {
        match self {
            Pred::Is(var, _) => vec![*var],
            Pred::All(of) | Pred::Any(of) => of.iter().flat_map(Pred::vars).collect(),
            Pred::Not(p) => p.vars(),
        }
    }
}
