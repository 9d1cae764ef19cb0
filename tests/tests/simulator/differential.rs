//! Random request sequences sent to the simulated and to the real API server: answers and final objects must be equal.
//! `LIFECYCLE_SEQUENCES=0..10000` chooses the seeds; a difference prints its seed, the smallest sequence, both answers.

mod end;
mod generate;
mod judged;
mod kinds;
mod known;
mod normal;
mod plan;
mod shrink;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use futures::stream::{self, StreamExt};
use lifecycle_simulator::server::{Server, User};
use lifecycle_tests::api_server::ApiServer;
use lifecycle_tests::harness::{Case, Need, case, case_within};
use lifecycle_tests::mistakes::Mistake;
use lifecycle_tests::mistakes::table::{self, Instrument, Verdict};

use end::End;
use normal::Difference;
use plan::Sequence;

/// Names the seeds, such as `0..10000`.
const SEQUENCES: &str = "LIFECYCLE_SEQUENCES";

/// Seeds that CI runs.
const USUAL: Range<u64> = 0..250;

/// Sequences under way at once; the real server waits for its store most of the time.
const AT_ONCE: usize = 8;

/// Maximum number of differences that are printed. One cause usually shows in many sequences.
const SHOWN: usize = 40;

/// Ten thousand sequences beside a busy compiler.
const WITHIN: Duration = Duration::from_secs(4 * 3600);

/// A run of many seeds reports itself while it goes on.
const REPORT: u64 = 500;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case_within(
            "random_sequences_get_the_same_answers_from_both_servers",
            &[Need::Binaries],
            WITHIN,
            compare,
        ),
        case(
            "values_and_schemas_are_judged_alike_by_both_servers",
            &[Need::Binaries],
            judge,
        ),
        case(
            "what_is_changed_between_is_found_as_the_table_says",
            &[Need::Binaries],
            each_mistake,
        ),
    ]
}

/// Both servers, with the definitions of the custom kinds.
struct ServerPair {
    real: End,
    simulated: End,
    namespaces: AtomicU64,
}

async fn judge() -> Result<()> {
    let api_server = ApiServer::start().await?;
    let real = End::new(api_server.client());
    let simulated = End::new(Server::new(0).client(&User::admin()));
    judged::compare(&real, &simulated).await
}

/// Sequences that are tried for each seeded bug.
const OF_MISTAKES: Range<u64> = 0..64;

/// Each mistake of the list that is one of a line, between us and the simulated server: its column of the table in `docs/suite.md`.
async fn each_mistake() -> Result<()> {
    let api_server = ApiServer::start().await?;
    kinds::install(&End::new(api_server.client())).await?;
    let mut verdicts = BTreeMap::new();
    for (number, mistake) in (0..).zip(Mistake::all()) {
        let verdict = if mistake.is_on_the_line() {
            let server = Server::new(0);
            kinds::install(&End::new(server.client(&User::admin()))).await?;
            let changed = mistake.line("", server.client(&User::admin()));
            let both = ServerPair {
                real: End::new(api_server.client()),
                simulated: End::new(changed),
                namespaces: AtomicU64::new(number * OF_MISTAKES.end),
            };
            both.tells_apart(mistake).await?
        } else {
            Verdict::NotPlanted("nothing runs a lifecycle")
        };
        verdicts.insert(mistake, verdict);
    }
    table::hold(Instrument::Differential, &verdicts);
    Ok(())
}

