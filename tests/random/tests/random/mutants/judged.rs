//! Outcome of a mutant of the gallery. A mutant that compiles runs as a machine of the random
//! lifecycles. Each run is checked against the declaration as written.

use std::collections::BTreeSet;

use lifecycle_random::cluster::Cluster;
use lifecycle_random::meant::{Aspect, Compiled, Declaration};
use lifecycle_random::mutants::{Mutant, Source, mutants};
use lifecycle_random::planted::Planted;
use lifecycle_random::run::{Prepared, Ran, prepare_any, run};

use super::gallery::text_of;

/// Number of worlds that the environment moves towards in a run.
const MOVES: usize = 12;
/// How many runs a mutant has.
const RUNS: u64 = 2;
/// Maximum number of different worlds that it moves towards.
const WORLDS: usize = 48;

/// Outcome of a mutant.
#[derive(Clone, Debug)]
pub(crate) enum Fate {
    /// By this rule.
    Refused(&'static str),
    /// Authors meet other types or methods.
    Met,
    /// Detected by a run, with its first finding.
    Shown(String),
    /// Not different in any aspect that a reconciliation depends on. The set holds the other
    /// differing aspects and may be empty.
    Same(BTreeSet<Aspect>),
    /// Different but not detected: all differing aspects, and those in worlds that a run reached.
    Unseen(BTreeSet<Aspect>, BTreeSet<Aspect>),
}

/// A declaration of the gallery.
pub(crate) struct Original {
    pub(crate) name: String,
    met: BTreeSet<String>,
    meant: Declaration,
    prepared: Prepared,
}

impl Original {
    /// With all its mutants.
    pub(crate) fn with_mutants(name: &str) -> (Self, Vec<Mutant>) {
        let source = Source::parse(&text_of(name));
        let compiled = Compiled::compile(source.body()).expect("it has no findings");
        let meant = compiled.declaration();
        let prepared = prepare_any(&meant.text).expect("it has no findings, and few inputs");
        let mutants = mutants(&source, &compiled.caused());
        let original = Self {
            name: name.to_owned(),
            met: compiled.met(),
            meant,
            prepared,
        };
        (original, mutants)
    }

    pub(crate) fn judge(&self, mutant: &Mutant, cluster: &Cluster) -> Fate {
        let compiled = match Compiled::compile(mutant.source.body()) {
            Err(rule) => return Fate::Refused(rule),
            Ok(compiled) => compiled,
        };
        if compiled.met() != self.met {
            return Fate::Met;
        }
        let meant = compiled.declaration();
        let differences = self.meant.differences(&meant);
        if differences.iter().any(|aspect| aspect.acts()) {
            return self.run_mutant(&meant, differences, cluster);
        }
        Fate::Same(differences)
    }

    fn run_mutant(
        &self,
        meant: &Declaration,
        differs: BTreeSet<Aspect>,
        cluster: &Cluster,
    ) -> Fate {
        let worlds = self.meant.disputed(meant, WORLDS);
        let ran = |by: &Declaration, seed: u64| -> Ran {
            let driven = self.prepared.driven_by(by).towards(worlds.clone());
            run(&driven, &Planted::nothing(), cluster, seed, MOVES)
        };
        let mut reached = BTreeSet::new();
        for seed in 0..RUNS {
            let shown = ran(meant, seed);
            if let Some(finding) = shown.findings.first()
                && ran(&self.meant, seed).findings.is_empty()
            {
                let kind = finding.split(':').next().unwrap_or_default();
                return Fate::Shown(kind.to_owned());
            }
            for world in &shown.worlds {
                let aspects = self.meant.differences_in(meant, world).into_iter();
                reached.extend(aspects.filter(|aspect| aspect.acts()));
            }
        }
        Fate::Unseen(differs, reached)
    }
}
