//! Many random lifecycles at once: how they are spread and on which of them the two sides differ.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};
use std::ops::Range;
use std::thread;

use lifecycle_oracle::answer::answer;
use lifecycle_oracle::findings::FREQUENT_WARNINGS;

use crate::agreement::compare::{checked, differ};

/// Every code that random lifecycles must show often enough.
pub(crate) const EACH_CODE: &[&str] = &[
    "LC004", "LC011", "LC012", "LC013", "LC014", "LC015", "LC016", "LC017", "LC021", "LC022",
    "LC023", "LC024", "LC025", "LC030", "LC031", "LC040", "LC041", "LC044", "LC048", "LC049",
    "LC051", "LC052", "LC053", "LC064", "LC065", "LC066", "LC091", "LC092", "LC093", "LC094",
    "LC095", "LC096", "LC097", "LC101", "LC102", "LC103", "LC104", "LC121", "LC151", "LC152",
    "LC153", "LC154", "LC162", "LC163", "LC164", "LC165", "LC167", "LC168",
];

/// Every code that so few of them come to that one of a thousand is enough.
pub(crate) const SELDOM: &[&str] = &[
    "LC131", "LC132", "LC133", "LC134", "LC135", "LC136", "LC141", "LC142", "LC143", "LC144",
    "LC145", "LC146", "LC147", "LC158", "LC160", "LC161", "LC166", "LC169", "LC175",
];

/// Every code that random volumes must show often enough.
pub(crate) const EACH_CODE_OF_VOLUMES: &[&str] = &[
    "LC014", "LC016", "LC080", "LC081", "LC083", "LC084", "LC085", "LC086", "LC087", "LC088",
    "LC092", "LC096", "LC097",
];

#[derive(Debug, Default)]
pub(crate) struct Corpus {
    pub(crate) all: usize,
    /// Lifecycles with no findings except warnings that are frequent in generated ones.
    pub(crate) clean: usize,
    /// More than a hundred worlds.
    pub(crate) large: usize,
    pub(crate) worlds: usize,
    /// Those that the core refuses while it reads them for the oracle.
    pub(crate) refused: usize,
    /// Those of them that are no lifecycles.
    pub(crate) unreadable: usize,
    /// In how many lifecycles each code was found.
    pub(crate) codes: BTreeMap<String, usize>,
    pub(crate) different: Vec<u64>,
}

struct Outcome {
    number: u64,
    codes: BTreeSet<String>,
    worlds: usize,
    refused: bool,
    differs: bool,
}

impl Corpus {
    /// Draws and compares the lifecycles with these numbers.
    pub(crate) fn from_numbers(numbers: Range<u64>, draw: fn(u64) -> String) -> Self {
        let mut corpus = Self::default();
        for one in fan_out(numbers.collect(), |number| {
            compare_lifecycle(number, &draw(number))
        }) {
            corpus.all += 1;
            corpus.clean += usize::from(
                one.codes
                    .iter()
                    .all(|code| FREQUENT_WARNINGS.contains(&code.as_str())),
            );
            corpus.large += usize::from(one.worlds > 100);
            corpus.worlds += one.worlds;
            corpus.refused += usize::from(one.refused);
            corpus.unreadable += usize::from(one.codes.contains("LC000"));
            corpus.different.extend(one.differs.then_some(one.number));
            for code in one.codes {
                *corpus.codes.entry(code).or_default() += 1;
            }
        }
        corpus
    }
}

fn compare_lifecycle(number: u64, text: &str) -> Outcome {
    let oracle = answer(text, None);
    Outcome {
        number,
        codes: oracle
            .found
            .all
            .iter()
            .map(|finding| finding.code.clone())
            .collect(),
        worlds: oracle.worlds,
        refused: oracle.refused,
        differs: differ(&checked(text), &oracle).is_some(),
    }
}

impl Display for Corpus {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            all,
            clean,
            large,
            worlds,
            refused,
            ..
        } = self;
        writeln!(
            f,
            "{all} lifecycles with {worlds} worlds, {clean} clean, {large} with more than 100 worlds, {refused} refused by the core alone"
        )?;
        let codes: Vec<String> = self
            .codes
            .iter()
            .map(|(code, times)| format!("{code}: {times}"))
            .collect();
        writeln!(f, "found in: {}", codes.join(", "))?;
        write!(f, "{} on which the two differ", self.different.len())
    }
}

/// Evaluates each id on as many threads as cores exist; the results keep the order of the ids.
pub(crate) fn fan_out<T: Send>(numbers: Vec<u64>, ask: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let share = numbers.len().div_ceil(cores).max(1);
    let ask = &ask;
    thread::scope(|scope| {
        let shares = numbers.chunks(share);
        let running: Vec<_> = shares
            .map(|share| {
                scope.spawn(move || share.iter().map(|number| ask(*number)).collect::<Vec<_>>())
            })
            .collect();
        let answers = running
            .into_iter()
            .map(|one| one.join().expect("no lifecycle makes either side panic"));
        answers.flatten().collect()
    })
}

/// The number that a variable names; without it `usual`, or twice as many with `LONG=1`.
pub(crate) fn number_from(name: &str, usual: u64) -> u64 {
    let is_long = std::env::var("LONG").is_ok_and(|long| !long.is_empty() && long != "0");
    let default = if is_long { 2 * usual } else { usual };
    std::env::var(name).map_or(default, |text| text.parse().expect("it is a number"))
}
