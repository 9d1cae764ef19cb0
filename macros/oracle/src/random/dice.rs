//! Randomness that replays: one stream for each number.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

pub(crate) struct Dice(Pcg64Mcg);

impl Dice {
    pub(crate) fn new(number: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(number))
    }

    /// A number from zero up to but not including `end`.
    pub(crate) fn random_below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end.max(1)).expect("small");
        usize::try_from(self.0.next_u64() % end).expect("below a usize")
    }

    pub(crate) fn one_in(&mut self, times: usize) -> bool {
        self.random_below(times) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.random_below(all.len())]
    }

    pub(crate) fn pick_word(&mut self, all: &[&str]) -> String {
        (*self.pick(all)).to_owned()
    }
}
