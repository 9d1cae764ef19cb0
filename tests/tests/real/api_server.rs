//! Tests of the test API server itself: the properties that the other suites rely on. This module
//! knows no operator.

use std::collections::BTreeMap;
use std::path::Path;
use std::pin::pin;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures::StreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{DeleteParams, ListParams, PostParams, PropagationPolicy};
use kube::runtime::watcher;
use kube::{Api, ResourceExt};
use lifecycle_tests::api_server::{ApiServer, Options};
use lifecycle_tests::audit::Cost;
use lifecycle_tests::harness::{Case, Need, case, eventually};
use serde_json::json;
use tokio::sync::mpsc::unbounded_channel;

const BINARIES: &[Need] = &[Need::Binaries];
const CONTROLLERS: &[Need] = &[Need::Binaries, Need::ControllerManager];

const MINUTE: Duration = Duration::from_secs(60);

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("it_is_ready_after_start", BINARIES, it_is_ready_after_start),
        case(
            "kubectl_knows_its_version",
            BINARIES,
            kubectl_knows_its_version,
        ),
        case(
            "two_at_once_know_nothing_of_each_other",
            BINARIES,
            two_at_once,
        ),
        case(
            "the_audit_log_tells_users_apart",
            BINARIES,
            audit_tells_users_apart,
        ),
        case(
            "a_user_without_rights_is_refused",
            BINARIES,
            user_without_rights,
        ),
        case("a_restart_keeps_the_data", BINARIES, restart_keeps_data),
        case("a_crash_keeps_the_data", BINARIES, crash_keeps_data),
        case(
            "a_frozen_one_does_not_answer",
            BINARIES,
            frozen_does_not_answer,
        ),
        case(
            "stopping_leaves_no_process_and_no_file",
            BINARIES,
            stopping_leaves_nothing,
        ),
        case(
            "a_panic_leaves_no_process_and_no_file",
            BINARIES,
            panic_leaves_nothing,
        ),
        case(
            "a_refused_flag_is_an_error_with_the_log",
            BINARIES,
            refused_flag,
        ),
        case("an_added_flag_changes_the_server", BINARIES, added_flag),
        case(
            "a_streamed_list_is_one_watch_and_no_read",
            BINARIES,
            streamed_list,
        ),
        case(
            "controllers_collect_garbage",
            CONTROLLERS,
            controllers_collect_garbage,
        ),
        case(
            "controllers_finish_namespaces",
            CONTROLLERS,
            controllers_finish_namespaces,
        ),
    ]
}

async fn it_is_ready_after_start() -> Result<()> {
    let server = ApiServer::start().await?;
    let namespaces: Api<Namespace> = Api::all(server.client());
    let names: Vec<String> = namespaces
        .list(&ListParams::default())
        .await?
        .iter()
        .map(ResourceExt::name_any)
        .collect();
    ensure!(names.contains(&"default".to_owned()), "{names:?}");
    Ok(())
}

async fn kubectl_knows_its_version() -> Result<()> {
    let server = ApiServer::start().await?;
    let output = server
        .kubectl()
        .args(["version", "--output=json"])
        .output()?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{error}");
    let versions: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    for side in ["clientVersion", "serverVersion"] {
        let version = versions[side]["gitVersion"]
            .as_str()
            .context("no version")?;
        ensure!(version.starts_with("v1."), "{side} is {version}");
        ensure!(
            !version.contains("master"),
            "{side} is not stamped: {version}"
        );
    }
    Ok(())
}

async fn two_at_once() -> Result<()> {
    let (first, second) = tokio::try_join!(ApiServer::start(), ApiServer::start())?;
    ensure!(first.url() != second.url());
    create_map(&first, "only-here", "1").await?;
    ensure!(find(&first, "only-here").await?.is_some());
    ensure!(find(&second, "only-here").await?.is_none());
    Ok(())
}

