//! What is created once is created once: which objects were created for whom, and since when that must not happen again. Knows no harness.
//! An object may be created again where the first creation may not have been noted yet, or where something else was wanted in between.

use std::collections::BTreeMap;

use serde_json::Value;

use super::keeper::{keeper, owners};
use super::moves::Move;

/// Whether others may be wanted after this.
pub(crate) fn wants_others(m: &Move) -> bool {
    matches!(
        m,
        Move::Create(_) | Move::Replace(_) | Move::Delete(_) | Move::Perturb(_)
    )
}

/// What was created, by path and owner, and whether all has been at rest since.
#[derive(Clone, Debug, Default)]
pub(crate) struct Made(BTreeMap<(String, String), bool>);

impl Made {
    /// Notes a creation that took effect; says what is wrong if it was one too many.
    pub(crate) fn creates(&mut self, path: &str, body: &Value) -> Option<String> {
        let owner = owner(body)?;
        let before = self.0.insert((path.to_owned(), owner.clone()), false);
        before.is_some_and(|rested| rested).then(|| {
            format!("{path} was created for {owner} before, which was noted, and is created again")
        })
    }

    /// All is at rest, so that all that was created is noted.
    pub(crate) fn rests(&mut self) {
        self.0.values_mut().for_each(|rested| *rested = true);
    }

    /// What is wanted now may have been made and forgotten.
    pub(crate) fn forget(&mut self) {
        self.0.clear();
    }
}

/// The uid of whoever an object is made for.
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
        let mut made = Made::default();
        assert_eq!(made.creates("/a", &of("x")), None);
        assert_eq!(
            made.creates("/a", &of("x")),
            None,
            "it may not be noted yet"
        );
        made.rests();
        assert_eq!(made.creates("/b", &of("x")), None);
        assert_eq!(made.creates("/a", &of("y")), None, "for another one");
        assert!(made.creates("/a", &of("x")).is_some());
        made.rests();
        made.forget();
        assert_eq!(
            made.creates("/a", &of("x")),
            None,
            "something else was wanted"
        );
    }
}
