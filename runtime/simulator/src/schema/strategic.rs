//! Strategic merge patches: lists merge by the key that their field declares, with directives to delete, replace,
//! keep and order. Ported from the `strategicpatch` package of the API machinery.

use serde_json::{Map as Object, Value};

use super::load::UNTYPED;
use super::node::{Arena, Id, Patch};
use super::typed::{equal, plain};
use super::{Refusal, Schema};

const DIRECTIVE: &str = "$patch";
const RETAIN: &str = "$retainKeys";
const DELETE: &str = "$deleteFromPrimitiveList";
const ORDER: &str = "$setElementOrder";

const BAD_DELETE: &str = "invalid patch format of primitive list";
const BAD_RETAIN: &str = "invalid patch format of retainKeys";
const BAD_ORDER: &str = "invalid patch format of setElementOrder list";

type Fields = Object<String, Value>;

/// Applies a strategic merge patch.
///
/// # Errors
/// The patch is malformed: an item without its key or an unknown directive is 500 without a reason, as in the real server.
pub fn strategic_merge(schema: &Schema, live: &Value, patch: &Value) -> Result<Value, Refusal> {
    let (Some(live), Some(patch)) = (live.as_object(), patch.as_object()) else {
        return Err(Refusal::bad_request("invalid JSON document"));
    };
    let merger = Merger {
        arena: &schema.arena,
    };
    let merged = merger.maps(schema.root, live.clone(), patch.clone());
    merged
        .map(Value::Object)
        .map_err(|error| match error.as_str() {
            BAD_DELETE | BAD_RETAIN | BAD_ORDER => Refusal::bad_request(error),
            _ => Refusal::internal(error),
        })
}

struct Merger<'a> {
    arena: &'a Arena,
}

