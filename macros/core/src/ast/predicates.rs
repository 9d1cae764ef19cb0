//! Predicates as trees: all of a part, wherever they stand, the names that they mention, and their
//! text.

use proc_macro2::{Ident, Span};

use super::{Lifecycle, Pred, PredKind, PropertyOf};

impl Lifecycle {
    /// Returns copies of the predicates that [`Self::predicates_mut`] gives.
    pub(crate) fn predicates(&self) -> Vec<Pred> {
        let mut copy = self.clone();
        let all = copy.predicates_mut().into_iter();
        all.map(|pred| pred.clone()).collect()
    }

    /// Returns every predicate as a whole, to be replaced. Those of regions, of the teardown and of
    /// calls are left out.
    pub(crate) fn predicates_mut(&mut self) -> Vec<&mut Pred> {
        let mut all: Vec<&mut Pred> = Vec::new();
        for input in &mut self.inputs {
            all.extend(&mut input.given);
            all.extend(input.retain.iter_mut().flat_map(|retain| &mut retain.when));
        }
        for value in &mut self.values {
            all.extend(&mut value.given);
            all.extend(value.mint.iter_mut().flat_map(|mint| &mut mint.until));
        }
        let givens = self.facts.iter_mut().flat_map(|fact| &mut fact.given);
        all.extend(givens.map(|given| &mut given.pred));
        all.extend(self.derived.iter_mut().map(|derived| &mut derived.pred));
        all.extend(self.nevers.iter_mut().map(|never| &mut never.pred));
        all.extend(self.states.iter_mut().map(|state| &mut state.when));
        all.extend(self.effects.iter_mut().flat_map(|effect| &mut effect.when));
        all.extend(self.promises.iter_mut().map(|promise| &mut promise.when));
        for property in &mut self.properties {
            match &mut property.what {
                PropertyOf::Always { pred, .. } | PropertyOf::Never { pred, .. } => all.push(pred),
                PropertyOf::Before { .. } | PropertyOf::Reaches { .. } => {}
            }
        }
        let conditions = self.conditions.iter_mut();
        let clauses = conditions.flat_map(|condition| &mut condition.clauses);
        all.extend(clauses.flat_map(|clause| &mut clause.when));
        all
    }
}

impl Pred {
    /// Returns the predicate that always holds.
    pub(crate) fn always(span: Span) -> Self {
        Self {
            kind: PredKind::All(Vec::new()),
            span,
        }
    }

    /// Returns the predicate that holds where this one does not.
    pub(crate) fn negated(self) -> Self {
        let span = self.span;
        Self {
            kind: PredKind::Not(Box::new(self)),
            span,
        }
    }

    /// Returns the predicate that holds where all of these hold.
    pub(crate) fn all_of(parts: Vec<Self>, span: Span) -> Self {
        Self {
            kind: PredKind::All(parts),
            span,
        }
    }

    /// Returns the predicate that holds where one of these holds.
    pub(crate) fn any_of(parts: Vec<Self>, span: Span) -> Self {
        Self {
            kind: PredKind::Any(parts),
            span,
        }
    }

    /// Returns the effects whose refusal the predicate queries, as written.
    pub(crate) fn referenced_effects(&self) -> Vec<&Ident> {
        match &self.kind {
            PredKind::Refused(effect) => vec![effect],
            PredKind::There(_) | PredKind::Is { .. } => Vec::new(),
            PredKind::All(parts) | PredKind::Any(parts) => {
                parts.iter().flat_map(Self::referenced_effects).collect()
            }
            PredKind::Not(part) => part.referenced_effects(),
        }
    }

    /// Replaces each question for a fact by another predicate, where there is one.
    pub(crate) fn replace(&mut self, with: &dyn Fn(&Self) -> Option<Self>) {
        match &mut self.kind {
            PredKind::There(_) | PredKind::Is { .. } => {
                if let Some(other) = with(self) {
                    *self = other;
                }
            }
            PredKind::Refused(_) => {}
            PredKind::All(parts) | PredKind::Any(parts) => {
                parts.iter_mut().for_each(|part| part.replace(with));
            }
            PredKind::Not(part) => part.replace(with),
        }
    }

    /// Moves the predicate to one place, so that findings point there.
    pub(crate) fn moved_to(mut self, span: Span) -> Self {
        self.move_to(span);
        self
    }

    fn move_to(&mut self, span: Span) {
        self.span = span;
        match &mut self.kind {
            PredKind::There(_) | PredKind::Is { .. } | PredKind::Refused(_) => {}
            PredKind::All(parts) | PredKind::Any(parts) => {
                parts.iter_mut().for_each(|part| part.move_to(span));
            }
            PredKind::Not(part) => part.move_to(span),
        }
    }

    fn joined(parts: &[Self], mark: &str, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, part) in parts.iter().enumerate() {
            if at > 0 {
                write!(f, " {mark} ")?;
            }
            match &part.kind {
                PredKind::Any(_) if mark == "&&" => write!(f, "({part})")?,
                PredKind::There(_)
                | PredKind::Is { .. }
                | PredKind::Refused(_)
                | PredKind::All(_)
                | PredKind::Any(_)
                | PredKind::Not(_) => write!(f, "{part}")?,
            }
        }
        Ok(())
    }
}

/// `fact == A`, `fact in { A, B }`, or the same with a mark before.
fn test(fact: &Ident, (one, several): (&str, &str), values: &[Ident]) -> String {
    let values: Vec<String> = values.iter().map(ToString::to_string).collect();
    match values.as_slice() {
        [value] => format!("{fact} {one} {value}"),
        all => format!("{fact} {several} {{ {} }}", all.join(", ")),
    }
}

impl std::fmt::Display for Pred {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.kind {
            PredKind::There(fact) => write!(f, "{fact}"),
            PredKind::Is { fact, values } => f.write_str(&test(fact, ("==", "in"), values)),
            PredKind::Refused(effect) => write!(f, "refused({effect})"),
            PredKind::All(parts) => Self::joined(parts, "&&", f),
            PredKind::Any(parts) => Self::joined(parts, "||", f),
            PredKind::Not(part) => match &part.kind {
                PredKind::Is { fact, values } => f.write_str(&test(fact, ("!=", "not in"), values)),
                PredKind::There(_) | PredKind::Refused(_) | PredKind::Not(_) => {
                    write!(f, "!{part}")
                }
                PredKind::All(_) | PredKind::Any(_) => write!(f, "!({part})"),
            },
        }
    }
}
