//! `lifecycle-operator network`: the sites of a Skupper network, their links and their routing keys, as the statuses of Sites and Links have them. Reads them from
//! a cluster, or from the directory of a site without Kubernetes. Writes nothing but the drawing.

mod drawing;
mod map;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use kube::Api;
use kube::api::ListParams;
use lifecycle_router::{file, plain};
use lifecycle_runtime::kube::{Chosen, connect_to};
use lifecycle_skupper::files::token;
use lifecycle_specs_skupper::link::Link;
use lifecycle_specs_skupper::site::Site;
use serde_json::Value;

use crate::args::{DrawnAs, Network};
use map::Map;

/// Folder of the statuses of a site without Kubernetes.
const RESOURCES: &str = "runtime/resources";
/// The largest of them.
const LARGEST: u64 = 16 << 20;

/// Draws the network.
///
/// # Errors
/// Returns an error if no API server is configured or answers, if the directory cannot be read, or
/// if no Site exists.
pub(crate) async fn run(options: &Network, out: &mut impl Write) -> anyhow::Result<()> {
    let (sites, links) = match &options.directory {
        Some(directory) => of_directory(directory)?,
        None => of_cluster(options).await?,
    };
    let map = Map::new(&sites, &links);
    let is_old = |directory: &PathBuf| !token::is_served(directory);
    if let Some(directory) = options.directory.as_ref().filter(|one| is_old(one)) {
        let directory = plain::path(directory);
        eprintln!(
            "warning: no process serves {directory}: what follows was so when the last one ended"
        );
    }
    let drawn = match options.output {
        DrawnAs::Text => drawing::text(&map),
        DrawnAs::Dot => drawing::dot(&map),
        DrawnAs::Svg => drawing::svg(&map).map_err(anyhow::Error::msg)?,
    };
    out.write_all(drawn.as_bytes())?;
    Ok(())
}

async fn of_cluster(options: &Network) -> anyhow::Result<(Vec<Site>, Vec<Link>)> {
    let chosen = Chosen {
        context: options.context.clone(),
        impersonated: None,
    };
    let (client, usual) = connect_to(&chosen).await?;
    let namespace = options.namespace.as_deref().unwrap_or(&usual);
    let all = ListParams::default();
    let (sites, links) = match options.all_namespaces {
        true => (Api::all(client.clone()), Api::all(client)),
        false => (
            Api::namespaced(client.clone(), namespace),
            Api::namespaced(client, namespace),
        ),
    };
    let sites: Vec<Site> = sites.list(&all).await.context("cannot list Sites")?.items;
    let links: Vec<Link> = links.list(&all).await.context("cannot list Links")?.items;
    if sites.is_empty() {
        match options.all_namespaces {
            true => bail!("the cluster has no Site"),
            false => bail!(
                "namespace `{namespace}` has no Site: name another with --namespace, or take all with --all-namespaces"
            ),
        }
    }
    Ok((sites, links))
}

fn of_directory(directory: &Path) -> anyhow::Result<(Vec<Site>, Vec<Link>)> {
    let folder = directory.join(RESOURCES);
    let shown = plain::path(&folder);
    let (mut sites, mut links) = (Vec::new(), Vec::new());
    let entries = fs::read_dir(&folder)
        .with_context(|| format!("cannot read {shown}: does `run site` serve this directory?"))?;
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_none_or(|kind| kind != "yaml") {
            continue;
        }
        let broken = || format!("{} is no object of a site", plain::path(&path));
        let text = file::read(&path, LARGEST)
            .with_context(|| format!("cannot read {}", plain::path(&path)))?;
        let object: Value = serde_saphyr::from_slice(&text).with_context(broken)?;
        match object["kind"].as_str() {
            Some("Site") => sites.push(serde_json::from_value(object).with_context(broken)?),
            Some("Link") => links.push(serde_json::from_value(object).with_context(broken)?),
            Some(_) | None => {}
        }
    }
    if sites.is_empty() {
        bail!("{shown} has no Site: add one to input/resources");
    }
    Ok((sites, links))
}