impl Merger<'_> {
    /// The type and the strategy of a field; those of an item of a list are on its list.
    fn field(&self, id: Id, name: &str) -> (Id, Patch) {
        let map = self.arena.node(id).map.as_ref();
        let Some(field) = map.and_then(|map| map.field(name)) else {
            return (UNTYPED, Patch::default());
        };
        let node = self.arena.node(field);
        let of = node.list.as_ref().filter(|_| node.map.is_none());
        (of.map_or(field, |list| list.of), node.patch.clone())
    }

    fn maps(&self, id: Id, mut original: Fields, mut patch: Fields) -> Result<Fields, String> {
        if let Some(directive) = patch.get(DIRECTIVE).cloned() {
            return match directive.as_str() {
                Some("replace") => {
                    patch.remove(DIRECTIVE);
                    Ok(patch)
                }
                Some("delete") => Ok(Fields::new()),
                Some(_) | None => Err(unknown(&directive, &patch)),
            };
        }
        retain(&mut original, &mut patch)?;
        self.ordered(id, &mut original, &mut patch)?;
        for (key, value) in patch {
            let (key, deletes) = match key.split_once('/') {
                Some((DELETE, field)) => (field.to_owned(), true),
                _ if key.starts_with(DELETE) => return Err(BAD_DELETE.to_owned()),
                _ => (key, false),
            };
            self.merge_field(id, &mut original, key, value, deletes)?;
        }
        Ok(original)
    }

    fn merge_field(
        &self,
        id: Id,
        original: &mut Fields,
        key: String,
        value: Value,
        deletes: bool,
    ) -> Result<(), String> {
        if value.is_null() {
            original.remove(&key);
            return Ok(());
        }
        let (of, patch) = self.field(id, &key);
        match (original.remove(&key), value) {
            (None, _) if deletes => {}
            (Some(Value::Object(old)), Value::Object(new)) => {
                let merged = self.maps(of, old, new)?;
                original.insert(key, Value::Object(merged));
            }
            (Some(Value::Array(old)), Value::Array(new)) => {
                let merged = if patch.merge || deletes {
                    self.lists(of, old, new, patch.key.as_deref(), deletes)?
                } else {
                    new
                };
                original.insert(key, Value::Array(merged));
            }
            (Some(old), _) if deletes => {
                original.insert(key, old);
            }
            (_, mut new) => {
                discard_nulls(&mut new);
                if let Some(new) = without_directives(new) {
                    original.insert(key, new);
                }
            }
        }
        Ok(())
    }

    fn lists(
        &self,
        of: Id,
        original: Vec<Value>,
        patch: Vec<Value>,
        key: Option<&str>,
        deletes: bool,
    ) -> Result<Vec<Value>, String> {
        let is_map = original
            .first()
            .or_else(|| patch.first())
            .is_some_and(Value::is_object);
        if original.is_empty() && patch.is_empty() {
            return Ok(original);
        }
        if !is_map {
            if deletes {
                let gone = |item: &Value| patch.iter().any(|other| equal(item, other));
                return Ok(original.into_iter().filter(|item| !gone(item)).collect());
            }
            let mut merged = original.clone();
            for item in &patch {
                if !merged.iter().any(|other| equal(item, other)) {
                    merged.push(item.clone());
                }
            }
            return Ok(in_order(merged, &patch, &original, None));
        }
        let key = key.ok_or("cannot merge lists without merge key")?;
        let (original, patch) = special_items(original, patch, key)?;
        let mut merged = original.clone();
        for item in &patch {
            let Some(fields) = item.as_object() else {
                continue;
            };
            let wanted = fields.get(key).ok_or_else(|| no_key(fields, key))?;
            let found = merged
                .iter_mut()
                .find(|other| other.get(key).is_some_and(|other| equal(other, wanted)));
            match found {
                Some(Value::Object(old)) => {
                    *old = self.maps(of, std::mem::take(old), fields.clone())?
                }
                Some(_) | None => merged.push(item.clone()),
            }
        }
        for fields in merged.iter().filter_map(Value::as_object) {
            if !fields.contains_key(key) {
                return Err(no_key(fields, key));
            }
        }
        Ok(in_order(merged, &patch, &original, Some(key)))
    }

    /// Merges the lists that have an order in the patch, and takes both out of it.
    fn ordered(&self, id: Id, original: &mut Fields, patch: &mut Fields) -> Result<(), String> {
        let orders: Vec<String> = patch
            .keys()
            .filter(|key| key.starts_with(ORDER))
            .cloned()
            .collect();
        for name in orders {
            let Some(Value::Array(order)) = patch.remove(&name) else {
                return Err(BAD_ORDER.to_owned());
            };
            let Some((ORDER, field)) = name.split_once('/') else {
                return Err(BAD_ORDER.to_owned());
            };
            let (of, strategy) = self.field(id, field);
            let key = strategy.key.as_deref();
            let new = match patch.remove(field) {
                None => None,
                Some(Value::Array(new)) => Some(new),
                Some(_) => {
                    return Err("expected a []interface {}, but received another type".to_owned());
                }
            };
            let old = original.get(field).and_then(Value::as_array).cloned();
            follows(new.as_deref().unwrap_or_default(), &order, key)?;
            let merged = match (&old, new) {
                (Some(old), Some(new)) if strategy.merge => {
                    self.lists(of, old.clone(), new, key, false)?
                }
                (_, Some(new)) => new.into_iter().filter_map(without_directives).collect(),
                (Some(old), None) => old.clone(),
                (None, None) => continue,
            };
            let merged = in_order(merged, &order, old.as_deref().unwrap_or_default(), key);
            original.insert(field.to_owned(), Value::Array(merged));
        }
        Ok(())
    }
}

fn no_key(fields: &Fields, key: &str) -> String {
    let shown = plain(&Value::Object(fields.clone()));
    format!("map: {shown} does not contain declared merge key: {key}")
}

fn unknown(directive: &Value, patch: &Fields) -> String {
    let shown = plain(&Value::Object(patch.clone()));
    format!("unknown patch type: {} in map: {shown}", plain(directive))
}

