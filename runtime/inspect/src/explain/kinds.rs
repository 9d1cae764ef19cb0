//! Finds the lifecycle that a person means: kinds as kubectl takes them, by kind, singular, plural,
//! short name or `plural.group`.

use kube::Client;
use lifecycle_runtime::lifecycle::Kind;
use serde_json::Value;

use crate::explain::explained::Explained;
use crate::explain::fetch::resource;

/// The lifecycles that a word may mean, by position.
pub(crate) async fn find_lifecycles(client: &Client, all: &[Explained], word: &str) -> Vec<usize> {
    let word = word.to_lowercase();
    let (name, group) = match word.split_once('.') {
        Some((name, group)) => (name, Some(group)),
        None => (word.as_str(), None),
    };
    let of_group = |kind: &Kind| match group {
        None => true,
        // `listeners.v2alpha1.skupper.io` names the version as well.
        Some(group) => {
            let with_version = format!("{}.{}", kind.version, kind.group);
            kind.group == group || with_version == group
        }
    };
    let kinds = |fits: &dyn Fn(&Kind) -> bool| -> Vec<usize> {
        let all = all.iter().enumerate();
        let found = all.filter(|(_, one)| one.kind().is_some_and(|k| of_group(&k) && fits(&k)));
        found.map(|(at, _)| at).collect()
    };
    let named = kinds(&|kind| kind.kind.to_lowercase() == name || kind.plural == name);
    if !named.is_empty() {
        return named;
    }
    let mut found = Vec::new();
    for (at, one) in all.iter().enumerate() {
        let kind = one.kind().filter(of_group);
        if let Some(kind) = kind
            && short_names(client, &kind)
                .await
                .iter()
                .any(|short| short == name)
        {
            found.push(at);
        }
    }
    found
}

/// Returns the other names of a kind that the API server reports. Empty if the server does not
/// answer.
async fn short_names(client: &Client, kind: &Kind) -> Vec<String> {
    let path = match kind.group.as_str() {
        "" => format!("/api/{}", kind.version),
        group => format!("/apis/{group}/{}", kind.version),
    };
    let Ok(request) = http(&path) else {
        return Vec::new();
    };
    let Ok(served) = client.request::<Value>(request).await else {
        return Vec::new();
    };
    let resources = served["resources"].as_array().into_iter().flatten();
    let own = resources.filter(|one| one["name"].as_str() == Some(&kind.plural));
    let names = own.flat_map(|one| {
        let short = one["shortNames"].as_array().into_iter().flatten();
        short.chain(std::iter::once(&one["singularName"]))
    });
    names
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect()
}

fn http(path: &str) -> Result<http::Request<Vec<u8>>, http::Error> {
    http::Request::get(path).body(Vec::new())
}

/// Returns the list of explainable kinds, for an error.
pub(crate) fn listed(all: &[Explained]) -> String {
    let kinds = all.iter().filter_map(Explained::kind);
    let mut names: Vec<String> = kinds.map(|kind| resource(&kind)).collect();
    names.sort();
    names.join(", ")
}
