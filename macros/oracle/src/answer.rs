//! Answer of the oracle: findings by stage, the size of the lifecycle and the edges that it causes.
//! Runs the stages. A later stage runs only if the earlier ones found no error.

use crate::broken::Rule;
use crate::calls;
use crate::circles::circles;
use crate::declarations::declarations;
use crate::findings::{Findings, Outline, Stage, is_warning};
use crate::graph::Graph;
use crate::minted;
use crate::reach::Reach;
use crate::read::read;
use crate::rotations::rotations;
use crate::silence::{self, silent};
use crate::syntax::Life;
use crate::unasked;
use crate::worlds::{LIMIT, Worlds};

/// Answer of the oracle for one text.
#[derive(Debug, Default)]
pub struct Answer {
    /// True if the core refused the text while it read it. The findings are then those of the
    /// core, and the oracle has no answer of its own.
    pub refused: bool,
    /// Findings up to the stage that ended the check.
    pub found: Findings,
    /// How many worlds there are, where it came so far.
    pub worlds: usize,
    /// Outline of the moves. Empty for a volume, and if the check did not get that far.
    pub outline: Outline,
}

impl Answer {
    /// The stage that ended the check.
    pub fn last(&self) -> Stage {
        let errors = self
            .found
            .all
            .iter()
            .filter(|finding| !is_warning(&finding.code));
        errors
            .map(|finding| Stage::for_code(&finding.code))
            .min()
            .unwrap_or(Stage::Graph)
    }
}

/// A text that has been read.
#[derive(Debug)]
pub struct Reading(Result<Life, Findings>);

impl Reading {
    /// Reads a text.
    pub fn new(text: &str) -> Self {
        Self(read(text))
    }

    /// Decides every check; `wrong` leaves out one rule of the language.
    pub fn answer(&self, wrong: Option<Rule>) -> Answer {
        let mut answer = Answer::default();
        match &self.0 {
            Ok(life) => {
                decide(life, wrong, &mut answer);
                answer.found.allow(&life.allows);
            }
            Err(found) => {
                answer.refused = true;
                answer.found = found.clone();
            }
        }
        answer
    }
}

/// Reads a text and decides every check; `wrong` leaves out one rule of the language.
pub fn answer(text: &str, wrong: Option<Rule>) -> Answer {
    Reading::new(text).answer(wrong)
}

fn decide(life: &Life, wrong: Option<Rule>, answer: &mut Answer) {
    let found = &mut answer.found;
    circles(life, found);
    if found.has_errors() {
        return;
    }
    silence::decided(life, found);
    let life = &silent(life, wrong);
    let reach = Reach::new(life);
    declarations(life, &reach, found);
    minted::declared(life, found);
    calls::declared(life, found);
    if found.has_errors() {
        return;
    }
    let Some(worlds) = Worlds::new(life, &reach, LIMIT, wrong) else {
        found.report("LC091", &life.name);
        return;
    };
    answer.worlds = worlds.all.len();
    rotations(&worlds, found);
    if worlds.states.iter().any(Option::is_none) {
        found.report("LC011", &life.name);
    }
    if found.has_errors() {
        return;
    }
    if life.volume {
        Graph::new(&worlds).worlds(found);
        unasked::of_volume(&worlds, found);
        return calls::driven(&worlds, found);
    }
    let graph = Graph::new(&worlds);
    unasked::of_resource(&graph, found);
    answer.outline = graph.check(found);
}

/// Returns true if a lifecycle with correct names has at least one world and at most `limit`
/// worlds.
pub(crate) fn fits(text: &str, limit: usize) -> bool {
    readable(text, limit, |_| ()).is_some()
}

/// The outline of a lifecycle that fits; empty where a finding ends the check before.
pub(crate) fn outline(text: &str, limit: usize) -> Option<Outline> {
    readable(text, limit, |worlds| {
        let mut found = Findings::default();
        declarations(worlds.life, worlds.reach, &mut found);
        calls::declared(worlds.life, &mut found);
        let nowhere = worlds.states.iter().any(Option::is_none);
        if found.has_errors() || nowhere || worlds.life.volume {
            return Outline::default();
        }
        Graph::new(worlds).check(&mut found)
    })
}

/// Calls `then` with the worlds of a lifecycle that has no error in its names.
pub(crate) fn readable<T>(
    text: &str,
    limit: usize,
    then: impl FnOnce(&Worlds<'_>) -> T,
) -> Option<T> {
    let life = read(text).ok()?;
    let mut found = Findings::default();
    circles(&life, &mut found);
    if found.has_errors() {
        return None;
    }
    let life = silent(&life, None);
    let reach = Reach::new(&life);
    let worlds = Worlds::new(&life, &reach, limit, None)?;
    (!worlds.all.is_empty()).then(|| then(&worlds))
}
