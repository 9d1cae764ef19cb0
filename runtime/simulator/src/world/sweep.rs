//! Controllers that only delete, run once and not as a loop. All objects of some kinds are listed,
//! and the resulting operations are applied. Meant for tests that control the progress of a
//! cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use http::Method;
use kube::Client;
use kube::core::ApiResource;
use serde_json::Value;
use tokio::time::Instant;

use super::World;
use super::cache::Cache;
use super::calls::Calls;
use super::duties::Duty;
use super::kinds::{Kind, ObjectKey};
use super::object::{is_leaving, list, owners, text};
use super::operation::Operation;
use super::send::{Ended, JSON, apply, send};
use super::view::View;

/// Upper bound on the rounds in a row, because each deletion may allow further deletions.
const MOST_ROUNDS: usize = 8;

/// Deletes the objects that a cluster would delete.
///
/// # Guarantees
/// Looks up an owner like the garbage collector: by version, kind, name and uid, in the namespace
/// of its dependent or among cluster-scoped objects. Owners may be of any served kind. Equal
/// objects give equal requests in equal order.
pub struct Sweep {
    client: Client,
    world: World,
    calls: Calls,
    /// Kinds of the objects that may have to go, and of their owners.
    kinds: BTreeSet<Kind>,
    /// Kinds of owners as the server reports them, by version and kind. `None` for those that it
    /// does not serve.
    owners: BTreeMap<(String, String), Option<Kind>>,
}

impl Sweep {
    /// Of nothing yet.
    pub fn new(client: Client) -> Self {
        Self {
            client,
            world: World::empty(),
            calls: Calls::default(),
            kinds: BTreeSet::new(),
            owners: BTreeMap::new(),
        }
    }

    /// Of the objects of this kind as well.
    #[must_use]
    pub fn over(mut self, kind: &ApiResource, namespaced: bool) -> Self {
        let kind = Kind {
            group: kind.group.clone(),
            version: kind.version.clone(),
            kind: kind.kind.clone(),
            plural: kind.plural.clone(),
            namespaced,
        };
        // The Pods that use a claim determine if it may be deleted.
        if ObjectKey::new(kind.clone(), None, "").is("PersistentVolumeClaim") {
            self.kinds.insert(Kind::from_name("Pod"));
        }
        self.kinds.insert(kind);
        self
    }

    /// Releases unused claims and unbound volumes. It deletes objects that have lost all their
    /// owners, removes references to owners that are gone, and ends deleted namespaces. Returns
    /// true if there was anything to do.
    pub async fn take_away(&mut self) -> bool {
        let mut changed = false;
        for _ in 0..MOST_ROUNDS {
            let cache = self.load_cache().await;
            // A deleted object may be an owner, so the other controllers only run on the remaining
            // ones.
            let done = self.apply_all(&cache, &[Duty::Protection]).await
                || self
                    .apply_all(&cache, &[Duty::Garbage, Duty::Namespaces])
                    .await;
            changed |= done;
            if !done {
                break;
            }
        }
        changed
    }

    async fn apply_all(&self, cache: &Cache, duties: &[Duty]) -> bool {
        let mut done = false;
        for operation in self.operations(cache, duties) {
            let (ended, _) = apply(&self.client, cache, operation).await;
            done |= ended == Ended::Well;
        }
        done
    }

    fn operations(&self, cache: &Cache, duties: &[Duty]) -> Vec<Operation> {
        let view = View {
            cache,
            world: &self.world,
            calls: &self.calls,
            at: Instant::now(),
            waited: Duration::ZERO,
            now: String::new(),
        };
        let keys = cache.kinds().iter().flat_map(|kind| cache.all(kind, None));
        let keys: Vec<&ObjectKey> = keys.map(|(key, _)| key).collect();
        let each = keys.into_iter().flat_map(|key| {
            let is_theirs = |duty: &&Duty| !matches!(duty, Duty::Namespaces) || key.is("Namespace");
            let duties = duties.iter().filter(is_theirs);
            duties.flat_map(|duty| duty.operations(&view, key))
        });
        // A sweep only deletes, and publishes no events.
        let is_event = |one: &Operation| matches!(one, Operation::Create(..));
        each.filter(|one| !is_event(one)).collect()
    }

    /// Lists all objects of the requested kinds, and of the kinds of their owners.
    async fn load_cache(&mut self) -> Cache {
        let mut cache = Cache::default();
        loop {
            let open: Vec<Kind> = self.kinds.difference(cache.kinds()).cloned().collect();
            if open.is_empty() {
                return cache;
            }
            for kind in open {
                for object in self.list(&kind).await {
                    self.know_owners(&object).await;
                    if kind.kind == "Namespace" && is_leaving(&object) {
                        self.kinds.extend(Kind::built_in());
                    }
                    let name = text(&object, "/metadata/name").unwrap_or_default();
                    let namespace = text(&object, "/metadata/namespace");
                    let key = ObjectKey::new(kind.clone(), namespace.as_deref(), &name);
                    cache.put(key, Some(object));
                }
                cache.end_list(&kind);
            }
        }
    }

    async fn list(&self, kind: &Kind) -> Vec<Value> {
        let all = send(
            &self.client,
            Method::GET,
            &kind.path(None),
            (JSON, &Value::Null),
        )
        .await;
        let Ok(all) = all else {
            return Vec::new();
        };
        let mut items = list(&all, "/items").to_vec();
        for item in &mut items {
            item["apiVersion"] = Value::from(kind.api_version());
            item["kind"] = Value::from(kind.kind.as_str());
        }
        items
    }

    async fn know_owners(&mut self, object: &Value) {
        for owner in owners(object) {
            let version = text(owner, "/apiVersion").unwrap_or_default();
            let kind = text(owner, "/kind").unwrap_or_default();
            let asked = (version, kind);
            if self.owners.contains_key(&asked) {
                continue;
            }
            let found = self.discover(&asked.0, &asked.1).await;
            self.kinds.extend(found.clone());
            self.owners.insert(asked, found);
        }
    }

    async fn discover(&self, api_version: &str, kind: &str) -> Option<Kind> {
        let path = match api_version.contains('/') {
            true => format!("/apis/{api_version}"),
            false => format!("/api/{api_version}"),
        };
        let all = send(&self.client, Method::GET, &path, (JSON, &Value::Null)).await;
        let all = all.ok()?;
        let is_it = |one: &&Value| {
            let plural = text(one, "/name").unwrap_or_default();
            one["kind"] == kind && !plural.contains('/')
        };
        let found = list(&all, "/resources").iter().find(is_it)?;
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Some(Kind {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            plural: text(found, "/name")?,
            namespaced: found["namespaced"] == true,
        })
    }
}
