//! Audit log of a test API server as typed entries: users, requests and counts. This module knows
//! the format of the log, not its source.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde::Deserialize;

/// One request that the API server answered; a watch counts from its first answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The user name, such as `system:serviceaccount:a:b`.
    pub user: String,
    /// The user agent of the client.
    pub agent: String,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; of other paths the HTTP method in lower case.
    pub verb: String,
    /// The API group; empty for the core group and for paths that are no resource.
    pub group: String,
    /// The plural name, such as `services`; empty for paths that are no resource.
    pub resource: String,
    /// Such as `status`, else empty.
    pub subresource: String,
    /// Namespace. Empty for cluster-scoped resources, and for requests across all namespaces.
    pub namespace: String,
    /// Empty for lists, watches, and names that the server makes.
    pub name: String,
    /// Path and query.
    pub uri: String,
    /// The HTTP status; 0 while unknown.
    pub code: u16,
    /// When the request came in.
    pub received: Timestamp,
    /// When it was answered (a watch: ended, once it has).
    pub answered: Timestamp,
}

/// Cost of a request for the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// `get` and `list`.
    Read,
    /// A watch, streamed lists included.
    Watch,
    /// Everything that may change something.
    Write,
    /// A write or a read of an Event.
    Event,
    /// A write or a read of a Lease.
    Lease,
    /// Discovery, health, version: a path that is no resource.
    Other,
}

impl Entry {
    /// Returns the cost of the request. Watches of Events and Leases count as watches.
    pub fn cost(&self) -> Cost {
        match (self.verb.as_str(), self.resource.as_str()) {
            (_, "") => Cost::Other,
            ("watch", _) => Cost::Watch,
            (_, "events") => Cost::Event,
            (_, "leases") => Cost::Lease,
            ("get" | "list", _) => Cost::Read,
            _ => Cost::Write,
        }
    }

    /// One line for a failed assertion.
    pub fn line(&self) -> String {
        format!("{} {} {} {}", self.user, self.verb, self.uri, self.code)
    }
}

/// How many requests there were of each cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// `get` and `list`.
    pub reads: usize,
    /// Watches.
    pub watches: usize,
    /// Creations, updates, patches and deletions, but of Events and Leases.
    pub writes: usize,
    /// Requests for Events.
    pub events: usize,
    /// Requests for Leases.
    pub leases: usize,
    /// Paths that are no resource.
    pub others: usize,
}

/// Entries in the order in which the requests were received. Dereferences to a slice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    entries: Vec<Entry>,
}

impl Deref for Log {
    type Target = [Entry];

    fn deref(&self) -> &[Entry] {
        &self.entries
    }
}

