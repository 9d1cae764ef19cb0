//! Output of `explain` in each state of a lifecycle. The lifecycle's suite reaches every state. The
//! explanation that a person with read permissions would see there is kept as a text. `BLESS=1`
//! writes the texts. A person must be able to act on each text.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use lifecycle_client::clock::Clock;
use lifecycle_inspect::explain::{Explained, Explanation, explain, text};
use lifecycle_runtime::controller::{Move, Passed};
use lifecycle_runtime::lifecycle::ObjectRef;
use lifecycle_runtime::machine::ir::{Lifecycle, Phase};
use lifecycle_runtime::machine::policy::Class;
use lifecycle_simulator::server::{Server, User};
use lifecycle_suite::resources::Suite;

/// Maximum number of settled worlds that are explained, each once.
const MOST: usize = 400;

/// Number of times that a world is read. A reconciliation may have observed a state that has
/// changed since.
const LOOKS: usize = 3;

/// An object in a state, with everything around it.
struct Met {
    object: ObjectRef,
    /// All that was known then.
    world: String,
    at_rest: bool,
    server: Server,
    at: Timestamp,
}

/// Worlds that were met, by the name of the state. Settled worlds come before those on the way.
type Worlds = BTreeMap<String, Vec<Met>>;

/// Brings the lifecycle into its states, and checks the explanations there against the texts of a
/// folder.
///
/// # Panics
/// Panics if a text differs, or a state is explained wrongly. Also panics if a state was never
/// reached and is not `excused`.
pub fn holds_texts(suite: Suite, all: &[Explained], folder: &Path, excused: &[&str]) {
    let ir = suite.ir();
    let met: Arc<Mutex<Worlds>> = Arc::default();
    let notes = Arc::clone(&met);
    let suite = suite.witness(move |pass, server| {
        let mut met = notes.lock().unwrap_or_else(PoisonError::into_inner);
        record_world(&mut met, ir, pass, server);
    });
    let report = suite.threads(1).faults(0, 0).run();
    let report = report.expect("the suite is complete");
    assert!(report.failures.is_empty(), "{report}");
    let met = std::mem::take(&mut *met.lock().unwrap_or_else(PoisonError::into_inner));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be built");
    let of = all.iter().find(|one| one.path() == ir.path);
    let of = of.expect("the lifecycle is among those that are explained");
    // The state that a reconciliation observed may have changed by then.
    let explained = |met: &Met| -> Option<Explanation> {
        let client = {
            let _entered = runtime.enter();
            met.server.client(&User::admin())
        };
        let name = (met.object.namespace.as_deref(), met.object.name.as_str());
        let told = runtime.block_on(explain(&client, all, of, name, met.at));
        told.expect("the server answers")
    };
    let mut wrong = Vec::new();
    let mut texts = BTreeMap::new();
    for (state, worlds) in &met {
        let told = |one: &&Met| Some((one.world.clone(), one.at_rest, explained(one)?));
        let told: Vec<_> = worlds.iter().filter_map(|one| told(&one)).collect();
        let is_right = |told: &Explanation| told.states.iter().any(|one| one.name == *state);
        let mut first: Option<(bool, &Explanation)> = None;
        for (world, at_rest, explanation) in &told {
            let mut same = told.iter().filter(|other| other.0 == *world);
            if *at_rest && !same.any(|other| is_right(&other.2)) {
                wrong.push(format!("{state} ({world}):\n{}", text(explanation)));
            }
            // Prefers settled worlds to those on the way.
            let is_first = first.is_none_or(|(was_at_rest, _)| *at_rest && !was_at_rest);
            if is_first && is_right(explanation) {
                first = Some((*at_rest, explanation));
            }
        }
        if let Some((_, shown)) = first {
            texts.insert(state.clone(), text(shown));
        }
    }
    compare(&texts, folder);
    assert!(
        wrong.is_empty(),
        "{} are told wrongly:\n\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    let met = texts;
    let unmet: Vec<&str> = ir
        .states
        .iter()
        .map(|state| state.name)
        .filter(|name| {
            let ready = ir.states.iter().find(|state| state.name == *name);
            let ready = ready.is_some_and(|state| state.phase == Phase::Ready);
            !ready && !met.contains_key(*name) && !excused.contains(name)
        })
        .collect();
    assert!(unmet.is_empty(), "never met: {unmet:?}");
    let needless: Vec<&&str> = excused
        .iter()
        .filter(|name| met.contains_key(**name))
        .collect();
    assert!(needless.is_empty(), "met after all: {needless:?}");
}

fn record_world(met: &mut Worlds, ir: &Lifecycle, pass: &Passed<'_>, server: &Server) {
    if pass.failure.is_some() || pass.ruled_out.is_some() {
        return;
    }
    let state = match pass.class {
        Class::State(state) => ir.states[state].name,
        Class::Deleting => "Deleting",
        Class::Refused { .. } => "Refused",
        Class::Contradiction => return,
    };
    let at_rest = pass.does == Move::Rest;
    let world = pass.observation.world.describe(ir);
    let all: usize = met.values().map(Vec::len).sum();
    let known = met.entry(state.to_owned()).or_default();
    let is_new = match at_rest {
        true => known.iter().filter(|one| one.world == world).count() < LOOKS && all < MOST,
        false => known.len() < LOOKS,
    };
    if is_new {
        known.push(Met {
            object: pass.object.clone(),
            world,
            at_rest,
            server: server.copy(),
            at: server.now(),
        });
    }
}

fn compare(texts: &BTreeMap<String, String>, folder: &Path) {
    let blesses = std::env::var_os("BLESS").is_some();
    let mut unlike = Vec::new();
    if blesses {
        fs::create_dir_all(folder).expect("the folder can be made");
    }
    for (state, told) in texts {
        let file = folder.join(format!("{state}.txt"));
        if blesses {
            fs::write(&file, told).expect("the text can be written");
        }
        let expected = fs::read_to_string(&file).unwrap_or_default();
        if expected != *told {
            unlike.push(format!("{}:\n{told}", file.display()));
        }
    }
    assert!(
        unlike.is_empty(),
        "run this test once with BLESS=1 and read what it changes:\n\n{}",
        unlike.join("\n")
    );
    let files = fs::read_dir(folder).expect("the folder is there");
    let names: BTreeSet<String> = files
        .filter_map(|file| file.ok()?.file_name().into_string().ok())
        .collect();
    let known: BTreeSet<String> = texts.keys().map(|state| format!("{state}.txt")).collect();
    assert_eq!(names, known, "{} has other texts", folder.display());
}
