//! The dashboard of a product, as Grafana imports it.

use serde_json::{Value, json};

use super::product::Product;

/// The schema of the classic model, which newer versions of Grafana read as well.
const SCHEMA: u32 = 41;

/// Columns of a dashboard.
const COLUMNS: usize = 24;

/// Columns and rows of a panel.
const SIZE: (usize, usize) = (8, 8);

/// One graph: its title, its unit, and its expressions, each with the legend.
struct Panel {
    title: String,
    unit: &'static str,
    lines: Vec<(String, &'static str)>,
}

fn panel(title: &str, unit: &'static str, expr: String, legend: &'static str) -> Panel {
    Panel {
        title: title.to_owned(),
        unit,
        lines: vec![(expr, legend)],
    }
}

/// The file of a product.
pub(super) fn text(product: &Product) -> String {
    let panels = panels(product).into_iter().enumerate();
    let panels: Vec<Value> = panels
        .map(|(place, panel)| render_panel(place, &panel))
        .collect();
    let source = json!({
        "name": "datasource",
        "label": "Data source",
        "type": "datasource",
        "query": "prometheus",
        "hide": 0,
    });
    let namespace = json!({
        "name": "namespace",
        "label": "Namespace",
        "type": "query",
        "datasource": datasource(),
        "query": format!("label_values(lifecycle_ready{{{}}}, namespace)", product.of_all()),
        "includeAll": true,
        "allValue": ".*",
        "current": { "text": "All", "value": "$__all" },
        "refresh": 2,
        "hide": 0,
    });
    let whole = json!({
        "uid": format!("lifecycle-{}", product.name),
        "title": format!("Lifecycles of {}", product.name),
        "description": "Made from the lifecycles by a test: see operator/tests/program/monitoring.rs.",
        "tags": ["lifecycle"],
        "schemaVersion": SCHEMA,
        "editable": true,
        "refresh": "1m",
        "time": { "from": "now-6h", "to": "now" },
        "templating": { "list": [source, namespace] },
        "panels": panels,
    });
    serde_json::to_string_pretty(&whole).unwrap() + "\n"
}

fn datasource() -> Value {
    json!({ "type": "prometheus", "uid": "${datasource}" })
}

fn render_panel(place: usize, panel: &Panel) -> Value {
    let (width, height) = SIZE;
    let in_row = COLUMNS / width;
    let lines = panel.lines.iter().enumerate();
    let targets = lines.map(|(number, (expr, legend))| {
        json!({
            "refId": format!("Q{number}"),
            "expr": expr,
            "legendFormat": legend,
            "datasource": datasource(),
        })
    });
    json!({
        "id": place + 1,
        "type": "timeseries",
        "title": panel.title,
        "datasource": datasource(),
        "gridPos": {
            "x": place % in_row * width,
            "y": place / in_row * height,
            "w": width,
            "h": height,
        },
        "fieldConfig": { "defaults": { "unit": panel.unit, "min": 0 }, "overrides": [] },
        "targets": targets.collect::<Vec<_>>(),
    })
}

fn panels(product: &Product) -> Vec<Panel> {
    let of = format!("{},namespace=~\"$namespace\"", product.of_controller());
    let all = format!("{},namespace=~\"$namespace\"", product.of_all());
    let rate = |metric: &str, matchers: &str, by: &str| {
        format!("sum by ({by}) (rate({metric}{{{matchers}}}[$__rate_interval]))")
    };
    let mut panels = vec![
        panel(
            "Leaders",
            "short",
            format!("sum by (namespace, lease) (lifecycle_leader{{{of}}})"),
            "{{namespace}} {{lease}}",
        ),
        panel(
            "Ready processes",
            "short",
            format!("sum by (job) (lifecycle_ready{{{all}}})"),
            "{{job}}",
        ),
        panel(
            "Silence of the API server",
            "s",
            format!("max by (kind) (lifecycle_watch_age_seconds{{{all}}})"),
            "{{kind}}",
        ),
        panel(
            "Overdue objects",
            "short",
            format!("sum by (kind) (lifecycle_overdue{{{of}}})"),
            "{{kind}}",
        ),
        panel(
            "Contradictions",
            "short",
            format!("sum by (namespace, job) (lifecycle_contradictions{{{all}}})"),
            "{{namespace}} {{job}}",
        ),
        panel(
            "Transitions",
            "ops",
            rate("lifecycle_transitions_total", &of, "kind, from, to"),
            "{{kind}}: {{from}} to {{to}}",
        ),
        panel(
            "Passes by outcome",
            "ops",
            rate("lifecycle_reconciles_total", &of, "outcome"),
            "{{outcome}}",
        ),
        panel(
            "Queue",
            "short",
            format!("sum by (namespace) (lifecycle_queue_depth{{{of}}})"),
            "{{namespace}}",
        ),
        queue_delay(&of),
        panel(
            "Writes",
            "ops",
            rate("lifecycle_writes_total", &of, "what, ended"),
            "{{what}} {{ended}}",
        ),
        panel(
            "Requests to the API server",
            "ops",
            rate("lifecycle_api_requests_total", &all, "verb, code"),
            "{{verb}} {{code}}",
        ),
    ];
    if !product.calls().is_empty() {
        let calls = rate("lifecycle_csi_calls_total", &all, "method, code");
        panels.push(panel("Volume calls", "ops", calls, "{{method}} {{code}}"));
    }
    panels.extend(product.resources().map(|lifecycle| {
        let kind = lifecycle.name;
        let expr = format!("sum by (state) (lifecycle_objects{{{of},kind=\"{kind}\"}}) > 0");
        panel(&format!("{kind} by state"), "short", expr, "{{state}}")
    }));
    panels
}

fn queue_delay(of: &str) -> Panel {
    let metric = "lifecycle_queue_latency_seconds_bucket";
    let buckets = format!("sum by (le) (rate({metric}{{{of}}}[$__rate_interval]))");
    let line = |share: &str| format!("histogram_quantile({share}, {buckets})");
    Panel {
        title: "Delay of the queue".to_owned(),
        unit: "s",
        lines: vec![(line("0.5"), "half"), (line("0.99"), "99 of 100")],
    }
}
