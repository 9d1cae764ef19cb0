//! Status of an AccessGrant, as far as it follows from the grant alone.

use jiff::SignedDuration;
use serde_json::{Value, json};

use lifecycle_specs_skupper::access_grant::AccessGrantStatus;

use super::*;

fn grants() -> Grants {
    Grants {
        controller_id: ControllerId::new("skupper", "controller"),
        platform: Platform::Kubernetes,
    }
}

fn grant(annotations: Value, spec: Value) -> AccessGrant {
    let grant = json!({
        "metadata": {
            "name": "g", "namespace": "west", "uid": "uid-g", "creationTimestamp": "2026-01-01T00:00:00Z", "annotations": annotations,
        },
        "spec": spec,
    });
    serde_json::from_value(grant).unwrap()
}

#[test]
fn a_grant_is_over_ten_minutes_after_it_was_made() {
    let (logic, grant) = (grants(), grant(json!({}), json!({})));
    let this = This::new(&grant);
    let made: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    let at = |minutes: i64| made + SignedDuration::from_mins(minutes);
    assert!(!logic.over(this, &at(9)).because.value);
    assert!(logic.over(this, &at(10)).because.value);
    assert_eq!(
        logic.expiration_time(this, &[]).as_deref(),
        Some("2026-01-01T00:10:00Z")
    );
}

#[test]
fn it_is_used_when_all_that_were_allowed_have_redeemed_it() {
    let used = |count: u64, allowed: Value| {
        let text = json!({ "count": count, "by": [] }).to_string();
        let annotations = json!({ "internal.skupper.io/redemptions": text });
        let grant = grant(annotations, json!({ "redemptionsAllowed": allowed }));
        let (logic, this) = (grants(), This::new(&grant));
        (logic.used(this, &[]).value, logic.redemptions(this, &[]))
    };
    assert_eq!(used(0, json!(null)), (false, None));
    assert_eq!(used(1, json!(null)), (true, Some(1)));
    assert_eq!(used(1, json!(2)), (false, Some(1)));
    assert_eq!(used(2, json!(2)), (true, Some(2)));
}

#[test]
fn what_another_controller_has_granted_is_granted_still() {
    let mut taken_over = grant(json!({}), json!({}));
    taken_over.status = Some(AccessGrantStatus {
        code: Some("theirs".to_owned()),
        redemptions: Some(1),
        ..AccessGrantStatus::default()
    });
    let (logic, this) = (grants(), This::new(&taken_over));
    assert!(logic.used(this, &[&taken_over]).value);
    assert_eq!(logic.redemptions(this, &[&taken_over]), Some(1));
    let unknown = GrantCode(None);
    assert_eq!(choose_code(&unknown, &[&taken_over], "made"), "theirs");
    assert_eq!(
        choose_code(&unknown, &[&grant(json!({}), json!({}))], "made"),
        "made"
    );
    // The kept code stays, whatever the status contains.
    let known = GrantCode(Some("made".to_owned()));
    assert_eq!(choose_code(&known, &[&taken_over], "made"), "made");
}

#[test]
fn a_code_is_made_by_chance_kept_and_not_said_where_another_is() {
    let (logic, bare) = (grants(), grant(json!({}), json!({})));
    let this = This::new(&bare);
    let made = logic.make_made(this, &mut Random::seeded(1));
    assert_eq!(made.len(), 24);
    assert!(made.chars().all(|c| LETTERS.contains(c)));
    assert_ne!(made, logic.make_made(this, &mut Random::seeded(2)));
    assert_eq!(logic.read_made(this, &made).as_ref(), Some(&made));
    assert_eq!(logic.read_made(this, &String::new()), None);
    assert_eq!(logic.known(this, Some(&made)).0, Some(made.clone()));
    let said = grant(json!({}), json!({ "code": "said" }));
    assert_eq!(
        logic.known(This::new(&said), Some(&made)).0.as_deref(),
        Some("said")
    );
    // The grant server finds the kept code.
    let kept = json!({ "skupper.io/accessgrant.kept": json!(made).to_string() });
    let kept = grant(kept, json!({}));
    assert_eq!(crate::grants::server::code_of(&kept), Some(made));
}

#[test]
fn it_is_redeemed_where_the_grant_server_is_reached() {
    let grant = grant(json!({}), json!({}));
    let url = |server: &[&Service]| grants().url(This::new(&grant), server);
    assert_eq!(url(&[]), None);
    let service = json!({
        "metadata": { "name": "s", "namespace": "n", "annotations": { "skupper.io/grant-server-address": "grants.example.com:443" } },
    });
    let service: Service = serde_json::from_value(service).unwrap();
    let told = url(&[&service]);
    assert_eq!(
        told.as_deref(),
        Some("https://grants.example.com:443/uid-g")
    );
}

#[test]
fn a_grant_of_which_it_is_not_known_who_has_redeemed_it_is_an_error_that_says_what_to_do() {
    let validity = |text: &str| {
        let annotations = json!({ "internal.skupper.io/redemptions": text });
        grants().validity(This::new(&grant(annotations, json!({}))))
    };
    for text in [crate::grants::redemptions::FORGOTTEN, "{", ""] {
        let answer = validity(text);
        assert_eq!(answer.value, Validity::Forgotten);
        assert!(
            answer
                .sentence
                .contains("delete this AccessGrant, and create it again")
        );
    }
    let known = json!({ "count": 1, "by": [] }).to_string();
    assert_eq!(validity(&known).value, Validity::Fine);
}
