//! Redemptions of a grant, as recorded on the grant itself. They are written before anything is
//! given. Pure.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use lifecycle_specs_skupper::access_grant::AccessGrantStatus;
use serde::{Deserialize, Serialize};

/// On an AccessGrant: who has redeemed it.
pub const REDEMPTIONS: &str = "internal.skupper.io/redemptions";
/// Value that replaces unknown redemptions of a grant: from then on the grant cannot be redeemed.
pub const FORGOTTEN: &str = "forgotten";
/// Number of latest redemptions that are stored by name, because the size of an annotation is
/// bounded. All are counted.
const NAMED: usize = 256;

/// Redemptions of a grant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redemptions {
    /// How often it was redeemed.
    pub count: u64,
    /// Redeemers: the uid of a Site and the name of its token.
    by: Vec<(String, String)>,
}

/// Decision on a request to redeem a grant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// He has before, and is answered again.
    Again,
    /// The redemption is allowed, and this value must be written.
    New(Redemptions),
    /// It was redeemed as often as it may be.
    Used,
}

impl Redemptions {
    /// Parses the redemptions of a grant; `None` if the value is unreadable. A grant of the
    /// existing controller has only the number, in its status.
    pub fn from_grant(meta: &ObjectMeta, status: Option<&AccessGrantStatus>) -> Option<Self> {
        let annotations = meta.annotations.as_ref();
        match annotations.and_then(|all| all.get(REDEMPTIONS)) {
            Some(text) => serde_json::from_str(text).ok(),
            None => {
                let told = status.and_then(|status| status.redemptions);
                let count = told.and_then(|told| u64::try_from(told).ok());
                Some(Self {
                    count: count.unwrap_or_default(),
                    by: Vec::new(),
                })
            }
        }
    }

    /// Decides if a site may redeem the grant with a token, given the number of redemptions allowed
    /// in all.
    pub fn turn(&self, allowed: u64, (subject, name): (&str, &str)) -> Turn {
        let mut by = self.by.iter();
        if by.any(|(of, token)| of == subject && token == name) {
            return Turn::Again;
        }
        if self.count >= allowed {
            return Turn::Used;
        }
        let mut next = self.clone();
        next.count += 1;
        next.by.push((subject.to_owned(), name.to_owned()));
        let excess = next.by.len().saturating_sub(NAMED);
        next.by.drain(..excess);
        Turn::New(next)
    }

    /// As it is written.
    pub fn text(&self) -> String {
        serde_json::json!(self).to_string()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    fn meta(text: &str) -> ObjectMeta {
        ObjectMeta {
            annotations: Some(BTreeMap::from([(REDEMPTIONS.to_owned(), text.to_owned())])),
            ..ObjectMeta::default()
        }
    }

    fn new(turn: Turn) -> Redemptions {
        match turn {
            Turn::New(next) => next,
            other @ (Turn::Again | Turn::Used) => panic!("{other:?}"),
        }
    }

    #[test]
    fn who_has_redeemed_is_answered_again_and_counted_once() {
        let none = Redemptions::from_grant(&ObjectMeta::default(), None).unwrap();
        let one = new(none.turn(2, ("uid-1", "a")));
        let written = Redemptions::from_grant(&meta(&one.text()), None).unwrap();
        assert_eq!(written, one);
        assert_eq!(written.turn(2, ("uid-1", "a")), Turn::Again);
        // Another token of the same site is another redemption, and so is the same name at another site.
        let two = new(written.turn(2, ("uid-1", "b")));
        assert_eq!(two.turn(2, ("uid-2", "a")), Turn::Used);
        assert_eq!(two.turn(2, ("uid-1", "a")), Turn::Again);
        assert_eq!(two.turn(0, ("uid-1", "b")), Turn::Again);
        assert_eq!(none.turn(0, ("uid-1", "a")), Turn::Used);
        assert_eq!(two.count, 2);
    }

    #[test]
    fn what_another_controller_has_counted_counts_until_it_is_written_here() {
        let status = |redemptions| AccessGrantStatus {
            redemptions,
            ..AccessGrantStatus::default()
        };
        let told = status(Some(2));
        let taken_over = Redemptions::from_grant(&ObjectMeta::default(), Some(&told)).unwrap();
        assert_eq!(taken_over.turn(2, ("uid-1", "a")), Turn::Used);
        let third = new(taken_over.turn(3, ("uid-1", "a")));
        assert_eq!(third.count, 3);
        let written =
            Redemptions::from_grant(&meta(&third.text()), Some(&status(Some(1)))).unwrap();
        assert_eq!(written, third);
        let odd = Redemptions::from_grant(&ObjectMeta::default(), Some(&status(Some(-1)))).unwrap();
        assert_eq!(odd, Redemptions::default());
        assert_eq!(Redemptions::from_grant(&meta("{"), Some(&told)), None);
    }

    #[test]
    fn what_cannot_be_read_is_no_permission() {
        assert_eq!(Redemptions::from_grant(&meta("{"), None), None);
        assert_eq!(Redemptions::from_grant(&meta(FORGOTTEN), None), None);
        assert_eq!(Redemptions::from_grant(&meta("[]"), None), None);
        assert_eq!(
            Redemptions::from_grant(&meta(r#"{"count":-1,"by":[]}"#), None),
            None
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(13), ..ProptestConfig::default() })]

        #[test]
        fn any_annotation_is_read_or_refused_and_no_more_than_allowed_pass(
            text in "\\PC{0,40}", allowed in 0_u64..6, who in proptest::collection::vec((0_u8..4, 0_u8..4), 0..20),
        ) {
            let _read = Redemptions::from_grant(&meta(&text), None);
            let mut now = Redemptions::default();
            let mut passed = std::collections::BTreeSet::new();
            for (subject, name) in who {
                let (subject, name) = (subject.to_string(), name.to_string());
                match now.turn(allowed, (&subject, &name)) {
                    Turn::New(next) => {
                        prop_assert!(passed.insert((subject, name)));
                        now = next;
                    }
                    Turn::Again => prop_assert!(passed.contains(&(subject, name))),
                    Turn::Used => prop_assert_eq!(u64::try_from(passed.len()).unwrap(), allowed),
                }
            }
            prop_assert!(now.count <= allowed);
        }
    }

    #[test]
    fn however_many_redeem_an_annotation_stays_small() {
        let mut now = Redemptions::default();
        for number in 0..2000 {
            let name = format!("{number}-{}", "n".repeat(240));
            now = new(now.turn(u64::MAX, ("6e2b1c6a-0000-4000-8000-000000000000", &name)));
        }
        assert_eq!(now.count, 2000);
        assert!(now.text().len() < 100_000, "{}", now.text().len());
    }
}
