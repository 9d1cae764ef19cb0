//! An object as the API server sends it. Reading it fails on nothing but broken JSON, whatever somebody has put into it: one event that cannot be read
//! would end the watch of a whole kind.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::ApiResource;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Number, Value};

use crate::lifecycle::{Compared, Kind, Stored};

/// How deep an object may be nested. Readers of JSON end at 128 levels, with those around an object in a list; what walks objects later is recursive too.
const DEEPEST: usize = 100;

/// An object, or as much of it as says which one it is.
#[derive(Clone, Debug)]
pub struct Raw {
    pub(super) meta: ObjectMeta,
    pub(super) managed: Option<Value>,
    pub(super) object: Value,
    /// Why the rest was left out.
    flaw: Option<String>,
}

impl Raw {
    pub fn new(object: Value) -> Self {
        Self::of(object, false)
    }

    fn of(mut object: Value, is_cut: bool) -> Self {
        let managed = object
            .get_mut("metadata")
            .and_then(Value::as_object_mut)
            .and_then(|meta| meta.remove("managedFields"));
        let meta = object
            .get("metadata")
            .and_then(|meta| ObjectMeta::deserialize(meta).ok())
            .unwrap_or_default();
        let flaw = is_cut.then(|| format!("it is nested deeper than {DEEPEST} levels"));
        if let Some(fields) = object.as_object_mut().filter(|_| is_cut) {
            // Nobody may take for the whole what lacks something.
            fields.retain(|name, _| ["apiVersion", "kind", "metadata"].contains(&name.as_str()));
        }
        Self {
            meta,
            managed,
            object,
            flaw,
        }
    }

    /// Members of lists come without their kind.
    pub(super) fn name_kind(&mut self, kind: &Kind) {
        if let Some(object) = self.object.as_object_mut() {
            let named = [
                ("apiVersion", kind.api_version()),
                ("kind", kind.kind.clone()),
            ];
            for (key, value) in named {
                object.entry(key).or_insert(Value::String(value));
            }
        }
    }

    /// As caches keep it; whole only for kinds that are written.
    pub fn stored(mut self, kind: &Kind, keep_raw: bool) -> Stored {
        self.name_kind(kind);
        let decoded = match self.flaw.take() {
            Some(flaw) => Err(flaw),
            None => kind.decode(&self.object).map_err(|e| e.to_string()),
        };
        let flaw = decoded.as_ref().err();
        Stored {
            meta: self.meta.clone(),
            unread: flaw.map(|flaw| kind.unread(&self.meta, flaw, None)),
            decoded,
            raw: keep_raw.then(|| Arc::new(self.whole())),
            compared: Compared::default(),
            before: None,
        }
    }

    /// The object with its managed fields.
    fn whole(mut self) -> Value {
        if let (Some(managed), Some(meta)) = (self.managed, self.object.get_mut("metadata")) {
            meta["managedFields"] = managed;
        }
        self.object
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let is_cut = Cell::new(false);
        let bounded = Bounded {
            left: DEEPEST,
            is_cut: &is_cut,
        };
        let object = bounded.deserialize(deserializer)?;
        Ok(Self::of(object, is_cut.get()))
    }
}

/// A value down to a depth; what is below is skipped without recursion.
#[derive(Clone, Copy)]
struct Bounded<'a> {
    left: usize,
    is_cut: &'a Cell<bool>,
}

