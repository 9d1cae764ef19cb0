//! Members of lists by their keys, as managed fields name them: `k:{"port":80,"protocol":"TCP"}`. They are looked for in an index, since a list may
//! have a thousand of them and each is looked for.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::fields::ManagerFields;
use super::same;

/// A member of a list.
#[derive(Clone, Debug)]
pub(super) struct MemberKey {
    pub(super) text: String,
    pub(super) fields: Map<String, Value>,
}

impl MemberKey {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let fields = serde_json::from_str(text.strip_prefix("k:")?).ok()?;
        Some(Self {
            text: text.to_owned(),
            fields,
        })
    }

    fn shape(&self) -> Shape {
        self.fields.keys().cloned().collect()
    }
}

/// The fields that a key consists of.
type Shape = BTreeSet<String>;

/// For each shape, where the first one is that has these values.
type Marked = BTreeMap<Shape, BTreeMap<String, usize>>;

/// Returns the mark that distinguishes members with keys of this shape. Returns `None` for an item
/// that lacks one of the fields.
fn mark(fields: &Map<String, Value>, shape: &Shape) -> Option<String> {
    let mut mark = String::new();
    for name in shape {
        match fields.get(name)? {
            // `80` and `80.0` are the same number.
            Value::Number(number) => match number.as_f64() {
                Some(number) => mark += &number.to_string(),
                None => mark += &number.to_string(),
            },
            other @ (Value::Null
            | Value::Bool(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_)) => mark += &other.to_string(),
        }
        mark.push('\n');
    }
    Some(mark)
}

/// All members of a list that entries name, in their order.
#[derive(Debug)]
pub(super) struct MemberKeys {
    all: Vec<MemberKey>,
    marked: Marked,
}

impl MemberKeys {
    pub(super) fn from_entries(entries: &[ManagerFields<'_>]) -> Self {
        let names = entries.iter().flat_map(|entry| entry.keys());
        let all: Vec<MemberKey> = names.filter_map(|text| MemberKey::parse(text)).collect();
        let mut marked = Marked::new();
        for (at, key) in all.iter().enumerate() {
            let shape = key.shape();
            if let Some(mark) = mark(&key.fields, &shape) {
                marked.entry(shape).or_default().entry(mark).or_insert(at);
            }
        }
        Self { all, marked }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The first member that an item is, by all of its keys.
    pub(super) fn exact(&self, item: &Value) -> Option<&MemberKey> {
        let item = item.as_object()?;
        let found = self.marked.iter().filter_map(|(shape, at)| {
            let mark = mark(item, shape)?;
            at.get(&mark).copied()
        });
        self.all.get(found.min()?)
    }

    /// Returns the name that managed fields would give an unnamed item: by the same keys as the
    /// others.
    pub(super) fn name_of(&self, item: &Value) -> Option<String> {
        let mut shapes = self.marked.keys();
        shapes.find_map(|shape| {
            let field = |name: &String| Some((name.clone(), item.get(name)?.clone()));
            let fields: Option<Map<String, Value>> = shape.iter().map(field).collect();
            Some(format!("k:{}", Value::Object(fields?)))
        })
    }

    /// Finds the member that corresponds to a desired item. It is the one with all of its keys;
    /// otherwise one whose other keys are defaults, unless a sibling is that one.
    pub(super) fn key_of(&self, wanted: &Value, siblings: &Items<'_>) -> Option<&MemberKey> {
        let by_default =
            |key: &&MemberKey| may_be(wanted, &key.fields) && siblings.find(key).is_none();
        self.exact(wanted)
            .or_else(|| self.all.iter().find(by_default))
    }
}

/// Returns true if an item has these keys, where keys that the item leaves open may be defaults.
fn may_be(item: &Value, key: &Map<String, Value>) -> bool {
    key.iter().all(|(name, value)| match item.get(name) {
        Some(found) => same(found, value),
        None => item.is_object(),
    })
}

/// The items of a list, to be found by keys.
#[derive(Debug)]
pub(super) struct Items<'a> {
    list: &'a [Value],
    marked: Marked,
}

impl<'a> Items<'a> {
    /// Of a value that may be a list, for these keys.
    pub(super) fn from_value(list: &'a Value, keys: &MemberKeys) -> Self {
        Self::new(list.as_array().map_or(&[], Vec::as_slice), keys)
    }