impl Log {
    /// Reads the lines of a log; an unfinished last line is left out.
    ///
    /// # Errors
    /// A line is no audit event.
    pub fn parse(text: &str) -> Result<Self> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let complete = text
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'));
        for line in complete {
            let raw: Raw = serde_json::from_str(line)
                .with_context(|| format!("this line of the audit log is no event: {line}"))?;
            let id = raw.audit_id.clone();
            let entry = raw.into_entry()?;
            // A watch is logged when it opens and when it ends.
            if let Some(index) = known.get(&id) {
                entries[*index].answered = entry.answered;
            } else {
                known.insert(id, entries.len());
                entries.push(entry);
            }
        }
        entries.sort_by_key(|entry| entry.received);
        Ok(Self { entries })
    }

    /// Only the requests of one user.
    pub fn of_user(&self, user: &str) -> Self {
        self.only(|entry| entry.user == user)
    }

    /// Merges these requests with others, in the order in which they were received.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.entries.extend(other.entries);
        self.entries.sort_by_key(|entry| entry.received);
        self
    }

    /// Only the requests that came in after a moment.
    pub fn since(&self, moment: Timestamp) -> Self {
        self.only(|entry| entry.received > moment)
    }

    /// Only the requests for a resource, its subresources included.
    pub fn of_resource(&self, resource: &str) -> Self {
        self.only(|entry| entry.resource == resource)
    }

    /// Only the requests of a cost.
    pub fn of_cost(&self, cost: Cost) -> Self {
        self.only(|entry| entry.cost() == cost)
    }

    /// Only the requests that fit.
    pub fn only(&self, fits: impl Fn(&Entry) -> bool) -> Self {
        let fitting = self.entries.iter().filter(|entry| fits(entry));
        Self {
            entries: fitting.cloned().collect(),
        }
    }

    /// Returns the requests that were answered only by 403. A missing permission fails each time.
    /// An API server that has just started also refuses requests whose rules it has not read yet.
    pub fn refused(&self) -> Self {
        let asks = |entry: &Entry| {
            let (verb, group) = (entry.verb.clone(), entry.group.clone());
            let (resource, part) = (entry.resource.clone(), entry.subresource.clone());
            let (namespace, name) = (entry.namespace.clone(), entry.name.clone());
            (verb, group, resource, part, namespace, name)
        };
        let answered = self.iter().filter(|entry| ![0, 403].contains(&entry.code));
        let allowed: BTreeSet<_> = answered.map(asks).collect();
        self.only(|entry| entry.code == 403 && !allowed.contains(&asks(entry)))
    }

    /// How many requests there were of each cost.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for entry in &self.entries {
            *match entry.cost() {
                Cost::Read => &mut counts.reads,
                Cost::Watch => &mut counts.watches,
                Cost::Write => &mut counts.writes,
                Cost::Event => &mut counts.events,
                Cost::Lease => &mut counts.leases,
                Cost::Other => &mut counts.others,
            } += 1;
        }
        counts
    }

    /// A line for each request, for a failed assertion.
    pub fn lines(&self) -> String {
        let lines: Vec<String> = self.entries.iter().map(Entry::line).collect();
        lines.join("\n")
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Raw {
    #[serde(rename = "auditID")]
    audit_id: String,
    #[serde(rename = "requestURI")]
    request_uri: String,
    verb: String,
    user: RawUser,
    #[serde(default)]
    user_agent: String,
    #[serde(default)]
    object_ref: RawObject,
    #[serde(default)]
    response_status: RawStatus,
    request_received_timestamp: String,
    stage_timestamp: String,
}

#[derive(Deserialize)]
struct RawUser {
    #[serde(default)]
    username: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawObject {
    api_group: String,
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
}

#[derive(Default, Deserialize)]
struct RawStatus {
    #[serde(default)]
    code: u16,
}

impl Raw {
    fn into_entry(self) -> Result<Entry> {
        let time = |text: &str| -> Result<Timestamp> {
            text.parse()
                .with_context(|| format!("{text} is no timestamp"))
        };
        Ok(Entry {
            received: time(&self.request_received_timestamp)?,
            answered: time(&self.stage_timestamp)?,
            user: self.user.username,
            agent: self.user_agent,
            verb: self.verb,
            group: self.object_ref.api_group,
            resource: self.object_ref.resource,
            subresource: self.object_ref.subresource,
            namespace: self.object_ref.namespace,
            name: self.object_ref.name,
            uri: self.request_uri,
            code: self.response_status.code,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str, verb: &str, resource: &str, second: u8) -> String {
        format!(
            concat!(
                r#"{{"kind":"Event","auditID":"{}","stage":"ResponseComplete","requestURI":"/x","verb":"{}","#,
                r#""user":{{"username":"u"}},"objectRef":{{"resource":"{}","subresource":"status","apiVersion":"v1"}},"#,
                r#""responseStatus":{{"metadata":{{}},"code":200}},"requestReceivedTimestamp":"2026-01-01T00:00:{:02}.000001Z","#,
                r#""stageTimestamp":"2026-01-01T00:00:59.000000Z"}}"#,
                "\n"
            ),
            id, verb, resource, second
        )
    }

    #[test]
    fn requests_are_counted_by_cost_and_events_and_leases_apart() {
        let text = [
            line("1", "get", "pods", 1),
            line("2", "list", "pods", 2),
            line("3", "patch", "listeners", 3),
            line("4", "create", "events", 4),
            line("5", "update", "leases", 5),
            line("6", "watch", "leases", 6),
            line("7", "get", "", 7),
            line("8", "delete", "services", 8),
        ];
        let log = Log::parse(&text.concat()).unwrap();
        let expected = Counts {
            reads: 2,
            watches: 1,
            writes: 2,
            events: 1,
            leases: 1,
            others: 1,
        };
        assert_eq!(log.counts(), expected);
        assert_eq!(log.of_resource("listeners")[0].subresource, "status");
    }

    #[test]
    fn a_watch_that_opened_and_ended_counts_once() {
        let twice = line("1", "watch", "pods", 1) + &line("1", "watch", "pods", 1);
        assert_eq!(Log::parse(&twice).unwrap().counts().watches, 1);
    }

    #[test]
    fn entries_are_in_order_of_arrival_and_can_be_cut_at_a_moment() {
        let log = Log::parse(&(line("1", "get", "b", 9) + &line("2", "get", "a", 3))).unwrap();
        assert_eq!(log[0].resource, "a");
        let later = log.since(log[0].received);
        assert_eq!((later.len(), later[0].resource.as_str()), (1, "b"));
        assert!(log.of_user("nobody").is_empty());
        assert_eq!(log.of_user("u"), log);
    }

    #[test]
    fn what_was_refused_and_never_granted_is_told() {
        let mut log = Log::parse(&(line("1", "get", "a", 1) + &line("2", "get", "b", 2))).unwrap();
        log.entries[0].code = 403;
        log.entries[1].code = 403;
        let granted = Log::parse(&line("3", "get", "b", 3)).unwrap();
        let refused = log.and(granted).refused();
        let resources: Vec<&str> = refused.iter().map(|e| e.resource.as_str()).collect();
        assert_eq!(resources, ["a"]);
    }

    #[test]
    fn an_unfinished_line_is_left_out_and_a_strange_one_refused() {
        let cut = line("1", "get", "a", 1) + r#"{"kind":"#;
        assert_eq!(Log::parse(&cut).unwrap().len(), 1);
        let refused = Log::parse("{}\n").unwrap_err();
        assert!(refused.to_string().contains("no event"), "{refused}");
    }
}