/// Drops fields from the original that the patch does not keep.
fn retain(original: &mut Fields, patch: &mut Fields) -> Result<(), String> {
    let Some(kept) = patch.remove(RETAIN) else {
        return Ok(());
    };
    let kept = kept.as_array().ok_or(BAD_RETAIN)?.clone();
    let keeps = |name: &str| kept.iter().any(|kept| kept == name);
    for (name, value) in patch.iter() {
        let is_directive = name.starts_with(DELETE) || name.starts_with(ORDER);
        if !value.is_null() && !is_directive && !keeps(name) {
            return Err(BAD_RETAIN.to_owned());
        }
    }
    original.retain(|name, _| keeps(name));
    Ok(())
}

/// Removes the items with a directive from a patch. Removes the items that they delete or replace
/// from the original.
fn special_items(
    mut original: Vec<Value>,
    patch: Vec<Value>,
    key: &str,
) -> Result<(Vec<Value>, Vec<Value>), String> {
    let mut plain_items = Vec::new();
    let mut replaces = false;
    for item in patch {
        let Some(fields) = item.as_object() else {
            return Err("invalid element type in merging list".to_owned());
        };
        match fields.get(DIRECTIVE) {
            None => plain_items.push(item),
            Some(directive) => match directive.as_str() {
                Some("delete") => {
                    let gone = fields.get(key).ok_or_else(|| no_key(fields, key))?;
                    original.retain(|item| !item.get(key).is_some_and(|other| equal(other, gone)));
                }
                Some("replace") => replaces = true,
                Some("merge") => {
                    return Err("merging lists cannot yet be specified in the patch".to_owned());
                }
                Some(_) | None => return Err(unknown(directive, fields)),
            },
        }
    }
    if replaces {
        return Ok((plain_items, Vec::new()));
    }
    Ok((original, plain_items))
}

/// Checks that the items of a patch follow the order that the patch requests.
fn follows(patch: &[Value], order: &[Value], key: Option<&str>) -> Result<(), String> {
    let is_deleted = |item: &Value| item.get(DIRECTIVE).is_some();
    let wanted: Vec<&Value> = patch.iter().filter(|item| !is_deleted(item)).collect();
    if order.is_empty() || wanted.is_empty() {
        return Ok(());
    }
    let mut next = 0;
    for item in order {
        if wanted
            .get(next)
            .is_some_and(|wanted| same(wanted, item, key))
        {
            next += 1;
        }
    }
    if next < wanted.len() {
        return Err(format!(
            "The order in patch list:\n{}\n doesn't match {ORDER} list:\n{}\n",
            plain(&Value::Array(patch.to_vec())),
            plain(&Value::Array(order.to_vec())),
        ));
    }
    Ok(())
}

fn same(left: &Value, right: &Value, key: Option<&str>) -> bool {
    match key {
        Some(key) if left.is_object() => match (left.get(key), right.get(key)) {
            (Some(left), Some(right)) => equal(left, right),
            (_, _) => false,
        },
        Some(_) | None => equal(left, right),
    }
}

/// Sorts merged items: those of the patch in its order, the others where the live list had them.
fn in_order(merged: Vec<Value>, order: &[Value], live: &[Value], key: Option<&str>) -> Vec<Value> {
    let place = |list: &[Value], item: &Value| list.iter().position(|other| same(item, other, key));
    let (mut ours, mut others): (Vec<Value>, Vec<Value>) = merged
        .into_iter()
        .partition(|item| place(order, item).is_some());
    ours.sort_by_key(|item| place(order, item));
    others.sort_by_key(|item| place(live, item).unwrap_or(usize::MAX));
    let mut out = Vec::new();
    let (mut ours, mut others) = (ours.into_iter().peekable(), others.into_iter().peekable());
    while let (Some(mine), Some(other)) = (ours.peek(), others.peek()) {
        let first = match (place(live, other), place(live, mine)) {
            (Some(other), Some(mine)) => other < mine,
            (_, _) => false,
        };
        out.extend(if first { others.next() } else { ours.next() });
    }
    out.extend(ours);
    out.extend(others);
    out
}

