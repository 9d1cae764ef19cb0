//! Objects as the server sends them, and what is read out of them. Knows no kinds and no cache.

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

/// Whether the labels of an object fit a map of labels; an empty one fits nothing.
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

/// Whether a condition has this status.
pub(super) fn has_condition(object: &Value, kind: &str, status: &str) -> bool {
    let mut all = list(object, "/status/conditions").iter();
    all.any(|c| c["type"] == kind && c["status"] == status)
}

/// Whose controller reference it has.
pub(super) fn controller(object: &Value) -> Option<String> {
    let found = owners(object).iter().find(|o| o["controller"] == true)?;
    text(found, "/uid")
}

/// Some letters that stand for a text: the same for the same, always.
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
