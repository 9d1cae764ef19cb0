//! Alerts as files of Prometheus: the rules, and the tests that promtool runs.

use std::fmt::Write;

use serde_json::json;

use super::alerts::Alert;
use super::product::{Labels, Product, Series, ZERO};

const HEAD: &str =
    "# Made from the lifecycles by a test: see operator/tests/program/monitoring.rs.\n";

/// The minute at which each alert has fired in the run that is about it.
const LATE: u32 = 60;

/// The rules of a product.
pub(super) fn rules(product: &Product, alerts: &[Alert]) -> String {
    let mut text = format!("{HEAD}groups:\n  - name: {}\n    rules:\n", product.name);
    for alert in alerts {
        writeln!(text, "      - alert: {}{}", product.prefix, alert.name).unwrap();
        text += "        expr: |-\n";
        for line in alert.expr.lines() {
            writeln!(text, "          {line}").unwrap();
        }
        writeln!(text, "        for: {}m", alert.minutes).unwrap();
        text += "        labels:\n";
        writeln!(text, "          severity: {}", alert.severity).unwrap();
        text += "        annotations:\n";
        for (name, value) in annotations(alert) {
            writeln!(text, "          {name}: {}", json!(value)).unwrap();
        }
    }
    text
}

/// Returns the tests of these rules: one run in which no alert fires, and one run per alert.
pub(super) fn tests(product: &Product, alerts: &[Alert]) -> String {
    let mut text = HEAD.to_owned();
    writeln!(text, "rule_files: [{}.rules.yaml]", product.name).unwrap();
    text += "evaluation_interval: 1m\ntests:\n";
    let healthy = product.healthy();
    begin(&mut text, "nothing fires in a healthy run", &healthy);
    text += "    promql_expr_test:\n";
    text += "      - expr: count_over_time(ALERTS{alertstate=\"firing\"}[2h])\n";
    text += "        eval_time: 2h\n        exp_samples: []\n";
    for alert in alerts {
        let name = format!("{}{}", product.prefix, alert.name);
        begin(&mut text, &name, &changed(&healthy, &alert.bad));
        text += "    alert_rule_test:\n";
        if alert.minutes > 0 {
            let early = alert.minutes - 1;
            writeln!(text, "      - eval_time: {early}m").unwrap();
            writeln!(text, "        alertname: {name}").unwrap();
            text += "        exp_alerts: []\n";
        }
        writeln!(text, "      - eval_time: {LATE}m").unwrap();
        writeln!(text, "        alertname: {name}").unwrap();
        text += "        exp_alerts:\n";
        for labels in &alert.fires {
            expect(&mut text, alert, labels);
        }
        text += "    promql_expr_test:\n";
        text += "      - expr: group by (alertname) (ALERTS{alertstate=\"firing\"})\n";
        writeln!(text, "        eval_time: {LATE}m").unwrap();
        text += "        exp_samples:\n";
        let only = json!(format!("{{alertname=\"{name}\"}}"));
        writeln!(text, "          - {{ labels: {only}, value: 1 }}").unwrap();
    }
    text
}

fn annotations(alert: &Alert) -> [(&'static str, &'static str); 3] {
    [
        ("summary", alert.summary),
        ("description", alert.description),
        ("runbook", alert.runbook),
    ]
}

fn begin(text: &mut String, name: &str, series: &[Series]) {
    writeln!(text, "  - name: {name}\n    interval: 1m").unwrap();
    *text += "    input_series:\n";
    for one in series {
        let (name, values) = (&one.name, &one.values);
        writeln!(text, "      - {{ series: '{name}', values: {values} }}").unwrap();
    }
}

/// Returns the healthy run with the bad series in place of the good ones. Series that stay 0 are
/// omitted, because they only matter in the healthy run.
fn changed(healthy: &[Series], bad: &[Series]) -> Vec<Series> {
    let is_kept = |one: &&Series| {
        let mut bad = bad.iter();
        one.values != ZERO && bad.all(|other| other.name != one.name)
    };
    let kept = healthy.iter().filter(is_kept);
    kept.chain(bad).cloned().collect()
}

/// One alert that fires, with its texts.
fn expect(text: &mut String, alert: &Alert, labels: &Labels) {
    *text += "          - exp_labels:\n";
    writeln!(text, "              severity: {}", alert.severity).unwrap();
    for (name, value) in labels {
        writeln!(text, "              {name}: {value}").unwrap();
    }
    *text += "            exp_annotations:\n";
    for (name, value) in annotations(alert) {
        let value = json!(filled(value, labels));
        writeln!(text, "              {name}: {value}").unwrap();
    }
}

/// A text with the labels of an alert in it.
fn filled(text: &str, labels: &Labels) -> String {
    let fill = |text: String, (name, value): (&&str, &String)| {
        text.replace(&format!("{{{{ $labels.{name} }}}}"), value)
    };
    labels.iter().fold(text.to_owned(), fill)
}
