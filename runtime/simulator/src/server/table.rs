//! Form of an answer that a client requests: the objects, rows of a table (`kubectl get`), or their
//! metadata alone. Knows answers, not how they are made; `printers` fills the rows.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::super::printers::Printer;

/// Form that a client requests.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    /// As they are.
    Objects,
    /// A `Table`, of this version of `meta.k8s.io`.
    Table(&'static str, Include),
    /// `PartialObjectMetadata`, or a list of them, of this version.
    Metadata(&'static str),
}

/// How much of each object goes with its row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Include {
    /// All of it.
    Object,
    /// Its metadata.
    Metadata,
    /// Nothing.
    None,
}

impl Form {
    /// Reads the `Accept` header and the parameter `includeObject`. The first media type that can be served counts.
    ///
    /// # Errors
    /// The parameter has no meaning; the message is that of a 400.
    pub(crate) fn from_accept(accept: Option<&str>, include: Option<&str>) -> Result<Self, String> {
        let form = accept
            .into_iter()
            .flat_map(|accept| accept.split(','))
            .find_map(of_media_type);
        let include = match include {
            None | Some("" | "Metadata") => Include::Metadata,
            Some("Object") => Include::Object,
            Some("None") => Include::None,
            Some(other) if matches!(form, Some(Self::Table(..))) => {
                return Err(format!(
                    "Unable to convert to Table as requested: Unsupported value: {other:?}: supported values: \"Metadata\", \"None\", \"Object\", \"\""
                ));
            }
            Some(_) => Include::Metadata,
        };
        Ok(match form {
            Some(Self::Table(version, _)) => Self::Table(version, include),
            Some(other) => other,
            None => Self::Objects,
        })
    }

    /// Returns true if an `Accept` header accepts any form besides tables.
    pub(crate) fn has_other(accept: &str) -> bool {
        let mut forms = accept.split(',').map(of_media_type);
        // The API server may support a form that is unknown here.
        forms.any(|form| !matches!(form, Some(Self::Table(..))))
    }

    /// An object or a list in this form. A `Status` stays as it is.
    pub(crate) fn apply(&self, value: Value, printer: &Printer, now: Timestamp) -> Value {
        if value["kind"] == "Status" {
            return value;
        }
        match self {
            Self::Objects => value,
            Self::Table(version, include) => table(value, printer, now, (version, *include), true),
            Self::Metadata(version) => metadata(value, version),
        }
    }

    /// The object of a watch event in this form; `first` for the first event of a watch, which alone carries the columns.
    pub(crate) fn apply_to_event(
        &self,
        object: Value,
        printer: &Printer,
        now: Timestamp,
        first: bool,
    ) -> Value {
        match self {
            Self::Table(version, include) if object["kind"] != "Status" => {
                table(object, printer, now, (version, *include), first)
            }
            Self::Objects | Self::Table(..) | Self::Metadata(_) => self.apply(object, printer, now),
        }
    }
}

fn of_media_type(text: &str) -> Option<Form> {
    let mut parts = text.split(';').map(str::trim);
    if !matches!(
        parts.next(),
        Some("application/json" | "application/*" | "*/*")
    ) {
        return None;
    }
    let parameters: Vec<(&str, &str)> = parts.filter_map(|part| part.split_once('=')).collect();
    let parameter = |name| {
        parameters
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| *value)
    };
    let Some(kind) = parameter("as") else {
        return Some(Form::Objects);
    };
    let version = match (parameter("g"), parameter("v")) {
        (Some("meta.k8s.io"), Some("v1")) => "meta.k8s.io/v1",
        (Some("meta.k8s.io"), Some("v1beta1")) => "meta.k8s.io/v1beta1",
        _ => return None,
    };
    match kind {
        "Table" => Some(Form::Table(version, Include::Metadata)),
        "PartialObjectMetadata" | "PartialObjectMetadataList" => Some(Form::Metadata(version)),
        _ => None,
    }
}

fn table(
    value: Value,
    printer: &Printer,
    now: Timestamp,
    (version, include): (&str, Include),
    headers: bool,
) -> Value {
    let metadata = list_metadata(&value);
    let objects = match items(value) {
        Ok(items) => items,
        Err(object) => vec![object],
    };
    let rows: Vec<Value> = objects
        .into_iter()
        .map(|object| row(object, printer, now, (version, include)))
        .collect();
    let columns = if headers {
        printer.columns().into()
    } else {
        Value::Null
    };
    json!({ "kind": "Table", "apiVersion": version, "metadata": metadata, "columnDefinitions": columns, "rows": rows })
}