async fn audit_tells_users_apart() -> Result<()> {
    let server = ApiServer::start().await?;
    let client = server
        .client_for("alice:x/y", &["system:masters", "testers"])
        .await?;
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    maps.create(&PostParams::default(), &config_map("noted", "1"))
        .await?;
    maps.list(&ListParams::default()).await?;
    ensure!(maps.get_opt("absent").await?.is_none());
    create_map(&server, "not-hers", "1").await?;
    let log = server.audit().await?;
    let hers = log.of_user("alice:x/y");
    let counts = hers.counts();
    ensure!((counts.writes, counts.reads) == (1, 2), "{}", hers.lines());
    ensure!(hers.len() == 3, "{}", hers.lines());
    let write = &hers.of_cost(Cost::Write)[0];
    ensure!(
        write.verb == "create" && write.resource == "configmaps",
        "{write:?}"
    );
    ensure!(
        write.namespace == "default" && write.code == 201,
        "{write:?}"
    );
    ensure!(write.answered >= write.received, "{write:?}");
    let missed = hers.only(|entry| entry.name == "absent");
    ensure!(
        missed.len() == 1 && missed[0].code == 404,
        "{}",
        hers.lines()
    );
    ensure!(log.of_user("admin").of_cost(Cost::Write).len() == 1);
    Ok(())
}

async fn user_without_rights() -> Result<()> {
    let server = ApiServer::start().await?;
    let client = server.client_for("bob", &[]).await?;
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    let refused = maps.list(&ListParams::default()).await;
    let code = match &refused {
        Err(kube::Error::Api(status)) => status.code,
        other => anyhow::bail!("{other:?}"),
    };
    ensure!(code == 403, "{refused:?}");
    Ok(())
}

async fn restart_keeps_data() -> Result<()> {
    let mut server = ApiServer::start().await?;
    create_map(&server, "kept", "before").await?;
    let (url, before) = (server.url(), server.pids());
    server.restart_api_server().await?;
    ensure!(server.url() == url);
    ensure!(server.pids() != before, "no new process");
    let kept = find(&server, "kept")
        .await?
        .context("lost in the restart")?;
    ensure!(kept.data.unwrap_or_default()["value"] == "before");
    Ok(())
}

async fn crash_keeps_data() -> Result<()> {
    let mut server = ApiServer::start().await?;
    create_map(&server, "kept", "before").await?;
    server.kill_api_server()?;
    ensure!(
        find(&server, "kept").await.is_err(),
        "it answers without a process"
    );
    ensure!(server.freeze().is_err(), "there is nothing to freeze");
    server.start_api_server().await?;
    ensure!(find(&server, "kept").await?.is_some());
    Ok(())
}

async fn frozen_does_not_answer() -> Result<()> {
    let server = ApiServer::start().await?;
    server.freeze()?;
    let limit = Duration::from_millis(500);
    let unanswered = tokio::time::timeout(limit, find(&server, "any")).await;
    ensure!(unanswered.is_err(), "{unanswered:?}");
    server.thaw()?;
    ensure!(find(&server, "any").await?.is_none());
    server.freeze()?;
    // Dropped while frozen: it must go all the same.
    let (pids, folder) = (server.pids(), server.folder().to_owned());
    drop(server);
    nothing_is_left(&pids, &folder)
}

async fn stopping_leaves_nothing() -> Result<()> {
    let server = ApiServer::start().await?;
    let (pids, folder) = (server.pids(), server.folder().to_owned());
    ensure!(pids.len() == 2 && pids.iter().all(is_alive), "{pids:?}");
    ensure!(folder.join("kube-apiserver.log").is_file());
    drop(server);
    nothing_is_left(&pids, &folder)
}

async fn panic_leaves_nothing() -> Result<()> {
    let server = ApiServer::start().await?;
    let (pids, folder) = (server.pids(), server.folder().to_owned());
    let ended = tokio::spawn(async move {
        let _held = server;
        // A panic without its message, which would look like a failure in the output.
        std::panic::resume_unwind(Box::new("meant"));
    });
    ensure!(ended.await.is_err_and(|error| error.is_panic()));
    nothing_is_left(&pids, &folder)
}

async fn refused_flag() -> Result<()> {
    let started = Instant::now();
    let options = Options::default().flag("--no-such-flag");
    let Err(error) = ApiServer::start_with(options).await else {
        anyhow::bail!("it started");
    };
    let text = format!("{error:#}");
    ensure!(text.contains("kube-apiserver ended early"), "{text}");
    ensure!(text.contains("unknown flag: --no-such-flag"), "{text}");
    eprintln!("a refused flag: noticed after {:.1?}", started.elapsed());
    Ok(())
}

