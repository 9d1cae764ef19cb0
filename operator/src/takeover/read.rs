//! Reads objects for a check, using only get and list. An object that may not be read is kept with
//! the reason.

use std::collections::BTreeSet;
use std::fmt::Debug;

use anyhow::Context;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use kube::core::NamespaceResourceScope;
use kube::{Client, Resource, ResourceExt};
use lifecycle_runtime::crds::Kinds;
use serde::de::DeserializeOwned;

use super::finding::Finding;

/// How many objects one answer may hold.
const PAGE: u32 = 500;

/// Objects, or why they may not be read.
pub(crate) type Read<T> = Result<Vec<T>, String>;

/// Namespaces that a check examines; all if there are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scope(BTreeSet<String>);

impl Scope {
    /// The namespaces that an operator would watch, and its own; all if it would watch all.
    pub(crate) fn new(watched: &BTreeSet<String>, own: &str) -> Self {
        let own = (!watched.is_empty()).then(|| own.to_owned());
        Self(watched.iter().cloned().chain(own).collect())
    }

    /// All objects of a kind in these namespaces. `api` accesses one namespace, or all.
    ///
    /// # Errors
    /// As `definitions`.
    pub(crate) async fn listed<K>(
        &self,
        api: impl Fn(Option<&str>) -> Api<K>,
        page: ListParams,
    ) -> anyhow::Result<Read<K>>
    where
        K: Resource + Clone + Debug + DeserializeOwned,
    {
        if self.0.is_empty() {
            return listed(api(None), page).await;
        }
        let mut all = Vec::new();
        for namespace in &self.0 {
            match listed(api(Some(namespace)), page.clone()).await? {
                Ok(objects) => all.extend(objects),
                Err(why) => return Ok(Err(why)),
            }
        }
        Ok(Ok(all))
    }

    /// A note for a check that does not examine all namespaces.
    pub(crate) fn note(&self) -> Option<Finding> {
        let names = Vec::from_iter(self.0.iter().map(String::as_str)).join(", ");
        (!self.0.is_empty()).then(|| {
            Finding::note(
                "Namespaces",
                format!(
                    "only {names} were examined, so a controller in another namespace is not found"
                ),
                "run without --watch-namespaces, with the rights to list in all namespaces",
            )
        })
    }
}

/// Returns the access to a kind in one namespace, or in all.
pub(crate) fn typed<K>(client: &Client) -> impl Fn(Option<&str>) -> Api<K>
where
    K: Resource<Scope = NamespaceResourceScope>,
    K::DynamicType: Default,
{
    let client = client.clone();
    move |namespace: Option<&str>| match namespace {
        Some(namespace) => Api::namespaced(client.clone(), namespace),
        None => Api::all(client.clone()),
    }
}

/// The definitions of these kinds that exist.
///
/// # Errors
/// Returns an error if the API server cannot be reached. A refusal is not an error.
pub(crate) async fn definitions(
    client: &Client,
    kinds: &Kinds,
) -> anyhow::Result<Read<DynamicObject>> {
    let kind = ApiResource::erase::<CustomResourceDefinition>(&());
    let names: Vec<String> = (kinds.definitions)().iter().map(|d| d.name_any()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    got(Api::all_with(client.clone(), &kind), &names).await
}

/// All objects of a kind, page by page; none of one that is not served.
///
/// # Errors
/// As `definitions`.
pub(crate) async fn listed<K>(api: Api<K>, mut page: ListParams) -> anyhow::Result<Read<K>>
where
    K: Resource + Clone + Debug + DeserializeOwned,
{
    page = page.limit(PAGE);
    let mut all = Vec::new();
    loop {
        let list = match api.list(&page).await {
            Ok(list) => list,
            Err(error) => return refused(error, || format!("list {}", api.resource_url())),
        };
        all.extend(list.items);
        match list.metadata.continue_.unwrap_or_default().as_str() {
            "" => return Ok(Ok(all)),
            token => page = page.continue_token(token),
        }
    }
}

/// Those of the names that exist.
///
/// # Errors
/// As `definitions`.
pub(crate) async fn got<K>(api: Api<K>, names: &[&str]) -> anyhow::Result<Read<K>>
where
    K: Resource + Clone + Debug + DeserializeOwned,
{
    let mut all = Vec::new();
    for name in names {
        match api.get_opt(name).await {
            Ok(object) => all.extend(object),
            Err(error) => {
                return refused(error, || format!("get {}/{name}", api.resource_url()));
            }
        }
    }
    Ok(Ok(all))
}

fn refused<T>(error: kube::Error, request: impl Fn() -> String) -> anyhow::Result<Read<T>> {
    if let kube::Error::Api(status) = &error {
        match status.code {
            403 => return Ok(Err(status.message.clone())),
            404 => return Ok(Ok(Vec::new())),
            _ => {}
        }
    }
    Err(error).with_context(|| format!("cannot {}; mend that and run again", request()))
}

/// A finding for objects that may not be read, with the right that is missing.
pub(crate) fn unread<T>(kind: &str, right: &str, read: &Read<T>) -> Option<Finding> {
    let why = read.as_ref().err()?;
    let todo = format!("grant `{right}`, and run again");
    let found = format!("obstacles cannot be determined: {why}");
    Some(Finding::unread(kind, found, todo))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_of_some_namespaces_says_what_it_does_not_find() {
        let watched = ["west".to_owned(), "east".to_owned()].into();
        let note = Scope::new(&watched, "operators").note().unwrap();
        assert_eq!(
            note.found,
            "only east, operators, west were examined, so a controller in another namespace is not found"
        );
        assert_eq!(Scope::new(&BTreeSet::new(), "operators").note(), None);
    }
}
