//! Edits of the content that the lifecycle wrote, in the fields that are ours by the object's
//! managed fields. Makes an edit, and checks that all fields are ours again once settled. Takes
//! those fields from the server alone, independently of the runtime under test.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::acting::another;
use super::harness::Harness;
use super::invariant::Invariant;
use super::moves::Edit;
use super::site;
use crate::managed::{Step, alone, applied, lost, moved, owned, pointer, value_at};
use lifecycle_runtime::lifecycle::kept_by::KEPT_BY;
use lifecycle_runtime::machine::ir::Mode;

/// A field of ours, and the manager whose managed fields entry contains it.
struct OwnedField {
    manager: String,
    path: Vec<Step>,
    value: Value,
}

impl Harness {
    /// Returns how many fields of an object are ours.
    pub(crate) fn places(&self, path: &str, live: &Value) -> usize {
        self.ours(path, live).len()
    }

    /// Returns our fields of an object, except its owner, which is taken over as a whole.
    fn ours(&self, path: &str, live: &Value) -> Vec<OwnedField> {
        let left = self.all_left();
        let managers = left.keys().filter(|(of, _)| of == path);
        let places = managers.flat_map(|(_, manager)| {
            let fields = applied(live, manager).cloned().unwrap_or_default();
            let owned = owned(&fields, live).into_iter();
            owned.map(|(path, value)| OwnedField {
                manager: manager.clone(),
                path,
                value,
            })
        });
        let owners = [
            Step::Field("metadata".to_owned()),
            Step::Field("ownerReferences".to_owned()),
        ];
        let keeper = ["metadata", "annotations", KEPT_BY].map(|part| Step::Field(part.to_owned()));
        let places = places
            .filter(|place| !place.path.starts_with(&owners) && !place.path.starts_with(&keeper));
        places.collect()
    }

    /// Makes an edit of the n-th field. Returns true if there is one.
    pub(crate) async fn edit(
        &mut self,
        path: &str,
        number: usize,
        edit: Edit,
    ) -> kube::Result<bool> {
        let Some(live) = site::get(&self.admin, path).await? else {
            return Ok(false);
        };
        let places = self.ours(path, &live);
        let Some(place) = places.get(number % places.len().max(1)) else {
            return Ok(false);
        };
        let other = || alone(&place.path, changed(&place.value));
        let edited = match edit {
            Edit::Change => replace_value(&live, &place.path, Some(changed(&place.value))),
            Edit::Remove => replace_value(&live, &place.path, None),
            Edit::Own => handed(&live, place, "Update"),
            Edit::OwnByApply => handed(&live, place, "Apply"),
            Edit::ChangeByApply => {
                site::apply(&self.admin, path, named(&live, other())).await?;
                return Ok(true);
            }
            Edit::RemoveByApply => {
                site::apply(&self.admin, path, named(&live, other())).await?;
                site::apply(&self.admin, path, named(&live, json!({}))).await?;
                return Ok(true);
            }
        };
        match edited {
            Some(edited) => site::put(&self.admin, path, &edited).await.map(|_| true),
            None => Ok(false),
        }
    }

    /// Finds fields that were ours after our last write and no longer are, although a
    /// reconciliation reports that the object is as desired.
    pub(crate) async fn ours_at_rest(&mut self) {
        let mut found = BTreeSet::new();
        for (member, (ir, wire)) in self.core.irs().iter().zip(self.all_wires()).enumerate() {
            let left = wire.left();
            let inputs = ir.inputs.iter().enumerate();
            // If several lifecycles contribute to an object, one may remove its own part.
            let whole = inputs.filter(|(_, input)| matches!(input.mode, Mode::Owned | Mode::Part));
            let whole = whole.map(|(input, _)| input);
            for (_, path, live) in self.said_to_be_wanted(member, whole).await {
                let of_it = left.iter().filter(|((of, _), _)| *of == path);
                let lost = of_it.filter_map(|((_, manager), was)| lost_of(manager, was, &live));
                found.extend(lost.map(|lost| format!("{path}: {lost}")));
            }
        }
        for text in found {
            self.find(Invariant::OursAgain, text);
        }
    }
}

fn lost_of(manager: &str, was: &Value, live: &Value) -> Option<String> {
    if was.pointer("/metadata/uid") != live.pointer("/metadata/uid") {
        return None;
    }
    let none = Map::new();
    let is = applied(live, manager).unwrap_or(&none);
    lost((applied(was, manager)?, was), (is, live))
}

