//! An adaptor in this process, with files as its source, beside an agent.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lifecycle_router::adaptor::{Adaptor, Options, amqp};
use lifecycle_router::config;
use lifecycle_router::data_plane::DataPlane as _;
use lifecycle_router::source::directory::Directory;
use lifecycle_router::state::{EntryReport, State, Status};
use lifecycle_tests::eventually::eventually_or_stuck;
use lifecycle_tests::harness::eventually;
use rcgen::{CertificateParams, KeyPair};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::support::{AMPLE, Agent};

/// Core time until something must have happened.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// An adaptor and its folders.
pub(crate) struct Site {
    pub(crate) source: TempDir,
    pub(crate) output: TempDir,
    pub(crate) adaptor: Adaptor,
    tasks: Vec<JoinHandle<()>>,
}

impl Site {
    /// An adaptor beside an agent, with a document.
    pub(crate) fn new(agent: &Agent, document: &Value) -> Self {
        Self::start_with(agent, document, |_| {}, AMPLE)
    }

    /// The same, with more files in its source, and with a limit for each request.
    pub(crate) fn start_with(
        agent: &Agent,
        document: &Value,
        fill: impl FnOnce(&Path),
        limit: Duration,
    ) -> Self {
        let (source, output) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fill(source.path());
        write(source.path(), "skrouterd.json", &document.to_string());
        let mut site = Self {
            adaptor: Adaptor::new(output.path()),
            source,
            output,
            tasks: Vec::new(),
        };
        site.start(agent, limit);
        site
    }

    fn start(&mut self, agent: &Agent, limit: Duration) {
        let options = Options {
            agent: amqp::Options {
                limit,
                ..agent.options()
            },
            interval: Duration::from_millis(100),
        };
        let adaptor = self.adaptor.clone();
        let keeping = async move { match adaptor.run(options).await {} };
        let following = Directory::new(self.source.path()).follow(self.adaptor.clone());
        self.tasks = vec![tokio::spawn(keeping), tokio::spawn(following)];
    }

    /// Ends the adaptor, and starts another with the same folders.
    pub(crate) fn restart(&mut self, agent: &Agent) {
        self.stop();
        self.adaptor = Adaptor::new(self.output.path());
        self.start(agent, AMPLE);
    }

    pub(crate) fn stop(&mut self) {
        for task in self.tasks.drain(..) {
            task.abort();
        }
    }

    pub(crate) fn edit(&self, document: &Value) {
        write(self.source.path(), "skrouterd.json", &document.to_string());
    }

    pub(crate) fn state(&self) -> State {
        self.adaptor.state().now()
    }

    /// Waits until the state is so.
    pub(crate) async fn until(&self, what: &str, is_so: impl Fn(&State) -> bool) -> State {
        let ask = async || Ok(Some(self.state()).filter(|state| is_so(state)));
        let waited = eventually(what, LIMIT, ask).await;
        waited.unwrap_or_else(|error| panic!("{error:#}: {:#?}", self.state()))
    }

    /// Waits until a document is applied, each of its entries with its hash, and nothing is wrong.
    pub(crate) async fn applied(&self, document: &Value) -> State {
        let hashes = hashes(document);
        self.until("the document is applied", |state| {
            let entries = state.entries.iter();
            let has: BTreeMap<_, _> = entries
                .map(|entry| {
                    (
                        (entry.entity.to_string(), entry.name.clone()),
                        entry.hash.clone(),
                    )
                })
                .collect();
            state.configuration.is_some() && state.error.is_none() && has == hashes
        })
        .await
    }

    /// Waits until an entry has failed, and returns its message.
    pub(crate) async fn failed(&self, entity: &str, name: &str) -> String {
        let is_failed = |state: &State| {
            let entry = state.entry(entity, name);
            entry.is_some_and(|entry| matches!(entry.status, Status::Failed(_)))
        };
        let what = format!("{entity} `{name}` has failed");
        let state = self.until(&what, is_failed).await;
        match state.entry(entity, name).map(|entry| entry.status.clone()) {
            Some(Status::Failed(why)) => why,
            other => panic!("{other:?}"),
        }
    }

