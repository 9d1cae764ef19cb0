//! Installs the CustomResourceDefinitions and waits until they are served. Writes only differences.

mod schema;
mod stored;

use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceConversion, CustomResourceDefinition,
};
use kube::api::{Api, ApiResource, DynamicObject, ListParams, Patch, PatchParams};
use kube::{Client, ResourceExt};
use serde_json::{Value, json};

use crate::cause;
use crate::retry::Retry;

pub use schema::{conditions, unobserved};

/// The kinds of one product.
#[derive(Clone, Copy, Debug)]
pub struct Kinds {
    /// Under which they are served.
    pub group_version: &'static str,
    /// The name under which they are written.
    pub manager: &'static str,
    /// The command that prints them, for those who install them by hand.
    pub printed_by: &'static str,
    /// Function that returns the definitions.
    pub definitions: fn() -> Vec<CustomResourceDefinition>,
}

/// With the pauses between them, about half a minute.
const ATTEMPTS: u32 = 6;
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// Returns once all kinds are served, installing or updating their definitions before if `maintain`.
///
/// # Flow
/// Retries each failed operation after a pause that grows to 15 s, and logs each reason once.
/// Definitions that are served already are used unchanged if writing them is forbidden, or fails
/// for half a minute. Never ends while the kinds are not served: drop it to stop.
pub async fn prepare(client: &Client, kinds: &Kinds, maintain: bool) {
    if !maintain {
        warn_of_leftover_conversion(client, kinds).await;
    }
    let (mut retry, mut attempts_left) = (Retry::new(LONGEST_PAUSE), ATTEMPTS);
    let mut maintained = !maintain;
    loop {
        let refused = match maintained {
            true => None,
            false => self::maintain(client, kinds).await.err(),
        };
        maintained = refused.is_none();
        attempts_left = match &refused {
            Some(error) if is_final(error) => 0,
            Some(_) | None => attempts_left.saturating_sub(1),
        };
        let served = served(client, kinds).await;
        let reason = reason(refused.as_ref(), &served, kinds, maintain);
        if !reason.is_empty() && retry.is_new(&reason) {
            // A new definition needs a moment until it is served.
            match maintain && maintained && served.is_ok() {
                true => tracing::info!("{reason}"),
                false => tracing::warn!("{reason}"),
            }
        }
        if matches!(served, Ok(true)) && (maintained || attempts_left == 0) {
            return;
        }
        retry.pause().await;
    }
}

/// Returns true if a retry cannot succeed before a person has acted.
fn is_final(error: &kube::Error) -> bool {
    let kube::Error::Api(status) = error else {
        return false;
    };
    matches!(status.code, 400..=499) && !matches!(status.code, 409 | 429)
}

/// Returns the obstacle in one line; empty if there is none.
fn reason(
    refused: Option<&kube::Error>,
    served: &Result<bool, kube::Error>,
    kinds: &Kinds,
    maintain: bool,
) -> String {
    match (refused, served) {
        (_, Err(error)) => format!(
            "cannot discover which kinds the API server serves: {}; trying again",
            cause::in_one_line(error)
        ),
        (Some(error), Ok(_)) => refusal(error),
        (None, Ok(false)) => waiting(kinds, maintain),
        (None, Ok(true)) => String::new(),
    }
}

fn refusal(error: &kube::Error) -> String {
    format!(
        "CustomResourceDefinitions cannot be installed or updated: {}; \
         grant list, create and patch on them, or install them yourself and set --disable-crd-maintenance",
        cause::in_one_line(error)
    )
}

fn waiting(kinds: &Kinds, maintain: bool) -> String {
    let group_version = kinds.group_version;
    match maintain {
        true => format!("the kinds of {group_version} are written and not served yet; waiting"),
        false => format!(
            "the kinds of {group_version} are not served; waiting until a user installs the output of `{}`",
            kinds.printed_by
        ),
    }
}

/// Installs or updates each definition that differs; returns the names of those that were written.
///
/// # Errors
/// Returns the error of the API server or of the connection to it. Definitions before the failed
/// one are written.
pub async fn maintain(client: &Client, kinds: &Kinds) -> Result<Vec<String>, kube::Error> {
    let mut written = Vec::new();
    for wanted in (kinds.definitions)() {
        if maintain_one(client, kinds, &wanted).await? {
            tracing::info!(definition = %wanted.name_any(), "wrote the CustomResourceDefinition");
            written.push(wanted.name_any());
        }
    }
    Ok(written)
}

