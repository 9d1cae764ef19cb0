//! Record of the tokens that were refused for good. This process does not query a grant server
//! again that has refused a token a few times. One refusal is not enough: a grant server that has
//! just started, or a replica that is behind, may not know a grant yet. Pure except for the lock.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use lifecycle_specs_skupper::access_token::{AccessTokenSpec, Reply};
use ring::digest::{SHA256, digest};
use serde_json::json;

/// Number of consecutive refusals that is final.
const ENOUGH: u8 = 3;
/// Upper bound on remembered tokens. Tokens beyond the bound are merely requested again.
const MOST: usize = 1024;
/// Ends the message of a token that is not redeemed any more.
pub const FINAL: &str = "; it is not asked again";

/// The refusals that tokens have had; clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Answers(Arc<Mutex<BTreeMap<String, Refused>>>);

#[derive(Debug)]
struct Refused {
    /// The refused request: a different one is sent again.
    request: Request,
    times: u8,
    why: String,
}

/// A request of a token, without its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request([u8; 32]);

impl Request {
    /// Of a token with this spec, for the Site of this uid.
    pub fn new(spec: &AccessTokenSpec, site: &str) -> Self {
        let text = json!([spec.url, spec.code, spec.ca, site]).to_string();
        let digest = digest(&SHA256, text.as_bytes());
        let bytes = digest.as_ref().try_into();
        Self(bytes.expect("SHA-256 has 32 bytes"))
    }
}

impl Answers {
    /// The answer to a request of the token of this uid, if it is final.
    pub fn known(&self, token: &str, request: Request) -> Option<Reply> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = all.get(token).filter(|one| one.request == request)?;
        (refused.times >= ENOUGH).then(|| Reply::Denied(format!("{}{FINAL}", refused.why)))
    }

    /// Remembers an answer: as it is for the token now.
    pub fn learn(&self, token: &str, request: Request, reply: Reply) -> Reply {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Reply::Refused(why) = reply else {
            all.remove(token);
            return reply;
        };
        if all.len() >= MOST && !all.contains_key(token) {
            all.clear();
        }
        let before = all.get(token).filter(|one| one.request == request);
        let times = before.map_or(0, |one| one.times).saturating_add(1);
        let shown = match times >= ENOUGH {
            true => format!("{why}{FINAL}"),
            false => why.clone(),
        };
        let refused = Refused {
            request,
            times,
            why,
        };
        all.insert(token.to_owned(), refused);
        Reply::Denied(shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(code: &str) -> Request {
        let spec = AccessTokenSpec {
            code: code.to_owned(),
            ..AccessTokenSpec::default()
        };
        Request::new(&spec, "site")
    }

    fn refused() -> Reply {
        Reply::Refused("answered 404: get another token".to_owned())
    }

    #[test]
    fn a_token_that_is_refused_several_times_in_a_row_is_not_asked_for_again() {
        let (answers, one) = (Answers::default(), request("one"));
        let again = Reply::Denied("answered 404: get another token".to_owned());
        for _ in 1..ENOUGH {
            assert_eq!(answers.learn("uid", one, refused()), again);
            assert_eq!(answers.known("uid", one), None);
        }
        let last = answers.learn("uid", one, refused());
        assert!(
            matches!(&last, Reply::Denied(why) if why.ends_with("token; it is not asked again"))
        );
        assert_eq!(answers.known("uid", one), Some(last));
        // Another token, and the same one after an edit, are.
        assert_eq!(answers.known("uid-2", one), None);
        let other = request("other");
        assert_eq!(answers.known("uid", other), None);
        assert_eq!(answers.learn("uid", other, refused()), again);
        assert_eq!(answers.known("uid", one), None);
    }

    #[test]
    fn what_may_pass_is_asked_again_however_often() {
        let (answers, one) = (Answers::default(), request("one"));
        let down = || Reply::Denied("cannot connect".to_owned());
        for _ in 0..10 {
            answers.learn("uid", one, refused());
            answers.learn("uid", one, refused());
            assert_eq!(answers.learn("uid", one, down()), down());
            assert_eq!(answers.known("uid", one), None);
        }
    }

    #[test]
    fn no_number_of_tokens_takes_more_room() {
        let (answers, one) = (Answers::default(), request("one"));
        for number in 0..3 * MOST {
            answers.learn(&number.to_string(), one, refused());
        }
        let all = answers.0.lock().unwrap();
        assert!(all.len() <= MOST);
    }
}
