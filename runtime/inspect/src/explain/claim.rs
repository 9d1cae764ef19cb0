//! Claim of a volume: the reply that the driver would give now to a request for its volume. The
//! call is not made. The operator's own code evaluates its lifecycle with the request that
//! external-provisioner would send.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Client;
use lifecycle_runtime::cluster::observe::{Failure, Observer};
use lifecycle_runtime::cluster::store::Name;
use lifecycle_runtime::lifecycle::request::{Access, AccessMode, Capability};
use lifecycle_runtime::lifecycle::{Compared, Kind, Requested, Stored};
use lifecycle_runtime::machine::answer::Answer;
use lifecycle_runtime::machine::ir::{Call, Code, Pred, Rpc};

use crate::explain::explained::Explained;
use crate::explain::explanation::{Act, Actor, Explanation, Route};
use crate::explain::fetch::{self, Fetched, Unreadable};
use crate::explain::look::Inspection;
use crate::explain::reported::Reported;

/// Annotations of a claim that name its driver.
const DRIVERS: [&str; 2] = [
    "volume.kubernetes.io/storage-provisioner",
    "volume.beta.kubernetes.io/storage-provisioner",
];
/// Of an object that is made for a claim: how it is related.
const MADE: &str = "it is made for this one";
/// So often a look is begun anew.
const ROUNDS: usize = 16;

/// Looks at a claim through the call that would create its volume.
///
/// # Errors
/// The API server does not answer.
pub(crate) async fn inspect_claim<'a>(
    client: &Client,
    of: &'a Explained,
    kind: &Kind,
    (name, subject): (Name, Arc<Stored>),
    now: Timestamp,
) -> Result<Inspection<'a>, Unreadable> {
    let ir = of.ir();
    let mut fetched = Fetched::new(client, of, (kind, None), now);
    let request = Arc::new(subject.get().map(request).unwrap_or_default());
    let stand_in = stand_in(&request);
    let call = ir.calls.iter().find(|call| call.rpc == Rpc::CreateVolume);
    let mut rounds = 0;
    let observed = loop {
        let observed = {
            let observer = Observer {
                machine: &*of.machine,
                subject_kind: None,
                call,
                kinds: &fetched.kinds,
                finders: &fetched.finders,
                naming: &of.naming,
                view: &fetched,
            };
            observer.observe_call(Arc::clone(&request), Arc::clone(&stand_in))
        };
        rounds += 1;
        match &observed.failure {
            Some(Failure::Unfetched { input, keys }) if rounds < ROUNDS => {
                fetched.fetch(*input, keys).await?;
            }
            Some(_) | None => break observed,
        }
    };
    Ok(Inspection {
        of,
        ir,
        kind: kind.clone(),
        kinds: fetched.kinds.clone(),
        name,
        reported: Reported::from_object(&subject),
        subject,
        unread: fetched.unread.clone(),
        open: BTreeSet::new(),
        worlds: vec![observed.observation.world.clone()],
        agrees: true,
        observed,
        now,
    })
}

/// Replaces the parts of an explanation that differ between a claim and an object with a lifecycle
/// of its own.
pub(crate) fn explain_claim(look: &Inspection<'_>, explanation: &mut Explanation) {
    explanation.way = Route::default();
    explanation.since = None;
    let claim = look.subject.get::<PersistentVolumeClaim>();
    let status = claim.and_then(|claim| claim.status.as_ref());
    let phase = status.and_then(|status| status.phase.as_deref());
    let spec = claim.and_then(|claim| claim.spec.as_ref());
    let volume = spec.and_then(|spec| spec.volume_name.as_deref());
    explanation.status.says = vec![format!("phase is {}", phase.unwrap_or("Pending"))];
    let (state, who, wakes) = match (phase, volume, other_driver(look, claim)) {
        (_, _, Some(driver)) => (
            "Error",
            act(
                Actor::OtherController,
                format!("its StorageClass is served by the driver `{driver}`, not by this one"),
            ),
            String::new(),
        ),
        (Some("Bound"), Some(volume), None) => (
            "Ready",
            act(
                Actor::Nobody,
                format!("it is bound to PersistentVolume `{volume}`"),
            ),
            String::new(),
        ),
        (_, _, None) => driver_answer(look),
    };
    for one in &mut explanation.states {
        state.clone_into(&mut one.phase);
    }
    explanation.who = vec![who];
    explanation.wakes = vec![wakes];
    explanation.wakes.retain(|line| !line.is_empty());
}

