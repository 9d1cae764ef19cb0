//! Source of minted values. A value that is made twice from the same source is the same, so that a
//! reconciliation decides nothing by chance. The driver draws a new source after each write that
//! may have kept a value.

use std::fmt;

use rand::rand_core::SeedableRng;
use rand::rngs::StdRng;
use rand::{Rng, TryRng};

/// Random bytes for one value: from the operating system, unless a test gave a seed.
///
/// # Assumptions
/// Random source of a minted value. The value depends on these bytes and the declared inputs alone.
pub struct Random(StdRng);

/// Hides the bytes in logs.
impl fmt::Debug for Random {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Random(..)")
    }
}

impl Random {
    /// Returns a source that gives equal bytes for equal seeds, for tests of minted values.
    pub fn seeded(seed: u64) -> Self {
        Self(StdRng::seed_from_u64(seed))
    }

    /// The source of one of the values of an object.
    pub(crate) fn for_value(seed: &Seed, value: usize) -> Self {
        let mut seeds = StdRng::from_seed(seed.0);
        let mut own = [0; 32];
        for _ in 0..=value {
            seeds.fill_bytes(&mut own);
        }
        Self(StdRng::from_seed(own))
    }

    /// Fills a slice.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        self.0.fill_bytes(bytes);
    }

    /// Returns the requested number of bytes: `random.bytes::<32>()`.
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }

    /// A number below another, each as likely; zero below zero.
    pub fn below(&mut self, end: u64) -> u64 {
        if end == 0 {
            return 0;
        }
        // The remainder at the top would make the lowest numbers more likely.
        let even = u64::MAX - u64::MAX % end;
        loop {
            let drawn = self.0.next_u64();
            if drawn < even {
                return drawn % end;
            }
        }
    }

    /// Returns a text with this many characters of an alphabet, each equally likely.
    pub fn text(&mut self, length: usize, alphabet: &str) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        let count = u64::try_from(letters.len()).unwrap_or_default();
        let drawn = (0..length).map(|_| self.below(count));
        let drawn = drawn.filter_map(|at| letters.get(usize::try_from(at).ok()?));
        drawn.collect()
    }
}

/// Seed from which the sources of an object's values are drawn, until a value may have been kept.
#[derive(Clone)]
pub struct Seed([u8; 32]);

impl Seed {
    /// Returns a source for observations only. A value made from it is never written.
    pub fn of_looks() -> Self {
        Self([0; 32])
    }

    /// The next of a process.
    pub(crate) fn next(process: &mut StdRng) -> Self {
        let mut seed = [0; 32];
        process.fill_bytes(&mut seed);
        Self(seed)
    }
}

/// Source of the randomness of a process.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Randomness {
    System,
    Seeded(u64),
}

impl Randomness {
    /// `None`: the operating system has none.
    pub(crate) fn source(self) -> Option<StdRng> {
        match self {
            Self::Seeded(seed) => Some(StdRng::seed_from_u64(seed)),
            Self::System => {
                let mut seed = [0; 32];
                rand::rngs::SysRng.try_fill_bytes(&mut seed).ok()?;
                Some(StdRng::from_seed(seed))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_has_bytes_of_its_own_and_gets_them_again() {
        let mut process = Randomness::Seeded(7).source().unwrap();
        let (one, other) = (Seed::next(&mut process), Seed::next(&mut process));
        let draw = |seed: &Seed, value| Random::for_value(seed, value).bytes::<16>();
        assert_eq!(draw(&one, 0), draw(&one, 0));
        assert_ne!(draw(&one, 0), draw(&one, 1));
        assert_ne!(draw(&one, 0), draw(&other, 0));
    }

    #[test]
    fn the_operating_system_gives_no_bytes_twice() {
        let draw = || Seed::next(&mut Randomness::System.source().unwrap()).0;
        assert_ne!(draw(), draw());
    }

    #[test]
    fn a_text_has_its_length_and_letters_of_its_alphabet_alone() {
        let text = Random::seeded(1).text(200, "abc");
        assert_eq!(text.chars().count(), 200);
        assert!("abc".chars().all(|letter| text.contains(letter)));
        assert!(text.chars().all(|letter| "abc".contains(letter)));
        assert_eq!(Random::seeded(1).text(3, ""), "");
    }

    #[test]
    fn nothing_of_it_is_in_its_debug_output() {
        assert_eq!(format!("{:?}", Random::seeded(1)), "Random(..)");
    }
}
