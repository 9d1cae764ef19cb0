//! The text, its names, and the table of the page that lists them.

use std::collections::BTreeSet;

use lifecycle_runtime::machine::ir::{Code, Rpc};

use super::*;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/deploy.md");

/// One of everything.
fn full() -> String {
    let mut counts = Counts {
        passes_of_gone: 3,
        polls: 2,
        due: 4,
        leads: Some(true),
        lease: Some("web".to_owned()),
        ..Counts::default()
    };
    counts.writes.insert(["Web", "apply \"a\"", "done"], 5);
    counts.outcomes.insert(("Web", "effect"), 6);
    counts.states.insert(("Web", "Ready"), 7);
    counts.transitions.insert(["Web", "Waiting", "Ready"], 8);
    counts.overdue.insert("Web", 9);
    counts.latency.sum = Duration::from_millis(1500);
    counts.latency.counts[1] = 2;
    counts.latency.counts[9] = 1;
    let silence = Duration::from_millis(2500);
    counts.silence.insert("Service".to_owned(), silence);
    counts.calls.insert((Rpc::NodePublishVolume, None), 10);
    let refused = (Rpc::CreateVolume, Some(Code::NotFound));
    counts.calls.insert(refused, 11);
    let requests = [(("get", Some(200)), 12), (("watch", None), 13)].into();
    let snapshot = Snapshot {
        is_ready: true,
        counts,
        requests,
    };
    snapshot.text().unwrap()
}

#[test]
fn each_number_is_a_sample_with_its_labels() {
    let text = full();
    for line in [
        "# TYPE lifecycle_polls_total counter",
        "# TYPE lifecycle_objects gauge",
        "lifecycle_ready 1",
        "lifecycle_leader{lease=\"web\"} 1",
        "lifecycle_passes_total 3",
        "lifecycle_polls_total 2",
        "lifecycle_queue_depth 4",
        "lifecycle_writes_total{kind=\"Web\",what=\"apply \\\"a\\\"\",ended=\"done\"} 5",
        "lifecycle_reconciles_total{kind=\"Web\",outcome=\"effect\"} 6",
        "lifecycle_objects{kind=\"Web\",state=\"Ready\"} 7",
        "lifecycle_transitions_total{kind=\"Web\",from=\"Waiting\",to=\"Ready\"} 8",
        "lifecycle_overdue{kind=\"Web\"} 9",
        "lifecycle_queue_latency_seconds_sum 1.5",
        "lifecycle_queue_latency_seconds_count 3",
        "lifecycle_queue_latency_seconds_bucket{le=\"0.001\"} 0",
        "lifecycle_queue_latency_seconds_bucket{le=\"120\"} 2",
        "lifecycle_queue_latency_seconds_bucket{le=\"+Inf\"} 3",
        "lifecycle_watch_age_seconds{kind=\"Service\"} 2.5",
        "lifecycle_csi_calls_total{method=\"NodePublishVolume\",code=\"OK\"} 10",
        "lifecycle_csi_calls_total{method=\"CreateVolume\",code=\"NotFound\"} 11",
        "lifecycle_api_requests_total{verb=\"get\",code=\"200\"} 12",
        "lifecycle_api_requests_total{verb=\"watch\",code=\"error\"} 13",
    ] {
        assert!(text.lines().any(|one| one == line), "no {line} in\n{text}");
    }
}

/// Name, type and labels of each family that is written.
fn written(text: &str) -> BTreeSet<(String, String, String)> {
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let family = |line: &str| {
        let (name, of) = line.split_once(' ').unwrap();
        let suffix = if of == "histogram" { "_bucket" } else { "" };
        let sample = format!("{name}{suffix}{{");
        let labels = text.lines().find_map(|line| line.strip_prefix(&sample));
        let labels = labels.map(|rest| {
            let pairs = rest.split("\",").filter_map(|pair| pair.split_once("=\""));
            let names = pairs.map(|(name, _)| name).filter(|name| *name != "le");
            names.collect::<Vec<_>>().join(", ")
        });
        (name.to_owned(), of.to_owned(), labels.unwrap_or_default())
    };
    types.map(family).collect()
}

#[test]
fn the_page_lists_each_name_with_its_type_and_labels_and_no_other() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let rows = page
        .lines()
        .filter(|line| line.starts_with("| `lifecycle_"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let bare = |cell: &str| cell.replace('`', "");
        assert!(cells.len() == 6 && !cells[4].is_empty(), "{line}");
        (bare(cells[1]), bare(cells[2]), bare(cells[3]))
    };
    let listed: BTreeSet<_> = rows.map(row).collect();
    assert!(listed.len() > 10, "the table was not found");
    assert_eq!(listed, written(&full()));
}
