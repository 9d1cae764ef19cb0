//! Object as the API server sends it. Reading fails only on invalid JSON, regardless of the
//! content. One unreadable event would otherwise end the watch of a whole kind.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::ApiResource;
use serde::de::{self, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use crate::lifecycle::{Compared, Kind, Stored};

/// Upper bound on the nesting of an object. JSON parsers stop at 128 levels, including those of a
/// surrounding list. Later traversals of the object are recursive, too.
const DEEPEST: usize = 100;
/// Upper bound in bytes on the kept status of an object that is otherwise dropped. No operator
/// reports more.
const LARGEST_STATUS: usize = 64 << 10;

/// An object as text: as values it may take a hundred times as much memory, and a page of a list has 500 of them.
#[derive(Clone, Debug)]
pub struct Raw {
    pub(super) meta: ObjectMeta,
    /// Compact JSON.
    text: Box<[u8]>,
    /// Reason why the rest was dropped.
    flaw: Option<String>,
}

/// Part of an object that a cache keeps beside its decoded form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keep {
    /// Nothing: of kinds that are only read.
    #[default]
    Nothing,
    /// Metadata and status, for kinds without other writes.
    Status,
    /// All of it.
    Whole,
}

impl Raw {
    pub fn new(object: Value) -> Self {
        let text = object.to_string();
        Self::copied(object).unwrap_or_else(|_: serde_json::Error| Self {
            meta: ObjectMeta::default(),
            text: text.into_bytes().into(),
            flaw: None,
        })
    }

    fn copied<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let copy = Copied::default();
        let top = Bounded {
            left: DEEPEST,
            into: &copy,
        };
        top.deserialize(deserializer)?;
        let text = copy.text.into_inner();
        let mut meta: Value =
            serde_json::from_slice(&text[copy.metadata.into_inner()]).unwrap_or_default();
        if let Some(fields) = meta.as_object_mut() {
            fields.remove("managedFields");
        }
        let is_cut = copy.cuts.get() > 0;
        Ok(Self {
            meta: ObjectMeta::deserialize(meta).unwrap_or_default(),
            text: text.into(),
            flaw: is_cut.then(|| format!("it is nested deeper than {DEEPEST} levels")),
        })
    }

    /// How many bytes the object has as compact JSON.
    pub(super) fn size(&self) -> usize {
        self.text.len()
    }

    /// Reduces an object with more bytes to its identity and its reported status.
    #[must_use]
    pub fn limit_size(mut self, largest: usize) -> Self {
        if self.size() > largest {
            (self.meta.annotations, self.meta.labels) = (None, None);
            self.flaw = Some(too_large(largest));
        }
        self
    }

    /// The same as values.
    pub(super) fn parse(self, kind: &Kind) -> Parsed {
        let mut object = match self.flaw {
            None => serde_json::from_slice(&self.text).unwrap_or_default(),
            Some(_) => self.outline(),
        };
        let managed = object
            .get_mut("metadata")
            .and_then(Value::as_object_mut)
            .and_then(|meta| meta.remove("managedFields"));
        // Members of lists come without their kind.
        if let Some(fields) = object.as_object_mut() {
            let named = [
                ("apiVersion", kind.api_version()),
                ("kind", kind.kind.clone()),
            ];
            for (key, value) in named {
                fields.entry(key).or_insert(Value::String(value));
            }
        }
        Parsed {
            meta: self.meta,
            managed,
            object,
            flaw: self.flaw,
        }
    }

    /// Returns the outline of an object. It must not be mistaken for the whole object.
    fn outline(&self) -> Value {
        #[derive(Deserialize)]
        struct Reported {
            #[serde(default)]
            status: Value,
        }
        let reported = serde_json::from_slice(&self.text).ok();
        let status = reported.map(|Reported { status }| status);
        let status =
            status.filter(|status| !status.is_null() && status.to_string().len() <= LARGEST_STATUS);
        let mut outline = json!({ "metadata": self.meta });
        if let Some(status) = status {
            outline["status"] = status;
        }
        outline
    }

    /// As caches keep it.
    pub fn stored(self, kind: &Kind, keep: Keep) -> Stored {
        self.parse(kind).stored(kind, keep)
    }
}

/// Returns a text that is constant across versions of an object, because each status update makes
/// the object larger.
fn too_large(largest: usize) -> String {
    let largest = largest / 1024;
    format!("it has more than {largest} KiB, and no more are read (`--max-object-size`)")
}

/// An object as values.
pub(super) struct Parsed {
    pub(super) meta: ObjectMeta,
    pub(super) managed: Option<Value>,
    pub(super) object: Value,
    flaw: Option<String>,
}

impl Parsed {
    /// As caches keep it.
    pub(super) fn stored(self, kind: &Kind, keep: Keep) -> Stored {
        let decoded = match &self.flaw {
            Some(flaw) => Err(flaw.clone()),
            None => kind.decode(&self.object).map_err(|e| e.to_string()),
        };
        let flaw = decoded.as_ref().err();
        Stored {
            meta: self.meta.clone(),
            unread: flaw.map(|flaw| kind.unread(&self.meta, flaw, None)),
            decoded,
            raw: (keep != Keep::Nothing).then(|| Arc::new(self.into_value(keep))),
            compared: Compared::default(),
            before: None,
        }
    }

