//! Randomness that replays: one stream for each number.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// A stream of numbers.
#[derive(Clone, Debug)]
pub struct Dice(Pcg64Mcg);

impl Dice {
    /// The stream with this number.
    pub fn new(number: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(number))
    }

    /// A number from zero up to but not including `end`.
    pub fn roll(&mut self, end: usize) -> usize {
        let end = u64::try_from(end.max(1)).expect("small");
        usize::try_from(self.0.next_u64() % end).expect("below a usize")
    }

    /// Returns true once in this many times.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.roll(times) == 0
    }

    /// Picks one of them, if there is one.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.roll(all.len()))
    }
}
