//! Findings before the existing controller of Skupper sites is replaced, in all namespaces or in one.

mod access;
mod chosen;
mod controllers;
mod credentials;
mod found;
mod grants;
mod judge;
mod router;
mod spaces;
#[cfg(test)]
mod tests;

use kube::Client;

use super::finding::Finding;
use super::read::Scope;
use crate::plan::Sites;
use chosen::Chosen;
use found::ClusterObjects;

/// Reads a cluster and judges it.
///
/// # Errors
/// Returns an error if the API server cannot be reached. A refusal is not an error.
pub(crate) async fn findings(
    live: &Client,
    told: &Sites<'_>,
    scope: &Scope,
) -> anyhow::Result<Vec<Finding>> {
    let chosen = Chosen::new(told);
    let mut found = ClusterObjects::read(live, scope).await?;
    let needed = credentials::needed(&found, &chosen);
    found.credentials = found::credentials(live, needed.keys()).await?;
    let judged = judge::judge(&found, &chosen);
    Ok(judged.into_iter().chain(scope.note()).collect())
}
