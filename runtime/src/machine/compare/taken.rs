//! Desired fields that are present but not ours. A map that is owned as a whole may hold more than
//! we wrote. No apply of ours would remove its entries that are no longer desired.

use serde_json::Value;

use super::fields::{ManagerFields, child_entries, is_leaf};
use super::members::{Items, MemberKeys};
use super::prune::{is_nothing, keeps_empty_text};
use super::{Comparison, Path, same};

/// Owners of a part of an object: our entries, and those of others.
#[derive(Clone, Debug)]
pub(super) struct Owners<'a> {
    pub(super) ours: Vec<ManagerFields<'a>>,
    pub(super) others: Vec<ManagerFields<'a>>,
    /// True if unowned fields count, as they do once we have applied.
    pub(super) claims_unowned: bool,
}

impl<'a> Owners<'a> {
    fn child(&self, name: &str) -> Self {
        Self {
            ours: child_entries(&self.ours, name),
            others: child_entries(&self.others, name),
            ..*self
        }
    }

    fn all(&self) -> impl Iterator<Item = ManagerFields<'a>> + '_ {
        self.ours.iter().chain(&self.others).copied()
    }

    /// It is one value: a scalar, or a map or list that is owned as a whole.
    fn is_whole(&self) -> bool {
        self.all().all(is_leaf)
    }

    /// Returns true if a part is unowned and our apply would make it ours.
    fn claims(&self, part: &Self, path: &Path<'_>) -> bool {
        let has_fields = !self.ours.is_empty() && !self.ours.iter().any(|own| is_leaf(own));
        self.claims_unowned && has_fields && part.is_nobodys() && !is_untracked(path)
    }

    fn is_nobodys(&self) -> bool {
        self.all().next().is_none()
    }
}

/// Returns true if managed fields never name a field: an object's kind, name and identity.
///
/// See `stripMeta` of <https://github.com/kubernetes/apimachinery/blob/master/pkg/util/managedfields/internal/stripmeta.go>.
fn is_untracked(path: &Path<'_>) -> bool {
    match path.parent {
        Some(parent) if parent.parent.is_none() => true,
        Some(parent) => {
            parent.part == "metadata" && parent.parent.is_some_and(|p| p.parent.is_none())
        }
        None => true,
    }
}

/// Returns the first desired field that only others own, or that has no owner beside ours. Also
/// returns a field that is owned as a whole and has additions.
pub(super) fn taken(
    (desired, live): (&Value, &Value),
    owners: &Owners<'_>,
    path: &Path<'_>,
) -> Option<Comparison> {
    if owners.is_nobodys() {
        return None;
    }
    match (desired, live) {
        (Value::Object(desired), Value::Object(live)) => {
            desired.iter().find_map(|(key, wanted)| {
                let path = path.down(key);
                let inner = owners.child(&format!("f:{key}"));
                let live = live.get(key).unwrap_or(&Value::Null);
                if owners.claims(&inner, &path) && !is_nothing(live, key) {
                    return Some(Comparison::Unowned { at: path.show() });
                }
                field((wanted, live), &inner, &path)
            })
        }
        (Value::Array(desired), Value::Array(live)) => element((desired, live), owners, path),
        _ => None,
    }
}

fn field(
    (wanted, live): (&Value, &Value),
    owners: &Owners<'_>,
    path: &Path<'_>,
) -> Option<Comparison> {
    if owners.is_nobodys() || !owners.is_whole() {
        return taken((wanted, live), owners, path);
    }
    if owners.ours.is_empty() {
        return Some(Comparison::Taken { at: path.show() });
    }
    // Nothing fills in defaults there.
    let texts = (wanted.as_object(), live.as_object());
    match texts {
        (Some(wanted), Some(live)) if keeps_empty_text(path.part) && live.len() > wanted.len() => {
            Some(Comparison::Behind { at: path.show() })
        }
        _ => None,
    }
}

fn element(
    (desired, live): (&[Value], &[Value]),
    owners: &Owners<'_>,
    path: &Path<'_>,
) -> Option<Comparison> {
    let all: Vec<_> = owners.all().collect();
    let keys = MemberKeys::from_entries(&all);
    let (siblings, items) = (Items::new(desired, &keys), Items::new(live, &keys));
    desired.iter().enumerate().find_map(|(number, wanted)| {
        let part = format!("[{number}]");
        let path = path.down(&part);
        let Some(key) = keys.key_of(wanted, &siblings) else {
            let is_taken = names(&owners.others, wanted) && !names(&owners.ours, wanted);
            return is_taken.then(|| Comparison::Taken { at: path.show() });
        };
        let inner = owners.child(&key.text);
        match (inner.ours.is_empty(), items.find(key)) {
            (true, _) => Some(Comparison::Taken { at: path.show() }),
            (false, Some(live)) => taken((wanted, live), &inner, &path),
            (false, None) => None,
        }
    })
}

