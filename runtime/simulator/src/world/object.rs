//! Objects as the server sends them, and accessors for their fields. Independent of kinds and
//! caches.

use serde_json::Value;

/// An object as the server sends it.
pub(super) type Object = Value;

pub(super) fn text(object: &Value, pointer: &str) -> Option<String> {
    object.pointer(pointer)?.as_str().map(str::to_owned)
}

pub(super) fn number(object: &Value, pointer: &str) -> Option<i64> {
    object.pointer(pointer)?.as_i64()
}

pub(super) fn uid(object: &Value) -> String {
    text(object, "/metadata/uid").unwrap_or_default()
}

pub(super) fn uid_of(owner: &Value) -> String {
    text(owner, "/uid").unwrap_or_default()
}

pub(super) fn list<'a>(object: &'a Value, pointer: &str) -> &'a [Value] {
    let found = object.pointer(pointer).and_then(Value::as_array);
    found.map_or(&[], Vec::as_slice)
}

pub(super) fn owners(object: &Value) -> &[Value] {
    list(object, "/metadata/ownerReferences")
}

pub(super) fn is_leaving(object: &Value) -> bool {
    object.pointer("/metadata/deletionTimestamp").is_some()
}

pub(super) fn has_finalizer(object: &Value, name: &str) -> bool {
    list(object, "/metadata/finalizers")
        .iter()
        .any(|f| f == name)
}

/// Returns true if the labels of an object match a map of labels. An empty map matches nothing.
pub(super) fn fits(object: &Value, selector: Option<&Value>) -> bool {
    let Some(wanted) = selector.and_then(Value::as_object) else {
        return false;
    };
    let labels = object.pointer("/metadata/labels");
    !wanted.is_empty()
        && wanted
            .iter()
            .all(|(k, v)| labels.and_then(|l| l.get(k)) == Some(v))
}

/// Returns true if a condition has this status.
pub(super) fn has_condition(object: &Value, kind: &str, status: &str) -> bool {
    let mut all = list(object, "/status/conditions").iter();
    all.any(|c| c["type"] == kind && c["status"] == status)
}

/// Returns the uid of the controller that owns an object.
pub(super) fn controller(object: &Value) -> Option<String> {
    let found = owners(object).iter().find(|o| o["controller"] == true)?;
    text(found, "/uid")
}

/// Returns letters derived from a text. Equal texts always give equal letters.
pub(super) fn letters(of: &str) -> String {
    const ALL: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in of.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let mut letters = String::new();
    for _ in 0..8 {
        let at = usize::try_from(hash % 27).unwrap_or_default();
        letters.push(char::from(ALL[at]));
        hash /= 27;
    }
    letters
}