fn discard_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(discard_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(discard_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The value without the maps in it that carry a directive; nothing if it is one itself.
fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(fields) => {
            if fields.contains_key(DIRECTIVE) {
                return None;
            }
            let kept = fields
                .into_iter()
                .filter_map(|(name, value)| Some((name, without_directives(value)?)));
            Some(Value::Object(kept.collect()))
        }
        Value::Array(items) => Some(Value::Array(
            items.into_iter().filter_map(without_directives).collect(),
        )),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Some(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn merged(live: Value, patch: Value) -> Result<Value, Refusal> {
        let schema = Schema::builtin("", "v1", "Pod").unwrap();
        strategic_merge(schema, &json!({"spec": live}), &json!({"spec": patch}))
            .map(|object| object["spec"].clone())
    }

    fn check(live: Value, patch: Value, expected: Value) {
        assert_eq!(merged(live, patch).unwrap(), expected);
    }

    #[test]
    fn items_merge_by_their_key() {
        check(
            json!({"containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "1"}]}),
            json!({"containers": [{"name": "b", "image": "2"}, {"name": "c"}]}),
            json!({"containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "2"}, {"name": "c"}]}),
        );
    }

    #[test]
    fn items_are_deleted_and_lists_replaced() {
        check(
            json!({"containers": [{"name": "a"}, {"name": "b"}]}),
            json!({"containers": [{"name": "a", "$patch": "delete"}]}),
            json!({"containers": [{"name": "b"}]}),
        );
        check(
            json!({"containers": [{"name": "a"}]}),
            json!({"containers": [{"$patch": "replace"}, {"name": "z"}]}),
            json!({"containers": [{"name": "z"}]}),
        );
    }

    #[test]
    fn the_order_that_is_asked_for_is_kept() {
        check(
            json!({"containers": [{"name": "a"}, {"name": "x"}, {"name": "b"}]}),
            json!({"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}], "containers": [{"name": "b", "image": "1"}]}),
            json!({"containers": [{"name": "x"}, {"name": "b", "image": "1"}, {"name": "a"}]}),
        );
    }

    #[test]
    fn atomic_lists_are_replaced_and_null_removes() {
        check(
            json!({"containers": [{"name": "a", "args": ["1"], "image": "x"}]}),
            json!({"containers": [{"name": "a", "args": ["2"], "image": null}]}),
            json!({"containers": [{"name": "a", "args": ["2"]}]}),
        );
    }

    #[test]
    fn primitives_are_deleted_one_by_one() {
        let schema = Schema::builtin("", "v1", "ConfigMap").unwrap();
        let live = json!({"metadata": {"finalizers": ["a/a", "b/b"]}});
        let patch = json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["a/a"]}});
        let merged = strategic_merge(schema, &live, &patch).unwrap();
        assert_eq!(merged["metadata"]["finalizers"], json!(["b/b"]));
        let patch = json!({"metadata": {"finalizers": ["c/c"]}});
        let merged = strategic_merge(schema, &live, &patch).unwrap();
        assert_eq!(
            merged["metadata"]["finalizers"],
            json!(["c/c", "a/a", "b/b"])
        );
    }

    #[test]
    fn keys_are_retained() {
        check(
            json!({"volumes": [{"name": "v", "emptyDir": {}}]}),
            json!({"volumes": [{"name": "v", "$retainKeys": ["name", "configMap"], "configMap": {"name": "c"}}]}),
            json!({"volumes": [{"name": "v", "configMap": {"name": "c"}}]}),
        );
    }

    #[test]
    fn malformed_patches_are_refused_as_the_real_server_does() {
        let live = json!({"containers": [{"name": "a"}]});
        let refusal = merged(live.clone(), json!({"containers": [{"image": "1"}]})).unwrap_err();
        assert_eq!(refusal.code, 500);
        assert_eq!(
            refusal.message,
            "map: map[image:1] does not contain declared merge key: name"
        );
        let refusal = merged(
            live.clone(),
            json!({"containers": [{"name": "a", "$patch": "twist"}]}),
        )
        .unwrap_err();
        assert_eq!(
            refusal.message,
            "unknown patch type: twist in map: map[$patch:twist name:a]"
        );
        let refusal = merged(live, json!({"$retainKeys": "x"})).unwrap_err();
        assert_eq!((refusal.code, refusal.message.as_str()), (400, BAD_RETAIN));
    }
}
