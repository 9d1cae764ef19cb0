//! Reviews: questions about rights, which are answered and not stored.

use serde_json::{Value, json};

use super::User;
use super::answer::Answer;
use super::call::Call;
use super::failure::{Cause, Failure};
use super::object::{list, text};
use super::rbac::{self, Attempt};
use super::state::State;

/// Answers a review.
pub(crate) fn review(state: &mut State, call: &Call<'_>) -> Result<Answer, Failure> {
    let mut review = call.body()?;
    call.check_type(&review)?;
    let user = call.asked.user;
    let status = match call.kind.plural.as_str() {
        "selfsubjectaccessreviews" => access(state, user, call, &review["spec"])?,
        "subjectaccessreviews" => {
            let named = User {
                name: text(&review["spec"], "user").to_owned(),
                groups: list(&review["spec"], "groups")
                    .iter()
                    .filter_map(|group| group.as_str().map(str::to_owned))
                    .collect(),
            };
            if named.name.is_empty() && named.groups.is_empty() {
                let detail = "at least one of user or group must be specified";
                let cause = Cause::invalid("spec.user", &"".into(), detail);
                return Err(Failure::invalid(&call.kind, "", &[cause]));
            }
            access(state, &named, call, &review["spec"])?
        }
        "selfsubjectrulesreviews" => {
            let rules = state.rules(user, text(&review["spec"], "namespace"));
            json!({
                "incomplete": false,
                "resourceRules": rbac::review_rules(&rules, false), "nonResourceRules": rbac::review_rules(&rules, true),
            })
        }
        _ => {
            let mut groups = user.groups.clone();
            if !groups.iter().any(|group| group == rbac::AUTHENTICATED) {
                groups.push(rbac::AUTHENTICATED.to_owned());
            }
            json!({"userInfo": {"username": user.name, "groups": groups}})
        }
    };
    review["apiVersion"] = call.view.api_version.as_str().into();
    review["kind"] = call.kind.kind.as_str().into();
    review["status"] = status;
    if !review["metadata"].is_object() {
        review["metadata"] = json!({});
    }
    Ok(Answer::json(201, &review))
}

fn access(state: &mut State, user: &User, call: &Call<'_>, spec: &Value) -> Result<Value, Failure> {
    let (resource, path) = (&spec["resourceAttributes"], &spec["nonResourceAttributes"]);
    if resource.is_object() == path.is_object() {
        let detail = if resource.is_object() {
            "cannot be specified in combination with resourceAttributes"
        } else {
            "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        };
        let field = if resource.is_object() {
            "spec.nonResourceAttributes"
        } else {
            "spec.resourceAttributes"
        };
        let cause = Cause::invalid(field, &Value::Null, detail);
        return Err(Failure::invalid(&call.kind, "", &[cause]));
    }
    let word = |value: &Value, field: &str| text(value, field).to_owned();
    let attempt = if resource.is_object() {
        Attempt {
            verb: word(resource, "verb"),
            group: word(resource, "group"),
            resource: word(resource, "resource"),
            subresource: word(resource, "subresource"),
            namespace: word(resource, "namespace"),
            name: word(resource, "name"),
            path: String::new(),
        }
    } else {
        Attempt {
            verb: word(path, "verb"),
            path: word(path, "path"),
            ..Attempt::default()
        }
    };
    // Without enforcement, everything is allowed.
    let allowed = !state.enforces_rbac || state.allows(user, &attempt);
    Ok(json!({"allowed": allowed}))
}
