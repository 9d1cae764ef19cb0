//! Edits by another manager of every place of an object that a lifecycle writes, derived from the
//! OpenAPI schema of its kind. The tests check that the lifecycle owns every place again in time.
//! This module does not depend on any lifecycle. It finds the writer of an object by its one entry
//! of managed fields with operation `Apply`.

mod edit;
mod object;
mod place;
mod schema;

use std::collections::BTreeMap;
use std::fmt;
use std::future::ready;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures::future::{join_all, try_join_all};

use crate::eventually::{Deadline, eventually};
use edit::{Added, Answer, Edit};
pub use object::Object;
use object::Snapshot;
use schema::Schemas;

/// Interval at which an object is read meanwhile.
const LOOK: Duration = Duration::from_millis(30);
/// Extra time after the bound, to distinguish a late object from one that never heals.
const PATIENCE: Duration = Duration::from_secs(10);
/// So often an owner turns while its object is made anew.
const TURN: Duration = Duration::from_secs(1);
/// Maximum number of failures reported for one object.
const MOST: usize = 3;
/// Time for which an addition that is not ours must stay. A writer that removes it does so at once.
const STAYS: Duration = Duration::from_millis(500);

/// Scope of the edits, and the requirements on the writer of the edited objects.
pub struct Rules<'a> {
    /// How many groups of objects are edited at once.
    pub groups: usize,
    /// Within how much core time an object is as it was.
    pub bound: Duration,
    /// Lists whose elements are all ours: `spec.ports`.
    pub exclusive: &'a [&'a str],
    /// Places that a writer may give up for good, if it reports that: `metadata.ownerReferences`.
    pub told: &'a [&'a str],
}

impl Rules<'_> {
    fn may_be_told(&self, edit: &Edit) -> bool {
        self.told.iter().any(|place| edit.place.starts_with(place))
    }
}

/// Writer of the objects.
pub trait Writer {
    /// Returns true if the writer reports that another controller or user owns the object.
    fn reports_foreign(&self, object: &Object) -> impl Future<Output = Result<bool>>;

    /// Makes the writer reconcile an object, if that takes more than an edit.
    fn trigger(&self, _: &Object) -> impl Future<Output = Result<()>> {
        ready(Ok(()))
    }
}

/// Results of the edits of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All of them.
    pub cases: usize,
    /// Number of edits after which the object was restored in time, with the fields of others
    /// untouched.
    pub healed: usize,
    /// The API server did not take the edit, as where a field is immutable.
    pub refused: usize,
    /// An apply that was not forced met our fields.
    pub conflicts: usize,
    /// Number of edits after which the object is no longer ours, and its owner reports that.
    pub told: usize,
    /// The longest time until an object was as before.
    pub slowest: Duration,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            cases,
            healed,
            refused,
            conflicts,
            told,
            slowest,
        } = self;
        write!(
            f,
            "{cases} edits: {healed} healed, {refused} refused, {conflicts} conflicts, {told} told; slowest {slowest:?}"
        )
    }
}

/// Makes every edit of every object, shared among the groups. `group` creates the objects of one
/// id, of the same kinds in the same order each time. The objects of a group are edited one after
/// another. If the writer reports that it gave an object up, the object is deleted and created
/// anew.
///
/// # Errors
/// Some edit was not healed: each is named.
pub async fn all(
    rules: &Rules<'_>,
    group: impl AsyncFn(usize) -> Result<Vec<Object>>,
    writer: &impl Writer,
) -> Result<BTreeMap<String, Counts>> {
    let groups: Vec<Vec<Object>> =
        try_join_all((0..rules.groups).map(|number| group(number))).await?;
    let first = groups.first().context("no group")?;
    let schemas = try_join_all(first.iter().map(Object::schemas)).await?;
    let read = first.iter().zip(&schemas);
    let lists = read.map(|(object, schemas)| object.edits(schemas));
    let lists: Vec<Vec<Edit>> = try_join_all(lists).await?;
    let edited = groups.iter().enumerate().map(async |(number, objects)| {
        let looks = objects.iter().map(Object::snapshot);
        let first: Vec<Option<Snapshot>> = try_join_all(looks).await?;
        let mut done = Vec::new();
        for (which, object) in objects.iter().enumerate() {
            let gone = || format!("{object} is gone");
            let first = first[which].as_ref().with_context(gone)?;
            let work = Work {
                rules,
                writer,
                object,
                first,
                schemas: &schemas[which],
            };
            let share = lists[which].iter().skip(number).step_by(rules.groups);
            done.push((object.kind(), work.share(share).await));
        }
        Ok(done)
    });
    let done: Vec<Result<Vec<_>>> = join_all(edited).await;
    let (mut counts, mut failures) = (BTreeMap::<String, Counts>::new(), Vec::new());
    for group in done {
        for (kind, (more, failed)) in group? {
            counts.entry(kind).or_default().add(&more);
            failures.extend(failed);
        }
    }
    for (kind, counts) in &counts {
        eprintln!("{kind}: {counts}");
    }
    let many = failures.len();
    failures.truncate(30);
    ensure!(
        many == 0,
        "{many} edits, among them:\n{}",
        failures.join("\n")
    );
    Ok(counts)
}

