//! How a site begins, as far as its tasks are concerned.

use std::pin::pin;
use std::sync::mpsc;

use tokio::runtime::Builder;
use tokio::task::spawn_blocking;

use super::*;

/// Wherever files are slow, the controller, the router and the probes must not wait for them.
#[test]
fn no_task_waits_for_what_is_known_of_a_site() {
    let directory = tempfile::tempdir().expect("a folder");
    let state = directory.path().join(STATE);
    fs::create_dir_all(state.parent().expect("it has one")).expect("a folder");
    fs::write(&state, "{").expect("a file");
    let options = args::SiteArgs {
        directory: directory.path().to_owned(),
        namespace: "default".to_owned(),
        host: None,
        grant_server_address: None,
        grace: Duration::ZERO,
    };
    let runtime = Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(1)
        .build();
    runtime.expect("a runtime").block_on(async {
        let (go, wait) = mpsc::channel();
        // As long as this goes on, nothing is read beside the tasks.
        let busy = spawn_blocking(move || wait.recv());
        let mut opening = pin!(Files::open(&options));
        let early = futures::poll!(&mut opening);
        assert!(early.is_pending(), "a task has read it");
        go.send(()).expect("it is waited for");
        let opened = opening.await;
        let error = opened.err().expect("it is broken").to_string();
        assert!(error.contains("state.json is broken"), "{error}");
        busy.await.expect("no panic").expect("it was sent");
    });
}
