//! Creation of objects: filled-in fields, refusals, and their order. Reaches the rules of kinds
//! only through `strategy`.

use std::sync::Arc;

use rand_pcg::rand_core::Rng;
use serde_json::Value;

use super::answer::Answer;
use super::call::Call;
use super::failure::Failure;
use super::kinds::Kind;
use super::metadata as rules;
use super::object::{self, meta, metadata, name};
use super::shape::{self, Write};
use super::state::State;
use super::store::{StoreKey, Stored};
use super::{events, reviews, services, strategy};

/// Letters in the suffix of a generated name.
const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
const SUFFIX: usize = 5;
/// The longest prefix of a generated name.
const PREFIX: usize = 63 - SUFFIX;
/// How often another name is tried.
const TRIES: usize = 8;

/// A POST to the objects of a kind.
pub(crate) fn post(state: &mut State, call: &Call<'_>) -> Result<Answer, Failure> {
    if call.kind.virtual_only {
        return reviews::review(state, call);
    }
    let object = call.body()?;
    call.check_type(&object)?;
    let (object, warnings) = shape::decode(call, object)?;
    let made = make(state, call, object, Write::Plain)?;
    Ok(Answer::bytes(201, call.view.object(&made)).warn(warnings))
}

/// Makes an object that is decoded already.
pub(crate) fn make(
    state: &mut State,
    call: &Call<'_>,
    mut object: Value,
    write: Write,
) -> Result<Arc<Stored>, Failure> {
    let kind = &call.kind;
    rules::settle_namespace(&mut object, call.namespace())?;
    rules::dedup_owners(&mut object);
    object::tidy(&mut object, kind.custom);
    let generate = name(&object).is_empty() && !meta(&object, "generateName").is_empty();
    check_namespace(state, kind, &object)?;
    let server_side = [
        "selfLink",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ];
    metadata(&mut object).retain(|field, _| !server_side.contains(&field.as_str()));
    shape::track(state, call, None, &mut object, write);
    for attempt in 0.. {
        let mut object = object.clone();
        if generate {
            let name = generated(state, kind, &object);
            metadata(&mut object).insert("name".to_owned(), name.into());
        }
        let key = StoreKey::new(call.namespace(), name(&object));
        let there = state.store.get(&kind.store, &key);
        if generate && there.is_some() && attempt < TRIES {
            continue;
        }
        let deleting = there.map(|there| object::is_deleting(&there.value()));
        let object = prepare(state, call, object, &key)?;
        if let Some(deleting) = deleting {
            return Err(Failure::exists(kind, &key.name, deleting));
        }
        if !meta(&object, "resourceVersion").is_empty() {
            return Err(Failure::unforeseen(
                "resourceVersion should not be set on objects to be created",
            ));
        }
        return commit(state, call, key, object);
    }
    unreachable!("the loop ends by returning")
}

/// Fills in the server's fields, and refuses an invalid object.
fn prepare(
    state: &mut State,
    call: &Call<'_>,
    mut object: Value,
    key: &StoreKey,
) -> Result<Value, Failure> {
    let kind = &call.kind;
    let (uid, now) = (state.uid(kind, key), state.now());
    let metadata = metadata(&mut object);
    metadata.insert("uid".to_owned(), uid.into());
    metadata.insert("creationTimestamp".to_owned(), now.as_str().into());
    if kind.custom || kind.traits.generation {
        metadata.insert("generation".to_owned(), 1.into());
    }
    strategy::prepare_new(call, &mut object);
    if kind.is("", "persistentvolumes") {
        object["status"]["lastPhaseTransitionTime"] = now.into();
    }
    let mut causes = rules::of_new(kind, &object);
    causes.extend(shape::validate(call, None, &object));
    causes.extend(strategy::validate_new(call, &object));
    if !causes.is_empty() {
        return Err(Failure::invalid(kind, name(&object), &causes));
    }
    if events::is_other_view(kind) {
        object = events::to_store(object);
    }
    if &*kind.store == "events" {
        events::default(&mut object);
    }
    Ok(object)
}

fn commit(
    state: &mut State,
    call: &Call<'_>,
    key: StoreKey,
    mut object: Value,
) -> Result<Arc<Stored>, Failure> {
    let kind = &call.kind;
    if kind.is("", "services") {
        services::allocate(state, kind, &mut object, None, call.dry_run)?;
    }
    if call.dry_run {
        return Ok(Arc::new(Stored::draft(kind, key, object)));
    }
    shape::check_size(call, 0, &object)?;
    shape::read_back(call, &mut object);
    Ok(strategy::store(state, kind, key, object))
}

/// Refuses an object in a namespace that does not exist or is being deleted.
fn check_namespace(state: &State, kind: &Kind, object: &Value) -> Result<(), Failure> {
    let namespace = object::namespace(object);
    if !kind.namespaced || namespace.is_empty() {
        return Ok(());
    }
    let namespaces = state.kind("", "namespaces");
    let found = state.store.get("namespaces", &StoreKey::new("", namespace));
    let found = found.ok_or_else(|| Failure::not_found(&namespaces, namespace))?;
    if found.field("status.phase") == "Terminating" {
        return Err(Failure::terminating(kind, name(object), namespace));
    }
    Ok(())
}

fn generated(state: &mut State, kind: &Kind, object: &Value) -> String {
    let prefix: String = meta(object, "generateName").chars().take(PREFIX).collect();
    let namespace = object::namespace(object).to_owned();
    let mut random = state.draw(&["name", &kind.store, &namespace, &prefix]);
    let letters = (0..SUFFIX).map(|_| {
        let index = usize::try_from(random.next_u32()).unwrap_or(0) % LETTERS.len();
        char::from(LETTERS[index])
    });
    let suffix: String = letters.collect();
    prefix + &suffix
}
