//! What becomes of a mutant of the gallery. What compiles drives a machine of the random lifecycles, and what is held is the declaration as it is written.

use std::collections::BTreeSet;

use lifecycle_random::cluster::Cluster;
use lifecycle_random::meant::{Aspect, Compiled, Declaration};
use lifecycle_random::mutants::{Mutant, Source, mutants};
use lifecycle_random::planted::Planted;
use lifecycle_random::run::{Prepared, Ran, prepare_any, run};

use super::gallery::text_of;

/// How many worlds the outside makes for in a run.
const MOVES: usize = 12;
/// How many runs a mutant has.
const RUNS: u64 = 2;
/// It makes for so many different ones at most.
const WORLDS: usize = 48;

/// What becomes of a mutant.
#[derive(Clone, Debug)]
pub(crate) enum Fate {
    /// By this rule.
    Refused(&'static str),
    /// Authors meet other types or methods.
    Met,
    /// By what a run says first.
    Shown(String),
    /// Nothing that a pass goes by is different, and nothing else either; or something else is.
    Same(BTreeSet<Aspect>),
    /// In what it differs, and in what in worlds to which a run came.
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
    pub(crate) fn of(name: &str) -> (Self, Vec<Mutant>) {
        let source = Source::of(&text_of(name));
        let compiled = Compiled::of(source.body()).expect("it has no findings");
        let meant = compiled.meant();
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
        let compiled = match Compiled::of(mutant.source.body()) {
            Err(rule) => return Fate::Refused(rule),
            Ok(compiled) => compiled,
        };
        if compiled.met() != self.met {
            return Fate::Met;
        }
        let meant = compiled.meant();
        let differences = self.meant.differences(&meant);
        if differences.iter().any(|aspect| aspect.acts()) {
            return self.drive(&meant, differences, cluster);
        }
        Fate::Same(differences)
    }

    fn drive(&self, meant: &Declaration, differs: BTreeSet<Aspect>, cluster: &Cluster) -> Fate {
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
