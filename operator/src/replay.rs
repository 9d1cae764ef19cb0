//! `lifecycle-operator replay`: creates the lifecycles of all products with the options of a
//! recorded operator, and compares them with its record.

use std::io::stdout;
use std::process::ExitCode;

use lifecycle_cli::process::cluster_domain::{ClusterDomain, NotADomain};
use lifecycle_cli::process::compared;
use lifecycle_inspect::replay::{Error, Header, Replay, Replayed};
use lifecycle_listener::controller as listeners;
use lifecycle_skupper::controller as sites;

/// Prints the decisions of this version that differ, and returns the exit code.
pub(crate) fn run(options: &Replay) -> ExitCode {
    let found = lifecycle_inspect::replay::run(options, lifecycles, &mut stdout().lock());
    compared(found.map(|verdict| verdict as u8).map_err(Into::into))
}

fn unmade(error: NotADomain) -> Error {
    Error::Lifecycles(error.to_string())
}

/// All lifecycles of all products, as the recorded operator ran them.
fn lifecycles(header: &Header) -> Result<Vec<Replayed>, Error> {
    let setting = |name: &str| header.settings.get(name).map(String::as_str);
    let domain = match setting(listeners::CLUSTER_DOMAIN) {
        Some(domain) => domain.parse::<ClusterDomain>().map_err(unmade)?,
        None => ClusterDomain::usual(),
    };
    let namespace = setting(sites::NAMESPACE).unwrap_or_default();
    let name = setting(sites::CONTROLLER).unwrap_or_default();
    let all = listeners::lifecycles(&domain).into_iter();
    let all = all.chain(sites::lifecycles(namespace, name));
    let all = all.map(|(machine, naming)| {
        let is_site = machine.ir().path == lifecycle_specs_skupper::site::IR.path;
        match (is_site, Replayed::new(machine, naming)) {
            (true, site) => site.not_compared("router", "its image is an option of the controller"),
            (false, other) => other,
        }
    });
    Ok(all.collect())
}