async fn added_flag() -> Result<()> {
    let options = Options::default().flag("--disable-admission-plugins=NamespaceLifecycle");
    let server = ApiServer::start_with(options).await?;
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), "nowhere");
    // Without NamespaceLifecycle, the existence of the namespace is not checked.
    maps.create(&PostParams::default(), &config_map("there", "1"))
        .await?;
    Ok(())
}

async fn streamed_list() -> Result<()> {
    let server = ApiServer::start().await?;
    create_map(&server, "listed", "1").await?;
    for (user, config, reads) in [
        ("streaming", watcher::Config::default().streaming_lists(), 0),
        ("listing", watcher::Config::default(), 1),
    ] {
        let client = server.client_for(user, &["system:masters"]).await?;
        let maps: Api<ConfigMap> = Api::namespaced(client, "default");
        let (sender, mut events) = unbounded_channel();
        // A listing watcher opens its watch only when it is polled again, so a task has to keep
        // polling it.
        let asking = tokio::spawn(async move {
            let mut watched = pin!(watcher(maps, config));
            while let Some(event) = watched.next().await {
                if sender.send(event).is_err() {
                    break;
                }
            }
        });
        let mut seen = false;
        loop {
            match events.recv().await.context("the watch ended")?? {
                watcher::Event::InitApply(map) => seen |= map.name_any() == "listed",
                watcher::Event::InitDone => break,
                watcher::Event::Init | watcher::Event::Apply(_) | watcher::Event::Delete(_) => {}
            }
        }
        ensure!(seen, "{user}: the object was not listed");
        let log = eventually("a watch in the audit log", MINUTE, async || {
            let log = server.audit().await?.of_user(user);
            Ok((log.counts().watches > 0).then_some(log))
        })
        .await?;
        asking.abort();
        let counts = log.counts();
        ensure!(
            (counts.watches, counts.reads) == (1, reads),
            "{}",
            log.lines()
        );
    }
    Ok(())
}

async fn controllers_collect_garbage() -> Result<()> {
    let server = ApiServer::start_with(Options::default().with_controllers()).await?;
    ensure!(server.pids().len() == 3);
    let owner = create_map(&server, "owner", "1").await?;
    let mut owned = config_map("owned", "1");
    owned.metadata.owner_references = Some(serde_json::from_value(json!([{
        "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner.uid().context("no uid")?,
    }]))?);
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    maps.create(&PostParams::default(), &owned).await?;
    let background = DeleteParams {
        propagation_policy: Some(PropagationPolicy::Background),
        ..DeleteParams::default()
    };
    maps.delete("owner", &background).await?;
    eventually("the owned object goes", MINUTE, async || {
        Ok(find(&server, "owned").await?.is_none().then_some(()))
    })
    .await
}

async fn controllers_finish_namespaces() -> Result<()> {
    let server = ApiServer::start_with(Options::default().with_controllers()).await?;
    let namespaces: Api<Namespace> = Api::all(server.client());
    let mut namespace = Namespace::default();
    namespace.metadata.name = Some("short-lived".to_owned());
    namespaces
        .create(&PostParams::default(), &namespace)
        .await?;
    namespaces
        .delete("short-lived", &DeleteParams::default())
        .await?;
    eventually("the namespace goes", MINUTE, async || {
        let namespace = namespaces.get_opt("short-lived").await?;
        Ok(namespace.is_none().then_some(()))
    })
    .await
}

fn config_map(name: &str, value: &str) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = Some(name.to_owned());
    map.data = Some(BTreeMap::from([("value".to_owned(), value.to_owned())]));
    map
}

async fn create_map(server: &ApiServer, name: &str, value: &str) -> Result<ConfigMap> {
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    Ok(maps
        .create(&PostParams::default(), &config_map(name, value))
        .await?)
}

async fn find(server: &ApiServer, name: &str) -> Result<Option<ConfigMap>> {
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    Ok(maps.get_opt(name).await?)
}

fn is_alive(pid: &u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

fn nothing_is_left(pids: &[u32], folder: &Path) -> Result<()> {
    ensure!(!pids.is_empty());
    ensure!(!pids.iter().any(is_alive), "a process of {pids:?} is left");
    ensure!(!folder.exists(), "{} is left", folder.display());
    Ok(())
}
