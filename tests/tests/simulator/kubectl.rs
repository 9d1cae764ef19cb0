//! Commands as people type them. Each script runs a real `kubectl` against the simulated server,
//! served as the sandbox serves it, and against a real kube-apiserver. Commands must end as the
//! script specifies on both. They must also print equal output on both, except for values that
//! servers may choose.

mod known;
mod neutral;
mod script;
mod servers;

use std::fmt::Write;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use lifecycle_tests::harness::{Case, Need, case};

use known::Known;
use neutral::Neutral;
use script::{CommandOutput, Script};
pub(crate) use servers::Servers;

/// Returns the suite on these servers. The caller keeps the servers until all of it has run: a
/// script must not drop the last reference.
pub(crate) fn cases(servers: &Arc<Servers>) -> Vec<Case> {
    let scripts = match Script::read_all() {
        Ok(scripts) => scripts,
        // A test that cannot be read is one that fails.
        Err(error) => {
            let told = format!("{error:#}");
            let fails = move || async move { bail!("{told}") };
            return vec![case("scripts_can_be_read", &[], fails)];
        }
    };
    let cases = scripts.into_iter().map(|script| {
        let servers = Arc::clone(servers);
        case(
            &script.name.clone(),
            &[Need::Binaries],
            move || async move { compare(script, &servers).await },
        )
    });
    cases.collect()
}

async fn compare(script: Script, servers: &Servers) -> Result<()> {
    let script = Arc::new(script);
    let [ours, theirs] = servers.places(&script.name).await?.map(|place| {
        let script = script.clone();
        tokio::task::spawn_blocking(move || script.play(&place))
    });
    let theirs = theirs.await?.context("on the real server")?;
    let ours = ours.await?.context("on the simulated server")?;
    let mut known = Known::for_script(&script.name);
    let mut text = String::new();
    let neutral = Neutral::default();
    for (ours, theirs) in ours.iter().zip(&theirs) {
        let found = differences(&neutral, ours, theirs);
        if !found.is_empty() && !known.explains(&ours.command) {
            let _ = write!(text, "{}\n{found}", ours.command);
        }
    }
    ensure!(
        text.is_empty(),
        "simulated (-) and real (+) differ:\n{text}"
    );
    known.check_used()
}

/// Returns the differences between two runs of a command, as lines.
fn differences(neutral: &Neutral, ours: &CommandOutput, theirs: &CommandOutput) -> String {
    let mut text = String::new();
    if ours.code != theirs.code {
        let _ = writeln!(
            text,
            "  - exits with {}\n  + exits with {}",
            ours.code, theirs.code
        );
    }
    for (ours, theirs) in [(&ours.out, &theirs.out), (&ours.err, &theirs.err)] {
        let (ours, theirs) = (neutral.normalise(ours), neutral.normalise(theirs));
        let (left, right): (Vec<&str>, Vec<&str>) =
            (ours.lines().collect(), theirs.lines().collect());
        let same = left.iter().zip(&right).take_while(|(l, r)| l == r).count();
        let (left, right) = (&left[same..], &right[same..]);
        let end = left.iter().rev().zip(right.iter().rev());
        let end = end.take_while(|(l, r)| l == r).count();
        for line in &left[..left.len() - end] {
            let _ = writeln!(text, "  - {line}");
        }
        for line in &right[..right.len() - end] {
            let _ = writeln!(text, "  + {line}");
        }
    }
    text
}