    pub(super) fn new(list: &'a [Value], keys: &MemberKeys) -> Self {
        let mut marked = Marked::new();
        for shape in keys.marked.keys() {
            let mut at = BTreeMap::new();
            for (number, item) in list.iter().enumerate() {
                let mark = item.as_object().and_then(|item| mark(item, shape));
                if let Some(mark) = mark {
                    at.entry(mark).or_insert(number);
                }
            }
            marked.insert(shape.clone(), at);
        }
        Self { list, marked }
    }

    /// The first item that is this member.
    pub(super) fn find(&self, key: &MemberKey) -> Option<&'a Value> {
        let shape = key.shape();
        let mark = mark(&key.fields, &shape)?;
        self.list.get(*self.marked.get(&shape)?.get(&mark)?)
    }
}

/// The items of a live and of a desired list, by the members that an entry names.
#[derive(Debug)]
pub(super) struct Pairs<'a> {
    live: Items<'a>,
    wanted: BTreeMap<String, &'a Value>,
}

impl<'a> Pairs<'a> {
    pub(super) fn new(entry: ManagerFields<'_>, desired: &'a Value, live: &'a Value) -> Self {
        let keys = MemberKeys::from_entries(&[entry]);
        let siblings = Items::from_value(desired, &keys);
        let mut wanted = BTreeMap::new();
        for item in siblings.list {
            if let Some(key) = keys.key_of(item, &siblings) {
                wanted.entry(key.text.clone()).or_insert(item);
            }
        }
        Self {
            live: Items::from_value(live, &keys),
            wanted,
        }
    }

    /// The live item that is this member.
    pub(super) fn found(&self, key: &MemberKey) -> Option<Value> {
        self.live.find(key).cloned()
    }

    /// The desired item that is this member, with those parts of the key that it leaves to defaults.
    pub(super) fn desired_item(&self, key: &MemberKey) -> Option<Value> {
        let mut item = (*self.wanted.get(&key.text)?).clone();
        let map = item.as_object_mut()?;
        for (name, value) in &key.fields {
            map.entry(name).or_insert_with(|| value.clone());
        }
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn keys(texts: &[&str]) -> MemberKeys {
        let entry = texts.iter().map(|text| ((*text).to_owned(), json!({})));
        MemberKeys::from_entries(&[&entry.collect()])
    }

    #[test]
    fn items_are_the_members_whose_keys_they_have_or_leave_to_defaults() {
        let keys = keys(&[
            r#"k:{"port":80,"protocol":"TCP"}"#,
            r#"k:{"port":80,"protocol":"UDP"}"#,
            r#"k:{"port":53}"#,
        ]);
        let check = |list: Value, at: usize, expected: Option<&str>| {
            let items = Items::from_value(&list, &keys);
            let found = keys.key_of(&list[at], &items);
            assert_eq!(found.map(|key| key.text.as_str()), expected, "{list}");
        };
        let (tcp, udp) = (
            r#"k:{"port":80,"protocol":"TCP"}"#,
            r#"k:{"port":80,"protocol":"UDP"}"#,
        );
        check(json!([{ "port": 80, "protocol": "UDP" }]), 0, Some(udp));
        check(json!([{ "port": 80.0, "protocol": "TCP" }]), 0, Some(tcp));
        check(json!([{ "port": 80 }]), 0, Some(tcp));
        let both = json!([{ "port": 80 }, { "port": 80, "protocol": "TCP" }]);
        check(both.clone(), 0, Some(udp));
        check(both, 1, Some(tcp));
        check(json!([{ "port": 53 }]), 0, Some(r#"k:{"port":53}"#));
        check(json!([{ "port": 81 }, 7]), 0, None);
        check(json!([7]), 0, None);
    }

    #[test]
    fn of_items_with_the_same_key_the_first_is_found() {
        let keys = keys(&[r#"k:{"port":80}"#]);
        let list = json!([{ "port": 80, "name": "a" }, { "port": 80, "name": "b" }]);
        let items = Items::from_value(&list, &keys);
        assert_eq!(items.find(&keys.all[0]), list.get(0));
    }
}
