//! What a predicate says where only some questions are answered.

use super::{Pred, PredKind, ValueSet, VarId};

impl Pred {
    /// What the predicate says, if what is known decides it: `answer` says whether the answer is one of these values, where there is an answer.
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
