//! Many changes on all cores: each is drawn by its number, checked, and judged.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use lifecycle_macros_core::errors::{Diagnostic, Severity};
use lifecycle_macros_core::{check_fragment, check_locked, expand};

use super::change::{Changed, Dice, MutationKind, change};
use super::declarations::{Declaration, all};
use super::places::Places;
use super::words::stream;

/// Time after which a check counts as hung. Worlds are counted and bounded
/// (`space::enumeration::LIMIT`), and a lifecycle at the bound takes a hundredth of it.
const HANGS: Duration = Duration::from_secs(60);
/// Upper bound on the findings of one change, so that each is readable and the first is actionable.
const FINDINGS: usize = 120;
/// One out of this many changes is expanded as well.
const EXPANDED: u64 = 16;
/// Number of mistakes that are printed.
const TOLD: usize = 40;

/// Result of the run.
#[derive(Debug, Default)]
pub(crate) struct Ran {
    /// How many changes were made; of the others there was no place.
    pub(crate) changed: usize,
    /// Of each sort: refused, warned of, accepted.
    sorts: BTreeMap<MutationKind, [usize; 3]>,
    findings: usize,
    /// The most findings of one change, and the longest that one took.
    most: usize,
    longest: Duration,
    /// Errors, with the id of the change.
    pub(crate) wrong: Vec<String>,
}

impl Ran {
    pub(crate) fn counts_for(&self, sort: MutationKind) -> [usize; 3] {
        self.sorts.get(&sort).copied().unwrap_or_default()
    }

    fn add(mut self, other: Self) -> Self {
        self.changed += other.changed;
        self.findings += other.findings;
        self.most = self.most.max(other.most);
        self.longest = self.longest.max(other.longest);
        self.wrong.extend(other.wrong);
        for (sort, [refused, warned, accepted]) in other.sorts {
            let of = self.sorts.entry(sort).or_default();
            *of = [of[0] + refused, of[1] + warned, of[2] + accepted];
        }
        self
    }

    fn record(&mut self, sort: MutationKind, found: &[Diagnostic], took: Duration) {
        let is_error = |one: &Diagnostic| one.severity == Severity::Error;
        let how = match found {
            found if found.iter().any(is_error) => 0,
            [] => 2,
            _ => 1,
        };
        self.sorts.entry(sort).or_default()[how] += 1;
        self.findings += found.len();
        self.most = self.most.max(found.len());
        self.longest = self.longest.max(took);
    }
}

impl Display for Ran {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (sort, [refused, warned, accepted]) in &self.sorts {
            writeln!(
                f,
                "{sort:?}: {refused} refused, {warned} warned of, {accepted} accepted"
            )?;
        }
        let Self {
            changed,
            findings,
            most,
            longest,
            wrong,
            ..
        } = self;
        write!(
            f,
            "{changed} changes, {findings} findings, at most {most} of one; the longest took {longest:?}; {} went wrong",
            wrong.len()
        )
    }
}

/// Declaration to change, and the kind of the change.
pub(crate) struct Drawn<'a> {
    pub(crate) declaration: &'a Declaration,
    pub(crate) unit: usize,
    other: &'a Declaration,
    sort: MutationKind,
}

/// Small ones more often than those that take long.
pub(crate) fn draw<'a>(declarations: &'a [Declaration], dice: &mut Dice) -> Drawn<'a> {
    let mut one = || {
        let drawn = &declarations[dice.random_below(declarations.len())];
        let is_large = drawn
            .units
            .iter()
            .map(|unit| unit.words.len())
            .sum::<usize>()
            > 600;
        if is_large && dice.random_below(4) > 0 {
            &declarations[dice.random_below(declarations.len())]
        } else {
            drawn
        }
    };
    let (declaration, other) = (one(), one());
    Drawn {
        declaration,
        unit: dice.random_below(declaration.units.len()),
        other,
        sort: MutationKind::ALL[dice.random_below(MutationKind::ALL.len())],
    }
}

