//! Elements of another user in lists that are exclusively ours. Adds one, and checks that none is
//! left once settled. Takes those lists from the declaration alone, independently of the runtime
//! under test.

use std::collections::BTreeSet;

use serde_json::Value;

use super::fixture::{is_of, text};
use super::harness::Harness;
use super::invariant::Invariant;
use super::site;
use super::{Core, acting::another};

/// Number of keys that are tried before the search for an unused one fails.
const TRIES: usize = 8;

impl Core {
    /// Returns the inputs with exclusive lists, each with one of these lists.
    fn exclusive(&self) -> impl Iterator<Item = (usize, &'static str)> {
        let inputs = self.ir.inputs.iter().enumerate();
        inputs.flat_map(|(n, input)| input.exclusive.iter().map(move |list| (n, *list)))
    }

    /// Returns how many exclusive lists an object at this path may have.
    pub(crate) fn exclusive_lists(&self, path: &str) -> usize {
        let is_here = |(input, _): &(usize, &str)| {
            let kind = self.machine.kind(*input);
            kind.is_some_and(|kind| is_of(&kind, path))
        };
        self.exclusive().filter(is_here).count()
    }
}

impl Harness {
    /// Returns the exclusive lists of an object, as the last reconciliations observed it.
    pub(crate) fn exclusive(&self, path: &str) -> Vec<&'static str> {
        let last = self.observer.last();
        let is_seen = |input: usize| {
            let mut objects = last.values().flat_map(|l| l.observation.objects(input));
            objects.any(|object| self.core.path_of(input, object).as_deref() == Some(path))
        };
        let lists = self.core.exclusive().filter(|(input, _)| is_seen(*input));
        lists.map(|(_, list)| list).collect()
    }

    /// Adds an element of another user, made from the first existing element.
    pub(crate) async fn intrude(&mut self, path: &str, number: usize) -> kube::Result<bool> {
        let Some(list) = self.exclusive(path).get(number).copied() else {
            return Ok(false);
        };
        let Some(live) = site::get(&self.admin, path).await? else {
            return Ok(false);
        };
        let mut last = Ok(false);
        for bare in [false, true] {
            let mut live = live.clone();
            let keys = keys(&live, list);
            let Some(items) = live
                .pointer_mut(&pointer(list))
                .and_then(Value::as_array_mut)
            else {
                return Ok(false);
            };
            let Some(element) = element(items, &keys, bare) else {
                return Ok(false);
            };
            items.push(element);
            last = site::put(&self.admin, path, &live).await.map(|_| true);
            if last.is_ok() {
                break;
            }
        }
        last
    }

    /// Finds elements of other users although a reconciliation reports that the object is as
    /// desired.
    pub(crate) async fn exclusive_at_rest(&mut self) {
        let wrote = self.wire.wrote();
        // If the answer of a write was lost, its desired content is unknown.
        let known: BTreeSet<String> = self.wire.left().into_keys().map(|(path, _)| path).collect();
        let mut left = BTreeSet::new();
        let lists: Vec<(usize, &str)> = self.core.exclusive().collect();
        let inputs: BTreeSet<usize> = lists.iter().map(|(input, _)| *input).collect();
        for (input, path, live) in self.said_to_be_wanted(0, inputs).await {
            let Some(wrote) = wrote.get(&path).filter(|_| known.contains(&path)) else {
                continue;
            };
            for (_, list) in lists.iter().filter(|(of, _)| *of == input) {
                let count = |object: &Value| {
                    let list = object.pointer(&pointer(list)).and_then(Value::as_array);
                    list.map_or(0, Vec::len)
                };
                if count(&live) > count(wrote) {
                    left.insert(format!(
                        "{path}: `{list}` has elements that the operator did not write"
                    ));
                }
            }
        }
        for text in left {
            self.find(Invariant::ExclusiveLists, text);
        }
    }
}

fn pointer(list: &str) -> String {
    format!("/{}", list.replace('.', "/"))
}

