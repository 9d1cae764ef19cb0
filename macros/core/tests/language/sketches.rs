//! The reference lifecycles parse, build and are accepted.

use lifecycle_macros_core::{check, errors::Diagnostic};

use super::shipped::body;

fn render_findings(found: &[Diagnostic]) -> String {
    let lines = found.iter().map(|d| {
        let at = d.span.start();
        format!("{}:{} {} {}", at.line, at.column, d.code, d.message)
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn accepted(name: &str) {
    let checked = check(body(name));
    assert!(
        checked.is_accepted(),
        "{}",
        render_findings(&checked.diagnostics)
    );
    assert_eq!(render_findings(&checked.diagnostics), "");
}

macro_rules! sketches {
    ($($name:ident = $file:literal),* $(,)?) => { $(
        #[test]
        fn $name() {
            accepted($file);
        }
    )* };
}
sketches! {
    app_is_accepted = "app",
    autoscaler_is_accepted = "autoscaler",
    bucket_is_accepted = "bucket",
    canary_is_accepted = "canary",
    certificate_is_accepted = "certificate",
    database_is_accepted = "database",
    dns_is_accepted = "dns",
    git_is_accepted = "git",
    leaf_is_accepted = "leaf",
    listener_is_accepted = "listener",
    login_is_accepted = "login",
    machine_is_accepted = "machine",
    provision_is_accepted = "provision",
    preview_is_accepted = "preview",
    quota_is_accepted = "quota",
    rollout_is_accepted = "rollout",
    schedule_is_accepted = "schedule",
    scratch_is_accepted = "scratch",
    skupper_is_accepted = "skupper",
    skupper_listener_is_accepted = "skupper-listener",
    volume_is_accepted = "volume",
}
