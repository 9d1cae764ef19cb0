//! Proxies: their passwords come from their Secrets, are renewed under links that are up, and degrade only the links that go through them.

use std::cell::RefCell;
use std::fs;
use std::time::Duration;

use lifecycle_router::adaptor::{Adaptor, Options};
use lifecycle_router::data_plane::DataPlane as _;
use lifecycle_router::source::directory::Directory;
use lifecycle_router::state::Status;
use lifecycle_tests::harness::{Case, eventually};
use lifecycle_tests::named;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::site::{LIMIT, agent_has, changing, listener, write};
use crate::support::{Agent, PROTON};

pub(crate) fn cases() -> Vec<Case> {
    named![single_threaded(PROTON):
        a_renewed_password_reaches_the_router_and_its_link_stays,
        a_password_that_is_missing_degrades_only_its_links_and_counts_when_it_comes,
    ]
}

/// An adaptor with a folder for the passwords of proxies.
struct Proxied {
    source: TempDir,
    output: TempDir,
    adaptor: Adaptor,
    tasks: Vec<JoinHandle<()>>,
}

impl Proxied {
    fn new(agent: &Agent) -> Self {
        let (source, output) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(source.path(), "skrouterd.json", &document().to_string());
        let folder = |name: &str| output.path().join(name);
        let adaptor = Adaptor::with_proxies(&folder("certs"), &folder("proxies"));
        let options = Options {
            agent: agent.options(),
            interval: Duration::from_millis(100),
        };
        let (keeper, followed) = (adaptor.clone(), adaptor.clone());
        let keeping = async move { match keeper.run(options).await {} };
        let following = Directory::new(source.path()).follow(followed);
        Self {
            tasks: vec![tokio::spawn(keeping), tokio::spawn(following)],
            source,
            output,
            adaptor,
        }
    }

    fn password(&self, password: &str) {
        write(self.source.path(), "certs/squid/password.txt", password);
    }

    /// Waits until the password is written for the router.
    async fn has_written(&self, password: &str) {
        let path = self.output.path().join("proxies/squid/password.txt");
        let ask = async || {
            let read = fs::read_to_string(&path);
            Ok(read.is_ok_and(|read| read == password).then_some(()))
        };
        eventually("the password is written", LIMIT, ask)
            .await
            .unwrap();
    }

    /// Waits until an entry has failed with such a message.
    async fn fails(&self, entity: &str, name: &str, part: &str) {
        let ask = async || {
            let state = self.adaptor.state().now();
            let status = state.entry(entity, name).map(|entry| entry.status.clone());
            let fails = matches!(&status, Some(Status::Failed(why)) if why.contains(part));
            Ok(fails.then_some(()))
        };
        let what = format!("{entity} `{name}` has failed");
        eventually(&what, LIMIT, ask).await.unwrap();
    }
}

impl Drop for Proxied {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

fn document() -> Value {
    json!([
        ["proxyProfile", {
            "name": "squid", "host": "proxy.example.com", "port": "3128", "username": "me",
            "password": "file:/etc/skupper-router-proxies/squid/password.txt",
        }],
        ["connector", {
            "name": "east", "role": "inter-router", "host": "192.0.2.1", "port": "55671", "cost": 1, "proxyProfile": "squid",
        }],
        listener("plain", 1025, "b"),
    ])
}

fn has_link(dump: &Value) -> bool {
    dump["connector"]["east"]["proxyProfile"] == "squid"
}

async fn a_renewed_password_reaches_the_router_and_its_link_stays() {
    let mut agent = Agent::start();
    let site = Proxied::new(&agent);
    site.password("1");
    agent_has(&mut agent, "the router has the link", has_link).await;
    site.has_written("1").await;
    let path = site.output.path().join("proxies/squid/password.txt");
    let expected = format!("file:{}", path.display());
    assert_eq!(agent.dump()["proxyProfile"]["squid"]["password"], expected);
    changing(&mut agent);
    site.password("2");
    site.has_written("2").await;
    let agent = RefCell::new(agent);
    let ask = async || {
        let sent = changing(&mut agent.borrow_mut());
        Ok((!sent.is_empty()).then_some(sent))
    };
    let sent = eventually("the router is told", LIMIT, ask).await.unwrap();
    assert_eq!(sent, ["UPDATE proxyProfile squid"]);
    assert!(has_link(&agent.borrow_mut().dump()));
}

async fn a_password_that_is_missing_degrades_only_its_links_and_counts_when_it_comes() {
    let mut agent = Agent::start();
    let site = Proxied::new(&agent);
    let has_listener = |dump: &Value| !dump["tcpListener"]["plain"].is_null();
    agent_has(&mut agent, "the router has the listener", has_listener).await;
    let part = "its password cannot be read";
    site.fails("proxyProfile", "squid", part).await;
    site.fails("connector", "east", part).await;
    assert!(!has_link(&agent.dump()));
    site.password("1");
    agent_has(&mut agent, "the router has the link", has_link).await;
}
