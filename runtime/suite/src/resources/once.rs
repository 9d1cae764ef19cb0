//! Check that an object declared to be created once is created once. It records the owner of each
//! created object, and since when a second creation is an error. It is independent of the harness.
//! An object may be created again if the first creation may not be noted yet, or if something else
//! was wanted in between.

use std::collections::BTreeMap;

use serde_json::Value;

use super::keeper::{keeper, owners};
use super::moves::Move;

/// Returns true if other objects may be wanted after this move.
pub(crate) fn wants_others(m: &Move) -> bool {
    matches!(
        m,
        Move::Create(_) | Move::Replace(_) | Move::Delete(_) | Move::Perturb(_)
    )
}

/// Created objects by path and owner, each with a flag that is true if everything has settled
/// since.
#[derive(Clone, Debug, Default)]
pub(crate) struct Creations(BTreeMap<(String, String), bool>);

impl Creations {
    /// Records a creation that took effect. Returns the reason if it was one too many.
    pub(crate) fn creates(&mut self, path: &str, body: &Value) -> Option<String> {
        let owner = owner(body)?;
        let before = self.0.insert((path.to_owned(), owner.clone()), false);
        before.is_some_and(|rested| rested).then(|| {
            format!(
                "{path} was created for {owner} before, which was recorded, and is created again"
            )
        })
    }

    /// Records that everything has settled, so every created object is recorded.
    pub(crate) fn mark_rested(&mut self) {
        self.0.values_mut().for_each(|rested| *rested = true);
    }

    /// Forgets all recorded creations. An object that is wanted now may have been created and
    /// forgotten.
    pub(crate) fn forget(&mut self) {
        self.0.clear();
    }
}

/// Returns the uid of the owner or keeper of an object.
fn owner(body: &Value) -> Option<String> {
    let owner = owners(body).next().map(|(uid, _)| uid.to_owned());
    owner.or_else(|| keeper(body).map(|kept| kept.uid))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_created_before_a_rest_is_not_created_again() {
        let of = |uid: &str| json!({ "metadata": { "ownerReferences": [{ "uid": uid }] } });
        let mut made = Creations::default();
        assert_eq!(made.creates("/a", &of("x")), None);
        assert_eq!(
            made.creates("/a", &of("x")),
            None,
            "it may not be noted yet"
        );
        made.mark_rested();
        assert_eq!(made.creates("/b", &of("x")), None);
        assert_eq!(made.creates("/a", &of("y")), None, "for another one");
        assert!(made.creates("/a", &of("x")).is_some());
        made.mark_rested();
        made.forget();
        assert_eq!(
            made.creates("/a", &of("x")),
            None,
            "something else was wanted"
        );
    }
}