/// Object that is made for the claim when a Pod mounts it: how it is related, its lifecycle by position, and its name.
pub(crate) fn created_objects(
    look: &Inspection<'_>,
    all: &[Explained],
) -> Vec<(String, usize, Name)> {
    let named = named(look).into_iter().filter_map(|(kind, name)| {
        let is_it = |one: &Explained| one.kind().is_some_and(|own| own.is(kind));
        Some((MADE.to_owned(), all.iter().position(is_it)?, name))
    });
    named.collect()
}

/// The same by kind.
fn named<'l>(look: &'l Inspection<'_>) -> Vec<(&'l Kind, Name)> {
    let Some(claim) = look.subject.get::<PersistentVolumeClaim>() else {
        return Vec::new();
    };
    let named = look.of.made.iter().filter_map(|(kind, name)| {
        let namespace = look.name.namespace.clone();
        let name = name(claim)?;
        Some((kind, Name { namespace, name }))
    });
    named.collect()
}

/// Explains a bound claim through the object created for it. While that object is not Ready, or
/// belongs to another owner, no Pod can mount the claim.
///
/// # Errors
/// The API server does not answer.
pub(crate) async fn follow(
    client: &Client,
    look: &Inspection<'_>,
    explanation: &mut Explanation,
) -> Result<(), Unreadable> {
    let claim = look.subject.get::<PersistentVolumeClaim>();
    let spec = claim.and_then(|claim| claim.spec.as_ref());
    let status = claim.and_then(|claim| claim.status.as_ref());
    let is_bound = status.and_then(|status| status.phase.as_deref()) == Some("Bound");
    let volume = spec.and_then(|spec| spec.volume_name.as_deref());
    let Some(volume) = volume.filter(|_| is_bound && other_driver(look, claim).is_none()) else {
        return Ok(());
    };
    for (kind, name) in named(look) {
        let Ok(Some(made)) = fetch::object(client, kind, &name).await? else {
            continue;
        };
        let object = name.of_kind(kind).to_string();
        let trouble = not_of(volume, &made.meta, &object).or_else(|| {
            let mut related = explanation.related.iter().filter(|one| one.how == MADE);
            let inside = related.find(|one| one.object.to_string() == object);
            unready(inside?.explanation.as_deref()?)
        });
        if let Some((phase, who)) = trouble {
            explanation.who = who;
            for state in &mut explanation.states {
                phase.clone_into(&mut state.phase);
            }
        }
    }
    Ok(())
}

/// The phase and who must act where an object of the name is not of the claim's volume.
fn not_of(volume: &str, made: &ObjectMeta, object: &str) -> Option<(String, Vec<Act>)> {
    let owners = made.owner_references.iter().flatten();
    let mut owners =
        owners.filter(|owner| owner.kind == "PersistentVolume" && owner.api_version == "v1");
    let earlier = owners.clone().next();
    if owners.any(|owner| owner.name == volume) {
        return None;
    }
    let (phase, who) = match earlier {
        Some(owner) => {
            let name = &owner.name;
            let what = format!(
                "{object} belongs to the earlier PersistentVolume `{name}` and goes with it; no Pod can mount the claim before: wait, or delete that volume"
            );
            ("Pending", act(Actor::Cluster, what))
        }
        None => {
            let what = format!(
                "{object} exists and is not of this claim, so no Pod can mount it: rename the claim, or remove that object"
            );
            ("Error", act(Actor::Person, what))
        }
    };
    Some((phase.to_owned(), vec![who]))
}

/// Returns the phase and the required actions if the created object is not Ready.
fn unready(made: &Explanation) -> Option<(String, Vec<Act>)> {
    let unready = made.states.iter().find(|state| state.phase != "Ready")?;
    let object = &made.object;
    let acts = made.who.iter();
    let acts = acts.map(|one| act(one.who, format!("{object}: {}", one.what)));
    Some((unready.phase.clone(), acts.collect()))
}

