//! Table that the check prints at the end.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Failure, MOST, Program, Verdict};

/// How many of the slowest programs are listed.
const SLOWEST: usize = 10;

/// Time that the runs of one program took, in seconds, with that of the processes it started.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Time {
    /// Wall-clock time.
    pub wall: f64,
    /// Time of all cores.
    pub cpu: f64,
}

/// Reads the lines that `.ci/measure` writes, `WALL CPU EXECUTABLE`, into the sum of each program.
pub fn times(text: &str, sources: &BTreeMap<String, String>) -> BTreeMap<String, Time> {
    let mut times: BTreeMap<String, Time> = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.splitn(3, ' ');
        let mut number = || words.next().and_then(|word| word.parse::<f64>().ok());
        let (Some(wall), Some(cpu)) = (number(), number()) else {
            continue;
        };
        let executable = words.next().unwrap_or_default();
        let name = executable.rsplit('/').next().unwrap_or(executable);
        let source = sources.get(name).map_or(name, String::as_str);
        let time = times.entry(source.to_owned()).or_default();
        time.wall += wall;
        time.cpu += cpu;
    }
    times
}

/// Renders the table: tests, failures, tests that passed only when rerun, and the slowest programs.
pub fn render(
    programs: &[Program],
    verdict: &Verdict,
    left_out: &[String],
    times: &BTreeMap<String, Time>,
) -> String {
    let mut text = String::new();
    let sum = |count: fn(&Program) -> usize| programs.iter().map(count).sum::<usize>();
    let (passed, failed) = (sum(|p| p.passed), sum(|p| p.failed));
    let ignored = sum(|p| p.ignored);
    line(
        &mut text,
        &format!("tests: {passed} passed, {failed} failed, {ignored} ignored"),
    );
    list(&mut text, "failed", &verdict.failed);
    if verdict.failed.iter().filter(|f| f.test.is_some()).count() > MOST {
        line(
            &mut text,
            &format!("  more than {MOST} tests that wait failed: none was rerun"),
        );
    }
    list(
        &mut text,
        "passed only when rerun",
        &verdict.passed_when_rerun,
    );
    for failure in &verdict.passed_when_rerun {
        let test = failure.test.as_deref().unwrap_or_default();
        let entry = format!("YYYY-MM-DD {} {test}: CAUSE", failure.program);
        line(&mut text, &format!("  for tests/flaky.txt: {entry}"));
    }
    if !left_out.is_empty() {
        line(&mut text, "left out:");
        for finding in left_out {
            line(&mut text, &format!("  {finding}"));
        }
    }
    slowest(&mut text, times);
    text
}

fn list(text: &mut String, title: &str, failures: &[Failure]) {
    if failures.is_empty() {
        return line(text, &format!("{title}: none"));
    }
    line(text, &format!("{title}: {}", failures.len()));
    for failure in failures {
        let test = failure.test.as_deref().unwrap_or("the whole program");
        line(text, &format!("  {} {test}", failure.program));
        for output in failure.output.lines() {
            line(text, &format!("      {output}"));
        }
    }
}

fn slowest(text: &mut String, times: &BTreeMap<String, Time>) {
    let mut programs: Vec<_> = times.iter().collect();
    programs.sort_by(|(_, a), (_, b)| b.wall.total_cmp(&a.wall));
    line(text, "slowest programs, in seconds of wall and of CPU:");
    for (source, time) in programs.iter().take(SLOWEST) {
        line(
            text,
            &format!("{:>9.1}{:>9.1}  {source}", time.wall, time.cpu),
        );
    }
    let wall: f64 = times.values().map(|time| time.wall).sum();
    let cpu: f64 = times.values().map(|time| time.cpu).sum();
    line(
        text,
        &format!("{wall:>9.1}{cpu:>9.1}  all {} programs", times.len()),
    );
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a String takes every line");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runs_of_a_program_are_added_up() {
        let sources = BTreeMap::from([("e2e-2".to_owned(), "operator/e2e/main.rs".to_owned())]);
        let text = "10.5 20 /t/e2e-2\n0.5 1 /t/e2e-2\nnonsense\n1 1 /t/other-3\n";
        let times = times(text, &sources);
        let e2e = times["operator/e2e/main.rs"];
        assert_eq!((e2e.wall, e2e.cpu), (11.0, 21.0));
        assert_eq!(times.len(), 2);
    }

    #[test]
    fn the_table_names_what_failed_and_what_passed_only_when_rerun() {
        let failure = |test: &str| Failure {
            program: "operator/router/tests/link.rs".to_owned(),
            test: Some(test.to_owned()),
            output: "not within 10 s\nlast".to_owned(),
        };
        let verdict = Verdict {
            failed: vec![failure("broken")],
            passed_when_rerun: vec![failure("flaky")],
            ..Verdict::default()
        };
        let text = render(
            &[],
            &verdict,
            &["a: left out 3 tests".to_owned()],
            &BTreeMap::new(),
        );
        for expected in [
            "failed: 1\n  operator/router/tests/link.rs broken\n      not within 10 s\n      last\n",
            "passed only when rerun: 1\n  operator/router/tests/link.rs flaky\n",
            "  for tests/flaky.txt: YYYY-MM-DD operator/router/tests/link.rs flaky: CAUSE\n",
            "left out:\n  a: left out 3 tests\n",
        ] {
            assert!(text.contains(expected), "{text}");
        }
    }

    #[test]
    fn ten_programs_are_listed_slowest_first() {
        let time = |wall: u32| Time {
            wall: wall.into(),
            cpu: 1.0,
        };
        let times = (0..12)
            .map(|wall| (format!("program {wall}"), time(wall)))
            .collect();
        let text = render(&[], &Verdict::default(), &[], &times);
        assert!(text.contains("failed: none\npassed only when rerun: none\n"));
        let listed: Vec<&str> = text.lines().filter(|l| l.contains("  program ")).collect();
        assert_eq!(listed.len(), 10);
        assert!(listed[0].ends_with("program 11") && listed[9].ends_with("program 2"));
        assert!(
            text.ends_with("     66.0     12.0  all 12 programs\n"),
            "{text}"
        );
    }
}
