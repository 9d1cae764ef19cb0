//! Writes of a run, put together by object. Pure.

use http::Method;
use lifecycle_simulator::mirror::Write;
use serde_json::{Value, json};

use crate::plan::differences::differences;
use crate::plan::planned::{Action, Change, Field};

/// All writes of one object.
pub(crate) struct Written<'a> {
    pub(crate) writes: Vec<&'a Write>,
}

/// The writes by object, in the order of the first of each.
pub(crate) fn by_object(writes: &[Write]) -> Vec<Written<'_>> {
    let mut all: Vec<Written<'_>> = Vec::new();
    for write in writes {
        let same = |known: &&mut Written<'_>| id(known.writes[0]) == id(write);
        match all.iter_mut().find(same) {
            Some(known) => known.writes.push(write),
            None => all.push(Written {
                writes: vec![write],
            }),
        }
    }
    all
}

fn id(write: &Write) -> [&str; 4] {
    [&write.group, &write.plural, &write.namespace, &write.name]
}

impl Written<'_> {
    /// Returns the object before the first of the writes.
    pub(crate) fn before(&self) -> Option<&Value> {
        self.writes[0].before.as_ref()
    }

    /// Returns the object after the last of the writes.
    pub(crate) fn after(&self) -> Option<&Value> {
        self.writes[self.writes.len() - 1].after.as_ref()
    }

    /// Returns the change to the object, or `None` if the object is as it was.
    pub(crate) fn change(&self) -> Option<Change> {
        let first = self.writes[0];
        let last = self.writes[self.writes.len() - 1];
        let is_going = |object: &Value| !object["metadata"]["deletionTimestamp"].is_null();
        let (action, fields) = match (self.before(), self.after()) {
            (None, Some(after)) => (Action::Create, self.requested_fields(after)),
            (Some(before), Some(after)) => {
                let action = match is_going(after) && !is_going(before) {
                    true => Action::Release,
                    false => Action::Change,
                };
                (action, differences(&first.kind, before, after))
            }
            (Some(_), None) => (Action::Delete, Vec::new()),
            (None, None) => (Action::Create, Vec::new()),
        };
        // One that lost a race was tried again.
        let refused = last.refusal.clone().filter(|_| last.code != 409);
        let came_and_went = (self.before(), self.after()) == (None, None);
        let changes_nothing = action == Action::Change && fields.is_empty();
        if refused.is_none() && (came_and_went || changes_nothing) {
            return None;
        }
        let mut managers: Vec<String> = Vec::new();
        for write in &self.writes {
            if !write.manager.is_empty() && !managers.contains(&write.manager) {
                managers.push(write.manager.clone());
            }
        }
        Some(Change {
            action,
            group: first.group.clone(),
            kind: first.kind.clone(),
            namespace: (!first.namespace.is_empty()).then(|| first.namespace.clone()),
            name: first.name.clone(),
            managers,
            fields,
            refused,
            server: None,
        })
    }

    /// Returns the requested fields of a new object. Fields that a server fills in are ignored.
    fn requested_fields(&self, after: &Value) -> Vec<Field> {
        let mut asked = json!({});
        let done = self.writes.iter().filter(|write| write.code < 400);
        for write in done.filter(|write| write.method != Method::DELETE) {
            // A body that is not an object is a list of edits.
            match serde_json::from_slice::<Value>(&write.body) {
                Ok(body) if body.is_object() => merge(&mut asked, &body),
                Ok(_) | Err(_) => {}
            }
        }
        let named = json!({ "metadata": {
            "name": after["metadata"]["name"], "namespace": after["metadata"]["namespace"],
        } });
        merge(&mut asked, &named);
        let fields = differences(&self.writes[0].kind, &named, &asked);
        fields
            .into_iter()
            .filter(|field| field.to.is_some())
            .collect()
    }
}

fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from.clone(),
    }
}
