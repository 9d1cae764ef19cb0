//! Compares the alerts and dashboards in deploy/monitoring with those derived from the lifecycles,
//! and checks that they only name things that exist. `BLESS=1 cargo test --workspace --test program
//! monitoring` rewrites them. promtool runs them in operator/tests/charts/monitoring.rs.

mod alerts;
mod dashboard;
mod product;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use lifecycle_runtime::machine::ir::Phase;

use crate::generated::{check, root};
use product::{Product, QUIET};

/// The most alerts of a product: more are not read.
const MOST: usize = 12;

/// Labels that targets have, that buckets have, and that Prometheus writes itself.
const OF_TARGETS: [&str; 4] = ["job", "namespace", "pod", "le"];

const PAGE: &str = include_str!("../../../docs/deploy.md");

/// Returns the names and contents of the files of a product.
fn files(product: &Product) -> [(String, String); 3] {
    let alerts = alerts::all(product);
    let name = |ending: &str| format!("{}.{ending}", product.name);
    [
        (name("rules.yaml"), text::rules(product, &alerts)),
        (name("test.yaml"), text::tests(product, &alerts)),
        (name("dashboard.json"), dashboard::text(product)),
    ]
}

#[test]
fn alerts_and_dashboards_follow_from_the_lifecycles() {
    let folder = root().join("deploy/monitoring");
    let mut wanted = BTreeSet::new();
    for (name, text) in Product::all().iter().flat_map(files) {
        check(&folder.join(&name), &text);
        wanted.insert(name);
    }
    for entry in fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            wanted.contains(&name),
            "deploy/monitoring/{name} is of no product"
        );
    }
}

/// Returns the rows of the page's tables whose first cell has this prefix, as cells without
/// backticks.
fn rows(begin: &str) -> Vec<Vec<String>> {
    let rows = PAGE
        .lines()
        .filter(|line| line.starts_with(&format!("| `{begin}")));
    let cells = |line: &str| {
        let cells = line.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().replace('`', "")).collect()
    };
    rows.map(cells).collect()
}

/// The metrics that programs serve, as the page lists them, with their labels: another test holds that table against the text that is served.
fn served() -> BTreeMap<String, BTreeSet<String>> {
    let mut served = BTreeMap::new();
    for row in rows("lifecycle_") {
        let labels = row[2].split(", ").filter(|label| !label.is_empty());
        let labels: BTreeSet<_> = labels.map(str::to_owned).collect();
        let endings: &[&str] = match row[1].as_str() {
            "histogram" => &["_bucket", "_sum", "_count"],
            _ => &[""],
        };
        for ending in endings {
            served.insert(format!("{}{ending}", row[0]), labels.clone());
        }
    }
    assert!(served.len() > 15, "the table was not found");
    served
}

/// Returns the project's own metrics that a text names.
fn named(text: &str) -> BTreeSet<&str> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c| !is_of_name(c));
    words
        .filter(|word| word.starts_with("lifecycle_"))
        .collect()
}

#[test]
fn each_metric_that_is_named_is_served() {
    let served = served();
    for (name, text) in Product::all().iter().flat_map(files) {
        let named = named(&text);
        assert!(named.len() > 5, "{name} names {named:?}");
        for metric in named {
            assert!(
                served.contains_key(metric),
                "{name}: nothing serves {metric}"
            );
        }
    }
}

/// A test of promtool shows nothing of series that no program serves.
#[test]
fn each_series_of_a_test_has_the_labels_that_are_served() {
    let served = served();
    for product in Product::all() {
        let bad = alerts::all(&product)
            .into_iter()
            .flat_map(|alert| alert.bad);
        for series in product.healthy().into_iter().chain(bad) {
            let (metric, labels) = series.name.split_once('{').unwrap();
            let pairs = labels.trim_end_matches('}').split(',');
            let names = pairs.filter_map(|pair| pair.split_once("=\""));
            let found: BTreeSet<_> = names.map(|(name, _)| name.to_owned()).collect();
            let own: BTreeSet<_> = found
                .into_iter()
                .filter(|name| !OF_TARGETS.contains(&name.as_str()))
                .collect();
            let wanted = served.get(metric).cloned();
            assert_eq!(own, wanted.unwrap_or_default(), "{}", series.name);
        }
    }
}

/// The words of a heading, as a link names it.
fn anchor(heading: &str) -> String {
    let words = heading.to_lowercase().replace(' ', "-");
    let kept = words.chars().filter(|c| c.is_alphanumeric() || *c == '-');
    kept.collect()
}

#[test]
fn each_alert_says_what_to_do_on_a_page_that_is_there() {
    for product in Product::all() {
        let alerts = alerts::all(&product);
        assert!(alerts.len() <= MOST, "{}: {}", product.name, alerts.len());
        for alert in alerts {
            let (page, section) = alert.runbook.split_once('#').unwrap();
            let text = fs::read_to_string(root().join(page)).unwrap();
            let headings = text.lines().filter(|line| line.starts_with("##"));
            let mut anchors = headings.map(|line| anchor(line.trim_start_matches('#').trim()));
            assert!(anchors.any(|one| one == section), "{}", alert.runbook);
            assert!(!alert.fires.is_empty() && !alert.bad.is_empty());
            assert!(!alert.summary.is_empty() && !alert.description.is_empty());
        }
    }
}

/// The table of the page has each alert of either product, with its severity, and no other.
#[test]
fn the_page_lists_each_alert() {
    let products = Product::all();
    let alerts = products.iter().flat_map(alerts::all);
    let row = |name: &str, severity: &str| (name.to_owned(), severity.to_owned());
    let wanted: BTreeSet<_> = alerts.map(|one| row(one.name, one.severity)).collect();
    let (_, section) = PAGE.split_once("### Alerts\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let lines = section.lines().filter(|line| line.starts_with("| `"));
    let listed: BTreeSet<_> = lines
        .map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            assert!(cells.len() == 6 && !cells[3].is_empty() && !cells[4].is_empty());
            row(&cells[1].replace('`', ""), cells[2])
        })
        .collect();
    assert_eq!(listed, wanted);
}

#[test]
fn what_alerts_nobody_is_an_error_state() {
    for (kind, state, reason) in QUIET {
        let products = Product::all();
        let mut all = products.iter().flat_map(Product::resources);
        let is_meant = all.any(|lifecycle| {
            let mut states = lifecycle.states.iter();
            lifecycle.name == kind
                && states.any(|one| one.name == state && one.phase == Phase::Error)
        });
        assert!(
            is_meant,
            "{kind} is never {state}, which is quiet because {reason}"
        );
    }
}

/// The jobs of the rules are those that the PodMonitors of the charts name.
#[test]
fn charts_name_the_jobs_of_the_rules() {
    for product in Product::all() {
        let path = format!("deploy/charts/{}/templates/podmonitor.yaml", product.name);
        let text = fs::read_to_string(root().join(path)).unwrap();
        let jobs = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("replacement: "));
        assert_eq!(jobs.collect::<Vec<_>>(), product.jobs());
    }
}
