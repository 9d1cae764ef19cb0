//! The alerts of deploy/monitoring, by promtool: each fires in a run that causes it, and none in a healthy one.
//! operator/tests/program/monitoring.rs makes both files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use lifecycle_runtime::yaml;
use lifecycle_tests::harness::{Case, Need, case};
use lifecycle_tests::promtool::promtool;
use serde_json::Value;

const NEEDS: &[Need] = &[Need::Promtool];

const PRODUCTS: [&str; 2] = ["listener-operator", "skupper"];

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("promtool_accepts_the_rules", NEEDS, async || accepted()),
        case(
            "each_alert_fires_in_the_run_that_causes_it_and_none_in_a_healthy_one",
            NEEDS,
            async || tested(),
        ),
        case(
            "an_alert_that_never_fires_or_always_fails_its_test",
            NEEDS,
            async || broken(),
        ),
    ]
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/monitoring")
}

fn accepted() -> Result<()> {
    for product in PRODUCTS {
        promtool(
            &folder(),
            &["check", "rules", &format!("{product}.rules.yaml")],
        )?;
    }
    Ok(())
}

fn tested() -> Result<()> {
    for product in PRODUCTS {
        promtool(
            &folder(),
            &["test", "rules", &format!("{product}.test.yaml")],
        )?;
    }
    Ok(())
}

/// Shows that the tests judge each rule: one that never fires fails its own run, and one that always does the healthy run.
fn broken() -> Result<()> {
    for product in PRODUCTS {
        let read = |name: &str| -> Result<Value> {
            let text = fs::read_to_string(folder().join(name))?;
            Ok(yaml::parse_one(&text)?)
        };
        let (rules, tests) = (
            format!("{product}.rules.yaml"),
            format!("{product}.test.yaml"),
        );
        let (whole, runs) = (read(&rules)?, read(&tests)?);
        let count = whole["groups"][0]["rules"].as_array().map_or(0, Vec::len);
        ensure!(count > 5, "{rules} was not read");
        let copy = tempfile::tempdir().context("cannot make a folder")?;
        // The healthy run is the first, followed by one for each rule.
        for place in 0..count {
            for (expr, run) in [("vector(0) > 1", place + 1), ("vector(1)", 0)] {
                let (mut other, mut alone) = (whole.clone(), runs.clone());
                let rule = &mut other["groups"][0]["rules"][place];
                rule["expr"] = expr.into();
                let name = rule["alert"].to_string();
                alone["tests"] = Value::Array(vec![runs["tests"][run].clone()]);
                // JSON is YAML.
                fs::write(copy.path().join(&rules), other.to_string())?;
                fs::write(copy.path().join(&tests), alone.to_string())?;
                let passed = promtool(copy.path(), &["test", "rules", &tests]).is_ok();
                ensure!(!passed, "{name} passes its test as `{expr}`");
            }
        }
    }
    Ok(())
}
