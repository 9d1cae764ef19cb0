//! What another manager may do to every place of an object that a lifecycle writes, by the OpenAPI schema of its kind, and whether all of it is ours again
//! in time. Knows no lifecycle: whoever made the object is told by its one entry of managed fields with operation `Apply`.

mod edit;
mod object;
mod place;
mod schema;

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures::future::{join_all, try_join_all};
use futures::stream::{StreamExt, iter};

use edit::{Answer, Edit};
pub use object::Object;
use schema::Schemas;

/// How many edits an object takes before a new one is made: writes that repeat themselves are slowed down from the third on.
const EDITS: usize = 2;
/// How many groups of objects are edited at once.
const AT_ONCE: usize = 8;
/// How often an object is looked at meanwhile.
const LOOK: Duration = Duration::from_millis(50);
/// After the bound an object is given this long, to tell one that is late from one that never heals.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is edited, and what is asked of whoever wrote it.
pub struct Rules<'a> {
    /// Within which time an object is as it was.
    pub bound: Duration,
    /// Lists of which every element is ours: `spec.ports`.
    pub exclusive: &'a [&'a str],
    /// Places from which a writer may turn away for good, if it says so: `metadata.ownerReferences`.
    pub told: &'a [&'a str],
}

/// What became of the edits of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All of them.
    pub cases: usize,
    /// The object was as before in time, and what others have in it was untouched.
    pub healed: usize,
    /// The API server did not take the edit, as where a field is immutable.
    pub refused: usize,
    /// An apply that was not forced met our fields.
    pub conflicts: usize,
    /// The object is no longer ours, and its owner says so.
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

/// Makes every edit of every object: `group` makes the objects of one number, of the same kinds in the same order each time.
/// `says` asks whether an object that was given up is told about.
///
/// # Errors
/// Some edit was not healed: each is named.
pub async fn all(
    rules: &Rules<'_>,
    group: impl AsyncFn(usize) -> Result<Vec<Object>>,
    says: impl AsyncFn(&Object) -> Result<bool>,
) -> Result<BTreeMap<String, Counts>> {
    let first = group(0).await?;
    let schemas = first.iter().map(Object::schemas);
    let schemas: Vec<Schemas> = try_join_all(schemas).await?;
    let read = first.iter().zip(&schemas);
    let lists = read.map(|(object, schemas)| object.edits(schemas));
    let lists: Vec<Vec<Edit>> = try_join_all(lists).await?;
    let shares: Vec<Vec<&[Edit]>> = lists.iter().map(|list| shares(list, rules)).collect();
    let groups = shares.iter().map(Vec::len).max().unwrap_or_default();
    let edited = iter(0..groups).map(async |number| {
        let objects = group(number + 1).await?;
        ensure!(objects.len() == schemas.len(), "other objects than before");
        let each = objects.iter().enumerate().map(async |(which, object)| {
            let share = shares[which].get(number).copied().unwrap_or_default();
            let work = Work {
                rules,
                object,
                schemas: &schemas[which],
            };
            (object.kind(), work.share(share, &says).await)
        });
        Ok(join_all(each).await)
    });
    let done: Vec<Result<_>> = edited.buffer_unordered(AT_ONCE).collect().await;
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

/// The edits of one object after another; what an object may not survive has one for itself.
fn shares<'e>(list: &'e [Edit], rules: &Rules<'_>) -> Vec<&'e [Edit]> {
    let is_last = |edit: &Edit| rules.told.iter().any(|place| edit.place.starts_with(place));
    let parts = list.chunk_by(|a, b| !is_last(a) && !is_last(b));
    parts.flat_map(|part| part.chunks(EDITS)).collect()
}

struct Work<'a> {
    rules: &'a Rules<'a>,
    object: &'a Object,
    schemas: &'a Schemas,
}

impl Work<'_> {
    async fn share(
        &self,
        edits: &[Edit],
        says: &impl AsyncFn(&Object) -> Result<bool>,
    ) -> (Counts, Vec<String>) {
        let (mut counts, mut failed) = (Counts::default(), Vec::new());
        for edit in edits {
            counts.cases += 1;
            if let Err(error) = self.one(edit, says, &mut counts).await {
                failed.push(format!("{} of {}: {error:#}", edit, self.object));
                break;
            }
        }
        (counts, failed)
    }

    async fn one(
        &self,
        edit: &Edit,
        says: &impl AsyncFn(&Object) -> Result<bool>,
        counts: &mut Counts,
    ) -> Result<()> {
        self.object.mark().await?;
        let before = self.object.look().await?.context("it is gone")?;
        let answer = self.object.make(edit, self.schemas).await?;
        let began = Instant::now();
        // The edit itself may have taken it away, with all around it.
        let is_marked = self.object.is_marked().await?;
        match answer {
            Answer::Refused => counts.refused += 1,
            Answer::Conflict => counts.conflicts += 1,
            Answer::Made { .. } => {}
        }
        let gives_up = self
            .rules
            .told
            .iter()
            .any(|place| edit.place.starts_with(place));
        let mut wrong = String::new();
        while began.elapsed() < self.rules.bound + PATIENCE {
            wrong = match self.object.look().await? {
                None => "it is gone".to_owned(),
                Some(now) => match before.missing_in(&now) {
                    None => break,
                    Some(missing) => missing,
                },
            };
            if gives_up && says(self.object).await? {
                counts.told += 1;
                return Ok(());
            }
            tokio::time::sleep(LOOK).await;
        }
        let took = began.elapsed();
        ensure!(took <= self.rules.bound, "not within {took:?}: {wrong}");
        self.additions(&answer).await?;
        let stays = self.object.is_marked().await? == is_marked;
        ensure!(stays, "what others have there was touched");
        if matches!(answer, Answer::Made { .. }) {
            counts.healed += 1;
            counts.slowest = counts.slowest.max(took);
        }
        Ok(())
    }

    /// What was added stays, unless every element is ours.
    async fn additions(&self, answer: &Answer) -> Result<()> {
        let Answer::Made { added: Some(added) } = answer else {
            return Ok(());
        };
        let is_ours = self.rules.exclusive.contains(&added.place.as_str());
        let deadline = Instant::now() + self.rules.bound;
        while Instant::now() <= deadline {
            let stays = self.object.has(added).await?;
            if is_ours && !stays {
                return Ok(());
            }
            ensure!(stays, "an addition of others is gone");
            tokio::time::sleep(LOOK).await;
        }
        ensure!(!is_ours, "an element that is not ours stays");
        Ok(())
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