fn act(who: Actor, what: String) -> Act {
    Act { who, what }
}

/// Returns the answer that the driver would give now.
fn driver_answer(look: &Inspection<'_>) -> (&'static str, Act, String) {
    let again = "csi-provisioner, which retries by itself with increasing delays".to_owned();
    let (ir, world) = (look.ir, &look.worlds[0]);
    if let Some(failure) = &look.observed.failure {
        return ("Error", act(Actor::Person, failure.to_string()), again);
    }
    let found = ir.calls.iter().position(|c| c.rpc == Rpc::CreateVolume);
    let Some(call) = found else {
        let what = "the driver makes no volumes: create a PersistentVolume".to_owned();
        return ("Error", act(Actor::Person, what), String::new());
    };
    let refused = |code: Code, why: Option<&str>, when: &Pred| {
        let mut said: Vec<&str> = why.into_iter().collect();
        let sentences = when.vars().into_iter().filter_map(|var| {
            let seen = &look.observed.observation;
            seen.sentences[var].as_deref()
        });
        said.extend(sentences);
        said.dedup();
        let what = format!("CreateVolume is refused ({code:?}): {}", said.join("; "));
        ("Error", act(Actor::Person, what), again.clone())
    };
    let of: &Call = &ir.calls[call];
    match ir.answer(world, call) {
        Answer::Precondition(at) => {
            let precondition = &of.preconditions[at];
            refused(
                precondition.code,
                Some(precondition.name),
                &precondition.when,
            )
        }
        Answer::Refusal(at) => {
            let refusal = &of.refusals[at];
            refused(refusal.code, refusal.why, &refusal.when)
        }
        Answer::Done => {
            let what = "the volume can be made: csi-provisioner is to ask for it, once a Pod that uses the claim has a node where the StorageClass waits for that";
            let wakes = "a Pod that uses the claim, when it has a node".to_owned();
            ("Pending", act(Actor::Cluster, what.to_owned()), wakes)
        }
        Answer::Effect(effect) => {
            let what = format!("CreateVolume would run `{}`", ir.effects[effect].name);
            ("Pending", act(Actor::Operator, what), again)
        }
        Answer::Wait => {
            let what = "CreateVolume would wait for what is promised".to_owned();
            ("Pending", act(Actor::Cluster, what), again)
        }
        Answer::Contradiction => {
            let what = ir.contradiction(world);
            ("Error", act(Actor::Person, what), again)
        }
    }
}

/// The driver of the claim, if it is another one.
fn other_driver(look: &Inspection<'_>, claim: Option<&PersistentVolumeClaim>) -> Option<String> {
    let ours = look.of.driver()?;
    let annotations = claim?.metadata.annotations.as_ref()?;
    let driver = DRIVERS.iter().find_map(|key| annotations.get(*key))?;
    (driver != ours).then(|| driver.clone())
}

/// Returns the request that external-provisioner makes for a claim.
fn request(claim: &PersistentVolumeClaim) -> Requested {
    let meta = &claim.metadata;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let is_block = claim
        .spec
        .as_ref()
        .and_then(|spec| spec.volume_mode.as_deref())
        == Some("Block");
    let access = match is_block {
        true => Access::Block,
        false => Access::Mount {
            fs_type: String::new(),
            flags: Vec::new(),
        },
    };
    Requested {
        name: format!("pvc-{}", text(&meta.uid)),
        parameters: BTreeMap::from([
            ("csi.storage.k8s.io/pvc/name".to_owned(), text(&meta.name)),
            (
                "csi.storage.k8s.io/pvc/namespace".to_owned(),
                text(&meta.namespace),
            ),
        ]),
        capabilities: vec![Capability {
            access,
            mode: AccessMode::MultiNodeMultiWriter,
        }],
        ..Requested::default()
    }
}

/// Returns the stand-in for the object in a call.
fn stand_in(request: &Requested) -> Arc<Stored> {
    let meta = ObjectMeta {
        name: Some(request.name.clone()),
        uid: Some(request.name.clone()),
        ..ObjectMeta::default()
    };
    Arc::new(Stored {
        meta,
        decoded: Err("a call has no object".to_owned()),
        raw: None,
        compared: Compared::default(),
        before: None,
        unread: None,
    })
}
