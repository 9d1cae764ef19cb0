//! The initial ListenerClasses of a cluster. Creates the missing ones and never changes an existing
//! one.

use kube::api::{Api, ApiResource, DynamicObject, PostParams};
use kube::runtime::events::{Event, EventType, Recorder};
use kube::{Client, Resource, ResourceExt};
use lifecycle_specs_listener::listener_class::{ListenerClass, ListenerClassSpec, ServiceType};
use serde_json::Value;
use thiserror::Error;

use crate::args::Preset;
use lifecycle_runtime::cause;

/// The name under which the replaced operator created them.
const FIELD_MANAGER: &str = "listeners.stackable.tech";

/// Reason why the classes could not be read or created.
#[derive(Debug, Error)]
pub enum Error {
    /// A class that may be there.
    #[error("ListenerClass `{name}` of the preset cannot be read")]
    Get {
        /// Its name.
        name: String,
        /// Error of the refused request.
        source: kube::Error,
    },
    /// A class that is missing.
    #[error("ListenerClass `{name}` of the preset cannot be created")]
    Create {
        /// Its name.
        name: String,
        /// Error of the refused request.
        source: kube::Error,
    },
}

/// The classes of a preset.
pub fn classes(preset: Preset) -> Vec<ListenerClass> {
    let class = |name: &str, service_type: ServiceType, pinned: bool| {
        let mut spec = ListenerClassSpec::new(service_type);
        spec.pinned_node_ports = pinned;
        ListenerClass::new(name, spec)
    };
    let stable = match preset {
        Preset::None => return Vec::new(),
        Preset::EphemeralNodes => class("external-stable", ServiceType::LoadBalancer, false),
        Preset::StableNodes => class("external-stable", ServiceType::NodePort, true),
    };
    vec![
        class("cluster-internal", ServiceType::ClusterIP, false),
        class("external-unstable", ServiceType::NodePort, false),
        stable,
    ]
}

/// Creates the missing classes of a preset. Reports an existing class that differs with an event
/// and a log line. Sends no request for an empty preset.
///
/// # Errors
/// If classes cannot be read or created. It may be called again at any time.
pub async fn ensure(client: &Client, preset: Preset, events: &Recorder) -> Result<(), Error> {
    let kind = ApiResource::erase::<ListenerClass>(&());
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &kind);
    for class in classes(preset) {
        // One by one, because a list would repeat the initial list of the caches.
        let name = class.name_any();
        match api.get_opt(&name).await {
            Ok(None) => create(client, &class).await?,
            Ok(Some(existing)) => compare(&existing, &class, preset, events).await,
            Err(source) => return Err(Error::Get { name, source }),
        }
    }
    Ok(())
}

async fn create(client: &Client, class: &ListenerClass) -> Result<(), Error> {
    let params = PostParams {
        field_manager: Some(FIELD_MANAGER.to_owned()),
        ..PostParams::default()
    };
    let name = class.name_any();
    match Api::all(client.clone()).create(&params, class).await {
        Ok(_) => tracing::info!(class = %name, "created the ListenerClass of the preset"),
        Err(kube::Error::Api(status)) if status.reason == "AlreadyExists" => {}
        Err(source) => return Err(Error::Create { name, source }),
    }
    Ok(())
}

/// How a class that exists compares with the one of a preset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// They have the same spec.
    Equal,
    /// The differing fields, with both values and their consequence.
    Differs(String),
    /// Its spec is not one of a class.
    Unreadable,
}

/// The name of a preset on a command line.
pub fn name(preset: Preset) -> String {
    let value = clap::ValueEnum::to_possible_value(&preset);
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Compares a class that exists with the one of a preset.
pub fn compared(existing: &DynamicObject, wanted: &ListenerClass, preset: Preset) -> Comparison {
    let spec = existing.data["spec"].clone();
    let Ok(spec) = serde_json::from_value::<ListenerClassSpec>(spec) else {
        return Comparison::Unreadable;
    };
    let differences = differences(&spec, &wanted.spec);
    if differences.is_empty() {
        return Comparison::Equal;
    }
    Comparison::Differs(format!(
        "{} (in the cluster, preset {}); the operator never changes the class, and its Listeners keep their addresses: to use the preset, create a class with another name",
        differences.join("; "),
        name(preset)
    ))
}

async fn compare(
    existing: &DynamicObject,
    wanted: &ListenerClass,
    preset: Preset,
    events: &Recorder,
) {
    let name = wanted.name_any();
    let note = match compared(existing, wanted, preset) {
        Comparison::Equal => return,
        Comparison::Differs(note) => note,
        Comparison::Unreadable => {
            let preset = self::name(preset);
            tracing::warn!(class = %name, "the ListenerClass cannot be read and is not compared with preset {preset}");
            return;
        }
    };
    tracing::info!(class = %name, "the ListenerClass differs from the preset: {note}");
    let event = Event {
        type_: EventType::Normal,
        reason: "PresetDiffers".to_owned(),
        note: Some(note),
        action: "CreateListenerClasses".to_owned(),
        secondary: None,
    };
    let regarding = existing.object_ref(&ApiResource::erase::<ListenerClass>(&()));
    if let Err(error) = events.publish(&event, &regarding).await {
        tracing::warn!(class = %name, "the event could not be written: {}", cause::in_one_line(&error));
    }
}

/// Returns each differing field of two classes, with both values.
fn differences(existing: &ListenerClassSpec, wanted: &ListenerClassSpec) -> Vec<String> {
    let fields = |spec| match serde_json::to_value(spec) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) | Err(_) => unreachable!("a spec is an object with string keys"),
    };
    let (existing, wanted) = (fields(existing), fields(wanted));
    let mut names: Vec<_> = existing.keys().chain(wanted.keys()).collect();
    names.sort();
    names.dedup();
    let said = |value: Option<&Value>| value.map_or_else(|| "unset".to_owned(), Value::to_string);
    names
        .into_iter()
        .filter(|name| existing.get(*name) != wanted.get(*name))
        .map(|name| {
            format!(
                "`spec.{name}`: {}, {}",
                said(existing.get(name)),
                said(wanted.get(name))
            )
        })
        .collect()
}

#[cfg(test)]
mod tests;