async fn compare() -> Result<()> {
    let seeds = seeds(std::env::var(SEQUENCES).ok().as_deref())?;
    let api_server = ApiServer::start().await?;
    let server = Server::new(0);
    let both = Arc::new(ServerPair {
        real: End::new(api_server.client()),
        simulated: End::new(server.client(&User::admin())),
        namespaces: AtomicU64::new(0),
    });
    for end in [&both.real, &both.simulated] {
        kinds::install(end).await?;
    }
    let begun = Instant::now();
    let (mut done, mut requests, mut known) = (0, 0, BTreeMap::<&str, u64>::new());
    let mut found: Vec<(u64, Sequence, Difference)> = Vec::new();
    let all = seeds.clone().map(|seed| {
        let both = Arc::clone(&both);
        async move { (seed, generate::sequence(seed), both) }
    });
    let mut outcomes = stream::iter(all)
        .map(async |next| {
            let (seed, sequence, both) = next.await;
            let outcome = both.differ(&sequence).await;
            (seed, sequence, outcome)
        })
        .buffer_unordered(AT_ONCE);
    while let Some((seed, sequence, outcome)) = outcomes.next().await {
        done += 1;
        requests += sequence.len() as u64;
        match outcome.with_context(|| format!("seed {seed}"))? {
            None => {}
            Some(difference) => match known::reason(&difference) {
                Some(reason) => *known.entry(reason).or_default() += 1,
                None => {
                    eprintln!("seed {seed} differs: {}", difference.kind());
                    found.push((seed, sequence, difference));
                }
            },
        }
        if done % REPORT == 0 {
            eprintln!(
                "{done} sequences, {} differ, {:.0?}",
                found.len(),
                begun.elapsed()
            );
        }
    }
    eprintln!(
        "{done} sequences, {requests} requests to each server, {:.1?}",
        begun.elapsed()
    );
    for (reason, count) in known {
        eprintln!("explained, {count} sequences: {reason}");
    }
    if found.is_empty() {
        return Ok(());
    }
    found.sort_by_key(|(seed, ..)| *seed);
    bail!("{}", report(&both, found).await?)
}

/// The differences, one of each sort, with the smallest sequence that still shows it.
async fn report(both: &ServerPair, found: Vec<(u64, Sequence, Difference)>) -> Result<String> {
    let mut sorts: BTreeMap<String, Vec<(u64, Sequence, Difference)>> = BTreeMap::new();
    let total = found.len();
    for (seed, sequence, difference) in found {
        sorts
            .entry(difference.kind())
            .or_default()
            .push((seed, sequence, difference));
    }
    let mut text = format!("{total} sequences differ, of {} sorts\n", sorts.len());
    let mut sorts: Vec<_> = sorts.into_iter().collect();
    sorts.sort_by_key(|(_, all)| std::cmp::Reverse(all.len()));
    for (sort, all) in sorts.into_iter().take(SHOWN) {
        let seeds: Vec<String> = all
            .iter()
            .take(8)
            .map(|(seed, ..)| seed.to_string())
            .collect();
        let Some((seed, sequence, difference)) = all.into_iter().next() else {
            continue;
        };
        let (sequence, difference) = shrink::smallest(both, sequence, difference).await?;
        text += &format!(
            "\n== {sort}\nseeds {}, seed {seed} made small:\n{sequence}{difference}\n",
            seeds.join(" ")
        );
    }
    Ok(text)
}

impl ServerPair {
    /// Returns the verdict on a seeded bug, which is found if any sequence shows it.
    async fn tells_apart(&self, mistake: Mistake) -> Result<Verdict> {
        let all = stream::iter(OF_MISTAKES).map(async |seed| {
            let difference = self.differ(&generate::sequence(seed)).await;
            (seed, difference)
        });
        let mut all = std::pin::pin!(all.buffer_unordered(AT_ONCE));
        while let Some((seed, difference)) = all.next().await {
            // A failure that prevents the end of a sequence is also detected.
            let said = match difference {
                Ok(None) => continue,
                Ok(Some(difference)) if known::reason(&difference).is_some() => continue,
                Ok(Some(difference)) => difference.kind(),
                Err(error) => format!("{error:#}"),
            };
            eprintln!("{mistake:?}: sequence {seed} shows it: {said}");
            return Ok(Verdict::Found("another answer".to_owned()));
        }
        eprintln!("{mistake:?}: nothing shows it");
        Ok(Verdict::Missed)
    }

    /// Sends a sequence to both, each in a new namespace, and returns their first difference.
    async fn differ(&self, sequence: &Sequence) -> Result<Option<Difference>> {
        let number = self.namespaces.fetch_add(1, Ordering::Relaxed);
        let namespace = format!("n{number}");
        let real = self.real.run(&namespace, sequence).await?;
        let simulated = self.simulated.run(&namespace, sequence).await?;
        Ok(normal::difference(sequence, real, simulated))
    }
}

fn seeds(value: Option<&str>) -> Result<Range<u64>> {
    let Some(value) = value else { return Ok(USUAL) };
    let range = value
        .split_once("..")
        .and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    range.with_context(|| format!("{SEQUENCES} is `{value}`; it is written as `0..10000`"))
}

/// A request that takes longer has hung.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);