/// Returns true if entries name a value of a set.
fn names(entries: &[ManagerFields<'_>], value: &Value) -> bool {
    let mut names = entries.iter().flat_map(|entry| entry.keys());
    names.any(|name| {
        let named = name.strip_prefix("v:");
        let named = named.and_then(|named| serde_json::from_str::<Value>(named).ok());
        named.is_some_and(|named| same(&named, value))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Ours, compare, contenders};
    use super::*;

    const PORT: &str = r#"k:{"port":80,"protocol":"TCP"}"#;

    fn entry(manager: &str, operation: &str, fields: Value) -> Value {
        json!({ "manager": manager, "operation": operation, "fieldsV1": fields })
    }

    fn us(fields: Value) -> Value {
        entry("us", "Apply", fields)
    }

    fn hand(fields: Value) -> Value {
        entry("hand", "Update", fields)
    }

    fn live(managed: &[Value], object: Value) -> Value {
        let mut live = object;
        live["metadata"]["managedFields"] = json!(managed);
        live
    }

    #[track_caller]
    fn check(desired: Value, live: &Value, expected: Comparison, who: &[&str]) {
        let replaced = ["old".to_owned()];
        let ours = Ours::for_manager(live, "us", &replaced, "");
        assert_eq!(compare(&desired, live, &ours), expected, "{live}");
        let found = contenders(&desired, live, "us", &replaced);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), who, "{live}");
    }

    fn taken_at(at: &str) -> Comparison {
        Comparison::Taken { at: at.to_owned() }
    }

    #[test]
    fn a_map_that_is_one_value_is_ours_again_when_others_add_to_it() {
        let selector = || json!({ "f:spec": { "f:selector": {} } });
        let type_only = us(json!({ "f:spec": { "f:type": {} } }));
        let desired = json!({ "spec": { "type": "ClusterIP", "selector": { "app": "web" } } });
        let service = |managed: &[Value], selector: Value| {
            let spec = json!({ "spec": { "type": "ClusterIP", "selector": selector } });
            live(managed, spec)
        };
        let (equal, grown) = (json!({ "app": "web" }), json!({ "app": "web", "x": "1" }));
        let both = us(json!({ "f:spec": { "f:type": {}, "f:selector": {} } }));
        let rows = [
            // `kubectl patch` moves the map as a whole.
            (
                vec![type_only.clone(), hand(selector())],
                &grown,
                taken_at("spec.selector"),
                &["hand"][..],
            ),
            (
                vec![type_only, hand(selector())],
                &equal,
                taken_at("spec.selector"),
                &["hand"],
            ),
            (vec![both.clone()], &equal, Comparison::Current, &[]),
            (
                vec![both.clone(), entry("other", "Apply", selector())],
                &equal,
                Comparison::Current,
                &[],
            ),
            // The fields belong only to a manager of ours, and exceed the desired ones.
            (
                vec![entry("old", "Update", selector())],
                &grown,
                Comparison::Behind {
                    at: "spec.selector".to_owned(),
                },
                &[],
            ),
            (
                vec![entry("old", "Update", selector())],
                &equal,
                Comparison::Current,
                &[],
            ),
            (vec![], &grown, Comparison::Current, &[]),
        ];
        for (managed, selector, expected, who) in rows {
            let live = service(&managed, selector.clone());
            check(desired.clone(), &live, expected, who);
        }
    }

    #[test]
    fn fields_elements_and_members_of_sets_that_only_others_have_are_taken() {
        let desired = json!({
            "metadata": { "labels": { "app": "web" }, "finalizers": ["a"] },
            "spec": { "ports": [{ "port": 80, "targetPort": 8080 }], "args": ["x"] },
        });
        let object = json!({
            "metadata": { "labels": { "app": "web", "their": "own" }, "finalizers": ["b", "a"] },
            "spec": { "ports": [{ "port": 80, "protocol": "TCP", "targetPort": 8080 }], "args": ["x"] },
        });
        let whole = json!({
            "f:metadata": {
                "f:labels": { ".": {}, "f:app": {} },
                "f:finalizers": { ".": {}, "v:\"a\"": {} },
            },
            "f:spec": {
                "f:ports": { PORT: { ".": {}, "f:port": {}, "f:targetPort": {} } },
                "f:args": {},
            },
        });
        let beside = json!({ "f:metadata": { "f:labels": { "f:their": {} }, "f:finalizers": { "v:\"b\"": {} } } });
        let (ours, beside) = (us(whole.clone()), hand(beside));
        let here = live(&[ours, beside.clone()], object.clone());
        check(desired.clone(), &here, Comparison::Current, &[]);
        let ways = [
            (
                &["f:metadata", "f:labels", "f:app"][..],
                "metadata.labels.app",
            ),
            (
                &["f:metadata", "f:finalizers", "v:\"a\""],
                "metadata.finalizers[0]",
            ),
            (
                &["f:spec", "f:ports", PORT, "f:targetPort"],
                "spec.ports[0].targetPort",
            ),
            (&["f:spec", "f:ports", PORT], "spec.ports[0]"),
            (&["f:spec", "f:args"], "spec.args"),
        ];
        for (way, at) in ways {
            let (ours, theirs) = moved(&whole, way);
            for operation in ["Update", "Apply"] {
                let theirs = entry("rival", operation, theirs.clone());
                let here = live(&[us(ours.clone()), beside.clone(), theirs], object.clone());
                check(desired.clone(), &here, taken_at(at), &["rival"]);
            }
        }
    }

    /// Returns an entry without one part, and that part alone.
    fn moved(entry: &Value, way: &[&str]) -> (Value, Value) {
        let mut left = entry.clone();
        let (last, parents) = way.split_last().unwrap();
        let parent = parents.iter().fold(&mut left, |at, part| &mut at[*part]);
        let part = parent.as_object_mut().unwrap().remove(*last).unwrap();
        let nested = way
            .iter()
            .rev()
            .fold(part, |inner, part| json!({ *part: inner }));
        (left, nested)
    }

    #[test]
    fn what_nobody_owns_beside_ours_is_to_be_ours_again() {
        let desired = json!({
            "kind": "Service",
            "metadata": { "name": "web", "labels": { "app": "web" } },
            "spec": { "type": "ClusterIP", "ports": [{ "port": 80, "targetPort": 80 }] },
        });
        let whole = json!({
            "f:metadata": { "f:labels": { "f:app": {} } },
            "f:spec": { "f:type": {}, "f:ports": { PORT: { ".": {}, "f:port": {}, "f:targetPort": {} } } },
        });
        let object = json!({
            "kind": "Service",
            "metadata": { "name": "web", "labels": { "app": "web" } },
            "spec": {
                "type": "ClusterIP",
                "ports": [{ "port": 80, "protocol": "TCP", "targetPort": 80 }],
            },
        });
        let elsewhere = hand(json!({ "f:metadata": { "f:annotations": { "f:x": {} } } }));
        let here = |ours: Value| live(&[ours, elsewhere.clone()], object.clone());
        let current = here(us(whole.clone()));
        check(desired.clone(), &current, Comparison::Current, &[]);
        let ways = [
            (&["f:spec", "f:type"][..], "spec.type"),
            (
                &["f:spec", "f:ports", PORT, "f:targetPort"],
                "spec.ports[0].targetPort",
            ),
        ];
        for (way, at) in ways {
            let (left, _) = moved(&whole, way);
            let unowned = Comparison::Unowned { at: at.to_owned() };
            check(desired.clone(), &here(us(left.clone())), unowned, &[]);
            // An object that another operator made is taken over without a write.
            let old = here(entry("old", "Apply", left));
            check(desired.clone(), &old, Comparison::Current, &[]);
        }
    }

    #[test]
    fn a_map_that_others_once_left_empty_is_no_value_of_theirs() {
        let ours = us(json!({ "f:metadata": { "f:labels": { "f:app": {} } } }));
        let empty = hand(json!({ "f:metadata": { "f:labels": {} } }));
        let object = json!({ "metadata": { "labels": { "app": "web", "x": "1" } } });
        let here = live(&[ours, empty], object);
        let desired = json!({ "metadata": { "labels": { "app": "web" } } });
        check(desired, &here, Comparison::Current, &[]);
    }
}
