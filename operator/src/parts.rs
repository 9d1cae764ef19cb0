//! The parts of the products by ServiceAccount, and the actions of each part besides its
//! lifecycles. Only generates texts from them; nothing runs here.

use lifecycle_cli::process::cluster_domain::ClusterDomain;
use lifecycle_generate::rights::{Object, Verb};
use lifecycle_generate::{Part, Program};
use lifecycle_listener::volume::{Mount, Registration};
use lifecycle_listener::{controller as listeners, volume};
use lifecycle_skupper::controller as skupper;
use lifecycle_skupper::grants::service;
use lifecycle_skupper::router::existing;
use lifecycle_specs_listener::listener;

/// Namespace in which the Listener operator is installed.
const LISTENERS: &str = "listener-operator";
/// Namespace in which the controller of sites is installed, and its name.
const SKUPPER: (&str, &str) = ("skupper", "skupper-controller");
/// Side-car that requests volumes.
const SIDE_CAR: &str = "the side-car csi-provisioner";
/// All that a right may be for.
const VERBS: [Verb; 7] = [
    Verb::Get,
    Verb::List,
    Verb::Watch,
    Verb::Create,
    Verb::Update,
    Verb::Patch,
    Verb::Delete,
];

/// Both products, a part for each ServiceAccount; they are called as the parts that `run` knows.
pub fn program() -> Program {
    Program::new()
        .part(controller())
        .part(provisioner())
        .part(node())
        .part(sites())
}

fn controller() -> Part {
    let logic = lifecycle_listener::listener::Exposure {
        cluster_domain: ClusterDomain::usual().to_string(),
    };
    let part = Part::new("controller", "listener-operator-controller", LISTENERS)
        .runs(listener::machine(logic))
        .installs((listeners::KINDS.definitions)())
        .leads_by(&format!("{}-controller", listeners::NAME));
    let classes = Object::all(listeners::NAME, "listenerclasses");
    let events = Object::all("events.k8s.io", "events");
    let part = part
        .also(
            classes,
            &[Verb::Get, Verb::Create],
            "the classes of the preset that are missing are made",
        )
        .also(
            events,
            &[Verb::Create, Verb::Patch],
            "an event reports a class that differs from the preset",
        )
        .also(
            Object::all("", "persistentvolumes"),
            &[Verb::List, Verb::Patch],
            "volumes that the replaced operator did not label get their labels",
        );
    serving(part, volume::provisions(listeners::NAME, ""))
}

/// Returns the rights of csi-provisioner, which runs beside the controller.
fn provisioner() -> Part {
    use Verb::{Create, Delete, Get, List, Patch, Update, Watch};
    let core = |resource| Object::all("", resource);
    let storage = |resource| Object::all("storage.k8s.io", resource);
    Part::new("provisioner", "listener-operator-controller", LISTENERS)
        .role("listener-operator-provisioner")
        .everywhere()
        .also_for_others(
            core("persistentvolumes"),
            &[Get, List, Watch, Create, Patch, Delete],
            SIDE_CAR,
        )
        .also_for_others(
            core("persistentvolumeclaims"),
            &[Get, List, Watch, Update],
            SIDE_CAR,
        )
        .also_for_others(core("nodes"), &[Get, List, Watch], SIDE_CAR)
        .also_for_others(
            core("events"),
            &[Get, List, Watch, Create, Update, Patch],
            SIDE_CAR,
        )
        .also_for_others(storage("csinodes"), &[Get, List, Watch], SIDE_CAR)
        .also_for_others(storage("storageclasses"), &[Get, List, Watch], SIDE_CAR)
}

fn node() -> Part {
    let mount = Mount {
        endpoint: String::new(),
        node: String::new(),
        registration: Some(Registration {
            folder: "/registration".into(),
            endpoint_on_host: "/csi/csi.sock".into(),
        }),
    };
    let part = Part::new("node", "listener-operator-node", LISTENERS);
    serving(part, volume::mounts(listeners::NAME, mount))
}

/// Adds the lifecycles of volumes, and the kinds that their processes cache.
fn serving(mut part: Part, volumes: lifecycle_csi::Volumes) -> Part {
    for served in volumes.into_served() {
        part = part.watches(&served.always_watched());
        part = part.runs_shared(served.machine);
    }
    part
}

fn sites() -> Part {
    let (namespace, name) = SKUPPER;
    let part = Part::new("skupper", name, namespace)
        .installs((skupper::KINDS.definitions)())
        .leads_by(&format!("{}-{name}", skupper::NAME));
    let machines = skupper::lifecycles(namespace, name).into_iter();
    let part = machines.fold(part, |part, (machine, _)| part.runs_shared(machine));
    let given_on = "granted to the router of a Site, by effect `apply_rights`: a controller can only grant rights that it has";
    let redeemed = "the grant server: what it gives, and that it was given";
    let numbered = "the numbers of Secrets, without which the existing adaptor uses none";
    let grants = Object::all("skupper.io", "accessgrants");
    let reached = Object::all("", "services").own().named([service::SERVICE]);
    let authority = Object::all("", "secrets").own().named([service::AUTHORITY]);
    let shown = "presented to the router of a Site, to query its state";
    let ended = "the authority of the grant server is made anew before it ends";
    let part = existing::RIGHTS.into_iter().fold(part, |part, right| {
        let (group, resources, verbs) = right;
        let verbs: Vec<Verb> = VERBS
            .into_iter()
            .filter(|verb| verbs.contains(&verb.as_str()))
            .collect();
        let give = |part: Part, resource: &&str| {
            part.also_for_others(Object::all(group, resource), &verbs, given_on)
        };
        resources.iter().fold(part, give)
    });
    part.also(
        grants,
        &[Verb::Get, Verb::List, Verb::Watch, Verb::Patch],
        redeemed,
    )
    .also(
        Object::all("", "secrets"),
        &[Verb::Get, Verb::List, Verb::Watch, Verb::Patch],
        numbered,
    )
    .also(
        Object::all("", "configmaps"),
        &[Verb::Get, Verb::List, Verb::Watch],
        numbered,
    )
    .also(reached, &[Verb::Get], redeemed)
    .also(Object::all("skupper.io", "sites"), &[Verb::List], redeemed)
    .also(Object::all("", "configmaps"), &[Verb::Get], redeemed)
    .also(Object::all("", "secrets"), &[Verb::Get], redeemed)
    .also(authority, &[Verb::Update], ended)
    .also(Object::all("", "secrets").own(), &[Verb::Create], ended)
    .also(Object::all("", "secrets"), &[Verb::Get], shown)
}