    /// The object with its managed fields.
    fn into_value(mut self, keep: Keep) -> Value {
        if let (Some(managed), Some(meta)) = (self.managed, self.object.get_mut("metadata")) {
            meta["managedFields"] = managed;
        }
        if let (Keep::Status, Some(fields)) = (keep, self.object.as_object_mut()) {
            fields.retain(|name, _| {
                ["apiVersion", "kind", "metadata", "status"].contains(&name.as_str())
            });
        }
        self.object
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::copied(deserializer)
    }
}

/// Copy of an object as text, with the problems found while copying.
#[derive(Default)]
struct Copied {
    text: RefCell<Vec<u8>>,
    /// The range of its metadata in the text.
    metadata: RefCell<Range<usize>>,
    /// How often something was left out.
    cuts: Cell<usize>,
}

impl Copied {
    fn push(&self, text: &str) {
        self.text.borrow_mut().extend_from_slice(text.as_bytes());
    }

    fn write<E: de::Error>(&self, value: impl Serialize) -> Result<(), E> {
        let mut text = self.text.borrow_mut();
        serde_json::to_writer(&mut *text, &value).map_err(E::custom)
    }

    fn end(&self) -> usize {
        self.text.borrow().len()
    }

    fn cut_off(&self, at: usize) {
        self.text.borrow_mut().truncate(at);
    }
}

/// Copies a value up to a depth. Deeper values are skipped without recursion.
#[derive(Clone, Copy)]
struct Bounded<'a> {
    left: usize,
    into: &'a Copied,
}

impl Bounded<'_> {
    fn inside(self) -> Self {
        let left = self.left.saturating_sub(1);
        Self { left, ..self }
    }

    /// Notes where a field of the object itself lies. A status that lacks something is no status.
    fn copied(self, name: &str, begin: usize, cuts: usize) {
        if self.left < DEEPEST {
            return;
        }
        match name {
            "metadata" => *self.into.metadata.borrow_mut() = begin..self.into.end(),
            "status" if self.into.cuts.get() > cuts => {
                self.into.cut_off(begin);
                self.into.push("null");
            }
            _ => {}
        }
    }
}

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.left > 0 {
            return deserializer.deserialize_any(self);
        }
        self.into.cuts.set(self.into.cuts.get() + 1);
        self.into.push("null");
        IgnoredAny::deserialize(deserializer).map(|IgnoredAny| ())
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.into.push("null");
        Ok(())
    }

    fn visit_bool<E: de::Error>(self, is: bool) -> Result<(), E> {
        self.into.write(is)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<(), E> {
        self.into.write(number)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<(), E> {
        self.into.write(number)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<(), E> {
        self.into.write(number)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        self.into.write(text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.into.push("[");
        let mut end = self.into.end();
        while items.next_element_seed(self.inside())?.is_some() {
            end = self.into.end();
            self.into.push(",");
        }
        self.into.cut_off(end);
        self.into.push("]");
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        self.into.push("{");
        let mut end = self.into.end();
        while let Some(name) = fields.next_key::<String>()? {
            self.into.write(&name)?;
            self.into.push(":");
            let (begin, cuts) = (self.into.end(), self.into.cuts.get());
            fields.next_value_seed(self.inside())?;
            self.copied(&name, begin, cuts);
            end = self.into.end();
            self.into.push(",");
        }
        self.into.cut_off(end);
        self.into.push("}");
        Ok(())
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
        let stored = raw.stored(&Kind::for_type::<ConfigMap>(), Keep::Whole);
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
        assert_eq!(String::from_utf8_lossy(&raw.text), all.to_string());
        assert_eq!(Raw::new(all.clone()).text, raw.text);
    }

    #[test]
    fn one_that_is_too_large_is_which_one_it_is_and_what_was_reported_of_it() {
        let text = "x".repeat(2000);
        let object = json!({
            "metadata": { "name": "n", "uid": "u", "finalizers": ["f"], "labels": { "l": text }, "managedFields": [] },
            "data": { "text": text }, "status": { "phase": "Ready" },
        });
        let read = |largest: usize| {
            let kind = Kind::for_type::<ConfigMap>();
            let stored = Raw::new(object.clone())
                .limit_size(largest)
                .stored(&kind, Keep::Whole);
            let raw = Value::clone(stored.raw.as_deref().unwrap());
            (stored.decoded.err(), stored.meta, raw)
        };
        let (flaw, meta, raw) = read(1024);
        let said = "it has more than 1 KiB, and no more are read (`--max-object-size`)";
        assert_eq!(flaw.as_deref(), Some(said));
        assert_eq!(meta.labels, None);
        let kept = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": "n", "uid": "u", "finalizers": ["f"] }, "status": { "phase": "Ready" },
        });
        assert_eq!(raw, kept);
        let size = object.to_string().len();
        assert_eq!(read(size).0, None);
        assert!(read(size - 1).0.is_some());
    }

    #[test]
    fn a_status_that_lacks_something_is_none() {
        let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
        let check = |status: &str, expected: Option<Value>| {
            let text = format!(r#"{{"metadata":{{}},"spec":{deep},"status":{status}}}"#);
            let raw: Raw = serde_json::from_str(&text).unwrap();
            let stored = raw.stored(&Kind::for_type::<ConfigMap>(), Keep::Status);
            assert_eq!(stored.raw.unwrap().get("status"), expected.as_ref());
        };
        let phase = json!({ "phase": "Ready" });
        check(&phase.to_string(), Some(phase.clone()));
        check(&deep, None);
    }
}