/// An object with another value at a place, or none.
fn replace_value(live: &Value, path: &[Step], value: Option<Value>) -> Option<Value> {
    let mut edited = live.clone();
    if let Some(value) = value {
        *edited.pointer_mut(&pointer(live, path)?)? = value;
        return Some(edited);
    }
    let (last, parents) = path.split_last()?;
    let parent = edited.pointer_mut(&pointer(live, parents)?)?;
    match (last, parent) {
        (Step::Field(name), Value::Object(fields)) => fields.remove(name).map(drop)?,
        (Step::Member(_) | Step::Value(_) | Step::Index(_), Value::Array(items)) => {
            let gone = value_at(live, path)?;
            items.retain(|item| item != gone);
        }
        _ => return None,
    }
    Some(edited)
}

/// Returns an object with one field owned by another manager, otherwise unchanged. Of two entries
/// of one manager the last counts, so a field in the first entry then has no owner.
fn handed(live: &Value, place: &OwnedField, operation: &str) -> Option<Value> {
    let mut edited = live.clone();
    let entries = edited
        .pointer_mut("/metadata/managedFields")?
        .as_array_mut()?;
    let ours = applied(live, &place.manager)?;
    let entry = entries
        .iter_mut()
        .find(|entry| entry["fieldsV1"].as_object() == Some(ours))?;
    let version = entry["apiVersion"].clone();
    let theirs = moved(entry["fieldsV1"].as_object_mut()?, &place.path)?;
    entries.push(json!({
        "manager": site::SOMEBODY, "operation": operation, "apiVersion": version,
        "fieldsType": "FieldsV1", "fieldsV1": theirs,
    }));
    Some(edited)
}

/// Fields with the name and the kind of an object.
fn named(live: &Value, mut fields: Value) -> Value {
    fields["apiVersion"] = live["apiVersion"].clone();
    fields["kind"] = live["kind"].clone();
    fields["metadata"]["name"] = live["metadata"]["name"].clone();
    fields
}

/// Another value of the same shape: of a map that is one value, one with one more key.
fn changed(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields = fields.clone();
            if fields.values().all(Value::is_string) {
                fields.insert("edited".to_owned(), json!("edited"));
            } else if let Some((_, first)) = fields.iter_mut().next() {
                *first = changed(first);
            }
            Value::Object(fields)
        }
        Value::Array(items) => {
            let mut items = items.clone();
            if let Some(first) = items.first_mut() {
                *first = changed(first);
            }
            Value::Array(items)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => another(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &[&str]) -> Vec<Step> {
        text.iter()
            .map(|name| Step::Field((*name).to_owned()))
            .collect()
    }

    #[test]
    fn a_place_is_changed_removed_or_handed_over() {
        let entry = json!({ "manager": "us", "operation": "Apply", "apiVersion": "v1", "fieldsV1": { "f:data": { "f:a": {}, "f:b": {} } } });
        let live =
            json!({ "metadata": { "managedFields": [entry] }, "data": { "a": "1", "b": "2" } });
        let data = |edited: Option<Value>| edited.map(|edited| edited["data"].clone());
        let a = path(&["data", "a"]);
        let check = replace_value(&live, &a, Some(json!("3")));
        assert_eq!(data(check), Some(json!({ "a": "3", "b": "2" })));
        assert_eq!(
            data(replace_value(&live, &a, None)),
            Some(json!({ "b": "2" }))
        );
        let place = OwnedField {
            manager: "us".to_owned(),
            path: a,
            value: json!("1"),
        };
        let entries = handed(&live, &place, "Update").unwrap()["metadata"]["managedFields"].clone();
        assert_eq!(entries[0]["fieldsV1"], json!({ "f:data": { "f:b": {} } }));
        assert_eq!(
            (&entries[1]["manager"], &entries[1]["fieldsV1"]),
            (&json!(site::SOMEBODY), &json!({ "f:data": { "f:a": {} } }))
        );
    }

    #[test]
    fn a_whole_map_is_changed_by_one_more_key() {
        assert_eq!(
            changed(&json!({ "app": "web" })),
            json!({ "app": "web", "edited": "edited" })
        );
        assert_eq!(
            changed(&json!([{ "port": 1, "name": "a" }])),
            json!([{ "port": 1, "name": "x" }])
        );
    }
}
