//! World: one value for every variable of a lifecycle, and the evaluation of predicates in it.

use super::ir::{Lifecycle, Origin, Pred};

/// One combination of fact values, by position in `Lifecycle::vars`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct World(Vec<u8>);

impl World {
    /// Returns a world with all variables at their first value. A reconciliation fills it in
    /// evaluation order.
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

    /// Returns true if the predicate holds here.
    pub fn holds(&self, pred: &Pred) -> bool {
        match pred {
            Pred::Is(var, values) => values >> self.0[*var] & 1 == 1,
            Pred::All(all) => all.iter().all(|p| self.holds(p)),
            Pred::Any(any) => any.iter().any(|p| self.holds(p)),
            Pred::Not(p) => !self.holds(p),
        }
    }

    /// Evaluates the predicate with only the variables that are evaluated here; `None` if they do
    /// not decide it. The result of our own write is always known.
    pub fn evaluate(&self, pred: &Pred, lifecycle: &Lifecycle) -> Option<bool> {
        pred.decided(&|var, values| {
            let given = lifecycle.vars[var].given;
            let asked = given.iter().all(|guard| self.holds(&guard.pred));
            asked.then(|| values >> self.0[var] & 1 == 1)
        })
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
    /// Returns true if the predicate reads this variable.
    pub fn mentions(&self, var: usize) -> bool {
        match self {
            Pred::Is(v, _) => *v == var,
            Pred::All(of) | Pred::Any(of) => of.iter().any(|p| p.mentions(var)),
            Pred::Not(p) => p.mentions(var),
        }
    }

    /// Evaluates the predicate, if the known answers decide it. `answer` returns true if the answer
    /// is one of these values, and `None` if there is no answer.
    pub fn decided(&self, answer: &dyn Fn(usize, u64) -> Option<bool>) -> Option<bool> {
        // One that decides, or all that do not.
        let joined = |of: &[Pred], decides: bool| {
            let said: Vec<Option<bool>> = of.iter().map(|pred| pred.decided(answer)).collect();
            if said.contains(&Some(decides)) {
                Some(decides)
            } else {
                (!said.contains(&None)).then_some(!decides)
            }
        };
        match self {
            Pred::Is(var, values) => answer(*var, *values),
            Pred::All(all) => joined(all, false),
            Pred::Any(any) => joined(any, true),
            Pred::Not(pred) => pred.decided(answer).map(|said| !said),
        }
    }

    /// Returns the variables of the predicate, in written order.
    pub fn vars(&self) -> Vec<usize> {
        match self {
            Pred::Is(var, _) => vec![*var],
            Pred::All(of) | Pred::Any(of) => of.iter().flat_map(Pred::vars).collect(),
            Pred::Not(p) => p.vars(),
        }
    }

    /// As a person wrote it, or would have: `service in { Absent, Stale } && !ready`.
    pub fn describe(&self, lifecycle: &Lifecycle) -> String {
        match self {
            Self::Is(var, values) => atom(lifecycle, *var, *values, true),
            Self::Not(Self::Is(var, values)) => atom(lifecycle, *var, *values, false),
            Self::All(all) => joined(lifecycle, all, " && "),
            Self::Any(any) => joined(lifecycle, any, " || "),
            Self::Not(pred) => format!("!{}", pred.nested(lifecycle)),
        }
    }

    fn nested(&self, lifecycle: &Lifecycle) -> String {
        match self {
            Self::Is(..) | Self::Not(_) => self.describe(lifecycle),
            Self::All(of) | Self::Any(of) if of.len() == 1 => of[0].nested(lifecycle),
            Self::All(_) | Self::Any(_) => format!("({})", self.describe(lifecycle)),
        }
    }
}

fn joined(lifecycle: &Lifecycle, of: &[Pred], between: &str) -> String {
    match of {
        [one] => one.describe(lifecycle),
        of => {
            let all: Vec<_> = of.iter().map(|p| p.nested(lifecycle)).collect();
            all.join(between)
        }
    }
}

fn atom(lifecycle: &Lifecycle, var: usize, values: u64, holds: bool) -> String {
    let declared = &lifecycle.vars[var];
    let name = match declared.origin {
        Origin::Refused(_) => format!("refused({})", declared.name),
        Origin::Input(_) | Origin::Fact | Origin::Deleting | Origin::Claimed => {
            declared.name.to_owned()
        }
    };
    let named = declared.values.iter().enumerate();
    let named = named.filter(|(at, _)| values >> at & 1 == 1);
    let named: Vec<&str> = named.map(|(_, value)| *value).collect();
    match (named.as_slice(), holds) {
        (["true"], true) | (["false"], false) => name,
        (["false"], true) | (["true"], false) => format!("!{name}"),
        ([one], true) => format!("{name} == {one}"),
        ([one], false) => format!("{name} != {one}"),
        (many, true) => format!("{name} in {{ {} }}", many.join(", ")),
        (many, false) => format!("{name} not in {{ {} }}", many.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use crate::cluster::fixture::maker;
    use crate::lifecycle::Machine;

    #[test]
    fn a_predicate_is_decided_by_what_is_known() {
        use super::Pred;
        const SEEN: Pred = Pred::Is(0, 0b10);
        const UNSEEN: Pred = Pred::Is(1, 0b10);
        const NOT_SEEN: Pred = Pred::Not(&SEEN);
        let check = |pred: Pred, expected: Option<bool>| {
            let said = pred.decided(&|var, values| (var == 0).then_some(values >> 1 & 1 == 1));
            assert_eq!(said, expected, "{pred:?}");
        };
        check(SEEN, Some(true));
        check(UNSEEN, None);
        check(Pred::Not(&UNSEEN), None);
        check(Pred::Any(&[UNSEEN, SEEN]), Some(true));
        check(Pred::Any(&[UNSEEN, NOT_SEEN]), None);
        check(Pred::All(&[UNSEEN, SEEN]), None);
        check(Pred::All(&[UNSEEN, NOT_SEEN]), Some(false));
        check(Pred::All(&[]), Some(true));
    }

    #[test]
    fn a_predicate_reads_as_it_was_declared() {
        let ir = maker().ir();
        let said: Vec<_> = ir.states.iter().map(|s| s.when.describe(ir)).collect();
        assert_eq!(
            said,
            [
                "class == Unnamed",
                "class == Absent",
                "size == Big",
                "made == Foreign || (made == Current && parts == Foreign)",
                "made == Terminating",
                "made in { Absent, Stale } || parts != Current",
                "made == Current",
            ]
        );
    }
}