/// Returns the metadata of a list or of a single object that a table keeps.
fn list_metadata(value: &Value) -> Map<String, Value> {
    let found = value["metadata"].as_object().into_iter().flatten();
    let kept = ["resourceVersion", "continue", "remainingItemCount"];
    found
        .filter(|(key, _)| kept.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn row(
    object: Value,
    printer: &Printer,
    now: Timestamp,
    (version, include): (&str, Include),
) -> Value {
    let cells = printer.cells(&object, now);
    let mut row = json!({ "cells": cells });
    if let Some(conditions) = Printer::conditions(&object) {
        row["conditions"] = conditions;
    }
    row["object"] = match include {
        Include::Object => object,
        Include::Metadata => partial(object, version),
        Include::None => Value::Null,
    };
    row
}

/// Returns the items of a list, or the object if it is not a list. List items of built-in kinds do
/// not name their kind.
fn items(mut value: Value) -> Result<Vec<Value>, Value> {
    let api_version = value["apiVersion"].clone();
    let kind = value["kind"]
        .as_str()
        .and_then(|kind| kind.strip_suffix("List"));
    let kind = kind.map(str::to_owned);
    let is_list = value["kind"]
        .as_str()
        .is_some_and(|kind| kind.ends_with("List"));
    match value.get_mut("items").map(Value::take) {
        Some(Value::Array(mut items)) if is_list => {
            for item in items.iter_mut().filter(|item| item["kind"].is_null()) {
                item["apiVersion"] = api_version.clone();
                item["kind"] = kind.as_deref().into();
            }
            Ok(items)
        }
        Some(Value::Null) if is_list => Ok(Vec::new()),
        Some(other) => {
            value["items"] = other;
            Err(value)
        }
        None => Err(value),
    }
}

fn partial(mut object: Value, version: &str) -> Value {
    json!({ "kind": "PartialObjectMetadata", "apiVersion": version, "metadata": object["metadata"].take() })
}

fn metadata(value: Value, version: &str) -> Value {
    let of_list = value["metadata"].clone();
    match items(value) {
        Err(object) => partial(object, version),
        Ok(items) => {
            let items: Vec<Value> = items
                .into_iter()
                .map(|item| partial(item, version))
                .collect();
            json!({ "kind": "PartialObjectMetadataList", "apiVersion": version, "metadata": of_list, "items": items })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KUBECTL: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";

    fn list() -> Value {
        let maps = ["a", "b"].map(|name| json!({ "kind": "ConfigMap", "apiVersion": "v1", "metadata": { "name": name }, "data": { "k": "v" } }));
        json!({ "kind": "ConfigMapList", "apiVersion": "v1", "metadata": { "resourceVersion": "7", "selfLink": "" }, "items": maps })
    }

    #[test]
    fn the_accept_header_of_kubectl_asks_for_a_table() {
        let form = Form::from_accept(Some(KUBECTL), Some("Object")).unwrap();
        assert_eq!(form, Form::Table("meta.k8s.io/v1", Include::Object));
        assert_eq!(
            Form::from_accept(Some("application/json"), None),
            Ok(Form::Objects)
        );
        assert_eq!(Form::from_accept(None, None), Ok(Form::Objects));
        let metadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
        assert_eq!(
            Form::from_accept(Some(metadata), None),
            Ok(Form::Metadata("meta.k8s.io/v1"))
        );
        let preferred =
            "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json";
        assert_eq!(Form::from_accept(Some(preferred), None), Ok(Form::Objects));
        assert!(
            Form::from_accept(Some(KUBECTL), Some("Odd"))
                .unwrap_err()
                .contains("Odd")
        );
    }

    #[test]
    fn a_list_becomes_rows_with_metadata() {
        let form = Form::from_accept(Some(KUBECTL), None).unwrap();
        let table = form.apply(
            list(),
            &Printer::builtin("", "ConfigMap"),
            Timestamp::UNIX_EPOCH,
        );
        assert_eq!(table["metadata"], json!({ "resourceVersion": "7" }));
        assert_eq!(table["rows"][1]["cells"], json!(["b", 1, "<unknown>"]));
        let object = json!({ "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": { "name": "b" } });
        assert_eq!(table["rows"][1]["object"], object);
    }

    #[test]
    fn only_the_first_event_of_a_watch_carries_columns() {
        let form = Form::from_accept(Some(KUBECTL), None).unwrap();
        let printer = Printer::builtin("", "ConfigMap");
        let object = list()["items"][0].clone();
        let event =
            |first| form.apply_to_event(object.clone(), &printer, Timestamp::UNIX_EPOCH, first);
        assert_eq!(event(true)["columnDefinitions"][1]["name"], "Data");
        assert_eq!(event(false)["columnDefinitions"], Value::Null);
        assert_eq!(event(false)["rows"][0]["cells"][0], "a");
        let gone = json!({ "kind": "Status", "code": 410 });
        assert_eq!(
            form.apply_to_event(gone.clone(), &printer, Timestamp::UNIX_EPOCH, true),
            gone
        );
    }

    #[test]
    fn metadata_alone_is_a_form_too() {
        let form = Form::Metadata("meta.k8s.io/v1");
        let all = form.apply(
            list(),
            &Printer::builtin("", "ConfigMap"),
            Timestamp::UNIX_EPOCH,
        );
        assert_eq!(all["kind"], "PartialObjectMetadataList");
        assert_eq!(all["items"][0]["metadata"]["name"], "a");
        assert_eq!(all["items"][0].get("data"), None);
    }
}
