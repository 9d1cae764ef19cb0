//! Request of a token, and the use of the content that it was given.

use lifecycle_specs_skupper::access_token::Given;
use lifecycle_specs_skupper::site::Endpoint;
use serde_json::{Value, json};

use super::*;
use crate::pki::credentials::Credentials;

struct NoRedeemer;

impl Redeems for NoRedeemer {
    async fn redeem(&self, _: &AccessTokenSpec, _: &str, _: &str) -> Reply {
        Reply::Denied("nobody".to_owned())
    }
}

fn tokens() -> Tokens<NoRedeemer> {
    Tokens {
        controller_id: ControllerId::new("skupper", "controller"),
        redeems: NoRedeemer,
        answers: Answers::default(),
    }
}

fn token(spec: Value) -> AccessToken {
    let token =
        json!({ "metadata": { "name": "t", "namespace": "east", "uid": "uid-t" }, "spec": spec });
    serde_json::from_value(token).unwrap()
}

fn spec() -> Value {
    let ca = Credentials::of_authority("ca", jiff::Timestamp::now())
        .unwrap()
        .certificate;
    json!({ "url": "https://10.0.0.1:8443/uid", "code": "code", "ca": ca })
}

#[test]
fn what_cannot_be_redeemed_is_said_before_anybody_is_asked() {
    let check = |change: Value, expected: Validity, part: &str| {
        let mut whole = spec();
        for (key, value) in change.as_object().unwrap() {
            whole[key] = value.clone();
        }
        let token = token(whole);
        let answer = tokens().validity(This::new(&token));
        assert_eq!(answer.value, expected, "{}", answer.sentence);
        assert!(answer.sentence.contains(part), "{}", answer.sentence);
    };
    check(json!({}), Validity::Fine, "");
    check(
        json!({ "url": "" }),
        Validity::Incomplete,
        "spec.url is required",
    );
    check(
        json!({ "url": "http://a/b" }),
        Validity::BadUrl,
        "https://HOST:PORT/ID",
    );
    check(
        json!({ "ca": "none" }),
        Validity::BadAuthority,
        "no certificate",
    );
    check(
        json!({ "code": "x".repeat(5000) }),
        Validity::BadCode,
        "4096",
    );
    let bare: AccessToken = serde_json::from_value(json!({ "metadata": {}, "spec": {} })).unwrap();
    let said = tokens().validity(This::new(&bare)).sentence;
    assert_eq!(
        said,
        "spec.url is required\nspec.code is required\nspec.ca is required"
    );
}

fn secret(token: &AccessToken, cost: Option<i64>) -> Secret {
    let endpoint = Endpoint {
        name: Some("inter-router".to_owned()),
        ..Endpoint::default()
    };
    let link = |name: &str| GivenLink {
        name: name.to_owned(),
        endpoints: vec![endpoint.clone()],
        cost,
    };
    let files = BTreeMap::from([("tls.key".to_owned(), "key".to_owned())]);
    let links = vec![link("t-1"), link("t-2")];
    let made = build_secret(This::new(token), &Given { files, links });
    serde_json::from_value(made.as_json().clone()).unwrap()
}

#[test]
fn what_was_given_is_kept_in_a_secret_and_makes_links() {
    let mut costly = spec();
    costly["linkCost"] = json!(9);
    for (spec, expected) in [(spec(), json!(3)), (costly, json!(9))] {
        let token = token(spec);
        let secret = secret(&token, Some(3));
        assert!(is_of(This::new(&token), &secret));
        assert_eq!(secret.data.as_ref().unwrap()["tls.key"].0, b"key");
        let links: Vec<_> = build_links(This::new(&token), &secret).collect();
        let names: Vec<_> = links
            .iter()
            .map(|l| l.as_json()["metadata"]["name"].clone())
            .collect();
        assert_eq!(names, ["t-1", "t-2"]);
        let wanted = json!({ "endpoints": [{ "name": "inter-router" }], "tlsCredentials": "t", "cost": expected });
        assert_eq!(links[0].as_json()["spec"], wanted);
    }
}

#[test]
fn what_another_token_of_the_name_has_made_is_not_its_own() {
    let (old, mut new) = (token(spec()), token(spec()));
    new.metadata.uid = Some("uid-new".to_owned());
    let secret = secret(&old, None);
    let stage = |token: &AccessToken, existing: &[&Secret]| {
        tokens()
            .stage(This::new(token), &Noted::default(), existing)
            .value
    };
    assert_eq!(stage(&old, &[&secret]), Stage::Ours);
    assert_eq!(stage(&new, &[&secret]), Stage::Taken);
    assert_eq!(stage(&new, &[]), Stage::Vacant);
}
