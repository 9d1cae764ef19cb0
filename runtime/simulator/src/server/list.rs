//! Reading: one object, all of them, or a page of them as they were when the first page was read.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::answer::Answer;
use super::call::Call;
use super::failure::{Cause, Failure};
use super::fields;
use super::state::State;
use super::store::{StoreKey, Stored};
use lifecycle_client::selector::{FieldSelector, LabelSelector};

/// Selected objects of a kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection {
    pub(crate) namespace: String,
    pub(crate) labels: LabelSelector,
    pub(crate) fields: FieldSelector,
}

impl Selection {
    pub(crate) fn from_call(call: &Call<'_>) -> Result<Self, Failure> {
        let query = &call.asked.query;
        let labels = LabelSelector::parse(query.text("labelSelector"))
            .map_err(|error| Failure::bad_request(error.0))?;
        let fields = FieldSelector::parse(query.text("fieldSelector"))
            .map_err(|error| Failure::bad_request(error.0))?;
        for field in fields.fields() {
            if let Some(why) = fields::refusal(&call.kind, &call.version, field) {
                return Err(Failure::bad_request(why));
            }
        }
        Ok(Self {
            namespace: call.namespace().to_owned(),
            labels,
            fields,
        })
    }

    pub(crate) fn matches(&self, stored: &Stored) -> bool {
        (self.namespace.is_empty() || self.namespace == stored.key.namespace)
            && self.labels.matches(&stored.labels)
            && self.fields.matches(|field| stored.field(field))
    }

    fn is_everything(&self) -> bool {
        self.labels.is_everything() && self.fields.is_everything()
    }
}

/// One object.
pub(crate) fn get(state: &mut State, call: &Call<'_>) -> Result<Answer, Failure> {
    let stored = find(state, call)?;
    Ok(Answer::bytes(200, call.view.object(&stored)))
}

/// The object that a request names.
pub(crate) fn find(state: &State, call: &Call<'_>) -> Result<Arc<Stored>, Failure> {
    let key = StoreKey::new(call.namespace(), &call.target.name);
    let found = state.store.get(&call.kind.store, &key).cloned();
    found.ok_or_else(|| Failure::not_found(&call.kind, &call.target.name))
}

/// Objects, or a page of them.
pub(crate) fn list(state: &mut State, call: &Call<'_>) -> Result<Answer, Failure> {
    if call.kind.virtual_only {
        return Err(Failure::method_not_allowed());
    }
    let selection = Selection::from_call(call)?;
    let query = &call.asked.query;
    let limit = usize::try_from(query.number("limit")?.unwrap_or(0)).unwrap_or(usize::MAX);
    let (revision, after) = beginning(state, call)?;
    let current = state.store.revision();
    let objects: Vec<Arc<Stored>> = if revision == current {
        let all = state.store.all(&call.kind.store, &selection.namespace);
        all.cloned().collect()
    } else {
        let then = state
            .store
            .list_at(&call.kind.store, &selection.namespace, revision);
        then.map_err(|_| too_old(state, after.as_ref()))?
    };
    let mut matching = objects.into_iter().filter(|stored| {
        after.as_ref().is_none_or(|after| stored.key > *after) && selection.matches(stored)
    });
    let page: Vec<Arc<Stored>> = if limit == 0 {
        matching.by_ref().collect()
    } else {
        matching.by_ref().take(limit).collect()
    };
    let rest = matching.count();
    let next = page.last().filter(|_| rest > 0).map(|last| {
        // With a selector, the number of remaining matches is unknown.
        let remaining = selection.is_everything().then_some(rest);
        (token(revision, &last.key), remaining)
    });
    Ok(Answer::bytes(200, call.view.list(&page, revision, next)))
}

