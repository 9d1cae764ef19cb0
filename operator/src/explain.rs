//! `lifecycle-operator explain`: the lifecycles that can be explained, and the data that only their
//! operators have.

use std::io::stdout;

use kube::Client;
use kube::api::{Api, ListParams};
use lifecycle_cli::process::cluster_domain::ClusterDomain;
use lifecycle_inspect::explain::{Explain, Explained};
use lifecycle_specs_listener::listener::Listener;
use lifecycle_specs_skupper::site::Site;

/// Namespace and name of the controller of Skupper sites, as in `deploy/skupper/controller.yaml`,
/// unless a Site reports otherwise.
const CONTROLLER: (&str, &str) = ("skupper", "skupper-controller");

/// Runs the explanation that the command line requests.
///
/// # Errors
/// Returns an error if no API server is configured or answers, or if the object does not exist.
pub(crate) async fn run(options: &Explain) -> anyhow::Result<()> {
    let (client, namespace) = options.connection.connect().await?;
    let lifecycles = lifecycles(&client).await;
    let wanted = (options, namespace.as_str());
    Ok(lifecycle_inspect::explain::run(&client, &lifecycles, wanted, &mut stdout().lock()).await?)
}

/// All lifecycles of all products.
async fn lifecycles(client: &Client) -> Vec<Explained> {
    let listeners = lifecycle_listener::controller::lifecycles(&ClusterDomain::usual());
    let (namespace, name) = controller(client).await;
    let sites = lifecycle_skupper::controller::lifecycles(&namespace, &name);
    let all = listeners.into_iter().chain(sites);
    let all = all.map(|(machine, naming)| Explained::new(machine, naming));
    let (machine, naming, driver) = lifecycle_listener::volume::provisioned();
    let claims = Explained::of_claims(machine, naming, driver);
    let claims = claims.made_for_claims::<Listener>(lifecycle_listener::volume::made_for);
    all.chain([claims])
        .map(|one| match one.qualified_name().as_str() {
            "skupper.io/Site" => {
                one.not_compared("router", "its image is an option of the controller")
            }
            _ => one,
        })
        .collect()
}

/// The controller of Skupper sites, as the status of a Site names it.
async fn controller(client: &Client) -> (String, String) {
    let sites: Api<Site> = Api::all(client.clone());
    // If no Site exists or may be read, nothing is lost except namespaces of other controllers.
    let sites = sites.list(&ListParams::default()).await;
    let sites = sites.map(|list| list.items).unwrap_or_default();
    let mut named = sites.into_iter().filter_map(|site| {
        let controller = site.status?.controller?;
        Some((controller.namespace?, controller.name?))
    });
    named
        .next()
        .unwrap_or_else(|| (CONTROLLER.0.to_owned(), CONTROLLER.1.to_owned()))
}