async fn maintain_one(
    client: &Client,
    kinds: &Kinds,
    wanted: &CustomResourceDefinition,
) -> Result<bool, kube::Error> {
    let api = definitions(client);
    let name = wanted.name_any();
    let live = find(&api, &name).await?;
    let wanted = serde_json::to_value(wanted).expect("a definition has string keys and serialises");
    if let Some(live) = &live {
        if covers("spec", &live.data["spec"], &wanted["spec"]) {
            return Ok(false);
        }
        if has_leftover_conversion(live) && !converts(&wanted) {
            let patch = serde_json::from_value(conversion_patch()).expect("it is a JSON patch");
            let patch: Patch<Value> = Patch::Json(patch);
            api.patch(&name, &PatchParams::default(), &patch).await?;
        }
    }
    let params = PatchParams::apply(kinds.manager).force();
    api.patch(&name, &params, &Patch::Apply(&wanted)).await?;
    Ok(true)
}

/// Returns true if the API server serves all our kinds. Queries discovery, which needs no rights.
///
/// # Errors
/// Returns an error if the API server does not answer. A server without the group is not an error.
pub async fn served(client: &Client, kinds: &Kinds) -> Result<bool, kube::Error> {
    let resources = match client.list_api_group_resources(kinds.group_version).await {
        Ok(list) => list.resources,
        Err(kube::Error::Api(status)) if status.code == 404 => return Ok(false),
        Err(error) => return Err(error),
    };
    let is_served = |plural: &String| resources.iter().any(|resource| &resource.name == plural);
    Ok((kinds.definitions)()
        .iter()
        .all(|wanted| is_served(&wanted.spec.names.plural)))
}

/// Warns of a definition whose conversion webhook is gone. Its objects cannot be read or written,
/// and the cause would remain hidden.
async fn warn_of_leftover_conversion(client: &Client, kinds: &Kinds) {
    let api = definitions(client);
    for wanted in (kinds.definitions)() {
        let name = wanted.name_any();
        let converts = wanted.spec.conversion.as_ref();
        let converts = converts.is_some_and(|conversion| conversion.strategy == WEBHOOK);
        if !converts
            && let Ok(Some(live)) = find(&api, &name).await
            && let Some(command) = leftover_conversion(&live)
        {
            tracing::warn!(
                "CustomResourceDefinition `{name}` still names a conversion webhook; if its Service is gone, run: {command}"
            );
        }
    }
}

/// By list and not by get: the rights of the replaced operator have no get.
async fn find(api: &Api<DynamicObject>, name: &str) -> Result<Option<DynamicObject>, kube::Error> {
    let named = ListParams::default().fields(&format!("metadata.name={name}"));
    Ok(api.list(&named).await?.items.into_iter().next())
}

fn definitions(client: &Client) -> Api<DynamicObject> {
    Api::all_with(
        client.clone(),
        &ApiResource::erase::<CustomResourceDefinition>(&()),
    )
}

/// Conversion strategy of a definition with a webhook.
const WEBHOOK: &str = "Webhook";

fn converts(wanted: &Value) -> bool {
    wanted["spec"]["conversion"]["strategy"] == WEBHOOK
}

/// The command that removes the conversion webhook which a live definition names; `None` if it names none.
#[must_use]
pub fn leftover_conversion(live: &DynamicObject) -> Option<String> {
    let (name, patch) = (live.name_any(), conversion_patch());
    has_leftover_conversion(live)
        .then(|| format!("kubectl patch crd {name} --type json --patch '{patch}'"))
}

fn has_leftover_conversion(live: &DynamicObject) -> bool {
    let conversion = &live.data["spec"]["conversion"];
    conversion["strategy"] == WEBHOOK || !conversion["webhook"].is_null()
}

/// Replaces the block as a whole: strategy `None` beside a left-over `webhook` would be invalid.
fn conversion_patch() -> Value {
    json!([{ "op": "replace", "path": "/spec/conversion", "value": { "strategy": "None" } }])
}

/// Returns true if `live` contains everything that is wanted. Schemas must mean the same, however
/// they are written; elsewhere the API server may add defaults.
fn covers(field: &str, live: &Value, wanted: &Value) -> bool {
    match wanted {
        Value::Object(_) if field == "openAPIV3Schema" => stored::is_same_schema(live, wanted),
        // An empty object is also significant, because it enables a status subresource.
        Value::Object(fields) => {
            let mut fields = fields.iter();
            live.is_object() && fields.all(|(name, wanted)| covers(name, &live[name], wanted))
        }
        Value::Array(items) => {
            let found = live.as_array().map_or(&[][..], Vec::as_slice);
            let mut pairs = found.iter().zip(items);
            found.len() == items.len() && pairs.all(|(live, wanted)| covers("", live, wanted))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            live.is_null() && stored::is_unsaid(wanted) || stored::is_same(live, wanted)
        }
    }
}

/// Sets the strategy explicitly, because an installed definition may still name the conversion
/// webhook of a removed operator.
#[must_use]
pub fn without_conversion(mut definition: CustomResourceDefinition) -> CustomResourceDefinition {
    definition.spec.conversion = Some(CustomResourceConversion {
        strategy: "None".to_owned(),
        webhook: None,
    });
    definition
}

#[cfg(test)]
mod tests;