/// At which version a list is read, and after which key.
fn beginning(state: &State, call: &Call<'_>) -> Result<(u64, Option<StoreKey>), Failure> {
    let query = &call.asked.query;
    let current = state.store.revision();
    let token = query.text("continue");
    let (version, exactly) = (
        query.text("resourceVersion"),
        query.text("resourceVersionMatch"),
    );
    check_match(version, exactly, token)?;
    if !token.is_empty() {
        if !["", "0"].contains(&version) {
            return Err(Failure::bad_request(
                "specifying resource version is not allowed when using continue",
            ));
        }
        let (revision, key) = untoken(token).ok_or_else(|| {
            Failure::bad_request("continue key is not valid: illegal base64 data")
        })?;
        let revision = if revision == 0 { current } else { revision };
        return Ok((revision, Some(key)));
    }
    let asked = revision_of(version)?;
    if asked > current {
        return Err(too_large(asked, current));
    }
    // Servers without an old copy answer with the newest one.
    let revision = if exactly == "Exact" { asked } else { current };
    Ok((revision, None))
}

fn check_match(version: &str, exactly: &str, token: &str) -> Result<(), Failure> {
    let refuse = |detail: &str| {
        let cause = Cause::forbidden("resourceVersionMatch", detail);
        Err(Failure::invalid_kind(
            "meta.k8s.io",
            "ListOptions",
            "",
            &[cause],
        ))
    };
    if exactly.is_empty() {
        return Ok(());
    }
    if !token.is_empty() {
        return refuse("resourceVersionMatch is forbidden when continue is provided");
    }
    if version.is_empty() {
        return refuse("resourceVersionMatch is forbidden unless resourceVersion is provided");
    }
    match exactly {
        "Exact" if version == "0" => {
            refuse("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"")
        }
        "Exact" | "NotOlderThan" => Ok(()),
        other => {
            let known = ["Exact", "NotOlderThan", ""];
            let cause = Cause::unsupported("resourceVersionMatch", &other.into(), &known);
            Err(Failure::invalid_kind(
                "meta.k8s.io",
                "ListOptions",
                "",
                &[cause],
            ))
        }
    }
}

/// A version that a client names; none is 0.
pub(crate) fn revision_of(text: &str) -> Result<u64, Failure> {
    if text.is_empty() {
        return Ok(0);
    }
    text.parse().map_err(|_| {
        let cause = Cause::invalid(
            "resourceVersion",
            &text.into(),
            &format!("strconv.ParseUint: parsing {text:?}: invalid syntax"),
        );
        Failure::invalid_kind("", "", "", &[cause])
    })
}

fn too_large(asked: u64, current: u64) -> Failure {
    let message = format!("Too large resource version: {asked}, current: {current}");
    let mut failure = Failure::new(504, "Timeout", format!("Timeout: {message}"));
    failure.details = Some(json!({
        "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
        "retryAfterSeconds": 1,
    }));
    failure
}

fn too_old(state: &State, after: Option<&StoreKey>) -> Failure {
    let Some(after) = after else {
        return Failure::expired("The resourceVersion for the provided list is too old.");
    };
    let mut failure = Failure::expired(
        "The provided continue parameter is too old to display a consistent list result. You can start a new list without the \
         continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with \
         the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the \
         first chunk was returned and now may show up in the list.",
    );
    failure.remainder = Some(token(state.store.revision(), after));
    failure
}

fn token(revision: u64, after: &StoreKey) -> String {
    let start = if after.namespace.is_empty() {
        format!("{}\0", after.name)
    } else {
        format!("{}/{}\0", after.namespace, after.name)
    };
    let token = json!({"v": "meta.k8s.io/v1", "rv": revision, "start": start});
    URL_SAFE_NO_PAD.encode(token.to_string())
}

fn untoken(token: &str) -> Option<(u64, StoreKey)> {
    let bytes = URL_SAFE_NO_PAD.decode(token.trim_end_matches('=')).ok()?;
    let token: Value = serde_json::from_slice(&bytes).ok()?;
    let start = token["start"].as_str()?.trim_end_matches('\0');
    let key = match start.split_once('/') {
        Some((namespace, name)) => StoreKey::new(namespace, name),
        None => StoreKey::new("", start),
    };
    Some((token["rv"].as_u64()?, key))
}
