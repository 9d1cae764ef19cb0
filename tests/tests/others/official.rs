//! Conformance tests of Kubernetes in the group api-machinery, unchanged, against the simulated
//! cluster. The list `official.txt` names exactly the tests that pass. `docs/conformance.md` is
//! generated from it. A check compares the page with the list without running the tests.

mod outcome;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use lifecycle_tests::binaries;
use lifecycle_tests::harness::{Case, Need, calculation, case_within, eventually};
use lifecycle_tests::mistakes::table::between_in;
use serde_json::Value;

use crate::place::TestCluster;
use outcome::Outcome;

const PROGRAM: &str = "e2e.test";
const NEEDS: &[Need] = &[Need::Root, Need::Other(PROGRAM), Need::Binaries];

/// Time limit. Tests that wait for an event that never happens each use their own timeout.
const LIMIT: Duration = Duration::from_secs(3600);

/// How their names begin, and how they end.
const GROUP: &str = "[sig-api-machinery] ";
const MARK: &str = "[Conformance]";

pub(crate) fn cases() -> Vec<Case> {
    vec![
        calculation("the_page_says_what_the_list_says", page),
        case_within(
            "the_tests_that_pass_are_those_of_the_list",
            NEEDS,
            LIMIT,
            tests,
        ),
    ]
}

/// Outcome of each test, by its name.
type Outcomes = BTreeMap<String, Outcome>;

fn listed() -> Outcomes {
    let list = fs::read_to_string(list_file()).expect("the list can be read");
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (word, name) = line.split_once(": ").expect("an outcome and a name");
            (name.to_owned(), Outcome::read(word).expect("an outcome"))
        })
        .collect()
}

async fn tests() -> Result<()> {
    let place = TestCluster::simulated().await?;
    let names = names(&place).await?;
    let runs = names.iter().filter(|name| Outcome::known(name).is_none());
    let ended = run_tests(&place, "run", &focus(runs)).await?;
    let mut found = Outcomes::new();
    for name in names {
        let outcome = match (Outcome::known(&name), ended.get(&name)) {
            (Some(outcome), _) => outcome,
            (None, Some(state)) => Outcome::from_state(state),
            (None, None) => bail!("it was not run: {name}"),
        };
        found.insert(name, outcome);
    }
    if std::env::var_os("BLESS").is_some() {
        return fs::write(list_file(), written(&found)).context("cannot write the list");
    }
    let listed = listed();
    let differs = |(name, outcome): &(&String, &Outcome)| listed.get(*name) != Some(*outcome);
    let differ: Vec<_> = found.iter().filter(differs).collect();
    ensure!(
        differ.is_empty() && found.len() == listed.len(),
        "the list differs; run this test once with BLESS=1: {differ:#?}"
    );
    Ok(())
}

/// All that there are.
async fn names(place: &TestCluster) -> Result<Vec<String>> {
    let all = run_tests(place, "names", &["--ginkgo.dry-run".to_owned()]).await?;
    let names = all.into_keys();
    let names = names.filter(|name| name.starts_with(GROUP) && name.ends_with(MARK));
    let names: Vec<String> = names.collect();
    ensure!(names.len() > 50, "the tests were not found");
    Ok(names)
}

fn focus<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    names
        .map(|name| format!("--ginkgo.focus={}", regex::escape(name)))
        .collect()
}

/// Runs the tests that these arguments choose, and returns the state of each by its name.
async fn run_tests(
    place: &TestCluster,
    run: &str,
    chosen: &[String],
) -> Result<BTreeMap<String, String>> {
    let report = place.folder().join(format!("{run}.json"));
    let kubectl = binaries::locate()?.kubectl();
    let mut arguments = vec![
        "--provider=skeleton".to_owned(),
        format!("--kubectl-path={}", kubectl.display()),
        format!("--ginkgo.json-report={}", report.display()),
        "--dump-logs-on-failure=false".to_owned(),
        // That waits for a file which only containers mount.
        "--e2e-verify-service-account=false".to_owned(),
        "--ginkgo.seed=1".to_owned(),
        "--ginkgo.no-color".to_owned(),
        "--ginkgo.timeout=1h".to_owned(),
    ];
    arguments.extend(chosen.iter().cloned());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let program = tokio::sync::Mutex::new(place.run(PROGRAM, &arguments)?);
    let end = async || program.lock().await.exit_status();
    eventually("they are done", LIMIT, end).await?;
    let program = program.into_inner();
    if let Some(folder) = std::env::var_os("LIFECYCLE_LOGS") {
        fs::write(Path::new(&folder).join(format!("{run}.log")), program.log())?;
    }
    let text = fs::read(&report).map_err(|_| program.failure("wrote no report"))?;
    let reports: Value = serde_json::from_slice(&text)?;
    let specs = reports[0]["SpecReports"].as_array().context("specs")?;
    Ok(specs.iter().map(state).collect())
}

/// The name of a test and how it ended.
fn state(spec: &Value) -> (String, String) {
    let around = spec["ContainerHierarchyTexts"].as_array();
    let words = around.into_iter().flatten().chain([&spec["LeafNodeText"]]);
    let words: Vec<&str> = words.filter_map(Value::as_str).collect();
    let state = spec["State"].as_str().unwrap_or_default();
    (words.join(" "), state.to_owned())
}

fn list_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/others/official.txt")
}

fn written(outcomes: &Outcomes) -> String {
    let mut text = "# What the conformance tests of the group api-machinery say of the simulated cluster; see `docs/conformance.md`.\n".to_owned();
    for (name, outcome) in outcomes {
        let _ = writeln!(text, "{}: {name}", outcome.keyword());
    }
    text
}

fn page() {
    let listed = listed();
    between_in("conformance.md", "official tests", |_| {
        let number = |of| listed.values().filter(|outcome| **outcome == of).count();
        let mut text = "| outcome | tests |\n| --- | --- |\n".to_owned();
        for outcome in Outcome::ALL {
            let _ = writeln!(text, "| {} | {} |", outcome.label(), number(outcome));
        }
        let _ = writeln!(text, "| all | {} |\n", listed.len());
        text.push_str("| does not pass | why |\n| --- | --- |\n");
        for (group, why, number) in outcome::groups(&listed) {
            let group = group
                .trim_end_matches(" [")
                .replace("[Privileged:ClusterAdmin] ", "");
            let _ = writeln!(text, "| {group} ({number}) | {why} |");
        }
        text
    });
}
