//! The router of a run: the configuration that it has read from its Site, and the state that it
//! reports.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use lifecycle_router::config;
use lifecycle_runtime::lifecycle::CallError;
use lifecycle_skupper::config::router_config::DOCUMENT;
use lifecycle_skupper::router::state::Routers;
use lifecycle_specs_skupper::router::{
    EndpointCounts, EntryState, RemoteSite, RouterEntry, RouterService, RouterState,
};
use lifecycle_tests::lifecycles::provider::{Provider, ProviderState};
use serde_json::{Map, Value};

/// The one router of a run, independent of the API server.
pub(crate) type Router = Provider<Desk>;

/// The configuration that a router has read, and the faults it is made to have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Desk {
    entries: Vec<(String, Map<String, Value>)>,
    /// Something elsewhere in the network serves and offers every key.
    is_matched: bool,
    /// Every socket and every server is refused.
    is_failing: bool,
}

impl Desk {
    pub(super) fn read(&mut self, table: &ConfigMap) {
        let text = table.data.as_ref().and_then(|data| data.get(DOCUMENT));
        let all: Option<Vec<(String, Map<String, Value>)>> =
            text.and_then(|text| serde_json::from_str(text).ok());
        let carried = [
            "tcpListener",
            "listenerAddress",
            "tcpConnector",
            "connector",
            "listener",
        ];
        let all = all.unwrap_or_default().into_iter();
        self.entries = all
            .filter(|(entity, _)| carried.contains(&entity.as_str()))
            .collect();
    }

    fn state(&self) -> RouterState {
        let mut keys: BTreeMap<String, EndpointCounts> = BTreeMap::new();
        let text = |attributes: &Map<String, Value>, name: &str| {
            let text = attributes.get(name).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        let of_links = ["connector", "listener"];
        let keyed = self
            .entries
            .iter()
            .filter(|(e, _)| !of_links.contains(&e.as_str()));
        let named = keyed.map(|(_, attributes)| text(attributes, "address"));
        let named = named.filter(|key| !key.is_empty());
        // The network reports the keys of the fixtures to it, whatever configuration it has read
        // itself.
        for key in named.chain(["backend", "other"].map(str::to_owned)) {
            let sides = keys.entry(key).or_default();
            (sides.connectors, sides.listeners) = (self.is_matched.into(), self.is_matched.into());
        }
        let entries = self.entries.iter().map(|(entity, attributes)| {
            let is_idle = match entity.as_str() {
                // It hears of every key or of none.
                "tcpListener" | "listenerAddress" | "connector" => !self.is_matched,
                _ => false,
            };
            let remote = (entity == "connector" && self.is_matched).then(|| RemoteSite {
                id: "uid-east".to_owned(),
                name: Some("east".to_owned()),
            });
            let state = match (self.is_failing, is_idle) {
                (true, _) => EntryState::Failed("the router cannot do it".to_owned()),
                (false, true) => EntryState::Idle,
                (false, false) => EntryState::Up,
            };
            let hash = config::hash(attributes);
            (
                format!("{entity}/{}", text(attributes, "name")),
                RouterEntry {
                    hash,
                    state,
                    remote,
                },
            )
        });
        let entries = entries.collect();
        let services = keys
            .keys()
            .map(|key| (key.clone(), RouterService::default()));
        RouterState {
            sockets_unknown: None,
            error: None,
            entries,
            services: services.collect(),
            keys: keys.clone(),
            sites: Vec::new(),
        }
    }
}

impl ProviderState for Desk {
    /// Nothing: a router acts by the configuration alone, which belongs to the Site.
    fn leftovers(&self) -> Vec<String> {
        Vec::new()
    }

    const MEDDLINGS: &[&str] = &["match", "part", "fail", "recover", "start anew"];

    fn perturb(&mut self, what: &str) {
        match what {
            "match" => self.is_matched = true,
            "part" => self.is_matched = false,
            "fail" => self.is_failing = true,
            "recover" => self.is_failing = false,
            _ => *self = Self::default(),
        }
    }
}

/// Queries the one router, whatever Pods exist.
pub(super) struct SingleRouter(pub(super) Router);

impl Routers for SingleRouter {
    async fn fetch_state(
        &self,
        _: Vec<&Pod>,
        _: Vec<&ConfigMap>,
    ) -> Result<RouterState, CallError> {
        self.0
            .query("look at the router", |desk| Ok(desk.state()))
            .await
    }
}
