//! Cost of Listeners for our operator, for the same operator on kube-rs alone, and for a client
//! that sends only the indispensable requests. Each runs in a process of its own, in turns, on a
//! server of its own. Prints one table: requests and processor time per Listener, and the total
//! duration.
//!
//! `--simulated` takes the simulated server in place of a real one, `--listeners 1,100` chooses how many, `--rounds` how often, and `--settled` for how
//! many seconds they are left alone in the first round.

#![allow(clippy::print_stdout, reason = "printing is what it is for")]

#[path = "beside/course.rs"]
mod course;
#[path = "beside/floor.rs"]
mod floor;
#[path = "beside/place.rs"]
mod place;
#[path = "beside/plain.rs"]
mod plain;
#[path = "beside/process.rs"]
mod process;
#[path = "beside/subject.rs"]
mod subject;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use course::{Cost, Course};
use place::BenchServer;
use subject::Subject;
use tokio::runtime::Runtime;

fn main() -> Result<()> {
    // `cargo bench` adds it.
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    if let [first, word] = &words[..]
        && first == "run"
    {
        let subject = subject_of(word).with_context(|| format!("`{word}` is not known"))?;
        return run(subject);
    }
    Runtime::new()?.block_on(compare(&Options::parse(&words)?))
}

/// Runs a subject on the runtime of its author: ours on the one of our programs, the others on the
/// one of `#[tokio::main]`.
fn run(subject: Subject) -> Result<()> {
    let work = async { subject.run(lifecycle_client::kube::connect().await?).await };
    match subject {
        Subject::Ours => lifecycle_cli::process::until_done(work)?,
        Subject::Floor | Subject::Plain | Subject::Cached => Runtime::new()?.block_on(work),
    }
}

fn subject_of(word: &str) -> Option<Subject> {
    Subject::ALL.into_iter().find(|one| one.name() == word)
}

/// Options of the comparison.
struct Options {
    real: bool,
    listeners: Vec<usize>,
    rounds: usize,
    settled: u64,
    subjects: Vec<Subject>,
}

impl Options {
    fn parse(words: &[String]) -> Result<Self> {
        let mut options = Self {
            real: true,
            listeners: vec![1, 100, 1000],
            rounds: 3,
            settled: 30,
            subjects: Subject::ALL.to_vec(),
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word == "--simulated" {
                options.real = false;
                continue;
            }
            let value = words.next();
            let value = value.with_context(|| format!("`{word}` needs a value"))?;
            match word.as_str() {
                "--listeners" => {
                    let all = value.split(',').map(str::parse);
                    options.listeners = all.collect::<Result<_, _>>()?;
                }
                "--rounds" => options.rounds = value.parse()?,
                "--settled" => options.settled = value.parse()?,
                "--only" => {
                    let all = value.split(',').map(subject_of);
                    let all: Option<_> = all.collect();
                    options.subjects =
                        all.context("expected one or more of floor, ours, plain and cached")?;
                }
                _ => bail!("`{word}` is not known; see the beginning of beside.rs"),
            }
        }
        Ok(options)
    }
}

async fn compare(options: &Options) -> Result<()> {
    let server = if options.real { "real" } else { "simulated" };
    let profile = match cfg!(debug_assertions) {
        true => "debug",
        false => "release",
    };
    println!(
        "{server} API server, {profile} build, medians of {} rounds in turns\n",
        options.rounds
    );
    println!(
        "| Listeners | who | made: requests each | CPU each | until all are Ready | left alone {} s: requests | CPU | \
         another class: requests each | CPU each | time | restart: requests | CPU | time |",
        options.settled
    );
    println!("|{}", " --- |".repeat(13));
    for &many in &options.listeners {
        let mut courses: BTreeMap<Subject, Vec<Course>> = BTreeMap::new();
        for round in 0..options.rounds {
            let first = Duration::from_secs(options.settled);
            let settled = (round == 0 && !first.is_zero()).then_some(first);
            for at in 0..options.subjects.len() {
                let subject = options.subjects[(at + round) % options.subjects.len()];
                let place = BenchServer::start(options.real).await?;
                let course = course::run(&place, subject, many, settled).await;
                let course = course.with_context(|| format!("{}, {many}", subject.name()))?;
                eprintln!("{many} {}: {course:?}", subject.name());
                courses.entry(subject).or_default().push(course);
            }
        }
        for (subject, courses) in courses {
            println!("{}", row(many, subject, &courses));
        }
    }
    Ok(())
}

fn row(many: usize, subject: Subject, courses: &[Course]) -> String {
    let of = |phase: fn(&Course) -> Cost| Cost {
        requests: median(courses, |course| phase(course).requests),
        cpu: median(courses, |course| phase(course).cpu) * 1000.0,
        time: median(courses, |course| phase(course).time),
    };
    let (creation, change) = (of(|c| c.creation), of(|c| c.change));
    let (restart, settled) = (of(|c| c.restart), courses.iter().find_map(|c| c.settled));
    let settled = settled.unwrap_or_default();
    #[allow(clippy::cast_precision_loss, reason = "far below 2^52")]
    let each = many as f64;
    let cells = [
        many.to_string(),
        subject.name().to_owned(),
        format!("{:.2}", creation.requests / each),
        format!("{:.2} ms", creation.cpu / each),
        format!("{:.2} s", creation.time),
        format!("{:.0}", settled.requests),
        format!("{:.0} ms", settled.cpu * 1000.0),
        format!("{:.2}", change.requests / each),
        format!("{:.2} ms", change.cpu / each),
        format!("{:.2} s", change.time),
        format!("{:.0}", restart.requests),
        format!("{:.0} ms", restart.cpu),
        format!("{:.2} s", restart.time),
    ];
    format!("| {} |", cells.join(" | "))
}

fn median(courses: &[Course], of: impl Fn(&Course) -> f64) -> f64 {
    let mut all: Vec<f64> = courses.iter().map(of).collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}
