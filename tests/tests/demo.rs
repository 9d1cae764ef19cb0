//! The command that the README begins with does what the README says.

use std::path::Path;
use std::process::{Command, ExitCode, Output};

use anyhow::{Context, Result, ensure};
use lifecycle_tests::harness::{Need, case, run};

const CONTROLLERS: &[Need] = &[Need::Binaries, Need::ControllerManager];

fn main() -> ExitCode {
    run(vec![
        case("the_example_becomes_ready", CONTROLLERS, example),
        case(
            "what_is_not_ready_in_time_says_why",
            CONTROLLERS,
            unknown_class,
        ),
    ])
}

fn demo(manifest: &Path, timeout: &str) -> Result<Output> {
    let mut demo = Command::new(env!("CARGO_BIN_EXE_demo"));
    demo.args(["--once", "--timeout", timeout]).arg(manifest);
    demo.output().context("demo does not start")
}

async fn example() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let out = demo(&root.join("deploy/examples/listener.yaml"), "60")?;
    let said = String::from_utf8_lossy(&out.stdout);
    ensure!(
        out.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&out.stderr)
    );
    ensure!(
        said.contains("default/web: Ready at web.default.svc."),
        "{said}"
    );
    Ok(())
}

async fn unknown_class() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let manifest = folder.path().join("listener.yaml");
    let text = "apiVersion: listeners.stackable.tech/v1alpha1\nkind: Listener\nmetadata: {name: odd, namespace: default}\n\
                spec: {className: nowhere, ports: [{name: http, port: 80}]}\n";
    std::fs::write(&manifest, text)?;
    let out = demo(&manifest, "5")?;
    let said = String::from_utf8_lossy(&out.stdout);
    ensure!(out.status.code() == Some(1), "{:?}: {said}", out.status);
    ensure!(
        said.contains("error: not Ready within 5 s: default/odd: Error, NoListenerClass"),
        "{said}"
    );
    ensure!(said.contains("`nowhere`"), "{said}");
    Ok(())
}