    /// Waits until an entry does this.
    pub(crate) async fn wait_for_status(
        &self,
        entity: &str,
        name: &str,
        status: &Status,
    ) -> EntryReport {
        let does = |state: &State| {
            let entry = state.entry(entity, name);
            entry.is_some_and(|entry| entry.status == *status)
        };
        let state = self.until(&format!("{name} is {status:?}"), does).await;
        state.entry(entity, name).unwrap().clone()
    }

    pub(crate) fn file(&self, path: &str) -> PathBuf {
        self.output.path().join(path)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The hashes of entries that the state has.
fn hashes(document: &Value) -> BTreeMap<(String, String), String> {
    let elements = document.as_array().unwrap().iter();
    let managed = elements.filter(|element| {
        let is_own = ["@9090", "amqp", "amqps"]
            .iter()
            .any(|name| element[1]["name"] == *name);
        !is_own
            && !["router", "site", "log", "address"]
                .iter()
                .any(|kind| element[0] == *kind)
    });
    managed
        .map(|element| {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let hash = config::hash(element[1].as_object().unwrap());
            ((text(&element[0]), text(&element[1]["name"])), hash)
        })
        .collect()
}

/// Waits until the agent has it so.
pub(crate) async fn agent_has(agent: &mut Agent, what: &str, is_so: impl Fn(&Value) -> bool) {
    let agent = std::cell::RefCell::new(agent);
    let ask = async || Ok(is_so(&agent.borrow_mut().dump()).then_some(()));
    eventually(what, LIMIT, ask).await.unwrap();
}

/// Waits until the adaptor has queried the router `count` times, and returns the requests.
pub(crate) async fn turns(agent: &mut Agent, count: usize) -> Vec<Value> {
    let agent = std::cell::RefCell::new((agent, Vec::new()));
    let ask = async || {
        let (agent, all) = &mut *agent.borrow_mut();
        all.extend(agent.requests());
        let kind = "io.skupper.router.connection";
        let looks = all.iter().filter(|one| one["type"] == kind).count();
        Ok(if looks >= count {
            ControlFlow::Break(std::mem::take(all))
        } else {
            ControlFlow::Continue(looks)
        })
    };
    eventually_or_stuck("the adaptor looks again", LIMIT, ask)
        .await
        .unwrap()
}

/// The requests of an agent that change something, as `OPERATION type name`.
pub(crate) fn changing(agent: &mut Agent) -> Vec<String> {
    let requests = agent.requests();
    let changing = requests
        .iter()
        .filter(|request| request["operation"] != "QUERY");
    changing
        .map(|request| {
            let text = |name: &str| request[name].as_str().unwrap_or_default();
            let kind = text("type").rsplit('.').next().unwrap_or_default();
            format!("{} {kind} {}", text("operation"), text("name"))
        })
        .collect()
}

/// Writes a file in one step.
pub(crate) fn write(directory: &Path, name: &str, text: &str) {
    let path = directory.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let beside = path.with_extension("new");
    fs::write(&beside, text).unwrap();
    fs::rename(beside, path).unwrap();
}

/// A self-signed certificate and its key.
pub(crate) fn pair(name: &str) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    let certificate = params.self_signed(&key).unwrap();
    (certificate.pem(), key.serialize_pem())
}

/// Writes a new pair of a profile, the key last, and returns it.
pub(crate) fn certify(source: &Path, profile: &str) -> (String, String) {
    let (chain, key) = pair(profile);
    for (file, text) in [("ca.crt", &chain), ("tls.crt", &chain), ("tls.key", &key)] {
        write(source, &format!("certs/{profile}/{file}"), text);
    }
    (chain, key)
}

pub(crate) fn profile(name: &str) -> Value {
    let file = |file: &str| format!("/etc/skupper-router-certs/{name}/{file}");
    json!(["sslProfile", {"name": name, "caCertFile": file("ca.crt"), "certFile": file("tls.crt"), "privateKeyFile": file("tls.key")}])
}

pub(crate) fn listener(name: &str, port: u16, key: &str) -> Value {
    json!(["tcpListener", {"name": name, "port": port.to_string(), "address": key, "siteId": "west"}])
}

pub(crate) fn secure(mut element: Value, profile: &str) -> Value {
    element[1]["sslProfile"] = profile.into();
    element
}
