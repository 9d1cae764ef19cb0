//! Prints the progress of the objects that an operator manages, one line for each change, until all
//! requested ones are Ready. States come from the decisions of each reconcile. Knows no kind.

use std::convert::Infallible;
use std::fmt::Display;
use std::future::Future;
use std::time::Duration;

use anyhow::bail;
use futures::stream::{BoxStream, select_all};
use futures::{StreamExt as _, TryStreamExt as _};
use kube::api::{ApiResource, DynamicObject};
use kube::runtime::watcher::{self, Event};
use kube::{Api, Client};
use serde_json::Value;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::passes::PassLine;
use crate::updates::{Update, Updates, Verdict};

/// Objects that are followed.
pub trait Subjects {
    /// Printed name of an object. No two objects have the same name.
    type Name: Clone + Ord + Display;

    /// Returns the kinds that are watched.
    fn kinds(&self) -> Vec<ApiResource>;

    /// Returns the name of an object, given the place of its kind in [`Subjects::kinds`]. Returns
    /// `None` if its deletion is not reported.
    fn name(&self, at: usize, object: &DynamicObject) -> Option<Self::Name>;

    /// Returns the name of the object of a reconcile, and true if its status will report Ready.
    /// Returns `None` if the object is not followed.
    fn reconciled(&self, pass: &PassLine) -> Option<(Self::Name, bool)>;

    /// Reports an object that exists, given the place of its kind.
    fn changed(
        &self,
        client: &Client,
        at: usize,
        object: &DynamicObject,
        updates: &mut Updates<Self::Name>,
    ) -> impl Future<Output = ()>;
}

/// Objects that are followed, and the last report on each.
pub struct Follow<S: Subjects> {
    subjects: S,
    passes: UnboundedReceiver<PassLine>,
    updates: Updates<S::Name>,
}

impl<S: Subjects> Follow<S> {
    /// Follows objects by the decisions of their operator, which [`crate::passes::observer`] sends.
    pub fn new(subjects: S, passes: UnboundedReceiver<PassLine>) -> Self {
        Self {
            subjects,
            passes,
            updates: Updates::begin(),
        }
    }

    /// The followed objects.
    pub fn subjects(&self) -> &S {
        &self.subjects
    }

    /// Records an update. Returns true if it is new.
    pub fn record(&mut self, of: S::Name, update: Update) -> bool {
        self.updates.record(of, update)
    }

    /// Prints the decisions so far.
    pub fn catch_up(&mut self) {
        while let Ok(pass) = self.passes.try_recv() {
            self.note_pass(pass);
        }
    }

    /// Prints changes until all wanted objects are Ready, or the time is over.
    ///
    /// # Errors
    /// The API server ends a watch.
    pub async fn until_ready(
        &mut self,
        client: &Client,
        wanted: &[S::Name],
        limit: Duration,
    ) -> anyhow::Result<Verdict> {
        if wanted.is_empty() {
            return Ok(Verdict::Ready);
        }
        match tokio::time::timeout(limit, self.follow(client, wanted)).await {
            Ok(done) => done.map(|()| Verdict::Ready),
            Err(_) => Ok(self.updates.late(wanted, limit)),
        }
    }

    /// Prints changes. Never returns.
    pub async fn forever(&mut self, client: &Client) -> Infallible {
        // No object is awaited, so the call ends only with a watch.
        loop {
            if let Err(error) = self.follow(client, &[]).await {
                tracing::debug!("{error}");
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    async fn follow(&mut self, client: &Client, wanted: &[S::Name]) -> anyhow::Result<()> {
        let kinds = self.subjects.kinds().into_iter().enumerate();
        let mut changes = select_all(kinds.map(|(at, kind)| watched_of(client, at, &kind)));
        loop {
            tokio::select! {
                biased;
                Some(pass) = self.passes.recv() => self.note_pass(pass),
                change = changes.try_next() => match change? {
                    Some((at, Event::Apply(object) | Event::InitApply(object))) => {
                        self.subjects.changed(client, at, &object, &mut self.updates).await;
                    }
                    Some((at, Event::Delete(object))) => {
                        if let Some(of) = self.subjects.name(at, &object) {
                            self.updates.gone(&of);
                        }
                    }
                    Some((_, Event::Init | Event::InitDone)) => {}
                    None => bail!("the API server ended the watch"),
                },
            }
            if self.updates.are_ready(wanted) {
                return Ok(());
            }
        }
    }

    fn note_pass(&mut self, pass: PassLine) {
        if let Some((of, reports)) = self.subjects.reconciled(&pass) {
            self.updates.passed(of, (pass.phase, pass.line), reports);
        }
    }
}

/// Changes of a kind, with its place.
fn watched_of(
    client: &Client,
    at: usize,
    kind: &ApiResource,
) -> BoxStream<'static, watcher::Result<(usize, Event<DynamicObject>)>> {
    let api: Api<DynamicObject> = Api::all_with(client.clone(), kind);
    let changes = watcher::watcher(api, watcher::Config::default());
    changes.map_ok(move |event| (at, event)).boxed()
}

/// Returns the message of a status that reports its object as Ready as it is wanted now.
pub fn ready(object: &DynamicObject) -> Option<String> {
    let conditions = object.data["status"]["conditions"].as_array()?;
    let is = |condition: &&Value| condition["type"] == "Ready" && condition["status"] == "True";
    let ready = conditions.iter().find(is)?;
    let of = ready["observedGeneration"].as_i64();
    let said = ready["message"].as_str().unwrap_or_default();
    (of.is_none() || of == object.metadata.generation).then(|| said.replace('\n', "; "))
}