impl Bounded<'_> {
    fn inside(self) -> Option<Self> {
        let left = self.left.checked_sub(1)?;
        Some(Self { left, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if self.left > 0 {
            return deserializer.deserialize_any(self);
        }
        self.is_cut.set(true);
        IgnoredAny::deserialize(deserializer).map(|IgnoredAny| Value::Null)
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, is: bool) -> Result<Value, E> {
        Ok(Value::Bool(is))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(inside) = self.inside()
            && let Some(item) = items.next_element_seed(inside)?
        {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(inside) = self.inside()
            && let Some(name) = fields.next_key::<String>()?
        {
            map.insert(name, fields.next_value_seed(inside)?);
        }
        Ok(Value::Object(map))
    }
}

impl kube::Resource for Raw {
    type DynamicType = ApiResource;
    type Scope = kube::core::DynamicResourceScope;

    fn kind(dt: &ApiResource) -> std::borrow::Cow<'_, str> {
        dt.kind.as_str().into()
    }

    fn group(dt: &ApiResource) -> std::borrow::Cow<'_, str> {
        dt.group.as_str().into()
    }

    fn version(dt: &ApiResource) -> std::borrow::Cow<'_, str> {
        dt.version.as_str().into()
    }

    fn plural(dt: &ApiResource) -> std::borrow::Cow<'_, str> {
        dt.plural.as_str().into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.meta
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::core::{ObjectList, WatchEvent};
    use serde_json::json;

    use super::*;

    /// A ConfigMap with lists in lists, this deep.
    fn text(name: &str, deep: usize) -> String {
        let (open, close) = ("[".repeat(deep), "]".repeat(deep));
        let meta = format!(r#"{{"name":"{name}","uid":"u","resourceVersion":"7"}}"#);
        format!(
            r#"{{"apiVersion":"v1","kind":"ConfigMap","spec":{open}{close},"metadata":{meta}}}"#
        )
    }

    fn event(object: &str) -> serde_json::Result<WatchEvent<Raw>> {
        serde_json::from_str(&format!(r#"{{"type":"ADDED","object":{object}}}"#))
    }

    fn flaw(raw: Raw) -> Option<String> {
        let stored = raw.stored(&Kind::of::<ConfigMap>(), true);
        let meta = &stored.meta;
        assert_eq!(meta.resource_version.as_deref(), Some("7"));
        assert_eq!(meta.uid.as_deref(), Some("u"));
        stored.decoded.err()
    }

    #[test]
    fn an_object_of_any_depth_is_an_event_that_names_it() {
        for (deep, is_whole) in [
            (1, true),
            (98, true),
            (99, true),
            (100, false),
            (128, false),
            (9_000, false),
        ] {
            let Ok(WatchEvent::Added(raw)) = event(&text("deep", deep)) else {
                panic!("{deep} levels end the watch");
            };
            let expected = (!is_whole).then(|| "it is nested deeper than 100 levels".to_owned());
            assert_eq!(raw.meta.name.as_deref(), Some("deep"));
            assert_eq!(flaw(raw), expected, "{deep}");
        }
    }

    #[test]
    fn in_a_list_it_is_one_of_many() {
        let (deep, flat) = (text("deep", 300), text("flat", 3));
        let list = format!(r#"{{"metadata":{{}},"items":[{flat},{deep},{flat}]}}"#);
        let list: ObjectList<Raw> = serde_json::from_str(&list).unwrap();
        let flaws = list.items.into_iter().map(|raw| flaw(raw).is_some());
        assert_eq!(flaws.collect::<Vec<_>>(), [false, true, false]);
    }

    #[test]
    fn managed_fields_may_be_too_deep_as_well() {
        let (open, close) = (r#"{"f:x":"#.repeat(300), "}".repeat(300));
        let fields = format!(r#"[{{"manager":"m","fieldsV1":{open}{{}}{close}}}]"#);
        let meta = r#""metadata":{"#;
        let object = text("deep", 2).replace(meta, &format!(r#"{meta}"managedFields":{fields},"#));
        let Ok(WatchEvent::Added(raw)) = event(&object) else {
            panic!("it ends the watch");
        };
        assert!(flaw(raw).is_some());
    }

    #[test]
    fn values_are_read_as_they_are() {
        let all = json!({
            "metadata": { "name": "n" }, "none": null, "on": true, "big": u64::MAX, "small": i64::MIN, "part": 0.5,
            "text": "\u{1f600}\n", "list": [1, [2, []], {}],
        });
        let raw: Raw = serde_json::from_str(&all.to_string()).unwrap();
        assert_eq!(raw.object, all);
    }
}
