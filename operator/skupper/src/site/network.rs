//! What a Site says of the services of its network. However many there are, a status must fit into its object and be cheap to read. Pure.

use std::collections::BTreeSet;

use lifecycle_specs_skupper::router::RouterState;
use lifecycle_specs_skupper::site::ServiceRecord;

/// As many connectors and listeners of a routing key are named.
const MOST_NAMES: usize = 16;
/// As many bytes are taken for all, roughly.
const ROOM: usize = 64 * 1024;
/// What a record takes beside its names.
const RECORD: usize = 64;

/// The routing keys that a router serves or offers, by name. Of more than there is room for, the first.
pub(super) fn services(report: &RouterState) -> Option<Vec<ServiceRecord>> {
    let mut room = ROOM;
    let records = report.services.iter().map(|(key, service)| ServiceRecord {
        routing_key: Some(key.clone()),
        connectors: first(&service.connectors),
        listeners: first(&service.listeners),
    });
    let records = records.take_while(|record| match room.checked_sub(size(record)) {
        Some(left) => {
            room = left;
            true
        }
        None => false,
    });
    let records: Vec<ServiceRecord> = records.collect();
    (!records.is_empty()).then_some(records)
}

fn first(names: &BTreeSet<String>) -> Option<Vec<String>> {
    let names: Vec<String> = names.iter().take(MOST_NAMES).cloned().collect();
    (!names.is_empty()).then_some(names)
}

fn size(record: &ServiceRecord) -> usize {
    let names = record.connectors.iter().chain(&record.listeners).flatten();
    let texts = names.chain(&record.routing_key);
    RECORD + texts.map(|text| text.len() + 3).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use lifecycle_specs_skupper::router::RouterService;
    use serde_json::json;

    use super::*;

    fn report(keys: usize, names: usize) -> RouterState {
        let service = |key: usize| {
            let names = |prefix: &str| (0..names).map(|n| format!("{prefix}{n:04}")).collect();
            let service = RouterService {
                connectors: names("10.0.0."),
                listeners: names("listener/"),
            };
            (format!("key{key:06}"), service)
        };
        RouterState {
            services: (0..keys).map(service).collect(),
            ..RouterState::default()
        }
    }

    #[test]
    fn services_are_told_by_routing_key() {
        assert_eq!(services(&report(0, 0)), None);
        let told = services(&report(1, 1));
        let expected = json!([{ "routingKey": "key000000", "connectors": ["10.0.0.0000"], "listeners": ["listener/0000"] }]);
        assert_eq!(json!(told), expected);
        let alone = services(&report(1, 0));
        assert_eq!(json!(alone), json!([{ "routingKey": "key000000" }]));
    }

    #[test]
    fn however_many_there_are_a_status_stays_small() {
        let told = services(&report(1, 1000)).unwrap_or_default();
        assert_eq!(told[0].listeners.as_ref().map(Vec::len), Some(MOST_NAMES));
        let told = services(&report(100_000, 50)).unwrap_or_default();
        let size = json!(told).to_string().len();
        assert!((ROOM / 2..=ROOM).contains(&size), "{size}");
        // Always the same ones.
        assert_eq!(told[0].routing_key.as_deref(), Some("key000000"));
    }
}