/// The keys of a list's elements, as their managers name them; none of a set.
fn keys(live: &Value, list: &str) -> BTreeSet<String> {
    let path: String = list.split('.').map(|part| format!("/f:{part}")).collect();
    let entries = live.pointer("/metadata/managedFields");
    let entries = entries.and_then(Value::as_array).into_iter().flatten();
    let lists = entries.filter_map(|entry| entry.get("fieldsV1")?.pointer(&path)?.as_object());
    let keys = lists.flat_map(|list| list.keys()).filter_map(|name| {
        let key: Value = serde_json::from_str(name.strip_prefix("k:")?).ok()?;
        Some(key.as_object()?.keys().cloned().collect::<Vec<_>>())
    });
    keys.flatten().collect()
}

/// Returns an element that differs from all of these: with other keys, numbers before words, and
/// another name, or another member of a set. A bare element has no other fields, because further
/// fields of the first one may have to be unique.
fn element(items: &[Value], keys: &BTreeSet<String>, bare: bool) -> Option<Value> {
    let mut made = items.first()?.clone();
    let Some(fields) = made.as_object() else {
        return outside(items, made, another);
    };
    let numbers = keys
        .iter()
        .filter(|key| fields.get(*key).is_some_and(Value::is_number));
    let mut changed: BTreeSet<String> = numbers.cloned().collect();
    if changed.is_empty() {
        changed.clone_from(keys);
    }
    changed.extend(text(&made, "/name").map(|_| "name".to_owned()));
    if bare && let Some(fields) = made.as_object_mut() {
        fields.retain(|field, _| keys.contains(field) || changed.contains(field));
    }
    let shares = |other: &Value, made: &Value| changed.iter().any(|key| other[key] == made[key]);
    for _ in 0..TRIES {
        for key in &changed {
            made[key] = another(&made[key]);
        }
        if !items.iter().any(|other| shares(other, &made)) {
            return Some(made);
        }
    }
    None
}

fn outside(items: &[Value], mut made: Value, next: fn(&Value) -> Value) -> Option<Value> {
    for _ in 0..TRIES {
        made = next(&made);
        if !items.contains(&made) {
            return Some(made);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn set(keys: &[&str]) -> BTreeSet<String> {
        keys.iter().map(|key| (*key).to_owned()).collect()
    }

    #[test]
    fn an_element_has_other_keys_and_another_name() {
        let port = |name: &str, port: u16| json!({ "name": name, "port": port, "protocol": "TCP", "nodePort": 30_001 });
        let items = [port("web", 80), port("wex", 81)];
        let made = element(&items, &set(&["port", "protocol"]), false);
        assert_eq!(made, Some(port("wey", 82)));
        let bare = element(&items, &set(&["port", "protocol"]), true);
        let expected = json!({ "name": "wey", "port": 82, "protocol": "TCP" });
        assert_eq!(bare, Some(expected));
        let named = [json!({ "name": "a", "image": "i" })];
        let made = element(&named, &set(&["name"]), false);
        assert_eq!(made, Some(json!({ "name": "x", "image": "i" })));
        assert_eq!(element(&[], &set(&["name"]), false), None);
    }

    #[test]
    fn a_set_gets_another_member() {
        assert_eq!(element(&[json!("ax")], &set(&[]), false), Some(json!("ay")));
        assert_eq!(
            element(&[json!(3), json!(4)], &set(&[]), true),
            Some(json!(5))
        );
    }

    #[test]
    fn keys_are_those_that_managers_name() {
        let fields = json!({ "f:spec": { "f:ports": { ".": {}, "k:{\"port\":80,\"protocol\":\"TCP\"}": {} } } });
        let live = json!({ "metadata": { "managedFields": [{ "fieldsV1": fields }] } });
        assert_eq!(keys(&live, "spec.ports"), set(&["port", "protocol"]));
        assert_eq!(keys(&live, "spec.externalIPs"), set(&[]));
    }
}
