//! Evaluation of a predicate while only some facts are answered.

use super::{Pred, PredKind, ValueSet, VarId};

impl Pred {
    /// Returns the value of the predicate, if the known answers decide it. For an answered
    /// variable, `answer` reports if the answer is one of these values.
    pub fn decided(&self, answer: &dyn Fn(VarId, ValueSet) -> Option<bool>) -> Option<bool> {
        // One that decides, or all that do not.
        let joined = |parts: &[Self], decides: bool| {
            let said: Vec<Option<bool>> = parts.iter().map(|part| part.decided(answer)).collect();
            if said.contains(&Some(decides)) {
                Some(decides)
            } else {
                (!said.contains(&None)).then_some(!decides)
            }
        };
        match &self.kind {
            PredKind::Is { var, values } => answer(*var, *values),
            PredKind::All(parts) => joined(parts, false),
            PredKind::Any(parts) => joined(parts, true),
            PredKind::Not(part) => part.decided(answer).map(|said| !said),
        }
    }
}
