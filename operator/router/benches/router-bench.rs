//! Compares the router with a plain splice and a TLS-terminating splice of the same shape, in one
//! run. Each runs in a process of its own with as many threads. The measurements take turns, so
//! that other load on the machine affects all of them. `cargo bench -p lifecycle-router --
//! [--rounds N] [--seconds N]`

#![allow(clippy::unwrap_used, reason = "a benchmark may stop at once")]
#![allow(clippy::print_stdout, reason = "the figures are its output")]

#[path = "router-bench/load.rs"]
mod load;
#[path = "router-bench/process.rs"]
mod process;
#[path = "router-bench/splice.rs"]
mod splice;

use std::collections::BTreeMap;
use std::time::Duration;

use clap::Parser;
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_pcg::Pcg64;

use load::{Figures, Load, Measure};
use process::{Bench, Subject};

/// Threads of every process that is measured.
const THREADS: usize = 2;

#[derive(Parser)]
struct Options {
    /// How often everything is measured; the median counts
    #[arg(long, default_value_t = 20)]
    rounds: usize,

    /// Seconds for each measurement
    #[arg(long, default_value_t = 0.4)]
    seconds: f64,

    /// Open connections without traffic, for the memory of each
    #[arg(long, default_value_t = 2000)]
    idle: usize,

    /// Measures to run
    #[arg(long, value_enum, default_values_t = [Measure::Latency, Measure::Requests, Measure::Connections, Measure::Streams])]
    only: Vec<Measure>,

    /// Given by Cargo
    #[arg(long, hide = true)]
    bench: bool,

    /// Internal: be a splice from here to there, twice, with the certificate in this directory
    #[arg(long, num_args = 4..=5, hide = true)]
    splice: Option<Vec<String>>,
}

fn main() {
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build()
        .unwrap();
    match &options.splice {
        Some(words) => runtime.block_on(splice::run(words)),
        None => runtime.block_on(compare(&options)),
    }
}

async fn compare(options: &Options) {
    let bench = Bench::new().await;
    let mut found: BTreeMap<Subject, Vec<Figures>> = BTreeMap::new();
    memory(&bench, options.idle).await;
    let each = Duration::from_secs_f64(options.seconds);
    let mut random = Pcg64::seed_from_u64(6);
    for _ in 0..options.rounds {
        let mut order = Subject::ALL;
        order.shuffle(&mut random);
        for subject in order {
            let client = Load::new(&bench, subject);
            let figures = client.measure(each, &options.only).await;
            found.entry(subject).or_default().push(figures);
        }
    }
    println!(
        "\nMedians of {} rounds, {THREADS} threads each; in brackets the worst round.\n",
        options.rounds
    );
    println!(
        "| what | router | splice | router with TLS | splice with TLS | ratio | ratio with TLS |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    let rows = load::ROWS.into_iter();
    for (_, name, unit, more_is_better, value) in rows.filter(|row| options.only.contains(&row.0)) {
        let of = |subject| {
            let mut values: Vec<f64> = found[&subject].iter().map(value).collect();
            values.sort_by(f64::total_cmp);
            let worst = if more_is_better {
                values[0]
            } else {
                values[values.len() - 1]
            };
            (values[values.len() / 2], worst)
        };
        let all = Subject::ALL.map(of);
        let cells: Vec<String> = all
            .iter()
            .map(|(median, worst)| format!("{median:.1} {unit} ({worst:.1})"))
            .collect();
        // In each round by itself, for a round is one state of the machine.
        let ratio = |ours: Subject, theirs: Subject| {
            let rounds = found[&ours].iter().zip(&found[&theirs]);
            let mut ratios: Vec<f64> = rounds.map(|(a, b)| value(a) / value(b)).collect();
            ratios.sort_by(f64::total_cmp);
            ratios[ratios.len() / 2]
        };
        println!(
            "| {name} | {} | {:.2} | {:.2} |",
            cells.join(" | "),
            ratio(Subject::Router, Subject::Splice),
            ratio(Subject::RouterTls, Subject::SpliceTls),
        );
    }
}

/// Measures the resident memory of the router without connections, and the memory that each open
/// connection adds.
async fn memory(bench: &Bench, idle: usize) {
    let mut before = bench.resident(Subject::Router);
    println!("router, idle, just started: {before} KiB resident");
    for subject in [Subject::Router, Subject::RouterTls] {
        let client = Load::new(bench, subject);
        let mut held = Vec::new();
        for _ in 0..idle {
            let mut stream = client.connect().await;
            // It has carried something, as connections have.
            load::exchange(&mut stream, 1024).await;
            held.push(stream);
        }
        let after = bench.resident(Subject::Router);
        let each = (after.saturating_sub(before)) as f64 / idle as f64;
        println!("{subject:?}: {idle} idle connections: {after} KiB, {each:.1} KiB more each");
        drop(held);
        tokio::time::sleep(Duration::from_secs(1)).await;
        before = bench.resident(Subject::Router);
        println!("{subject:?}: they are gone: {before} KiB");
    }
}
