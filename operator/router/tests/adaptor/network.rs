//! The network status: two adaptors of two sites at one router, which see each other's records and
//! the records of routers.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

use lifecycle_router::adaptor::{CollectOptions, OwnSite, StatusFile};
use lifecycle_tests::harness::{Case, eventually};
use lifecycle_tests::named;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::site::{LIMIT, Site};
use crate::support::{Agent, PROTON};

pub(crate) fn cases() -> Vec<Case> {
    named![single_threaded(PROTON):
        two_sites_write_one_network_and_show_it_in_their_states,
    ]
}

/// A site that collects into a file.
struct Collecting {
    site: Site,
    folder: TempDir,
    task: JoinHandle<()>,
}

impl Collecting {
    fn new(agent: &Agent, id: &str, document: &Value) -> Self {
        let site = Site::new(agent, document);
        let folder = tempfile::tempdir().unwrap();
        let options = CollectOptions {
            agent: lifecycle_router::adaptor::amqp::Options {
                container: format!("adaptor-{id}"),
                ..agent.options()
            },
            site: Some(OwnSite {
                id: format!("uid-{id}"),
                name: id.to_owned(),
                namespace: format!("ns-{id}"),
            }),
        };
        let status = Arc::new(StatusFile(folder.path().join("status.json")));
        let adaptor = site.adaptor.clone();
        let task = tokio::spawn(async move { match adaptor.collect(options, status).await {} });
        Self { site, folder, task }
    }

    fn status(&self) -> Option<Value> {
        read(&self.folder.path().join("status.json"))
    }
}

impl Drop for Collecting {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn read(path: &Path) -> Option<Value> {
    // An existing file is complete.
    let text = std::fs::read_to_string(path).ok()?;
    Some(serde_json::from_str(&text).unwrap())
}

/// Announces the records of the two routers: the first has a listener and a link, the second has
/// their destinations.
fn routers(agent: &mut Agent, connector: &str) {
    let first = json!([
        {"0": 1, "1": "ra:0", "2": "uid-a", "30": "router-a", "13": "interior"},
        {"0": 4, "1": "ra:1", "2": "ra:0", "30": "l", "19": "key", "18": "1024", "16": "tcp"},
        {"0": 2, "1": "ra:2", "2": "ra:0", "30": "link", "6": "rb:1", "53": "up", "54": "inter-router", "33": 1},
        {"0": 16, "1": "ra:3", "23": 7},
    ]);
    let second = json!([
        {"0": 1, "1": "rb:0", "2": "uid-b", "30": "router-b"},
        {"0": 15, "1": "rb:1", "2": "rb:0", "54": "inter-router"},
        {"0": 5, "1": connector, "2": "rb:0", "19": "key", "15": "10.0.0.1", "18": "80", "16": "tcp"},
    ]);
    agent.run(&format!("router ra {first}"));
    agent.run(&format!("router rb {second}"));
}

fn expected() -> Value {
    let site = |id: &str, router: Value| {
        json!({
            "site": {"identity": format!("uid-{id}"), "name": id, "namespace": format!("ns-{id}"),
                     "platform": "kubernetes", "siteVersion": env!("CARGO_PKG_VERSION")},
            "routerStatus": [router],
        })
    };
    json!({
        "addresses": [{"name": "key", "protocol": "tcp", "startTime": 0, "endTime": 0,
                       "listenerCount": 1, "connectorCount": 1}],
        "siteStatus": [
            site("a", json!({
                "router": {"name": "router-a", "mode": "interior"},
                "links": [{"name": "link", "linkCost": 1, "status": "up", "role": "inter-router", "peer": "rb:1"}],
                "routerAccess": [],
                "listeners": [{"name": "l", "destPort": "1024", "protocol": "tcp", "address": "key"}],
                "connectors": [],
            })),
            site("b", json!({
                "router": {"name": "router-b"},
                "links": [],
                "routerAccess": [{"identity": "rb:1"}],
                "listeners": [],
                "connectors": [{"destHost": "10.0.0.1", "destPort": "80", "address": "key"}],
            })),
        ],
    })
}

/// Waits until all of them have written the whole network.
async fn wait_for_network(agent: &RefCell<Agent>, sites: &[&Collecting]) {
    let ask = async || {
        agent.borrow_mut().run("beacons");
        let is_whole = sites.iter().all(|site| site.status() == Some(expected()));
        Ok(is_whole.then_some(()))
    };
    let waited = eventually("both documents have the network", LIMIT, ask).await;
    let written = || sites.iter().map(|site| site.status()).collect::<Vec<_>>();
    waited.unwrap_or_else(|error| panic!("{error:#}: {:#?}", written()));
}

async fn two_sites_write_one_network_and_show_it_in_their_states() {
    let mut agent = Agent::start();
    routers(&mut agent, "rb:2");
    let document = json!([
        ["site", {"name": "uid-a"}],
        ["connector", {"name": "link", "role": "inter-router", "host": "127.0.0.1", "port": "55671"}],
    ]);
    let first = Collecting::new(&agent, "a", &document);
    let second = Collecting::new(&agent, "b", &json!([]));
    let agent = RefCell::new(agent);
    wait_for_network(&agent, &[&first, &second]).await;
    let has_site = |state: &lifecycle_router::state::State| {
        let site = state.sites.iter().find(|site| site.id == "uid-b");
        let link = state.entry("connector", "link");
        site.is_some_and(|site| site.name == "b" && site.services[0].connectors == ["10.0.0.1"])
            && link.is_some_and(|link| link.remote_site_id.as_deref() == Some("uid-b"))
            && link.is_some_and(|link| link.remote_site_name.as_deref() == Some("b"))
    };
    first
        .site
        .until("the state has the other site", has_site)
        .await;

    // A router loses an entry, and a connection is lost.
    let ended = json!([{"0": 5, "1": "rb:2", "4": 5_000_000_u64}]);
    agent.borrow_mut().run(&format!("router rb {ended}"));
    let ask = async || {
        let status = second.status();
        let status = status.filter(|status| status["addresses"][0]["connectorCount"] == 0);
        Ok(status)
    };
    let waited = eventually("the connector is gone", LIMIT, ask).await;
    waited.unwrap_or_else(|error| panic!("{error:#}: {:#?}", second.status()));
    agent.borrow_mut().run("cut");
    routers(&mut agent.borrow_mut(), "rb:4");
    wait_for_network(&agent, &[&first, &second]).await;
}
