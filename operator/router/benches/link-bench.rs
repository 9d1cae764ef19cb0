//! Routers over one link and over two, beside chains of splices with pooled TLS connections of the same shape, and beside a bare
//! multiplexer over one TLS connection: each in processes of its own, measured in turns.
//! `cargo bench -p lifecycle-router --bench link-bench -- [--rounds N] [--seconds N]`

#![allow(clippy::unwrap_used, reason = "a benchmark may stop at once")]
#![allow(clippy::print_stdout, reason = "the figures are its output")]

#[path = "router-bench/load.rs"]
mod load;
#[path = "link-bench/multiplexer.rs"]
mod multiplexer;
#[path = "link-bench/pool.rs"]
mod pool;
#[path = "link-bench/process.rs"]
mod process;
#[path = "link-bench/secure.rs"]
mod secure;

use std::collections::BTreeMap;
use std::time::Duration;

use clap::Parser;
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_pcg::Pcg64;

use load::{Figures, Load, Measure};
use process::{Bench, Relay, Subject};

/// Threads of every process that is measured.
const THREADS: usize = 2;

#[derive(Parser)]
struct Options {
    /// How often everything is measured; the median counts
    #[arg(long, default_value_t = 10)]
    rounds: usize,

    /// Seconds for each measurement
    #[arg(long, default_value_t = 0.4)]
    seconds: f64,

    /// Open connections without traffic over two links, for the memory of each
    #[arg(long, default_value_t = 1000)]
    idle: usize,

    /// Measures to run
    #[arg(long, value_enum, default_values_t = [Measure::Latency, Measure::Requests, Measure::Connections, Measure::Streams])]
    only: Vec<Measure>,

    /// Given by Cargo
    #[arg(long, hide = true)]
    bench: bool,

    /// Internal: role of the process
    #[arg(long, value_enum, hide = true)]
    relay: Option<Relay>,

    /// Internal: the certificates, and from where to where, twice
    #[arg(hide = true)]
    words: Vec<String>,
}

fn main() {
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build()
        .unwrap();
    match options.relay {
        Some(relay) => runtime.block_on(relay.run(&options.words)),
        None => runtime.block_on(compare(&options)),
    }
}

async fn compare(options: &Options) {
    let bench = Bench::new().await;
    memory(&bench, options.idle).await;
    let mut found: BTreeMap<Subject, Vec<Figures>> = BTreeMap::new();
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
        "\nMedians of {} rounds, {THREADS} threads each; ratios are medians of those in each round.\n",
        options.rounds
    );
    println!(
        "| what | router, 1 link | splices, 1 link | multiplexer, 1 link | router, 2 links | splices, 2 links | to splices, 1 link | to multiplexer | to splices, 2 links |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let rows = load::ROWS.into_iter();
    for (_, name, unit, _, value) in rows.filter(|row| options.only.contains(&row.0)) {
        let median = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        let cells = Subject::ALL.map(|subject| {
            let value = median(found[&subject].iter().map(value).collect());
            format!("{value:.1} {unit}")
        });
        // In each round by itself, for a round is one state of the machine.
        let ratio = |ours: Subject, theirs: Subject| {
            let rounds = found[&ours].iter().zip(&found[&theirs]);
            median(rounds.map(|(a, b)| value(a) / value(b)).collect())
        };
        println!(
            "| {name} | {} | {:.2} | {:.2} | {:.2} |",
            cells.join(" | "),
            ratio(Subject::RouterOne, Subject::SpliceOne),
            ratio(Subject::RouterOne, Subject::Multiplexer),
            ratio(Subject::RouterTwo, Subject::SpliceTwo),
        );
    }
}

/// Resident memory of the routers in a row, without connections, and with many that carry nothing.
async fn memory(bench: &Bench, idle: usize) {
    println!(
        "routers in a row, idle: {:?} KiB resident",
        bench.resident()
    );
    let client = Load::new(bench, Subject::RouterTwo);
    let mut held = Vec::new();
    for _ in 0..idle {
        let mut stream = client.connect().await;
        load::exchange(&mut stream, 1024).await;
        held.push(stream);
    }
    println!("with {idle} idle connections: {:?} KiB", bench.resident());
    drop(held);
    tokio::time::sleep(Duration::from_secs(1)).await;
    println!("they are gone: {:?} KiB", bench.resident());
}