impl Drawn<'_> {
    /// Returns the change and its findings, if it has a place.
    pub(crate) fn changed(&self, dice: &mut Dice) -> Option<(Changed, Vec<Diagnostic>)> {
        let unit = &self.declaration.units[self.unit];
        let changed = change(unit, self.sort, &self.other.units[0], dice)?;
        let found = self.findings(&changed);
        Some((changed, found))
    }

    fn findings(&self, changed: &Changed) -> Vec<Diagnostic> {
        let units = self.declaration.units.iter().enumerate();
        let body = |(at, unit): (usize, &super::words::Unit)| {
            let words = if at == self.unit {
                &changed.words
            } else {
                &unit.words
            };
            stream(words)
        };
        let mut bodies: Vec<_> = units.map(body).collect();
        let mut found = Vec::new();
        if self.unit > 0 {
            found.extend(check_fragment(bodies[self.unit].clone()).diagnostics);
        }
        let own = bodies.remove(0);
        found.extend(check_locked(own, &bodies, self.declaration.lock.clone()).diagnostics);
        found
    }
}

/// Makes the changes with these numbers.
pub(crate) fn run(numbers: Range<u64>) -> Ran {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let working: Vec<Mutex<(u64, Instant)>> = (0..cores)
        .map(|_| Mutex::new((0, Instant::now())))
        .collect();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| watch(&working, &is_over));
        let part = |core: usize| {
            let mine = numbers.clone().skip(core).step_by(cores);
            let at = &working[core];
            scope.spawn(move || each(mine, at))
        };
        let parts: Vec<_> = (0..cores).map(part).collect();
        let parts = parts
            .into_iter()
            .map(|part| part.join().expect("panics are caught"));
        let ran = parts.fold(Ran::default(), Ran::add);
        is_over.store(true, Ordering::Relaxed);
        ran
    })
}

/// Ends everything with the number of a change that takes too long.
fn watch(working: &[Mutex<(u64, Instant)>], is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(200));
        for at in working {
            let (number, since) = *at.lock().expect("nobody panics with it");
            if since.elapsed() > HANGS && !is_over.load(Ordering::Relaxed) {
                eprintln!(
                    "change {number} takes longer than {HANGS:?}: FIRST={number} MUTATIONS=1 makes it again"
                );
                std::process::exit(101);
            }
        }
    }
}

fn each(numbers: impl Iterator<Item = u64>, at: &Mutex<(u64, Instant)>) -> Ran {
    let declarations = all();
    let mut ran = Ran::default();
    for number in numbers {
        *at.lock().expect("nobody panics with it") = (number, Instant::now());
        let told = catch_unwind(AssertUnwindSafe(|| {
            run_mutation(&declarations, number, &mut ran)
        }));
        if told.is_err() {
            ran.wrong.push(format!(
                "change {number} panics: FIRST={number} MUTATIONS=1 makes it again"
            ));
        }
        if ran.wrong.len() > TOLD {
            break;
        }
    }
    *at.lock().expect("nobody panics with it") = (u64::MAX, Instant::now() + HANGS * 1_000);
    ran
}

fn run_mutation(declarations: &[Declaration], number: u64, ran: &mut Ran) {
    let mut dice = Dice::new(number);
    let drawn = draw(declarations, &mut dice);
    let begun = Instant::now();
    let Some((changed, found)) = drawn.changed(&mut dice) else {
        return;
    };
    ran.changed += 1;
    ran.record(drawn.sort, &found, begun.elapsed());
    let (name, sort) = (&drawn.declaration.name, drawn.sort);
    let words = &drawn.declaration.units[drawn.unit].words;
    let first = changed.touched.first().map(|word| &words[*word]);
    let place = first.map(|word| format!("line {}, `{}`", word.span().start().line, word.text));
    let place = place.unwrap_or_default();
    let mut wrong = |what: &str| {
        ran.wrong.push(format!(
            "change {number}, {sort:?} of {name} at {place}, with {:?}: {what}",
            changed.came
        ));
    };
    if found.len() > FINDINGS {
        wrong(&format!("{} findings", found.len()));
    }
    if number.is_multiple_of(EXPANDED) && drawn.declaration.units.len() == 1 {
        let items = expand(stream(&changed.words));
        if let Err(error) = syn::parse2::<syn::File>(items) {
            wrong(&format!("what is expanded is not Rust: {error}"));
        }
    }
    let places = Places::new(drawn.declaration, drawn.unit, &changed);
    for one in &found {
        if let Some(why) = places.wrong(one) {
            let at = one.span.start();
            wrong(&format!("{why}: {}:{} {one}", at.line, at.column));
        }
    }
}