struct Work<'a, W> {
    rules: &'a Rules<'a>,
    writer: &'a W,
    object: &'a Object,
    /// State of the object before any edit.
    first: &'a Snapshot,
    schemas: &'a Schemas,
}

impl<W: Writer> Work<'_, W> {
    async fn share(&self, edits: impl Iterator<Item = &Edit>) -> (Counts, Vec<String>) {
        let (mut counts, mut failed) = (Counts::default(), Vec::new());
        for edit in edits {
            counts.cases += 1;
            let fails = |error: anyhow::Error| format!("{edit} of {}: {error:#}", self.object);
            if let Err(error) = self.try_edit(edit, &mut counts).await {
                failed.push(fails(error));
                eprintln!("{}", failed.join("; "));
                // An unhealed edit takes long, and a few failures carry as much information as
                // many.
                if failed.len() == MOST {
                    break;
                }
                if let Err(error) = self.anew().await {
                    failed.push(format!("{}, made anew: {error:#}", self.object));
                    break;
                }
            }
        }
        (counts, failed)
    }

    async fn try_edit(&self, edit: &Edit, counts: &mut Counts) -> Result<()> {
        self.object.turn_owner().await?;
        let before = self.wait_restored().await.context("before it")?;
        let before = self.object.marked(before).await?;
        let answer = self.object.make(edit, &before, self.schemas).await?;
        let began = Instant::now();
        match answer {
            Answer::Refused => counts.refused += 1,
            Answer::Conflict => counts.conflicts += 1,
            Answer::Made { .. } => {}
        }
        let mut bound = Deadline::new(self.rules.bound);
        let mut patience = Deadline::new(self.rules.bound + PATIENCE);
        let mut late = None;
        let now = loop {
            self.writer.trigger(self.object).await?;
            let now = self.object.snapshot().await?;
            let wrong = match now {
                None => "it is gone".to_owned(),
                Some(now) => match self.first.missing_in(&now) {
                    None => break now,
                    Some(missing) => missing,
                },
            };
            if self.rules.may_be_told(edit) && self.writer.reports_foreign(self.object).await? {
                counts.told += 1;
                return self.anew().await;
            }
            if bound.is_over() {
                late = Some(bound.missed(&wrong));
            }
            ensure!(!patience.is_over(), patience.missed(&wrong));
            tokio::time::sleep(LOOK).await;
        };
        let took = began.elapsed();
        if let Some(late) = late {
            return Err(late);
        }
        let Answer::Made {
            added, is_marked, ..
        } = answer
        else {
            return Ok(());
        };
        if let Some(added) = added {
            self.addition(&added).await?;
        }
        let stays = self.object.is_marked(&now.live) == is_marked;
        ensure!(stays, "what others have there was touched");
        counts.healed += 1;
        counts.slowest = counts.slowest.max(took);
        Ok(())
    }

    /// Waits until the object is as it was at first.
    async fn wait_restored(&self) -> Result<Snapshot> {
        let mut deadline = Deadline::new(PATIENCE);
        loop {
            self.writer.trigger(self.object).await?;
            let wrong = match self.object.snapshot().await? {
                None => "it is gone".to_owned(),
                Some(now) => match self.first.missing_in(&now) {
                    None => return Ok(now),
                    Some(missing) => missing,
                },
            };
            ensure!(!deadline.is_over(), deadline.missed(&wrong));
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Makes the writer create the object anew, as a user who gets the report would. The garbage
    /// collector may also delete the object. Then the writer writes it twice for one turn of its
    /// owner, so the owner keeps turning until the object exists.
    async fn anew(&self) -> Result<()> {
        self.object.turn_owner().await?;
        self.object.delete().await?;
        tokio::select! {
            rests = self.wait_restored() => rests.map(drop),
            failed = self.turn_on() => failed,
        }
    }

    /// Turns the owner again and again; ends only if that fails.
    async fn turn_on(&self) -> Result<()> {
        loop {
            tokio::time::sleep(TURN).await;
            self.object.turn_owner().await?;
        }
    }

    /// Checks that an addition stays, and then removes it as the manager that added it. If every
    /// element is ours, checks that the addition is removed.
    async fn addition(&self, added: &Added) -> Result<()> {
        let is_ours = self.rules.exclusive.contains(&added.place.as_str());
        let stays = async || {
            self.writer.trigger(self.object).await?;
            self.object.has(added).await
        };
        if is_ours {
            let is_gone = async || Ok((!stays().await?).then_some(()));
            return eventually("its removal", self.rules.bound, is_gone).await;
        }
        let until = Instant::now() + STAYS;
        while Instant::now() <= until {
            ensure!(stays().await?, "an addition of others is gone");
            tokio::time::sleep(LOOK).await;
        }
        self.object.take_back(added).await
    }
}

impl Counts {
    fn add(&mut self, more: &Self) {
        self.cases += more.cases;
        self.healed += more.healed;
        self.refused += more.refused;
        self.conflicts += more.conflicts;
        self.told += more.told;
        self.slowest = self.slowest.max(more.slowest);
    }
}
